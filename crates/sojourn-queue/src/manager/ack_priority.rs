//! A fast lane for pure acknowledgements in front of another manager.
//!
//! Cable modems have long let upstream acknowledgements pass bulk data (White 2013 §1.3); no document
//! says how, so the scheme is ours: a small first-in, first-out lane with strict priority, capped so
//! that data are never starved.
//!
//! Source: White 2013 §1.3 (that it is done). Deviations: none known.

use crate::config::{ConfigProblem, ManagerKind};
use crate::manager::drop_tail::DropTailConfig;
use crate::store::fifo::Fifo;
use crate::{
    AnyManager, Backlog, Held, ManagerConfig, QueueContext, QueueManager, Reason, Verdict,
};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use sojourn_base::{Bytes, Instant, Limit, Meta, ServiceQueue};
use sojourn_keys::{Configured, Key, OneOf, Variant, Visitor, bytes, key, origin, parameters};

parameters! {
    /// Parameters of the lane.
    #[derive(Copy, Eq)]
    pub struct AckPriorityConfig {
        /// longest packet that counts as an acknowledgement
        longest: u32 = 128, origin("chosen: headers with time stamps and three SACK blocks fit").least("20 B").most("64 KiB") => bytes;
        /// how much may wait in the lane; more goes to the manager behind it
        limit: Bytes = Bytes(32 * 1024), origin("chosen: some 600 acknowledgements").most("1 GB");
        /// acknowledgements served in a row while data wait
        burst: u32 = 8, origin("chosen: every ninth opportunity is for data").least("1").most("1000000");
    }
}

impl AckPriorityConfig {
    fn collect_problems(self, problems: &mut Vec<ConfigProblem>) {
        if self.burst == 0 {
            problems.push(ConfigProblem {
                field: "burst",
                message: alloc::string::String::from("no acknowledgement would ever go first"),
                hint: "8",
            });
        }
    }
}

/// The lane, and the manager of everything else.
#[derive(Clone, Debug, PartialEq)]
pub struct PrioritisedConfig {
    /// The lane.
    pub lane: AckPriorityConfig,
    /// The manager behind it: any but another such lane.
    pub manager: Box<ManagerConfig>,
}

impl PrioritisedConfig {
    /// `manager` behind a lane with the values of [`AckPriorityConfig::BASE`].
    pub fn before(manager: ManagerConfig) -> Self {
        Self {
            lane: AckPriorityConfig::BASE,
            manager: Box::new(manager),
        }
    }
}

impl Configured for PrioritisedConfig {
    const KIND: &'static str = "ack-priority";
    const ABOUT: &'static str = "a fast lane for pure acknowledgements in front of another manager";

    fn base() -> Self {
        Self::before(DropTailConfig::bytes(0).wrap())
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        self.lane.keys(visitor);
        let mut kinds = ManagerConfig::kinds();
        kinds.retain(|kind| kind.info().name != Self::KIND);
        visitor.choice(
            INNER,
            &mut OneOf::among(&mut *self.manager, kinds, ManagerConfig::kind),
        );
    }
}

const INNER: Key = key(MANAGER, "the manager of everything else", "no default")
    .required("{ kind = \"codel\", profile = \"rfc8289\" }");

/// The key of the manager behind a lane.
const MANAGER: &str = "manager";

impl ManagerKind for PrioritisedConfig {
    type Queue<T> = Box<AckPriorityQueue<T, AnyManager<T>>>;

    fn build<T: Send + 'static>(&self) -> Self::Queue<T> {
        Box::new(AckPriorityQueue::new(self.lane, self.manager.build()))
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        self.manager.limit_mut()
    }

    fn behind(&self) -> Option<(&'static str, &ManagerConfig)> {
        Some((MANAGER, &self.manager))
    }

    fn has_service_queues(&self) -> bool {
        true
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.lane.collect_problems(problems);
    }
}

/// What a caller can say of an acknowledgement, so that a newer one may take an older one's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CumulativeAck {
    /// The cumulative acknowledgement number, without wrapping.
    pub number: u64,
    /// It carries nothing else that the sender must see: no SACK blocks, no ECN echo or change of it.
    pub plain: bool,
}

/// Reads the acknowledgement out of the caller's packet; `None` if that cannot be done.
pub type ReadAck<T> = fn(&T, &Meta) -> Option<CumulativeAck>;

/// The lane, and the manager behind it.
#[derive(Clone)]
pub struct AckPriorityQueue<T, M> {
    config: AckPriorityConfig,
    lane: Fifo<T>,
    inner: M,
    /// Acknowledgements served in a row while data waited.
    in_a_row: u32,
    read: Option<ReadAck<T>>,
}

impl<T, M> AckPriorityQueue<T, M> {
    /// A lane in front of `inner`.
    pub const fn new(config: AckPriorityConfig, inner: M) -> Self {
        Self {
            config,
            lane: Fifo::new(),
            inner,
            in_a_row: 0,
            read: None,
        }
    }

    /// Also let a plain acknowledgement take the place of an older one of its flow. What it replaces
    /// leaves for [`Reason::Suppressed`].
    #[must_use]
    pub const fn with_suppression(mut self, read: ReadAck<T>) -> Self {
        self.read = Some(read);
        self
    }

    /// The manager behind the lane.
    pub const fn inner(&self) -> &M {
        &self.inner
    }

    /// Where in the lane the acknowledgement is that `packet` makes superfluous.
    fn superfluous(&self, packet: &Held<T>) -> Option<usize> {
        let read = self.read?;
        let newer = read(&packet.item, &packet.meta)?;
        let place = self
            .lane
            .newest(|waiting| waiting.meta.flow_hash == packet.meta.flow_hash)?;
        let waiting = self.lane.at(place);
        let older = read(&waiting.item, &waiting.meta)?;
        let both_plain = newer.plain && older.plain;
        let fits = self.lane.bytes() + u64::from(packet.meta.length)
            <= self.config.limit.0 + u64::from(waiting.meta.length);
        (both_plain && newer.number > older.number && fits).then_some(place)
    }
}

impl<T, M: QueueManager<T>> AckPriorityQueue<T, M> {
    /// Whether the next opportunity belongs to the lane.
    fn is_lanes_turn(&self) -> bool {
        !self.lane.is_empty()
            && (self.in_a_row < self.config.burst || self.inner.backlog().packets.0 == 0)
    }

    fn serve_lane(&mut self) -> Option<Held<T>> {
        let packet = self.lane.pop()?;
        if self.inner.backlog().packets.0 == 0 {
            self.in_a_row = 0;
        } else {
            self.in_a_row = self.in_a_row.saturating_add(1);
        }
        Some(packet)
    }
}

impl<T, M: QueueManager<T>> QueueManager<T> for AckPriorityQueue<T, M> {
    fn enqueue(
        &mut self,
        now: Instant,
        meta: Meta,
        item: T,
        context: &mut dyn QueueContext<T>,
    ) -> Verdict {
        if !meta.pure_ack || meta.length > self.config.longest {
            return self.inner.enqueue(now, meta, item, context);
        }
        let lane = Meta {
            queue: ServiceQueue::AckPriority,
            ..meta
        };
        let packet = Held::new(now, lane, item);
        if let Some(place) = self.superfluous(&packet) {
            let replaced = self.lane.replace(place, packet);
            context.dropped(replaced, Reason::Suppressed);
            return Verdict::Accepted;
        }
        if self.lane.bytes() + u64::from(meta.length) > self.config.limit.0 {
            return self.inner.enqueue(now, meta, packet.item, context);
        }
        self.lane.push(packet);
        Verdict::Accepted
    }

    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext<T>) -> Option<Held<T>> {
        if self.is_lanes_turn() {
            return self.serve_lane();
        }
        self.in_a_row = 0;
        // The manager behind may drop all it has.
        match self.inner.dequeue(now, context) {
            Some(packet) => Some(packet),
            None => self.serve_lane(),
        }
    }

    fn dequeue_from(
        &mut self,
        now: Instant,
        queue: ServiceQueue,
        context: &mut dyn QueueContext<T>,
    ) -> Option<Held<T>> {
        match queue {
            ServiceQueue::AckPriority => self.serve_lane(),
            inner => self.inner.dequeue_from(now, inner, context),
        }
    }

    fn backlog_of(&self, queue: ServiceQueue) -> Backlog {
        match queue {
            ServiceQueue::AckPriority => self.lane.backlog(),
            inner => self.inner.backlog_of(inner),
        }
    }

    fn head_length(&self) -> Option<u32> {
        if self.is_lanes_turn() {
            self.lane.head().map(|packet| packet.meta.length)
        } else {
            self.inner.head_length()
        }
    }

    fn backlog(&self) -> Backlog {
        let (lane, inner) = (self.lane.backlog(), self.inner.backlog());
        Backlog {
            bytes: lane.bytes + inner.bytes,
            packets: lane.packets + inner.packets,
        }
    }

    /// That of packets that do not pass in the lane.
    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.inner.sub_flow(meta)
    }

    fn next_timer(&self) -> Option<Instant> {
        self.inner.next_timer()
    }

    fn on_timer(&mut self, now: Instant, context: &mut dyn QueueContext<T>) {
        self.inner.on_timer(now, context);
    }
}

impl<T, M: fmt::Debug> fmt::Debug for AckPriorityQueue<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AckPriorityQueue")
            .field("config", &self.config)
            .field("lane", &self.lane.backlog())
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}
