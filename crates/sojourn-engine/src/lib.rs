//! The engine: a deterministic, single-threaded event loop that turns a scenario and a seed into
//! records.
//!
//! | module | content |
//! |---|---|
//! | `simulation` | [`run`]: build the world, handle events until the time is over; [`Simulation`]: piece by piece |
//! | `world` | connections over the network |
//! | `application_call`, `endpoint_call` | what applications and endpoints may ask and tell |
//! | `network` | the packets on links and wires, which are [`sojourn_link::Network`] |
//! | `paths` | what links ask of the engine: packets, calendar, records |
//! | `connections` | endpoint pairs in reusable slots, lazily rescheduled timers |
//! | `calendar` | the event queue |
//! | `arena` | packets in flight |
//! | `changes` | what a scenario changes in the course of a run |
//! | `work` | how much was done since somebody looked whether to go on |
//! | [`memory`] | what a run needs of it, before and while it goes on |
//! | `address` | 5-tuples of simulated flows |
//! | [`worlds`] | fixed worlds for benchmarks |
//!
//! Models (queues, links, transports, applications) know nothing of it. No globals, no clock, no
//! files: many runs share a process, and a run gives the same bits whatever runs beside it.
#![forbid(unsafe_code)]

mod address;
mod application_call;
mod arena;
mod calendar;
mod changes;
mod connections;
mod endpoint_call;
mod event;
pub mod memory;
mod network;
mod paths;
mod ports;
mod simulation;
mod work;
mod world;
pub mod worlds;

pub use address::flow_keys;
pub use simulation::{
    Cancelled, Outcome, Progress, Reached, RunStatistics, Simulation, column_recorder, run, run_watched,
};
pub use work::Interrupt;
