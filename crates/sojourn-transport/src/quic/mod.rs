//! QUIC: packets whose numbers are never used twice, and loss recovery over them (RFC 9002).
//!
//! A segment is a QUIC packet here: `sequence` is its number, `acknowledgement` the low half of its data's offset, the
//! SACK blocks are the ranges of its ACK frame, `echo` is when the largest of them arrived.
//!
//! | file | mechanism |
//! |---|---|
//! | `connection` | opening, closing, and which half an arrival concerns |
//! | `sender` | the state of the sending half |
//! | `sender::acknowledgement` | what an acknowledgement changes |
//! | `sender::loss_detection` | what is lost |
//! | `sender::congestion` | when congestion is answered, and recovery |
//! | `sender::timers` | probes |
//! | `sender::transmit` | what leaves next, and in which packet |
//! | `receiver` | what has arrived and when to say so |
//! | `rtt` | round-trip estimator |
//! | `ranges` | sets of numbers |

mod connection;
mod ranges;
mod receiver;
mod rtt;
mod sender;

pub use connection::QuicEndpoint;
use connection::packet;

#[cfg(test)]
mod testing {
    use crate::{Flags, Segment};
    use sojourn_base::Instant;

    /// A packet with `payload` bytes of data, from its number on.
    pub(super) fn packet(number: u32, payload: u32) -> Segment {
        Segment {
            sequence: number,
            acknowledgement: number * payload,
            payload,
            ..super::packet(Instant::ZERO, Flags::NONE, payload + 63)
        }
    }
}

#[cfg(test)]
mod tests;
