//! FQ-PIE: every flow has its own queue and its own PIE, and new flows go first.
//!
//! Source: the scheduler of RFC 8290 with the controller of RFC 8033; defaults of the ns-3 FQ-PIE
//! queue disc.
//! Deviations: those of [`crate::policy::pie`] and [`crate::store::flow_lists`].

use crate::manager::law::{LawQueue, law_config};
use crate::manager::pie::PieOver;
use crate::policy::pie::PieLaw;
use crate::store::flow_lists::FlowListsConfig;
use sojourn_keys::parameters;

parameters! {
    /// Parameters of FQ-PIE.
    #[derive(Copy)]
    pub struct FqPieConfig: "fq-pie", "FQ-PIE: flow queues, new ones first, each with a PIE" {
        /// the flow queues and their common limits
        flows: FlowListsConfig = FlowListsConfig::BASE;
        /// when a queue is signalled; all queues update at the same instant
        law: PieLaw = PieLaw { ecn: true, ..PieLaw::RFC8033 };
    }
    profiles {
        /// defaults of ns-3: RFC 8033 with ECN over 1024 queues
        NS3 "ns3" {}
    }
}

law_config!(FqPieConfig, flows: FlowListsConfig, PieOver = |it| PieOver::each(it.law));

/// Flow queues, each guarded by a PIE.
pub type FqPieQueue = LawQueue<FqPieConfig>;
