use super::FlowCall;
use crate::docsis31::channel::OfdmChannel;
use crate::docsis31::config::{Service, UpstreamConfig};
use crate::docsis31::proactive::{Guarantee, ProactiveConfig};
use crate::testing::{Collector, calls_through};
use crate::{
    AggregateConfig, AnyLink, CascadeConfig, ClassifierConfig, ConditionConfig, DownstreamConfig, Draw, FlowsConfig,
    LinkConfig, LinkContext, LinkParameters, Loss, Mark, MarkingConfig, Passage, SerialConfig, ServiceFlowConfig,
    ShapedConfig, ShaperConfig, SingleQueueConfig,
};
use alloc::string::ToString;
use core::net::Ipv4Addr;
use sojourn_base::{Address, BitRate, Bytes, Ecn, FlowKey, Instant, Meta, PacketHandle, Packets, ServiceQueue, Span};
use sojourn_queue::{DocsisDualQueueConfig, DropTailConfig, ManagerConfig};
use std::vec;
use std::vec::Vec;

/// A context that knows to which port each packet goes.
#[derive(Default)]
struct Known {
    inner: Collector,
    ports: Vec<u16>,
    remarked: Vec<(u64, u8)>,
}

impl LinkContext for Known {
    fn inner(&mut self) -> Option<&mut (dyn LinkContext + '_)> {
        Some(&mut self.inner)
    }

    fn deliver(&mut self, item: PacketHandle, meta: &Meta, passage: &Passage) {
        self.inner.deliver(item, meta, passage);
    }

    fn dropped(&mut self, item: PacketHandle, meta: &Meta, loss: &Loss) {
        self.inner.dropped(item, meta, loss);
    }

    fn marked(&mut self, item: PacketHandle, meta: &Meta, mark: &Mark) {
        self.inner.marked(item, meta, mark);
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.inner.unit(purpose)
    }

    fn flow(&mut self, item: PacketHandle) -> Option<FlowKey> {
        let port = self.ports[usize::try_from(item.0).expect("a short test")];
        Some(FlowKey {
            source: Address::V4(Ipv4Addr::new(192, 168, 0, 2).to_bits()),
            destination: Address::V4(Ipv4Addr::new(203, 0, 113, 7).to_bits()),
            protocol: 17,
            source_port: 5_000,
            destination_port: port,
        })
    }

    fn remark(&mut self, item: PacketHandle, dscp: u8) {
        self.remarked.push((item.0, dscp));
    }
}

/// A packet: when it comes, its bytes, its port, and its marks.
type Arrival = (Instant, u32, u16, (u8, Ecn));

const PLAIN: (u8, Ecn) = (0, Ecn::NotEct);

fn run(link: &mut AnyLink, arrivals: &[Arrival], until: Instant) -> Known {
    let mut context = Known { ports: arrivals.iter().map(|(_, _, port, _)| *port).collect(), ..Known::default() };
    let mut next = Instant::NEVER;
    let mut arrivals = (0_u64..).zip(arrivals).peekable();
    loop {
        let arrival = arrivals.peek().map_or(Instant::NEVER, |(_, arrival)| arrival.0);
        if next.min(arrival) > until || next.min(arrival) == Instant::NEVER {
            return context;
        }
        if arrival <= next {
            let (number, (at, length, _, (dscp, ecn))) = arrivals.next().expect("it was peeked at");
            let meta = Meta { length: *length, dscp: *dscp, ecn: *ecn, ..Meta::default() };
            next = link.arrive(*at, meta, PacketHandle(number), &mut context);
        } else {
            next = link.wake(next, &mut context);
        }
    }
}

/// Bytes that arrive for each of `ports`, and which.
fn bytes_to(context: &Known, port: u16, from: Instant) -> u64 {
    let delivered = context.inner.delivered.iter();
    let own =
        delivered.filter(|(item, _, passage)| context.ports[*item as usize] == port && passage.arrives_at >= from);
    own.map(|(_, meta, _)| u64::from(meta.length)).sum()
}

fn pair() -> LinkConfig {
    LinkConfig { link: UpstreamConfig::WHITE2019_LLD.into(), queue: DocsisDualQueueConfig::DOCSIS31_UPSTREAM.into() }
}

fn plain(rate: u64) -> LinkConfig {
    let link = UpstreamConfig {
        rate: BitRate::from_mbps(rate),
        burst: Bytes(30_000),
        map_interval: Span::from_ms(1),
        ..UpstreamConfig::BASE
    };
    LinkConfig { link: link.into(), queue: drop_tail() }
}

fn drop_tail() -> ManagerConfig {
    DropTailConfig::bytes(10_000_000).into()
}

fn rule(to: &str, port: u16) -> ClassifierConfig {
    let mut rule = ClassifierConfig::blank();
    rule.to = to.to_string();
    rule.packets.destination_port = vec![port];
    rule
}

fn flow(name: &str) -> ServiceFlowConfig {
    ServiceFlowConfig { name: name.to_string(), queue: drop_tail(), ..ServiceFlowConfig::blank() }
}

/// `mbps` to each port for a second, in packets of 1,000 B.
fn load(ports: &[(u16, u64)]) -> Vec<Arrival> {
    let mut arrivals: Vec<Arrival> = Vec::new();
    for (port, mbps) in ports {
        let gap = Span::from_ps(8_000_000_000 / mbps);
        let own = (0..).map(|n| Instant::from_ms(10) + gap * n);
        let own = own.take_while(|at| *at < Instant::from_ms(1_010));
        arrivals.extend(own.map(|at| (at, 1_000, *port, PLAIN)));
    }
    arrivals.sort_by_key(|arrival| arrival.0);
    arrivals
}

/// Mb/s to a port in the second half of the load, when every bucket is empty.
fn rate_to(context: &Known, port: u16) -> f64 {
    let (from, until) = (Instant::from_ms(510), Instant::from_ms(1_010));
    let late = bytes_to(context, port, from) - bytes_to(context, port, until);
    late as f64 * 8.0 / 0.5e6
}

fn built(link: &LinkConfig, flows: &FlowsConfig) -> AnyLink {
    assert_eq!(flows.problems(link), []);
    assert_eq!(link.problems(), []);
    link.build_with(flows, &[])
}

#[test]
fn rules_that_nothing_matches_change_nothing() {
    let flows = FlowsConfig { classifiers: vec![rule("low-latency", 1)], ..FlowsConfig::NONE };
    let mut arrivals = load(&[(6_000, 40), (6_001, 20)]);
    for (number, arrival) in arrivals.iter_mut().enumerate() {
        arrival.3.1 = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0][number % 3];
    }
    let until = Instant::from_s(3);
    let with = run(&mut built(&pair(), &flows), &arrivals, until);
    let without = run(&mut pair().build(), &arrivals, until);
    assert_eq!(with.inner.delivered, without.inner.delivered);
    assert_eq!(with.inner.dropped, without.inner.dropped);
    assert_eq!(with.inner.marked, without.inner.marked);
    assert!(with.inner.delivered.len() > 5_000);
}

#[test]
fn a_rule_sends_a_port_to_the_low_latency_queue_and_another_one_away_from_it() {
    let mut away = rule("classic", 6_001);
    away.packets.priority = 1;
    let mut by_ecn = ClassifierConfig::blank();
    by_ecn.to = "low-latency".to_string();
    by_ecn.packets.ecn = vec![Ecn::Ect1];
    let flows = FlowsConfig {
        // In the file the general rule stands before the one of higher priority.
        classifiers: vec![by_ecn, away, rule("low-latency", 6_000)],
        ..FlowsConfig::NONE
    };
    let at = Instant::from_ms(10);
    let arrivals = [
        (at, 200, 6_000, PLAIN),
        (at, 200, 6_001, (0, Ecn::Ect1)),
        (at, 200, 6_002, (0, Ecn::Ect1)),
        (at, 200, 6_002, PLAIN),
        // A packet without a matching rule goes to the manager's choice.
        (at, 200, 6_002, (45, Ecn::NotEct)),
    ];
    let context = run(&mut built(&pair(), &flows), &arrivals, Instant::from_s(1));
    let mut queues: Vec<_> = context.inner.delivered.iter().map(|(item, meta, _)| (*item, meta.queue)).collect();
    queues.sort_unstable();
    let (fast, slow) = (ServiceQueue::LowLatency, ServiceQueue::Classic);
    let wanted = [fast, slow, fast, slow, fast];
    assert_eq!(queues, (0..).zip(wanted).collect::<Vec<_>>());
}

#[test]
fn a_marking_rewrites_the_code_point_before_anybody_sorts_by_it() {
    let mut mark = MarkingConfig::BASE;
    mark.packets.destination_port = vec![6_000, 6_010];
    mark.packets.priority = 1;
    mark.set_dscp = 45;
    let flows = FlowsConfig {
        // All others are cleared (White 2019 §5.2).
        markings: vec![MarkingConfig::BASE, mark],
        ..FlowsConfig::NONE
    };
    let at = Instant::from_ms(10);
    let arrivals = [(at, 200, 6_005, PLAIN), (at, 200, 6_011, (45, Ecn::NotEct)), (at, 200, 6_011, (45, Ecn::Ect1))];
    let context = run(&mut built(&pair(), &flows), &arrivals, Instant::from_s(1));
    assert_eq!(context.remarked, [(0, 45), (1, 0), (2, 0)]);
    for (item, meta, _) in &context.inner.delivered {
        let is_low_latency = meta.queue == ServiceQueue::LowLatency;
        assert_eq!(is_low_latency, *item != 1, "{meta:?}");
        assert_eq!(meta.dscp, if *item == 0 { 45 } else { 0 });
    }
}

#[test]
fn members_share_the_rate_of_their_aggregate_evenly_and_by_priority() {
    let link = plain(20);
    let share = |flows: &FlowsConfig, ports: &[(u16, u64)]| {
        let context = run(&mut built(&link, flows), &load(ports), Instant::from_s(10));
        ports.iter().map(|(port, _)| rate_to(&context, *port)).collect::<Vec<f64>>()
    };
    let mut flows = FlowsConfig {
        service_flows: vec![flow("a"), flow("b")],
        classifiers: vec![rule("a", 6_001), rule("b", 6_002)],
        ..FlowsConfig::NONE
    };
    let near = |found: &[f64], wanted: &[f64]| {
        // Bytes returned from headers and partly used grants go to the next flow: some percent.
        let close = found.iter().zip(wanted).all(|(f, w)| (f - w).abs() < 0.05 * w);
        assert!(close, "{found:?} for {wanted:?}");
        let (sum, all) = (found.iter().sum::<f64>(), wanted.iter().sum::<f64>());
        assert!((sum - all).abs() < 0.005 * all, "{sum} of {all}");
    };
    // Three that want more than there is; and one that wants less than its share.
    near(&share(&flows, &[(6_000, 20), (6_001, 20), (6_002, 20)]), &[6.667, 6.667, 6.667]);
    near(&share(&flows, &[(6_000, 20), (6_001, 20), (6_002, 2)]), &[9.0, 9.0, 2.0]);
    // One with a priority, and a rate of its own below its load.
    flows.service_flows[0].traffic_priority = 1;
    flows.service_flows[0].rate = BitRate::from_mbps(8);
    flows.service_flows[0].burst = Bytes(10_000);
    near(&share(&flows, &[(6_000, 20), (6_001, 20), (6_002, 20)]), &[6.0, 8.0, 6.0]);
    // One outside the aggregate takes nothing of it.
    flows.service_flows[0].member = false;
    near(&share(&flows, &[(6_000, 20), (6_001, 20), (6_002, 20)]), &[10.0, 8.0, 10.0]);
}

#[test]
fn a_packet_of_one_flow_does_not_wait_behind_those_of_another() {
    let flows = FlowsConfig {
        service_flows: vec![flow("voice")],
        classifiers: vec![rule("voice", 6_001)],
        ..FlowsConfig::NONE
    };
    let mut arrivals = load(&[(6_000, 40)]);
    arrivals.extend((0..50).map(|n| (Instant::from_ms(20 * n + 5), 200, 6_001, PLAIN)));
    arrivals.sort_by_key(|arrival| arrival.0);
    let worst = |link: &mut AnyLink| {
        let context = run(link, &arrivals, Instant::from_s(10));
        let delivered = context.inner.delivered.iter();
        let voice = delivered.filter(|(item, ..)| context.ports[*item as usize] == 6_001);
        let delays = voice.map(|(.., p)| p.arrives_at.saturating_since(p.entered_at));
        delays.max().expect("there are some")
    };
    let link = plain(20);
    assert!(worst(&mut link.build()) > Span::from_ms(400));
    // A request, its grant, and a MAP in which the others come first.
    assert!(worst(&mut built(&link, &flows)) < Span::from_ms(7));
}

#[test]
fn a_flow_without_a_low_latency_queue_has_proactive_grants_too() {
    // White 2019 §5.1: the modem need not know of them.
    let grants = ProactiveConfig::Basic(Guarantee { rate: BitRate::from_mbps(5), interval: Some(Span::from_us(135)) });
    let arrivals: Vec<Arrival> =
        (0..200).map(|n| (Instant::from_us(33_017 * n + 50_000), 110 + 18, 6_000, PLAIN)).collect();
    let worst = |link: &mut AnyLink| {
        let context = run(link, &arrivals, Instant::from_s(10));
        assert_eq!(context.inner.delivered.len(), arrivals.len());
        let delays = context.inner.delivered.iter();
        let delays = delays.map(|(.., p)| p.arrives_at.saturating_since(p.entered_at));
        (delays.clone().min(), delays.max().expect("some"))
    };
    let mut config = UpstreamConfig { service: Service::Single, ..UpstreamConfig::WHITE2019 };
    let link = |config: &UpstreamConfig| LinkConfig { link: config.clone().into(), queue: drop_tail() };
    assert!(worst(&mut link(&config).build()).1 > Span::from_ms(5));
    config.proactive = grants;
    assert_eq!(link(&config).problems(), []);
    let (least, most) = worst(&mut link(&config).build());
    // 138 B need two grants of 96 B: 580 to 715 us (vector C8).
    assert!(least >= Some(Span::from_us(580)), "{least:?}");
    assert!(most <= Span::from_us(715), "{most}");
    // As a flow beside the first, which has none.
    let flows = FlowsConfig {
        service_flows: vec![ServiceFlowConfig { proactive: grants, ..flow("game") }],
        classifiers: vec![rule("game", 6_000)],
        ..FlowsConfig::NONE
    };
    config.proactive = ProactiveConfig::None;
    let (_, most) = worst(&mut built(&link(&config), &flows));
    assert!(most <= Span::from_us(715), "{most}");
}

#[test]
fn a_single_flow_with_proactive_grants_keeps_its_rate() {
    let grants = ProactiveConfig::Basic(Guarantee { rate: BitRate::from_mbps(5), interval: Some(Span::from_us(135)) });
    let config = UpstreamConfig {
        rate: BitRate::from_mbps(20),
        burst: Bytes(30_000),
        map_interval: Span::from_ms(1),
        proactive: grants,
        ..UpstreamConfig::BASE
    };
    let link = LinkConfig { link: config.into(), queue: drop_tail() };
    let context = run(&mut link.build(), &load(&[(6_000, 40)]), Instant::from_s(10));
    let rate = rate_to(&context, 6_000);
    assert!((rate - 20.0).abs() < 0.1, "{rate}");
}

#[test]
fn a_line_with_rules_keeps_to_its_conditions() {
    let line = SerialConfig { rate: BitRate::from_mbps(10), ..SerialConfig::BASE };
    let link = LinkConfig { link: line.into(), queue: drop_tail() };
    let slower =
        [ConditionConfig { at: Some(Span::from_ms(5)), rate: Some(BitRate::from_mbps(2)), ..ConditionConfig::BASE }];
    let flows = FlowsConfig { classifiers: vec![rule("classic", 1)], ..FlowsConfig::NONE };
    let (arrivals, until) = (load(&[(6_000, 20)]), Instant::from_s(20));
    let with = run(&mut link.build_with(&flows, &slower), &arrivals, until);
    let without = run(&mut link.build_under(&slower), &arrivals, until);
    assert_eq!(with.inner.delivered, without.inner.delivered);
    let rate = rate_to(&with, 6_000);
    assert!((rate - 2.0).abs() < 0.05, "{rate}");
}

#[test]
fn what_is_wrong_with_rules_and_flows_is_listed() {
    let mut wrong = rule("vioce", 6_001);
    wrong.packets.destination_port = vec![3, 2];
    let mut bits = rule("voice/low-latency", 6_001);
    bits.packets.tos = vec![1, 1];
    let flows = FlowsConfig {
        service_flows: vec![flow("voice"), flow("voice"), ServiceFlowConfig { member: false, ..flow("a/b") }],
        classifiers: vec![wrong, bits, rule("low-latency", 1)],
        ..FlowsConfig::NONE
    };
    let places = |link: &LinkConfig, flows: &FlowsConfig| {
        let problems = flows.problems(link).into_iter();
        problems.map(|(path, _)| path).collect::<Vec<_>>()
    };
    assert_eq!(
        places(&plain(20), &flows),
        [
            "service_flow[1].name",
            "service_flow[2].name",
            "service_flow[2].rate",
            "classifier[0].destination_port",
            "classifier[0].to",
            "classifier[1].tos",
            "classifier[1].to",
            "classifier[2].to",
        ]
    );
    let serial = SerialConfig { rate: BitRate::from_mbps(10), ..SerialConfig::BASE };
    assert_eq!(
        places(&LinkConfig { link: serial.into(), queue: drop_tail() }, &flows)[..3],
        ["service_flow[0].name", "service_flow[1].name", "service_flow[2].name"]
    );
    let member = |aggregate: &str| ServiceFlowConfig { aggregate: aggregate.to_string(), ..flow("voice") };
    let flows = FlowsConfig {
        service_flows: vec![member("work"), ServiceFlowConfig { name: "b".to_string(), ..member("wrok") }],
        aggregates: vec![aggregate("work", 5), aggregate("work", 5), aggregate("home", 5)],
        ..FlowsConfig::NONE
    };
    assert_eq!(places(&plain(20), &flows), ["aggregate[1].name", "aggregate[2].name", "service_flow[1].aggregate"]);
    let single = LinkConfig { link: SingleQueueConfig::WHITE2013.into(), queue: drop_tail() };
    assert_eq!(
        places(&single, &flows),
        [
            "aggregate[0].name",
            "aggregate[1].name",
            "aggregate[2].name",
            "service_flow[0].member",
            "service_flow[1].member"
        ]
    );
    let shallow = ServiceFlowConfig { burst: Bytes(1_000), ..outside("voice", 1) };
    let flows = FlowsConfig { service_flows: vec![shallow], ..FlowsConfig::NONE };
    let cascade = LinkConfig { link: CascadeConfig::WHITE2012.into(), queue: drop_tail() };
    assert_eq!(places(&cascade, &flows), ["service_flow[0].burst"]);
}

fn aggregate(name: &str, mbps: u64) -> AggregateConfig {
    AggregateConfig { name: name.to_string(), rate: BitRate::from_mbps(mbps), ..AggregateConfig::blank() }
}

fn outside(name: &str, mbps: u64) -> ServiceFlowConfig {
    ServiceFlowConfig { member: false, rate: BitRate::from_mbps(mbps), ..flow(name) }
}

/// Mb/s to ports 6000, 6001 and so on, each of which gets `mbps`.
fn rates(link: &LinkConfig, flows: &FlowsConfig, mbps: &[u64]) -> Vec<f64> {
    let ports: Vec<(u16, u64)> = (6_000..).zip(mbps.iter().copied()).collect();
    let context = run(&mut built(link, flows), &load(&ports), Instant::from_s(10));
    ports.iter().map(|(port, _)| rate_to(&context, *port)).collect()
}

fn assert_near(found: &[f64], wanted: &[f64], what: &str) {
    let close = found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 0.05 * wanted);
    assert!(close, "{what}: {found:?} for {wanted:?}");
}

/// Links of DOCSIS 3.0, and a shaper, without a burst.
fn links_without_aggregates() -> Vec<LinkConfig> {
    let shaper = ShaperConfig { sustained: BitRate::from_mbps(10), burst: Bytes(10_000), ..ShaperConfig::BASE };
    let links: [LinkParameters; 3] = [
        CascadeConfig { shaper, transmit_queue: Packets(64), ..CascadeConfig::BASE }.into(),
        SingleQueueConfig { shaper, ..SingleQueueConfig::BASE }.into(),
        ShapedConfig { shaper, ..ShapedConfig::BASE }.into(),
    ];
    links.into_iter().map(|link| LinkConfig { link, queue: drop_tail() }).collect()
}

#[test]
fn service_flows_of_docsis_3_0_have_their_rates_beside_each_other() {
    // White 2013 §1.5: two flows with rates of their own exceed one limit in sum.
    let mut voice = outside("voice", 2);
    voice.burst = Bytes(30_000);
    let mut work = outside("work", 5);
    work.burst = Bytes(30_000);
    let flows = FlowsConfig {
        service_flows: vec![voice, work],
        classifiers: vec![rule("voice", 6_001), rule("work", 6_002)],
        ..FlowsConfig::NONE
    };
    for link in links_without_aggregates() {
        assert_near(&rates(&link, &flows, &[20, 20, 20]), &[10.0, 2.0, 5.0], link.kind());
        // A flow with less to send than its rate loses nothing.
        assert_near(&rates(&link, &flows, &[20, 1, 20]), &[10.0, 1.0, 5.0], link.kind());
        // The first flow is served as it would be alone.
        let alone = run(&mut link.build(), &load(&[(6_000, 20)]), Instant::from_s(10));
        let beside = run(&mut built(&link, &flows), &load(&[(6_000, 20), (6_001, 20)]), Instant::from_s(10));
        let times = |context: &Known| {
            let own = context.inner.delivered.iter().filter(|(item, ..)| context.ports[*item as usize] == 6_000);
            own.map(|(.., passage)| passage.arrives_at).collect::<Vec<_>>()
        };
        assert_eq!(times(&alone), times(&beside), "{}", link.kind());
    }
}

#[test]
fn members_of_a_downstream_aggregate_share_its_rate() {
    let config = DownstreamConfig { rate: BitRate::from_mbps(20), burst: Bytes(30_000), ..DownstreamConfig::BASE };
    let link = LinkConfig { link: config.clone().into(), queue: drop_tail() };
    let mut flows = FlowsConfig {
        service_flows: vec![flow("a"), flow("b")],
        classifiers: vec![rule("a", 6_001), rule("b", 6_002)],
        ..FlowsConfig::NONE
    };
    assert_near(&rates(&link, &flows, &[20, 20, 20]), &[6.667, 6.667, 6.667], "even");
    assert_near(&rates(&link, &flows, &[20, 20, 2]), &[9.0, 9.0, 2.0], "one wants less");
    flows.service_flows[0].traffic_priority = 1;
    flows.service_flows[0].rate = BitRate::from_mbps(8);
    flows.service_flows[0].burst = Bytes(10_000);
    assert_near(&rates(&link, &flows, &[20, 20, 20]), &[6.0, 8.0, 6.0], "priority with a rate of its own");
    flows.service_flows[0].member = false;
    assert_near(&rates(&link, &flows, &[20, 20, 20]), &[10.0, 8.0, 10.0], "one outside");
    // All that is offered arrives, and the channel has room for one symbol's worth in a symbol.
    let narrow =
        DownstreamConfig { channel: OfdmChannel { subcarriers: 300, ..config.channel }, rate: BitRate::ZERO, ..config };
    let narrow_rate = narrow.capacity().as_bps();
    let capacity = narrow_rate as f64 / 1e6;
    let link = LinkConfig { link: narrow.into(), queue: drop_tail() };
    flows.service_flows.truncate(1);
    flows.service_flows[0] = flow("a");
    flows.classifiers.truncate(1);
    let half = capacity / 2.0 * 1_000.0 / 1_010.0;
    let most = narrow_rate / 1_000_000;
    assert_near(&rates(&link, &flows, &[most, most]), &[half, half], "the channel");
}

#[test]
fn several_aggregates_have_a_rate_each() {
    let member = |name: &str, aggregate: &str| ServiceFlowConfig { aggregate: aggregate.to_string(), ..flow(name) };
    let flows = FlowsConfig {
        service_flows: vec![flow("own"), member("a", "work"), member("b", "work"), member("c", "guests")],
        aggregates: vec![
            AggregateConfig { burst: Bytes(30_000), ..aggregate("work", 8) },
            AggregateConfig { burst: Bytes(30_000), ..aggregate("guests", 3) },
        ],
        classifiers: vec![rule("own", 6_001), rule("a", 6_002), rule("b", 6_003), rule("c", 6_004)],
        ..FlowsConfig::NONE
    };
    let config = DownstreamConfig { rate: BitRate::from_mbps(20), burst: Bytes(30_000), ..DownstreamConfig::BASE };
    let downstream = LinkConfig { link: config.into(), queue: drop_tail() };
    for link in [plain(20), downstream] {
        assert_near(&rates(&link, &flows, &[20; 5]), &[10.0, 10.0, 4.0, 4.0, 3.0], link.kind());
        assert_near(&rates(&link, &flows, &[20, 20, 20, 1, 20]), &[10.0, 10.0, 7.0, 1.0, 3.0], link.kind());
    }
}

#[test]
fn a_service_flows_context_passes_on_every_call() {
    let direct = calls_through(|noted, act| act(noted));
    let mut draws = [0; Draw::ALL.len()];
    assert_eq!(calls_through(|noted, act| act(&mut FlowCall { flow: 0, draws: &mut draws, context: noted })), direct);
}
