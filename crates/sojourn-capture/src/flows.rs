//! The flows of a capture: packets by interface, addresses, protocol and ports, each with time, length, DSCP and ECN.
//!
//! Source: none. Deviations: later fragments have no ports, so they are a flow of their own.

use crate::frame::{ip_at, is_known};
use crate::headers::{Packet, Transport};
use crate::reader::{Frame, Interface, Problem};
use crate::round_trips::RoundTrips;
use sojourn_base::{Ecn, FlowKey, Span, TimedPacket};
use std::collections::BTreeMap;

/// Packets of a capture at most (specification of captures, 6.2).
pub const MOST_PACKETS: usize = 10_000_000;

/// Flows of a capture at most. chosen: a busy line of a household over a day; more are a scan.
pub const MOST_FLOWS: usize = 100_000;

/// Jump back in time from which the clock was set, and packets are not merely written out of order. chosen: far above what the
/// buffers of several queues of one interface hold back.
pub const STEP_NS: u64 = 100_000_000;

/// Longest capture. chosen: a month, which picoseconds in 64 bits hold.
const LONGEST_NS: u64 = 31 * 86_400 * 1_000_000_000;

#[derive(Clone, Copy, Debug)]
struct Stored {
    at_ns: u64,
    length: u32,
    dscp: u8,
    ecn: Ecn,
}

/// One direction between two ports, at one interface.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Interface of the capture.
    pub interface: u32,
    /// Addresses, protocol, ports.
    pub key: FlowKey,
    /// Bytes of its IP packets.
    pub bytes: u64,
    /// Packets whose stamp is earlier than that of one before.
    pub out_of_order: u64,
    stored: Vec<Stored>,
    round_trips: RoundTrips,
}

impl Flow {
    /// Packets.
    pub const fn len(&self) -> usize {
        self.stored.len()
    }

    /// Never: a flow begins with a packet.
    pub const fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }

    /// Returns the capture time of its first packet, in ns since 1970.
    pub fn first_ns(&self) -> u64 {
        let stamps = self.stored.iter().map(|packet| packet.at_ns);
        stamps.min().unwrap_or_default()
    }

    /// Its packets in the order of their stamps, timed from `origin_ns`, which is not after the first.
    pub fn packets_since(&self, origin_ns: u64) -> Vec<TimedPacket> {
        let mut stored = self.stored.clone();
        if self.out_of_order > 0 {
            stored.sort_by_key(|packet| packet.at_ns);
        }
        let timed = stored.into_iter().map(|packet| TimedPacket {
            at: Span::from_ns(packet.at_ns - origin_ns),
            length: packet.length,
            dscp: packet.dscp,
            ecn: packet.ecn,
        });
        timed.collect()
    }

    /// Returns, for a connection, the capture times of this direction's segments, in ns since 1970, each with the time
    /// to its acknowledgement in ns, if that is known.
    pub fn round_trips(&self) -> &[(u64, u64)] {
        &self.round_trips.samples
    }

    /// Its packets in the order of their stamps, timed from the first.
    pub fn packets(&self) -> Vec<TimedPacket> {
        self.packets_since(self.first_ns())
    }
}

/// All flows of a capture, in the order in which they begin.
#[derive(Clone, Debug, Default)]
pub struct Flows {
    places: BTreeMap<(u32, FlowKey), usize>,
    /// First place of each flow.
    first_places: BTreeMap<FlowKey, usize>,
    all: Vec<Flow>,
    packets: usize,
    first_ns: Option<u64>,
    /// The last stamp of each interface.
    last_ns: BTreeMap<u32, u64>,
    /// How far stamps jump back at most, from one frame of an interface to the next, in ns.
    pub runs_back_ns: u64,
    /// How often they jump back by more than [`STEP_NS`].
    pub steps_back: u64,
    /// Frames that carry no IP packet, or one that cannot be read.
    pub others: u64,
    /// Link layers that are not known, with the number of their frames.
    pub unknown_link_types: BTreeMap<u16, u64>,
}

impl Flows {
    /// Takes a frame in.
    ///
    /// # Errors
    /// If there are too many packets or flows, or times lie too far apart.
    pub fn add(&mut self, interface: &Interface, frame: &Frame<'_>) -> Result<(), Problem> {
        let at = interface.first_of(frame.interface);
        let last = self.last_ns.insert(at, frame.at_ns).unwrap_or(frame.at_ns);
        let back = last.saturating_sub(frame.at_ns);
        self.runs_back_ns = self.runs_back_ns.max(back);
        self.steps_back += u64::from(back > STEP_NS);
        if !is_known(interface.link_type) {
            let count = self.unknown_link_types.entry(interface.link_type).or_default();
            *count += 1;
            return Ok(());
        }
        let packet = ip_at(interface.link_type, frame.bytes).and_then(|at| {
            let on_the_wire = (frame.length as usize).saturating_sub(at);
            Packet::read_cut(&frame.bytes[at..], on_the_wire)
        });
        let Some((packet, length)) = packet.and_then(|packet| {
            let length = u32::try_from(packet.length).ok()?;
            Some((packet, length))
        }) else {
            self.others += 1;
            return Ok(());
        };
        let first_ns = *self.first_ns.get_or_insert(frame.at_ns);
        if frame.at_ns.abs_diff(first_ns) > LONGEST_NS {
            return Err(Problem::new("two packets lie more than a month apart", "a capture of one session"));
        }
        if self.packets >= MOST_PACKETS {
            return Err(Problem::new(format!("has more than {MOST_PACKETS} packets"), SMALLER));
        }
        self.packets += 1;
        let key = (at, packet.flow);
        let place = *self.places.entry(key).or_insert(self.all.len());
        if place == self.all.len() {
            if place >= MOST_FLOWS {
                return Err(Problem::new(format!("has more than {MOST_FLOWS} flows"), SMALLER));
            }
            self.first_places.entry(packet.flow).or_insert(place);
            self.all.push(Flow {
                interface: at,
                key: packet.flow,
                bytes: 0,
                out_of_order: 0,
                stored: Vec::new(),
                round_trips: RoundTrips::default(),
            });
        }
        let flow = &mut self.all[place];
        let last = flow.stored.last();
        flow.out_of_order += u64::from(last.is_some_and(|last| frame.at_ns < last.at_ns));
        flow.bytes += u64::from(length);
        flow.stored.push(Stored { at_ns: frame.at_ns, length, dscp: packet.dscp, ecn: packet.ecn });
        if let Transport::Tcp(header) = packet.transport {
            flow.round_trips.on_sent(frame.at_ns, &header);
            // At the same interface; some captures have one for each direction.
            let sent = packet.flow.reversed();
            let beside = self.places.get(&(at, sent));
            if let Some(place) = beside.or_else(|| self.first_places.get(&sent)) {
                let round_trips = &mut self.all[*place].round_trips;
                round_trips.on_acknowledgement(frame.at_ns, &header);
            }
        }
        Ok(())
    }

    /// The flows, in the order in which they begin.
    pub fn as_slice(&self) -> &[Flow] {
        &self.all
    }

    /// The number of the other direction of a flow, at the same interface.
    pub fn answer_to(&self, flow: &Flow) -> Option<usize> {
        let key = (flow.interface, flow.key.reversed());
        self.places.get(&key).copied()
    }
}

const SMALLER: &str = "a part of it: editcap -r, or tshark -Y FILTER -w";
