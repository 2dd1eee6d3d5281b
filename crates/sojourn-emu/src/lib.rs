//! The emulator: the links and queue managers of the simulator, unchanged, on the packets of an operating system.
//!
//! | module | content |
//! |---|---|
//! | [`plan`] | [`Plan`]: what is emulated, with every default filled in |
//! | [`clock`], [`port`] | what the loop needs of the world: the time, a wait, and where packets come from and go to |
//! | [`pump`] | [`Pump`]: the loop that moves packets, over a [`sojourn_link::path::Path`] |
//! | [`segment`], [`sojourn_capture::headers`] | [`Offload`] and superpackets; what is read of an IP packet, and its mark |
//! | [`classify`], [`tcp_seen`] | whose a packet is; what is seen of TCP between its ends |
//! | [`snapshot`], [`capture`] | what is seen of an emulation while it runs, and what is said of it at its end; captures |
//! | `linux` | what Linux has of it: namespaces, devices, priority |
//!
//! The model core knows no descriptor and no time of day: it is tested with clocks and ports of a script. One thread
//! moves all packets, both ways, so nothing is locked.
#![deny(unsafe_code)]

pub mod capture;
pub mod classify;
pub mod clock;
mod emulated;
mod flows;
mod frame;
#[cfg(target_os = "linux")]
pub mod linux;
pub mod plan;
pub mod port;
pub mod pump;
pub mod segment;
pub mod snapshot;
pub mod tcp_seen;
mod witness;

pub use capture::Captures;
pub use classify::{Entry, Rule};
pub use clock::{Clock, Wake};
pub use plan::{FarEnd, Options, Plan, Refusal};
pub use port::{Ends, Port, PortCounters};
pub use pump::{Failure, Finished, Pump};
pub use segment::{Gso, Offload};
pub use snapshot::{DirectionView, Grade, Lateness, Snapshot, Stall, Summary};
pub use sojourn_capture::headers;
