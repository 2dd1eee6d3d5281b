//! The application of a traffic entry; its keys stand beside each application's parameters.

use core::ops::Deref;
use sojourn_apps::{ApplicationConfig, ConstantRateConfig};
use sojourn_keys::{Key, OneOf, Visitor};

/// The application of a traffic entry as a file spells it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApplicationDraft {
    /// The entry says which real packets are its own, and has no application.
    pub(crate) is_absent: bool,
    pub(crate) application: ApplicationConfig,
}

impl Deref for ApplicationDraft {
    type Target = ApplicationConfig;

    fn deref(&self) -> &ApplicationConfig {
        &self.application
    }
}

/// Shows an application as a choice among all kinds.
pub(crate) fn show(key: Key, draft: &mut ApplicationDraft, visitor: &mut dyn Visitor) {
    let key = if visitor.is_exhaustive() {
        key
    } else {
        draft.is_absent |= visitor.has("match") && !visitor.has("app");
        if draft.is_absent {
            return;
        }
        key.required("{ kind = \"voice\" }")
    };
    let kinds = ApplicationConfig::kinds();
    let application = &mut draft.application;
    let mut choice = OneOf::among(application, kinds, |application| application.kind());
    visitor.choice(key, &mut choice);
}

/// Returns true if the application opens connections, and so needs a stack.
pub(crate) fn needs_stack(config: &ApplicationConfig) -> bool {
    config.datagrams().is_none()
}

/// Initial value of a reader. If the file's application cannot be read, its other keys are not checked.
pub(crate) fn blank() -> ApplicationDraft {
    ApplicationDraft { is_absent: false, application: ConstantRateConfig::ONE_MEGABIT.into() }
}
