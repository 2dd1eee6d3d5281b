//! `DualPI2` as a whole: D2-5, what classic and low-latency packets see, its limit, its turns.

use super::packet;
use sojourn_base::{Bytes, Ecn, Instant, Limit, Meta, PacketHandle, ServiceQueue, Span};
use sojourn_queue::{DualPi2Config, DualPi2Queue, DualPi2Scheduler, QueueManager, Reason, Verdict};
use sojourn_testkit::context::TestContext;

const CONFIG: DualPi2Config = DualPi2Config { limit: Limit::Bytes(Bytes(1_000_000)), ..DualPi2Config::RFC9332 };

fn with(ecn: Ecn, length: u32) -> Meta {
    Meta { ecn, ..packet(length, 1) }
}

/// A queue whose base likelihood is `base`: one update sees a classic packet that has waited 15 ms, the target, with a
/// gain that makes it so.
fn at_base(base: f64, config: DualPi2Config) -> (DualPi2Queue, TestContext) {
    let mut config = config;
    config.law.alpha = 0.0;
    config.law.beta = base / 0.015;
    let mut queue = DualPi2Queue::new(config);
    let mut context = TestContext::without_draws();
    let _ = queue.enqueue(Instant::ZERO, packet(100, 1), PacketHandle(0), &mut context);
    queue.on_timer(Instant::from_ms(15), &mut context);
    assert!((queue.pi().base() - base).abs() < 1e-12);
    // An odd sum of likelihoods would be left over from the packet, so it leaves without being looked at.
    (queue, context)
}

#[test]
fn in_overload_low_latency_packets_are_dropped_as_classic_ones_are() {
    let (mut queue, mut context) = at_base(0.5, CONFIG);
    for n in 1..=13 {
        let _ = queue.enqueue(Instant::from_ms(15), with(Ecn::Ect1, 1000), PacketHandle(n), &mut context);
    }
    let mut seen = String::new();
    while let Some(sent) = queue.dequeue_from(Instant::from_ms(15), ServiceQueue::LowLatency, &mut context) {
        let lost = context.dropped.len();
        seen.extend(core::iter::repeat_n('D', lost));
        assert!(context.dropped.drain(..).all(|drop| drop.1 == Reason::Overload));
        seen.push(if sent.meta.ecn == Ecn::Ce { 'M' } else { 'A' });
    }
    seen.extend(core::iter::repeat_n('D', context.dropped.len()));
    assert_eq!(seen, "MMMMDMMMDMMMD");
}

#[test]
fn classic_packets_are_signalled_with_the_square_and_low_latency_ones_with_the_double() {
    let (mut queue, mut context) = at_base(0.1, CONFIG);
    let now = Instant::from_ms(15);
    let mut signals = |ecn, queue_of| {
        for n in 0..2000 {
            let _ = queue.enqueue(now, with(ecn, 100), PacketHandle(n), &mut context);
            let _ = queue.dequeue_from(now, queue_of, &mut context);
        }
        let found = (context.marked.len(), context.dropped.len());
        context.marked.clear();
        context.dropped.clear();
        found
    };
    // 0.1² of 2000 (and of the first packet), 2·0.1 of 2000.
    let (marked, dropped) = signals(Ecn::NotEct, ServiceQueue::Classic);
    assert_eq!(marked, 0);
    assert!(dropped.abs_diff(20) <= 1, "{dropped}");
    let (marked, dropped) = signals(Ecn::Ect0, ServiceQueue::Classic);
    assert_eq!(dropped, 0);
    assert!(marked.abs_diff(20) <= 1, "{marked}");
    let (marked, dropped) = signals(Ecn::Ect1, ServiceQueue::LowLatency);
    assert_eq!(dropped, 0);
    assert!(marked.abs_diff(400) <= 1, "{marked}");
}

#[test]
fn from_a_quarter_on_capable_classic_packets_are_dropped() {
    for (base, dropped) in [(0.49, 0), (0.5, 25)] {
        let (mut queue, mut context) = at_base(base, CONFIG);
        let now = Instant::from_ms(15);
        for n in 0..100 {
            let _ = queue.enqueue(now, with(Ecn::Ect0, 100), PacketHandle(n), &mut context);
            let _ = queue.dequeue_from(now, ServiceQueue::Classic, &mut context);
        }
        assert!(context.dropped.len().abs_diff(dropped) <= 1, "{base}");
    }
}

#[test]
fn a_late_low_latency_packet_is_marked_unless_hardly_anything_waits_behind_it() {
    let late = |behind: u32| {
        let mut queue = DualPi2Queue::new(CONFIG);
        let mut context = TestContext::without_draws();
        for n in 0..=behind {
            let _ = queue.enqueue(Instant::ZERO, with(Ecn::Ect1, 1000), PacketHandle(n.into()), &mut context);
        }
        // The first certain mark brings the sum to one, the second one beyond it.
        let now = Instant::from_us(1200);
        let marks = (0..=behind).filter(|_| {
            let sent = queue.dequeue(now, &mut context);
            sent.is_some_and(|sent| sent.meta.ecn == Ecn::Ce)
        });
        marks.count()
    };
    assert_eq!(late(1), 0);
    // Of four packets two have more than one behind them.
    assert_eq!(late(3), 1);
    assert_eq!(late(10), 8);
}

#[test]
fn the_buffer_is_one_for_both_queues_and_leaves_room_for_a_full_packet() {
    let limit = Limit::Bytes(Bytes(5000));
    let mut queue = DualPi2Queue::new(DualPi2Config { limit, ..CONFIG });
    let mut context = TestContext::without_draws();
    for (ecn, length, fits) in
        [(Ecn::NotEct, 1500, true), (Ecn::Ect1, 1500, true), (Ecn::Ect1, 600, true), (Ecn::NotEct, 40, false)]
    {
        let verdict = queue.enqueue(Instant::ZERO, with(ecn, length), PacketHandle(0), &mut context);
        assert_eq!(verdict.is_accepted(), fits);
    }
    assert_eq!(context.dropped[0].1, Reason::Overlimit);
    assert_eq!(queue.backlog_of(ServiceQueue::LowLatency).packets.0, 2);
    assert_eq!(queue.backlog_of(ServiceQueue::Classic).bytes, Bytes(1500));
}

#[test]
fn by_time_the_low_latency_queue_goes_first_until_the_other_has_waited_the_shift_longer() {
    let config = DualPi2Config { scheduler: DualPi2Scheduler::TimeShifted, time_shift: Span::from_ms(10), ..CONFIG };
    let mut queue = DualPi2Queue::new(config);
    let mut context = TestContext::without_draws();
    for (ms, ecn) in [(0_u32, Ecn::NotEct), (10, Ecn::Ect1), (11, Ecn::Ect1)] {
        let now = Instant::from_ms(u64::from(ms));
        let _ = queue.enqueue(now, with(ecn, 1000), PacketHandle(ms.into()), &mut context);
    }
    let order: Vec<u64> =
        (0..3).filter_map(|_| queue.dequeue(Instant::from_ms(12), &mut context)).map(|sent| sent.item.0).collect();
    assert_eq!(order, [10, 0, 11]);
}

#[test]
fn linux_draws_twice_for_a_classic_signal() {
    let mut config = DualPi2Config { limit: Limit::Bytes(Bytes(1_000_000)), ..DualPi2Config::LINUX };
    config.law.update_interval = Span::from_ms(15);
    let (mut queue, _) = at_base(0.3, config);
    let now = Instant::from_ms(15);
    // Behind what is dropped another packet is looked at.
    for (draws, dropped) in [(&[0.31][..], 0), (&[0.29, 0.31], 0), (&[0.29, 0.29, 0.9], 1)] {
        let mut context = TestContext::with_draws(draws);
        let verdict = queue.enqueue(now, packet(100, 1), PacketHandle(1), &mut context);
        assert!(matches!(verdict, Verdict::Placed(_)));
        let _ = queue.dequeue(now, &mut context);
        assert_eq!(context.dropped.len(), dropped);
        assert!(context.dropped.iter().all(|drop| drop.1 == Reason::Early));
        assert_eq!(context.drawn, draws.len());
    }
}

#[test]
fn the_kernel_of_2020_marks_what_found_two_at_its_arrival_and_not_what_two_wait_behind() {
    let now = DualPi2Config { counted: DualPi2Config::LINUX.counted, ..DualPi2Config::LINUX_2020 };
    // Five packets that arrive together find 0 to 4, and leave 4 to 0 behind; all are late. So the last three, or the first
    // three, have a certain mark, of which the first brings the sum to one and the others go beyond it.
    for (config, expected) in [(DualPi2Config::LINUX_2020, "AAAMM"), (now, "AMMAA")] {
        let mut queue = DualPi2Queue::new(config);
        let mut context = TestContext::random(1);
        for n in 0..5 {
            let meta = with(Ecn::Ect1, 1000);
            let _ = queue.enqueue(Instant::ZERO, meta, PacketHandle(n), &mut context);
        }
        let mut seen = String::new();
        while let Some(sent) = queue.dequeue(Instant::from_us(1200), &mut context) {
            seen.push(if sent.meta.ecn == Ecn::Ce { 'M' } else { 'A' });
        }
        assert_eq!(seen, expected);
    }
}
