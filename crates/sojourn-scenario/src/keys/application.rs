//! The application of a traffic entry; its keys stand beside each application's parameters.

use sojourn_apps::{ApplicationConfig, ConstantRateConfig};
use sojourn_keys::{Key, OneOf, Visitor};

/// Shows an application as a choice among all kinds.
pub(crate) fn show(key: Key, value: &mut ApplicationConfig, visitor: &mut dyn Visitor) {
    let kinds = ApplicationConfig::kinds();
    let mut choice = OneOf::among(value, kinds, |application| application.kind());
    visitor.choice(key, &mut choice);
}

/// Whether the application opens connections, and so needs a stack.
pub(crate) fn needs_stack(config: &ApplicationConfig) -> bool {
    config.datagrams().is_none()
}

/// What a reader starts from: if the file's application cannot be read, nothing else is asked for.
pub(crate) fn blank() -> ApplicationConfig {
    ConstantRateConfig::ONE_MEGABIT.into()
}
