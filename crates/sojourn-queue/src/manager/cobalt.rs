//! COBALT over one first-in, first-out queue.
//!
//! Source: ns-3 `cobalt-queue-disc.cc`, Linux `sch_cake`.
//! Deviations: those of [`crate::policy::cobalt`].

use crate::config::{ConfigProblem, LIMIT, require_shorter};
use crate::manager::law::{Law, LawQueue, law_config};
use crate::manager::mark;
use crate::policy::cobalt::{Cobalt, CobaltAtLink, CobaltJudgement, CobaltLaw, Leaving};
use crate::store::waiting::Waiting;
use crate::{Held, QueueContext, Reason};
use alloc::string::String;
use alloc::vec::Vec;
use sojourn_base::{Instant, Limit, Packets};
use sojourn_keys::parameters;

parameters! {
    /// Parameters of a COBALT queue. chosen: 1000 packets, as for the other managers of one queue.
    #[derive(Copy)]
    pub struct CobaltConfig: "cobalt", "COBALT: a CoDel that calms down step by step, and BLUE for what does not answer" {
        limit: Limit = Limit::Packets(Packets(1000)), LIMIT;
        /// when to signal
        law: CobaltLaw = CobaltLaw::LINUX;
    }
    profiles {
        /// ns-3: the last packet of the queue is dropped as any other, and nothing is known of the link
        NS3 "ns3" { law = CobaltLaw::NS3; }
    }
}

law_config!(CobaltConfig, limit: Limit, CobaltOver = |it| CobaltOver::new(it.law, false));

impl CobaltLaw {
    pub(crate) fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_shorter(
            ("target", self.target),
            ("interval", self.interval),
            "COBALT expects a target well below the interval, for instance 5 ms in 100 ms",
            problems,
        );
        if self.ce_threshold.is_some() && !self.ecn {
            problems.push(ConfigProblem {
                field: "ce_threshold",
                message: String::from("marks need ecn, which is off"),
                hint: "ecn = true",
            });
        }
    }
}

/// A first-in, first-out queue that COBALT drops from at the head.
pub type CobaltQueue = LawQueue<CobaltConfig>;

/// COBALT, which judges the packet at the head.
#[derive(Clone, Debug)]
pub struct CobaltOver {
    at: CobaltAtLink,
    /// The state of a queue that ran empty fades.
    decays: bool,
}

impl CobaltOver {
    /// At a link of which nothing is known.
    pub const fn new(law: CobaltLaw, decays: bool) -> Self {
        Self { at: CobaltAtLink::new(law), decays }
    }
}

/// Judges the packet at the head of a queue, and marks or drops it; returned if it leaves. `is_last` if nothing is behind it.
#[inline]
pub(crate) fn judge_head(
    cobalt: &mut Cobalt,
    at: &CobaltAtLink,
    now: Instant,
    mut packet: Held,
    is_last: bool,
    context: &mut dyn QueueContext,
) -> Option<Held> {
    let leaving =
        Leaving { sojourn: now.saturating_since(packet.enqueued_at), can_mark: packet.meta.ecn.is_capable(), is_last };
    let reason = match cobalt.judge(at, now, leaving, || context.unit()) {
        CobaltJudgement::Pass => return Some(packet),
        CobaltJudgement::Mark => {
            mark(&mut packet, Reason::Target, context);
            return Some(packet);
        }
        CobaltJudgement::Drop => Reason::Target,
        CobaltJudgement::Blue => Reason::Blue,
    };
    context.dropped(packet, reason);
    None
}

impl Law for CobaltOver {
    type State = Cobalt;

    fn state(&self) -> Cobalt {
        Cobalt::default()
    }

    fn retune(&mut self, to: Self) -> bool {
        let is_same = self.decays == to.decays;
        *self = to;
        is_same
    }

    #[inline]
    fn look(&mut self, context: &mut dyn QueueContext) {
        self.at.look(context);
    }

    #[inline]
    fn on_arrival(&self, cobalt: &mut Cobalt, now: Instant) {
        cobalt.on_arrival(now);
    }

    fn on_overflow(&self, cobalt: &mut Cobalt, now: Instant) {
        cobalt.on_overflow(self.at.law(), now);
    }

    fn on_paid(&self, cobalt: &mut Cobalt, now: Instant, _packets: u32) {
        cobalt.on_overflow(self.at.law(), now);
    }

    #[inline]
    fn take(
        &mut self,
        cobalt: &mut Cobalt,
        (packets, line): (&mut impl Waiting, usize),
        now: Instant,
        context: &mut dyn QueueContext,
    ) -> Option<Held> {
        loop {
            let Some(packet) = packets.pop(line) else {
                self.on_empty(cobalt, now);
                return None;
            };
            let leaves = judge_head(cobalt, &self.at, now, packet, packets.is_empty(line), context);
            if leaves.is_some() {
                return leaves;
            }
        }
    }

    #[inline]
    fn on_empty(&self, cobalt: &mut Cobalt, now: Instant) {
        cobalt.on_empty(self.at.law(), now);
    }

    #[inline]
    fn is_at_rest(&self, cobalt: &Cobalt, now: Instant) -> bool {
        !self.decays || cobalt.is_at_rest(now)
    }
}
