//! FQ-CoDel: every flow has its own queue and its own CoDel, and new flows go first.
//!
//! Source: RFC 8290; the parts it leaves open after the ns-3 FQ-CoDel queue disc.
//! Deviations: those of [`crate::policy::codel`] and [`crate::store::flow_lists`].

use crate::config::{ConfigProblem, ManagerKind};
use crate::manager::codel_service::{HeadSource, Look, serve};
use crate::policy::codel::{Codel, CodelLaw, Floor, Head};
use crate::store::bins::Bins;
use crate::store::flow_lists::{FlowLists, FlowListsConfig};
use crate::{Backlog, FlowFields, Held, QueueContext, QueueManager, Verdict};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use sojourn_base::{Instant, Limit, Meta, PacketHandle};
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

impl ManagerKind for FqCodelConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(FqCodelQueue::new(*self))
    }

    fn bytes(&self) -> u64 {
        self.flows.bytes_with(size_of::<(Codel, Floor)>())
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

/// Flow queues, each with a CoDel.
#[derive(Clone, Debug)]
pub struct FqCodelQueue {
    law: CodelLaw,
    flows: FlowLists,
    /// Decision state and floor of each queue.
    codels: Vec<(Codel, Floor)>,
}

impl FqCodelQueue {
    /// An empty queue.
    ///
    /// # Panics
    /// If the limit is a time.
    pub fn new(config: FqCodelConfig) -> Self {
        let flows = FlowLists::new(&config.flows);
        let state = (Codel::default(), Floor::new(config.law.floor));
        Self { law: config.law, codels: alloc::vec![state; flows.bins.lines()], flows }
    }
}

/// One flow's queue, with the floor on its own backlog.
struct FlowQueue<'a> {
    bins: &'a mut Bins,
    queue: usize,
    floor: &'a mut Floor,
}

impl HeadSource for FlowQueue<'_> {
    #[inline]
    fn look(&mut self, now: Instant) -> Option<Look> {
        let (meta, enqueued_at) = self.bins.head(self.queue)?;
        let left = self.bins.bytes_in(self.queue) - u64::from(meta.length);
        let head =
            Head { sojourn: now.saturating_since(enqueued_at), above_floor: self.floor.on_leaving(meta.length, left) };
        let ecn = meta.ecn;
        Some(Look { head, ecn })
    }

    #[inline]
    fn take(&mut self) -> Option<Held> {
        self.bins.pop(self.queue)
    }
}

impl QueueManager for FqCodelQueue {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        let queue = self.flows.queue_of(&meta);
        self.flows.enqueue(queue, Held::new(now, meta, item), context)
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        loop {
            let queue = self.flows.ready()?;
            let (codel, floor) = &mut self.codels[queue];
            let mut flow = FlowQueue { bins: &mut self.flows.bins, queue, floor };
            if let Some(packet) = serve(codel, &self.law, &mut flow, now, context) {
                self.flows.on_sent(queue, packet.meta.length);
                return Some(packet);
            }
            self.flows.on_empty(queue);
        }
    }

    fn retune(&mut self, to: &dyn Any) -> bool {
        let Some(to) = to.downcast_ref::<FqCodelConfig>() else {
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
}
