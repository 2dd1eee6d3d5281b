//! Controllers as data: one value per kind of controller, from which a running one is built.

use super::{AnyController, Connection};
use sojourn_keys::{Values, family};

family! {
    /// Any congestion controller's parameters. They are copied with those of their stack.
    pub struct ControllerConfig(&'static dyn ControllerKind);
}

/// A kind of congestion controller: parameters, and how a running one is built from them. A line in `kinds.rs` adds a
/// built-in one, [`add_controller`](super::add_controller) one of another crate.
pub trait ControllerKind: Values<ControllerConfig> {
    /// A controller with these parameters for a new connection.
    fn build(&self, connection: &Connection) -> AnyController;
}
