use super::*;
use crate::desk::Desk;
use crate::web::{Closing, GeneratedPage, ListedPage, NameLookup, PageModel, Protocol};
use proptest::prelude::*;
use sojourn_base::{Bytes, Span};

/// As by default.
const NAME_LOOKUP: NameLookup = NameLookup::Datagram { query: 60, answer: 120, timeout: Span::from_s(5) };

#[test]
fn connections_that_the_server_closes_are_forgotten_in_the_order_of_their_objects() {
    let mut desk = Desk::new(1);
    let config = WebConfig { closing: Closing::Server { forget_after: Span::from_s(10) }, ..WebConfig::WHITE2012 };
    desk.run(&mut Web::new(&config), Instant::from_s(30));
    let first_page = desk.pages[0];
    let due: Vec<Instant> = desk
        .objects
        .iter()
        .filter(|object| object.page == 0)
        .filter_map(|object| Some(object.ended_at? + Span::from_s(10)))
        .collect();
    assert_eq!(due.len(), 101, "page 0 was loaded at {:?}", first_page.ended_at);
    for (_, connection) in &desk.abandoned {
        assert_eq!(desk.closed_ends(*connection), [false, true], "the server closes alone");
    }
    let forgotten: Vec<Instant> = desk.abandoned.iter().map(|(at, _)| *at).collect();
    assert_eq!(forgotten[..101], due[..]);
}

/// Round trips of the four servers (White 2012 3.2.3).
fn desk(seed: u64) -> Desk {
    let mut desk = Desk::new(seed);
    desk.round_trips = [20, 30, 50, 100].map(Span::from_ms).to_vec();
    desk
}

#[test]
fn the_page_of_2012_has_101_objects_and_2_6_megabytes() {
    // W12-29. On an ideal network each object takes two round trips: the index 40 ms, and at the
    // slowest server 25 objects over 6 connections are five rounds of 200 ms.
    let mut desk = desk(1);
    desk.run(&mut Web::new(&WebConfig::WHITE2012), Instant::from_s(3));
    assert_eq!(
        desk.pages,
        [Page {
            user: 0,
            index: 0,
            started_at: Instant::from_s(1),
            index_loaded_at: Some(Instant::from_ms(1040)),
            ended_at: Some(Instant::from_ms(2040)),
            objects: 101,
            bytes: 2_600_000,
        }]
    );
    assert_eq!(desk.opened.len(), 101);
    assert_eq!(desk.most_in_use[..5], [6, 6, 6, 6, 0]);
    assert!(desk.draws.is_empty());
}

#[test]
fn all_servers_are_asked_at_once_and_the_next_object_follows_at_once() {
    let mut desk = desk(1);
    desk.run(&mut Web::new(&WebConfig::WHITE2012), Instant::from_s(3));
    let at = |ms| {
        let at = Instant::from_ms(ms);
        let servers = desk.opened.iter().filter(move |(when, _)| *when == at);
        servers.map(|(_, server)| *server).collect::<Vec<_>>()
    };
    assert_eq!(at(1000), [0]);
    assert_eq!(at(1040), [0, 1, 2, 3].repeat(6));
    // 40 ms later server 0 has delivered its first six files.
    assert_eq!(at(1080), [0; 6]);
    assert_eq!(at(1240).iter().filter(|&&server| server == 3).count(), 6);
}

#[test]
fn pages_follow_each_other_after_five_seconds() {
    // Period 1.04 s + 5 s, from 1 s on: starts at 1, 7.04, 13.08, ... The hundredth is at 598.96 s.
    let mut desk = desk(1);
    desk.run(&mut Web::new(&WebConfig::WHITE2012), Instant::from_s(600));
    assert_eq!(desk.pages.len(), 100);
    for (index, page) in (0_u64..).zip(&desk.pages) {
        assert_eq!(u64::from(page.index), index);
        assert_eq!(page.started_at, Instant::from_ms(1000 + index * 6040));
        assert_eq!(page.ended_at, Some(page.started_at + Span::from_ms(1040)));
    }
}

#[test]
fn the_page_of_2013_has_716802_bytes_per_user() {
    // W13-109, with the four users of x10.
    let mut desk = desk(1);
    let config = WebConfig { users: 4, ..WebConfig::WHITE2013 };
    desk.run(&mut Web::new(&config), Instant::from_s(4));
    let users: Vec<u32> = desk.pages.iter().map(|page| page.user).collect();
    assert_eq!(users, [0, 1, 2, 3]);
    assert!(desk.pages.iter().all(|page| page.bytes == 716_802));
    assert_eq!(desk.most_in_use[..4], [24; 4]);
}

#[test]
fn load_time_runs_from_the_first_syn_to_the_last_byte() {
    // Only the pieces of the answers are spread: each object of 4 pieces ends 3 pauses of 7 ms later.
    let mut desk = desk(1);
    desk.pieces = 4;
    desk.pause = Span::from_ms(7);
    desk.run(&mut Web::new(&WebConfig::WHITE2012), Instant::from_s(3));
    // Requests come in four pieces as well: each object costs 2 * 21 ms more, and there are 1 + 5 in a row.
    let page = desk.pages[0];
    assert_eq!(page.ended_at, Some(Instant::from_ms(2040 + 6 * 42)));
    let last = desk.objects.iter().filter_map(|object| object.ended_at).max();
    assert_eq!(last, page.ended_at);
    let index = desk.objects[0];
    assert_eq!((index.index, index.bytes), (0, 100_000));
    assert_eq!(index.first_byte_at, Some(Instant::from_ms(1040 + 21)));
    assert_eq!(index.ended_at, Some(Instant::from_ms(1040 + 42)));
}

#[test]
fn a_lost_name_look_up_costs_its_timeout() {
    // W13-48: without loss the look-ups cost 2 * 25 ms here, with one lost they cost 5 s more.
    let load_time = |lost| {
        let mut desk = desk(1);
        desk.round_trips.push(Span::from_ms(25));
        desk.lost_datagrams = lost;
        let config = WebConfig { name_lookup: NAME_LOOKUP, ..WebConfig::WHITE2013 };
        desk.run(&mut Web::new(&config), Instant::from_s(10));
        let page = desk.pages[0];
        let queries = desk.datagrams.iter().filter(|(.., length)| *length == 60);
        assert_eq!(queries.count(), 4 * desk.pages.len() + lost as usize);
        assert!(desk.datagrams.iter().all(|(_, server, ..)| *server == 4));
        page.ended_at.unwrap().since(page.started_at).unwrap()
    };
    assert_eq!(load_time(0), Span::from_ms(1040 + 50));
    assert_eq!(load_time(1), Span::from_ms(6040 + 50));
}

#[test]
fn unfinished_pages_and_objects_are_recorded_at_the_end() {
    // At 1.1 s: index since 1.04 s, six files of server 0 since 1.08 s and six of server 1 at 1.1 s.
    let mut desk = desk(1);
    desk.run(&mut Web::new(&WebConfig::WHITE2012), Instant::from_ms(1100));
    let page = desk.pages[0];
    assert_eq!(page.ended_at, None);
    assert_eq!((page.objects, page.bytes), (13, 100_000 + 12 * 25_000));
    let (done, open): (Vec<&Object>, Vec<&Object>) = desk.objects.iter().partition(|object| object.ended_at.is_some());
    assert_eq!((done.len(), open.len()), (13, 24));
}

#[test]
fn nothing_is_recorded_in_a_pause() {
    let mut desk = desk(1);
    desk.run(&mut Web::new(&WebConfig::WHITE2012), Instant::from_s(5));
    assert_eq!((desk.pages.len(), desk.objects.len()), (1, 101));
}

#[test]
fn failed_and_broken_connections_are_replaced() {
    // The index connection fails after 75 s; one object's connection breaks when its answer is due.
    let mut desk = desk(1);
    desk.failures = 1;
    desk.resets = 1;
    desk.run(&mut Web::new(&WebConfig::WHITE2012), Instant::from_s(80));
    let page = desk.pages[0];
    assert_eq!(desk.opened.len(), 103);
    assert_eq!((page.objects, page.bytes), (101, 2_600_000));
    // The index takes 75 s more for the failure and 40 ms more for the break.
    assert_eq!(page.index_loaded_at, Some(Instant::from_ms(76_080)));
    assert_eq!(desk.objects[0].started_at, Instant::from_s(1));
}

/// The first page of 2012 by `protocol`: when it is complete, connections in all, and most at a time to each server.
fn first_page(protocol: Protocol) -> (Option<Instant>, usize, Vec<usize>) {
    let mut desk = desk(1);
    let config = WebConfig { protocol, ..WebConfig::WHITE2012 };
    desk.run(&mut Web::new(&config), Instant::from_s(3));
    assert_eq!((desk.pages[0].objects, desk.objects.len()), (101, 101));
    let closed =
        (0..desk.opened.len()).filter(|&id| desk.closed_ends(ConnectionId(u32::try_from(id).unwrap())) == [true, true]);
    assert_eq!(closed.count(), desk.opened.len(), "closed when the page is complete");
    (desk.pages[0].ended_at, desk.opened.len(), desk.most_in_use[..4].to_vec())
}

#[test]
fn kept_connections_spare_a_handshake_for_each_object_but_the_first() {
    // The index at 1040 ms; at the slowest server a handshake of 100 ms and 25 objects over six connections, five rounds of
    // 100 ms, where a connection for each object takes ten.
    let (ended_at, opened, most) = first_page(Protocol::KeptAlive);
    assert_eq!((ended_at, opened, most), (Some(Instant::from_ms(1640)), 24, vec![6; 4]));
}

#[test]
fn one_connection_to_each_server_brings_all_objects_in_the_order_of_requests() {
    // The index at 1040 ms; at the slowest server a handshake and one round trip.
    let (ended_at, opened, most) = first_page(Protocol::Multiplexed);
    assert_eq!((ended_at, opened, most), (Some(Instant::from_ms(1240)), 4, vec![1; 4]));
    let mut desk = desk(1);
    desk.pieces = 25;
    let config = WebConfig { protocol: Protocol::Multiplexed, ..WebConfig::WHITE2012 };
    desk.run(&mut Web::new(&config), Instant::from_s(3));
    let of_slowest: Vec<u32> =
        desk.objects.iter().filter(|object| object.server == 3).map(|object| object.index).collect();
    assert_eq!(of_slowest, (1..=25).collect::<Vec<u32>>());
}

#[test]
fn an_object_does_not_wait_for_bytes_of_others_that_come_late() {
    // Index of 1000 B, then three objects of 1000 B; the first of them loses bytes 1200 to 1300 on its way.
    let page = PageModel::Equal(crate::EqualPage { servers: 1, objects_per_server: 3, size: Bytes(1000) });
    let config = WebConfig { page, index: Bytes(1000), protocol: Protocol::Multiplexed, ..WebConfig::WHITE2012 };
    let (mut web, mut desk) = (Web::new(&config), Desk::new(1));
    let connection = ConnectionId(0);
    let mut tell = |ms, event| web.on_event(Instant::from_ms(ms), event, &mut desk);
    tell(0, Event::Timer(0));
    tell(20, Event::Connected(connection, End::Client));
    tell(30, Event::Delivered(connection, End::Server, 250));
    tell(40, Event::Delivered(connection, End::Client, 1000));
    tell(50, Event::Delivered(connection, End::Server, 1000));
    tell(60, Event::Delivered(connection, End::Client, 1200));
    tell(61, Event::Early(connection, End::Client, 1300, 2500));
    tell(62, Event::Early(connection, End::Client, 2500, 3000));
    tell(63, Event::Early(connection, End::Client, 3000, 4000));
    tell(90, Event::Delivered(connection, End::Client, 4000));
    let ended: Vec<(u32, Instant, Instant)> = desk
        .objects
        .iter()
        .map(|object| (object.index, object.first_byte_at.unwrap(), object.ended_at.unwrap()))
        .collect();
    let ms = Instant::from_ms;
    assert_eq!(ended, [(0, ms(40), ms(40)), (2, ms(61), ms(62)), (3, ms(63), ms(63)), (1, ms(60), ms(90))]);
    assert_eq!(desk.pages[0].ended_at, Some(ms(90)));
}

proptest! {
    #[test]
    fn every_object_comes_exactly_once_over_at_most_six_connections_per_server(
        seed: u64,
        pieces in 1_u64..6,
        pause in 0_u64..30,
        round_trips in proptest::collection::vec(2_u64..200, 4),
        generated: bool,
        resets in 0_u32..5,
        lookup: bool,
        protocol in 0..Protocol::ALL.len(),
    ) {
        let mut desk = Desk::new(seed);
        desk.round_trips = round_trips.into_iter().map(Span::from_ms).collect();
        desk.pieces = pieces;
        desk.pause = Span::from_ms(pause);
        desk.resets = resets;
        let page = if generated {
            PageModel::Generated(GeneratedPage::BASE)
        } else {
            PageModel::Listed(ListedPage::WHITE2012_APPENDIX_A)
        };
        let name_lookup = if lookup { NAME_LOOKUP } else { NameLookup::Off };
        let protocol = Protocol::ALL[protocol];
        let config = WebConfig { page, protocol, name_lookup, ..WebConfig::WHITE2013 };
        desk.run(&mut Web::new(&config), Instant::from_s(60));
        prop_assert!(desk.pages.len() > 3);
        prop_assert!(desk.most_in_use[..4].iter().all(|&most| most <= 6));
        for page in desk.pages.iter().filter(|page| page.ended_at.is_some()) {
            let of_page = desk.objects.iter().filter(|object| object.page == page.index);
            let mut names: Vec<_> = of_page.clone().map(|o| (o.server, o.index)).collect();
            names.sort_unstable();
            let files = (0..4).flat_map(|server| (1..=25).map(move |index| (server, index)));
            let expected: Vec<_> = std::iter::once((0, 0)).chain(files).collect();
            prop_assert_eq!(names, expected);
            prop_assert_eq!(of_page.clone().map(|o| o.bytes).sum::<u64>(), page.bytes);
            prop_assert_eq!(of_page.filter_map(|o| o.ended_at).max(), page.ended_at);
        }
    }

    #[test]
    fn small_pages_end_too(servers in 1_u32..4, objects in 0_u32..8, connections in 1_u32..7) {
        let page = GeneratedPage {
            servers,
            objects_per_server: objects,
            total: Bytes(1000),
            ..GeneratedPage::BASE
        };
        let config = WebConfig {
            page: PageModel::Generated(page),
            connections_per_server: connections,
            ..WebConfig::WHITE2012
        };
        let mut desk = Desk::new(5);
        desk.run(&mut Web::new(&config), Instant::from_s(20));
        prop_assert_eq!(desk.pages[0].objects, 1 + servers * objects);
        prop_assert!(desk.pages[0].ended_at.is_some());
    }
}
