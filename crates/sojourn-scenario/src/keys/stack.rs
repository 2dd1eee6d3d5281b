//! The stack of a traffic entry; its keys stand beside the parameters of transports.

use sojourn_keys::{Choice, KindInfo, Profile, Visitor};
use sojourn_transport::StackConfig;

use crate::model::Stack;

/// A stack as a choice among all named ones.
pub(crate) struct StackChoice<'a>(pub(crate) &'a mut Stack);

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
        known
            .find(|profile| profile.name == self.0.name)
            .map_or("", |profile| profile.name)
    }

    fn select(&mut self, kind: &str, _profile: Option<&str>) {
        if let Some(config) = StackConfig::by_name(kind) {
            *self.0 = Stack {
                name: kind.to_owned(),
                config,
            };
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
