//! FQ-COBALT: every flow has its own queue and its own COBALT, and new flows go first.
//!
//! Source: the scheduler of RFC 8290 with the controller of ns-3 `cobalt-queue-disc.cc`; defaults of ns-3
//! `fq-cobalt-queue-disc.cc`; Linux `sch_cake` (eight ways, decaying flows, the last packet of a flow is kept, and the
//! COBALT of the queue that pays for an overflow is told).
//! Deviations: those of [`crate::policy::cobalt`] and [`crate::store::flow_lists`]. Tins and shares by host are
//! [`crate::manager::cake`]'s.

use crate::config::{ConfigProblem, ManagerKind};
use crate::manager::cobalt::judge_head;
use crate::policy::cobalt::{Cobalt, CobaltAtLink, CobaltLaw};
use crate::store::flow_lists::{FlowLists, FlowListsConfig};
use crate::{Backlog, FlowFields, Held, QueueContext, QueueManager, Verdict};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use sojourn_base::{Instant, Limit, Meta, PacketHandle};
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

impl ManagerKind for FqCobaltConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(FqCobaltQueue::new(*self))
    }

    fn bytes(&self) -> u64 {
        self.flows.bytes_with(size_of::<Cobalt>())
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        Some(&mut self.flows.limit)
    }

    fn flow_fields(&self) -> Option<FlowFields> {
        Some(self.flows.fields)
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.flows.collect_problems(problems);
        self.law.collect_problems(problems);
    }
}

/// Flow queues, each with a COBALT.
#[derive(Clone, Debug)]
pub struct FqCobaltQueue {
    at: CobaltAtLink,
    flows: FlowLists,
    cobalts: Vec<Cobalt>,
    decays: bool,
}

impl FqCobaltQueue {
    /// An empty queue.
    ///
    /// # Panics
    /// If the limit is a time.
    pub fn new(config: FqCobaltConfig) -> Self {
        let flows = FlowLists::new(&config.flows);
        Self {
            at: CobaltAtLink::new(config.law),
            cobalts: alloc::vec![Cobalt::default(); flows.bins.lines()],
            flows,
            decays: config.decays,
        }
    }

    /// The decision state of a queue, for records and tests.
    ///
    /// # Panics
    /// If there is no such queue.
    pub fn cobalt(&self, queue: usize) -> &Cobalt {
        &self.cobalts[queue]
    }

    /// One of the queues that ran empty steps back.
    #[inline]
    fn decay(&mut self, now: Instant) {
        if let Some(queue) = self.flows.decaying() {
            let cobalt = &mut self.cobalts[queue];
            cobalt.on_empty(self.at.law(), now);
            self.flows.on_decayed(queue, cobalt.is_at_rest(now));
        }
    }
}

impl QueueManager for FqCobaltQueue {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        let queue = self.flows.queue_of(&meta);
        self.cobalts[queue].on_arrival(now);
        let verdict = self.flows.enqueue(queue, Held::new(now, meta, item), context);
        if let Some(payer) = self.flows.take_payer() {
            self.cobalts[payer].on_overflow(self.at.law(), now);
        }
        verdict
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        self.at.look(context);
        self.decay(now);
        loop {
            let queue = self.flows.ready()?;
            let cobalt = &mut self.cobalts[queue];
            let Some(packet) = self.flows.bins.pop(queue) else {
                cobalt.on_empty(self.at.law(), now);
                self.flows.on_empty(queue);
                if self.decays && !cobalt.is_at_rest(now) {
                    self.flows.let_decay(queue);
                }
                continue;
            };
            let is_last = self.flows.bins.is_empty(queue);
            let Some(packet) = judge_head(cobalt, &self.at, now, packet, is_last, context) else {
                continue;
            };
            self.flows.on_sent(queue, packet.meta.length);
            return Some(packet);
        }
    }

    fn retune(&mut self, to: &dyn Any) -> bool {
        let Some(to) = to.downcast_ref::<FqCobaltConfig>() else {
            return false;
        };
        self.at = CobaltAtLink::new(to.law);
        self.flows.retune(&to.flows) && self.decays == to.decays
    }

    fn backlog(&self) -> Backlog {
        self.flows.bins.backlog()
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.flows.only_queue_of(meta)
    }
}
