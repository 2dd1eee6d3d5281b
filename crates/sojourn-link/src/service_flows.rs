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
//! Deviations: service flows of DOCSIS 3.0 and of a shaper have rates of their own, as there are no aggregates before DOCSIS
//! 3.1; so have those of a modem of a service group, each of which asks for its grants and has its turn as a modem of its own.
//! On a congested channel what is left to a modem is left to each of its service flows that has a rate of its own.

pub mod config;
pub(crate) mod modem;
mod placed;
mod rules;

pub(crate) use rules::Rules;

pub use config::{AggregateConfig, ClassifierConfig, FlowsConfig, MarkingConfig, ServiceFlowConfig};

use crate::any::AnyLink;
use crate::conditions::ConditionConfig;
use crate::docsis31::config::{DownstreamConfig, UpstreamConfig};
use crate::docsis31::downstream::Downstream;
use crate::docsis31::upstream::Upstream;
use crate::kind::{LinkConfig, LinkParameters};
use alloc::boxed::Box;
use alloc::vec::Vec;
use config::is_pair;
use modem::{Flow, Member, Modem};
use placed::Placed;
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
        let aggregates: Vec<Option<usize>> = flows.service_flows.iter().map(|flow| flows.aggregate_of(flow)).collect();
        let first_shares = aggregates.contains(&Some(0));
        let manager = placed(&self.queue.clone().at(self.drain_rate()));
        let rates = (self.drain_rate(), conditions);
        let first = member(&self.link, manager, first_shares, rates);
        let mut members = Vec::with_capacity(1 + flows.service_flows.len());
        members.push(Flow::new(first, is_pair(&self.queue), (Some(0), None), 0));
        for (flow, aggregate) in flows.service_flows.iter().zip(&aggregates) {
            let Some(link) = flow.as_link(self, flows) else { break };
            let manager = placed(&flow.queue.clone().at(flow.drain_rate(&link)));
            let is_alone = aggregates.iter().filter(|other| *other == aggregate).count() < 2;
            let shares = aggregate.is_some() && (*aggregate == Some(0) || !is_alone);
            let member = member(&link, manager, shares, (flow.drain_rate(&link), &[]));
            members.push(Flow::new(member, is_pair(&flow.queue), (*aggregate, flow.own()), flow.traffic_priority));
        }
        let modem = Modem::new(Rules::new(flows), members);
        AnyLink::other(modem).under(conditions)
    }
}

impl FlowsConfig {
    /// Service flows of a modem of a service group, the first among them, each as a modem of its own; and whether each is a pair.
    pub(crate) fn as_modems(&self, first: &LinkConfig) -> Vec<(LinkConfig, bool)> {
        let further = self.service_flows.iter().filter_map(|flow| {
            let link = flow.as_link(first, self)?;
            Some(LinkConfig { link, queue: flow.queue.clone() })
        });
        let all = core::iter::once(first.clone()).chain(further);
        all.map(|config| (is_pair(&config.queue), config)).map(|(is_pair, config)| (config, is_pair)).collect()
    }
}

/// A running service flow. One that shares nothing is a link as any other, but for those upstream, whose MAPs are made
/// together.
fn member(
    config: &LinkParameters,
    manager: Box<dyn QueueManager>,
    shares: bool,
    (rate, conditions): (BitRate, &[ConditionConfig]),
) -> Member {
    if let Some(config) = config.get::<UpstreamConfig>() {
        return Member::Sharing(Box::new(Upstream::new(config, manager)));
    }
    match config.get::<DownstreamConfig>().filter(|_| shares) {
        Some(config) => Member::Sharing(Box::new(Downstream::new(config, manager))),
        None => Member::Other(config.build(manager).at_rates_of(rate, conditions).pointed()),
    }
}

/// A running manager that obeys rules if it has two queues.
pub(crate) fn placed(config: &ManagerConfig) -> Box<dyn QueueManager> {
    let has_two = is_pair(config);
    let manager = config.build();
    if has_two { Box::new(Placed::new(manager)) } else { manager }
}
