//! Checks if an application may mark its packets as Non-Queue-Building, and if a modem would redirect them.
//!
//! Two questions. May it mark them? The sender's rule of RFC 9956 bounds rate and bursts. Would a modem throw it out? The
//! packets are sent through the modem's queue to find out.
//!
//! | module | holds |
//! |---|---|
//! | `envelope` | the sender's rule: bytes of any interval, the least rate for which it holds, bursts |
//! | `replay` | the packets through the DOCSIS dual queue alone, with others, through a short buffer and policers |
//!
//! Source: RFC 9956 (read in its last draft, draft-ietf-tsvwg-nqb-33: sender rule of 1 % of the path, buffer of 10 ms,
//! policing); RFC 9957. Deviations: packets longer than the largest frame, which an offload has not cut yet, are cut here
//! with no time between their pieces.

mod envelope;
mod replay;

pub use envelope::{Burst, Envelope, bursts, envelope, least_rate};
pub use replay::{Company, Protected, largest_burst, overflow, policed, protected, with_copies};

use sojourn_base::{Span, TimedPacket};

/// Overhead of a frame over its IP packet: Ethernet header and frame check sequence (IEEE 802.3).
pub const FRAME_OVERHEAD: u32 = 18;

/// So much of a flow is sent through queues and policers. chosen: an hour beside an upload of 1 Gb/s is 300 million packets; a
/// capture of a month would take all night.
pub const LONGEST_REPLAY: Span = Span::from_s(3600);

/// The DSCP of packets that build no queue (RFC 9956).
pub const NQB: u8 = 45;

/// Pieces of packets that are longer than `mtu`, which an offload would have cut, at the same time; how many were longer.
pub fn cut(packets: &[TimedPacket], mtu: u32) -> (Vec<TimedPacket>, u64) {
    let mtu = mtu.max(1);
    let (mut found, mut longer) = (Vec::with_capacity(packets.len()), 0);
    for packet in packets {
        longer += u64::from(packet.length > mtu);
        let mut left = packet.length;
        while left > mtu {
            found.push(TimedPacket { length: mtu, ..*packet });
            left -= mtu;
        }
        found.push(TimedPacket { length: left, ..*packet });
    }
    (found, longer)
}

#[cfg(test)]
mod tests;
