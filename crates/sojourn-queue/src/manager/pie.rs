//! PIE over one first-in, first-out queue: it drops arrivals, never what already waits.
//!
//! Source: RFC 8033; draft-pan-tsvwg-pie-00 as in White 2013 §2.3 and §3.2.
//! Deviations: those of [`crate::policy::pie`].

use crate::config::{ConfigProblem, LIMIT, ManagerKind, require_room};
use crate::manager::period::Period;
use crate::manager::{mark, refuse};
use crate::policy::pie::{BurstRule, Pie, PieLaw, PieVerdict};
use crate::store::fifo::Fifo;
use crate::store::room::Room;
use crate::{Backlog, Held, QueueContext, QueueManager, Reason, Verdict};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use sojourn_base::{Bytes, Instant, Limit, Meta, PacketHandle, Packets, Span};
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

impl ManagerKind for PieConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(PieQueue::new(*self))
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        Some(&mut self.limit)
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_room(self.limit, problems);
        self.law.collect_problems(problems);
    }
}

impl PieLaw {
    /// Becomes `to`. False if that differs in what is fixed while PIE works.
    pub(crate) fn retune(&mut self, to: &Self) -> bool {
        let fixed = |it: &Self| (it.update_interval, it.delay_source, it.burst_rule, it.activation);
        let is_same = fixed(self) == fixed(to);
        *self = *to;
        is_same
    }

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
#[derive(Clone, Debug)]
pub struct PieQueue {
    law: PieLaw,
    pie: Pie,
    fifo: Fifo,
    room: Room,
    period: Period,
}

impl PieQueue {
    /// An empty queue.
    ///
    /// # Panics
    /// If the limit is a time.
    pub fn new(config: PieConfig) -> Self {
        Self {
            law: config.law,
            pie: Pie::new(&config.law),
            fifo: Fifo::new(),
            room: Room::new(config.limit),
            period: Period::new(config.law.update_interval),
        }
    }

    /// The decision state, for records and tests.
    pub const fn pie(&self) -> &Pie {
        &self.pie
    }

    #[cold]
    fn on_signal(&mut self, verdict: PieVerdict, packet: Held, context: &mut dyn QueueContext) -> Verdict {
        match signal(verdict, packet, context) {
            Ok(packet) => {
                self.fifo.push(packet);
                Verdict::Accepted
            }
            Err(verdict) => verdict,
        }
    }
}

/// Let `pie` judge an arrival: what is accepted (perhaps with a mark) comes back, the rest has left.
pub(crate) fn admit(
    pie: &mut Pie,
    law: &PieLaw,
    packet: Held,
    backlog: u64,
    context: &mut dyn QueueContext,
) -> Result<Held, Verdict> {
    let length = packet.meta.length;
    let verdict = pie.on_arrival(law, length, backlog, || context.unit());
    if verdict == PieVerdict::Pass { Ok(packet) } else { signal(verdict, packet, context) }
}

/// An arrival is marked if it can be and shall be, and leaves otherwise.
#[cold]
fn signal(verdict: PieVerdict, mut packet: Held, context: &mut dyn QueueContext) -> Result<Held, Verdict> {
    if verdict == PieVerdict::Mark && mark(&mut packet, Reason::Early, context) {
        Ok(packet)
    } else {
        Err(refuse(packet, Reason::Early, context))
    }
}

impl QueueManager for PieQueue {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        let packet = Held::new(now, meta, item);
        let backlog = self.fifo.backlog();
        if !self.room.fits(backlog, meta.length) {
            self.pie.on_overflow();
            return refuse(packet, Reason::Overlimit, context);
        }
        let draw = || context.unit();
        let verdict = self.pie.on_arrival(&self.law, meta.length, backlog.bytes.0, draw);
        if verdict != PieVerdict::Pass {
            return self.on_signal(verdict, packet, context);
        }
        self.fifo.push(packet);
        Verdict::Accepted
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, _environment: &mut dyn QueueContext) -> Option<Held> {
        let packet = self.fifo.pop()?;
        let sojourn = now.saturating_since(packet.enqueued_at);
        let backlog = self.fifo.bytes();
        self.pie.on_departure(&self.law, packet.meta.length, sojourn, backlog, now);
        Some(packet)
    }

    #[inline]
    fn head_length(&self) -> Option<u32> {
        self.fifo.head().map(|packet| packet.meta.length)
    }

    fn retune(&mut self, to: &dyn Any) -> bool {
        let Some(to) = to.downcast_ref::<PieConfig>() else {
            return false;
        };
        self.room = Room::new(to.limit);
        self.law.retune(&to.law)
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        Some(self.period.next())
    }

    fn on_timer(&mut self, now: Instant, _environment: &mut dyn QueueContext) {
        if self.period.is_due(now) {
            self.pie.on_update(&self.law, self.fifo.bytes());
        }
    }
}
