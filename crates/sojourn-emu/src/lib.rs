//! The emulator: the links and queue managers of the simulator, unchanged, on the packets of an operating system.
//!
//! | module | content |
//! |---|---|
//! | [`plan`] | [`Plan`] of an emulation, with every default filled in |
//! | [`clock`], [`port`] | interfaces of the loop: the time, a wait, sources and destinations of packets |
//! | [`pump`] | [`Pump`]: the loop that moves packets, over a [`sojourn_link::path::Path`] |
//! | [`segment`], [`sojourn_capture::headers`] | [`Offload`] and superpackets; headers of an IP packet, and its mark |
//! | [`classify`], [`tcp_seen`] | the traffic entry of a packet; TCP observed between its ends |
//! | [`snapshot`], [`capture`] | state of an emulation, and its summary at the end; captures |
//! | `linux` | the parts for Linux: namespaces, devices, priority |
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
