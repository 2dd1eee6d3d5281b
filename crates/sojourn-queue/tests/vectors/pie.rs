//! PIE and FQ-PIE with their queues, and DOCSIS-PIE's view of the shaper.

use super::{handle, packet, verdicts};
use proptest::prelude::*;
use sojourn_base::{BitRate, Bytes, Ecn, Instant, Limit, Meta, PacketHandle, Packets, Span};
use sojourn_queue::{
    DocsisPieConfig, DocsisPieQueue, FlowListsConfig, FqPieConfig, FqPieQueue, ManagerConfig, PieConfig, PieLaw,
    PieQueue, QueueManager, Reason, Shaper, Verdict,
};
use sojourn_testkit::context::TestContext;
use sojourn_testkit::operations::{Operation, operations, run};

/// PIE without a burst allowance.
const EAGER: PieLaw = PieLaw { maximum_burst: Span::ZERO, ..PieLaw::RFC8033 };

/// Keeps one flow's queue about 40 packets deep at one packet per ms, so that each packet waits some
/// 40 ms, and runs the updates in between; the law must not draw a drop.
fn hold_at_40_ms(manager: &mut impl QueueManager, flow: u32, until_ms: u64, context: &mut TestContext) {
    for ms in 0..until_ms {
        let now = Instant::from_ms(ms);
        while let Some(due) = manager.next_timer()
            && due <= now
        {
            manager.on_timer(due, context);
        }
        let _ = manager.enqueue(now, packet(1500, flow), PacketHandle(ms), context);
        if ms >= 40 {
            let _ = manager.dequeue(now, context);
        }
    }
}

#[test]
fn pie_measures_sojourn_and_raises_its_probability() {
    let config = PieConfig { law: EAGER, limit: Limit::Packets(Packets(10_000)) };
    let mut queue = PieQueue::new(config);
    let mut context = TestContext::always(0.999_999);
    hold_at_40_ms(&mut queue, 0, 76, &mut context);
    // Updates at 15 and 30 ms see no departure; those at 45, 60 and 75 ms see 40 ms. By hand: first
    // 0.125·25 ms + 1.25·40 ms = 0.053125, over 2048; then 0.125·25 ms = 0.003125, over 128, twice.
    let expected = 0.053_125 / 2048.0 + 0.003_125 / 128.0 + 0.003_125 / 128.0;
    assert!((queue.state(0).probability() - expected).abs() < 1e-12);
    assert_eq!(context.dropped.len(), 0);
}

#[test]
fn a_busy_flow_does_not_raise_the_probability_of_an_idle_one() {
    let mut queue = FqPieQueue::new(FqPieConfig { law: EAGER, ..FqPieConfig::NS3 });
    let mut context = TestContext::always(0.999_999);
    hold_at_40_ms(&mut queue, 5, 400, &mut context);
    assert!(queue.state(5).probability() > 0.0);
    assert!(queue.state(6).probability() <= 0.0);
    // Nothing is drawn for the idle flow.
    let drawn = context.drawn;
    for n in 0..10 {
        let verdict = queue.enqueue(Instant::from_ms(400), packet(1500, 6), PacketHandle(n), &mut context);
        assert_eq!(verdict, Verdict::Accepted);
    }
    // Nor would the busy flow at rest: but it is not, so each arrival draws.
    assert_eq!(context.drawn, drawn);
    let _ = queue.enqueue(Instant::from_ms(400), packet(1500, 5), PacketHandle(0), &mut context);
    assert_eq!(context.drawn, drawn + 1);
}

#[test]
fn the_fattest_queue_pays_as_in_fq_codel() {
    let mut queue = FqPieQueue::new(FqPieConfig {
        flows: FlowListsConfig { limit: Limit::Packets(Packets(4)), ..FlowListsConfig::BASE },
        law: EAGER,
    });
    let mut context = TestContext::without_draws();
    for item in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)] {
        let _ = queue.enqueue(Instant::ZERO, packet(1500, item.0), handle(item.0, item.1), &mut context);
    }
    let drops: Vec<_> = context.drops().collect();
    assert_eq!(drops, [(handle(0, 0), Reason::FatFlow), (handle(0, 1), Reason::FatFlow)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn with_one_flow_fq_pie_is_pie(operations in operations(400)) {
        let law = PieLaw {
            reference: Span::from_us(500),
            update_interval: Span::from_ms(2),
            alpha: 10.0,
            beta: 100.0,
            ecn: true,
            ..EAGER
        };
        let one_flow: Vec<Operation> = operations
            .into_iter()
            .map(|operation| match operation {
                Operation::Arrive(meta) => Operation::Arrive(Meta { flow_hash: 3, ..meta }),
                other => other,
            })
            .collect();
        let limit = Limit::Packets(Packets(1000));
        let mut plain = PieQueue::new(PieConfig { law, limit });
        let mut flows = FqPieQueue::new(FqPieConfig { law, ..FqPieConfig::NS3 });
        prop_assert_eq!(
            run(&mut plain, &one_flow, Instant::ZERO, 9),
            run(&mut flows, &one_flow, Instant::ZERO, 9)
        );
    }
}

#[test]
fn marks_are_made_at_the_tail() {
    let law = PieLaw { ecn: true, ..EAGER };
    let mut queue = PieQueue::new(PieConfig { law, limit: Limit::Packets(Packets(1000)) });
    let mut context = TestContext::always(0.999_999);
    hold_at_40_ms(&mut queue, 0, 400, &mut context);
    let mut certain = TestContext::always(0.0);
    let now = Instant::from_ms(400);
    let capable = Meta { ecn: Ecn::Ect0, ..packet(1500, 0) };
    assert_eq!(queue.enqueue(now, capable, PacketHandle(1), &mut certain), Verdict::Accepted);
    assert_eq!(certain.marked.len(), 1);
    let refused = queue.enqueue(now, packet(1500, 0), PacketHandle(2), &mut certain);
    assert_eq!(refused, Verdict::Dropped(Reason::Early));
}

#[test]
fn pie_of_white_2013_holds_200_full_packets() {
    let config = ManagerConfig::from(PieConfig::WHITE2013);
    assert_eq!(verdicts(&config, &[1500; 201]), ["A".repeat(200).as_str(), "D"].concat());
}

#[test]
fn docsis_pie_reads_the_shaper_and_what_is_staged() {
    let config = DocsisPieConfig { limit: Limit::Bytes(Bytes(62_500)), ..DocsisPieConfig::RFC8034 };
    let mut queue = DocsisPieQueue::new(config);
    let mut context = TestContext::without_draws();
    context.shaper = Shaper { tokens: Bytes(20_000), sustained: BitRate::from_mbps(5), peak: BitRate::from_mbps(20) };
    context.staged = Bytes(800);
    // 20,500 bytes in the queue: below a third of the buffer until the last arrival, so no draws.
    for item in 0..14 {
        let _ = queue.enqueue(Instant::ZERO, packet(1500, 0), PacketHandle(item), &mut context);
    }
    queue.on_timer(Instant::from_ms(16), &mut context);
    // 21,800 bytes: 20,000 at 20 Mb/s (8 ms), 1800 at 5 Mb/s (2.88 ms); 0.88 ms above the target:
    // (0.25·0.00088 + 2.5·0.01088)/2048.
    let expected = (0.25 * 0.000_88 + 2.5 * 0.010_88) / 2048.0;
    assert!((queue.state(0).probability() - expected).abs() < 1e-12);
    // Updates have a period of 16 ms, and an early call changes nothing.
    assert_eq!(queue.next_timer(), Some(Instant::from_ms(32)));
    queue.on_timer(Instant::from_ms(31), &mut context);
    assert!((queue.state(0).probability() - expected).abs() < 1e-12);
}

#[test]
fn docsis_pie_wakes_up_at_a_third_of_the_buffer() {
    let buffer = 90_000;
    let mut queue =
        DocsisPieQueue::new(DocsisPieConfig { limit: Limit::Bytes(Bytes(buffer)), ..DocsisPieConfig::RFC8034 });
    let mut context = TestContext::without_draws();
    for item in 0..20 {
        assert!(queue.state(0).is_inactive());
        let _ = queue.enqueue(Instant::ZERO, packet(1500, 0), PacketHandle(item), &mut context);
    }
    // 30,000 bytes wait: this arrival sees a third.
    let _ = queue.enqueue(Instant::ZERO, packet(1500, 0), PacketHandle(20), &mut context);
    assert!(!queue.state(0).is_inactive());
}

#[test]
fn a_service_flows_buffer_is_not_counted_in_packets() {
    let config =
        ManagerConfig::from(DocsisPieConfig { limit: Limit::Packets(Packets(100)), ..DocsisPieConfig::RFC8034 });
    assert_eq!(config.problems()[0].field, "limit");
    let by_time = ManagerConfig::from(DocsisPieConfig::RFC8034).at(BitRate::from_mbps(50));
    assert_eq!(by_time.problems(), []);
    let by_bytes = by_time.get::<DocsisPieConfig>().expect("the same kind");
    assert_eq!(by_bytes.limit, Limit::Bytes(Bytes(625_000)));
}

/// A DOCSIS-PIE queue of 5 Mb/s with a standing queue of 62,500 B, 100 ms, after `updates` updates; nothing was dropped.
/// Vectors: the first update moves p by (0.25·0.09 + 2.5·0.1)/2048 = 1.33e-4, each further one by 0.0225 over the divisor of
/// RFC 8033 (32 below 1e-3, 8 below 1e-2, 2 below 0.1): p = 0.000133 + 2·0.000703 = 0.00154 after 3 updates, 0.00998 after 6,
/// 0.01279 after 7, and from there 0.01125 more with each: 0.09154 after 14, 0.10279 after 15.
fn docsis_pie_at_100_ms(ecn: bool, updates: u64) -> (DocsisPieQueue, TestContext) {
    let config = DocsisPieConfig { limit: Limit::Bytes(Bytes(156_250)), ecn, ..DocsisPieConfig::RFC8034 };
    let mut queue = DocsisPieQueue::new(config);
    let mut context = TestContext::always(0.0);
    context.shaper = Shaper { tokens: Bytes::ZERO, sustained: BitRate::from_mbps(5), peak: BitRate::ZERO };
    let lengths = [1500_u32; 41].into_iter().chain([1000]);
    for (item, length) in (0..).zip(lengths) {
        assert_eq!(
            queue.enqueue(Instant::ZERO, packet(length, 0), PacketHandle(item), &mut context),
            Verdict::Accepted
        );
    }
    for update in 1..=updates {
        queue.on_timer(Instant::from_ms(16 * update), &mut context);
    }
    (queue, context)
}

/// Offers packets of 1024 B until one is signalled; returns the number accepted before it, and its verdict.
fn first_signal(queue: &mut DocsisPieQueue, context: &mut TestContext, ecn: Ecn) -> (usize, Verdict) {
    let signals = |context: &TestContext| context.marked.len() + context.dropped.len();
    for accepted in 0..1000 {
        let before = signals(context);
        let meta = Meta { ecn, ..packet(1024, 0) };
        let verdict = queue.enqueue(Instant::from_ms(400), meta, PacketHandle(1000), context);
        if signals(context) > before || (ecn == Ecn::Ce && !queue.state(0).burst_allowance().is_zero()) {
            return (accepted, verdict);
        }
    }
    panic!("no signal in 1000 packets");
}

#[test]
fn docsis_pie_marks_where_it_would_drop_and_spreads_marks_like_drops() {
    for (ecn, field, verdict, marks, drops) in [
        (false, Ecn::Ect0, Verdict::Dropped(Reason::Early), 0, 1),
        (true, Ecn::NotEct, Verdict::Dropped(Reason::Early), 0, 1),
        (true, Ecn::Ect0, Verdict::Accepted, 1, 0),
        (true, Ecn::Ect1, Verdict::Accepted, 1, 0),
        (true, Ecn::Ce, Verdict::Accepted, 0, 0),
    ] {
        let (mut queue, mut context) = docsis_pie_at_100_ms(ecn, 14);
        let expected = 0.012_79 + 7.0 * 0.011_25;
        assert!((queue.state(0).probability() - expected).abs() < 1e-4);
        // 0.85/0.09154 = 9.3: the tenth packet is the first that may be signalled.
        let (accepted, outcome) = first_signal(&mut queue, &mut context, field);
        assert_eq!((accepted, outcome), (9, verdict), "{field:?}");
        assert_eq!((context.marked.len(), context.dropped.len()), (marks, drops), "{field:?}");
        // Marked or dropped, the first signal of a burst grants the allowance.
        assert_eq!(queue.state(0).burst_allowance(), Span::from_ms(142));
    }
}

#[test]
fn docsis_pie_drops_capable_packets_from_a_probability_of_ten_percent() {
    let (mut queue, mut context) = docsis_pie_at_100_ms(true, 15);
    assert!((0.1..0.105).contains(&queue.state(0).probability()));
    let (_, outcome) = first_signal(&mut queue, &mut context, Ecn::Ect0);
    assert_eq!(outcome, Verdict::Dropped(Reason::Early));
    assert!(context.marked.is_empty());
}

#[test]
fn a_mark_threshold_of_docsis_pie_is_a_probability() {
    let config = ManagerConfig::from(DocsisPieConfig { mark_threshold: 1.5, ..DocsisPieConfig::WHITE2019_UPSTREAM });
    assert_eq!(config.problems()[0].field, "mark_threshold");
}
