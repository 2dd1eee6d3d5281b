//! Packets one by one, for recorders that write captures: what is in each, and what happens to it where.

use sojourn_base::{BitRate, Direction, Ecn, Instant, LinkId, Reason, ServiceQueue, Span, TrafficId};

/// A packet at one moment of its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketSeen {
    /// Time of the event.
    pub now: Instant,
    /// Its place among the packets on their way: no two have the same at a time.
    pub place: u32,
    /// Traffic entry.
    pub traffic: TrafficId,
    /// Server within the traffic entry.
    pub server: u32,
    /// Direction of the packet.
    pub direction: Direction,
    /// Bytes of the IP packet.
    pub length: u32,
    /// DSCP.
    pub dscp: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// Contents of the packet.
    pub body: PacketBody,
    /// The event.
    pub moment: Moment,
}

/// An event of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// It is handed to its first link.
    Sent,
    /// It reaches a link.
    Entered(LinkId),
    /// A link sends it: when its last bit arrives at the far end.
    Left(LinkId, Instant),
    /// The queue of a link marks it.
    Marked(LinkId, Reason),
    /// A link loses it; it is not seen again.
    Dropped(LinkId, Reason, ServiceQueue),
    /// It is at its destination.
    Arrived,
}

/// Contents of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PacketBody {
    /// A TCP segment.
    Segment(SegmentSeen),
    /// A datagram.
    Datagram,
}

/// A TCP segment: numbers count segments, as the transport does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentSeen {
    /// Its connection: a slot, and how often that was used.
    pub connection: (u32, u8),
    /// Number of the segment.
    pub sequence: u32,
    /// The segment that is expected from the peer.
    pub acknowledgement: u32,
    /// Bytes of application data.
    pub payload: u32,
    /// SYN, FIN, ACK, ECE, CWR, from the lowest bit on.
    pub flags: u8,
    /// Up to three blocks of selective acknowledgement, and how many.
    pub sack: ([(u32, u32); 3], u8),
    /// The time stamp option: when it was sent, and the stamp that it echoes ([`Instant::NEVER`] without one).
    pub stamps: (Instant, Instant),
}

impl SegmentSeen {
    /// Opens a connection.
    pub const SYN: u8 = 1;
    /// No more data.
    pub const FIN: u8 = 2;
    /// The acknowledgement counts.
    pub const ACK: u8 = 4;
    /// ECN echo.
    pub const ECE: u8 = 8;
    /// Congestion window reduced.
    pub const CWR: u8 = 16;

    /// Returns true if all these flags are set.
    pub const fn has(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }
}

/// A connection that is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionOpened {
    /// Time of the event.
    pub now: Instant,
    /// Traffic entry.
    pub traffic: TrafficId,
    /// Server within the traffic entry.
    pub server: u32,
    /// As in [`SegmentSeen::connection`].
    pub connection: (u32, u8),
    /// Number of the connection, from 0 in each run.
    pub number: u32,
    /// The client's port, counted from 0 for each server.
    pub port: u32,
}

/// The sender of one end of a connection after it was called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderSeen {
    /// Time of the call.
    pub now: Instant,
    /// As in [`SegmentSeen::connection`].
    pub connection: (u32, u8),
    /// Direction of its data.
    pub direction: Direction,
    /// Congestion window in segments.
    pub window: f64,
    /// Slow-start threshold in segments; infinite before there is one.
    pub threshold: f64,
    /// Segments that are probably in the network.
    pub flight: u32,
    /// Smoothed round-trip time, and its variation; `None` before the first sample.
    pub round_trip: Option<(Span, Span)>,
    /// Rate at which the controller wants to send, if it has one.
    pub pacing_rate: Option<BitRate>,
    /// Smallest round-trip sample.
    pub least_round_trip: Option<Span>,
    /// Congestion state: `open`, `disorder`, `recovery`, `loss`.
    pub state: &'static str,
    /// Reductions after losses, after marks, and timeouts so far.
    pub reductions: [u64; 3],
}
