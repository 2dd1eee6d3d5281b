use super::*;
use crate::desk::Desk;
use proptest::prelude::*;

fn watched(config: &WebAkhtarConfig, desk: &mut Desk, seconds: u64) {
    desk.run(&mut WebAkhtar::new(config), Instant::from_s(seconds));
}

#[test]
fn pages_have_the_bytes_of_the_table_on_average() {
    // The slides print averages and deciles that disagree: lines give the printed 650 kB one by one, columns do so pipelined.
    for (requests, lookup, kilobytes) in [
        (Requests::OneByOne, Lookup::Interpolated, 658.0),
        (Requests::OneByOne, Lookup::Step, 1021.0),
        (Requests::Multiplexed, Lookup::Interpolated, 658.0),
        (Requests::Pipelined, Lookup::Interpolated, 498.0),
        (Requests::Pipelined, Lookup::Step, 638.0),
    ] {
        let config = WebAkhtarConfig { requests, lookup, ..WebAkhtarConfig::AKHTAR2013 };
        let mean = config.mean_page() / 1e3;
        assert!((mean - kilobytes).abs() < 1.0, "{mean}");
        // Drawn: the offered load is that of 650 kB every 8.5 s, 0.612 Mb/s, however pages are drawn.
        let mut desk = Desk::new(7);
        watched(&config, &mut desk, 60_000);
        let bytes: u64 = desk.pages.iter().map(|page| page.bytes).sum();
        let rate = bytes as f64 * 8.0 / 60_000.0 / 1e6;
        assert!((rate / 0.612 - 1.0).abs() < 0.1, "{requests:?} {lookup:?}: {rate}");
    }
}

#[test]
fn a_page_takes_as_many_round_trips_as_its_longest_host_has_answers() {
    let mut desk = Desk::new(3);
    desk.round_trips = vec![Span::from_ms(100)];
    watched(&WebAkhtarConfig::AKHTAR2013, &mut desk, 6);
    let page = desk.pages[0];
    let of_host = |host: u32| {
        let objects = desk.objects.iter();
        objects.filter(|object| object.page == 0 && object.server == host).count() as u64
    };
    let longest = (0..7).map(of_host).max().unwrap();
    let took = page.ended_at.unwrap().saturating_since(page.started_at);
    assert_eq!(took, Span::from_ms(100 * (1 + longest)));
    assert_eq!(u64::from(page.objects), (0..7).map(of_host).sum::<u64>());
    assert_eq!(desk.most_in_use[..7], [1; 7]);
    // The first answer of a host takes the handshake, too.
    for object in desk.objects.iter().filter(|object| object.page == 0) {
        let took = object.ended_at.unwrap().saturating_since(object.started_at);
        let wanted = if object.index == 0 { 200 } else { 100 };
        assert_eq!(took, Span::from_ms(wanted), "{object:?}");
    }
}

#[test]
fn a_multiplexed_page_is_the_same_page_in_two_round_trips() {
    let page = |requests| {
        let mut desk = Desk::new(3);
        desk.round_trips = vec![Span::from_ms(100)];
        let config = WebAkhtarConfig { requests, ..WebAkhtarConfig::AKHTAR2013 };
        watched(&config, &mut desk, 6);
        desk.pages[0]
    };
    let (one_by_one, multiplexed) = (page(Requests::OneByOne), page(Requests::Multiplexed));
    assert_eq!(multiplexed.bytes, one_by_one.bytes);
    assert_eq!(multiplexed.objects, one_by_one.objects);
    let took = multiplexed.ended_at.unwrap().saturating_since(multiplexed.started_at);
    assert_eq!(took, Span::from_ms(200));
    let pipelined = page(Requests::Pipelined);
    assert_eq!(pipelined.objects, 7);
    assert_eq!(pipelined.ended_at.unwrap().saturating_since(pipelined.started_at), Span::from_ms(200));
}

#[test]
fn connections_stay_open_for_twenty_seconds() {
    let config = |gap| WebAkhtarConfig {
        gap: Distribution::Constant(Span::from_s(gap)),
        page_bytes: None,
        requests: Requests::Pipelined,
        ..WebAkhtarConfig::AKHTAR2013
    };
    let mut kept = Desk::new(1);
    watched(&config(15), &mut kept, 100);
    assert_eq!(kept.opened.len(), 7);
    let mut closed = Desk::new(1);
    watched(&config(25), &mut closed, 100);
    assert_eq!(closed.opened.len(), 7 * closed.pages.len());
}

#[test]
fn pages_begin_at_the_same_times_whatever_the_network_does() {
    let begins = |round_trip| {
        let mut desk = Desk::new(11);
        desk.round_trips = vec![Span::from_ms(round_trip)];
        let config = WebAkhtarConfig { users: 3, ..WebAkhtarConfig::AKHTAR2013 };
        watched(&config, &mut desk, 300);
        let mut begins: Vec<_> = desk.pages.iter().map(|page| (page.user, page.index, page.started_at)).collect();
        begins.sort_unstable();
        begins
    };
    assert!(begins(20).len() > 60);
    assert_eq!(begins(20), begins(900));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn every_object_comes_once_and_pages_are_the_sum_of_theirs(
        round_trip in 1_u64..3_000,
        pieces in 1_u64..6,
        failures in 0_u32..4,
        resets in 0_u32..4,
        which in 0_u8..3,
    ) {
        let mut desk = Desk::new(2);
        desk.round_trips = vec![Span::from_ms(round_trip)];
        // The desk does not take what is written to a connection that is lost already.
        let resets = if which == 2 { 0 } else { resets };
        (desk.pieces, desk.failures, desk.resets) = (pieces, failures, resets);
        let config = WebAkhtarConfig {
            requests: [Requests::OneByOne, Requests::Pipelined, Requests::Multiplexed][which as usize],
            ..WebAkhtarConfig::AKHTAR2013
        };
        watched(&config, &mut desk, 400);
        let ended: Vec<_> = desk.objects.iter().filter(|object| object.ended_at.is_some()).collect();
        let mut names: Vec<_> =
            ended.iter().map(|object| (object.page, object.server, object.index)).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        prop_assert_eq!(names.len(), count);
        for page in &desk.pages {
            let of_page = ended.iter().filter(|object| object.page == page.index);
            prop_assert_eq!(of_page.clone().count(), page.objects as usize);
            prop_assert_eq!(of_page.map(|object| object.bytes).sum::<u64>(), page.bytes);
        }
        prop_assert!(!desk.pages.is_empty());
    }
}
