//! DOCSIS 3.1: an OFDMA upstream with one service flow or an aggregate of two, and an OFDM downstream.
//!
//! | module | content |
//! |---|---|
//! | [`channel`] | values derived from the parameters of an OFDM and of an OFDMA channel |
//! | [`timeline`] | times of MAPs, requests and bursts |
//! | [`proactive`] | grants without a request |
//! | `scheduler` | the CMTS: a MAP from requests, token buckets, weights and the congestion of the channel |
//! | `call` | the manager's view of these links |
//! | `aggregate` | buckets that several service flows share |
//! | [`upstream`] | the modem, and the way to the CMTS |
//! | [`downstream`] | the CMTS, and the way to the modem |
//! | [`config`] | parameters of both links, with their keys |

pub(crate) mod aggregate;
pub mod channel;
pub mod config;
pub mod downstream;
pub mod proactive;
pub(crate) mod scheduler;
pub mod timeline;
pub mod upstream;

use sojourn_base::{Bytes, Meta, Packets};
use sojourn_queue::{Backlog, Held};

/// Returns the bytes of a backlog on the wire: each packet has a MAC header of its own.
fn on_wire(backlog: Backlog, header: u64) -> u64 {
    backlog.bytes.0 + u64::from(backlog.packets.0) * header
}

/// A packet of which some bytes have been sent.
#[derive(Clone, Debug)]
struct Fragment {
    packet: Held,
    /// Bytes on the wire, with the MAC header.
    size: u64,
    sent: u64,
    dequeued_at: sojourn_base::Instant,
}

impl Fragment {
    fn new(packet: Held, header: u64, dequeued_at: sojourn_base::Instant) -> Self {
        let size = u64::from(packet.meta.length) + header;
        Self { packet, size, sent: 0, dequeued_at }
    }

    const fn rest(&self) -> u64 {
        self.size - self.sent
    }

    /// Sends as much as fits into `room`; returns what that is.
    fn send(&mut self, room: u64) -> u64 {
        let bytes = self.rest().min(room);
        self.sent += bytes;
        bytes
    }

    /// Sends as much as fits into `room` and costs at most `tokens`, which the MAC header does not; returns the bytes sent
    /// and the tokens they cost.
    fn send_for(&mut self, room: u64, tokens: u64) -> (u64, u64) {
        let free = self.rest() - self.frame_rest().0;
        let bytes = self.send(room.min(free + tokens));
        (bytes, bytes.saturating_sub(free))
    }

    /// Bytes of the Ethernet frame that are not sent, which queue managers count.
    fn frame_rest(&self) -> Bytes {
        Bytes(self.rest().min(u64::from(self.packet.meta.length)))
    }
}

/// Returns the staged fragments as a backlog, by the bytes that queue managers count.
pub(crate) fn staged(rests: impl Iterator<Item = Bytes>) -> Backlog {
    rests.fold(Backlog::default(), |sum, rest| Backlog { bytes: sum.bytes + rest, packets: Packets(sum.packets.0 + 1) })
}

/// Returns the packet as a queue manager sees it.
pub(crate) fn with_header(meta: Meta, header: u16) -> Meta {
    Meta { mac_overhead: header, ..meta }
}
