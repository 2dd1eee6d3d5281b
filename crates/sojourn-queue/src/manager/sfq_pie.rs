//! SFQ-PIE: hashed sub-flows take turns, and PIE guards each of them or all together.
//!
//! Source: White 2013 §5 names it as an open question and prints no parameters.
//! Deviations: chosen: the ring of SFQ-CoDel; a sub-flow's delay is what its last packet had waited,
//! because a departure rate means nothing for a queue that is served in turns.

use crate::config::{ConfigProblem, ManagerKind};
use crate::manager::period::Period;
use crate::manager::pie::admit;
use crate::policy::pie::{DelaySource, Pie, PieLaw};
use crate::store::sub_flows::{SfqConfig, SubFlows};
use crate::{Backlog, FlowFields, Held, QueueContext, QueueManager, Verdict};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use sojourn_base::{Instant, Limit, Meta, PacketHandle};
use sojourn_keys::{origin, parameters, words};

words! {
    /// What a PIE guards.
    pub enum PieScope {
        /// each sub-flow has one of its own
        PerBin = "per-bin",
        /// one for the backlog of all sub-flows
        Shared = "shared",
    }
}

parameters! {
    /// Parameters of SFQ-PIE.
    #[derive(Copy)]
    pub struct SfqPieConfig: "sfq-pie", "sub-flows that take turns, with PIE" {
        /// the sub-flows, their round and their common limit
        // chosen: the 625,000 bytes of White 2013's SFQ-CoDel.
        sub_flows: SfqConfig = SfqConfig::WHITE2013;
        /// what a PIE guards
        scope: PieScope = PieScope::PerBin, origin("chosen: White 2013 names SFQ-PIE without parameters");
        /// when arrivals are signalled
        law: PieLaw = PieLaw { delay_source: DelaySource::LastSojourn, ..PieLaw::WHITE2013 };
    }
    profiles {
        /// White 2013: sub-flows of its SFQ-CoDel, values of its PIE
        WHITE2013 "white2013" {}
    }
}

impl ManagerKind for SfqPieConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(SfqPieQueue::new(*self))
    }

    fn bytes(&self) -> u64 {
        self.sub_flows.bytes_with(size_of::<Pie>())
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
        if self.scope == PieScope::PerBin && matches!(self.law.delay_source, DelaySource::DepartureRate(_)) {
            problems.push(ConfigProblem {
                field: "delay_source",
                message: alloc::string::String::from("a sub-flow that is served in turns has no departure rate"),
                hint: "last-sojourn, or one PIE for all sub-flows",
            });
        }
    }
}

/// Sub-flows in a ring, guarded by PIE.
#[derive(Clone, Debug)]
pub struct SfqPieQueue {
    law: PieLaw,
    sub_flows: SubFlows,
    /// One per sub-flow, or only one.
    pies: Vec<Pie>,
    period: Period,
}

impl SfqPieQueue {
    /// An empty queue.
    ///
    /// # Panics
    /// If the limit is a time.
    pub fn new(config: SfqPieConfig) -> Self {
        let sub_flows = SubFlows::new(&config.sub_flows);
        let pies = match config.scope {
            PieScope::PerBin => sub_flows.bins.lines(),
            PieScope::Shared => 1,
        };
        Self {
            law: config.law,
            pies: alloc::vec![Pie::new(&config.law); pies],
            sub_flows,
            period: Period::new(config.law.update_interval),
        }
    }

    /// The PIE of a sub-flow, and the backlog that it guards.
    fn guard_of(&self, bin: usize) -> (usize, u64) {
        let bins = &self.sub_flows.bins;
        if self.pies.len() == 1 { (0, bins.backlog().bytes.0) } else { (bin, bins.bytes_in(bin)) }
    }
}

impl QueueManager for SfqPieQueue {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        let bin = self.sub_flows.bin_of(&meta);
        let (guard, backlog) = self.guard_of(bin);
        let packet = Held::new(now, meta, item).in_sub_flow(bin);
        match admit(&mut self.pies[guard], &self.law, packet, backlog, context) {
            Ok(packet) => self.sub_flows.enqueue(packet, context),
            Err(verdict) => verdict,
        }
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, _environment: &mut dyn QueueContext) -> Option<Held> {
        let SubFlows { bins, ring, .. } = &mut self.sub_flows;
        let bin = ring.ready(bins, |_| ())?;
        let packet = bins.pop(bin)?;
        let length = packet.meta.length;
        ring.on_sent(length);
        let (guard, backlog) = self.guard_of(bin);
        let sojourn = now.saturating_since(packet.enqueued_at);
        self.pies[guard].on_departure(&self.law, length, sojourn, backlog, now);
        Some(packet)
    }

    fn retune(&mut self, to: &dyn Any) -> bool {
        let Some(to) = to.downcast_ref::<SfqPieConfig>() else {
            return false;
        };
        let guards = match to.scope {
            PieScope::PerBin => self.sub_flows.bins.lines(),
            PieScope::Shared => 1,
        };
        guards == self.pies.len() && self.sub_flows.retune(&to.sub_flows) && self.law.retune(&to.law)
    }

    fn backlog(&self) -> Backlog {
        self.sub_flows.bins.backlog()
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        Some(self.sub_flows.number_of(meta))
    }

    fn next_timer(&self) -> Option<Instant> {
        Some(self.period.next())
    }

    fn on_timer(&mut self, now: Instant, context: &mut dyn QueueContext) {
        if self.period.is_due(now) {
            context.worked(self.pies.len() as u64);
            for guard in 0..self.pies.len() {
                let (guard, backlog) = self.guard_of(guard);
                self.pies[guard].on_update(&self.law, backlog);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;
    use alloc::collections::VecDeque;
    use sojourn_base::Span;
    use std::vec;

    /// Plays back draws and counts early drops.
    struct Script {
        draws: VecDeque<f64>,
        early: u32,
    }

    impl QueueContext for Script {
        fn marked(&mut self, _packet: &Held, reason: Reason) {
            panic!("a mark without ECN: {reason:?}");
        }

        fn dropped(&mut self, _packet: Held, reason: Reason) {
            assert_eq!(reason, Reason::Early);
            self.early += 1;
        }

        fn unit(&mut self) -> f64 {
            self.draws.pop_front().expect("a draw beyond the script")
        }
    }

    #[test]
    fn one_pie_for_all_sub_flows_drops_before_they_are_chosen() {
        let config = SfqPieConfig {
            sub_flows: SfqConfig { quantum: 0, ..SfqConfig::WHITE2013 },
            law: PieLaw { safeguard: false, maximum_burst: Span::ZERO, ..PieLaw::WHITE2013 },
            scope: PieScope::Shared,
        };
        let mut queue = SfqPieQueue::new(config);
        queue.pies[0] = Pie::new(&config.law).with_probability(0.5);
        let mut script = Script { draws: [0.4, 0.6, 0.4].into(), early: 0 };
        let verdicts: Vec<bool> = [0, 1, 0]
            .into_iter()
            .map(|flow_hash| {
                let meta = Meta { length: 1500, flow_hash, ..Meta::default() };
                queue.enqueue(Instant::ZERO, meta, PacketHandle::default(), &mut script) == Verdict::Accepted
            })
            .collect();
        assert_eq!(verdicts, vec![false, true, false]);
        assert_eq!(script.early, 2);
        let bins = &queue.sub_flows.bins;
        assert_eq!((bins.packets_in(0), bins.packets_in(1)), (0, 1));
    }
}
