//! Scenarios: what one run is.

pub mod model;
pub mod plan;

pub use model::{AccessLink, RecordConfig, Scenario, Server, Stack, Traffic};
pub use plan::{Plan, RunSpec};
