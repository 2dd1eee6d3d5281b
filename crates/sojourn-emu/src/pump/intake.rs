//! Intake: turns units into packets of the model, each with its entry, its flow and its far address.

use crate::capture::{Captures, Side};
use crate::classify::{Classifier, Entry};
use crate::emulated::Emulated;
use crate::flows::{Flows, Newcomer};
use crate::frame::{Carries, Frame, Frames};
use crate::headers::{Packet, Transport};
use crate::plan::{ETHERNET_HEADER, FarEnd, Plan, Refusal};
use crate::segment::{Offload, cut};
use sojourn_base::{Address, Bytes, Direction, Ecn, Instant, LinkId, Meta, PerDirection, ServiceQueue, TrafficId};
use sojourn_link::network::HopId;
use sojourn_link::path::{Agenda, Path};
use sojourn_link::wifi::channel::PortSpec;
use sojourn_link::{Network, WireConfig};
use sojourn_queue::FlowFields;
use sojourn_record::{ColumnRecorder, DelaySplit, RecordedLink, Recorder};
use sojourn_scenario::DirectedLink;
use std::collections::VecDeque;
use std::io;

/// Most rows of datagrams (specification of the emulator, section 12).
const MOST_DATAGRAMS: usize = 5_000_000;

/// The model, and what turns units into its packets.
#[derive(Debug)]
pub(super) struct Intake {
    pub(super) path: Path<Emulated>,
    classifier: Classifier,
    far: Vec<FarEnd>,
    /// First hops to and from each far address, by the station that packets pass: the last ones are of those that pass none.
    pub(super) routes: Vec<Vec<PerDirection<HopId>>>,
    /// Place among these of each traffic entry.
    pub(super) ways: Vec<usize>,
    pub(super) link_header: usize,
    overhead: u32,
    /// Fields that identify a flow for the queue of each direction.
    fields: PerDirection<FlowFields>,
    pub(super) captures: Option<Captures>,
    /// Why they have ended, if they could not be written.
    pub(super) capture_failed: Option<io::Error>,
}

/// Adds both directions of each of the stations, and their channels. Returns the links of each.
fn add_channels(plan: &Plan, stations: &[(usize, usize)], network: &mut Network) -> Vec<[LinkId; 2]> {
    let mut members: Vec<[LinkId; 2]> = Vec::new();
    for (number, channel) in plan.wifi.iter().enumerate() {
        let (mut ports, mut links) = (Vec::new(), Vec::new());
        for &(_, station) in stations.iter().filter(|it| it.0 == number) {
            let of_station = &channel.stations[station];
            let name = channel.path_of(of_station);
            members.push(Direction::BOTH.map(|direction| {
                let directed = &of_station.links[direction];
                let config = (&directed.link, &directed.conditions[..], directed.framing);
                let link = network.add_link(&format!("{name}/{}", direction.as_str()), direction, config, plan.seed);
                ports.push(PortSpec { station, direction, queue: &directed.link.queue });
                links.push(link);
                link
            }));
        }
        if !links.is_empty() {
            network.add_wifi(&channel.name, &channel.spec(ports), &links, plan.seed);
        }
    }
    members
}

impl Intake {
    /// An idle network of links and wires.
    ///
    /// # Errors
    /// As [`Plan::check`].
    pub(super) fn new(plan: &Plan) -> Result<Self, Refusal> {
        let slots = plan.check()?;
        let classifier = Classifier::new(&plan.entries);
        let recorded = |name: String, is_access: bool, link: &DirectedLink| RecordedLink {
            name,
            is_access,
            has_service_queues: link.link.queue.has_service_queues(),
            latency_histogram: link.latency_histogram.clone(),
        };
        let access =
            Direction::BOTH.map(|direction| recorded(direction.as_str().to_owned(), true, &plan.access[direction]));
        let stations = plan.stations();
        let station = |&(channel, station): &(usize, usize)| {
            let channel = &plan.wifi[channel];
            (channel.path_of(&channel.stations[station]), &channel.stations[station])
        };
        let hops = stations.iter().map(station).flat_map(|(name, station)| {
            Direction::BOTH
                .map(|direction| recorded(format!("{name}/{}", direction.as_str()), false, &station.links[direction]))
        });
        let links: Vec<RecordedLink> = access.into_iter().chain(hops).collect();
        let names = classifier.names();
        let entries = names.len();
        let recorder = ColumnRecorder::over(plan.record, links, names).with_most_datagrams(MOST_DATAGRAMS);
        let mut network = Network::new(true);
        let access = Direction::BOTH.map(|direction| {
            let link = &plan.access[direction];
            let config = (&link.link, &link.conditions[..], link.framing);
            network.add_link(direction.as_str(), direction, config, plan.seed)
        });
        let members = add_channels(plan, &stations, &mut network);
        let propagation = plan.access.upstream.propagation() + plan.access.downstream.propagation();
        let routes = plan.far.iter().map(|far| {
            let wire = WireConfig { rate: far.line_rate, delay: far.wire_delay(propagation) };
            let mut route = |direction: Direction, station: Option<&[LinkId; 2]>| {
                let link = access[direction as usize];
                let hop = station.map(|members| members[direction as usize]);
                let links: Vec<LinkId> = match direction {
                    Direction::Upstream => hop.into_iter().chain([link]).collect(),
                    Direction::Downstream => [link].into_iter().chain(hop).collect(),
                };
                network.add_route((TrafficId(0), 0), direction, &links, wire)
            };
            let both = members.iter().map(Some).chain([None]).map(|station| PerDirection {
                upstream: route(Direction::Upstream, station),
                downstream: route(Direction::Downstream, station),
            });
            both.collect()
        });
        let routes = routes.collect();
        let place = |entry: &Entry| entry.via.and_then(|via| stations.iter().position(|it| *it == via));
        let mut ways: Vec<usize> = plan.entries.iter().map(|entry| place(entry).unwrap_or(stations.len())).collect();
        ways.resize(entries, stations.len());
        let [.., a, b, c, d] = plan.seed.stream("flow_hash").bits().to_be_bytes();
        let fields = |direction| {
            let queue = &plan.access[direction].link.queue;
            queue.flow_fields().unwrap_or(FlowFields::BASE)
        };
        let longest = usize::try_from(plan.mtu.0).expect("an MTU is at most 9000 B");
        let context = Emulated {
            agenda: Agenda::default(),
            frames: Frames::new(slots, longest, plan.link_header),
            flows: Flows::new(entries, u32::from_be_bytes([a, b, c, d])),
            records_delays: recorder.wants_delays(),
            recorder,
            due: VecDeque::with_capacity(slots.min(1 << 16)),
            counted: PerDirection::default(),
            refused: 0,
        };
        Ok(Self {
            path: Path { network, context },
            classifier,
            far: plan.far.clone(),
            routes,
            ways,
            link_header: plan.link_header,
            fields: PerDirection { upstream: fields(Direction::Upstream), downstream: fields(Direction::Downstream) },
            overhead: u32::try_from(plan.overhead.0).expect("an overhead is a few bytes"),
            captures: None,
            capture_failed: None,
        })
    }

    /// A unit has come: its packets enter the model, all at the same time. Returns how many found no room.
    pub(super) fn take_in(&mut self, now: Instant, direction: Direction, offload: Offload, unit: &[u8]) -> u64 {
        let mut refused = 0;
        cut(unit, offload, self.link_header, |offload, headers, payload| {
            refused += u64::from(self.enter(now, direction, offload, [headers, payload]).is_none());
        });
        refused
    }

    /// A packet enters; `None` if there is no room for it.
    fn enter(&mut self, now: Instant, direction: Direction, offload: Offload, parts: [&[u8]; 2]) -> Option<()> {
        let length = parts[0].len() + parts[1].len();
        let frame = Frame {
            meta: Meta::default(),
            offload,
            length,
            direction,
            traffic: TrafficId(0),
            entered_at: now,
            carries: Carries::Segment { payload: 0, flow: None },
            split: DelaySplit::default(),
        };
        let context = &mut self.path.context;
        let slot = context.frames.insert(frame, parts)?;
        self.capture(now, Side::Entered, slot);
        let bytes = self.path.context.frames.bytes(slot);
        let packet = ip_of(bytes, self.link_header).and_then(Packet::read);
        let far = packet.as_ref().map_or(0, |packet| self.far_of(packet, direction));
        let traffic = self.classifier.traffic_of(packet.as_ref(), far);
        let fields = self.fields[direction];
        let context = &mut self.path.context;
        let meta = match &packet {
            Some(packet) => Meta {
                length: u32::try_from(packet.length).expect("16 bits and a header") + self.overhead,
                flow_hash: context.flows.hash(&fields.of(packet.flow)),
                mac_overhead: 0,
                dscp: packet.dscp,
                ecn: packet.ecn,
                pure_ack: packet.is_pure_ack(),
                host: 0,
                queue: ServiceQueue::Classic,
            },
            None => Meta {
                length: u32::try_from(length.saturating_sub(self.link_header)).ok()? + self.overhead,
                ecn: Ecn::NotEct,
                ..Meta::default()
            },
        };
        let newcomer = Newcomer { now, direction, traffic, far };
        let carries = self.carries(packet.as_ref(), &meta, newcomer);
        let context = &mut self.path.context;
        let frame = context.frames.get_mut(slot);
        (frame.meta, frame.traffic, frame.carries) = (meta, traffic, carries);
        context.on_entered(traffic, direction, meta.length);
        let first = self.routes[far][self.ways[usize::from(traffic.0)]][direction];
        self.path.enter(now, slot, first, meta);
        Some(())
    }

    /// Writes the packet of a slot to its capture, if there are captures.
    pub(super) fn capture(&mut self, at: Instant, side: Side, slot: u32) {
        let Some(captures) = &mut self.captures else {
            return;
        };
        let frames = &self.path.context.frames;
        let frame = frames.get(slot);
        let packet = (frame.offload, frames.bytes(slot));
        let written = captures.write(frame.direction, side, at, packet);
        self.capture_failed = self.capture_failed.take().or(written.err());
    }

    /// The far address of a packet: that it goes to, or comes from.
    fn far_of(&self, packet: &Packet, direction: Direction) -> usize {
        let address = match direction {
            Direction::Upstream => packet.flow.destination,
            Direction::Downstream => packet.flow.source,
        };
        let is_it = |far: &FarEnd| match address {
            Address::V4(word) => word == far.v4.to_bits(),
            Address::V6(bits) => bits == far.v6.to_bits(),
        };
        self.far.iter().position(is_it).unwrap_or(0)
    }

    /// Returns the payload of a packet, and counts it for its flow.
    fn carries(&mut self, packet: Option<&Packet>, meta: &Meta, newcomer: Newcomer) -> Carries {
        let context = &mut self.path.context;
        let Some(packet) = packet else {
            return Carries::Datagram { flow: 0, sequence: 0 };
        };
        let hash = match self.fields[newcomer.direction] {
            FlowFields::Five => meta.flow_hash,
            FlowFields::Three => context.flows.hash(&packet.flow),
        };
        let flow = context.flows.of(packet, hash, newcomer);
        let mut sequence = 0;
        let mut number = 0;
        if let Some(flow) = flow {
            let seen = &mut context.flows.seen[flow as usize];
            (sequence, number) = (seen.packets, seen.number);
            seen.packets = seen.packets.wrapping_add(1);
            seen.bytes += Bytes(meta.length.into());
        }
        let Transport::Tcp(header) = packet.transport else {
            return Carries::Datagram { flow: number, sequence };
        };
        if let Some(flow) = flow
            && let Some((traffic, bytes)) = context.flows.on_segment(flow, newcomer.now, &header)
            && bytes > 0
        {
            let direction = newcomer.direction.reversed();
            context.recorder.on_goodput(traffic, direction, Bytes(bytes));
        }
        Carries::Segment { payload: header.payload, flow }
    }
}

/// The IP packet in a frame, if it holds one: behind an Ethernet header, by its type (IEEE 802.3, RFC 894, RFC 2464).
pub(super) fn ip_of(frame: &[u8], link_header: usize) -> Option<&[u8]> {
    if link_header == ETHERNET_HEADER {
        let is_ip = matches!(frame.get(12..14)?, [0x08, 0x00] | [0x86, 0xdd]);
        return is_ip.then(|| &frame[ETHERNET_HEADER..]);
    }
    frame.get(link_header..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_interfaces_only_frames_of_ip_are_read_as_packets() {
        let mut frame = [0x45; 60];
        for (kind, is_ip) in [
            ([0x08, 0x00], true),
            ([0x86, 0xdd], true),
            ([0x08, 0x06], false), // ARP
            ([0x88, 0x64], false), // PPPoE
        ] {
            frame[12..14].copy_from_slice(&kind);
            assert_eq!(ip_of(&frame, ETHERNET_HEADER).is_some(), is_ip);
        }
        assert_eq!(ip_of(&frame[..13], ETHERNET_HEADER), None);
        assert_eq!(ip_of(&frame, 0).map(<[u8]>::len), Some(60));
    }
}
