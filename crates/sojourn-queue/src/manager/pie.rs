//! PIE over one first-in, first-out queue: it drops arrivals, never what already waits.
//!
//! Source: RFC 8033; draft-pan-tsvwg-pie-00 as in White 2013 §2.3 and §3.2.
//! Deviations: those of [`crate::policy::pie`].

use crate::config::{ConfigProblem, LIMIT};
use crate::manager::law::{Law, LawQueue, law_config};
use crate::manager::mark;
use crate::policy::pie::{BurstRule, Pie, PieLaw, PieVerdict};
use crate::store::waiting::Waiting;
use crate::{Held, QueueContext, Reason};
use alloc::vec::Vec;
use sojourn_base::{Bytes, Instant, Limit, Packets, Span};
use sojourn_keys::parameters;

parameters! {
    /// Parameters of a PIE queue.
    #[derive(Copy)]
    pub struct PieConfig: "pie", "PIE: drops at the tail with a probability that follows the delay" {
        limit: Limit = Limit::Packets(Packets(1000)), LIMIT;
        /// when to signal
        law: PieLaw = PieLaw::RFC8033;
    }
    profiles {
        /// RFC 8033: 15 ms, 1000 packets
        ///
        /// chosen: 1000 packets, the default of the Linux queue discipline.
        RFC8033 "rfc8033" {}
        /// draft-pan-tsvwg-pie-00: 20 ms, 1000 packets
        ///
        /// Those of the first Linux `sch_pie`.
        DRAFT00 "draft00" { law = PieLaw::DRAFT00; }
        /// White 2013 §2.3, §3.2: 5 ms, 300,000 B
        WHITE2013 "white2013" { law = PieLaw::WHITE2013; limit = Limit::Bytes(Bytes(300_000)); }
    }
}

law_config!(PieConfig, limit: Limit, PieOver = |it| PieOver::each(it.law));

impl PieLaw {
    pub(crate) fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        for (field, span) in [("reference", self.reference), ("update_interval", self.update_interval)] {
            if span.is_zero() {
                problems.push(ConfigProblem {
                    field,
                    message: alloc::format!("{field} is zero"),
                    hint: "15 ms (RFC 8033)",
                });
            }
        }
        for (field, gain) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(gain.is_finite() && gain >= 0.0) {
                problems.push(ConfigProblem {
                    field,
                    message: alloc::format!("{gain} is not a gain"),
                    hint: "a number of 1/s, not negative",
                });
            }
        }
        require_probability(self.mark_threshold, problems);
        if self.burst_rule == BurstRule::AfterQuiet(Span::ZERO) {
            problems.push(ConfigProblem {
                field: "burst_rule",
                message: alloc::string::String::from("a quiet time of zero"),
                hint: "1.5 s (ns-3)",
            });
        }
    }
}

/// Complains about a `mark_threshold` that is no probability.
pub(crate) fn require_probability(mark_threshold: f64, problems: &mut Vec<ConfigProblem>) {
    if !(0.0..=1.0).contains(&mark_threshold) {
        problems.push(ConfigProblem {
            field: "mark_threshold",
            message: alloc::format!("{mark_threshold} is not a probability"),
            hint: "0.1 (RFC 8033)",
        });
    }
}

/// A first-in, first-out queue guarded by PIE.
pub type PieQueue = LawQueue<PieConfig>;

/// PIE, which judges arrivals.
#[derive(Clone, Debug)]
pub struct PieOver {
    law: PieLaw,
    is_shared: bool,
}

impl PieOver {
    /// One PIE for each line.
    pub const fn each(law: PieLaw) -> Self {
        Self { law, is_shared: false }
    }

    /// One PIE for the backlog of all lines.
    pub const fn all(law: PieLaw) -> Self {
        Self { law, is_shared: true }
    }
}

impl Law for PieOver {
    type State = Pie;

    fn state(&self) -> Pie {
        Pie::new(&self.law)
    }

    fn retune(&mut self, to: Self) -> bool {
        let fixed = |it: &PieLaw| (it.update_interval, it.delay_source, it.burst_rule, it.activation);
        let is_same = fixed(&self.law) == fixed(&to.law) && self.is_shared == to.is_shared;
        *self = to;
        is_same
    }

    fn update_interval(&self) -> Option<Span> {
        Some(self.law.update_interval)
    }

    #[inline]
    fn is_shared(&self) -> bool {
        self.is_shared
    }

    #[inline]
    fn judge_arrival(
        &self,
        pie: &mut Pie,
        packet: &mut Held,
        waiting: u64,
        context: &mut dyn QueueContext,
    ) -> Option<Reason> {
        match pie.on_arrival(&self.law, packet.meta.length, waiting, || context.unit()) {
            PieVerdict::Pass => None,
            PieVerdict::Mark => mark_or_drop(packet, context),
            PieVerdict::Drop => Some(Reason::Early),
        }
    }

    fn on_overflow(&self, pie: &mut Pie, _now: Instant) {
        pie.on_overflow();
    }

    #[inline]
    fn take(
        &mut self,
        pie: &mut Pie,
        (packets, line): (&mut impl Waiting, usize),
        now: Instant,
        _context: &mut dyn QueueContext,
    ) -> Option<Held> {
        let packet = packets.pop(line)?;
        let sojourn = now.saturating_since(packet.enqueued_at);
        pie.on_departure(&self.law, packet.meta.length, sojourn, packets.bytes_for(line, self.is_shared), now);
        Some(packet)
    }

    fn on_update(&self, pie: &mut Pie, waiting: u64, _context: &mut dyn QueueContext) {
        pie.on_update(&self.law, waiting);
    }
}

/// An arrival is marked if it can be, and leaves otherwise.
#[cold]
fn mark_or_drop(packet: &mut Held, context: &mut dyn QueueContext) -> Option<Reason> {
    (!mark(packet, Reason::Early, context)).then_some(Reason::Early)
}
