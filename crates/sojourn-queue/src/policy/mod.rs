//! Decision cores: whether to signal congestion, from delay or length alone. They hold no packets.

pub mod burst;
pub mod classifier;
pub mod cobalt;
pub mod codel;
pub mod departure_rate;
pub mod docsis_pie;
pub mod low_latency_delay;
pub mod pi2;
pub mod pie;
pub mod queue_protection;
pub mod ramp;
pub mod recur;
pub mod red;
