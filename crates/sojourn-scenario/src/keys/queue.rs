//! The queue manager of a link; its keys stand beside each manager's parameters.

use sojourn_keys::OneOf;
use sojourn_queue::ManagerConfig;

/// A queue manager as a choice among all kinds.
pub(crate) fn choice(value: &mut ManagerConfig) -> OneOf<'_, ManagerConfig> {
    OneOf::among(value, ManagerConfig::kinds(), |manager| manager.kind())
}
