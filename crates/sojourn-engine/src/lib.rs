//! The engine: a deterministic, single-threaded event loop that turns a scenario and a seed into
//! records.
//!
//! | module | content |
//! |---|---|
//! | `simulation` | [`run`]: build the world, handle events until the time is over; [`Simulation`]: piece by piece |
//! | `world` | connections over the network |
//! | `application_call`, `endpoint_call` | contexts of calls of applications and endpoints |
//! | `network` | the packets on links and wires, which are [`sojourn_link::Network`] |
//! | `paths` | the engine's services to links: packets, calendar, records |
//! | `connections` | endpoint pairs in reusable slots, lazily rescheduled timers |
//! | `calendar` | the event queue |
//! | `arena` | packets in flight |
//! | `changes` | changes of a scenario during a run |
//! | `work` | work since the last check for an interrupt |
//! | [`memory`] | memory of a run, before and during it |
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
mod wifi;
mod work;
mod world;
pub mod worlds;

pub use address::flow_keys;
pub use simulation::{
    Cancelled, Outcome, Progress, Reached, RunStatistics, Simulation, column_recorder, run, run_watched,
};
pub use work::Interrupt;
