//! Managers: order of service and limits, with a policy applied to them.

pub mod codel;
pub mod drop_tail;
