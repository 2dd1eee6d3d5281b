//! `DualPI2`: a classic and a low-latency queue on one link, coupled by the base likelihood of a PI controller.
//!
//! Source: RFC 9332 with appendix A; Linux `sch_dualpi2` for its profile.
//! Deviations: a full buffer is one in which neither the arrival nor 1500 bytes fit, so that larger packets keep the limit
//! too; Linux also draws for the marks of low-latency packets, which here come evenly spaced.

use crate::config::{ConfigProblem, LIMIT, ManagerKind, require_room};
use crate::manager::period::Period;
use crate::manager::{mark, refuse};
use crate::policy::classifier::LowLatencyClassifier;
use crate::policy::pi2::{Pi2, Pi2Law};
use crate::policy::ramp::Ramp;
use crate::policy::recur::Recur;
use crate::store::room::Room;
use crate::store::two_queues::{Turns, TwoQueues};
use crate::{Backlog, Held, QueueContext, QueueManager, Reason, Verdict};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::any::Any;
use sojourn_base::{Instant, Limit, Meta, PacketHandle, Packets, ServiceQueue, Span};
use sojourn_keys::{origin, parameters, words};

words! {
    /// How the two queues share the link.
    pub enum DualPi2Scheduler {
        /// bytes in the ratio of the weights, by credit
        Weighted = "weighted",
        /// the packet that waits longest, low-latency ones as if they had come earlier by time_shift
        TimeShifted = "time-shifted",
    }
}

words! {
    /// Which packets count for the least number that must wait before a low-latency packet is marked for its own queue's
    /// sake.
    pub enum Counted {
        /// those behind it when it leaves
        Behind = "behind",
        /// those before it when it arrives
        AtArrival = "at-arrival",
    }
}

const LONGEST: &str = "10 s";

parameters! {
    /// Parameters of `DualPI2`.
    #[derive(Copy)]
    pub struct DualPi2Config: "dualpi2", "DualPI2: a classic queue with PI2 and a low-latency queue with coupled marks" {
        // In both queues together.
        limit: Limit = Limit::Time(Span::from_ms(250)), LIMIT;
        /// the base likelihood
        law: Pi2Law = Pi2Law::RFC9332;
        /// low-latency marks per base likelihood, whose square is that of classic signals; 0 for none
        ///
        /// Coupling factor k.
        coupling: f64 = 2.0, origin("RFC 9332 §2.1").least("0").most("25.4");
        /// what goes to the low-latency queue
        classifier: LowLatencyClassifier = LowLatencyClassifier::RFC9332;
        /// delay of a low-latency packet up to which it is not marked for its own queue's sake
        ///
        /// minTh.
        threshold: Span = Span::from_us(800), origin("RFC 9332 appendix A.1").most(LONGEST);
        /// delay beyond the threshold at which every low-latency packet is marked
        range: Span = Span::from_us(400), origin("RFC 9332 appendix A.1").most(LONGEST);
        /// packets that may wait behind a low-latency packet without a mark of its own queue
        ///
        /// `Th_len`.
        least_packets: u32 = 1, origin("RFC 9332 appendix A.1").most("1000000");
        /// when these packets are counted
        counted: Counted = Counted::Behind, origin("RFC 9332 appendix A.1"), if |it| it.counted != Counted::Behind;
        /// two draws decide about each classic signal; else signals come evenly spaced
        random: bool = false, origin("RFC 9332 appendix A.1: no; Linux: yes");
        /// the delay under control is the longer one of both queues
        overload_aware: bool = true, origin("RFC 9332 appendix A.2");
        /// how both queues share the link
        scheduler: DualPi2Scheduler = DualPi2Scheduler::Weighted, origin("RFC 9332 §2.5.1.2");
        /// share of the rate that the low-latency queue can take from the classic one, of 256 ("weighted")
        weight: u32 = 240, origin("chosen: 15/16, RFC 9332 appendix A.1; Linux: 90 %").least("1").most("255");
        /// how much earlier low-latency packets count ("time-shifted")
        time_shift: Span = Span::from_ms(50), origin("RFC 9332 appendix A.1").most(LONGEST);
    }
    profiles {
        /// RFC 9332 appendix A: 15 ms, marks from 0.8 to 1.2 ms, a buffer of 250 ms
        RFC9332 "rfc9332" {}
        /// Linux: 15 ms, marks from 1 ms, 10 % for the classic queue, 10,000 packets
        ///
        /// `sch_dualpi2`, a step at 1 ms.
        LINUX "linux" {
            limit = Limit::Packets(Packets(10_000));
            law = Pi2Law::LINUX;
            threshold = Span::from_ms(1);
            range = Span::ZERO;
            random = true;
            overload_aware = false;
            weight = 230;
        }
        /// the L4S team's kernel of August 2020: as linux, and only what found two packets at its arrival is marked
        ///
        /// L4STeam/linux near b256daed.
        LINUX_2020 "linux-2020" from LINUX {
            least_packets = 1;
            counted = Counted::AtArrival;
        }
    }
}

impl DualPi2Config {
    const fn ramp(&self) -> Ramp {
        Ramp { least: self.threshold, most: Span::from_ps(self.threshold.as_ps() + self.range.as_ps()) }
    }

    /// The classic likelihood from which capable packets are dropped too (`p_Cmax`).
    fn most_classic_marks(&self) -> f64 {
        (1.0 / (self.coupling * self.coupling)).min(1.0)
    }
}

impl ManagerKind for DualPi2Config {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(DualPi2Queue::new(*self))
    }

    fn retunes(&self) -> bool {
        true
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        Some(&mut self.limit)
    }

    fn has_service_queues(&self) -> bool {
        true
    }

    fn obeys_classifiers(&self) -> bool {
        true
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_room(self.limit, problems);
    }
}

/// Both queues with the controller that couples them.
#[derive(Clone, Debug)]
pub struct DualPi2Queue {
    config: DualPi2Config,
    queues: TwoQueues,
    room: Room,
    pi: Pi2,
    low_latency: Recur,
    classic: Recur,
    update: Period,
    /// With [`Counted::AtArrival`], of each packet of the low-latency queue: whether enough were before it.
    enough: VecDeque<bool>,
}

/// Fate of a packet that was taken from its queue.
enum Fate {
    Send,
    Mark,
    Drop(Reason),
}

impl DualPi2Queue {
    /// Empty queues.
    ///
    /// # Panics
    /// If the limit is a time.
    pub fn new(config: DualPi2Config) -> Self {
        let turns = match config.scheduler {
            DualPi2Scheduler::Weighted => Turns::by_credit(config.weight, 256 - config.weight),
            DualPi2Scheduler::TimeShifted => Turns::TimeShifted(config.time_shift),
        };
        Self {
            config,
            queues: TwoQueues::new(turns),
            room: Room::new(config.limit),
            pi: Pi2::default(),
            low_latency: Recur::default(),
            classic: Recur::default(),
            update: Period::new(config.law.update_interval),
            enough: VecDeque::new(),
        }
    }

    /// The controller, for records and tests.
    pub const fn pi(&self) -> &Pi2 {
        &self.pi
    }

    /// Takes a packet into the queue that its meta names, if there is room.
    #[inline]
    fn accept(&mut self, packet: Held, context: &mut dyn QueueContext) -> Verdict {
        /// RFC 9332 appendix A.1: a full-size packet must fit. chosen: 1500 bytes.
        const FULL_SIZE: u32 = 1500;
        let queue = packet.meta.queue;
        let needed = packet.meta.length.max(FULL_SIZE);
        if !self.room.fits(self.queues.backlog(), needed) {
            return refuse(packet, Reason::Overlimit, context);
        }
        if self.config.counted == Counted::AtArrival && queue == ServiceQueue::LowLatency {
            self.enough.push_back(self.low_latency_packets() > self.config.least_packets);
        }
        self.queues.push(packet);
        Verdict::Placed(queue)
    }

    fn low_latency_packets(&self) -> u32 {
        self.queues.backlog_of(ServiceQueue::LowLatency).packets.0
    }

    /// Returns the fate of a packet of the low-latency queue, which has waited for `sojourn`.
    fn judge_low_latency(&mut self, sojourn: Span) -> Fate {
        let is_long = match self.config.counted {
            Counted::Behind => self.low_latency_packets() > self.config.least_packets,
            Counted::AtArrival => self.enough.pop_front().unwrap_or(false),
        };
        let coupled = self.config.coupling * self.pi.base();
        if coupled >= 1.0 {
            // Overload: marks alone do not help any more, so drops are those of classic packets (RFC 9332 §2.5.1.1).
            return if self.low_latency.advance(squared(self.pi.base())) {
                Fate::Drop(Reason::Overload)
            } else if self.low_latency.advance(1.0) {
                Fate::Mark
            } else {
                Fate::Send
            };
        }
        let native = if is_long { self.config.ramp().likelihood(sojourn) } else { 0.0 };
        if self.low_latency.advance(native.max(coupled)) { Fate::Mark } else { Fate::Send }
    }

    fn judge_classic(&mut self, is_capable: bool, context: &mut dyn QueueContext) -> Fate {
        let (base, likelihood) = (self.pi.base(), squared(self.pi.base()));
        let signals = if self.config.random {
            context.unit() < base && context.unit() < base
        } else {
            self.classic.advance(likelihood)
        };
        if !signals {
            Fate::Send
        } else if is_capable && likelihood < self.config.most_classic_marks() {
            Fate::Mark
        } else {
            Fate::Drop(Reason::Early)
        }
    }

    /// The oldest packet of a queue that is not dropped.
    fn take(&mut self, now: Instant, queue: ServiceQueue, context: &mut dyn QueueContext) -> Option<Result<Held, ()>> {
        let mut packet = self.queues.pop(queue)?;
        let fate = match queue {
            ServiceQueue::LowLatency => self.judge_low_latency(now.saturating_since(packet.enqueued_at)),
            _ => self.judge_classic(packet.meta.ecn.is_capable(), context),
        };
        match fate {
            Fate::Drop(reason) => {
                context.dropped(packet, reason);
                return Some(Err(()));
            }
            // A packet that is no more than classified as one of low latency cannot carry a mark, and needs none.
            Fate::Mark => {
                mark(&mut packet, Reason::Early, context);
            }
            Fate::Send => {}
        }
        Some(Ok(packet))
    }
}

fn squared(x: f64) -> f64 {
    x * x
}

impl QueueManager for DualPi2Queue {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        let queue = self.config.classifier.queue_of(&meta);
        let packet = Held::new(now, Meta { queue, ..meta }, item);
        self.accept(packet, context)
    }

    fn enqueue_to(
        &mut self,
        queue: ServiceQueue,
        now: Instant,
        meta: Meta,
        item: PacketHandle,
        context: &mut dyn QueueContext,
    ) -> Verdict {
        self.accept(Held::new(now, Meta { queue, ..meta }, item), context)
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        loop {
            let queue = self.queues.turn(now)?;
            if let Some(Ok(packet)) = self.take(now, queue, context) {
                self.queues.on_sent(queue, packet.meta.length);
                return Some(packet);
            }
        }
    }

    fn dequeue_from(&mut self, now: Instant, queue: ServiceQueue, context: &mut dyn QueueContext) -> Option<Held> {
        loop {
            if let Ok(packet) = self.take(now, queue, context)? {
                return Some(packet);
            }
        }
    }

    fn backlog_of(&self, queue: ServiceQueue) -> Backlog {
        self.queues.backlog_of(queue)
    }

    fn head_length(&self) -> Option<u32> {
        self.queues.head_length()
    }

    fn retune(&mut self, to: &dyn Any) -> bool {
        let Some(to) = to.downcast_ref::<DualPi2Config>() else {
            return false;
        };
        let fixed = |it: &DualPi2Config| {
            let turns = (it.scheduler, it.weight, it.time_shift);
            (turns, it.counted, it.law.update_interval)
        };
        let is_same = fixed(&self.config) == fixed(to);
        (self.config, self.room) = (*to, Room::new(to.limit));
        is_same
    }

    fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        Some(self.update.next())
    }

    fn on_timer(&mut self, now: Instant, _context: &mut dyn QueueContext) {
        if !self.update.is_due(now) {
            return;
        }
        let waited = |queue| {
            let head = self.queues.head(queue);
            head.map_or(Span::ZERO, |packet| now.saturating_since(packet.enqueued_at))
        };
        let mut delay = waited(ServiceQueue::Classic);
        if self.config.overload_aware {
            delay = delay.max(waited(ServiceQueue::LowLatency));
        }
        self.pi.on_update(&self.config.law, delay.as_secs_f64());
    }
}
