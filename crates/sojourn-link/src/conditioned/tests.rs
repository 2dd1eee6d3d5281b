//! Vectors worked out by hand, one for each effect.

use super::*;
use crate::conditions::{condition_problems, stalls};
use crate::config::SerialConfig;
use crate::testing::{Collector, calls_through, packet};
use alloc::vec::Vec;
use sojourn_queue::DropTailConfig;

fn under(conditions: &[ConditionConfig]) -> AnyLink {
    let link = LinkConfig {
        // 1000 B take 1 ms.
        link: SerialConfig::plain(BitRate::from_mbps(8), Span::from_ms(10)).into(),
        queue: DropTailConfig::bytes(1_000_000).into(),
    };
    assert_eq!(condition_problems(conditions, true), []);
    link.build_under(conditions)
}

/// Returns the arrivals of `packets` of 1000 B, sent at these times; in ms.
fn arrivals(conditions: &[ConditionConfig], sent_at_ms: &[u64]) -> Vec<f64> {
    let context = run(conditions, sent_at_ms);
    let arrives = context.delivered.iter().map(|(_, _, passage)| {
        assert_eq!(passage.entered_at + passage.delay.total(), passage.arrives_at);
        passage.arrives_at.as_secs_f64() * 1e3
    });
    arrives.map(|ms| libm_round(ms * 1e6) / 1e6).collect()
}

fn libm_round(value: f64) -> f64 {
    sojourn_base::math::floor(value + 0.5)
}

fn run(conditions: &[ConditionConfig], sent_at_ms: &[u64]) -> Collector {
    let mut link = under(conditions);
    let mut context = Collector::default();
    let mut sent = (0..).zip(sent_at_ms).peekable();
    let mut wakeup = Instant::NEVER;
    loop {
        let arrival = sent.peek().map_or(Instant::NEVER, |(_, ms)| Instant::from_ms(**ms));
        if arrival.min(wakeup) == Instant::NEVER {
            break;
        }
        wakeup = if arrival <= wakeup {
            let (number, _) = sent.next().expect("it was peeked at");
            link.arrive(arrival, packet(1000), PacketHandle(number), &mut context)
        } else {
            link.wake(wakeup, &mut context)
        };
    }
    context
}

fn at(ms: u64) -> ConditionConfig {
    ConditionConfig { at: Some(Span::from_ms(ms)), ..ConditionConfig::BASE }
}

fn window(from_ms: u64, for_ms: u64) -> ConditionConfig {
    ConditionConfig { from: Some(Span::from_ms(from_ms)), length: Some(Span::from_ms(for_ms)), ..ConditionConfig::BASE }
}

#[test]
fn a_packet_under_way_goes_on_at_the_new_rate() {
    // 1000 B are 8000 bits. The first is sent from 0 to 1 ms. The second has half of its bits sent when the rate
    // falls to 1 Mb/s at 1.5 ms; the other 4000 take 4 ms, to 5.5. The third is at 1 Mb/s until 8 ms, which carries
    // 2500 bits, then at 8 again: 5500 bits are 0.6875 ms.
    let slow = ConditionConfig {
        rate: Some(BitRate::from_mbps(1)),
        ..ConditionConfig {
            from: Some(Span::from_us(1500)),
            length: Some(Span::from_us(6500)),
            ..ConditionConfig::BASE
        }
    };
    assert_eq!(arrivals(&[slow], &[0, 0, 0]), [11.0, 15.5, 18.6875]);
}

#[test]
fn a_rate_of_zero_stops_in_the_middle_of_a_packet() {
    let gap = ConditionConfig {
        rate: Some(BitRate::ZERO),
        ..ConditionConfig { from: Some(Span::from_us(500)), length: Some(Span::from_ms(100)), ..ConditionConfig::BASE }
    };
    assert_eq!(arrivals(&[gap], &[0, 0]), [111.0, 112.0]);
}

#[test]
fn what_meets_a_rate_of_zero_for_ever_stays_on_the_line() {
    let dead = ConditionConfig { rate: Some(BitRate::ZERO), ..at(5) };
    assert_eq!(stalls(core::slice::from_ref(&dead)), Some(Instant::from_ms(5)));
    let context = run(core::slice::from_ref(&dead), &[0, 6, 7]);
    assert_eq!((context.delivered.len(), context.dropped.len()), (1, 0));
}

#[test]
fn a_rate_that_comes_again_carries_its_share() {
    // 4 Mb/s for 5 of every 10 ms, 8 for the others: a packet of 1 ms at 8 Mb/s takes 2 at 4.
    let half = ConditionConfig { rate: Some(BitRate::from_mbps(4)), every: Some(Span::from_ms(10)), ..window(0, 5) };
    let arrives = arrivals(&[half], &[0; 15]);
    // 60 kbit in each 10 ms are 7.5 packets.
    assert_eq!(arrives.last(), Some(&30.0));
    assert_eq!(arrives[..3], [12.0, 14.0, 15.5]);
}

#[test]
fn delay_adds_to_that_of_the_link_and_keeps_order_when_it_falls() {
    let far = ConditionConfig { delay: Some(Span::from_ms(40)), ..window(0, 25) };
    // The second would arrive at 31 ms without delay; the first is there at 61.
    assert_eq!(arrivals(&[far], &[10, 20, 60]), [61.0, 61.0, 71.0]);
}

#[test]
fn each_third_packet_is_lost_while_the_condition_holds() {
    let loss = ConditionConfig { loss_every: Some(3), ..window(0, 30) };
    let sent: Vec<u64> = (0..30).map(|n| 2 * n).collect();
    let context = run(&[loss], &sent);
    // Arrivals at 11 + 2 n ms: the first ten are before 30 ms, and of those 3, 6 and 9.
    let lost: Vec<u32> = context.dropped.iter().map(|drop| drop.0).collect();
    assert_eq!(lost, [2, 5, 8]);
    for (_, _, loss) in &context.dropped {
        assert_eq!((loss.stage, loss.reason), (Stage::Line, Reason::Disturbed));
    }
}

#[test]
fn random_loss_has_its_share_and_belongs_to_the_packet() {
    let loss = ConditionConfig { loss: Some(0.1), ..at(0) };
    let sent: Vec<u64> = (0..4000).map(|n| 2 * n).collect();
    let lost = |context: &Collector| -> Vec<u32> { context.dropped.iter().map(|drop| drop.0).collect() };
    let first = lost(&run(core::slice::from_ref(&loss), &sent));
    // Four standard deviations of a binomial with 4000 trials are 76.
    assert!(first.len().abs_diff(400) < 76, "{}", first.len());
    // Other times, other draws in between: the same packets.
    let jitter = ConditionConfig { jitter: Some(Span::from_us(10)), loss: Some(0.1), ..at(0) };
    let later: Vec<u64> = sent.iter().map(|ms| 3 * ms + 7).collect();
    assert_eq!(lost(&run(&[jitter], &later)), first);
}

#[test]
fn jitter_has_its_mean_and_bounds_and_keeps_order_unless_packets_may_overtake() {
    let sent: Vec<u64> = (0..2000).map(|n| 2 * n).collect();
    for overtake in [false, true] {
        let jitter = ConditionConfig { jitter: Some(Span::from_ms(5)), overtake, ..at(0) };
        let arrives = arrivals(&[jitter], &sent);
        let late = arrives.iter().zip(&sent).map(|(at, sent)| at - 11.0 - *sent as f64);
        let late: Vec<f64> = late.collect();
        assert!(late.iter().all(|ms| (0.0..30.0).contains(ms)));
        assert_eq!(arrives.is_sorted(), !overtake);
        if overtake {
            // Three deviations of 5 ms; the standard error is 0.11 ms.
            let mean = late.iter().sum::<f64>() / late.len() as f64;
            assert!((mean - 15.0).abs() < 0.45, "{mean}");
        }
    }
}

#[test]
fn a_late_packet_is_overtaken_and_only_that() {
    let late = ConditionConfig { reorder: Some(0.1), reorder_by: Span::from_ms(7), ..at(0) };
    let sent: Vec<u64> = (0..1000).map(|n| 2 * n).collect();
    let context = run(&[late], &sent);
    let by: Vec<u64> = context
        .delivered
        .iter()
        .map(|(number, _, p)| p.arrives_at.as_ns() / 1_000_000 - 11 - 2 * u64::from(*number))
        .collect();
    assert!(by.iter().all(|ms| [0, 7].contains(ms)));
    let late = by.iter().filter(|ms| **ms == 7).count();
    assert!(late.abs_diff(100) < 38, "{late}");
}

#[test]
fn a_doubled_packet_arrives_twice_at_once_and_costs_the_line_nothing() {
    // 1 ms each on the line and 10 ms behind it: the copy is made there, so the next packet is no later.
    let twice = ConditionConfig { duplicate: Some(1.0), ..at(0) };
    let context = run(&[twice], &[0, 0]);
    let passages = context.delivered.iter();
    let found: Vec<_> = passages.map(|(number, _, passage)| (*number, passage.arrives_at)).collect();
    let [first, second] = [11, 12].map(Instant::from_ms);
    assert_eq!(found, [(0, first), (1000, first), (1, second), (1001, second)]);
}

#[test]
fn as_many_packets_are_doubled_as_the_share_says_and_the_same_again() {
    let twice = ConditionConfig { duplicate: Some(0.25), ..at(0) };
    let doubled = || {
        let context = run(core::slice::from_ref(&twice), &[0; 1000]);
        let numbers = context.delivered.iter().map(|(number, ..)| *number);
        numbers.filter(|number| *number >= 1000).collect::<Vec<_>>()
    };
    // 250 of 1000, give or take four standard deviations of 13.7.
    assert!((195..=305).contains(&doubled().len()), "{}", doubled().len());
    assert_eq!(doubled(), doubled());
}

#[test]
fn packets_wait_for_the_next_slot_and_leave_together() {
    // Slots at 5, 10, 15... ms; packets arrive at 11, 12, 13, 21 ms.
    let slots = ConditionConfig { hold: alloc::vec![Span::from_ms(5)], ..at(0) };
    let sent = [0, 1, 2, 10];
    assert_eq!(arrivals(core::slice::from_ref(&slots), &sent), [15.0, 15.0, 15.0, 25.0]);
    let few = ConditionConfig { hold_packets: Some(2), ..slots };
    let context = run(core::slice::from_ref(&few), &sent);
    let held: Vec<Span> = context.delivered.iter().map(|d| d.2.delay.hold).collect();
    assert_eq!(held, [4, 3, 7, 4].map(Span::from_ms));
}

#[test]
fn drawn_slots_come_at_their_mean_and_carry_no_more_than_fits() {
    // Heist and Morton 2021: 0.8 to 5 ms, 16 packets; 2.9 ms on average.
    let slots =
        ConditionConfig { hold: alloc::vec![Span::from_us(800), Span::from_ms(5)], hold_packets: Some(16), ..at(0) };
    let sent: Vec<u64> = (0..20_000).collect();
    let mut arrives = arrivals(&[slots], &sent);
    let first = arrives[0];
    let packets = arrives.chunk_by(|a, b| b - a < 1e-9).map(<[f64]>::len).max();
    assert!(packets <= Some(16), "{packets:?}");
    arrives.dedup();
    // A packet each millisecond: few slots are empty, those of less than 1 ms.
    let mean = (arrives[arrives.len() - 1] - first) / (arrives.len() - 1) as f64;
    assert!((mean - 2.9).abs() < 0.1, "{mean}");
}

#[test]
fn a_policer_lets_its_rate_and_its_bucket_through_and_nothing_waits() {
    // 8 Mb/s arrive; 4 pass, and the bucket of 5000 B: at first five packets, while it refills by half a packet each
    // millisecond, so ten; then each second one.
    let police = ConditionConfig { police: Some(BitRate::from_mbps(4)), police_burst: Bytes(5000), ..at(0) };
    let sent: Vec<u64> = (0..100).collect();
    let context = run(&[police], &sent);
    let lost: Vec<u32> = context.dropped.iter().map(|drop| drop.0).collect();
    assert_eq!(lost.first(), Some(&9));
    assert_eq!(lost[1..4], [11, 13, 15]);
    assert!(context.dropped.iter().all(|drop| drop.2.reason == Reason::Policed));
    assert!(context.delivered.iter().all(|d| d.2.delay.total() == Span::from_ms(11)));
}

#[test]
fn what_is_wrong_is_told_all_at_once() {
    let told = |conditions: &[ConditionConfig]| -> Vec<(usize, &str)> {
        let problems = condition_problems(conditions, false);
        problems.into_iter().map(|problem| (problem.index, problem.field)).collect()
    };
    let loss = |condition: ConditionConfig| ConditionConfig { loss: Some(0.1), ..condition };
    let every = |ms, condition: ConditionConfig| ConditionConfig { every: Some(Span::from_ms(ms)), ..condition };
    assert_eq!(told(&[ConditionConfig::BASE]), [(0, "at"), (0, "at")]);
    assert_eq!(told(&[loss(window(10, 5)), loss(window(14, 5))]), [(1, "loss")]);
    assert_eq!(told(&[loss(window(10, 5)), loss(window(15, 5))]), []);
    assert_eq!(told(&[loss(at(10)), loss(at(5)), loss(at(5))]), [(1, "loss"), (2, "loss")]);
    assert_eq!(told(&[loss(window(10, 5)), loss(at(12))]), [(1, "loss")]);
    assert_eq!(told(&[loss(at(10)), loss(window(12, 5))]), []);
    assert_eq!(told(&[loss(every(4, window(10, 5)))]), [(0, "every")]);
    assert_eq!(told(&[loss(every(10, window(0, 5))), loss(window(27, 2))]), []);
    assert_eq!(told(&[loss(every(10, window(0, 5))), loss(window(27, 5))]), [(1, "loss")]);
    assert_eq!(told(&[loss(every(10, window(0, 5))), loss(every(10, window(5, 5)))]), []);
    assert_eq!(told(&[loss(every(10, window(0, 5))), loss(every(7, window(5, 1)))]), [(1, "loss")]);
    let rate = ConditionConfig { rate: Some(BitRate::from_mbps(1)), overtake: true, hold_packets: Some(4), ..at(0) };
    assert_eq!(told(&[rate]), [(0, "overtake"), (0, "hold_packets"), (0, "rate")]);
    // Keys about an absent effect would be lost in print.
    let alone = ConditionConfig { reorder_by: Span::from_ms(1), police_burst: Bytes(1), ..loss(at(0)) };
    assert_eq!(told(&[alone]), [(0, "reorder_by"), (0, "police_burst")]);
    let delay = ConditionConfig { delay: Some(Span::from_ms(1)), ..window(11, 2) };
    assert_eq!(told(&[loss(window(10, 5)), delay]), []);
}

#[test]
fn a_context_behind_conditions_passes_on_every_call() {
    let direct = calls_through(|noted, act| act(noted));
    let mut behind = Behind::of(&[]);
    assert_eq!(calls_through(|noted, act| act(&mut BehindCall { behind: &mut behind, context: noted })), direct);
}
