//! The vocabulary that every other crate speaks: time, sizes, rates, probabilities, directions,
//! packet headers as queues see them, and named random streams.
//!
//! | module | content |
//! |---|---|
//! | [`time`] | [`Instant`], [`Span`]: picoseconds since the start of a run |
//! | [`size`] | [`Bytes`], [`Packets`] |
//! | [`rate`] | [`BitRate`], [`Serializer`] (serialisation without drift) |
//! | [`limit`] | [`Limit`]: how much a buffer may hold, in bytes, packets or time |
//! | [`ratio`] | [`Probability`] |
//! | [`delay`] | [`Cause`], [`DelayParts`]: parts of a packet's delay |
//! | [`direction`] | [`Direction`], [`PerDirection`]: the subscriber's view |
//! | [`header`] | [`Meta`], [`Ecn`], [`PacketHandle`]: properties of a packet that queues read |
//! | [`flow_hash`] | [`FlowKey`], [`FlowHash`]: identity of a packet's flow |
//! | [`quantity`] | "20 ms", "5 Mb/s", "96 KB": parsing and printing |
//! | [`queueing_delay`] | [`QueueingDelay`]: queueing delay from one-way delays |
//! | [`report`] | [`Transfer`](report::Transfer), [`Page`](report::Page), [`Object`](report::Object): reported results |
//! | [`medium`] | counters of a channel that several modems share |
//! | [`timed_packet`] | [`TimedPacket`]: a packet of a reduced capture |
//! | [`mod@native`] | [`Native`](native::Native): values that an engine for browser tabs has none of |
//! | [`mod@shown`] | [`Shown`]: `Debug`, except in browsers |
//! | `random`, [`dist`] | named random streams (feature `random`) and one-draw samplers |
//! | [`math`] | elementary functions with the same bits on every platform |
//!
//! Nothing here reads a clock, a file or an environment variable.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod delay;
pub mod direction;
pub mod dist;
pub mod flow_hash;
pub mod header;
pub mod limit;
pub mod math;
pub mod medium;
pub mod native;
pub mod quantity;
pub mod queueing_delay;
#[cfg(feature = "random")]
pub mod random;
pub mod rate;
pub mod ratio;
pub mod report;
mod scaled;
pub mod shown;
pub mod size;
pub mod time;
pub mod timed_packet;

pub use delay::{Cause, DelayParts};
pub use direction::{Direction, PerDirection};
pub use flow_hash::{Address, FlowHash, FlowKey};
pub use header::{Ecn, LinkId, Meta, PacketHandle, Reason, ServiceQueue, SubFlow, TrafficId};
pub use limit::Limit;
pub use medium::{ChannelCounters, ModemCounters, WifiCounters};
pub use queueing_delay::QueueingDelay;
#[cfg(feature = "random")]
pub use random::{RandomStream, Seed};
pub use rate::{BitRate, Serializer, WholeBytes};
pub use ratio::Probability;
pub use shown::Shown;
pub use size::{Bytes, Packets};
pub use time::{Instant, Span};
pub use timed_packet::TimedPacket;
