//! Roles of service flows.

use serde::Serialize;

/// Role of a service flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It carries everything.
    Only,
    /// It carries what builds queues, in an aggregate.
    Classic,
    /// It carries what builds none.
    LowLatency,
    /// It stands beside the first service flow, or is a further member of its aggregate.
    Further,
    /// It is not looked at any further.
    Other,
}
