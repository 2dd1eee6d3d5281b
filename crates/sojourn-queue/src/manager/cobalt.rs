//! COBALT over one first-in, first-out queue.
//!
//! Source: ns-3 `cobalt-queue-disc.cc`, Linux `sch_cake`.
//! Deviations: those of [`crate::policy::cobalt`].

use crate::config::{ConfigProblem, LIMIT, ManagerKind, require_room, require_shorter};
use crate::manager::{mark, refuse};
use crate::policy::cobalt::{Cobalt, CobaltAtLink, CobaltJudgement, CobaltLaw, Leaving};
use crate::store::fifo::Fifo;
use crate::store::room::Room;
use crate::{Backlog, Held, QueueContext, QueueManager, Reason, Verdict};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::any::Any;
use sojourn_base::{Instant, Limit, Meta, PacketHandle, Packets};
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

impl ManagerKind for CobaltConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(CobaltQueue::new(*self))
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        Some(&mut self.limit)
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_room(self.limit, problems);
        self.law.collect_problems(problems);
    }
}

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
#[derive(Clone, Debug)]
pub struct CobaltQueue {
    at: CobaltAtLink,
    cobalt: Cobalt,
    fifo: Fifo,
    room: Room,
}

impl CobaltQueue {
    /// An empty queue.
    ///
    /// # Panics
    /// If the limit is a time.
    pub fn new(config: CobaltConfig) -> Self {
        Self {
            at: CobaltAtLink::new(config.law),
            cobalt: Cobalt::default(),
            fifo: Fifo::new(),
            room: Room::new(config.limit),
        }
    }

    /// The decision state, for records and tests.
    pub const fn cobalt(&self) -> &Cobalt {
        &self.cobalt
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

impl QueueManager for CobaltQueue {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        let packet = Held::new(now, meta, item);
        self.cobalt.on_arrival(now);
        if !self.room.fits(self.fifo.backlog(), meta.length) {
            self.cobalt.on_overflow(self.at.law(), now);
            return refuse(packet, Reason::Overlimit, context);
        }
        self.fifo.push(packet);
        Verdict::Accepted
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        self.at.look(context);
        loop {
            let Some(packet) = self.fifo.pop() else {
                self.cobalt.on_empty(self.at.law(), now);
                return None;
            };
            let is_last = self.fifo.is_empty();
            let leaves = judge_head(&mut self.cobalt, &self.at, now, packet, is_last, context);
            if leaves.is_some() {
                return leaves;
            }
        }
    }

    #[inline]
    fn head_length(&self) -> Option<u32> {
        self.fifo.head().map(|packet| packet.meta.length)
    }

    fn retune(&mut self, to: &dyn Any) -> bool {
        let Some(to) = to.downcast_ref::<CobaltConfig>() else {
            return false;
        };
        self.room = Room::new(to.limit);
        self.at = CobaltAtLink::new(to.law);
        true
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }
}
