//! Decision cores: whether to signal congestion, from delay or length alone. They hold no packets.

pub mod codel;
