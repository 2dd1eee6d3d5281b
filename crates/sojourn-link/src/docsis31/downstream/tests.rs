use super::*;
use crate::testing::{Call, Collector, Diary, TwoQueues, drive, drive_packets, packet, steady};
use proptest::prelude::*;
use std::vec::Vec;

fn link(config: &DownstreamConfig) -> Downstream<TwoQueues> {
    Downstream::new(config, Box::new(TwoQueues::default()))
}

#[test]
fn a_lone_packet_arrives_when_the_notes_say() {
    // Vector C3: 1000 B at 100.001 ms leave the modem at 100.165 ms; 152.5 us from the start of a symbol.
    let mut context = Collector::default();
    let at = Instant::from_us(100_001);
    drive(&mut link(&DownstreamConfig::WHITE2019), [(at, 1_018)], Instant::from_s(1), &mut context);
    // 1028 B are more than a symbol may have at 400 Mb/s (1125 B): one symbol.
    let passage = context.delivered[0].2;
    assert_eq!(passage.arrives_at, Instant::from_us(100_165));
    assert_eq!(passage.delay.total(), passage.arrives_at.saturating_since(at));
    assert_eq!(passage.delay.framing, Span::from_ns(11_500));
    assert_eq!(passage.delay.pipeline, Span::from_us(90));
    assert_eq!(passage.delay.serialisation, Span::from_ns(22_500));
    assert_eq!(passage.delay.wire, Span::from_us(40));
}

#[test]
fn a_standing_queue_leaves_at_the_peak_rate_and_then_at_the_sustained_rate() {
    // 2.5 MB at 400 Mb/s against 200 Mb/s last 100 ms; Ethernet frames are counted, and MAC headers are not.
    let mut context = Collector::default();
    let arrivals = (0..20_000).map(|number| (Instant::from_us(50 * number), 1_518));
    drive(&mut link(&DownstreamConfig::WHITE2019), arrivals, Instant::from_s(1), &mut context);
    let bytes_until = |ms| {
        let arrived = context.delivered.iter().filter(|(_, _, p)| p.arrives_at < Instant::from_ms(ms));
        arrived.map(|(_, meta, _)| u64::from(meta.length)).sum::<u64>()
    };
    // 1518 B each 50 us are 242.88 Mb/s: the bucket is empty after 2.5 MB / 42.88 Mb/s, which is 466 ms.
    let late = bytes_until(1_000) - bytes_until(500);
    let exact = 200e6 / 8.0 * 0.5;
    assert!((late as f64 - exact).abs() < 1_518.0 * 2.0, "{late}");
}

#[test]
fn frames_of_any_length_get_the_rate() {
    // The burst is spent in the first half. Frames of 64 B are 74 B with their headers.
    for (kbps, length) in [(100, 64), (100, 1_518), (10_000, 64), (500_000, 1_518)] {
        let rate = BitRate::from_kbps(kbps);
        let config = DownstreamConfig {
            rate,
            burst: Bytes(3_044).max(rate.bytes_in(Span::from_ms(1))),
            ..DownstreamConfig::BASE
        };
        let ms = (20_000_000 / kbps).clamp(100, 40_000);
        let end = Instant::from_ms(ms);
        let gap = BitRate::from_kbps(kbps * 11 / 10).time_for(Bytes(length.into()));
        let arrivals = (0..).map_while(|number: u64| {
            let at = Instant::ZERO + gap * number.saturating_sub(1_000);
            (at < end).then_some((at, length))
        });
        let mut context = Collector::default();
        drive(&mut link(&config), arrivals, end, &mut context);
        let second_half = Instant::from_ms(ms / 2)..end;
        let late = context.delivered.iter().filter(|(.., p)| second_half.contains(&p.arrives_at));
        let bytes: u64 = late.map(|(_, meta, _)| u64::from(meta.length)).sum();
        let due = rate.bytes_in(Span::from_ms(ms / 2)).0;
        assert!(bytes.abs_diff(due) <= 2 * 1_518, "{kbps} kb/s: {bytes} B for {due} B");
    }
}

#[test]
fn a_peak_rate_is_reached_if_it_is_more_than_a_frame_per_symbol() {
    let config = DownstreamConfig {
        rate: BitRate::from_mbps(900),
        peak: BitRate::from_mbps(1_000),
        burst: Bytes(100_000_000),
        ..DownstreamConfig::BASE
    };
    let mut context = Collector::default();
    let arrivals = (0..20_000).map(|_| (Instant::ZERO, 1_518));
    drive(&mut link(&config), arrivals, Instant::from_ms(100), &mut context);
    let bytes = context.delivered.len() as f64 * 1_518.0;
    assert!((bytes * 8.0 / 0.1 / 1e9 - 1.0).abs() < 0.005, "{bytes}");
}

#[test]
fn others_leave_so_many_bytes_a_second() {
    let config = DownstreamConfig {
        rate: BitRate::ZERO,
        peak: BitRate::ZERO,
        congestion: crate::CongestionConfig::GrantSize { mean: Bytes(225), variation: 0.5 },
        ..DownstreamConfig::WHITE2019
    };
    let mut context = Collector::default();
    let arrivals = (0..2_000).map(|_| (Instant::ZERO, 1_518));
    drive(&mut link(&config), arrivals, Instant::from_ms(200), &mut context);
    // 225 B each 22.5 us: 80 Mb/s.
    let rate = context.delivered.len() as f64 * 1_528.0 * 8.0 / 0.2;
    assert!((rate / 80e6 - 1.0).abs() < 0.02, "{rate}");
}

#[test]
fn levels_of_a_part_of_a_byte_in_each_symbol_are_reached() {
    // A symbol of 22.5 us has 2.8125 B at 1 Mb/s, 4.78125 B at 1.7 Mb/s and 0.84375 B at 0.3 Mb/s.
    for kbps in [300, 1_000, 1_700] {
        let level = BitRate::from_kbps(kbps);
        let config = DownstreamConfig { congestion: steady(level), ..DownstreamConfig::WHITE2019 };
        let mut context = Collector::default();
        let arrivals = (0..1_000).map(|_| (Instant::ZERO, 1_000));
        let end = Instant::from_s(2);
        drive(&mut link(&config), arrivals, end, &mut context);
        // 1010 B on the wire.
        let due = level.bytes_in(Span::from_s(2)).0 / 1_010;
        let found = context.delivered.len() as u64;
        assert!(found.abs_diff(due) <= 1, "{kbps} kb/s: {found} for {due}");
    }
}

#[test]
fn packets_fill_symbols_to_the_byte() {
    // 400 Mb/s are 1125 B in a symbol of 22.5 us, of Ethernet frames; without a rate MAC headers take room, too.
    let open = DownstreamConfig { rate: BitRate::ZERO, peak: BitRate::ZERO, ..DownstreamConfig::WHITE2019 };
    let limited = DownstreamConfig { rate: BitRate::from_mbps(400), burst: Bytes(1_125), ..open.clone() };
    for (config, length, in_symbol) in [(&limited, 1_000, 1_125), (&open, 1_010, open.symbol_bytes())] {
        let mut context = Collector::default();
        drive(&mut link(config), [(Instant::ZERO, 1_000); 100], Instant::from_s(1), &mut context);
        for (number, _, passage) in &context.delivered {
            let symbol = (length * (u64::from(*number) + 1) - 1) / in_symbol;
            let at = Instant::from_ns(22_500 * symbol + 152_500);
            assert_eq!(
                (passage.arrives_at, passage.delay.total()),
                (at, at.saturating_since(Instant::ZERO)),
                "{number}"
            );
        }
    }
}

#[test]
fn packets_until_the_moment_in_which_a_symbol_begins_go_with_it_and_idle_symbols_cost_no_work() {
    for (entered_ns, arrives_ns) in [
        ([45_000, 45_001], [197_500, 220_000]),
        ([50_000, 60_000], [220_000, 220_000]),
        ([50_000, 67_500], [220_000, 220_000]),
        ([1_000_000_000, 1_000_000_000], [1_000_165_000, 1_000_165_000]),
    ] {
        let mut context = Collector::default();
        context.work = 10;
        let arrivals = entered_ns.map(|ns| (Instant::from_ns(ns), 100));
        drive(&mut link(&DownstreamConfig::WHITE2019), arrivals, Instant::from_s(2), &mut context);
        let arrived: Vec<_> = context.delivered.iter().map(|(.., passage)| passage.arrives_at.as_ns()).collect();
        assert_eq!(arrived, arrives_ns, "{entered_ns:?}");
    }
}

#[test]
fn timers_of_the_queue_manager_run_before_the_next_packet() {
    let manager = Diary::with_timer(Span::from_ms(1));
    let mut link = Downstream::new(&DownstreamConfig::WHITE2019, Box::new(manager));
    let arrivals = [0, 3].map(|ms| (Instant::from_ms(ms), 100));
    drive(&mut link, arrivals, Instant::from_ms(5), &mut Collector::default());
    assert_eq!(link.manager().times_in_ms(Call::Timer), [1, 2, 3]);
}

proptest! {
    /// Every packet once, in order, not before it can, with parts that sum to the whole, and never more than the
    /// buckets allow.
    #[test]
    fn packets_pass_once_in_order_and_no_faster_than_allowed(
        gaps in prop::collection::vec(0_u64..400, 1..200),
        lengths in prop::collection::vec(64_u32..1_519, 200),
        mbps in 1_u64..1_500,
        twice in any::<bool>(),
    ) {
        let rate = BitRate::from_mbps(mbps);
        let config = DownstreamConfig {
            rate,
            peak: if twice { BitRate::from_mbps(2 * mbps) } else { BitRate::ZERO },
            burst: Bytes(20_000),
            ..DownstreamConfig::BASE
        };
        let mut at = Instant::ZERO;
        let arrivals: Vec<(Instant, Meta)> = gaps
            .iter()
            .zip(&lengths)
            .map(|(gap, length)| {
                at += Span::from_us(*gap);
                (at, packet(*length))
            })
            .collect();
        let mut context = Collector::default();
        drive_packets(&mut link(&config), arrivals.clone(), Instant::NEVER, &mut context);
        let numbers: Vec<u32> = context.delivered.iter().map(|d| d.0).collect();
        let all: Vec<u32> = (0..).take(arrivals.len()).collect();
        prop_assert_eq!(numbers, all);
        let mut before = Instant::ZERO;
        for (number, _, passage) in &context.delivered {
            let entered = arrivals[*number as usize].0;
            prop_assert_eq!(passage.entered_at, entered);
            prop_assert!(passage.arrives_at >= before);
            before = passage.arrives_at;
            let taken = passage.arrives_at.saturating_since(entered);
            prop_assert!(taken >= Span::from_ns(152_500));
            prop_assert_eq!(passage.delay.total(), taken);
        }
        let bytes: u64 = lengths.iter().take(arrivals.len()).map(|l| u64::from(*l)).sum();
        let span = before.saturating_since(arrivals[0].0);
        prop_assert!(bytes <= rate.bytes_in(span).0 + 20_000);
    }
}
