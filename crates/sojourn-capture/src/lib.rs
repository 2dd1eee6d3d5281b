//! Packet captures: those of others as flows, and our own of what a model saw.
//!
//! | module | holds |
//! |---|---|
//! | [`headers`] | what is read of an IP packet, and its congestion mark |
//! | [`reader`] | [`Reader`]: pcap and pcapng, fed piece by piece |
//! | [`frame`] | where in a frame its IP packet begins |
//! | [`flows`] | [`Flows`]: who sent what, when |
//! | [`simulated`], [`qlog`] | [`SimulatedCapture`], [`Qlog`]: what a run writes while it goes on |
//! | [`writer`] | [`PcapWriter`], [`PcapngWriter`] |
//!
//! Captures come from strangers: every access is checked, nothing is kept of a payload, and what is too much is refused in
//! words. Nothing here opens a file.
#![forbid(unsafe_code)]

pub mod flows;
pub mod frame;
pub mod headers;
pub mod qlog;
pub mod reader;
mod round_trips;
pub mod simulated;
mod synthetic;
pub mod writer;
mod writers;

pub use flows::{Flow, Flows};
pub use qlog::Qlog;
pub use reader::{Problem, Reader};
pub use simulated::SimulatedCapture;
pub use writer::{KEPT, LinkType, PcapWriter, PcapngWriter};
pub use writers::{Writers, Written};
