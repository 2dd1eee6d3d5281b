//! Queue managers: what a buffer keeps, drops, marks, and sends next.
//!
//! A manager owns its packets' places in line, but neither a clock nor a random generator nor a link:
//! time is an argument, and everything else is asked of the [`QueueContext`]. The packets themselves stay with the
//! caller: a manager holds a [`PacketHandle`] for each.
//!
//! | layer | decides | modules |
//! |---|---|---|
//! | policy | whether to signal congestion, from delay or length alone | `policy` |
//! | store | where packets wait, and whose turn it is | `store` |
//! | manager | limits and policy applied to a store | `manager` |
//!
//! ```
//! use sojourn_base::{Instant, Meta, PacketHandle};
//! use sojourn_queue::{DropTailConfig, Held, ManagerConfig, QueueContext, Reason};
//!
//! /// The frames of an emulator; a handle is a place among them.
//! #[derive(Default)]
//! struct Frames(Vec<Option<Vec<u8>>>);
//!
//! impl QueueContext for Frames {
//!     fn dropped(&mut self, packet: Held, _: Reason) {
//!         self.0[packet.item.0 as usize] = None;
//!     }
//!     fn marked(&mut self, _: &Held, _: Reason) {}
//!     fn unit(&mut self) -> f64 {
//!         unreachable!("this manager draws nothing")
//!     }
//! }
//!
//! let mut frames = Frames(vec![Some(vec![7; 1500])]);
//! let mut queue = ManagerConfig::from(DropTailConfig::bytes(100_000)).build();
//! let meta = Meta { length: 1500, ..Meta::default() };
//! let _ = queue.enqueue(Instant::ZERO, meta, PacketHandle(0), &mut frames);
//! let sent = queue.dequeue(Instant::from_ms(1), &mut frames).expect("it waits");
//! assert_eq!(frames.0[sent.item.0 as usize].take(), Some(vec![7; 1500]));
//! ```
//!
//! The contract that every manager keeps (and the property suite checks):
//!
//! 1. Each packet that is not delivered goes to [`QueueContext::dropped`] exactly once, an arrival that
//!    is refused included.
//! 2. [`QueueManager::dequeue`] is called only when something can be transmitted now. It may drop any
//!    number of packets and returns at most one; `None` means empty *after* the drops.
//! 3. Calling `dequeue` on an empty manager is legal and changes nothing but idle bookkeeping.
//! 4. A manager with several queues says in the [`Meta`] of each packet that leaves it which one it was in;
//!    [`QueueManager::dequeue_from`] gives packets of that queue only, and the backlogs of all queues sum to
//!    [`QueueManager::backlog`].
//! 5. Timers are phase-locked: `on_timer` at `t` re-arms at `t + period`, and nothing else moves them, so a
//!    link asks [`QueueManager::next_timer`] once at first and once after each run.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod config;
mod kinds;
pub mod line;
pub mod manager;
pub mod policy;
pub mod store;
#[cfg(feature = "trace")]
pub mod trace;

pub use config::{ConfigProblem, ManagerConfig, ManagerKind};
pub use kinds::PrioritisedConfig;
#[cfg(feature = "std")]
pub use kinds::add_manager;
pub use line::LineProblem;
pub use manager::ack_priority::{AckPriorityConfig, AckPriorityQueue};
pub use manager::buffer_control::BufferControl;
pub use manager::cake::{CakeConfig, CakeQueue, Isolation, Tins};
pub use manager::cobalt::{CobaltConfig, CobaltQueue};
pub use manager::codel::{CodelConfig, CodelQueue};
pub use manager::docsis_dual_queue::{
    ClassicManager, DocsisDualQueue, DocsisDualQueueConfig, DualQueue, DualScheduler,
};
pub use manager::docsis_pie::{DocsisPieConfig, DocsisPieQueue};
pub use manager::drop_tail::{Admission, DropTailConfig, DropTailQueue};
pub use manager::dualpi2::{DualPi2Config, DualPi2Queue, DualPi2Scheduler};
pub use manager::fq_cobalt::{FqCobaltConfig, FqCobaltQueue};
pub use manager::fq_codel::{FqCodelConfig, FqCodelQueue};
pub use manager::fq_pie::{FqPieConfig, FqPieQueue};
pub use manager::pie::{PieConfig, PieQueue};
pub use manager::red::{FloydRules, RedClassConfig, RedConfig, RedQueue, RedThresholds};
pub use manager::sfq::SfqQueue;
pub use manager::sfq_codel::{SfqCodelConfig, SfqCodelQueue};
pub use manager::sfq_ns2::{SfqNs2Config, SfqNs2Queue};
pub use manager::sfq_pie::{PieScope, SfqPieConfig, SfqPieQueue};
pub use policy::classifier::{CodePoints, LowLatencyClassifier};
pub use policy::cobalt::CobaltLaw;
pub use policy::codel::{CodelFloor, CodelLaw, CodelVariant};
pub use policy::departure_rate::{DepartureRateConfig, RateAverage};
pub use policy::docsis_pie::DocsisPieLaw;
pub use policy::low_latency_delay::{DelayEstimate, DelayEstimateLaw, ProactiveGrants};
pub use policy::pi2::{Pi2, Pi2Law};
pub use policy::pie::{Activation, BurstRule, DelaySource, PieGains, PieLaw};
pub use policy::queue_protection::{QueueProtection, QueueProtectionLaw, Score};
pub use policy::ramp::{ImmediateAqmLaw, Ramp};
pub use store::fields::FlowFields;
pub use store::flow_lists::FlowListsConfig;
pub use store::sub_flows::{FatMetric, SfqConfig, Victim};

pub use sojourn_base::{PacketHandle, Reason, SubFlow};

use core::any::Any;
use sojourn_base::{BitRate, Bytes, Instant, Meta, Packets, ServiceQueue, Shown, Span};

sojourn_base::shown!(dyn QueueManager + '_);

/// A packet in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The caller's packet.
    pub item: PacketHandle,
    /// Its properties; a packet that the manager has marked carries CE.
    pub meta: Meta,
    /// Time of its acceptance.
    pub enqueued_at: Instant,
    /// Its place inside its queue.
    pub sub_flow: SubFlow,
}

impl Held {
    /// A packet that arrives now.
    pub const fn new(now: Instant, meta: Meta, item: PacketHandle) -> Self {
        Self { item, meta, enqueued_at: now, sub_flow: SubFlow::NONE }
    }

    /// The same packet as one of the numbered sub-flow.
    #[must_use]
    pub(crate) fn in_sub_flow(self, number: usize) -> Self {
        Self { sub_flow: SubFlow::number(number), ..self }
    }
}

/// Fate of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// It waits in the queue.
    Accepted,
    /// It waits in this one of several queues, as a manager with several says; the `queue` of the waiting packet's
    /// [`Meta`] says the same.
    Placed(ServiceQueue),
    /// It was refused (and has gone to [`QueueContext::dropped`]).
    Dropped(Reason),
}

impl Verdict {
    /// Returns true if the arrival waits in a queue.
    pub const fn is_accepted(self) -> bool {
        !matches!(self, Self::Dropped(_))
    }
}

/// Packets and bytes that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Charged bytes.
    pub bytes: Bytes,
    /// Packets.
    pub packets: Packets,
}

/// The token state of the shaper that drains a queue; zero rates mean "not set".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shaper {
    /// Tokens of the sustained-rate bucket.
    pub tokens: Bytes,
    /// Maximum sustained rate.
    pub sustained: BitRate,
    /// Peak rate.
    pub peak: BitRate,
}

impl Shaper {
    /// A shaper of which only the sustained rate is known.
    #[must_use]
    pub const fn of(sustained: BitRate) -> Self {
        Self { tokens: Bytes::ZERO, sustained, peak: BitRate::ZERO }
    }

    /// The sustained rate, else the peak rate; zero if there is neither.
    #[must_use]
    pub const fn rate(&self) -> BitRate {
        if self.sustained.as_bps() > 0 { self.sustained } else { self.peak }
    }
}

/// Everything outside the queue that a manager may use.
pub trait QueueContext {
    /// `packet` leaves without being sent.
    fn dropped(&mut self, packet: Held, reason: Reason);

    /// `packet` has been marked and stays or goes on.
    fn marked(&mut self, packet: &Held, reason: Reason);

    /// A uniform draw in [0, 1). Managers draw lazily: exactly where their document says so.
    fn unit(&mut self) -> f64;

    /// The shaper behind the queue.
    fn shaper(&self) -> Shaper {
        Shaper::default()
    }

    /// Bytes already pulled from the queue and not sent yet (the rest of a fragmented packet).
    fn staged(&self, queue: ServiceQueue) -> Bytes {
        let _ = queue;
        Bytes::ZERO
    }

    /// Estimate of the request-grant loop.
    fn loop_delay(&self) -> Span {
        Span::ZERO
    }

    /// Estimate of the request-grant loop that serves `queue`, if queues have loops of their own.
    fn loop_delay_of(&self, queue: ServiceQueue) -> Span {
        let _ = queue;
        self.loop_delay()
    }

    /// Maximum sustained rate of the service flow behind `queue` alone, where [`QueueContext::shaper`] is that of all
    /// queues; zero if it has none of its own.
    fn service_flow_rate(&self, queue: ServiceQueue) -> BitRate {
        let _ = queue;
        BitRate::ZERO
    }

    /// Grants that the low-latency queue gets without asking.
    fn proactive_grants(&self) -> ProactiveGrants {
        ProactiveGrants::default()
    }

    /// Queue Protection has judged `packet`, which arrives: the score of its flow is zero if the flow builds no queue. A
    /// sanctioned packet goes on to the classic queue, where it may still be dropped.
    fn scored(&mut self, packet: &Held, score: &Score) {
        let _ = (packet, score);
    }

    /// `packet` is accepted, and its manager expects that it will wait so long: what latency histograms of devices
    /// count. Only managers that estimate delays say so; see [`ManagerKind::estimates_delay`].
    fn estimated(&mut self, packet: &Held, delay: Span) {
        let _ = (packet, delay);
    }
    /// Counts work beyond that of every call, in steps of some nanoseconds, such as queues passed over. A watched run
    /// counts it.
    fn worked(&mut self, units: u64) {
        let _ = units;
    }
}

/// A queue with a policy, as a link uses it.
pub trait QueueManager: Shown + Send {
    /// Offer a packet: it is kept, or it leaves through `context`.
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict;

    /// The same of a packet for which classifiers of the link have chosen `queue`. A manager with one queue has no other
    /// place for it.
    fn enqueue_to(
        &mut self,
        queue: ServiceQueue,
        now: Instant,
        meta: Meta,
        item: PacketHandle,
        context: &mut dyn QueueContext,
    ) -> Verdict {
        let _ = queue;
        self.enqueue(now, meta, item, context)
    }

    /// Take the next packet to send; `now` is the start of the transmission opportunity.
    #[must_use]
    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held>;

    /// `item` comes when nothing waits and the link is free: offer it, and take the next packet to send.
    #[must_use]
    #[inline]
    fn pass(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Option<Held> {
        if self.enqueue(now, meta, item, context).is_accepted() { self.dequeue(now, context) } else { None }
    }

    /// Returns true if the manager must know that its queue runs empty; if not, an empty one need not be asked.
    fn notices_idling(&self) -> bool {
        true
    }

    /// Take the next packet of `queue`, for a link whose grants are for one queue. A manager with one queue
    /// has nothing else to give.
    #[must_use]
    fn dequeue_from(&mut self, now: Instant, queue: ServiceQueue, context: &mut dyn QueueContext) -> Option<Held> {
        let _ = queue;
        self.dequeue(now, context)
    }

    /// Returns the packets that wait in `queue`; a manager with one queue has only the classic one.
    fn backlog_of(&self, queue: ServiceQueue) -> Backlog {
        match queue {
            ServiceQueue::Classic => self.backlog(),
            ServiceQueue::LowLatency | ServiceQueue::AckPriority => Backlog::default(),
        }
    }

    /// Length of the packet that `dequeue` would look at first, for shapers that wait for its tokens;
    /// `None` if the queue is empty or the manager cannot tell without deciding.
    fn head_length(&self) -> Option<u32> {
        None
    }

    /// Returns the packets that wait.
    fn backlog(&self) -> Backlog;

    /// The sub-flow that all packets with the flow and the DSCP of `meta` go to; `None` if the manager has no
    /// sub-flows, or does not tie a flow to one of them.
    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        let _ = meta;
        None
    }

    /// Returns the time of the next `on_timer`; only `on_timer` changes it.
    fn next_timer(&self) -> Option<Instant> {
        None
    }

    /// Goes on with the parameters `to`, of the type that it was built from: what waits stays, and so does what was decided; the next decision is by the new
    /// ones. False, and in no state to go on, if they differ in what is fixed while the manager works, as its periods are.
    fn retune(&mut self, to: &dyn Any) -> bool {
        let _ = to;
        false
    }

    /// A periodic update is due.
    fn on_timer(&mut self, now: Instant, context: &mut dyn QueueContext) {
        let _ = (now, context);
    }
}
