use super::*;
use sojourn_base::{BitRate, Ecn, Span};

fn every(interval_us: u64, count: u64, at_once: u64, length: u32) -> Vec<TimedPacket> {
    (0..count)
        .flat_map(|number| {
            (0..at_once).map(move |_| TimedPacket {
                at: Span::from_us(interval_us * number),
                length,
                dscp: NQB,
                ecn: Ecn::NotEct,
            })
        })
        .collect()
}

const FIFTY: BitRate = BitRate::from_mbps(50);
/// 1 % of 50 Mb/s.
const ONE_PERCENT: BitRate = BitRate::from_bps(500_000);

/// V-10: 200 B each 20 ms for 10 s. The worst interval is one packet; the least rate is
/// (500 × 200 - 1500) B / 9.98 s = 78,958 b/s.
#[test]
fn a_call_is_within_the_senders_rule_from_eight_megabits_on() {
    let call = every(20_000, 500, 1, 200);
    let found = envelope(&call, ONE_PERCENT, 1500);
    assert_eq!((found.most_bytes, found.holds()), (200, true));
    assert_eq!(least_rate(&call, 1500), Some(BitRate::from_bps(78_958)));
}

/// V-11: 300 B, 60 a second for 10 s: (600 × 300 - 1500) B / (599/60 s) = 143,038 b/s.
#[test]
fn a_game_is_within_it_from_fifteen_megabits_on() {
    let game: Vec<TimedPacket> = (0..600)
        .map(|number| TimedPacket {
            at: Span::from_ns(number * 1_000_000_000 / 60),
            length: 300,
            dscp: NQB,
            ecn: Ecn::NotEct,
        })
        .collect();
    let least = least_rate(&game, 1500).unwrap().as_bps();
    assert!(least.abs_diff(143_038) <= 1, "{least}");
}

/// V-12: five packets of 1200 B at once are 6000 B beyond any rate; two of 800 B are 1600; two of 1200 B must be
/// (2400 - 1500) / 62,500 s = 14.4 ms apart at 500 kb/s.
#[test]
fn packets_at_once_that_are_more_than_one_of_the_largest_are_never_allowed() {
    let video = every(33_333, 300, 5, 1200);
    let found = envelope(&video, ONE_PERCENT, 1500);
    assert!(!found.holds());
    assert_eq!(least_rate(&video, 1500), None);
    assert_eq!(least_rate(&every(20_000, 10, 2, 800), 1500), None);
    let two = |apart: u64| every(apart, 2, 1, 1200);
    assert!(envelope(&two(14_400), ONE_PERCENT, 1500).holds());
    assert!(!envelope(&two(14_399), ONE_PERCENT, 1500).holds());
}

/// V-9: of packets at once on an idle line, the last that is not moved, by rate: 1200 and 300 B of IP.
#[test]
fn the_largest_burst_is_that_of_the_documents_arithmetic() {
    let bursts =
        |length| [10, 20, 50, 200].map(|mbps| largest_burst(length, Span::ZERO, BitRate::from_mbps(mbps), 200));
    assert_eq!(bursts(1200), [4, 4, 5, 20]);
    assert_eq!(bursts(300), [18, 19, 23, 78]);
}

/// V-9 at 50 Mb/s: the sixth of 1200 B comes at a delay of 1169.3 us, with a score of 4749.3 us.
#[test]
fn delay_and_score_of_the_first_packet_that_is_moved_are_those_of_the_arithmetic() {
    let burst = every(0, 1, 6, 1200);
    let found = protected(&burst, FIFTY, Company::Alone);
    assert_eq!((found.packets, found.sanctioned, found.dropped), (6, 1, 0));
    let us = |span: Span| span.as_secs_f64() * 1e6;
    assert!((us(found.delay_at_score) - 1169.3).abs() < 0.05, "{found:?}");
    assert!((us(found.score) - 4749.3).abs() < 0.05, "{found:?}");
}

/// V-12 and V-9 together: the video breaks the sender's rule on every path, and is never moved at 50 Mb/s.
#[test]
fn a_video_that_may_not_be_marked_is_not_thrown_out_alone() {
    let video = every(33_333, 300, 5, 1200);
    let found = protected(&video, FIFTY, Company::Alone);
    assert_eq!((found.packets, found.sanctioned), (1500, 0));
    let six = every(33_333, 300, 6, 1200);
    assert!(protected(&six, FIFTY, Company::Alone).sanctioned >= 300);
}

#[test]
fn calls_share_the_queue_up_to_a_number_that_falls_with_the_rate() {
    let call = every(20_000, 100, 1, 200);
    let at = |mbps| with_copies(&call, BitRate::from_mbps(mbps), Company::Alone, 256);
    let (ten, fifty) = (at(10), at(50));
    // 114 calls of 87.2 kb/s are 10 Mb/s; those that are shifted do not all overlap.
    assert!((8..125).contains(&ten) && fifty > ten, "{ten} {fifty}");
    let beside = with_copies(&call, BitRate::from_mbps(10), Company::Upload, 256);
    assert!((1..=ten).contains(&beside), "{beside}");
}

/// 10 ms of 1 Mb/s are 1250 B: of three packets of 600 B at once, 618 B on the line, two fit.
#[test]
fn a_short_buffer_overflows_where_bytes_say_so() {
    let rate = BitRate::from_mbps(1);
    assert_eq!(overflow(&every(0, 1, 3, 600), rate, Span::from_ms(10)), 1);
    assert_eq!(overflow(&every(10_000, 100, 1, 600), rate, Span::from_ms(10)), 0);
}

/// 1500 B of bucket take one packet of 1200 B; 500 kb/s fill it in 14.4 ms for another one.
#[test]
fn a_policer_takes_what_its_bucket_holds() {
    assert_eq!(policed(&every(0, 1, 2, 1200), ONE_PERCENT, 1500), 1);
    // 900 B come between two: of each three packets the third finds 900.
    assert_eq!(policed(&every(14_400, 50, 1, 1200), ONE_PERCENT, 1500), 16);
    assert_eq!(policed(&every(19_200, 50, 1, 1200), ONE_PERCENT, 1500), 0);
}

#[test]
fn superpackets_are_cut_and_bursts_are_found() {
    let mut packets = every(20_000, 2, 1, 3100);
    packets[1].at = Span::from_us(20_900);
    let (pieces, longer) = cut(&packets, 1500);
    let lengths: Vec<u32> = pieces.iter().map(|piece| piece.length).collect();
    assert_eq!((lengths, longer), (vec![1500, 1500, 100, 1500, 1500, 100], 2));
    let found = bursts(&pieces, Span::from_ms(1));
    let bytes: Vec<u64> = found.iter().map(|burst| burst.bytes).collect();
    assert_eq!(bytes, [3100, 3100]);
    assert_eq!(bursts(&pieces, Span::from_ms(21)).len(), 1);
}
