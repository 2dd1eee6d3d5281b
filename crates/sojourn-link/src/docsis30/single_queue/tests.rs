use super::*;
use crate::Passage;
use crate::docsis::congestion::{CongestionConfig, RateCycle};
use crate::testing::{Collector, Picky, drive};
use sojourn_base::BitRate;
use sojourn_queue::{CodelConfig, CodelQueue, DropTailConfig, DropTailQueue, Reason};
use std::vec::Vec;

fn drop_tail(config: &SingleQueueConfig, limit: u64) -> SingleQueue<DropTailQueue> {
    SingleQueue::new(config, Box::new(DropTailQueue::new(DropTailConfig::bytes(limit))))
}

fn congested(congestion: CongestionConfig) -> SingleQueueConfig {
    SingleQueueConfig { congestion, ..SingleQueueConfig::WHITE2013 }
}

/// A channel that always leaves `kbps`.
fn level(kbps: u64) -> SingleQueueConfig {
    congested(CongestionConfig::Schedule(RateCycle {
        levels: std::vec![BitRate::from_kbps(kbps)],
        order: std::vec![0],
        dwell: Span::from_s(10),
        phase: 0,
        variation: 0.0,
        exhaustive: false,
    }))
}

fn counted<M: QueueManager>(modem: &SingleQueue<M>) -> LinkCounters {
    modem.counters().expect("a MAC counts")
}

fn passages(context: &Collector) -> Vec<Passage> {
    context.delivered.iter().map(|(_, _, passage)| *passage).collect()
}

/// Latencies to the CMTS, less serialisation, of `count` packets that find the modem empty, at all
/// phases of the MAP interval.
fn lone_latencies(count: u64) -> Vec<f64> {
    let mut modem = drop_tail(&SingleQueueConfig::WHITE2013, 625_000);
    let mut context = Collector::default();
    let arrivals = (0..count).map(|n| (Instant::from_ns(20_037_100 * n), 100));
    drive(&mut modem, arrivals, Instant::NEVER, &mut context);
    passages(&context).iter().map(|p| (p.delay.total().saturating_sub(p.delay.serialisation)).as_ms_f64()).collect()
}

#[test]
fn a_lone_packet_is_requested_at_the_next_map_and_granted_two_maps_later() {
    // B1: at 0.5 ms; requested at 2 ms, granted in [6, 8) ms, at the CMTS 1 ms and its bits later.
    let mut modem = drop_tail(&SingleQueueConfig::WHITE2013, 625_000);
    let mut context = Collector::default();
    let wakeups = drive(&mut modem, [(Instant::from_us(500), 1500)], Instant::NEVER, &mut context);
    assert_eq!(wakeups, 2, "a request and a grant");
    let passage = passages(&context)[0];
    let begins_at = passage.dequeued_at.as_ns();
    assert!((6_000_000..8_000_000).contains(&begins_at), "{begins_at} ns");
    assert_eq!(passage.delay.request_wait, Span::from_us(1500));
    assert_eq!(passage.delay.queue, Span::ZERO);
    assert_eq!(passage.delay.framing, Span::ZERO);
    assert_eq!(passage.delay.serialisation, Span::from_ps(122_070_313));
    assert_eq!(passage.arrives_at, passage.dequeued_at + Span::from_ps(122_070_313) + Span::from_ms(1));
    assert_eq!(modem.next_wakeup(), Instant::NEVER);
    let counters = counted(&modem);
    assert_eq!((counters.requested, counters.granted), (Bytes(1500), Bytes(1500)));
    assert_eq!(counters.unused_grant, Bytes::ZERO);
}

#[test]
fn a_packet_at_the_start_of_a_map_waits_for_the_next_one() {
    // The wait for the request is U(0, M], unlike the cascade's.
    let mut modem = drop_tail(&SingleQueueConfig::WHITE2013, 625_000);
    let mut context = Collector::default();
    drive(&mut modem, [(Instant::from_ms(4), 100)], Instant::NEVER, &mut context);
    let passage = passages(&context)[0];
    assert_eq!(passage.delay.request_wait, Span::from_ms(2));
    assert!(passage.dequeued_at >= Instant::from_ms(10));
}

#[test]
fn the_latency_of_lone_packets_is_five_to_nine_milliseconds() {
    // B1 and B2: the sum of two uniform waits of 0 to 2 ms plus 5 ms: mean 7, a share of 1/8 up to 6,
    // 1/2 up to 7, 7/8 up to 8 ms.
    let latencies = lone_latencies(20_000);
    assert_eq!(latencies.len(), 20_000);
    assert!(latencies.iter().all(|ms| (5.0..9.0).contains(ms)));
    let mean = latencies.iter().sum::<f64>() / 20_000.0;
    // 4 standard errors: 4 × 0.816 / √20000.
    assert!((mean - 7.0).abs() < 0.023, "mean {mean} ms");
    for (limit, share) in [(6.0, 0.125), (7.0, 0.5), (8.0, 0.875)] {
        let ours = latencies.iter().filter(|ms| **ms <= limit).count() as f64 / 20_000.0;
        assert!((ours - share).abs() < 0.015, "{ours} up to {limit} ms");
    }
}

#[test]
fn grants_are_uniform_in_their_interval() {
    // W13-42: Kolmogorov-Smirnov distance of 5000 offsets below the 1 % point, 1.63 / √n.
    let mut modem = drop_tail(&SingleQueueConfig::WHITE2013, 625_000);
    let mut context = Collector::default();
    let arrivals = (0..5_000).map(|n| (Instant::from_us(1_000 + 20_000 * n), 50));
    drive(&mut modem, arrivals, Instant::NEVER, &mut context);
    let mut offsets: Vec<f64> = passages(&context)
        .iter()
        // 50 B leave room for offsets up to 2 ms less 4.07 µs.
        .map(|p| (p.dequeued_at.as_ps() % 2_000_000_000) as f64 / (2e9 - 4.069e6))
        .collect();
    offsets.sort_by(f64::total_cmp);
    let distance = offsets
        .iter()
        .enumerate()
        .map(|(i, x)| (x - i as f64 / 5e3).abs().max((x - (i + 1) as f64 / 5e3).abs()))
        .fold(0.0, f64::max);
    assert!(distance < 1.63 / 5_000.0_f64.sqrt(), "distance {distance}");
}

#[test]
fn isolated_packets_stay_below_the_codel_target_of_ten_milliseconds() {
    // W13-32: the MAC alone never looks like a standing queue.
    let mut modem = SingleQueue::new(&SingleQueueConfig::WHITE2013, Box::new(CodelQueue::new(CodelConfig::WHITE2013)));
    let mut context = Collector::default();
    let arrivals = (0..5_000).map(|n| (Instant::from_ns(20_037_100 * n), 300));
    drive(&mut modem, arrivals, Instant::NEVER, &mut context);
    assert_eq!(context.dropped.len(), 0);
    for passage in passages(&context) {
        let sojourn = passage.dequeued_at.saturating_since(passage.entered_at);
        assert!((Span::from_ms(4)..Span::from_ms(8)).contains(&sojourn), "{sojourn}");
    }
}

#[test]
fn without_drops_no_packet_beats_the_loop_and_no_grant_is_unused() {
    // W13-33: in a first-in, first-out queue, less than one loop happens only after a drop.
    let mut modem = drop_tail(&SingleQueueConfig::WHITE2013, 625_000);
    let mut context = Collector::default();
    // Bursts of up to eight packets at awkward distances.
    let arrivals = (0..4_000_u64).map(|n| (Instant::from_us(1_700 * (n / 8) * 9 + 311 * (n % 8)), 900));
    drive(&mut modem, arrivals, Instant::NEVER, &mut context);
    assert_eq!(context.delivered.len(), 4_000);
    for passage in passages(&context) {
        let sojourn = passage.dequeued_at.saturating_since(passage.entered_at);
        assert!(sojourn >= Span::from_ms(4), "{sojourn}");
    }
    assert_eq!(counted(&modem).unused_grant, Bytes::ZERO);
}

#[test]
fn after_a_head_drop_a_later_packet_rides_the_grant_of_the_dropped_one() {
    // W13-33, the other half: five packets of 50 B that the manager will drop are requested at 2 ms; a
    // packet of 200 B that comes at 5.9 ms, just before their grant, takes it and leaves 50 B unused. Its own 200 B were
    // requested at 6 ms, before the drops, and are granted for nothing.
    let mut modem = SingleQueue::new(&SingleQueueConfig::WHITE2013, Box::new(Picky::default()));
    let mut context = Collector::default();
    let short = [(Instant::from_us(500), 50); 5];
    let late = (Instant::from_us(5_900), 200);
    drive(&mut modem, short.into_iter().chain([late]), Instant::NEVER, &mut context);
    assert_eq!(context.dropped.len(), 5);
    let passage = passages(&context)[0];
    assert!(passage.dequeued_at < Instant::from_ms(8));
    let beginning = passage.dequeued_at.saturating_since(passage.entered_at);
    assert_eq!(passage.delay.grant_wait, beginning);
    assert_eq!(passage.delay.request_wait + passage.delay.queue, Span::ZERO);
    assert_eq!(counted(&modem).unused_grant, Bytes(250));
    assert_eq!(modem.next_wakeup(), Instant::NEVER);
}

#[test]
fn with_codel_what_is_granted_is_sent_or_counted_as_unused() {
    let mut modem = SingleQueue::new(&level(1_000), Box::new(CodelQueue::new(CodelConfig::WHITE2013)));
    let mut context = Collector::default();
    // 1.3 Mb/s for 30 s into 1 Mb/s.
    let bulk = (0..3_250_u64).map(|n| (Instant::from_us(9_230 * n), 1500));
    drive(&mut modem, bulk, Instant::NEVER, &mut context);
    assert!(context.dropped.iter().any(|drop| drop.2.reason == Reason::Target));
    let sent: u64 = context.delivered.iter().map(|d| u64::from(d.1.length)).sum();
    let counters = counted(&modem);
    assert_eq!(counters.granted, counters.requested);
    assert_eq!(counters.granted, Bytes(sent) + counters.unused_grant);
}

#[test]
fn a_congested_packet_ends_in_its_third_grant() {
    // B3: light, 20 to 30 s is the 2.5 Mb/s dwell: 625 B per MAP, so 625 + 625 + 250.
    let mut modem = drop_tail(&congested(CongestionConfig::white2013_light()), 625_000);
    let mut context = Collector::default();
    let at = Instant::from_us(20_000_500);
    let wakeups = drive(&mut modem, [(at, 1500)], Instant::NEVER, &mut context);
    assert_eq!(wakeups, 4, "a request and three grants");
    let passage = passages(&context)[0];
    let last_byte = passage.arrives_at.as_ns() - 1_000_000;
    assert!((20_010_000_000..20_012_000_000).contains(&last_byte), "{last_byte} ns");
    assert!(passage.delay.framing > Span::from_ms(2));
}

/// The longest sojourn of 1500 B packets offered at 30 Mb/s for some seconds to a modem that leaves
/// the channel `kbps`, after its burst is spent.
fn longest_sojourn(kbps: u64, limit: u64) -> f64 {
    let config = SingleQueueConfig {
        shaper: ShaperConfig { burst: Bytes(1522), ..ShaperConfig::WHITE2013_UPSTREAM },
        ..level(kbps)
    };
    let mut modem = drop_tail(&config, limit);
    let mut context = Collector::default();
    let arrivals = (0..20_000_u64).map(|n| (Instant::from_us(400 * n), 1500));
    drive(&mut modem, arrivals, Instant::from_s(8), &mut context);
    passages(&context).iter().map(|p| p.dequeued_at.saturating_since(p.entered_at).as_ms_f64()).fold(0.0, f64::max)
}

#[test]
fn a_full_buffer_delays_by_its_size_over_the_rate_left() {
    // B4: 8 L / c. The loop and the place of the grant add less than 6 ms, and a queue of whole packets
    // is up to one packet short of its limit.
    for (limit, kbps, ms) in [
        (31_250, 5_000, 50.0),
        (31_250, 2_500, 100.0),
        (31_250, 1_700, 147.06),
        (625_000, 5_000, 1000.0),
        (625_000, 2_500, 2000.0),
        (625_000, 1_700, 2941.2),
    ] {
        let longest = longest_sojourn(kbps, limit);
        let packet = 1500.0 * 8.0 / kbps as f64;
        assert!(longest > ms - packet && longest < ms + 6.0, "{longest} ms instead of {ms}");
    }
    // W13-51: half the rate doubles it.
    let ratio = longest_sojourn(2_500, 31_250) / longest_sojourn(5_000, 31_250);
    assert!((1.85..=2.1).contains(&ratio), "{ratio}");
}

#[test]
fn a_backlog_is_served_at_exactly_the_sustained_rate() {
    // B5: with an empty bucket 1250 B are requested per MAP.
    let mut modem = drop_tail(&SingleQueueConfig::WHITE2013, 625_000);
    let mut context = Collector::default();
    let mut offer = (0..).map(|n| (Instant::from_us(500 * n), 1500)).peekable();
    let mut until = |modem: &mut _, ms: u64| {
        let until = Instant::from_ms(ms);
        let due: Vec<_> = core::iter::from_fn(|| offer.next_if(|(at, _)| *at <= until)).collect();
        drive(modem, due, until, &mut context);
    };
    until(&mut modem, 20_000);
    let before = counted(&modem).requested;
    let sent_before = counted(&modem).granted;
    for map in 1..=1000 {
        until(&mut modem, 20_000 + 2 * map);
        assert_eq!(counted(&modem).requested, before + Bytes(1250 * map));
    }
    // The last planned grant may be one more or less than at the start.
    let sent = (counted(&modem).granted - sent_before).0;
    assert!(sent.abs_diff(1_250_000) <= 1250, "{sent}");
    assert_eq!(counted(&modem).unused_grant, Bytes::ZERO);
}

#[test]
fn a_greedy_flow_gets_the_peak_rate_for_its_burst_only() {
    // B6: 20 Mb/s for at most 5.33 s, then 5 Mb/s.
    let mut modem = drop_tail(&SingleQueueConfig::WHITE2013, 625_000);
    let mut context = Collector::default();
    let offer = (0..70_000_u64).map(|n| (Instant::from_us(440 * n), 1500));
    drive(&mut modem, offer, Instant::from_s(30), &mut context);
    let mut bytes_in_second = [0_u64; 32];
    for (_, meta, passage) in &context.delivered {
        let second = usize::try_from(passage.arrives_at.as_ns() / 1_000_000_000).unwrap();
        bytes_in_second[second] += u64::from(meta.length);
    }
    for bytes in &bytes_in_second[1..5] {
        assert!(bytes.abs_diff(2_500_000) < 8_000, "{bytes}");
    }
    for bytes in &bytes_in_second[6..30] {
        assert!(bytes.abs_diff(625_000) < 4_000, "{bytes}");
    }
    let total: u64 = bytes_in_second[..30].iter().sum();
    // 10 MB + 30 s × 5 Mb/s, and the depth of the peak bucket, less what the loop still holds.
    assert!(total.abs_diff(10_000_000 + 18_750_000) < 10_000, "{total}");
}

#[test]
fn unspent_grants_are_refunded() {
    // 90 B are requested at 2 ms and paid; 0.1 ms at 5 Mb/s bring back 62.5 B. At the grant the manager
    // drops the packet: everything comes back, and the bucket is no fuller than full.
    let mut modem = SingleQueue::new(&SingleQueueConfig::WHITE2013, Box::new(Picky::default()));
    let mut context = Collector::default();
    drive(&mut modem, [(Instant::ZERO, 90)], Instant::from_ms(2), &mut context);
    let soon = Instant::from_us(2_100);
    assert_eq!(modem.tokens(soon), Bytes(10_000_000 - 90 + 62));
    drive(&mut modem, [], Instant::NEVER, &mut context);
    assert_eq!(context.dropped.len(), 1);
    assert_eq!(counted(&modem).unused_grant, Bytes(90));
    assert_eq!(modem.tokens(Instant::from_ms(8)), Bytes(10_000_000));
    assert_eq!(modem.next_wakeup(), Instant::NEVER);

    // At 1 bit/s nothing accrues in time: only the refund brings the tokens back.
    let spent = |length| {
        let mut modem = SingleQueue::new(
            &SingleQueueConfig {
                shaper: ShaperConfig {
                    sustained: BitRate::from_bps(1),
                    burst: Bytes(1000),
                    ..ShaperConfig::WHITE2013_UPSTREAM
                },
                ..SingleQueueConfig::WHITE2013
            },
            Box::new(Picky::default()),
        );
        let mut context = Collector::default();
        drive(&mut modem, [(Instant::ZERO, length)], Instant::NEVER, &mut context);
        modem.tokens(Instant::from_ms(10))
    };
    assert_eq!(spent(90), Bytes(1000));
    assert_eq!(spent(110), Bytes(890));
}

#[test]
fn two_queue_managers_meet_the_same_grants_in_the_same_maps() {
    // One draw per MAP, whichever MAPs are used: the same packet in the same MAP is granted at the
    // same place, whatever happened before.
    let run = |early: &[u64]| {
        let mut modem = drop_tail(&SingleQueueConfig::WHITE2013, 625_000);
        let mut context = Collector::default();
        let arrivals: Vec<_> = early.iter().chain(&[900]).map(|ms| (Instant::from_ms(*ms), 218)).collect();
        drive(&mut modem, arrivals, Instant::NEVER, &mut context);
        passages(&context).last().unwrap().arrives_at
    };
    assert_eq!(run(&[]), run(&[1, 20, 21, 500]));
}
