//! TCP: one connection type, assembled from one file per mechanism.
//!
//! | file | mechanism |
//! |---|---|
//! | `connection` | opening, closing, and which half an arrival concerns |
//! | `sender` | the state of the sending half |
//! | `sender::acknowledgement` | what an acknowledgement changes |
//! | `sender::timers` | what a timer changes |
//! | `sender::episodes` | when congestion is answered, and by how much |
//! | `sender::transmit` | which segment leaves next |
//! | `sender::emission` | what it carries |
//! | `outlet`, `pacer` | where it goes, and when it may |
//! | `receiver` | what has arrived and when to say so |
//! | `scoreboard` | marks of outstanding segments |
//! | `loss_detection` | which of them are lost |
//! | `recovery` | how many may be sent while losses are repaired |
//! | `delivery_rate` | how fast segments are delivered, for controllers that ask |
//! | `marks` | how many were marked, from a count that comes back |
//! | `rtt`, `rto` | round-trip estimator, retransmission timeout |
//! | `restart`, `nagle` | idle senders, short segments |
//! | `stream` | what the application has written |

mod connection;
mod delivery_rate;
mod loss_detection;
mod marks;
mod nagle;
mod outlet;
mod pacer;
mod receiver;
mod recovery;
mod restart;
mod rto;
mod rtt;
mod scoreboard;
mod sender;
mod stream;

pub use connection::TcpEndpoint;
// What QUIC does in the same way.
#[cfg(not(target_family = "wasm"))]
pub(crate) use self::{
    delivery_rate::DeliveryRate, marks::Marks, pacer::Pacer, pacer::pacing_interval, receiver::FIRST_COUNT,
    restart::restart, rtt::RoundTrip, scoreboard::Sent, stream::Stream,
};
