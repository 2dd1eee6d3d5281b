use super::*;
use crate::config::ShaperConfig;
use crate::docsis::congestion::CongestionConfig;
use crate::testing::{Collector, drive};
use crate::{Passage, Stage};
use sojourn_base::{BitRate, Packets};
use sojourn_queue::{CodelConfig, CodelQueue, DropTailConfig, DropTailQueue, Reason};
use std::vec::Vec;

type Modem<M> = Cascade<M>;

/// No shaping, `grant` bytes per MAP.
fn unshaped(grant: u64) -> CascadeConfig {
    CascadeConfig {
        shaper: ShaperConfig {
            sustained: BitRate::ZERO,
            burst: Bytes::ZERO,
            peak: BitRate::ZERO,
            peak_burst: Bytes::ZERO,
        },
        congestion: CongestionConfig::GrantSize { mean: Bytes(grant), variation: 0.0 },
        ..CascadeConfig::WHITE2012
    }
}

fn drop_tail(config: &CascadeConfig) -> Modem<DropTailQueue> {
    Cascade::new(config, Box::new(DropTailQueue::new(DropTailConfig::bytes(625_000))))
}

fn codel(config: &CascadeConfig) -> Modem<CodelQueue> {
    Cascade::new(config, Box::new(CodelQueue::new(CodelConfig::WHITE2012)))
}

fn passages(context: &Collector) -> Vec<Passage> {
    context.delivered.iter().map(|(_, _, passage)| *passage).collect()
}

#[test]
fn a_lone_packet_arrives_one_loop_its_bits_and_the_fixed_delay_later() {
    // A1: 218 B at 0.5 ms are requested at 2 ms and granted at 6 ms; 8 × 218 bit / 98.304 Mb/s =
    // 17.740885… µs; then 1 ms.
    let mut modem = drop_tail(&CascadeConfig::WHITE2012);
    let mut context = Collector::default();
    let wakeups = drive(&mut modem, [(Instant::from_us(500), 218)], Instant::NEVER, &mut context);
    assert_eq!(wakeups, 1);
    let passage = passages(&context)[0];
    assert_eq!(passage.arrives_at, Instant::from_ps(7_017_740_886));
    assert_eq!(passage.delay.queue, Span::ZERO);
    assert_eq!(passage.delay.request_wait, Span::from_us(1500));
    assert_eq!(passage.delay.grant_wait, Span::from_ms(4));
    assert_eq!(passage.delay.framing, Span::ZERO);
    assert_eq!(passage.delay.serialisation, Span::from_ps(17_740_886));
    assert_eq!(passage.delay.wire, Span::from_ms(1));
}

#[test]
fn the_loop_takes_four_to_six_milliseconds() {
    // W12-20: uniform arrivals to an empty queue; until the grant 4 to 6 ms, 5 ms on average.
    let mut modem = drop_tail(&CascadeConfig::WHITE2012);
    let mut context = Collector::default();
    // 20.0371 ms apart: the phase in the MAP interval steps by 37.1 µs through all of it.
    let arrivals = (0..2_000).map(|n| (Instant::from_ns(20_037_100 * n), 100));
    drive(&mut modem, arrivals, Instant::NEVER, &mut context);
    let waits: Vec<f64> =
        passages(&context).iter().map(|p| (p.delay.request_wait + p.delay.grant_wait).as_ms_f64()).collect();
    assert_eq!(waits.len(), 2_000);
    assert!(waits.iter().all(|wait| (4.0..6.0).contains(wait)));
    let mean = waits.iter().sum::<f64>() / 2_000.0;
    assert!((mean - 5.0).abs() < 0.05, "mean {mean} ms");
}

#[test]
fn three_packets_through_small_grants_arrive_when_their_last_bytes_do() {
    // A2 and W12-92: 1250 B per MAP from 6 ms on. The packets end at offsets 250, 500 and 750 B of the
    // grants at 8, 10 and 12 ms: 20.345, 40.690 and 61.035 µs.
    let mut modem = drop_tail(&unshaped(1250));
    let mut context = Collector::default();
    let at = Instant::from_us(500);
    let wakeups = drive(&mut modem, [(at, 1500); 3], Instant::NEVER, &mut context);
    assert_eq!(wakeups, 5, "one for the rest of the burst, and one per MAP that grants");
    let passages = passages(&context);
    let arrivals: Vec<u64> = passages.iter().map(|p| p.arrives_at.as_ps()).collect();
    assert_eq!(arrivals, [9_020_345_053, 11_040_690_105, 13_061_035_157]);
    // The first packet's first byte goes at 6 ms; 122.07 µs of the rest are its bits.
    let first = passages[0].delay;
    assert_eq!(first.grant_wait, Span::from_ms(4));
    assert_eq!(first.serialisation, Span::from_ps(122_070_313));
    assert_eq!(first.framing, Span::from_ps(2_020_345_053 - 122_070_313));
    // The second packet's first byte goes right behind the first packet.
    assert_eq!(passages[1].delay.grant_wait, Span::from_ps(6_020_345_053));
    let counters = modem.counters().expect("a MAC counts");
    assert_eq!((counters.requested, counters.granted), (Bytes(4500), Bytes(4500)));
}

#[test]
fn an_idle_modem_sleeps_and_a_busy_one_wakes_once_per_packet_and_map() {
    let mut modem = drop_tail(&CascadeConfig::WHITE2012);
    let mut context = Collector::default();
    assert_eq!(modem.next_wakeup(), Instant::NEVER);
    // 10 MB at the peak rate and then 5 Mb/s for 4 s: packets every 2.4 ms, a MAP each 2 ms.
    let offer = |from: u64| (0..).map(move |n| (Instant::from_us(from + 600 * n), 1500));
    drive(&mut modem, offer(0).take(20_000), Instant::from_s(8), &mut context);
    let steady = drive(&mut modem, offer(8_000_000), Instant::from_s(12), &mut context);
    let ideal = 4_000_000 / 2_400 + 4_000 / 2;
    assert!(steady <= ideal + 2, "{steady} wake-ups, {ideal} expected");
    drive(&mut modem, [], Instant::NEVER, &mut context);
    assert_eq!(modem.next_wakeup(), Instant::NEVER);
    assert_eq!(modem.backlog(), Backlog::default());
    assert_eq!(modem.staged(), Backlog::default());
}

/// 3 Mb/s for 20 s into a channel that grants 2.5 Mb/s.
fn overload<M: QueueManager>(modem: &mut Modem<M>) -> (Collector, u32) {
    let mut context = Collector::default();
    let mut most_staged = 0;
    for n in 0..5_000 {
        let at = Instant::from_us(4_000 * n);
        drive(modem, [(at, 1500)], at, &mut context);
        most_staged = most_staged.max(modem.staged().packets.0);
    }
    (context, most_staged)
}

fn lost_at(context: &Collector, stage: Stage) -> usize {
    context.dropped.iter().filter(|drop| drop.2.stage == stage).count()
}

fn congested(variant: CascadeVariant) -> CascadeConfig {
    CascadeConfig {
        congestion: CongestionConfig::GrantSize { mean: Bytes(625), variation: 0.2 },
        variant,
        ..CascadeConfig::WHITE2012
    }
}

#[test]
fn on_a_congested_channel_the_backlog_moves_into_the_transmit_queue() {
    // White 2012 §2.2.3: CoDel sees no delay, the transmit queue is full and drops.
    let mut modem = codel(&congested(CascadeVariant::DropAtTransmitQueue));
    let (context, most_staged) = overload(&mut modem);
    assert_eq!(most_staged, 32);
    assert_eq!(lost_at(&context, Stage::Queue), 0);
    assert!(lost_at(&context, Stage::TransmitQueue) > 500);
    assert!(context.dropped.iter().all(|drop| drop.2.reason == Reason::Overlimit));
    // 32 packets of 1500 B at 2.5 Mb/s: 154 ms, and up to a loop more.
    let longest = passages(&context).iter().map(|p| p.delay.total()).max().unwrap();
    assert!((0.15..0.17).contains(&longest.as_secs_f64()), "{longest}");
}

#[test]
fn back_pressure_keeps_packets_where_the_manager_sees_them() {
    let mut modem = codel(&congested(CascadeVariant::BackPressure));
    let (context, most_staged) = overload(&mut modem);
    assert_eq!(most_staged, 32);
    assert_eq!(lost_at(&context, Stage::TransmitQueue), 0);
    assert!(lost_at(&context, Stage::Queue) > 300);
}

#[test]
fn a_sojourn_over_both_queues_lets_codel_act_on_the_transmit_queue() {
    // 3 Mb/s pass the shaper of 5 Mb/s at once, so each drop empties the rate-shaping queue and begins
    // CoDel's interval of 100 ms again: up to 200 drops in 20 s, where the study's model has none.
    let dropped = |variant| {
        let mut modem = codel(&congested(variant));
        let (context, _) = overload(&mut modem);
        let by_codel = context.dropped.iter().filter(|drop| drop.2.reason == Reason::Target);
        (by_codel.count(), lost_at(&context, Stage::TransmitQueue))
    };
    let (alone, refused_alone) = dropped(CascadeVariant::DropAtTransmitQueue);
    let (both, refused_both) = dropped(CascadeVariant::SojournOverBoth);
    assert_eq!(alone, 0);
    assert!((150..=200).contains(&both), "{both} drops");
    assert!(refused_both + 100 < refused_alone, "{refused_both} {refused_alone}");
}

#[test]
fn places_that_a_grant_frees_are_filled_in_time_for_its_request() {
    // Two places, whole packets per grant, three packets at 1 ms: the third waits in front, moves in at
    // 6 ms when the grant frees a place, and is requested at once: granted at 10 ms.
    let config = CascadeConfig { transmit_queue: Packets(2), variant: CascadeVariant::BackPressure, ..unshaped(1500) };
    let mut modem = drop_tail(&config);
    let mut context = Collector::default();
    drive(&mut modem, [(Instant::from_ms(1), 1500); 3], Instant::from_ms(5), &mut context);
    assert_eq!(modem.backlog().packets, Packets(1));
    assert_eq!(modem.staged().packets, Packets(2));
    drive(&mut modem, [], Instant::NEVER, &mut context);
    let third = passages(&context)[2];
    assert_eq!(third.dequeued_at, Instant::from_ms(6));
    assert_eq!(third.delay.queue, Span::from_ms(5));
    assert_eq!(third.delay.request_wait, Span::ZERO);
    assert_eq!(third.delay.grant_wait, Span::from_ms(4));
}

#[test]
fn the_manager_judges_a_packet_at_the_time_it_will_leave_both_queues() {
    let config = CascadeConfig { variant: CascadeVariant::SojournOverBoth, ..unshaped(500) };
    let mut modem = drop_tail(&config);
    let at = Instant::from_ms(1);
    // An empty modem: requested at 2 ms, granted at 6 ms.
    assert_eq!(modem.judged_at(at), Instant::from_ms(6));
    let mut context = Collector::default();
    let before = Instant::from_us(900);
    drive(&mut modem, [(before, 1500), (at, 1500)], at, &mut context);
    // 3000 B are ahead: six grants from 6 to 16 ms, and the next begins at 18 ms.
    modem.rate_shaping.offer(at, crate::testing::packet(400), PacketHandle(9), NextStage::default(), &mut context);
    assert_eq!(modem.judged_at(at), Instant::from_ms(18));
    // An expectation that shrinks does not take the manager's time back.
    modem.last_judged_at = Instant::from_ms(30);
    assert_eq!(modem.judged_at(at), Instant::from_ms(30));
}

#[test]
fn all_but_the_first_packet_of_a_burst_meet_the_limit_of_the_queue() {
    // 24 SYNs of 40 B at one instant: the tokens would cover them all, but one passes, 21 wait for
    // their turn and two are refused.
    let queue = DropTailQueue::new(DropTailConfig {
        limit: sojourn_base::Limit::Packets(Packets(21)),
        ..DropTailConfig::bytes(0)
    });
    let mut modem = Cascade::new(&CascadeConfig::WHITE2012, Box::new(queue));
    let mut context = Collector::default();
    let at = Instant::from_us(500);
    drive(&mut modem, [(at, 40); 24], at, &mut context);
    assert_eq!(modem.backlog().packets, Packets(21));
    assert_eq!(lost_at(&context, Stage::Queue), 2);
    // The rest passes an instant later, in time for the same request.
    drive(&mut modem, [], Instant::from_us(501), &mut context);
    assert_eq!(modem.staged().packets, Packets(22));
    drive(&mut modem, [], Instant::NEVER, &mut context);
    let first_grant = Instant::from_ms(6);
    assert!(passages(&context).iter().all(|p| p.arrives_at < first_grant + Span::from_us(1_100)));
}

#[test]
fn a_burst_leaves_at_the_peak_rate_and_a_standing_queue_at_the_sustained_rate() {
    // A3 at the far end: 13.33 MB until 5.333 s, then 5 Mb/s; a loop later.
    let mut modem = drop_tail(&CascadeConfig::WHITE2012);
    let mut context = Collector::default();
    let offer = (0..20_000_u64).map(|n| (Instant::from_us(500 * n), 1500));
    drive(&mut modem, offer, Instant::from_s(10), &mut context);
    let by = |seconds: f64| -> u64 {
        context
            .delivered
            .iter()
            .filter(|(_, _, p)| p.arrives_at.as_secs_f64() <= seconds + 0.007)
            .map(|(_, meta, _)| u64::from(meta.length))
            .sum()
    };
    assert!(by(16.0 / 3.0).abs_diff(13_333_333) < 15_000);
    assert!((by(9.0) - by(7.0)).abs_diff(1_250_000) < 3_000);
}
