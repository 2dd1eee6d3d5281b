//! A link; its keys stand beside each link's parameters.

use sojourn_keys::{Configured, OneOf};
use sojourn_link::{LinkConfig, SerialConfig};

/// A link as a choice among all kinds. Its queue manager has a table of its own.
pub(crate) fn choice(value: &mut LinkConfig) -> OneOf<'_, LinkConfig> {
    OneOf::among(value, LinkConfig::kinds(), |link| link.kind())
}

/// A link without a rate, and a queue without a limit: what a reader starts from.
pub(crate) fn blank() -> LinkConfig {
    SerialConfig::base().into()
}
