//! The network of the engine, and a path that is called by hand, do the same with the same packets, bit for bit.

use super::*;
use crate::arena::Body;
use crate::event::Event;
use proptest::prelude::*;
use sojourn_base::{BitRate, Ecn, Meta, Packets, PerDirection, RandomStream, ServiceQueue, Span};
use sojourn_link::network::Place;
use sojourn_link::path::{Agenda, Path, PathContext};
use sojourn_link::{
    DelayParts, DownstreamMemberConfig, Loss, Mark, MemberConfig, NetworkContext, Opportunities, PacketId, Passage,
    SerialConfig, TraceConfig,
};
use sojourn_queue::{Backlog, CodelConfig, CodelLaw, ManagerConfig, Score};
use sojourn_record::{Datagram, Fate, LinkDrop, LinkMark, LinkPassage, LinkScore, Waiting};

/// An event of a packet, and its times.
#[derive(Clone, Debug, PartialEq)]
enum Told {
    Passed(LinkId, [Instant; 3], [u32; 2], ServiceQueue, Option<u32>),
    Dropped(LinkId, Instant, u32, String),
    Marked(LinkId, Instant, u32, String),
    Scored(LinkId, Instant, Span, bool),
    Waits(LinkId, Instant, Packets, Bytes, Packets),
    /// Number, time, whether it is marked, delay by cause.
    Arrived(u32, Instant, bool, DelaySplit),
}

/// The engine's reports.
#[derive(Default)]
struct Heard(Vec<Told>);

impl Recorder for Heard {
    fn wants_delays(&self) -> bool {
        true
    }
    fn wants_waiting(&self) -> bool {
        true
    }
    fn on_passage(&mut self, _: Direction, it: &LinkPassage) {
        let times = [it.entered_at, it.dequeued_at, it.arrives_at];
        let lengths = [it.length, it.charged].map(|bytes| u32::try_from(bytes.0).unwrap());
        self.0.push(Told::Passed(it.link, times, lengths, it.queue, it.sub_flow));
    }
    fn on_drop(&mut self, it: &LinkDrop) {
        let why = format!("{:?} {:?} {:?}", it.reason, it.queue, it.sub_flow);
        let length = u32::try_from(it.length.0).unwrap();
        self.0.push(Told::Dropped(it.link, it.at, length, why));
    }
    fn on_mark(&mut self, it: &LinkMark) {
        let why = format!("{:?} {:?} {:?}", it.reason, it.queue, it.sub_flow);
        let length = u32::try_from(it.length.0).unwrap();
        self.0.push(Told::Marked(it.link, it.at, length, why));
    }
    fn on_score(&mut self, it: &LinkScore) {
        self.0.push(Told::Scored(it.link, it.at, it.score, it.sanctioned));
    }
    fn on_waiting(&mut self, now: Instant, link: LinkId, it: Waiting) {
        self.0.push(Told::Waits(link, now, it.packets, it.bytes, it.staged));
    }
    fn on_datagram(&mut self, it: &Datagram) {
        if let Fate::Arrived(at) = it.fate {
            self.0.push(Told::Arrived(it.sequence, at, it.marked, it.split));
        }
    }
}

/// The owner of a path: keeps packets by their numbers, and tells the same.
#[derive(Debug, Default)]
struct Owner {
    agenda: Agenda,
    packets: Vec<(Meta, DelaySplit, u32)>,
    told: Vec<Told>,
}

impl NetworkContext for Owner {
    type Calendar = Agenda;

    fn calendar(&mut self) -> &mut Agenda {
        &mut self.agenda
    }
    fn meta(&self, id: PacketId) -> Meta {
        self.packets[id.index as usize].0
    }
    fn wants_delays(&self) -> bool {
        true
    }
    fn delayed(&mut self, id: PacketId, delay: &DelayParts) {
        for (cause, span) in delay.parts() {
            self.packets[id.index as usize].1.add(cause, span);
        }
    }
    fn passed(&mut self, _: PacketId, place: Place, length: u32, meta: &Meta, it: &Passage) {
        self.told.push(Told::Passed(
            place.link,
            [it.entered_at, it.dequeued_at, it.arrives_at],
            [length, meta.length],
            meta.queue,
            it.sub_flow.get(),
        ));
    }
    fn marked(&mut self, now: Instant, id: PacketId, place: Place, meta: &Meta, it: &Mark) {
        self.packets[id.index as usize].0.ecn = Ecn::Ce;
        let why = format!("{:?} {:?} {:?}", it.reason, meta.queue, it.sub_flow.get());
        self.told.push(Told::Marked(place.link, now, meta.length, why));
    }
    fn dropped(&mut self, now: Instant, _: PacketId, place: Place, meta: &Meta, it: &Loss) {
        let why = format!("{:?} {:?} {:?}", it.reason, meta.queue, it.sub_flow.get());
        self.told.push(Told::Dropped(place.link, now, meta.length, why));
    }
    fn scored(&mut self, now: Instant, _: PacketId, place: Place, _: &Meta, it: &Score) {
        self.told.push(Told::Scored(place.link, now, it.score, it.sanctioned));
    }
    fn estimated(&mut self, _: LinkId, _: ServiceQueue, _: Span) {}
    fn waiting(&mut self, now: Instant, link: LinkId, backlog: Backlog, staged: Packets) {
        let told = Told::Waits(link, now, backlog.packets, backlog.bytes, staged);
        self.told.push(told);
    }
    fn copy(&mut self, id: PacketId, _: Place) -> Option<PacketId> {
        self.packets.push(self.packets[id.index as usize]);
        let index = u32::try_from(self.packets.len() - 1).unwrap();
        Some(PacketId { index, ..id })
    }
}

impl PathContext for Owner {
    fn arrived(&mut self, due: Instant, arrival: &Arrival) {
        let (meta, split, number) = self.packets[arrival.id.index as usize];
        self.told.push(Told::Arrived(number, due, meta.ecn == Ecn::Ce, split));
    }
}

/// A packet of a script: when it is sent, over which of the routes, and what queues know of it.
type Sent = (Instant, usize, Meta);

/// A script of bursts and pauses, both ways, to two servers; many packets at the same instants as each other and as MAPs.
fn script(seed: u64, packets: usize) -> Vec<Sent> {
    let mut stream = Seed(seed).stream("test/script");
    let mut now = Instant::ZERO;
    let below = |stream: &mut RandomStream, limit: u64| stream.bits() % limit;
    (0..packets)
        .map(|_| {
            now += match below(&mut stream, 8) {
                0..5 => Span::ZERO,
                5 => Span::from_us(50) * below(&mut stream, 40),
                6 => Span::from_ps(below(&mut stream, 1_000_000_000)),
                _ => Span::from_us(500) * below(&mut stream, 60),
            };
            let is_ack = below(&mut stream, 4) == 0;
            let meta = Meta {
                length: if is_ack { 52 } else { 28 + u32::try_from(below(&mut stream, 1473)).unwrap() },
                flow_hash: u32::try_from(below(&mut stream, 5)).unwrap() * 0x1357_9bdf,
                mac_overhead: 0,
                dscp: [0, 46, 45][usize::try_from(below(&mut stream, 3)).unwrap()],
                ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][usize::try_from(below(&mut stream, 3)).unwrap()],
                pure_ack: is_ack,
                host: 0,
                queue: ServiceQueue::Classic,
            };
            (now, usize::try_from(below(&mut stream, 4)).unwrap(), meta)
        })
        .collect()
}

/// Adds the access link and the routes to two servers by whatever has these two calls.
macro_rules! build {
    ($network:expr, $link:expr, $conditions:expr, $seed:expr) => {{
        let network = &mut $network;
        let links = Direction::BOTH.map(|direction| {
            let config = ($link, $conditions, $link.framing());
            network.add_link(direction.as_str(), direction, config, Seed($seed))
        });
        let wires = [(1_000, 7), (100, 31)]
            .map(|(mbps, ms)| WireConfig { rate: BitRate::from_mbps(mbps), delay: Span::from_ms(ms) });
        let routes = wires.map(|wire| {
            Direction::BOTH.map(|direction| {
                let over = &links[direction as usize..][..1];
                network.add_route((TrafficId(0), 0), direction, over, wire)
            })
        });
        routes.as_flattened().to_vec()
    }};
}

/// Returns the engine's events for a script.
fn by_engine(link: &LinkConfig, conditions: &[ConditionConfig], seed: u64, script: &[Sent]) -> Vec<Told> {
    let mut network = Network::new(Heard::default(), Interrupt::default());
    let routes = build!(network, link, conditions, seed);
    for (number, (at, ..)) in (0..).zip(script) {
        let event = Event::ApplicationTimer { traffic: 0, token: number };
        network.paths.calendar.schedule(*at, event);
    }
    while let Some((now, event)) = network.paths.calendar.pop_before(Instant::NEVER) {
        match event {
            Event::WireDelivery { wire } => {
                while let Some(arrival) = network.take_from_wire(now, wire) {
                    network.receive(now, &arrival);
                }
            }
            Event::LinkDelivery { link } => {
                while let Some(arrival) = network.take_from_link(now, link) {
                    network.receive(now, &arrival);
                }
            }
            Event::Wakeup { link } => network.on_wakeup(now, link),
            Event::GroupWakeup { group } => network.on_group_wakeup(now, group),
            Event::ApplicationTimer { token, .. } => {
                let (_, route, meta) = script[token as usize];
                let body = Body::Datagram { flow: 0, sequence: token, sent_at: now, tag: None };
                let packet = Packet { meta, body };
                let split = Some(DelaySplit::default());
                network.send(now, routes[route], packet, &SackBlocks::NONE, split);
            }
            Event::EndpointTimer { .. } | Event::Sample => unreachable!("there are no connections"),
        }
    }
    assert_eq!(network.in_flight(), 0);
    network.paths.recorder.0
}

/// Returns a path's events for a script, if it is called this late after each packet.
fn by_path(
    link: &LinkConfig,
    conditions: &[ConditionConfig],
    seed: u64,
    script: &[Sent],
    mut late: impl FnMut() -> Option<Span>,
) -> Vec<Told> {
    let mut path = Path { network: sojourn_link::Network::new(true), context: Owner::default() };
    let routes = build!(path.network, link, conditions, seed);
    for (number, (at, route, meta)) in (0..).zip(script) {
        let index = u32::try_from(path.context.packets.len()).unwrap();
        path.context.packets.push((*meta, DelaySplit::default(), number));
        path.enter(*at, index, routes[*route], *meta);
        // Not beyond the next packet: no call is earlier than the one before.
        let next = script.get(number as usize + 1).map_or(Instant::NEVER, |next| next.0);
        if let Some(span) = late() {
            let until = at.saturating_add(span);
            if until < next {
                path.advance(until);
            }
        }
    }
    path.advance(Instant::NEVER);
    path.context.told
}

/// Each profile of each kind of link that has no fault, and one link of each kind whose profiles leave something to say.
fn links() -> Vec<LinkConfig> {
    let mut links: Vec<LinkConfig> = LinkConfig::kinds()
        .iter()
        .flat_map(|kind| {
            let profiles = kind.info().profiles;
            profiles.into_iter().map(|(name, _)| kind.values(Some(name)))
        })
        .filter(|link| link.problems().is_empty() && link.drain_rate() > BitRate::ZERO)
        .collect();
    links.push(SerialConfig::plain(BitRate::from_mbps(5), Span::from_ms(3)).into());
    let mut member = MemberConfig::BASE;
    member.shaper.sustained = BitRate::from_mbps(5);
    links.push(member.into());
    let mut member = DownstreamMemberConfig::BASE;
    member.shaper.sustained = BitRate::from_mbps(5);
    links.push(member.into());
    let opportunities = Opportunities::new([(3, 1), (4, 2), (20, 9)]).unwrap();
    links.push(TraceConfig::of(opportunities).into());
    links
}

fn managers() -> Vec<ManagerConfig> {
    ManagerConfig::kinds()
        .iter()
        .flat_map(|kind| {
            let profiles = kind.info().profiles;
            let named = profiles.into_iter().map(|(name, _)| kind.values(Some(name)));
            named.chain([kind.values(None)])
        })
        .collect()
}

fn conditions() -> [ConditionConfig; 1] {
    [ConditionConfig {
        loss: Some(0.02),
        duplicate: Some(0.03),
        jitter: Some(Span::from_ms(2)),
        at: Some(Span::ZERO),
        ..ConditionConfig::BASE
    }]
}

#[test]
fn a_path_equals_the_engine_over_every_link_with_every_manager() {
    let mut pairs = 0;
    let mut kinds: Vec<&str> = Vec::new();
    for link in links() {
        for queue in managers() {
            if !queue.problems_on(Some(link.drain_rate())).is_empty() {
                continue;
            }
            let link = LinkConfig { queue, ..link.clone() };
            pairs += 1;
            if !kinds.contains(&link.kind()) {
                kinds.push(link.kind());
            }
            for seed in 1..=3 {
                let script = script(seed, 150);
                let expected = by_engine(&link, &[], seed, &script);
                let found = by_path(&link, &[], seed, &script, || None);
                assert!(found == expected, "{} with {}", link.kind(), link.queue.kind());
            }
        }
    }
    assert_eq!(kinds.len(), LinkConfig::kinds().len(), "{kinds:?}");
    assert!(pairs > 100, "{pairs}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A path gives the same events at the same times, however late it is called, also under conditions.
    #[test]
    fn lateness_does_not_matter_to_a_path(
        link in prop::sample::select(links()),
        queue in prop::sample::select(managers()),
        seed in any::<u64>(),
        under in any::<bool>(),
        lateness in prop::collection::vec(prop::option::of(0_u64..50_000), 150),
    ) {
        prop_assume!(queue.problems_on(Some(link.drain_rate())).is_empty());
        let link = LinkConfig { queue, ..link };
        let conditions = conditions();
        let conditions = if under { &conditions[..] } else { &[] };
        let script = script(seed, 150);
        let expected = by_engine(&link, conditions, seed, &script);
        let mut lateness = lateness.into_iter();
        let late = || lateness.next().flatten().map(Span::from_us);
        let found = by_path(&link, conditions, seed, &script, late);
        prop_assert_eq!(found, expected);
    }
}

/// A script that nothing happens to would prove nothing.
#[test]
fn scripts_are_dropped_marked_and_delivered() {
    let law = CodelLaw { ecn: true, ..CodelLaw::RFC8289 };
    let queue = CodelConfig { law, ..CodelConfig::RFC8289 };
    let link =
        LinkConfig { queue: queue.into(), ..SerialConfig::plain(BitRate::from_mbps(1), Span::from_ms(3)).into() };
    let told = by_path(&link, &conditions(), 1, &script(1, 600), || None);
    let mut counts = PerDirection::<u32>::default();
    let (mut drops, mut marks, mut waits) = (0, 0, 0);
    for one in &told {
        match one {
            Told::Passed(link, ..) => counts[Direction::BOTH[usize::from(link.0)]] += 1,
            Told::Dropped(..) => drops += 1,
            Told::Marked(..) => marks += 1,
            Told::Waits(..) => waits += 1,
            Told::Scored(..) | Told::Arrived(..) => {}
        }
    }
    assert!(counts.upstream > 100 && counts.downstream > 100, "{counts:?}");
    assert!(drops > 5 && marks > 5 && waits > 100, "{drops} {marks} {waits}");
}
