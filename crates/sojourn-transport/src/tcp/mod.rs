//! TCP: one connection type, assembled from one file per mechanism; those that QUIC has too are in `common`.
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
//! | `receiver` | received data, and times of acknowledgements |
//! | `receive_window` | segments that make a window grow |
//! | `scoreboard` | marks of outstanding segments |
//! | `loss_detection` | which of them are lost |
//! | `recovery` | how many may be sent while losses are repaired |
//! | `rto` | retransmission timeout |
//! | `nagle` | short segments |
//! | `superpacket` | new data that leave at once |

mod connection;
mod loss_detection;
mod nagle;
mod receive_window;
mod receiver;
mod recovery;
mod rto;
pub(crate) mod scoreboard;
mod sender;
mod superpacket;

pub use connection::TcpEndpoint;

/// The surroundings of a sender.
type Outlet<'a, C> = crate::common::outlet::Outlet<'a, C, receiver::Receiver>;
