//! Transport endpoints as state machines without I/O: TCP with the stacks that the studies name, and QUIC.
//!
//! An [`Endpoint`] is one end of a connection. It owns no clock and sees no network: the caller brings packets and due
//! timers, and its actions leave through [`EndpointContext`]. The two ends of a connection share nothing but segments.
//! Payload is counted, never copied.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod common;
pub mod config;
pub mod congestion;
mod endpoint;
pub mod habits;
pub mod library;
mod quic;
mod segment;
mod stacks;
mod statistics;
mod tcp;

pub use config::StackConfig;
pub use endpoint::Endpoint;
pub use quic::QuicEndpoint;
pub use segment::{Flags, SackBlocks, Segment, SendTimes};
pub use statistics::{CongestionSnapshot, CongestionState, ConnectionSnapshot, ConnectionStatistics};
pub use tcp::TcpEndpoint;

use sojourn_base::Instant;

/// The timers of an endpoint; at most one deadline each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// Retransmission, tail-loss probe, reordering, SYN: whichever is armed.
    Main,
    /// Delayed acknowledgement.
    DelayedAck,
    /// Next paced transmission.
    Pacing,
}

/// Events of an endpoint for its application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The connection is established.
    Connected,
    /// All attempts to connect have failed.
    ConnectFailed,
    /// Bytes of the peer that have arrived in order, in total.
    Delivered(u64),
    /// The bytes of the peer from the first of these to below the second have arrived before some that were written
    /// earlier (QUIC); [`Self::Delivered`] counts them when it gets there.
    Early(u64, u64),
    /// Bytes of this end that have been acknowledged, in total.
    Acknowledged(u64),
    /// The peer has sent all its data and closed its side; everything before it was delivered.
    PeerClosed,
    /// Both sides are closed and acknowledged: the endpoint needs nothing any more.
    Closed,
    /// The endpoint gave up.
    Aborted,
}

/// Services of an endpoint's owner during a call: the network below, the clock beside, and the application above.
pub trait EndpointContext {
    /// Hand `segment`, whose data were written and first sent at `times`, to the first link, now. Segments
    /// emitted in one call leave in that order.
    fn emit(&mut self, segment: &Segment, times: SendTimes);
    /// As [`Self::emit`], with the bytes of a datagram of a library, which [`Endpoint::on_datagram`] gets at the far end.
    fn emit_datagram(&mut self, segment: &Segment, bytes: &[u8]) {
        let _ = bytes;
        self.emit(segment, SendTimes::all_at(segment.sent_at));
    }
    /// Call [`Endpoint::on_timer`] at `at`, replacing the timer's earlier deadline;
    /// [`Instant::NEVER`] disarms it. The caller may also call early or too often: the endpoint
    /// compares the time with its own deadline.
    fn arm(&mut self, timer: Timer, at: Instant);
    /// Tell the application.
    fn notify(&mut self, event: Event);
}
