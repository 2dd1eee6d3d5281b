//! DOCSIS-PIE over the queue of one upstream service flow.
//!
//! Source: RFC 8034; buffer of White 2019 from the experiment scripts of docsis-ns3.
//! Deviations: those of [`crate::policy::docsis_pie`]; marks in place of drops, off by default, are those of PIE (RFC 8033
//! §5.1): RFC 8034 §4.7 has none.

use crate::config::{ConfigProblem, LIMIT};
use crate::manager::law::{Law, LawConfig, LawQueue};
use crate::manager::mark;
use crate::manager::pie::require_probability;
use crate::policy::docsis_pie::{DocsisPie, DocsisPieLaw, UPDATE_INTERVAL, shaper_delay};
use crate::policy::pie::{ECN, MARK_THRESHOLD, PieLaw};
use crate::{Held, QueueContext, Reason};
use alloc::vec::Vec;
use sojourn_base::{Bytes, Instant, Limit, ServiceQueue, Span};
use sojourn_keys::parameters;

parameters! {
    /// Parameters of a DOCSIS-PIE queue. The limit is the buffer of the service flow, in bytes or time (BUFFER_SIZE).
    #[derive(Copy)]
    pub struct DocsisPieConfig: "docsis-pie", "DOCSIS-PIE over one service flow's queue" {
        // 100 ms at the larger of the flow's rates (docsis-ns3 default).
        limit: Limit = Limit::Time(Span::from_ms(100)), LIMIT;
        /// when to signal
        law: DocsisPieLaw = DocsisPieLaw::RFC8034;
        // A modem that keeps to RFC 8034 does not mark.
        ecn: bool = false, ECN.origin("RFC 8034 §4.7: off");
        // For a packet of mean length.
        mark_threshold: f64 = PieLaw::RFC8033.mark_threshold, MARK_THRESHOLD;
    }
    profiles {
        /// RFC 8034: 10 ms, a buffer of 100 ms
        RFC8034 "rfc8034" {}
        /// White 2019: 10 ms, a buffer of 250 ms at 50 Mb/s
        ///
        /// One upstream service flow with AQM.
        WHITE2019_UPSTREAM "white2019-upstream" { limit = Limit::Bytes(Bytes(1_562_500)); }
    }
}

impl LawConfig for DocsisPieConfig {
    type Store = Limit;
    type Law = DocsisPieOver;

    fn store(&self) -> &Limit {
        &self.limit
    }

    fn law(&self) -> DocsisPieOver {
        let Limit::Bytes(Bytes(buffer)) = self.limit else {
            panic!("a service flow's buffer is in bytes, not {}", self.limit);
        };
        DocsisPieOver { law: self.law, ecn: self.ecn, mark_threshold: self.mark_threshold, buffer }
    }

    fn store_mut(&mut self) -> &mut Limit {
        &mut self.limit
    }

    fn collect_law_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.law.collect_problems(self.limit, problems);
        require_probability(self.mark_threshold, problems);
    }
}

impl DocsisPieLaw {
    /// Collects errors of the law over a buffer of `limit`.
    pub(crate) fn collect_problems(&self, limit: Limit, problems: &mut Vec<ConfigProblem>) {
        if matches!(limit, Limit::Packets(_)) {
            problems.push(ConfigProblem {
                field: "limit",
                message: alloc::format!("a service flow's buffer is not counted in {limit}"),
                hint: "bytes or a time, for instance \"100 ms\"",
            });
        }
        if self.target.is_zero() {
            problems.push(ConfigProblem {
                field: "target",
                message: alloc::string::String::from("target is zero"),
                hint: "10 ms (RFC 8034)",
            });
        }
    }
}

/// A first-in, first-out queue guarded by DOCSIS-PIE. Its limit must be in bytes.
pub type DocsisPieQueue = LawQueue<DocsisPieConfig>;

/// DOCSIS-PIE over a buffer.
#[derive(Clone, Debug)]
pub struct DocsisPieOver {
    law: DocsisPieLaw,
    ecn: bool,
    mark_threshold: f64,
    /// In bytes.
    buffer: u64,
}

impl DocsisPieOver {
    /// Returns true if a signal is a mark, for packets that can carry one.
    fn marks(&self, pie: &DocsisPie) -> bool {
        self.ecn && pie.probability() < self.mark_threshold
    }
}

impl Law for DocsisPieOver {
    type State = DocsisPie;

    const ESTIMATES_DELAY: bool = true;

    fn state(&self) -> DocsisPie {
        DocsisPie::default()
    }

    fn retune(&mut self, to: Self) -> bool {
        *self = to;
        true
    }

    fn update_interval(&self) -> Option<Span> {
        Some(UPDATE_INTERVAL)
    }

    #[inline]
    fn judge_arrival(
        &self,
        pie: &mut DocsisPie,
        packet: &mut Held,
        waiting: u64,
        context: &mut dyn QueueContext,
    ) -> Option<Reason> {
        let is_early = pie.on_arrival(&self.law, packet.meta.length, waiting, self.buffer, || context.unit());
        if is_early && !(self.marks(pie) && mark(packet, Reason::Early, context)) {
            return Some(Reason::Early);
        }
        context.estimated(packet, pie.delay());
        None
    }

    fn on_overflow(&self, pie: &mut DocsisPie, _now: Instant) {
        pie.on_overflow();
    }

    fn on_update(&self, pie: &mut DocsisPie, waiting: u64, context: &mut dyn QueueContext) {
        let queued = waiting + context.staged(ServiceQueue::Classic).0;
        pie.on_update(&self.law, shaper_delay(queued, &context.shaper()));
    }
}
