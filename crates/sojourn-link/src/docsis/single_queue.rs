//! The DOCSIS 3.0 modem of White 2013: one managed queue that is shaped, requested for and granted.
//!
//! At each MAP the modem requests what it holds and has not requested, as far as both token buckets
//! allow, and pays for it. A request can be granted from two MAPs later on; the grant lies at a random
//! place in its interval. Only when it begins is a packet taken from the queue manager, so that heads
//! are dropped and flows are chosen at the last moment, and bytes requested for one packet may carry
//! another. What a grant finds nothing for is refunded to the buckets.
//!
//! MAPs are dealt with when something else happens: nothing changes between two events that a MAP could
//! see, and the next grant is known one or two MAPs ahead. A busy modem needs one wake-up per grant, an
//! idle one none.
//!
//! Source: White 2013 §2.1.1, §3.1 and §3.3; White 2012 §2.2.2 for the loop.
//! Deviations: a request leaves out bytes whose grant is known but has not begun. Read literally, the
//! published description would request them a second time in the MAP that grants them; each burst would
//! be followed by an unused grant, and a packet could ride it in less than one loop, which §4.1.1 rules
//! out for queues that do not drop at the head.

use super::congestion::GrantLimit;
use super::map::{MapClock, MapDraws};
use crate::config::{ShaperConfig, SingleQueueConfig};
use crate::queue_call::{Drain, QueueCall, next_timer, run_timers};
use crate::shaper::RateShaper;
use crate::{DelayParts, Draw, Link, LinkContext, LinkCounters, Passage};
use alloc::collections::VecDeque;
use sojourn_base::{BitRate, Bytes, Instant, Meta, Packets, Span};
use sojourn_queue::{Backlog, Held, QueueManager};

/// See the module. `T` is the caller's packet, `M` the queue manager.
#[derive(Clone, Debug)]
pub struct SingleQueue<T, M> {
    manager: M,
    /// When the manager wants a timer run; [`Instant::NEVER`] if it has no timer.
    timer: Instant,
    shaper: RateShaper,
    channel_rate: BitRate,
    delay: Span,
    clock: MapClock,
    limit: GrantLimit,
    offsets: MapDraws,
    fragment: Option<Fragment<T>>,
    requests: Requests,
    granted: Bytes,
    unused: Bytes,
    plan: Plan,
}

/// A packet of which some bytes have been sent.
#[derive(Clone, Debug)]
struct Fragment<T> {
    packet: Held<T>,
    sent: u64,
    dequeued_at: Instant,
    started_at: Instant,
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    /// Nothing waits and nothing is requested.
    Idle,
    /// The next MAP must be dealt with in time.
    Map,
    /// A grant of so many bytes begins.
    Grant { starts_at: Instant, bytes: Bytes },
}

/// Requested bytes as a stream: each position was requested at one MAP, and is spent once, sent or
/// unused.
#[derive(Clone, Debug, Default)]
struct Requests {
    /// End of each request in the stream and when it left; requests that are spent are forgotten.
    log: VecDeque<(Bytes, Instant)>,
    /// End of the stream.
    total: Bytes,
    /// End of the stream at the last MAP, and at the one before.
    at_last_map: Bytes,
    at_map_before: Bytes,
    /// Everything before is sent or refunded.
    spent: Bytes,
}

impl Requests {
    /// A MAP requests `bytes` more.
    fn on_map(&mut self, at: Instant, bytes: Bytes) {
        self.at_map_before = self.at_last_map;
        if bytes > Bytes::ZERO {
            self.total += bytes;
            self.log.push_back((self.total, at));
        }
        self.at_last_map = self.total;
    }

    /// When the byte before `end` was requested. Ends never decrease.
    fn requested_at(&mut self, end: Bytes) -> Instant {
        while self.log.len() > 1 && self.log[0].0 < end {
            self.log.pop_front();
        }
        self.log.front().expect("spent bytes were requested").1
    }

    fn spend(&mut self, bytes: Bytes) {
        self.spent += bytes;
        while self.log.front().is_some_and(|(end, _)| *end <= self.spent) {
            self.log.pop_front();
        }
    }
}

impl<T, M: QueueManager<T>> SingleQueue<T, M> {
    /// An idle modem with full buckets.
    ///
    /// # Panics
    /// If [`crate::LinkConfig::problems`] would list something.
    pub fn new(config: &SingleQueueConfig, manager: M) -> Self {
        // [asm] At a request a whole MAP interval's worth of the peak rate must be requestable.
        let shaper = ShaperConfig {
            peak_burst: config.shaper.peak_burst + config.shaper.peak.bytes_in(config.map_interval),
            ..config.shaper
        };
        Self {
            timer: next_timer(&manager),
            manager,
            shaper: RateShaper::new(&shaper),
            channel_rate: config.channel_rate,
            delay: config.delay,
            clock: MapClock::new(config.map_interval),
            limit: GrantLimit::new(
                config.congestion.clone(),
                config.map_interval,
                config.channel_rate,
            ),
            offsets: MapDraws::new(Draw::GrantOffset),
            fragment: None,
            requests: Requests::default(),
            granted: Bytes::ZERO,
            unused: Bytes::ZERO,
            plan: Plan::Idle,
        }
    }

    /// The queue manager, for records.
    pub const fn manager(&self) -> &M {
        &self.manager
    }

    /// Tokens of the sustained-rate bucket at `now`, for records; requests up to the last event are
    /// paid.
    pub fn tokens(&self, now: Instant) -> Bytes {
        self.shaper.tokens(now)
    }

    /// Everything that is due by `now`, in order of time. Where times are equal: timers, then the MAP,
    /// then the grant.
    fn advance(&mut self, now: Instant, context: &mut impl LinkContext<T>) {
        loop {
            let map = self.clock.starts_at();
            match self.plan {
                Plan::Idle => {
                    // Requests of idle MAPs are empty ones.
                    self.requests.at_last_map = self.requests.total;
                    self.requests.at_map_before = self.requests.total;
                    self.clock.pass(now);
                    break;
                }
                Plan::Grant { starts_at, bytes } if starts_at < map => {
                    if starts_at > now {
                        break;
                    }
                    self.run_timers(starts_at, context);
                    self.on_grant(starts_at, bytes, context);
                    self.plan(context);
                }
                Plan::Map | Plan::Grant { .. } => {
                    if map > now {
                        break;
                    }
                    self.run_timers(map, context);
                    self.on_map();
                    if self.plan == Plan::Map {
                        self.plan(context);
                    }
                }
            }
        }
        self.run_timers(now, context);
    }

    /// The next MAP: request what is not requested, as far as tokens allow. (Its grant is planned
    /// before, see [`SingleQueue::plan`].)
    fn on_map(&mut self) {
        let at = self.clock.starts_at();
        let mut bytes = self.unrequested();
        if bytes > Bytes::ZERO {
            bytes = self.shaper.affordable(at, bytes);
            self.shaper.debit(at, self.shaper.price(bytes));
        }
        self.requests.on_map(at, bytes);
        self.clock.step();
    }

    /// Bytes held here that no request, granted or not, stands for.
    fn unrequested(&self) -> Bytes {
        let held = self.manager.backlog().bytes + self.fragment_rest();
        held.saturating_sub(self.requests.total - self.requests.spent)
    }

    fn fragment_rest(&self) -> Bytes {
        let rest = |f: &Fragment<T>| u64::from(f.packet.meta.length) - f.sent;
        Bytes(self.fragment.as_ref().map_or(0, rest))
    }

    /// Finds the next grant. Requests of the last MAP but one are eligible at the next MAP, and if there
    /// are none, those of the last MAP at the one after.
    fn plan(&mut self, context: &mut impl LinkContext<T>) {
        let (eligible, ahead) = if self.requests.at_map_before > self.granted {
            (self.requests.at_map_before - self.granted, 0)
        } else if self.requests.at_last_map > self.granted {
            (self.requests.at_last_map - self.granted, 1)
        } else {
            self.plan = if self.unrequested() > Bytes::ZERO {
                Plan::Map
            } else {
                Plan::Idle
            };
            return;
        };
        let number = self.clock.number() + ahead;
        let map = self.clock.start_ahead(ahead);
        let bytes = eligible.min(self.limit.at(number, map, context));
        if bytes == Bytes::ZERO {
            self.plan = Plan::Map;
            return;
        }
        let room = self
            .clock
            .interval()
            .saturating_sub(self.channel_rate.time_for(bytes));
        let offset = fraction(room, self.offsets.draw(number, context));
        self.granted += bytes;
        self.plan = Plan::Grant {
            starts_at: map + offset,
            bytes,
        };
    }

    fn on_grant(&mut self, now: Instant, grant: Bytes, context: &mut impl LinkContext<T>) {
        let mut offset = 0;
        let mut at = now;
        while offset < grant.0 {
            let Some(mut fragment) = self.next_fragment(now, at, context) else {
                break;
            };
            let rest = u64::from(fragment.packet.meta.length) - fragment.sent;
            let left = grant.0 - offset;
            if rest > left {
                fragment.sent += left;
                offset = grant.0;
                self.fragment = Some(fragment);
                break;
            }
            offset += rest;
            at = now + self.channel_rate.time_for(Bytes(offset));
            let requested_at = self
                .requests
                .requested_at(self.requests.spent + Bytes(offset));
            self.deliver(fragment, requested_at, at, context);
        }
        let unspent = Bytes(grant.0 - offset);
        if unspent > Bytes::ZERO {
            self.shaper.credit(now, self.shaper.price(unspent));
            self.unused += unspent;
        }
        self.requests.spend(grant);
    }

    /// The packet to go on with, whose first byte leaves at `at` if it is a new one.
    fn next_fragment(
        &mut self,
        now: Instant,
        at: Instant,
        context: &mut impl LinkContext<T>,
    ) -> Option<Fragment<T>> {
        if let Some(fragment) = self.fragment.take() {
            return Some(fragment);
        }
        let (manager, mut call) = self.split(now, context);
        let packet = manager.dequeue(now, &mut call)?;
        Some(Fragment {
            packet,
            sent: 0,
            dequeued_at: now,
            started_at: at,
        })
    }

    fn deliver(
        &self,
        done: Fragment<T>,
        requested_at: Instant,
        last_byte_at: Instant,
        context: &mut impl LinkContext<T>,
    ) {
        let delay = if context.wants_delay() {
            self.split_delay(&done, requested_at, last_byte_at)
        } else {
            DelayParts::default()
        };
        let packet = done.packet;
        let passage = Passage {
            entered_at: packet.enqueued_at,
            dequeued_at: done.dequeued_at,
            arrives_at: last_byte_at + self.delay,
            delay,
            marked: packet.marked,
            sub_flow: packet.sub_flow,
        };
        context.deliver(packet.item, &packet.meta, &passage);
    }

    /// Splits the packet's delay. It waits for the first MAP after its entry (request), for the tokens
    /// of its last byte (queue), for the grant of its first byte (grant), and between fragments
    /// (framing); a packet that rides a request from before its entry waits for the grant only.
    fn split_delay(
        &self,
        done: &Fragment<T>,
        requested_at: Instant,
        last_byte_at: Instant,
    ) -> DelayParts {
        let packet = &done.packet;
        let entered_at = packet.enqueued_at;
        let asked_at = if requested_at < entered_at {
            entered_at
        } else {
            self.first_map_after(entered_at).min(done.started_at)
        };
        let paid_at = requested_at.clamp(asked_at, done.started_at);
        let on_air = last_byte_at.saturating_since(done.started_at);
        // Differences of rounded times may be a picosecond short of the rounded time of the whole.
        let serialisation = self
            .channel_rate
            .time_for(Bytes(packet.meta.length.into()))
            .min(on_air);
        DelayParts {
            queue: paid_at.saturating_since(asked_at),
            request_wait: asked_at.saturating_since(entered_at),
            grant_wait: done.started_at.saturating_since(paid_at),
            framing: on_air.saturating_sub(serialisation),
            serialisation,
            wire: self.delay,
        }
    }

    /// Start of the first MAP after `entered_at`.
    fn first_map_after(&self, entered_at: Instant) -> Instant {
        let interval = self.clock.interval().as_ps();
        Instant::from_ps((entered_at.as_ps() / interval + 1) * interval)
    }

    fn run_timers(&mut self, until: Instant, context: &mut impl LinkContext<T>) {
        if self.timer <= until {
            let (manager, mut call) = self.split(until, context);
            self.timer = run_timers(manager, until, &mut call);
        }
    }

    fn split<'a, C>(
        &'a mut self,
        now: Instant,
        context: &'a mut C,
    ) -> (&'a mut M, QueueCall<'a, C>) {
        let staged = self.fragment_rest();
        let call = QueueCall {
            now,
            drain: Drain::Buckets(&self.shaper),
            staged,
            // Half an interval until the request leaves, two in the loop, half until the grant begins.
            loop_delay: self.clock.interval() * 3,
            context,
        };
        (&mut self.manager, call)
    }
}

/// `unit` of `span`, rounded down.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and at most the span"
)]
fn fraction(span: Span, unit: f64) -> Span {
    Span::from_ps((span.as_ps() as f64 * unit) as u64)
}

impl<T, M: QueueManager<T>> Link<T> for SingleQueue<T, M> {
    fn on_arrival(&mut self, now: Instant, meta: Meta, item: T, context: &mut impl LinkContext<T>) {
        self.advance(now, context);
        let (manager, mut call) = self.split(now, context);
        let _ = manager.enqueue(now, meta, item, &mut call);
        if self.plan == Plan::Idle {
            self.plan(context);
        }
    }

    fn next_wakeup(&self) -> Instant {
        let next = match self.plan {
            Plan::Idle => Instant::NEVER,
            Plan::Map => self.clock.starts_at(),
            Plan::Grant { starts_at, .. } => starts_at,
        };
        // A timer matters only if something waits.
        if self.timer < next && self.manager.backlog().packets.0 > 0 {
            self.timer
        } else {
            next
        }
    }

    fn on_wakeup(&mut self, now: Instant, context: &mut impl LinkContext<T>) {
        self.advance(now, context);
    }

    fn backlog(&self) -> Backlog {
        self.manager.backlog()
    }

    fn staged(&self) -> Backlog {
        Backlog {
            bytes: self.fragment_rest(),
            packets: Packets(u32::from(self.fragment.is_some())),
        }
    }

    fn counters(&self) -> Option<LinkCounters> {
        Some(LinkCounters {
            requested: self.requests.total,
            granted: self.granted,
            unused_grant: self.unused,
        })
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.manager().sub_flow(meta)
    }
}

#[cfg(test)]
mod tests;
