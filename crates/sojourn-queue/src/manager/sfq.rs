//! Stochastic fair queueing alone: hashed sub-flows take turns, and nothing signals a standing queue.
//!
//! Source: White 2013 §5.1 asks for the benefit of it; the ring is that of [`crate::store::sub_flows`].
//! Deviations: none known.

use crate::config::{ConfigProblem, ManagerKind};
use crate::store::sub_flows::{SfqConfig, SubFlows};
use crate::{Backlog, FlowFields, Held, QueueContext, QueueManager, Verdict};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use sojourn_base::{Instant, Limit, Meta, PacketHandle};

/// Sub-flows in a ring, without a policy.
#[derive(Clone, Debug)]
pub struct SfqQueue {
    sub_flows: SubFlows,
}

impl SfqQueue {
    /// An empty queue.
    ///
    /// # Panics
    /// If the limit is a time.
    pub fn new(config: SfqConfig) -> Self {
        Self { sub_flows: SubFlows::new(&config) }
    }
}

impl ManagerKind for SfqConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(SfqQueue::new(*self))
    }

    fn bytes(&self) -> u64 {
        self.bytes_with(0)
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        Some(&mut self.limit)
    }

    fn flow_fields(&self) -> Option<FlowFields> {
        Some(self.fields)
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        Self::collect_problems(self, problems);
    }
}

impl QueueManager for SfqQueue {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        self.sub_flows.enqueue(Held::new(now, meta, item), context)
    }

    #[inline(never)]
    fn dequeue(&mut self, _now: Instant, _environment: &mut dyn QueueContext) -> Option<Held> {
        let SubFlows { bins, ring, .. } = &mut self.sub_flows;
        let bin = ring.ready(bins, |_| ())?;
        let packet = bins.pop(bin)?;
        ring.on_sent(packet.meta.length);
        Some(packet)
    }

    fn retune(&mut self, to: &dyn Any) -> bool {
        let Some(to) = to.downcast_ref::<SfqConfig>() else {
            return false;
        };
        self.sub_flows.retune(to)
    }

    fn backlog(&self) -> Backlog {
        self.sub_flows.bins.backlog()
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        Some(self.sub_flows.number_of(meta))
    }
}
