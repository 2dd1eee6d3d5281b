//! The stack of a traffic entry; its keys stand beside the parameters of transports.

use sojourn_keys::{Choice, Key, KindInfo, Profile, Visitor};
use sojourn_transport::StackConfig;
use sojourn_transport::config::RenoConfig;
use sojourn_transport::habits::Habits;

use crate::model::Stack;

/// The stack of a traffic entry as a file spells it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StackDraft {
    /// The file names it.
    pub(crate) is_said: bool,
    pub(crate) stack: Stack,
}

impl StackDraft {
    pub(crate) fn blank() -> Self {
        Self { is_said: false, stack: blank() }
    }
}

/// Initial value of a reader.
pub(crate) fn blank() -> Stack {
    Stack { name: "ns2-linux-cubic".to_owned(), config: StackConfig::NS2_LINUX_CUBIC }
}

/// Shows the stack of a traffic entry: where it has a meaning it must be there.
pub(crate) fn show(key: Key, stack: &mut StackDraft, visitor: &mut dyn Visitor) {
    stack.is_said |= visitor.has("stack");
    let key = if visitor.is_exhaustive() { key } else { key.required("\"linux-cubic\"") };
    choice(key, &mut stack.stack, visitor);
}

/// Shows a stack as a choice among all named ones.
pub(crate) fn choice(key: Key, stack: &mut Stack, visitor: &mut dyn Visitor) {
    visitor.choice(key, &mut StackChoice(stack));
}

struct StackChoice<'a>(&'a mut Stack);

impl Choice for StackChoice<'_> {
    fn kinds(&self) -> Vec<KindInfo> {
        let info = |profile: &Profile<StackConfig>| KindInfo {
            name: profile.name,
            about: profile.about,
            profiles: Vec::new(),
        };
        StackConfig::PROFILES.iter().map(info).collect()
    }

    fn selected(&self) -> &'static str {
        let mut known = StackConfig::PROFILES.iter();
        known.find(|profile| profile.name == self.0.name).map_or("", |profile| profile.name)
    }

    fn select(&mut self, kind: &str, _profile: Option<&str>) {
        if let Some(config) = StackConfig::by_name(kind) {
            *self.0 = Stack { name: kind.to_owned(), config };
        }
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        self.0.config.keys(visitor);
    }
}

/// The receive window that a stack of ns-2 gets from the rate of the access link; others keep theirs.
pub(crate) fn fit_receive_window(stack: &mut Stack, rate: sojourn_base::BitRate) {
    let fitted = stack.config.with_access_rate(rate);
    stack.config.receive_window = fitted.receive_window;
}

/// Reno in a stack of ns-2's `TCP/Linux` is that of its module; elsewhere it stays as it is.
pub(crate) fn fit_reno(stack: &mut Stack) {
    let profile = StackConfig::by_name(&stack.name);
    let is_ns2_linux = profile.is_some_and(|profile| profile.habits == Habits::NS2_LINUX);
    if is_ns2_linux && stack.config.controller.get::<RenoConfig>().is_some() {
        stack.config.controller = StackConfig::NS2_LINUX_RENO.controller;
    }
}
