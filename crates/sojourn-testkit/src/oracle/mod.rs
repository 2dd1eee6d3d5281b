//! Slow, literal versions of published algorithms, to be compared with the real ones on random input.
//!
//! They share no code and no structure with what they check: plain lists, wide integers, one block
//! per step of the document.

pub mod cobalt;
pub mod codel;
pub mod docsis_dual_queue;
pub mod dualpi2;
pub mod flow_queues;
pub mod pie;
pub mod red;
