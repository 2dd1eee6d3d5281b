//! The managers under test, with small limits and hasty laws so that short lists make them drop.

use sojourn_base::{Bytes, Limit, Packets, Span};
use sojourn_queue::{
    AckPriorityConfig, Activation, Admission, Backlog, BurstRule, CakeConfig, CobaltConfig, CobaltLaw, CodePoints,
    CodelConfig, CodelLaw, CodelVariant, DelaySource, DepartureRateConfig, DocsisDualQueueConfig, DocsisPieConfig,
    DocsisPieLaw, DropTailConfig, DualPi2Config, DualPi2Scheduler, DualScheduler, FatMetric, FlowListsConfig,
    FqCobaltConfig, FqCodelConfig, FqPieConfig, ManagerConfig, Pi2Law, PieConfig, PieLaw, PieScope, PrioritisedConfig,
    RedClassConfig, RedConfig, RedThresholds, SfqCodelConfig, SfqConfig, SfqNs2Config, SfqPieConfig, Victim,
};

/// A manager under test.
pub(crate) struct Case {
    pub(crate) config: ManagerConfig,
    /// The most that may ever wait.
    pub(crate) most: Backlog,
    /// Marks packets or not, if that is sure.
    pub(crate) marks: Option<bool>,
}

/// All of them.
pub(crate) fn managers() -> Vec<Case> {
    [
        drop_tail(),
        codel(),
        sfq(),
        fq_codel(),
        pie(),
        docsis_pie(),
        docsis_dual_queue(),
        dualpi2(),
        red(),
        cobalt(),
        ack_priority(),
        every_kind(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Every kind of the registry with its defaults, apart from a small limit.
fn every_kind() -> Vec<Case> {
    ManagerConfig::kinds()
        .into_iter()
        .map(|kind| {
            let mut config = kind.values(None);
            if let Some(limit) = config.limit_mut() {
                *limit = SMALL_BYTES;
            }
            let most = match (config.limit(), config.kind()) {
                // Packets in its lane, or in its low-latency queue, come on top; RED lets the last packet in.
                (None, _) | (_, "ack-priority" | "docsis-dual-queue" | "red") => Limit::Bytes(Bytes::MAX),
                (Some(limit), _) => limit,
            };
            Case { marks: None, ..within(most, config) }
        })
        .collect()
}

const SMALL_BYTES: Limit = Limit::Bytes(Bytes(20_000));
const SMALL_PACKETS: Limit = Limit::Packets(Packets(12));

/// A manager that never holds more than `limit` and never marks.
fn within(limit: Limit, config: ManagerConfig) -> Case {
    let most = match limit {
        Limit::Bytes(bytes) => Backlog { bytes, packets: Packets::MAX },
        Limit::Packets(packets) => Backlog { bytes: Bytes::MAX, packets },
        Limit::Time(_) => panic!("cases have no rate"),
    };
    Case { config, most, marks: Some(false) }
}

fn marking(case: Case) -> Case {
    Case { marks: Some(true), ..case }
}

fn drop_tail() -> Vec<Case> {
    let case = |limit, admission, head_drop, most| {
        within(most, ManagerConfig::from(DropTailConfig { limit, admission, head_drop }))
    };
    let overshoot = Limit::Bytes(Bytes(20_000 + 65_534));
    let (none, eleven) = (Limit::Bytes(Bytes(0)), Limit::Packets(Packets(11)));
    let ns2_bytes = Admission::Ns2Bytes { mean_packet: 500 };
    let below_product = Limit::Bytes(Bytes(12 * 500 - 1));
    vec![
        case(SMALL_BYTES, Admission::Fit, false, SMALL_BYTES),
        case(SMALL_BYTES, Admission::Fit, true, SMALL_BYTES),
        case(SMALL_BYTES, Admission::Threshold, false, overshoot),
        case(SMALL_PACKETS, Admission::Fit, true, SMALL_PACKETS),
        case(SMALL_PACKETS, Admission::Ns2Packets, false, eleven),
        case(SMALL_PACKETS, ns2_bytes, false, below_product),
        case(none, Admission::Fit, false, none),
    ]
}

/// A law that acts within short operation lists.
fn hasty(law: CodelLaw) -> CodelLaw {
    CodelLaw { target: Span::from_us(500), interval: Span::from_ms(5), ..law }
}

fn hasty_marks() -> CodelLaw {
    CodelLaw { ecn: true, ..hasty(CodelLaw::RFC8289) }
}

fn hasty_l4s() -> CodelLaw {
    CodelLaw { ce_threshold: Some(Span::from_ms(1)), l4s: true, ..hasty_marks() }
}

fn codel() -> Vec<Case> {
    let case = |law, limit| within(limit, ManagerConfig::from(CodelConfig { law, limit }));
    let roomy = Limit::Packets(Packets(1000));
    vec![
        case(hasty(CodelLaw { variant: CodelVariant::Original2012, ..CodelLaw::WHITE2012 }), SMALL_PACKETS),
        case(hasty(CodelLaw::WHITE2013), SMALL_BYTES),
        case(CodelLaw::RFC8289, roomy),
        marking(case(hasty_marks(), roomy)),
        marking(case(hasty_l4s(), roomy)),
    ]
}

/// Four sub-flows for the six flows of the operation lists, so that some share one.
fn sub_flows(quantum: u32, limit: Limit) -> SfqConfig {
    SfqConfig { bins: 4, quantum, limit, ..SfqConfig::WHITE2013 }
}

fn sfq() -> Vec<Case> {
    let bytes = SfqConfig { fat_metric: FatMetric::Bytes, victim: Victim::Head, ..sub_flows(300, SMALL_BYTES) };
    let one_bin = SfqConfig { bins: 1, ..sub_flows(300, SMALL_BYTES) };
    let by_packet = sub_flows(0, SMALL_PACKETS);
    let law = CodelLaw { variant: CodelVariant::Sfq2013, ..hasty(CodelLaw::WHITE2013) };
    let with_codel =
        |sub_flows: SfqConfig, law| within(sub_flows.limit, ManagerConfig::from(SfqCodelConfig { sub_flows, law }));
    let forty = SfqNs2Config::NS2.limit;
    vec![
        within(SMALL_BYTES, ManagerConfig::from(bytes)),
        within(SMALL_PACKETS, ManagerConfig::from(by_packet)),
        within(SMALL_BYTES, ManagerConfig::from(one_bin)),
        within(Limit::Packets(forty), ManagerConfig::from(SfqNs2Config::NS2)),
        with_codel(bytes, law),
        with_codel(by_packet, law),
        with_codel(sub_flows(1, SMALL_BYTES), law),
        marking(with_codel(sub_flows(1514, Limit::Packets(Packets(1000))), hasty_marks())),
    ]
}

fn flow_lists(ways: u32, limit: Limit, memory: Option<Bytes>) -> FlowListsConfig {
    FlowListsConfig { queues: 16, ways, quantum: 700, limit, memory, drop_batch: 3, ..FlowListsConfig::BASE }
}

fn fq_codel() -> Vec<Case> {
    let case = |limit, flows, law| within(limit, ManagerConfig::from(FqCodelConfig { flows, law }));
    let roomy = Limit::Packets(Packets(1000));
    let small_memory = flow_lists(1, roomy, Some(Bytes(20_000)));
    vec![
        case(SMALL_PACKETS, flow_lists(1, SMALL_PACKETS, None), hasty(CodelLaw::RFC8289)),
        case(SMALL_BYTES, small_memory, hasty(CodelLaw::RFC8289)),
        marking(case(roomy, flow_lists(4, roomy, None), hasty_marks())),
        marking(case(roomy, flow_lists(1, roomy, None), hasty_l4s())),
    ]
}

/// A PIE that acts within short operation lists; its updates divide 240 ms.
const HASTY_PIE: PieLaw = PieLaw {
    reference: Span::from_us(500),
    update_interval: Span::from_ms(2),
    alpha: 10.0,
    beta: 100.0,
    maximum_burst: Span::from_ms(4),
    ..PieLaw::RFC8033
};

fn pie() -> Vec<Case> {
    let case = |law, limit| within(limit, ManagerConfig::from(PieConfig { law, limit }));
    let roomy = Limit::Packets(Packets(1000));
    let measuring = PieLaw {
        delay_source: DelaySource::DepartureRate(DepartureRateConfig {
            threshold: Bytes(4000),
            ..DepartureRateConfig::NS2
        }),
        scale_by_size: true,
        ..HASTY_PIE
    };
    let sleepy = PieLaw {
        derandomise: true,
        activation: Activation::Backlog(Bytes(8_000)),
        burst_rule: BurstRule::AfterQuiet(Span::from_ms(20)),
        ..HASTY_PIE
    };
    let marks = PieLaw { ecn: true, ..HASTY_PIE };
    let sfq = |law, scope| {
        let sub_flows = sub_flows(300, SMALL_BYTES);
        let config = SfqPieConfig { sub_flows, law, scope };
        within(SMALL_BYTES, ManagerConfig::from(config))
    };
    let fq = |law, limit| {
        let flows = flow_lists(1, limit, None);
        within(limit, ManagerConfig::from(FqPieConfig { flows, law }))
    };
    vec![
        case(HASTY_PIE, SMALL_PACKETS),
        case(measuring, SMALL_BYTES),
        case(sleepy, roomy),
        marking(case(marks, roomy)),
        sfq(HASTY_PIE, PieScope::PerBin),
        sfq(measuring, PieScope::Shared),
        fq(HASTY_PIE, SMALL_PACKETS),
        marking(fq(marks, roomy)),
    ]
}

fn docsis_pie() -> Vec<Case> {
    // Room for delays at which the probability rises within a short list.
    let roomy = Limit::Bytes(Bytes(200_000));
    let case = |law, limit, ecn| {
        let config = DocsisPieConfig { law, limit, ecn, mark_threshold: 1.0 };
        within(limit, ManagerConfig::from(config))
    };
    let hasty = DocsisPieLaw { target: Span::from_us(100), burst_reset: Span::from_ms(50), quantise_length: true };
    vec![
        case(DocsisPieLaw::RFC8034, SMALL_BYTES, false),
        case(hasty, SMALL_BYTES, false),
        marking(case(hasty, roomy, true)),
    ]
}

fn docsis_dual_queue() -> Vec<Case> {
    let most = Limit::Bytes(Bytes(20_000 + 30_000));
    let hasty = DocsisDualQueueConfig {
        limit: SMALL_BYTES,
        low_latency_limit: Some(Bytes(30_000)),
        classic: DocsisPieLaw { target: Span::from_us(100), burst_reset: Span::from_ms(50), quantise_length: false },
        ..DocsisDualQueueConfig::DOCSIS31
    };
    let upstream = DocsisDualQueueConfig {
        delay: DocsisDualQueueConfig::DOCSIS31_UPSTREAM.delay,
        scheduler: DualScheduler::DocsisNs3,
        ..hasty
    };
    let unprotected = DocsisDualQueueConfig { queue_protection: false, weight: 26, ..hasty };
    let unmarked = DocsisDualQueueConfig { immediate_aqm: false, ..hasty };
    let case = |config| within(most, ManagerConfig::from(config));
    vec![marking(case(hasty)), marking(case(upstream)), marking(case(unprotected)), case(unmarked)]
}

fn dualpi2() -> Vec<Case> {
    let case = |config| within(SMALL_BYTES, ManagerConfig::from(config));
    let hasty = DualPi2Config {
        limit: SMALL_BYTES,
        law: Pi2Law { target: Span::from_us(500), update_interval: Span::from_ms(5), alpha: 10.0, beta: 100.0 },
        ..DualPi2Config::RFC9332
    };
    let shifted = DualPi2Config {
        scheduler: DualPi2Scheduler::TimeShifted,
        time_shift: Span::from_ms(2),
        random: true,
        overload_aware: false,
        ..hasty
    };
    vec![marking(case(hasty)), marking(case(shifted))]
}

fn red() -> Vec<Case> {
    let hasty = RedConfig {
        limit: SMALL_PACKETS,
        curve: RedThresholds {
            minimum: Some(Limit::Packets(Packets(2))),
            maximum: Some(Limit::Packets(Packets(8))),
            most: 0.3,
        },
        weight: Some(0.3),
        ..RedConfig::AKHTAR2013
    };
    let marks = RedConfig { gentle: true, wait: false, scale_by_size: true, ecn: true, ..hasty.clone() };
    let classes = RedConfig {
        classes: vec![RedClassConfig {
            dscp: CodePoints::of(&[10]),
            curve: RedThresholds { minimum: Some(Limit::Packets(Packets(1))), ..hasty.curve },
        }],
        adaptive: true,
        ..hasty.clone()
    };
    let case = |config| within(SMALL_PACKETS, ManagerConfig::from(config));
    vec![case(hasty), marking(case(marks)), case(classes)]
}

fn cobalt() -> Vec<Case> {
    let law = CobaltLaw {
        target: Span::from_us(500),
        interval: Span::from_ms(5),
        increment: 0.1,
        decrement: 0.01,
        blue_threshold: Span::from_ms(40),
        ..CobaltLaw::LINUX
    };
    let marks = CobaltLaw { ecn: true, ce_threshold: Some(Span::from_ms(1)), ..law };
    let case = |law, limit| within(limit, ManagerConfig::from(CobaltConfig { law, limit }));
    let flows = FlowListsConfig { queues: 4, limit: SMALL_PACKETS, ..FlowListsConfig::BASE };
    let flow_queues = |law, decays| {
        let config = FqCobaltConfig { flows, law, decays };
        within(SMALL_PACKETS, ManagerConfig::from(config))
    };
    let drops_the_last = CobaltLaw { keeps_last: false, ..law };
    vec![
        case(law, SMALL_PACKETS),
        marking(case(marks, Limit::Packets(Packets(1000)))),
        flow_queues(drops_the_last, false),
        flow_queues(law, true),
        within(
            Limit::Bytes(Bytes(40_000)),
            ManagerConfig::from(CakeConfig { memory: Some(Bytes(40_000)), law, ..CakeConfig::DIFFSERV4 }),
        ),
    ]
}

fn ack_priority() -> Vec<Case> {
    // Roomy enough for every acknowledgement of a list: beyond its limit the lane does not keep order.
    let roomy = AckPriorityConfig::BASE;
    let inner = codel().swap_remove(1).config;
    let config = ManagerConfig::from(PrioritisedConfig::before(inner));
    let most = Limit::Bytes(Bytes(20_000 + roomy.limit.0));
    vec![within(most, config)]
}
