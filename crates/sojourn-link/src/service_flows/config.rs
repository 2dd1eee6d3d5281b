//! Rules and service flows as files spell them, and what is wrong with them.

use crate::config::keys::HIGHEST_RATE;
use crate::config::{CascadeConfig, ShapedConfig, ShaperConfig, SingleQueueConfig};
use crate::docsis31::config::{DownstreamConfig, Service, UpstreamConfig};
use crate::docsis31::proactive::{PROACTIVE, ProactiveConfig};
use crate::group::{DownstreamMemberConfig, MemberConfig};
use crate::kind::{LinkConfig, LinkParameters};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::net::IpAddr;
use sojourn_base::native::IN_TAB;
use sojourn_base::{Address, BitRate, Bytes, Ecn};
use sojourn_keys::{
    Content, ItemsOf, Key, Mismatch, OneOf, Shape, Value, Visitor, key, origin, parameters, rate_or, words,
};
use sojourn_queue::{DropTailConfig, ManagerConfig};

/// Target of packets of the link's own service flow.
pub const CLASSIC: &str = "classic";
/// Target of packets of its low-latency queue.
pub const LOW_LATENCY: &str = "low-latency";

/// The name of the link's own aggregate.
const OWN: &str = "own";

/// Most rules of a link. Source: DOCS-IETF-QOS-MIB, a classifier reference has one octet.
const MOST_RULES: &str = "255";
/// The longest packet in an Ethernet frame, with a tag. Source: White 2012 §3.1.1, the peak burst.
const FULL_PACKET: Bytes = Bytes(1_522);
/// Most service flows beside the first. chosen: as many as cable modems commonly have.
const MOST_FLOWS: &str = "16";

const SERVICE_FLOWS: Key = key(
    "service_flow",
    "service flows of the modem beside its first one, each with a queue of its own; classifiers name them",
    "White 2019 §2.1: none",
)
.most(MOST_FLOWS);
const AGGREGATES: Key = key(
    "aggregate",
    "aggregates of service flows beside the link's own one, each with a rate of its own; service flows name them",
    "White 2019 §2.1: none",
)
.most(MOST_FLOWS);
const CLASSIFIERS: Key = key(
    "classifier",
    "which packets go to which queue or service flow; what none matches goes where it would without them",
    "White 2019 §2.2: those of the queue manager alone",
)
.most(MOST_RULES);
const MARKINGS: Key = key(
    "marking",
    "which packets get another code point before they are classified: cleared, or marked on behalf of applications",
    "White 2019 §5.2: none",
)
.most(MOST_RULES);

words! {
    /// The protocol that a rule wants.
    pub enum Protocol {
        /// whichever
        Any = "any",
        /// TCP
        Tcp = "tcp",
        /// UDP, QUIC among it
        Udp = "udp",
        /// TCP or UDP
        TcpOrUdp = "tcp-or-udp",
        /// ICMP of either version
        Icmp = "icmp",
    }
}

impl Protocol {
    /// Returns true if it is the protocol of this number.
    pub(super) const fn is(self, number: u8) -> bool {
        match self {
            Self::Any => true,
            Self::Tcp => number == 6,
            Self::Udp => number == 17,
            Self::TcpOrUdp => number == 6 || number == 17,
            Self::Icmp => number == 1 || number == 58,
        }
    }
}

/// Addresses that begin alike, such as `203.0.113.0/24`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    /// Its bits from the most significant on; of IPv4 the first 32.
    bits: u128,
    is_v6: bool,
    length: u8,
}

impl Prefix {
    /// Returns true if an address has this prefix.
    pub fn contains(&self, address: Address) -> bool {
        let (bits, is_v6) = match address {
            Address::V4(word) => (u128::from(word) << 96, false),
            Address::V6(bits) => (bits, true),
        };
        let mask = u128::MAX.checked_shl(128 - u32::from(self.length)).unwrap_or(0);
        is_v6 == self.is_v6 && (bits ^ self.bits) & mask == 0
    }

    fn parse(text: &str) -> Option<Self> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let (bits, is_v6, most) = match address.parse().ok()? {
            IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, false, 32),
            IpAddr::V6(address) => (address.to_bits(), true, 128),
        };
        let length = match length {
            Some(text) => text.parse().ok().filter(|length| *length <= most)?,
            None => most,
        };
        Some(Self { bits, is_v6, length })
    }
}

/// A text such as `"203.0.113.0/24"`.
impl Value for Prefix {
    fn read(&mut self, content: &Content, _key: &Key) -> Result<(), Mismatch> {
        let parsed = match content {
            Content::Text(text) => Self::parse(text),
            _ => None,
        };
        *self = parsed.ok_or_else(|| {
            Mismatch::new(
                "no address, and no beginning of addresses",
                "\"203.0.113.7\", \"203.0.113.0/24\" or \"2001:db8::/32\"",
            )
        })?;
        Ok(())
    }

    fn print(&self) -> String {
        let address = if self.is_v6 {
            IpAddr::V6(self.bits.into())
        } else {
            let word = u32::try_from(self.bits >> 96).unwrap_or_default();
            IpAddr::V4(word.into())
        };
        format!("\"{address}/{}\"", self.length)
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}

parameters! {
    /// Fields that a packet must have for a rule; absent ones match any. Both directions are seen as packets go:
    /// upstream the subscriber is the source.
    pub struct PacketMatch {
        /// rules of higher priority are tried first, among equals the first
        priority: u32 = 0, origin("DOCS-IETF-QOS-MIB: 0").most("255"), if |it| it.priority > 0;
        /// the protocol
        protocol: Protocol = Protocol::Any, origin("chosen: any"), if |it| it.protocol != Protocol::Any;
        /// how the source's address begins
        source: Option<Prefix> = None, origin("chosen: any").or("any"), if |it| it.source.is_some();
        /// how the destination's address begins
        destination: Option<Prefix> = None, origin("chosen: any").or("any"), if |it| it.destination.is_some();
        /// the source's port, or the first and the last one
        source_port: Vec<u16> = Vec::new(), origin("chosen: any").one_or_many(), if |it| !it.source_port.is_empty();
        /// the destination's port, or the first and the last one
        destination_port: Vec<u16> = Vec::new(), origin("chosen: any").one_or_many(),
            if |it| !it.destination_port.is_empty();
        /// the code point, or one of several
        dscp: Vec<u8> = Vec::new(), origin("chosen: any").one_or_many().most("63"), if |it| !it.dscp.is_empty();
        /// the ECN field, or one of several
        ecn: Vec<Ecn> = Vec::new(), origin("chosen: any").one_or_many(), if |it| !it.ecn.is_empty();
        /// the octet of code point and ECN field, as low, high and mask: low <= octet AND mask <= high
        tos: Vec<u8> = Vec::new(), origin("DOCS-IETF-QOS-MIB: any").one_or_many(), if |it| !it.tos.is_empty();
    }
}

parameters! {
    /// A classifier: which packets go where.
    pub struct ClassifierConfig by blank {
        packets: PacketMatch = PacketMatch::BASE;
        /// "classic" or "low-latency" of the link's own queue, the name of a service flow, or "name/low-latency" of one with two queues
        to: String = String::new(), origin("no default").required("\"low-latency\"");
    }
}

parameters! {
    /// A marking: which packets get another code point.
    pub struct MarkingConfig {
        packets: PacketMatch = PacketMatch::BASE;
        /// the code point that they get; the ECN field stays
        set_dscp: u8 = 0, origin("White 2019 §5.2: cleared").most("63");
    }
}

parameters! {
    /// A service flow beside the first.
    pub struct ServiceFlowConfig by blank {
        /// what classifiers call it; unique
        name: String = String::new(), origin("no default").required("\"voice\"");
        /// its maximum sustained rate
        rate: BitRate = BitRate::ZERO,
            origin("White 2019 §2.1: flows of an aggregate have none").or("unlimited").least("1 b/s").most(HIGHEST_RATE)
            => rate_or;
        /// depth of the bucket of that rate
        burst: Bytes = Bytes(3_044), origin("DOCS-IETF-QOS-MIB").least("1 B").most("1000 GB");
        /// it is a member of an aggregate, whose rate holds for all members together; if not, its own rate holds for it alone
        member: bool = true, origin("White 2019 §2.1; DOCSIS 3.0 has no aggregates: false there");
        /// the name of its aggregate; "own" is the link's own
        aggregate: String = String::from(OWN), origin("White 2019 §2.1: the link's own"), if |it| it.aggregate != OWN;
        /// traffic priority: of members that want more than there is, those of a higher one come first, equals share evenly
        traffic_priority: u32 = 0, origin("DOCS-IETF-QOS-MIB: 0").most("7");
        proactive: ProactiveConfig = ProactiveConfig::None, PROACTIVE, if |it| it.proactive != ProactiveConfig::None;
        queue: ManagerConfig = DropTailConfig::bytes(0).into(), QUEUE => queue_of;
    }
}

parameters! {
    /// An aggregate of service flows beside the link's own one.
    pub struct AggregateConfig by blank {
        /// what service flows call it; unique
        name: String = String::new(), origin("no default").required("\"business\"");
        /// aggregate maximum sustained rate
        rate: BitRate = BitRate::ZERO, origin("no default: it is the tier").required("\"5 Mb/s\"").least("1 b/s").most(HIGHEST_RATE);
        /// depth of the bucket of that rate
        burst: Bytes = Bytes(3_044), origin("DOCS-IETF-QOS-MIB").least("1 B").most("1000 GB");
        /// peak rate of all members together
        peak: BitRate = BitRate::ZERO,
            origin("DOCSIS MULPI annex C: none").or("unlimited").least("1 b/s").most(HIGHEST_RATE) => rate_or;
    }
}

const QUEUE: Key = key(
    "queue",
    "the manager of its queue; one with a classic and a low-latency queue makes it a pair of flows",
    "no default",
)
.required("{ kind = \"docsis-pie\", limit = \"100 ms\" }");

fn queue_of(key: Key, queue: &mut ManagerConfig, visitor: &mut dyn Visitor) {
    let kinds = ManagerConfig::kinds();
    visitor.choice(key, &mut OneOf::among(queue, kinds, |queue| queue.kind()));
}

/// Service flows of a modem beside its first one, and rules; empty of most links.
#[derive(Debug, Default)]
pub struct FlowsConfig {
    /// Service flows beside the first.
    pub service_flows: Vec<ServiceFlowConfig>,
    /// Aggregates beside that of the link.
    pub aggregates: Vec<AggregateConfig>,
    /// Which packets go where.
    pub classifiers: Vec<ClassifierConfig>,
    /// Which packets get another code point, before that.
    pub markings: Vec<MarkingConfig>,
}

// Not derived: most links have none, and an engine for browser tabs leaves the rest out.
impl Clone for FlowsConfig {
    fn clone(&self) -> Self {
        if self.is_empty() {
            return Self::NONE;
        }
        Self {
            service_flows: self.service_flows.clone(),
            aggregates: self.aggregates.clone(),
            classifiers: self.classifiers.clone(),
            markings: self.markings.clone(),
        }
    }
}

impl PartialEq for FlowsConfig {
    fn eq(&self, other: &Self) -> bool {
        self.is_empty() && other.is_empty()
            || self.service_flows == other.service_flows
                && self.aggregates == other.aggregates
                && self.classifiers == other.classifiers
                && self.markings == other.markings
    }
}

impl FlowsConfig {
    /// A link without rules and further service flows.
    pub const NONE: Self =
        Self { service_flows: Vec::new(), aggregates: Vec::new(), classifiers: Vec::new(), markings: Vec::new() };

    /// There are none.
    pub const fn is_empty(&self) -> bool {
        IN_TAB
            || (self.service_flows.is_empty()
                && self.aggregates.is_empty()
                && self.classifiers.is_empty()
                && self.markings.is_empty())
    }

    /// Shows the lists of a link.
    pub fn keys(&mut self, visitor: &mut dyn Visitor) {
        if IN_TAB {
            return;
        }
        let shown = |is_empty: bool, key: &Key, visitor: &dyn Visitor| {
            !is_empty || visitor.has(key.name) || visitor.is_exhaustive()
        };
        if shown(self.service_flows.is_empty(), &SERVICE_FLOWS, visitor) {
            let mut items = ItemsOf {
                items: &mut self.service_flows,
                base: ServiceFlowConfig::blank,
                keys: ServiceFlowConfig::keys,
            };
            visitor.items(SERVICE_FLOWS, &mut items);
        }
        if shown(self.aggregates.is_empty(), &AGGREGATES, visitor) {
            let mut items =
                ItemsOf { items: &mut self.aggregates, base: AggregateConfig::blank, keys: AggregateConfig::keys };
            visitor.items(AGGREGATES, &mut items);
        }
        if shown(self.classifiers.is_empty(), &CLASSIFIERS, visitor) {
            let mut items =
                ItemsOf { items: &mut self.classifiers, base: ClassifierConfig::blank, keys: ClassifierConfig::keys };
            visitor.items(CLASSIFIERS, &mut items);
        }
        if shown(self.markings.is_empty(), &MARKINGS, visitor) {
            let mut items =
                ItemsOf { items: &mut self.markings, base: || MarkingConfig::BASE, keys: MarkingConfig::keys };
            visitor.items(MARKINGS, &mut items);
        }
    }

    /// Number of the service flow that a classifier names, from 0 for the link's own, and whether it names its
    /// low-latency or its classic queue.
    pub(super) fn target(&self, to: &str) -> Option<(usize, Option<&'static str>)> {
        match to {
            CLASSIC => return Some((0, Some(CLASSIC))),
            LOW_LATENCY => return Some((0, Some(LOW_LATENCY))),
            _ => {}
        }
        let (name, queue) = match to.rsplit_once('/') {
            Some((name, CLASSIC)) => (name, Some(CLASSIC)),
            Some((name, LOW_LATENCY)) => (name, Some(LOW_LATENCY)),
            _ => (to, None),
        };
        let place = self.service_flows.iter().position(|flow| flow.name == name)?;
        Some((place + 1, queue))
    }

    /// Number of the aggregate whose rate a service flow shares, from 0 for the link's own; `None` if it is in none or in an
    /// unknown one.
    pub(super) fn aggregate_of(&self, flow: &ServiceFlowConfig) -> Option<usize> {
        if !flow.member || flow.aggregate == OWN {
            return flow.member.then_some(0);
        }
        let place = self.aggregates.iter().position(|aggregate| aggregate.name == flow.aggregate)?;
        Some(place + 1)
    }

    /// Returns errors of the rules on a link: path below the link's table, and message.
    pub fn problems(&self, link: &LinkConfig) -> Vec<(String, Mismatch)> {
        let mut found = Vec::new();
        self.flow_problems(link, &mut found);
        for (index, rule) in self.classifiers.iter().enumerate() {
            let place = format!("classifier[{index}]");
            rule.packets.problems(&place, &mut found);
            self.target_problem(link, &place, &rule.to, &mut found);
        }
        for (index, rule) in self.markings.iter().enumerate() {
            rule.packets.problems(&format!("marking[{index}]"), &mut found);
        }
        found
    }

    fn target_problem(&self, link: &LinkConfig, place: &str, to: &str, found: &mut Vec<(String, Mismatch)>) {
        let Some((flow, queue)) = self.target(to) else {
            let names = self.service_flows.iter().map(|flow| flow.name.as_str());
            let mismatch = sojourn_keys::value::unknown_word(
                to,
                [CLASSIC, LOW_LATENCY].into_iter().chain(names).collect::<Vec<_>>().into_iter(),
            );
            found.push((format!("{place}.to"), mismatch));
            return;
        };
        let manager = match flow.checked_sub(1) {
            None => &link.queue,
            Some(flow) => &self.service_flows[flow].queue,
        };
        if queue == Some(LOW_LATENCY) && !is_pair(manager) {
            found.push((
                format!("{place}.to"),
                Mismatch::new(
                    format!("a queue of kind {} has no low-latency queue", manager.kind()),
                    "a queue of kind docsis-dual-queue or dualpi2, or another flow",
                ),
            ));
        }
    }

    fn flow_problems(&self, link: &LinkConfig, found: &mut Vec<(String, Mismatch)>) {
        let is_docsis31 = has_aggregates(link);
        for (index, aggregate) in self.aggregates.iter().enumerate() {
            let is_known = self.aggregates[..index].iter().any(|other| other.name == aggregate.name);
            let has_members = self.service_flows.iter().any(|flow| flow.member && flow.aggregate == aggregate.name);
            let name = sojourn_keys::value::quoted(&aggregate.name);
            let (message, hint) = if !is_docsis31 {
                (format!("a link of kind {} has no aggregates", link.kind()), "a link of DOCSIS 3.1")
            } else if is_known || aggregate.name == OWN {
                (format!("{name} cannot be the name here"), "a name of its own, other than own")
            } else if !has_members {
                (format!("no service flow is a member of {name}"), "a [[service_flow]] with this `aggregate`")
            } else {
                continue;
            };
            found.push((format!("aggregate[{index}].name"), Mismatch::new(message, hint)));
        }
        for (index, flow) in self.service_flows.iter().enumerate() {
            let place = format!("service_flow[{index}]");
            let mut tell = |key: &str, message: String, hint: &str| {
                found.push((format!("{place}.{key}"), Mismatch::new(message, hint)));
            };
            let Some(own) = flow.as_link(link, self) else {
                tell(
                    "name",
                    format!("a link of kind {} has one service flow", link.kind()),
                    "a link of DOCSIS, or of kind shaped",
                );
                continue;
            };
            let is_known = self.service_flows[..index].iter().any(|other| other.name == flow.name);
            let means_another = [CLASSIC, LOW_LATENCY].contains(&flow.name.as_str()) || flow.name.contains('/');
            if is_known || means_another {
                tell(
                    "name",
                    format!("{} cannot be the name here", sojourn_keys::value::quoted(&flow.name)),
                    "a name of its own without a slash, other than classic and low-latency",
                );
            }
            if flow.member && !is_docsis31 {
                tell(
                    "member",
                    format!("a link of kind {} has no aggregate that a service flow could be a member of", link.kind()),
                    "member = false, and a `rate` of its own",
                );
                continue;
            }
            if flow.aggregate != OWN && self.aggregate_of(flow).is_none() {
                tell(
                    "aggregate",
                    format!("there is no aggregate {}", sojourn_keys::value::quoted(&flow.aggregate)),
                    "the name of an [[aggregate]], and member = true",
                );
                continue;
            }
            if flow.member && flow.rate > BitRate::ZERO && is_pair(&flow.queue) {
                tell(
                    "rate",
                    "a pair of flows inside the aggregate has no rate of its own".to_owned(),
                    "leave it out, or member = false",
                );
            }
            if !flow.member && flow.rate == BitRate::ZERO {
                tell(
                    "rate",
                    "a service flow outside the aggregate has no rate".to_owned(),
                    "rate = \"5 Mb/s\", or member = true",
                );
            }
            let has_grants = link.link.get::<UpstreamConfig>().is_some() || link.link.get::<MemberConfig>().is_some();
            if flow.proactive != ProactiveConfig::None && !has_grants {
                tell(
                    "proactive",
                    format!("a link of kind {} has no grants that are not asked for", link.kind()),
                    "a link of kind docsis31-upstream",
                );
            }
            if let Some((key, depth)) = own.bucket().filter(|(_, depth)| *depth < FULL_PACKET) {
                tell(
                    key,
                    format!("packets of full size ({FULL_PACKET}) never fit into a bucket of {depth}"),
                    "at least \"1522 B\"",
                );
            }
            // What else is wrong is wrong with the first flow, too.
            let mut problems = Vec::new();
            own.collect_problems(&mut problems);
            let of_flow = |field: &str| field == "burst" || field.starts_with("proactive");
            for problem in problems.into_iter().filter(|problem| of_flow(problem.field)) {
                let path = format!("{place}.{}", problem.field);
                found.push((path, Mismatch::new(problem.message, problem.hint)));
            }
            let queue = flow.queue.problems_on(Some(flow.drain_rate(&own))).into_iter();
            found.extend(queue.map(|(key, mismatch)| (format!("{place}.queue.{key}"), mismatch)));
        }
    }
}

/// Returns true of a link whose service flows may share a rate.
fn has_aggregates(link: &LinkConfig) -> bool {
    link.link.get::<UpstreamConfig>().is_some() || link.link.get::<DownstreamConfig>().is_some()
}

/// Returns true if a manager has a classic and a low-latency queue.
pub(super) fn is_pair(manager: &ManagerConfig) -> bool {
    manager.obeys_classifiers()
}

impl ServiceFlowConfig {
    /// The service flow as a link of its own on the channel of `first`, with the rate of its aggregate if it is a member of
    /// one; `None` if links of this kind have one service flow.
    pub(super) fn as_link(&self, first: &LinkConfig, flows: &FlowsConfig) -> Option<LinkParameters> {
        let named = flows.aggregate_of(self).and_then(|number| flows.aggregates.get(number.checked_sub(1)?));
        let own = named.map_or((self.rate, self.burst, BitRate::ZERO), |it| (it.rate, it.burst, it.peak));
        let joins_first = self.member && named.is_none();
        if let Some(first) = first.link.get::<UpstreamConfig>() {
            let (rate, burst, peak) = if joins_first { (first.rate, first.burst, first.peak) } else { own };
            let is_own = self.member && self.rate > BitRate::ZERO;
            let config = UpstreamConfig {
                rate,
                burst,
                peak,
                service: if is_pair(&self.queue) { Service::LowLatency } else { Service::Single },
                classic_rate: if is_own { self.rate } else { BitRate::ZERO },
                low_latency_rate: BitRate::ZERO,
                proactive: self.proactive,
                ..first.clone()
            };
            return Some(config.into());
        }
        if let Some(first) = first.link.get::<DownstreamConfig>() {
            let (rate, burst, peak) = if joins_first { (first.rate, first.burst, first.peak) } else { own };
            return Some(DownstreamConfig { rate, burst, peak, ..first.clone() }.into());
        }
        let shaper = ShaperConfig { sustained: self.rate, burst: self.burst, ..ShaperConfig::BASE };
        if let Some(first) = first.link.get::<MemberConfig>() {
            let service = if is_pair(&self.queue) { Service::LowLatency } else { Service::Single };
            let (priority, proactive) = (self.traffic_priority, self.proactive);
            let reserved = BitRate::ZERO;
            return Some(MemberConfig { shaper, priority, reserved, service, proactive, ..*first }.into());
        }
        if let Some(first) = first.link.get::<DownstreamMemberConfig>() {
            return Some(DownstreamMemberConfig { shaper, priority: self.traffic_priority, ..*first }.into());
        }
        if let Some(first) = first.link.get::<CascadeConfig>() {
            return Some(CascadeConfig { shaper, ..first.clone() }.into());
        }
        if let Some(first) = first.link.get::<SingleQueueConfig>() {
            return Some(SingleQueueConfig { shaper, ..first.clone() }.into());
        }
        let first = first.link.get::<ShapedConfig>()?;
        Some(ShapedConfig { shaper, ..*first }.into())
    }

    /// The rate at which its queue drains: its own, or that of `link`, which is [`ServiceFlowConfig::as_link`].
    pub(super) fn drain_rate(&self, link: &LinkParameters) -> BitRate {
        if self.rate > BitRate::ZERO { self.rate } else { link.drain_rate() }
    }

    /// Its own rate and burst, as a member of an aggregate.
    pub(super) fn own(&self) -> Option<(BitRate, Bytes)> {
        (self.member && self.rate > BitRate::ZERO).then_some((self.rate, self.burst))
    }
}

impl PacketMatch {
    fn problems(&self, place: &str, found: &mut Vec<(String, Mismatch)>) {
        for (key, ports) in [("source_port", &self.source_port), ("destination_port", &self.destination_port)] {
            let is_range = matches!(ports[..], [] | [_]) || matches!(ports[..], [a, b] if a <= b);
            if !is_range {
                found.push((
                    format!("{place}.{key}"),
                    Mismatch::new(
                        format!("{} numbers are no range of ports", ports.len()),
                        "one port, or the first and the last: [5000, 5010]",
                    ),
                ));
            }
        }
        let is_tos = matches!(self.tos[..], []) || matches!(self.tos[..], [low, high, _] if low <= high);
        if !is_tos {
            found.push((
                format!("{place}.tos"),
                Mismatch::new("no low, high and mask", "three numbers: [1, 1, 1] are ECT(1) and CE"),
            ));
        }
    }
}
