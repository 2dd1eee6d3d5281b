//! FQ-PIE: every flow has its own queue and its own PIE, and new flows go first.
//!
//! Source: the scheduler of RFC 8290 with the controller of RFC 8033; defaults of the ns-3 FQ-PIE
//! queue disc.
//! Deviations: those of [`crate::policy::pie`] and [`crate::store::flow_lists`].

use crate::config::{ConfigProblem, ManagerKind};
use crate::manager::period::Period;
use crate::manager::pie::admit;
use crate::policy::pie::{Pie, PieLaw};
use crate::store::flow_lists::{FlowLists, FlowListsConfig};
use crate::{Backlog, FlowFields, Held, QueueContext, QueueManager, Verdict};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use sojourn_base::{Instant, Limit, Meta, PacketHandle};
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

impl ManagerKind for FqPieConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(FqPieQueue::new(*self))
    }

    fn bytes(&self) -> u64 {
        self.flows.bytes_with(size_of::<Pie>())
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

/// Flow queues, each guarded by a PIE.
#[derive(Clone, Debug)]
pub struct FqPieQueue {
    law: PieLaw,
    flows: FlowLists,
    pies: Vec<Pie>,
    period: Period,
}

impl FqPieQueue {
    /// An empty queue.
    ///
    /// # Panics
    /// If the limit is a time.
    pub fn new(config: FqPieConfig) -> Self {
        let flows = FlowLists::new(&config.flows);
        Self {
            law: config.law,
            pies: alloc::vec![Pie::new(&config.law); flows.bins.lines()],
            flows,
            period: Period::new(config.law.update_interval),
        }
    }

    /// The decision state of a queue, for records and tests.
    ///
    /// # Panics
    /// If there is no such queue.
    pub fn pie(&self, queue: usize) -> &Pie {
        &self.pies[queue]
    }
}

impl QueueManager for FqPieQueue {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        let queue = self.flows.queue_of(&meta);
        let backlog = self.flows.bins.bytes_in(queue);
        let packet = Held::new(now, meta, item).in_sub_flow(queue);
        match admit(&mut self.pies[queue], &self.law, packet, backlog, context) {
            Ok(packet) => self.flows.enqueue(queue, packet, context),
            Err(verdict) => verdict,
        }
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, _environment: &mut dyn QueueContext) -> Option<Held> {
        loop {
            let queue = self.flows.ready()?;
            let Some(packet) = self.flows.bins.pop(queue) else {
                self.flows.on_empty(queue);
                continue;
            };
            let length = packet.meta.length;
            let sojourn = now.saturating_since(packet.enqueued_at);
            let backlog = self.flows.bins.bytes_in(queue);
            self.pies[queue].on_departure(&self.law, length, sojourn, backlog, now);
            self.flows.on_sent(queue, length);
            return Some(packet);
        }
    }

    fn retune(&mut self, to: &dyn Any) -> bool {
        let Some(to) = to.downcast_ref::<FqPieConfig>() else {
            return false;
        };
        self.flows.retune(&to.flows) && self.law.retune(&to.law)
    }

    fn backlog(&self) -> Backlog {
        self.flows.bins.backlog()
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.flows.only_queue_of(meta)
    }

    fn next_timer(&self) -> Option<Instant> {
        Some(self.period.next())
    }

    fn on_timer(&mut self, now: Instant, context: &mut dyn QueueContext) {
        if self.period.is_due(now) {
            context.worked(self.pies.len() as u64);
            for (queue, pie) in self.pies.iter_mut().enumerate() {
                pie.on_update(&self.law, self.flows.bins.bytes_in(queue));
            }
        }
    }
}
