//! SFQ-PIE: hashed sub-flows take turns, and PIE guards each of them or all together.
//!
//! Source: White 2013 §5 names it as an open question and prints no parameters.
//! Deviations: chosen: the ring of SFQ-CoDel; a sub-flow's delay is what its last packet had waited,
//! because a departure rate means nothing for a queue that is served in turns.

use crate::config::ConfigProblem;
use crate::manager::law::{LawConfig, LawQueue};
use crate::manager::pie::PieOver;
use crate::policy::pie::{DelaySource, PieLaw};
use crate::store::sub_flows::SfqConfig;
use alloc::vec::Vec;
use sojourn_keys::{origin, parameters, words};

words! {
    /// Scope of a PIE.
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

impl LawConfig for SfqPieConfig {
    type Store = SfqConfig;
    type Law = PieOver;

    fn store(&self) -> &SfqConfig {
        &self.sub_flows
    }

    fn law(&self) -> PieOver {
        match self.scope {
            PieScope::PerBin => PieOver::each(self.law),
            PieScope::Shared => PieOver::all(self.law),
        }
    }

    fn store_mut(&mut self) -> &mut SfqConfig {
        &mut self.sub_flows
    }

    fn collect_law_problems(&self, problems: &mut Vec<ConfigProblem>) {
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
pub type SfqPieQueue = LawQueue<SfqPieConfig>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::pie::Pie;
    use crate::store::waiting::Waiting;
    use crate::{Held, QueueContext, QueueManager, Reason, Verdict};
    use alloc::collections::VecDeque;
    use sojourn_base::{Instant, Meta, PacketHandle, Span};

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
        *queue.state_mut(0) = Pie::new(&config.law).with_probability(0.5);
        let mut script = Script { draws: [0.4, 0.6, 0.4].into(), early: 0 };
        let verdicts = [0, 1, 0].map(|flow_hash| {
            let meta = Meta { length: 1500, flow_hash, ..Meta::default() };
            queue.enqueue(Instant::ZERO, meta, PacketHandle::default(), &mut script) == Verdict::Accepted
        });
        assert_eq!(verdicts, [false, true, false]);
        assert_eq!(script.early, 2);
        assert_eq!([0, 1].map(|bin| queue.packets().bytes_in(bin)), [0, 1500]);
    }
}
