//! The keys of a scenario file, table by table.

pub(crate) mod application;
pub(crate) mod change;
pub(crate) mod link;
pub(crate) mod load;
pub(crate) mod network;
pub(crate) mod queue;
pub(crate) mod scenario;
pub(crate) mod stack;
pub(crate) mod traffic;
pub(crate) mod wifi;
