//! TCP: one connection type, assembled from one file per mechanism.
//!
//! | file | mechanism |
//! |---|---|
//! | `connection` | opening, closing, and dispatch of arrivals to the halves |
//! | `sender` | the state of the sending half |
//! | `sender::acknowledgement` | effects of an acknowledgement |
//! | `sender::timers` | effects of a timer |
//! | `sender::episodes` | when congestion is answered, and by how much |
//! | `sender::transmit` | which segment leaves next |
//! | `sender::emission` | contents of that segment |
//! | `outlet`, `pacer` | its destination, and the earliest time |
//! | `receiver` | received data, and times of acknowledgements |
//! | `scoreboard` | marks of outstanding segments |
//! | `loss_detection` | which of them are lost |
//! | `recovery` | how many may be sent while losses are repaired |
//! | `delivery_rate` | how fast segments are delivered, for controllers that ask |
//! | `marks` | how many were marked, from a count that comes back |
//! | `rtt`, `rto` | round-trip estimator, retransmission timeout |
//! | `restart`, `nagle` | idle senders, short segments |
//! | `stream` | data of the application |

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
// Parts that QUIC shares.
#[cfg(not(target_family = "wasm"))]
pub(crate) use self::{
    delivery_rate::DeliveryRate, marks::Marks, pacer::Pacer, pacer::pacing_interval, receiver::FIRST_COUNT,
    restart::restart, rtt::RoundTrip, scoreboard::Sent, stream::Stream,
};
