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
use crate::{Backlog, Held, Placement, QueueContext, QueueManager, Reason, Verdict};
use alloc::vec::Vec;
use sojourn_base::{Instant, Limit, Meta, Packets, ServiceQueue, Span};
use sojourn_keys::{Configured, Profile, Visitor, Word, Words, key};

/// How the two queues share the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DualPi2Scheduler {
    /// Weighted round robin by credit.
    #[default]
    Weighted,
    /// First in, first out, as if low-latency packets had come earlier by the time shift.
    TimeShifted,
}

const SCHEDULERS: [Word<DualPi2Scheduler>; 2] = [
    Word {
        name: "weighted",
        value: DualPi2Scheduler::Weighted,
        about: "bytes in the ratio of the weights, by credit",
    },
    Word {
        name: "time-shifted",
        value: DualPi2Scheduler::TimeShifted,
        about: "the packet that waits longest, low-latency ones as if they had come earlier by time_shift",
    },
];

/// Parameters of `DualPI2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Config {
    /// How much may wait in both queues together.
    pub limit: Limit,
    /// The base likelihood.
    pub law: Pi2Law,
    /// Low-latency marks per base likelihood (coupling factor k).
    pub coupling: f64,
    /// What goes to the low-latency queue.
    pub classifier: LowLatencyClassifier,
    /// Up to this delay there are no native marks (minTh).
    pub threshold: Span,
    /// From so much more on there are only marks.
    pub range: Span,
    /// Packets that may wait behind a low-latency packet without a native mark (`Th_len`).
    pub least_packets: u32,
    /// Whether two draws decide about a classic signal; else they come evenly spaced.
    pub random: bool,
    /// Whether the delay that is controlled is that of the low-latency queue where it is longer.
    pub overload_aware: bool,
    /// How the queues share the link.
    pub scheduler: DualPi2Scheduler,
    /// The low-latency queue's share, of 256, if they share by weight.
    pub weight: u32,
    /// How much earlier its packets count, if they share by time.
    pub time_shift: Span,
}

impl DualPi2Config {
    /// RFC 9332 appendix A.1. chosen: the share of the low-latency queue, 15/16 of the rate, the weight of the RFC's example.
    pub const RFC9332: Self = Self {
        limit: Limit::Time(Span::from_ms(250)),
        law: Pi2Law::RFC9332,
        coupling: 2.0,
        classifier: LowLatencyClassifier::RFC9332,
        threshold: Span::from_us(800),
        range: Span::from_us(400),
        least_packets: 1,
        random: false,
        overload_aware: true,
        scheduler: DualPi2Scheduler::Weighted,
        weight: 240,
        time_shift: Span::from_ms(50),
    };
    /// Linux `sch_dualpi2`: 10,000 packets, a step at 1 ms, 10 % for the classic queue.
    pub const LINUX: Self = Self {
        limit: Limit::Packets(Packets(10_000)),
        law: Pi2Law::LINUX,
        threshold: Span::from_ms(1),
        range: Span::ZERO,
        random: true,
        overload_aware: false,
        weight: 230,
        ..Self::RFC9332
    };

    const fn ramp(&self) -> Ramp {
        Ramp {
            least: self.threshold,
            most: Span::from_ps(self.threshold.as_ps() + self.range.as_ps()),
        }
    }

    /// The classic likelihood from which capable packets are dropped too (`p_Cmax`).
    fn most_classic_marks(&self) -> f64 {
        (1.0 / (self.coupling * self.coupling)).min(1.0)
    }

    fn low_latency_keys(&mut self, visitor: &mut dyn Visitor) {
        const LONGEST: &str = "10 s";
        visitor.value(
            key(
                "coupling",
                "low-latency marks per base likelihood, whose square is that of classic signals; 0 for none",
                "RFC 9332 §2.1",
            )
            .least("0")
            .most("25.4"),
            &mut self.coupling,
        );
        self.classifier.keys(visitor);
        visitor.value(
            key(
                "threshold",
                "delay of a low-latency packet up to which it is not marked for its own queue's sake",
                "RFC 9332 appendix A.1",
            )
            .most(LONGEST),
            &mut self.threshold,
        );
        visitor.value(
            key(
                "range",
                "delay beyond the threshold at which every low-latency packet is marked",
                "RFC 9332 appendix A.1",
            )
            .most(LONGEST),
            &mut self.range,
        );
        visitor.value(
            key(
                "least_packets",
                "packets that may wait behind a low-latency packet without a mark of its own queue",
                "RFC 9332 appendix A.1",
            )
            .most("1000000"),
            &mut self.least_packets,
        );
    }
}

impl Configured for DualPi2Config {
    const KIND: &'static str = "dualpi2";
    const ABOUT: &'static str =
        "DualPI2: a classic queue with PI2 and a low-latency queue with coupled marks";
    const PROFILES: &'static [Profile<Self>] = &[
        Profile {
            name: "rfc9332",
            about: "RFC 9332 appendix A: 15 ms, marks from 0.8 to 1.2 ms, a buffer of 250 ms",
            values: || Self::RFC9332,
        },
        Profile {
            name: "linux",
            about: "Linux: 15 ms, marks from 1 ms, 10 % for the classic queue, 10,000 packets",
            values: || Self::LINUX,
        },
    ];

    fn base() -> Self {
        Self::RFC9332
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(LIMIT, &mut self.limit);
        self.law.keys(visitor);
        self.low_latency_keys(visitor);
        visitor.value(
            key(
                "random",
                "two draws decide about each classic signal; else signals come evenly spaced",
                "RFC 9332 appendix A.1: no; Linux: yes",
            ),
            &mut self.random,
        );
        visitor.value(
            key(
                "overload_aware",
                "the delay under control is the longer one of both queues",
                "RFC 9332 appendix A.2",
            ),
            &mut self.overload_aware,
        );
        visitor.value(
            key(
                "scheduler",
                "how both queues share the link",
                "RFC 9332 §2.5.1.2",
            ),
            &mut Words {
                value: &mut self.scheduler,
                words: &SCHEDULERS,
            },
        );
        visitor.value(
            key(
                "weight",
                "share of the rate that the low-latency queue can take from the classic one, of 256 (\"weighted\")",
                "chosen: 15/16, RFC 9332 appendix A.1; Linux: 90 %",
            )
            .least("1")
            .most("255"),
            &mut self.weight,
        );
        visitor.value(
            key(
                "time_shift",
                "how much earlier low-latency packets count (\"time-shifted\")",
                "RFC 9332 appendix A.1",
            )
            .most("10 s"),
            &mut self.time_shift,
        );
    }
}

impl ManagerKind for DualPi2Config {
    type Queue<T> = DualPi2Queue<T>;

    fn build<T: Send + 'static>(&self) -> Self::Queue<T> {
        DualPi2Queue::new(*self)
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        Some(&mut self.limit)
    }

    fn has_service_queues(&self) -> bool {
        true
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_room(self.limit, problems);
    }
}

/// Both queues with the controller that couples them.
#[derive(Clone, Debug)]
pub struct DualPi2Queue<T> {
    config: DualPi2Config,
    queues: TwoQueues<T>,
    room: Room,
    pi: Pi2,
    low_latency: Recur,
    classic: Recur,
    update: Period,
}

/// What becomes of a packet that was taken from its queue.
enum Fate {
    Send,
    Mark,
    Drop(Reason),
}

impl<T> DualPi2Queue<T> {
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
        }
    }

    /// The controller, for records and tests.
    pub const fn pi(&self) -> &Pi2 {
        &self.pi
    }

    /// What becomes of a packet of the low-latency queue, which has waited so long.
    fn judge_low_latency(&mut self, sojourn: Span) -> Fate {
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
        let waiting = self.queues.backlog_of(ServiceQueue::LowLatency).packets.0;
        let native = if waiting > self.config.least_packets {
            self.config.ramp().likelihood(sojourn)
        } else {
            0.0
        };
        if self.low_latency.advance(native.max(coupled)) {
            Fate::Mark
        } else {
            Fate::Send
        }
    }

    fn judge_classic(&mut self, is_capable: bool, context: &mut dyn QueueContext<T>) -> Fate {
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
    fn take(
        &mut self,
        now: Instant,
        queue: ServiceQueue,
        context: &mut dyn QueueContext<T>,
    ) -> Option<Result<Held<T>, ()>> {
        let mut packet = self.queues.pop(queue)?;
        let fate = match queue {
            ServiceQueue::LowLatency => {
                self.judge_low_latency(now.saturating_since(packet.enqueued_at))
            }
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

impl<T> QueueManager<T> for DualPi2Queue<T> {
    #[inline(never)]
    fn enqueue(
        &mut self,
        now: Instant,
        meta: Meta,
        item: T,
        context: &mut dyn QueueContext<T>,
    ) -> Verdict {
        /// RFC 9332 appendix A.1: a full-size packet must fit. chosen: 1500 bytes.
        const FULL_SIZE: u32 = 1500;
        let queue = self.config.classifier.queue_of(&meta);
        let packet = Held::new(now, Meta { queue, ..meta }, item);
        let needed = meta.length.max(FULL_SIZE);
        if !self.room.fits(self.queues.backlog(), needed) {
            return refuse(packet, Reason::Overlimit, context);
        }
        self.queues.push(packet);
        Verdict::Placed(Placement {
            queue,
            marked: false,
            sanctioned: false,
        })
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext<T>) -> Option<Held<T>> {
        loop {
            let queue = self.queues.turn(now)?;
            if let Some(Ok(packet)) = self.take(now, queue, context) {
                self.queues.on_sent(queue, packet.meta.length);
                return Some(packet);
            }
        }
    }

    fn dequeue_from(
        &mut self,
        now: Instant,
        queue: ServiceQueue,
        context: &mut dyn QueueContext<T>,
    ) -> Option<Held<T>> {
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

    fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        Some(self.update.next())
    }

    fn on_timer(&mut self, now: Instant, _context: &mut dyn QueueContext<T>) {
        if !self.update.is_due(now) {
            return;
        }
        let waited = |queue| {
            let head = self.queues.head(queue);
            head.map_or(Span::ZERO, |packet| {
                now.saturating_since(packet.enqueued_at)
            })
        };
        let mut delay = waited(ServiceQueue::Classic);
        if self.config.overload_aware {
            delay = delay.max(waited(ServiceQueue::LowLatency));
        }
        self.pi.on_update(&self.config.law, delay.as_secs_f64());
    }
}
