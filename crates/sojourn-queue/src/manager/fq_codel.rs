//! FQ-CoDel: every flow has its own queue and its own CoDel, and new flows go first.
//!
//! Source: RFC 8290; the parts it leaves open after the ns-3 FQ-CoDel queue disc.
//! Deviations: those of [`crate::policy::codel`] and [`crate::store::flow_lists`].

use crate::manager::codel::CodelOver;
use crate::manager::law::{LawQueue, law_config};
use crate::policy::codel::CodelLaw;
use crate::store::flow_lists::FlowListsConfig;
use sojourn_keys::parameters;

parameters! {
    /// Parameters of FQ-CoDel.
    #[derive(Copy, Eq)]
    pub struct FqCodelConfig: "fq-codel", "FQ-CoDel: flow queues, new ones first, each with a CoDel" {
        /// the flow queues and their common limits
        flows: FlowListsConfig = FlowListsConfig::BASE;
        /// when a queue is signalled
        law: CodelLaw = CodelLaw { ecn: true, ..CodelLaw::RFC8289 };
    }
    profiles {
        /// RFC 8290 §5.2: 1024 queues, 5 ms in 100 ms, ECN, 10,240 packets
        RFC8290 "rfc8290" {}
    }
}

law_config!(FqCodelConfig, flows: FlowListsConfig, CodelOver<false> = |it| it.law.into());

/// Flow queues, each with a CoDel and a floor on its own backlog.
pub type FqCodelQueue = LawQueue<FqCodelConfig>;
