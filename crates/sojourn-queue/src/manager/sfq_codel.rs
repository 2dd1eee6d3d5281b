//! SFQ-CoDel as White 2013 used it: hashed sub-flows take turns, and each has a CoDel of its own.
//!
//! Source: White 2013 §2.2 and §3.2; ns-2 `queue/sfqcodel.cc`, March 2013.
//! Deviations: those of [`crate::policy::codel`] and [`crate::store::sub_flows`].

use crate::config::{ConfigProblem, ManagerKind};
use crate::manager::codel_service::{HeadSource, Look, serve};
use crate::policy::codel::{Codel, CodelLaw, CodelVariant, Floor, Head};
use crate::store::bins::Bins;
use crate::store::sub_flows::{SfqConfig, SubFlows};
use crate::{Backlog, FlowFields, Held, QueueContext, QueueManager, Verdict};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use sojourn_base::{Instant, Limit, Meta, PacketHandle};
use sojourn_keys::parameters;

parameters! {
    /// Parameters of SFQ-CoDel.
    #[derive(Copy, Eq)]
    pub struct SfqCodelConfig: "sfq-codel", "SFQ-CoDel of 2013: sub-flows that take turns, each with a CoDel" {
        /// the sub-flows, their round and their common limit
        sub_flows: SfqConfig = SfqConfig::WHITE2013;
        /// when a sub-flow is signalled
        law: CodelLaw = CodelLaw { variant: CodelVariant::Sfq2013, ..CodelLaw::WHITE2013 };
    }
    profiles {
        /// White 2013 §2.2, §3.2: 32 sub-flows, 300 B a round, 10 ms in 150 ms, 625,000 B
        WHITE2013 "white2013" {}
    }
}

impl ManagerKind for SfqCodelConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(SfqCodelQueue::new(*self))
    }

    fn bytes(&self) -> u64 {
        self.sub_flows.bytes_with(size_of::<Codel>())
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        Some(&mut self.sub_flows.limit)
    }

    fn flow_fields(&self) -> Option<FlowFields> {
        Some(self.sub_flows.fields)
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.sub_flows.collect_problems(problems);
        self.law.collect_problems(problems);
    }
}

/// Sub-flows in a ring, each with a CoDel.
#[derive(Clone, Debug)]
pub struct SfqCodelQueue {
    law: CodelLaw,
    sub_flows: SubFlows,
    codels: Vec<Codel>,
    /// One for all sub-flows.
    floor: Floor,
}

impl SfqCodelQueue {
    /// An empty queue.
    ///
    /// # Panics
    /// If the limit is a time.
    pub fn new(config: SfqCodelConfig) -> Self {
        let sub_flows = SubFlows::new(&config.sub_flows);
        Self {
            law: config.law,
            codels: alloc::vec![Codel::default(); sub_flows.bins.lines()],
            sub_flows,
            floor: Floor::new(config.law.floor),
        }
    }

    /// The decision state of the sub-flow that `hash` belongs to.
    pub fn codel(&self, flow_hash: u32) -> &Codel {
        &self.codels[self.sub_flows.hashed(flow_hash)]
    }
}

/// One sub-flow; CoDel compares the floor with the backlog of all of them, but never empties one.
struct SubFlow<'a> {
    bins: &'a mut Bins,
    bin: usize,
    floor: &'a mut Floor,
}

impl HeadSource for SubFlow<'_> {
    #[inline]
    fn look(&mut self, now: Instant) -> Option<Look> {
        let (meta, enqueued_at) = self.bins.head(self.bin)?;
        let left = self.bins.backlog().bytes.0 - u64::from(meta.length);
        let much_waits = self.floor.on_leaving(meta.length, left);
        let head = Head {
            sojourn: now.saturating_since(enqueued_at),
            above_floor: much_waits && self.bins.packets_in(self.bin) > 1,
        };
        let ecn = meta.ecn;
        Some(Look { head, ecn })
    }

    #[inline]
    fn take(&mut self) -> Option<Held> {
        self.bins.pop(self.bin)
    }
}

impl QueueManager for SfqCodelQueue {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        self.sub_flows.enqueue(Held::new(now, meta, item), context)
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        let SubFlows { bins, ring, .. } = &mut self.sub_flows;
        let codels = &mut self.codels;
        loop {
            let bin = ring.ready(bins, |emptied| codels[emptied].leave())?;
            let mut sub_flow = SubFlow { bins, bin, floor: &mut self.floor };
            if let Some(packet) = serve(&mut codels[bin], &self.law, &mut sub_flow, now, context) {
                ring.on_sent(packet.meta.length);
                return Some(packet);
            }
        }
    }

    fn retune(&mut self, to: &dyn Any) -> bool {
        let Some(to) = to.downcast_ref::<SfqCodelConfig>() else {
            return false;
        };
        self.sub_flows.retune(&to.sub_flows) && self.law.retune(&to.law)
    }

    fn backlog(&self) -> Backlog {
        self.sub_flows.bins.backlog()
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        Some(self.sub_flows.number_of(meta))
    }
}
