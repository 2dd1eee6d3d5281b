//! Decision cores: whether to signal congestion, from delay or length alone. They hold no packets.

pub mod burst;
pub mod codel;
pub mod departure_rate;
pub mod docsis_pie;
pub mod pie;
