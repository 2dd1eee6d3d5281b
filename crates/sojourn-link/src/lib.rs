//! Links: how packets get from one node to the next, and what a MAC makes them wait for.
//!
//! A link owns its queue managers. It is driven by three calls: a packet arrives, a wake-up is due, and
//! the question when the next wake-up is due. Everything it does to a packet leaves through
//! [`LinkContext`]: a delivery in the future with the packet's delay split by cause, a drop, a mark.
//! No clock, no engine, no randomness of its own.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod any;
pub mod conditioned;
pub mod conditions;
pub mod config;
pub mod docsis;
pub mod docsis30;
pub mod docsis31;
pub mod framing;
pub mod group;
pub mod kind;
mod kinds;
pub mod line;
pub mod network;
pub mod path;
mod problems;
mod queue_call;
mod rate_shaping_queue;
pub mod reach;
pub mod serial;
pub mod service_flows;
pub mod shaped;
pub mod shaper;
#[cfg(test)]
mod testing;
pub mod token_bucket;
pub mod trace;
pub mod wifi;
pub mod wire;

pub use any::AnyLink;
pub use conditioned::Conditioned;
pub use conditions::ConditionConfig;
pub use config::{
    CascadeConfig, CascadeVariant, Forwarding, ImpulseConfig, Pull, Rule, SerialConfig, ShapedConfig, ShaperConfig,
    SingleQueueConfig, WireConfig,
};
pub use docsis::congestion::{CongestionConfig, RateCycle};
pub use docsis30::cascade::Cascade;
pub use docsis30::single_queue::SingleQueue;
pub use docsis31::config::{DownstreamConfig, UpstreamConfig};
pub use docsis31::downstream::Downstream;
pub use docsis31::upstream::Upstream;
pub use framing::Framing;
pub use group::{DownstreamMemberConfig, Group, GroupConfig, MemberConfig, SharedDownstream};
pub use kind::{LinkConfig, LinkKind, LinkParameters};
#[cfg(feature = "std")]
pub use kinds::add_link;
pub use line::Line;
pub use network::{Network, NetworkContext, NetworkEvent, PacketId};
pub use reach::Shortfall;
pub use serial::Serial;
pub use service_flows::{AggregateConfig, ClassifierConfig, FlowsConfig, MarkingConfig, ServiceFlowConfig};
pub use shaped::Shaped;
pub use trace::{Opportunities, Trace, TraceConfig};
pub use wire::Wire;

pub use sojourn_base::DelayParts;

use core::any::Any;
use sojourn_base::FlowKey;
use sojourn_base::{Bytes, Instant, Meta, PacketHandle, Shown, Span};
use sojourn_queue::{Backlog, Held, Reason, Score, SubFlow};

/// Place of a loss in a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The managed queue (in the 2012 modem: the rate-shaping queue).
    Queue,
    /// The transmit queue behind it (2012 modem only).
    TransmitQueue,
    /// The line behind both, by [`conditions`].
    Line,
}

/// One packet's way through a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Arrival at the link.
    pub entered_at: Instant,
    /// Departure from the managed queue; `dequeued_at - entered_at` is its sojourn time there.
    pub dequeued_at: Instant,
    /// Arrival of its last bit at the far end: `entered_at + delay.total()`.
    pub arrives_at: Instant,
    /// Delay by cause; empty if the link would have to compute it and the context does not want it.
    pub delay: DelayParts,
    /// Place inside its queue.
    pub sub_flow: SubFlow,
}

impl Passage {
    /// That of a packet that has left its queue, with where its delay went.
    #[inline]
    pub const fn of(packet: &Held, dequeued_at: Instant, arrives_at: Instant, delay: DelayParts) -> Self {
        Self { entered_at: packet.enqueued_at, dequeued_at, arrives_at, delay, sub_flow: packet.sub_flow }
    }
}

/// A packet lost in a link. Its service queue is that of its [`Meta`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Arrival at the link.
    pub entered_at: Instant,
    /// Place of the loss in the link.
    pub stage: Stage,
    /// Why it was dropped.
    pub reason: Reason,
    /// Place inside its queue.
    pub sub_flow: SubFlow,
}

/// A packet marked in a link. Its service queue is that of its [`Meta`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Arrival at the link.
    pub entered_at: Instant,
    /// Why it was marked.
    pub reason: Reason,
    /// Place inside its queue.
    pub sub_flow: SubFlow,
}

/// Purposes of a link's random draws; each has its own stream, so that switching a queue manager does not change the
/// randomness of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Decisions of the queue manager.
    QueueManager,
    /// Size of a grant on a congested channel.
    GrantSize,
    /// Place of a grant in its MAP interval.
    GrantOffset,
    /// Frame of a MAP interval in which a service flow without a grant requests.
    RequestFrame,
    /// Time until the next impulse of noise on a DSL line.
    ImpulseGap,
    /// Conditions of packets behind the link; see [`LinkContext::luck`].
    Conditions,
    /// Opportunities to request that a modem of a group lets pass.
    Backoff,
    /// Start of a run in its trace.
    TraceStart,
}

impl Draw {
    /// All purposes.
    pub const ALL: [Self; 8] = [
        Self::QueueManager,
        Self::GrantSize,
        Self::GrantOffset,
        Self::RequestFrame,
        Self::ImpulseGap,
        Self::Conditions,
        Self::Backoff,
        Self::TraceStart,
    ];

    /// The word in the name of its random stream.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::QueueManager => "queue_manager",
            Self::GrantSize => "grant_size",
            Self::GrantOffset => "grant_offset",
            Self::RequestFrame => "request_frame",
            Self::ImpulseGap => "impulse_gap",
            Self::Conditions => "conditions",
            Self::Backoff => "backoff",
            Self::TraceStart => "trace_start",
        }
    }
}

/// A context as an object of its trait, whatever its type.
pub trait AsLinkContext {
    /// The object.
    fn as_dyn(&mut self) -> &mut (dyn LinkContext + '_);
}

impl<C: LinkContext> AsLinkContext for C {
    #[inline]
    fn as_dyn(&mut self) -> &mut (dyn LinkContext + '_) {
        self
    }
}

/// Sink of a link's results.
pub trait LinkContext: AsLinkContext {
    /// The context that this one stands around, if there is one: methods with a default ask that one.
    fn inner(&mut self) -> Option<&mut (dyn LinkContext + '_)>;
    /// `item` arrives at the far end at `passage.arrives_at`. Deliveries of one queue of a link are
    /// announced in the order of their arrival; see [`Link::keeps_order`].
    fn deliver(&mut self, item: PacketHandle, meta: &Meta, passage: &Passage);
    /// `item` is lost.
    fn dropped(&mut self, item: PacketHandle, meta: &Meta, loss: &Loss);
    /// `item` was marked by the queue manager, and stays or goes on: its owner rewrites its header now, and the mark is
    /// reported once.
    fn marked(&mut self, item: PacketHandle, meta: &Meta, mark: &Mark);
    /// Queue Protection has judged `item`, which arrives; see [`sojourn_queue::QueueContext::scored`].
    fn scored(&mut self, item: PacketHandle, meta: &Meta, score: &Score) {
        if let Some(inner) = self.inner() {
            inner.scored(item, meta, score);
        }
    }
    /// The manager has accepted a packet and expects that it will wait so long; see
    /// [`sojourn_queue::QueueContext::estimated`].
    fn estimated(&mut self, meta: &Meta, delay: Span) {
        if let Some(inner) = self.inner() {
            inner.estimated(meta, delay);
        }
    }
    /// A uniform draw in [0, 1) from the stream of `purpose`.
    fn unit(&mut self, purpose: Draw) -> f64;
    /// The draw, uniform in [0, 1), with this `number` in the stream of `purpose`, whatever was drawn before; a
    /// [`group`] asks for it. Without one: the next draw.
    fn unit_at(&mut self, purpose: Draw, number: u64) -> f64 {
        match self.inner() {
            Some(inner) => inner.unit_at(purpose, number),
            None => self.unit(purpose),
        }
    }
    /// The draw, uniform in [0, 1), that belongs to packet `number` of `flow` and to `lot`, whatever was drawn before;
    /// [`conditions`] ask for it. A context without them need not have it.
    fn luck(&mut self, flow: u32, number: u64, lot: u32) -> f64 {
        match self.inner() {
            Some(inner) => inner.luck(flow, number, lot),
            None => self.unit(Draw::Conditions),
        }
    }
    /// A second packet like `item`, which the link delivers too; `None` where packets cannot be copied.
    fn copy(&mut self, item: PacketHandle) -> Option<PacketHandle> {
        self.inner()?.copy(item)
    }
    /// Addresses and ports of `item`, for [`service_flows`]; `None` where they are not known.
    fn flow(&mut self, item: PacketHandle) -> Option<FlowKey> {
        self.inner()?.flow(item)
    }
    /// `item` has another code point from now on: its owner rewrites its header.
    fn remark(&mut self, item: PacketHandle, dscp: u8) {
        if let Some(inner) = self.inner() {
            inner.remark(item, dscp);
        }
    }
    /// Returns true if [`Passage::delay`] is read.
    fn wants_delay(&mut self) -> bool {
        self.inner().is_none_or(LinkContext::wants_delay)
    }
    /// So much was done within this call, in steps of some nanoseconds to a microsecond; whether to go on. If not, the
    /// run is given up: the link comes to an end, in whatever state, and is not called again.
    fn work(&mut self, units: u64) -> bool {
        self.inner().is_none_or(|inner| inner.work(units))
    }
}

/// Counters of a MAC since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Bytes requested from the CMTS.
    pub requested: Bytes,
    /// Bytes granted, those of a grant that is known and has not begun included.
    pub granted: Bytes,
    /// Bytes of grants for which there was nothing to send.
    pub unused_grant: Bytes,
}

impl core::ops::Add for LinkCounters {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            requested: self.requested + other.requested,
            granted: self.granted + other.granted,
            unused_grant: self.unused_grant + other.unused_grant,
        }
    }
}

/// State of a link in one direction at any time.
pub trait Link: Shown + Send {
    /// Returns the time of the link's next call; [`Instant::NEVER`] if nothing is pending.
    fn next_wakeup(&self) -> Instant;

    /// Returns the packets that wait in the managed queue.
    fn backlog(&self) -> Backlog;

    /// Returns the packets that wait behind the managed queue (transmit queue, staged fragments).
    fn staged(&self) -> Backlog {
        Backlog::default()
    }

    /// Returns true if packets are announced in the order of their arrival, as by a link with one queue. A packet that
    /// has left such a link for a wire of its own can be followed to the end of the wire at once.
    fn keeps_order(&self) -> bool {
        true
    }

    /// The sub-flow of its queue that all packets with the flow and the DSCP of `meta` go to; see
    /// [`sojourn_queue::QueueManager::sub_flow`].
    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        let _ = meta;
        None
    }

    /// Goes on with the parameters `to` in place of `from`, of the type that it was built from, for the packet that is sent
    /// next. All that was due before `now` is done. False, and in no state to go on, if they differ in what is fixed while
    /// the link works.
    fn retune(&mut self, now: Instant, from: &dyn Any, to: &dyn Any) -> bool {
        let _ = (now, from, to);
        false
    }

    /// [`sojourn_queue::QueueManager::retune`] of the manager of its queue.
    fn retune_queue(&mut self, to: &dyn Any) -> bool {
        let _ = to;
        false
    }

    /// Returns the counters of the link's MAC; `None` without one.
    fn counters(&self) -> Option<LinkCounters> {
        None
    }

    /// The same for the classic and for the low-latency service flow; `None` of a link that has not both.
    fn service_flow_counters(&self) -> Option<[LinkCounters; 2]> {
        None
    }
}

/// A link at work, with a context of type `C`.
pub trait Transmit<C: LinkContext + ?Sized>: Link {
    /// A packet reaches the link.
    fn on_arrival(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut C);

    /// A wake-up is due. Calls before the due time change nothing.
    fn on_wakeup(&mut self, now: Instant, context: &mut C);

    /// The run ends: a link that postpones its idle MAPs handles them up to `now`, so that its [`Link::counters`] are
    /// those of the whole run.
    fn settle(&mut self, now: Instant, context: &mut C) {
        let _ = (now, context);
    }
}
