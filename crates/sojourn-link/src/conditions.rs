//! Conditions of a link that change: how files spell them, and what they say at each time.
//!
//! The rate is the line's own business ([`crate::serial`]); what else happens to a packet happens behind the link
//! ([`crate::conditioned`]). A link without conditions is built as it is, and pays nothing.
//!
//! Source: Linux `sch_netem` for the kinds of conditions; RFC 8868 4.5 for jitter; the specification of schedules for
//! what a changing rate means.
//! Deviations: none known.

pub mod config;
pub(crate) mod timeline;

pub use config::{ConditionConfig, ConditionProblem, Effect, condition_problems};
pub use timeline::stalls;
