//! QUIC: packets whose numbers are never used twice, and loss recovery over them (RFC 9002).
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
//! | `packet` | packets and frames, and the segments that carry them |
//! | `receiver` | what has arrived and when to say so |
//! | `rtt` | round-trip estimator |
//! | `ranges` | sets of numbers |

mod connection;
mod packet;
mod ranges;
mod receiver;
mod rtt;
mod sender;

pub use connection::QuicEndpoint;

/// The surroundings of a sender.
type Outlet<'a, C> = crate::common::outlet::Outlet<'a, C, receiver::Receiver>;

#[cfg(test)]
mod tests;
