//! CoDel over one first-in, first-out queue.
//!
//! Source: RFC 8289; limits from White 2012 §3.1.2, White 2013 §3.2, Akhtar 2013.
//! Deviations: those of [`crate::policy::codel`]; bytes that the link has staged count as waiting, so
//! that CoDel can act on the sojourn over a cascade (White 2012 §2.2).

use crate::config::{ConfigProblem, LIMIT, ManagerKind, require_room, require_shorter};
use crate::manager::codel_service::{HeadSource, Look, serve};
use crate::manager::refuse;
use crate::policy::codel::{Codel, CodelLaw, Floor, Head};
use crate::store::fifo::Fifo;
use crate::store::room::Room;
use crate::{Backlog, Held, QueueContext, QueueManager, Reason, Verdict};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::any::Any;
use sojourn_base::{Bytes, Instant, Limit, Meta, PacketHandle, Packets, ServiceQueue};
use sojourn_keys::parameters;

parameters! {
    /// Parameters of a CoDel queue.
    #[derive(Copy, Eq)]
    pub struct CodelConfig: "codel", "CoDel: drops at the head while the delay stays above a target" {
        limit: Limit = Limit::Packets(Packets(1000)), LIMIT;
        /// when to signal
        law: CodelLaw = CodelLaw::RFC8289;
    }
    profiles {
        /// RFC 8289: 5 ms in 100 ms, 1000 packets
        ///
        /// chosen: 1000 packets, the default of the Linux queue discipline.
        RFC8289 "rfc8289" {}
        /// White 2012 §1.1, §3.1.2: 5 ms in 100 ms, the code of 2012, 417 packets
        WHITE2012 "white2012" { law = CodelLaw::WHITE2012; limit = Limit::Packets(Packets(417)); }
        /// White 2013 §3.2: 10 ms in 150 ms, the code of 2013, 625,000 B
        WHITE2013 "white2013" { law = CodelLaw::WHITE2013; limit = Limit::Bytes(Bytes(625_000)); }
        /// Akhtar 2013: 5 ms in 100 ms, the code of 2013, 120 packets
        ///
        /// The buffer of the other managers at 8 Mb/s.
        AKHTAR2013 "akhtar2013" { law = CodelLaw::AKHTAR2013; limit = Limit::Packets(Packets(120)); }
    }
}

impl ManagerKind for CodelConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(CodelQueue::new(*self))
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        Some(&mut self.limit)
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_room(self.limit, problems);
        self.law.collect_problems(problems);
    }
}

impl CodelLaw {
    /// Becomes `to`. False if that differs in what is fixed while CoDel works.
    pub(crate) fn retune(&mut self, to: &Self) -> bool {
        let is_same = (self.variant, self.floor) == (to.variant, to.floor);
        *self = *to;
        is_same
    }

    pub(crate) fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_shorter(
            ("target", self.target),
            ("interval", self.interval),
            "CoDel expects a target well below the interval, for instance 5 ms in 100 ms",
            problems,
        );
        if self.ce_threshold.is_some() && !self.ecn {
            problems.push(ConfigProblem {
                field: "ce_threshold",
                message: String::from("marks need ecn, which is off"),
                hint: "ecn = true",
            });
        }
        if self.l4s && self.ce_threshold.is_none() {
            problems.push(ConfigProblem {
                field: "l4s",
                message: String::from("L4S packets are marked by ce_threshold, which is off"),
                hint: "ce_threshold = \"1 ms\"",
            });
        }
    }
}

/// A first-in, first-out queue that CoDel drops from at the head.
#[derive(Clone, Debug)]
pub struct CodelQueue {
    law: CodelLaw,
    codel: Codel,
    line: Line,
    room: Room,
}

/// What CoDel is served from: the packets, and the floor that watches them leave.
#[derive(Clone, Debug)]
struct Line {
    fifo: Fifo,
    floor: Floor,
    /// Bytes that have left the queue and are not sent; the floor counts them as waiting.
    staged: u64,
}

impl CodelQueue {
    /// An empty queue.
    ///
    /// # Panics
    /// If the limit is a time.
    pub fn new(config: CodelConfig) -> Self {
        Self {
            law: config.law,
            codel: Codel::default(),
            line: Line { fifo: Fifo::new(), floor: Floor::new(config.law.floor), staged: 0 },
            room: Room::new(config.limit),
        }
    }

    /// The decision state, for records and tests.
    pub const fn codel(&self) -> &Codel {
        &self.codel
    }
}

impl HeadSource for Line {
    #[inline]
    fn look(&mut self, now: Instant) -> Option<Look> {
        let packet = self.fifo.head()?;
        let length = packet.meta.length;
        let left = self.fifo.bytes() - u64::from(length) + self.staged;
        let head = Head {
            sojourn: now.saturating_since(packet.enqueued_at),
            above_floor: self.floor.on_leaving(length, left),
        };
        let ecn = packet.meta.ecn;
        Some(Look { head, ecn })
    }

    #[inline]
    fn take(&mut self) -> Option<Held> {
        self.fifo.pop()
    }
}

impl QueueManager for CodelQueue {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        let packet = Held::new(now, meta, item);
        if !self.room.fits(self.line.fifo.backlog(), meta.length) {
            return refuse(packet, Reason::Overlimit, context);
        }
        self.line.fifo.push(packet);
        Verdict::Accepted
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        self.line.staged = context.staged(ServiceQueue::Classic).0;
        serve(&mut self.codel, &self.law, &mut self.line, now, context)
    }

    #[inline]
    fn head_length(&self) -> Option<u32> {
        self.line.fifo.head().map(|packet| packet.meta.length)
    }

    fn retune(&mut self, to: &dyn Any) -> bool {
        let Some(to) = to.downcast_ref::<CodelConfig>() else {
            return false;
        };
        self.room = Room::new(to.limit);
        self.law.retune(&to.law)
    }

    fn backlog(&self) -> Backlog {
        self.line.fifo.backlog()
    }
}
