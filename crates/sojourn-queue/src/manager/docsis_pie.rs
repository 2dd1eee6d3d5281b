//! DOCSIS-PIE over the queue of one upstream service flow.
//!
//! Source: RFC 8034; buffer of White 2019 from the experiment scripts of docsis-ns3.
//! Deviations: those of [`crate::policy::docsis_pie`]; marks in place of drops, off by default, are those of PIE (RFC 8033
//! §5.1): RFC 8034 §4.7 has none.

use crate::config::{ConfigProblem, LIMIT, ManagerKind, require_room};
use crate::manager::period::Period;
use crate::manager::pie::require_probability;
use crate::manager::{mark, refuse};
use crate::policy::docsis_pie::{DocsisPie, DocsisPieLaw, UPDATE_INTERVAL, shaper_delay};
use crate::policy::pie::{ECN, MARK_THRESHOLD, PieLaw};
use crate::store::fifo::Fifo;
use crate::store::room::Room;
use crate::{Backlog, Held, QueueContext, QueueManager, Reason, Verdict};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use sojourn_base::{Bytes, Instant, Limit, Meta, PacketHandle, ServiceQueue, Span};
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

impl ManagerKind for DocsisPieConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(DocsisPieQueue::new(*self))
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        Some(&mut self.limit)
    }

    fn estimates_delay(&self) -> bool {
        true
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_room(self.limit, problems);
        self.law.collect_problems(self.limit, problems);
        require_probability(self.mark_threshold, problems);
    }
}

impl DocsisPieLaw {
    /// What is wrong with the law over a buffer of `limit`.
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

/// A first-in, first-out queue guarded by DOCSIS-PIE.
#[derive(Clone, Debug)]
pub struct DocsisPieQueue {
    law: DocsisPieLaw,
    ecn: bool,
    mark_threshold: f64,
    pie: DocsisPie,
    fifo: Fifo,
    room: Room,
    buffer: u64,
    period: Period,
}

impl DocsisPieQueue {
    /// An empty queue.
    ///
    /// # Panics
    /// If the limit is not in bytes.
    pub fn new(config: DocsisPieConfig) -> Self {
        let Limit::Bytes(Bytes(buffer)) = config.limit else {
            panic!("a service flow's buffer is in bytes, not {}", config.limit);
        };
        Self {
            law: config.law,
            ecn: config.ecn,
            mark_threshold: config.mark_threshold,
            pie: DocsisPie::default(),
            fifo: Fifo::new(),
            room: Room::new(config.limit),
            buffer,
            period: Period::new(UPDATE_INTERVAL),
        }
    }

    /// Whether a signal is a mark, for packets that can carry one.
    fn marks(&self) -> bool {
        self.ecn && self.pie.probability() < self.mark_threshold
    }

    /// The decision state, for records and tests.
    pub const fn pie(&self) -> &DocsisPie {
        &self.pie
    }
}

impl QueueManager for DocsisPieQueue {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        let mut packet = Held::new(now, meta, item);
        let backlog = self.fifo.backlog();
        if !self.room.fits(backlog, meta.length) {
            self.pie.on_overflow();
            return refuse(packet, Reason::Overlimit, context);
        }
        let early = self.pie.on_arrival(&self.law, meta.length, backlog.bytes.0, self.buffer, || context.unit());
        if early && !(self.marks() && mark(&mut packet, Reason::Early, context)) {
            return refuse(packet, Reason::Early, context);
        }
        context.estimated(&packet, self.pie.delay());
        self.fifo.push(packet);
        Verdict::Accepted
    }

    #[inline(never)]
    fn dequeue(&mut self, _now: Instant, _environment: &mut dyn QueueContext) -> Option<Held> {
        self.fifo.pop()
    }

    #[inline]
    fn head_length(&self) -> Option<u32> {
        self.fifo.head().map(|packet| packet.meta.length)
    }

    fn retune(&mut self, to: &dyn Any) -> bool {
        let Some(to) = to.downcast_ref::<DocsisPieConfig>() else {
            return false;
        };
        let Limit::Bytes(Bytes(buffer)) = to.limit else {
            return false;
        };
        (self.buffer, self.room) = (buffer, Room::new(to.limit));
        (self.law, self.ecn, self.mark_threshold) = (to.law, to.ecn, to.mark_threshold);
        true
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        Some(self.period.next())
    }

    fn on_timer(&mut self, now: Instant, context: &mut dyn QueueContext) {
        if self.period.is_due(now) {
            let queued = self.fifo.bytes() + context.staged(ServiceQueue::Classic).0;
            let delay = shaper_delay(queued, &context.shaper());
            self.pie.on_update(&self.law, delay);
        }
    }
}
