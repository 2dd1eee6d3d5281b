//! Service flows of a modem beside its first one, and the rules that say which packets go to which.
//!
//! A packet first meets the markings, which may rewrite its code point, and then the classifiers: the matching one of
//! the highest priority decides, among equals the first one. A packet without a match goes to the link's own service
//! flow, or to the pair of its two queues, whose manager sorts as it would without rules.
//!
//! | module | content |
//! |---|---|
//! | [`config`] | rules and service flows as files spell them |
//! | `rules` | matches of packets and rules |
//! | `placed` | a manager with two queues, and a given queue for each packet |
//! | `modem` | the link with its rules, and the service flows beside it |
//!
//! Source: White 2019 §2.1 and §2.2 (service flows under an aggregate, with classifiers), §5.2 (code points that are
//! cleared, or marked on behalf of applications); DOCS-IETF-QOS-MIB `docsIetfQosPktClassTable` (RFC 4323) for the
//! criteria and the order of rules.
//! Deviations: downstream there are rules, and no further service flows.

pub mod config;
pub(crate) mod modem;
mod placed;
mod rules;

pub use config::{ClassifierConfig, FlowsConfig, MarkingConfig, ServiceFlowConfig};

use crate::any::AnyLink;
use crate::conditions::ConditionConfig;
use crate::docsis31::config::UpstreamConfig;
use crate::docsis31::upstream::Upstream;
use crate::kind::LinkConfig;
use alloc::boxed::Box;
use alloc::vec::Vec;
use config::is_pair;
use modem::{Flow, Modem};
use placed::Placed;
use rules::Rules;
use sojourn_base::BitRate;
use sojourn_queue::{ManagerConfig, QueueManager};

impl LinkConfig {
    /// An idle link with rules and further service flows, under `conditions`.
    ///
    /// # Panics
    /// As [`LinkConfig::build_under`], or if [`FlowsConfig::problems`] lists something.
    pub fn build_with(&self, flows: &FlowsConfig, conditions: &[ConditionConfig]) -> AnyLink {
        if flows.is_empty() {
            return self.build_under(conditions);
        }
        let is_pair = is_pair(&self.queue);
        let manager = placed(&self.queue.clone().at(self.drain_rate()));
        let upstream = self.link.get::<UpstreamConfig>();
        let mut members = Vec::with_capacity(1 + flows.service_flows.len());
        members.push(if let Some(config) = upstream {
            Flow::first(Upstream::new(config, manager), is_pair)
        } else {
            let link = self.link.build(manager);
            let link = link.at_rates_of(self.drain_rate(), conditions);
            Flow::any(link.pointed(), is_pair)
        });
        for flow in &flows.service_flows {
            let Some(config) = upstream else { break };
            let rate = if flow.rate > BitRate::ZERO { flow.rate } else { self.drain_rate() };
            let queue = flow.queue.clone().at(rate);
            members.push(Flow::beside(config, flow, placed(&queue)));
        }
        let modem = Modem::new(Rules::new(flows), members);
        AnyLink::other(modem).under(conditions)
    }
}

/// A running manager that obeys rules if it has two queues.
fn placed(config: &ManagerConfig) -> Box<dyn QueueManager> {
    let has_two = is_pair(config);
    let manager = config.build();
    if has_two { Box::new(Placed::new(manager)) } else { manager }
}
