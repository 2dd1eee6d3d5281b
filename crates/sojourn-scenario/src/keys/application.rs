//! The application of a traffic entry; its keys stand beside each application's parameters.

use sojourn_apps::{ApplicationConfig, ConstantRateConfig};
use sojourn_keys::OneOf;

/// An application as a choice among all kinds.
pub(crate) fn choice(value: &mut ApplicationConfig) -> OneOf<'_, ApplicationConfig> {
    OneOf::among(value, ApplicationConfig::kinds(), |application| {
        application.kind()
    })
}

/// Whether the application opens connections, and so needs a stack.
pub(crate) fn needs_stack(config: &ApplicationConfig) -> bool {
    config.datagrams().is_none()
}

/// What a reader starts from: if the file's application cannot be read, nothing else is asked for.
pub(crate) fn blank() -> ApplicationConfig {
    ConstantRateConfig::ONE_MEGABIT.into()
}
