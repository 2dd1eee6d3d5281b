use super::*;
use crate::desk::Desk;
use crate::web::{EqualPage, PageModel, Protocol};
use crate::{ApplicationConfig, ApplicationKind, Web3gppConfig, WebAkhtarConfig, WebConfig};
use proptest::prelude::*;
use sojourn_base::Span;

const ALL: [Tls; 4] =
    [Tls::Off, Tls::Full12(Flights::BASE), Tls::Full13(Flights::BASE), Tls::Resumed { hello: Bytes(517) }];

/// An index of 1000 B and one object of 2000 B over one connection, 20 ms away.
fn page(tls: Tls, is_quic: bool) -> (Span, [u64; 2]) {
    let page = PageModel::Equal(EqualPage { servers: 1, objects_per_server: 1, size: Bytes(2000) });
    let protocol = Protocol::Multiplexed;
    let config = WebConfig { page, index: Bytes(1000), protocol, tls, ..WebConfig::WHITE2012 };
    let mut desk = Desk::new(1);
    desk.is_quic = is_quic;
    desk.run(&mut *config.build(), Instant::from_s(3));
    let page = desk.pages[0];
    let loaded = page.index_loaded_at.unwrap().since(page.started_at).unwrap();
    (loaded, desk.written(ConnectionId(0)))
}

#[test]
fn a_handshake_takes_the_round_trips_and_bytes_of_its_document() {
    // TCP 20 ms, request and answer 20 ms; two requests of 250 B, 3000 B of answers.
    let ms = Span::from_ms;
    assert_eq!(page(ALL[0], false), (ms(40), [500, 3000]));
    // Hello 517 B, Finished 126 B; 268 B and 2500 B of certificates, Finished 51 B.
    assert_eq!(page(ALL[1], false), (ms(80), [500 + 643, 3000 + 2819]));
    assert_eq!(page(ALL[2], false), (ms(60), [500 + 581, 3000 + 2870]));
    // Hello, 6 B, request at once; EndOfEarlyData and Finished 84 B.
    assert_eq!(page(ALL[3], false), (ms(40), [500 + 607, 3000 + 238]));
    // QUIC has both hellos and 1050 B of the rest in its first packets; 1810 B of 2860 B follow.
    assert_eq!(page(ALL[0], true), (ms(40), [500, 3000]));
    assert_eq!(page(ALL[2], true), (ms(40), [500 + 85, 3000 + 1810]));
    assert_eq!(page(ALL[3], true), (ms(20), [500 + 85, 3000]));
}

#[test]
fn quic_has_no_tls_of_another_version() {
    let over_quic = |tls| WebConfig { tls, ..WebConfig::WHITE2012 }.problem_over_quic().map(|(key, _)| key);
    assert_eq!(ALL.map(over_quic), [None, Some("tls"), None, None]);
}

#[test]
fn flights_among_the_bytes_of_an_application_are_not_its_own() {
    // 10 B of a hello, 5 of the application, 3 of a flight, then the application's alone.
    let stream = Stream { flights: [(0, 10), (5, 3)], count: 2, ..Stream::default() };
    let seen = [0, 4, 10, 11, 15, 16, 18, 19, 30].map(|total| stream.of_application(total));
    assert_eq!(seen, [0, 0, 0, 1, 5, 5, 5, 6, 17]);
    assert_eq!([0, 1, 5, 6, 17].map(|inner| stream.in_total(inner)), [0, 11, 15, 19, 30]);
}

proptest! {
    #[test]
    fn an_application_brings_the_same_objects_over_any_handshake(
        seed: u64,
        pieces in 1_u64..6,
        pause in 0_u64..30,
        (failures, resets) in (0_u32..2, 0_u32..4),
        tls in 1_usize..4,
        is_quic: bool,
        kind in 0_usize..4,
    ) {
        prop_assume!(!(is_quic && tls == 1));
        // The pages of 3GPP are given up with a connection, and others follow.
        let (failures, resets) = if kind == 3 { (0, 0) } else { (failures, resets) };
        let config = |tls: Tls| -> ApplicationConfig {
            match kind {
                0 => WebConfig { tls, ..WebConfig::WHITE2013 }.into(),
                1 => WebConfig { tls, protocol: Protocol::Multiplexed, ..WebConfig::WHITE2013 }.into(),
                2 => WebAkhtarConfig { tls, ..WebAkhtarConfig::AKHTAR2013 }.into(),
                _ => Web3gppConfig { tls, ..Web3gppConfig::WHITE2019 }.into(),
            }
        };
        let visit = |tls: Tls| {
            let mut desk = Desk::new(seed);
            (desk.pieces, desk.pause) = (pieces, Span::from_ms(pause));
            (desk.failures, desk.resets, desk.is_quic) = (failures, resets, is_quic);
            desk.run(&mut *config(tls).build(), Instant::from_s(200));
            let ended = desk.objects.iter().filter(|object| object.ended_at.is_some());
            let mut objects: Vec<_> =
                ended.map(|object| (object.user, object.page, object.server, object.index, object.bytes)).collect();
            objects.sort_unstable();
            objects
        };
        let (plain, secured) = (visit(Tls::Off), visit(ALL[tls]));
        prop_assert!(secured.len() > 20);
        prop_assert!(secured.windows(2).all(|pair| pair[0] != pair[1]), "each comes once");
        let known = |object| plain.binary_search(object).is_ok();
        // A visit that takes longer gets less far.
        let missing = secured.iter().filter(|object| !known(object)).count();
        prop_assert!(missing * 20 <= secured.len(), "{missing} of {}", secured.len());
    }
}
