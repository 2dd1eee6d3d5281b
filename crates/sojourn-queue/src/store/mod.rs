//! Stores: where waiting packets are kept and counted. They decide nothing.

pub(crate) mod fifo;
pub(crate) mod room;
