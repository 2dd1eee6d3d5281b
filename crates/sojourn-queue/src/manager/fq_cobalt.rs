//! FQ-COBALT: every flow has its own queue and its own COBALT, and new flows go first.
//!
//! Source: the scheduler of RFC 8290 with the controller of ns-3 `cobalt-queue-disc.cc`; defaults of ns-3
//! `fq-cobalt-queue-disc.cc`; Linux `sch_cake` (eight ways, decaying flows, the last packet of a flow is kept, and the
//! COBALT of the queue that pays for an overflow is notified).
//! Deviations: those of [`crate::policy::cobalt`] and [`crate::store::flow_lists`]. Tins and shares by host are
//! [`crate::manager::cake`]'s.

use crate::manager::cobalt::CobaltOver;
use crate::manager::law::{LawQueue, law_config};
use crate::policy::cobalt::CobaltLaw;
use crate::store::flow_lists::FlowListsConfig;
use sojourn_keys::{origin, parameters};

parameters! {
    /// Parameters of FQ-COBALT.
    #[derive(Copy)]
    pub struct FqCobaltConfig: "fq-cobalt", "FQ-COBALT: flow queues, new ones first, each with a COBALT" {
        /// the flow queues and their common limits
        flows: FlowListsConfig = FlowListsConfig { ways: 8, ..FlowListsConfig::BASE };
        /// when a queue is signalled
        law: CobaltLaw = CobaltLaw { ecn: true, ..CobaltLaw::LINUX };
        /// what COBALT remembers of a queue that ran empty fades, a step each time that a packet is looked for (CAKE); otherwise it stands still until the queue's next packet (ns-3)
        ///
        /// One of those queues steps back each time, until all are at rest.
        decays: bool = true, origin("Linux sch_cake; ns-3: off");
    }
    profiles {
        /// a tin of CAKE with the rate of the link for that of its shaper: 5 ms in 100 ms, ECN, 1024 queues in sets of eight
        ///
        /// Their COBALTs do not stand still while they are empty, keep the last packet, and allow for what the link takes.
        CAKE "cake" {}
        /// defaults of ns-3: a plain hash, the last packet of a flow is dropped as any other, nothing is known of the link
        NS3 "ns3" {
            flows = FlowListsConfig::BASE;
            law = CobaltLaw { ecn: true, ..CobaltLaw::NS3 };
            decays = false;
        }
    }
}

law_config!(FqCobaltConfig, flows: FlowListsConfig, CobaltOver = |it| CobaltOver::new(it.law, it.decays));

/// Flow queues, each with a COBALT.
pub type FqCobaltQueue = LawQueue<FqCobaltConfig>;
