//! Stores: where waiting packets are kept and counted, and in which order flows take turns.

pub(crate) mod bins;
pub(crate) mod fields;
pub(crate) mod fifo;
pub mod flow_lists;
pub mod lines;
pub(crate) mod nichols_ring;
pub(crate) mod room;
pub mod sub_flows;
pub(crate) mod two_queues;
pub mod waiting;
