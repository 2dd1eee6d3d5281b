//! Records of a run: the [`Recorder`] that the engine calls, and the column tables it fills.
//!
//! The engine is generic over its recorder and every method has an empty default body, so a run without
//! records pays nothing. [`ColumnRecorder`] keeps the tables that a [`RecordConfig`] asks for;
//! [`Table`]s are declared once in [`schema`] (name, type, unit, meaning), and that declaration is
//! what Python and the documentation see.
#![forbid(unsafe_code)]

mod accumulate;
mod column_recorder;
mod config;
mod latency_histogram;
mod losses;
mod packet;
mod pair;
mod protection;
mod round_trips;
pub mod schema;
mod series;
mod signals;
mod table;
mod tally;

pub use accumulate::{COUNTED_AND_TABLE, DelayHistogram, HISTOGRAM_BYTES, TrafficCounters};
pub use column_recorder::{ColumnRecorder, LinkTotals, RecordedLink, Records};
pub use config::RecordConfig;
pub use latency_histogram::{
    DEVICE_HISTOGRAM_BYTES, DeviceDelays, HistogramValue, Interpolation, LatencyHistogram, LatencyHistogramConfig,
};
pub use packet::{ConnectionOpened, Moment, PacketBody, PacketSeen, SegmentSeen, SenderSeen};
pub use protection::ProtectionTally;
pub use series::{LINK_BIN_BYTES, SERVICE_BIN_BYTES, TRAFFIC_BIN_BYTES};
pub use signals::{PacketCount, Signal, SignalKind};
pub use table::{Column, ColumnData, Table};
pub use tally::{DatagramTally, FrameTally, ObjectTally, TransferTally};

pub use sojourn_base::{Cause, ChannelCounters, LinkId, ModemCounters, TrafficId, WifiCounters};
pub use sojourn_keys::key::described;

use sojourn_base::report::Report;
use sojourn_base::{BitRate, Bytes, Direction, Instant, Packets, PerDirection, Reason, ServiceQueue, Span};

/// One packet's delay from the application's write to its arrival, split by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DelaySplit([Span; Cause::ALL.len()]);

impl DelaySplit {
    /// Adds `span` to `cause`.
    pub fn add(&mut self, cause: Cause, span: Span) {
        self.0[cause as usize] += span;
    }

    /// Returns the delay from `cause`.
    pub fn get(&self, cause: Cause) -> Span {
        self.0[cause as usize]
    }

    /// Returns the delay from each cause, in their order.
    #[inline]
    pub const fn parts(&self) -> &[Span; Cause::ALL.len()] {
        &self.0
    }

    /// The whole delay.
    pub fn total(&self) -> Span {
        self.0.iter().fold(Span::ZERO, |sum, part| sum + *part)
    }
}

/// A packet leaving a link.
#[derive(Clone, Copy, Debug)]
pub struct LinkPassage {
    /// The link.
    pub link: LinkId,
    /// Traffic entry of the packet.
    pub traffic: TrafficId,
    /// Server within the traffic entry; it identifies the session.
    pub server: u32,
    /// Bytes of the IP packet.
    pub length: Bytes,
    /// Bytes that the link charged for it, by its framing.
    pub charged: Bytes,
    /// Arrival at the link.
    pub entered_at: Instant,
    /// Departure from the managed queue.
    pub dequeued_at: Instant,
    /// Arrival of its last bit at the far end.
    pub arrives_at: Instant,
    /// The service queue that it was in.
    pub queue: ServiceQueue,
    /// The sub-flow that it was in, if the queue has any.
    pub sub_flow: Option<u32>,
}

/// A packet lost in a link.
#[derive(Clone, Copy, Debug)]
pub struct LinkDrop {
    /// Time of the event.
    pub at: Instant,
    /// The link.
    pub link: LinkId,
    /// Traffic entry of the packet.
    pub traffic: TrafficId,
    /// Its direction (of the link).
    pub direction: Direction,
    /// Charged bytes.
    pub length: Bytes,
    /// Lost behind the managed queue (2012 modem: the transmit queue).
    pub behind_queue: bool,
    /// Reason.
    pub reason: Reason,
    /// The service queue that it was in.
    pub queue: ServiceQueue,
    /// The sub-flow that it was in, if the queue has any.
    pub sub_flow: Option<u32>,
}

/// Which packet of its flow a lost one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostPacket {
    /// Time of the event.
    pub at: Instant,
    /// The link.
    pub link: LinkId,
    /// Traffic entry of the packet.
    pub traffic: TrafficId,
    /// Server within the traffic entry; the flow of a datagram.
    pub server: u32,
    /// Direction of the packet.
    pub direction: Direction,
    /// As in [`SegmentSeen::connection`]; `None` for a datagram.
    pub connection: Option<(u32, u8)>,
    /// Number of the segment or datagram in its flow: what is sent again keeps its number, an acknowledgement has the number of
    /// the segment that would be next.
    pub sequence: u32,
    /// Bytes of a segment's application data, none of an acknowledgement; the IP packet of a datagram.
    pub data: u32,
    /// Reason.
    pub reason: Reason,
}

/// A packet marked by the queue manager of a link. It may still be lost there.
#[derive(Clone, Copy, Debug)]
pub struct LinkMark {
    /// Time of the event.
    pub at: Instant,
    /// The link.
    pub link: LinkId,
    /// Traffic entry of the packet.
    pub traffic: TrafficId,
    /// Its direction (of the link).
    pub direction: Direction,
    /// Charged bytes.
    pub length: Bytes,
    /// Reason.
    pub reason: Reason,
    /// The service queue that it is in.
    pub queue: ServiceQueue,
    /// The sub-flow that it is in, if the queue has any.
    pub sub_flow: Option<u32>,
}

/// A packet that the Queue Protection of a link has judged. It may still be lost there.
#[derive(Clone, Copy, Debug)]
pub struct LinkScore {
    /// Time of arrival.
    pub at: Instant,
    /// The link.
    pub link: LinkId,
    /// Traffic entry of the packet.
    pub traffic: TrafficId,
    /// Its direction (of the link).
    pub direction: Direction,
    /// Hash of its flow, by which Queue Protection knows it.
    pub flow_hash: u32,
    /// Charged bytes.
    pub length: Bytes,
    /// The queuing score of its flow, this packet included.
    pub score: Span,
    /// It came at a delay above that up to which nothing is moved.
    pub late: bool,
    /// It was moved out of the low-latency queue.
    pub sanctioned: bool,
}

/// The fate of one datagram.
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    /// Traffic entry.
    pub traffic: TrafficId,
    /// Flow within the traffic entry, numbered from 0 without gaps.
    pub flow: u32,
    /// Number within the flow, from 0.
    pub sequence: u32,
    /// Its direction.
    pub direction: Direction,
    /// IP bytes.
    pub length: Bytes,
    /// Time of sending.
    pub sent_at: Instant,
    /// Arrival or loss.
    pub fate: Fate,
    /// It arrived with a congestion mark.
    pub marked: bool,
    /// Why it was lost.
    pub lost_for: Option<Reason>,
    /// Delay by cause (up to its loss, if it was lost).
    pub split: DelaySplit,
}

/// How a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// At its destination.
    Arrived(Instant),
    /// In a managed queue.
    LostInQueue,
    /// Behind it.
    LostBehindQueue,
    /// On the line behind that, by a condition of the link.
    LostOnLine,
}

/// A TCP segment that reached its destination.
#[derive(Clone, Copy, Debug)]
pub struct SegmentArrival<'a> {
    /// Traffic entry.
    pub traffic: TrafficId,
    /// Its direction.
    pub direction: Direction,
    /// Bytes of application data; 0 for control segments.
    pub payload: Bytes,
    /// Delay by cause.
    pub split: &'a DelaySplit,
}

/// Packets waiting in a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Packets in the managed queue.
    pub packets: Packets,
    /// Bytes in the managed queue.
    pub bytes: Bytes,
    /// Packets behind it.
    pub staged: Packets,
}

/// Data from one end to the other: over a connection, or the datagrams between the client and a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRow {
    /// Traffic entry.
    pub traffic: TrafficId,
    /// Server within the traffic entry; the flow number of datagrams.
    pub server: u32,
    /// Direction of its packets.
    pub direction: Direction,
    /// Sub-flow of the access link's queue manager that holds its packets, if the manager has any.
    pub sub_flow: Option<u32>,
    /// Hash of its addresses, protocol and ports.
    pub flow_hash: u32,
    /// Its connection; `None` for datagrams.
    pub connection: Option<FlowConnection>,
}

/// A connection, as one of its two flows sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowConnection {
    /// Number of the connection, from 0 in each run.
    pub number: u32,
    /// Time of the client's request.
    pub opened_at: Instant,
    /// Time when both ends had finished, or it was given up; `None` if the run ended first.
    pub ended_at: Option<Instant>,
    /// Application bytes of this flow delivered in order.
    pub goodput: Bytes,
    /// Segments of this flow sent again.
    pub retransmissions: u64,
    /// Packets of this flow that arrived with a congestion mark.
    pub marks_received: u64,
}

/// Receives what happens in a run. Every method does nothing unless a recorder overrides it.
#[expect(unused_variables, reason = "empty default bodies")]
pub trait Recorder {
    /// True if each packet, opening and sender is reported by itself. A run without pays nothing for it.
    const WANTS_PACKETS: bool = false;
    /// Returns true if packets shall carry their delay by cause.
    fn wants_delays(&self) -> bool {
        false
    }
    /// Bytes that it has written down so far.
    fn bytes(&self) -> usize {
        0
    }
    /// Returns true if changes of queue lengths shall be reported.
    fn wants_waiting(&self) -> bool {
        false
    }
    /// Returns true if each flow shall be reported.
    fn wants_flows(&self) -> bool {
        false
    }
    /// Advances the clock of a watched run: calls until the next advance are at this time.
    fn on_clock(&mut self, now: Instant) {}
    /// A packet was handed to its first link.
    fn on_sent(&mut self, traffic: TrafficId, direction: Direction, length: Bytes) {}
    /// A packet has an event; called if packets are wanted.
    fn on_packet(&mut self, packet: &PacketSeen) {}
    /// A connection is opened.
    fn on_connection_opened(&mut self, opened: &ConnectionOpened) {}
    /// An end of a connection was called; reported if packets are wanted.
    fn on_sender(&mut self, sender: &SenderSeen) {}
    /// A packet leaves a link.
    fn on_passage(&mut self, direction: Direction, passage: &LinkPassage) {}
    /// A packet is lost in a link.
    fn on_drop(&mut self, drop: &LinkDrop) {}
    /// Position of the lost packet in its flow, right after [`Self::on_drop`]; called by simulations.
    fn on_lost_packet(&mut self, lost: &LostPacket) {}
    /// A packet is marked in a link.
    fn on_mark(&mut self, mark: &LinkMark) {}
    /// A packet is judged by the Queue Protection of a link.
    fn on_score(&mut self, score: &LinkScore) {}
    /// A packet is accepted by the queue manager of a link, which expects that it will wait so long.
    fn on_estimate(&mut self, link: LinkId, queue: ServiceQueue, delay: Span) {}
    /// The queue of a link has changed.
    fn on_waiting(&mut self, now: Instant, link: LinkId, waiting: Waiting) {}
    /// A datagram has met its fate.
    fn on_datagram(&mut self, datagram: &Datagram) {}
    /// A TCP segment has arrived.
    fn on_segment(&mut self, arrival: &SegmentArrival<'_>) {}
    /// Bytes of application data were delivered in order.
    fn on_goodput(&mut self, traffic: TrafficId, direction: Direction, bytes: Bytes) {}
    /// A connection has ended (or the run has): its counters.
    fn on_connection(&mut self, traffic: TrafficId, connection: &ConnectionTotals) {}
    /// A flow has ended, or the run has.
    fn on_flow(&mut self, row: &FlowRow) {}
    /// An application tells of its work.
    fn on_report(&mut self, traffic: TrafficId, report: Report<'_>) {}
    /// Starts measuring: earlier counts belong to the warm-up. The counters of MACs and open connections are reported
    /// right before, as at the end.
    fn on_measure(&mut self, now: Instant) {}
    /// Right before measuring begins: the counters of a connection that is open.
    fn on_open_connection(&mut self, traffic: TrafficId, connection: &ConnectionTotals) {}
    /// How often every connection shall be looked at; `None` for never.
    fn sample_interval(&self) -> Option<Span> {
        None
    }
    /// One end of a connection was looked at.
    fn on_sample(&mut self, sample: &ConnectionSample) {}
    /// The device of a link begins or ends the count of its latency histogram.
    fn on_counting(&mut self, link: LinkId, counting: bool) {}
    /// Measuring begins, or the run ends: what the MAC of a link has counted.
    fn on_mac(&mut self, link: LinkId, counters: &MacCounters) {}
    /// The same: what the MAC of a link has counted of the service flow of one queue, if it has several.
    fn on_service_flow(&mut self, link: LinkId, queue: ServiceQueue, counters: &MacCounters) {}
    /// The same: what the CMTS of a service group has counted in a direction, and what of each of its modems.
    fn on_group(&mut self, direction: Direction, channel: &ChannelCounters, modems: &[(LinkId, ModemCounters)]) {}
    /// The same: what a direction of a Wi-Fi station has counted.
    fn on_wifi(&mut self, link: LinkId, counters: &WifiCounters) {}
    /// A packet has passed two links that are one access together: a Wi-Fi station and a line.
    fn on_joined(&mut self, direction: Direction, passage: &JoinedPassage) {}
    /// The run ends.
    fn on_end(&mut self, now: Instant) {}
}

/// A packet's way over two links that are one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedPassage {
    /// Its traffic entry.
    pub traffic: TrafficId,
    /// To or from which of the entry's servers.
    pub server: u32,
    /// Arrival at the first link.
    pub entered_at: Instant,
    /// Arrival behind the second.
    pub arrives_at: Instant,
}

/// Counters of one connection, both ends together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionTotals {
    /// Segments sent again.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer; `None` if only packets are observed.
    pub timeouts: Option<u64>,
    /// SYNs sent again.
    pub connect_retries: u64,
    /// Packets that arrived with a congestion mark, by the direction they came in.
    pub marks_received: PerDirection<u64>,
}

/// The sender of one end of a connection at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConnectionSample {
    /// Time of the reading.
    pub at: Instant,
    /// Traffic entry.
    pub traffic: TrafficId,
    /// Server within the traffic entry.
    pub server: u32,
    /// Direction of its data.
    pub direction: Direction,
    /// Number of the connection, from 0 in each run.
    pub connection: u32,
    /// Congestion window in segments.
    pub window: f64,
    /// Slow-start threshold in segments; `None` before there is one.
    pub threshold: Option<f64>,
    /// Smoothed round-trip time; `None` before the first sample.
    pub round_trip: Option<Span>,
    /// Segments outstanding.
    pub flight: u32,
    /// Application bytes acknowledged so far.
    pub acknowledged: Bytes,
    /// State of its controller, in the word of its document; `None` if it has no states.
    pub phase: Option<&'static str>,
    /// Rate of IP packets that the controller takes the path to have.
    pub bandwidth: Option<BitRate>,
    /// Segments that may be in the network, as losses or marks have taught it.
    pub bound: Option<f64>,
}

/// Counters of a link's MAC since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MacCounters {
    /// Bytes requested from the CMTS.
    pub requested: Bytes,
    /// Bytes granted.
    pub granted: Bytes,
    /// Bytes of grants for which there was nothing to send.
    pub unused: Bytes,
}

impl MacCounters {
    /// Returns the counts after `earlier`.
    #[must_use]
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self {
            requested: self.requested - earlier.requested,
            granted: self.granted - earlier.granted,
            unused: self.unused - earlier.unused,
        }
    }
}

/// Records nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecords;

impl Recorder for NoRecords {}
