//! The dual queue of Low Latency DOCSIS as a whole: Queue Protection, its grants, its coupling, and itself without one
//! of its parts.

use super::packet;
use proptest::prelude::*;
use sojourn_base::{BitRate, Bytes, Ecn, Instant, Limit, Meta, PacketHandle, ServiceQueue, Span};
use sojourn_queue::{
    ClassicManager, DocsisDualQueue, DocsisDualQueueConfig, DocsisPieConfig, DocsisPieLaw, DocsisPieQueue,
    DualPi2Config, DualScheduler, LowLatencyClassifier, ManagerKind as _, QueueManager, Reason, Shaper, Verdict,
};
use sojourn_testkit::context::TestContext;
use sojourn_testkit::operations::{Operation, operations};

const CONFIG: DocsisDualQueueConfig =
    DocsisDualQueueConfig { limit: Limit::Bytes(Bytes(625_000)), ..DocsisDualQueueConfig::DOCSIS31 };

fn at_50_mbps() -> TestContext {
    let mut context = TestContext::without_draws();
    context.shaper = Shaper::of(BitRate::from_mbps(50));
    context
}

/// A packet of a flow that answers to marks.
fn scalable(length: u32, flow: u32) -> Meta {
    Meta { ecn: Ecn::Ect1, ..packet(length, flow) }
}

fn placed(verdict: Verdict) -> ServiceQueue {
    match verdict {
        Verdict::Placed(queue) => queue,
        other => panic!("it has several queues, and said {other:?}"),
    }
}

#[test]
fn nine_packets_at_once_are_marked_and_then_sanctioned() {
    let mut queue = DocsisDualQueue::new(CONFIG);
    let mut context = at_50_mbps();
    let scores = [0, 0, 0, 71_960, 804_410, 2_197_350, 4_250_780, 6_356_124, 8_461_468];
    for (n, score) in (0..).zip(scores) {
        let (before, marks) = (context.scored.len(), context.marked.len());
        let verdict = queue.enqueue(Instant::ZERO, scalable(1028, 5), PacketHandle(n), &mut context);
        let found = placed(verdict);
        assert_eq!(context.marked.len() > marks, n >= 5, "packet {n}");
        let into = if n >= 7 { ServiceQueue::Classic } else { ServiceQueue::LowLatency };
        assert_eq!(found, into);
        // Every packet is judged once, whatever comes of it.
        assert_eq!(context.scored.len(), before + 1);
        let told = context.scored[before].1.score;
        assert_eq!(told, Span::from_ns(score), "packet {n}");
        assert_eq!(context.scored[before].1.sanctioned, n >= 7, "packet {n}");
        // 1028 B at 50 Mb/s are 164.48 us; the classic queue has had no update that would know better.
        let (packet, estimate) = context.estimated.last().expect("it was accepted");
        let waiting = if n >= 7 { 0 } else { n + 1 };
        assert_eq!(packet.item, PacketHandle(n));
        assert_eq!(*estimate, Span::from_ns(164_480 * waiting));
    }
    assert_eq!(context.scored.iter().filter(|told| told.1.sanctioned).count(), 2);
    assert!(context.scored.iter().all(|told| told.0.meta.flow_hash == 5));
    assert_eq!(queue.backlog_of(ServiceQueue::LowLatency).bytes, Bytes(7 * 1028));
    assert_eq!(queue.backlog_of(ServiceQueue::Classic).bytes, Bytes(2 * 1028));
}

#[test]
fn packets_of_another_kind_fill_the_queue_but_are_not_marked() {
    let mut queue = DocsisDualQueue::new(CONFIG);
    let mut context = at_50_mbps();
    for (n, ecn) in (0..9).zip([Ecn::NotEct, Ecn::Ect0].into_iter().cycle()) {
        let meta = Meta { ecn, dscp: 45, ..packet(1028, 5) };
        let found = placed(queue.enqueue(Instant::ZERO, meta, PacketHandle(n), &mut context));
        assert_eq!(found == ServiceQueue::Classic, n >= 7, "packet {n}");
    }
    assert_eq!(context.marked.len(), 0);
}

#[test]
fn grants_for_one_queue_take_from_it_alone_and_other_grants_go_by_weight() {
    use ServiceQueue::{AckPriority, Classic, LowLatency};
    let mut queue = DocsisDualQueue::new(DocsisDualQueueConfig { queue_protection: false, ..CONFIG });
    let mut context = at_50_mbps();
    for n in 0..40 {
        let meta = if n < 20 { scalable(1500, 1) } else { packet(1500, 2) };
        let _ = queue.enqueue(Instant::ZERO, meta, PacketHandle(n), &mut context);
    }
    let mut take = |from: Option<ServiceQueue>| {
        let sent = match from {
            Some(from) => queue.dequeue_from(Instant::ZERO, from, &mut context),
            None => queue.dequeue(Instant::ZERO, &mut context),
        };
        sent.map(|sent| (sent.item, sent.meta.queue))
    };
    assert_eq!(take(Some(Classic)), Some((PacketHandle(20), Classic)));
    assert_eq!(take(Some(LowLatency)), Some((PacketHandle(0), LowLatency)));
    assert_eq!(take(Some(AckPriority)), None);
    // 230 of 256: eight, then one.
    let mixed: Vec<u64> = (0..10).filter_map(|_| take(None)).map(|sent| sent.0.0).collect();
    assert_eq!(mixed, [1, 2, 3, 4, 5, 6, 7, 8, 21, 9]);
    while take(Some(LowLatency)).is_some() {}
    assert_eq!(take(Some(LowLatency)), None);
    assert_eq!(take(None), Some((PacketHandle(22), Classic)));
}

/// Service flows have classifiers of their own, which choose the queue against that of the manager.
#[test]
fn packets_carry_the_queue_that_was_chosen_for_them() {
    use ServiceQueue::{Classic, LowLatency};
    let managers: [Box<dyn QueueManager>; 2] = [
        Box::new(DocsisDualQueue::new(CONFIG)),
        DualPi2Config { limit: CONFIG.limit, ..DualPi2Config::RFC9332 }.build(),
    ];
    for mut queue in managers {
        let mut context = at_50_mbps();
        let chosen = [(scalable(500, 1), Classic), (packet(500, 2), LowLatency)];
        for ((meta, into), n) in chosen.into_iter().zip(0..) {
            let _ = queue.enqueue_to(into, Instant::ZERO, meta, PacketHandle(n), &mut context);
        }
        for into in [Classic, LowLatency] {
            let sent = queue.dequeue_from(Instant::ZERO, into, &mut context).expect("it waits there");
            assert_eq!(sent.meta.queue, into);
        }
    }
}

#[test]
fn a_classic_queue_above_its_target_marks_low_latency_packets() {
    let mut queue = DocsisDualQueue::new(CONFIG);
    let mut context = at_50_mbps();
    // 100 packets are 24 ms.
    for n in 0..100 {
        let _ = queue.enqueue(Instant::ZERO, packet(1500, 2), PacketHandle(n), &mut context);
    }
    assert!(queue.coupled_likelihood() < 1e-15);
    for update in 1..=40 {
        queue.on_timer(Instant::from_ms(16 * update), &mut context);
    }
    let expected = 2.0 * queue.pie().probability().sqrt();
    assert!((queue.coupled_likelihood() - expected).abs() < 1e-12);
    assert!(expected > 0.02, "{expected}");
    // Small packets with pauses never see a native mark; the share that is marked is the coupled one.
    let marks_per = (1.0 / expected).ceil();
    let mut sent = 0.0;
    while context.marked.is_empty() {
        let now = Instant::from_ms(640);
        let _ = queue.enqueue(now, scalable(100, 1), PacketHandle(0), &mut context);
        let _ = queue.dequeue_from(now, ServiceQueue::LowLatency, &mut context);
        sent += 1.0;
    }
    assert!((sent - marks_per).abs() <= 1.0, "{sent} against {marks_per}");
    assert!(context.scored.iter().all(|told| told.1.score.is_zero()));
}

#[test]
fn the_low_latency_buffer_is_10_ms_and_a_flow_without_protection_loses_what_does_not_fit() {
    let mut queue = DocsisDualQueue::new(DocsisDualQueueConfig { queue_protection: false, ..CONFIG });
    let mut context = at_50_mbps();
    for n in 0..60 {
        let _ = queue.enqueue(Instant::ZERO, scalable(1500, 1), PacketHandle(n), &mut context);
    }
    // An arrival fits while less than 62,500 - 2000 bytes wait: 41 packets.
    assert_eq!(queue.backlog().packets.0, 41);
    assert!(context.drops().all(|drop| drop.1 == Reason::Overlimit));
    assert_eq!(context.dropped.len(), 19);
}

#[test]
fn a_virtual_queue_forgets_what_is_lost_or_moved() {
    let mut queue = DocsisDualQueue::new(DocsisDualQueueConfig {
        limit: Limit::Bytes(Bytes(625_000)),
        queue_protection: false,
        ..DocsisDualQueueConfig::DOCSIS31_UPSTREAM
    });
    let mut context = at_50_mbps();
    // 60,500 B take 9.68 ms: 40 packets of 0.24 ms are below, the 41st is not, and later ones see the same.
    for n in 0..60 {
        let verdict = queue.enqueue(Instant::ZERO, scalable(1500, 1), PacketHandle(n), &mut context);
        assert_eq!(verdict.is_accepted(), n < 40, "packet {n}");
    }
    // It drains though nothing is sent, but the real queue has its limit too: 62,500 B are 41 packets.
    let later = Instant::from_ms(400);
    for (n, fits) in [(60, true), (61, false)] {
        let verdict = queue.enqueue(later, scalable(1500, 1), PacketHandle(n), &mut context);
        assert_eq!(verdict.is_accepted(), fits, "packet {n}");
    }
}

fn classic_only(operations: Vec<Operation>) -> Vec<Operation> {
    let classic = |operation| match operation {
        Operation::Arrive(meta) => Operation::Arrive(Meta { ecn: Ecn::NotEct, dscp: 0, ..meta }),
        other => other,
    };
    operations.into_iter().map(classic).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn with_classic_packets_alone_it_is_docsis_pie(operations in operations(400)) {
        // Over a shaper without a peak rate and without tokens the two estimates of the delay are one.
        let law = DocsisPieLaw { target: Span::from_us(100), ..DocsisPieLaw::RFC8034 };
        let limit = Limit::Bytes(Bytes(60_000));
        let operations = classic_only(operations);
        let mut plain = DocsisPieQueue::new(DocsisPieConfig { law, limit, ..DocsisPieConfig::RFC8034 });
        let mut dual = DocsisDualQueue::new(DocsisDualQueueConfig { classic: law, limit, ..CONFIG });
        let mut contexts = (TestContext::random(3), TestContext::random(3));
        for context in [&mut contexts.0, &mut contexts.1] {
            context.shaper.sustained = BitRate::from_mbps(5);
        }
        let mut now = Instant::ZERO;
        for (n, operation) in (0_u32..).zip(operations) {
            match operation {
                Operation::Arrive(meta) => {
                    let one = plain.enqueue(now, meta, PacketHandle(n.into()), &mut contexts.0);
                    let other = dual.enqueue(now, meta, PacketHandle(n.into()), &mut contexts.1);
                    prop_assert_eq!(one.is_accepted(), other.is_accepted());
                }
                Operation::Serve => {
                    let one = plain.dequeue(now, &mut contexts.0).map(|sent| sent.item);
                    let other = dual.dequeue(now, &mut contexts.1).map(|sent| sent.item);
                    prop_assert_eq!(one, other);
                }
                Operation::Wait(span) => {
                    now += span;
                    while let Some(due) = plain.next_timer() && due <= now {
                        plain.on_timer(due, &mut contexts.0);
                        dual.on_timer(due, &mut contexts.1);
                        let (one, other) = (plain.state(0).probability(), dual.pie().probability());
                        prop_assert!((one - other).abs() <= 1e-12 * one.max(1.0));
                    }
                }
            }
        }
    }

    #[test]
    fn protection_changes_no_mark_before_its_first_sanction(operations in operations(300)) {
        let with = |queue_protection| {
            let limit = Limit::Bytes(Bytes(60_000));
            DocsisDualQueue::new(DocsisDualQueueConfig { queue_protection, limit, ..CONFIG })
        };
        let (mut one, mut other) = (with(true), with(false));
        let mut contexts = (at_50_mbps(), at_50_mbps());
        let mut now = Instant::ZERO;
        for operation in operations {
            match operation {
                Operation::Arrive(meta) => {
                    let found = one.enqueue(now, meta, PacketHandle(0), &mut contexts.0);
                    if contexts.0.scored.iter().any(|told| told.1.sanctioned) {
                        break;
                    }
                    prop_assert_eq!(found, other.enqueue(now, meta, PacketHandle(0), &mut contexts.1));
                }
                Operation::Serve => {
                    let sent = one.dequeue(now, &mut contexts.0);
                    prop_assert_eq!(sent, other.dequeue(now, &mut contexts.1));
                }
                Operation::Wait(span) => now += span,
            }
        }
    }

    #[test]
    fn without_coupling_the_classic_queue_leaves_no_mark_on_the_other(operations in operations(300)) {
        // Each low-latency packet alone and served at once: no native mark either.
        let config = DocsisDualQueueConfig {
            coupling: 0.0,
            limit: Limit::Bytes(Bytes(60_000)),
            scheduler: DualScheduler::DocsisNs3,
            classifier: LowLatencyClassifier::RFC9332,
            ..CONFIG
        };
        let mut queue = DocsisDualQueue::new(config);
        let mut context = TestContext::random(3);
        context.shaper.sustained = BitRate::from_mbps(5);
        let mut now = Instant::ZERO;
        for operation in classic_only(operations) {
            match operation {
                Operation::Arrive(meta) => {
                    let _ = queue.enqueue(now, meta, PacketHandle(0), &mut context);
                    let _ = queue.enqueue(now, scalable(1000, 1), PacketHandle(1), &mut context);
                    let sent = queue.dequeue_from(now, ServiceQueue::LowLatency, &mut context);
                    prop_assert_eq!(sent.map(|sent| sent.meta.ecn), Some(Ecn::Ect1));
                }
                Operation::Serve => {}
                Operation::Wait(span) => {
                    now += span;
                    while let Some(due) = queue.next_timer() && due <= now {
                        queue.on_timer(due, &mut context);
                    }
                }
            }
        }
        prop_assert_eq!(context.marked.len(), 0);
    }
}

/// A dual queue whose classic queue has another manager, with 93,750 B in it: 15 ms at 50 Mb/s.
fn beside(classic_manager: ClassicManager) -> (Box<dyn QueueManager>, TestContext) {
    let config = DocsisDualQueueConfig { classic_manager, ..CONFIG };
    let mut queue = config.build();
    let mut context = at_50_mbps();
    for n in 0..75 {
        let verdict = queue.enqueue(Instant::ZERO, packet(1250, 1), PacketHandle(n), &mut context);
        assert_eq!(placed(verdict), ServiceQueue::Classic);
    }
    (queue, context)
}

/// Which of `count` low-latency packets that each find their queue empty are marked, from 1.
fn marked(queue: &mut dyn QueueManager, context: &mut TestContext, count: u64) -> Vec<u64> {
    let at = Instant::from_ms(16);
    let before = context.marked.len();
    for n in 1..=count {
        let verdict = queue.enqueue(at, scalable(100, 9), PacketHandle(1_000 + n), context);
        assert_eq!(placed(verdict), ServiceQueue::LowLatency);
        assert!(queue.dequeue_from(at, ServiceQueue::LowLatency, context).is_some());
    }
    let marked = context.marked[before..].iter();
    marked.map(|told| told.0.item.0 - 1_000).collect()
}

#[test]
fn pi2_drops_by_the_square_of_what_it_couples() {
    let (mut queue, mut context) = beside(ClassicManager::Pi2);
    queue.on_timer(Instant::from_ms(16), &mut context);
    // p' = 41/256·5 ms + 819/256·15 ms = 0.048789; marks with 2p': one in 10.25; drops with p'^2: one in 420.1.
    assert_eq!(marked(&mut *queue, &mut context, 31), [11, 21, 31]);
    let first = (1_u64..1_000).find(|n| {
        let meta = packet(64, 1);
        let verdict = queue.enqueue(Instant::from_ms(16), meta, PacketHandle(2_000 + n), &mut context);
        !verdict.is_accepted()
    });
    assert_eq!(first, Some(421));
    assert_eq!(context.dropped[0].1, Reason::Early);
}

#[test]
fn codel_drops_at_the_head_after_fifteen_targets_and_couples_nothing() {
    let (mut queue, mut context) = beside(ClassicManager::Codel);
    queue.on_timer(Instant::from_ms(16), &mut context);
    assert_eq!(marked(&mut *queue, &mut context, 40), []);
    let classic = ServiceQueue::Classic;
    let mut take = |ms, context: &mut TestContext| {
        let packet = queue.dequeue_from(Instant::from_ms(ms), classic, context);
        packet.map(|packet| packet.item.0)
    };
    // Late since 20 ms, and for 150 ms at 170.
    assert_eq!(take(20, &mut context), Some(0));
    assert_eq!(take(169, &mut context), Some(1));
    assert_eq!(take(170, &mut context), Some(3));
    assert_eq!(context.dropped.len(), 1);
    assert_eq!(context.dropped[0].1, Reason::Target);
}

#[test]
fn pie_couples_as_docsis_pie_does() {
    let (mut queue, mut context) = beside(ClassicManager::Pie);
    // RFC 8033: 150 ms are a first burst's, ten updates here; then p = (0.125·5 ms + 1.25·0) / 2048 in each update.
    for update in 1..=12 {
        queue.on_timer(Instant::from_ms(16 * update), &mut context);
    }
    assert_eq!(marked(&mut *queue, &mut context, 200), []);
    for update in 13..=2_000 {
        queue.on_timer(Instant::from_ms(16 * update), &mut context);
    }
    assert!(!marked(&mut *queue, &mut context, 200).is_empty());
}
