//! The DOCSIS 3.0 modem of White 2013: one managed queue that is shaped, requested for and granted.
//!
//! At each MAP the modem requests its unrequested bytes, as far as both token buckets allow, and pays for them. A
//! request can be granted from two MAPs later on (`grant_delay`); the grant lies at a random place in its interval.
//! Only when it begins is a packet taken from the queue manager, so that heads are dropped and flows are chosen at the
//! last moment, and bytes requested for one packet may carry another. Unused bytes of a grant are refunded to the
//! buckets.
//!
//! MAPs are dealt with when something else happens: nothing changes between two events that a MAP could
//! see, and the next grant is known as soon as its request has left. A busy modem needs one wake-up per grant, an
//! idle one none.
//!
//! Source: White 2013 §2.1.1, §3.1 and §3.3; White 2012 §2.2.2 for the loop.
//! Deviations: a request leaves out bytes whose grant is known but has not begun. Read literally, the
//! published description would request them a second time in the MAP that grants them; each burst would
//! be followed by an unused grant, and a packet could ride it in less than one loop, which §4.1.1 rules
//! out for queues that do not drop at the head.

use super::concatenation::{Channel, Grant, Sent, Staging};
use super::request_grant::RequestGrant;
use crate::config::{ShaperConfig, SingleQueueConfig};
use crate::docsis::congestion::GrantLimit;
use crate::docsis::map::MapDraws;
use crate::queue_call::{Drain, QueueCall, next_timer, run_timers};
use crate::shaper::RateShaper;
use crate::{DelayParts, Draw, Link, LinkContext, LinkCounters, Transmit};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::any::Any;
use sojourn_base::{Bytes, Instant, Meta, PacketHandle, Span};
use sojourn_queue::{Backlog, QueueManager};

/// See the module. `M` is the queue manager.
#[derive(Clone, Debug)]
pub struct SingleQueue<M: ?Sized = dyn QueueManager> {
    manager: Box<M>,
    /// Time of the manager's timer; [`Instant::NEVER`] without one.
    timer: Instant,
    shaper: RateShaper,
    channel: Channel,
    delay: Span,
    loop_delay: Span,
    requests: RequestGrant,
    limit: GrantLimit,
    offsets: MapDraws,
    /// Packet that a grant has taken from the manager and not finished, and the time.
    staged: Staging<Instant>,
    paid: Paid,
    unused: Bytes,
    plan: Plan,
}

/// The next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    /// Nothing waits and nothing is requested.
    Idle,
    /// The next MAP must be dealt with in time.
    Map,
    /// A grant begins, with its size in bytes.
    Grant { starts_at: Instant, bytes: Bytes },
}

/// Requested bytes as a stream: each position was requested, and paid for, at one MAP, and is spent once, sent or
/// unused.
#[derive(Clone, Debug, Default)]
struct Paid {
    /// End of each request in the stream and when it left; requests that are spent are forgotten.
    log: VecDeque<(Bytes, Instant)>,
    /// Everything before is sent or refunded.
    spent: Bytes,
}

impl Paid {
    /// Returns the time at which the byte before `end` was requested. Ends never decrease.
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

impl<M: QueueManager + ?Sized> SingleQueue<M> {
    /// An idle modem with full buckets.
    ///
    /// # Panics
    /// If [`crate::LinkConfig::problems`] would list something.
    pub fn new(config: &SingleQueueConfig, manager: Box<M>) -> Self {
        let shaper = ShaperConfig { peak_burst: config.peak_depth(), ..config.shaper };
        Self {
            timer: next_timer(&*manager),
            manager,
            shaper: RateShaper::new(&shaper),
            channel: Channel::new(config.channel_rate),
            delay: config.delay,
            // Half an interval until the request leaves, half until the grant begins.
            loop_delay: config.map_interval * (u64::from(config.grant_delay) + 1),
            requests: RequestGrant::new(config.map_interval, config.grant_delay),
            limit: GrantLimit::new(config.congestion.clone(), config.map_interval, config.channel_rate),
            offsets: MapDraws::new(Draw::GrantOffset),
            staged: Staging::new(),
            paid: Paid::default(),
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

    /// Returns true if anything is due by `now`, unused MAPs included.
    #[inline]
    fn is_behind(&self, now: Instant) -> bool {
        let grant = match self.plan {
            Plan::Grant { starts_at, .. } => starts_at,
            Plan::Idle | Plan::Map => Instant::NEVER,
        };
        let map = self.requests.clock().starts_at();
        map.min(grant).min(self.timer) <= now
    }

    /// Handles everything due by `now`, in order of time. At equal times: timers, then the MAP, then the grant.
    fn advance(&mut self, now: Instant, context: &mut (impl LinkContext + ?Sized)) {
        loop {
            let map = self.requests.clock().starts_at();
            match self.plan {
                Plan::Idle => {
                    self.requests.pass(now);
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
                    if map > now || !context.work(1) {
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
        let at = self.requests.clock().starts_at();
        let held = self.unrequested();
        if held > Bytes::ZERO {
            let bytes = self.shaper.affordable(at, held);
            if bytes > Bytes::ZERO {
                self.shaper.debit(at, self.shaper.price(bytes));
                self.requests.request(bytes);
                let end = self.requests.requested() + bytes;
                self.paid.log.push_back((end, at));
            }
        }
        self.requests.step();
    }

    /// Bytes held here that no request, granted or not, stands for.
    fn unrequested(&self) -> Bytes {
        let held = self.manager.backlog().bytes + self.staged.bytes();
        held.saturating_sub(self.requests.requested() - self.paid.spent)
    }

    /// Finds the next grant, in the first MAP for which one of the requests is eligible.
    fn plan(&mut self, context: &mut (impl LinkContext + ?Sized)) {
        let Some(eligible) = self.requests.next() else {
            self.plan = if self.unrequested() > Bytes::ZERO { Plan::Map } else { Plan::Idle };
            return;
        };
        let clock = self.requests.clock();
        let number = clock.number() + eligible.ahead;
        let (map, interval) = (clock.start_ahead(eligible.ahead), clock.interval());
        let bytes = self.requests.grant(self.limit.at(number, map, context));
        if bytes == Bytes::ZERO {
            self.plan = Plan::Map;
            return;
        }
        let room = interval.saturating_sub(self.channel.rate().time_for(bytes));
        let offset = fraction(room, self.offsets.draw(number, context));
        self.plan = Plan::Grant { starts_at: map + offset, bytes };
    }

    fn on_grant(&mut self, now: Instant, bytes: Bytes, context: &mut (impl LinkContext + ?Sized)) {
        let rate = self.channel.rate();
        let mut grant = Grant::new(now, bytes, |used| now + rate.time_for(used));
        loop {
            while let Some(sent) = self.staged.send(&mut grant) {
                let requested_at = self.paid.requested_at(self.paid.spent + grant.used());
                self.deliver(sent, requested_at, context);
            }
            if grant.left() == Bytes::ZERO {
                break;
            }
            let (manager, mut call) = self.split(now, context);
            let Some(packet) = manager.dequeue(now, &mut call) else {
                break;
            };
            if let Some(sent) = self.staged.pass(packet, now, &mut grant) {
                let requested_at = self.paid.requested_at(self.paid.spent + grant.used());
                self.deliver(sent, requested_at, context);
            }
        }
        let unused = grant.left();
        if unused > Bytes::ZERO {
            self.shaper.credit(now, self.shaper.price(unused));
            self.unused += unused;
        }
        self.paid.spend(bytes);
    }

    fn deliver(&mut self, sent: Sent<Instant>, requested_at: Instant, context: &mut (impl LinkContext + ?Sized)) {
        let delay = if context.wants_delay() { self.split_delay(&sent, requested_at) } else { DelayParts::default() };
        let dequeued_at = sent.way;
        sent.deliver(dequeued_at, delay, self.delay, context);
    }

    /// Splits the packet's delay. It waits for the first MAP after its entry (request), for the tokens
    /// of its last byte (queue), for the grant of its first byte (grant), and between fragments
    /// (framing); a packet that rides a request from before its entry waits for the grant only.
    fn split_delay(&mut self, sent: &Sent<Instant>, requested_at: Instant) -> DelayParts {
        let (entered_at, started_at) = (sent.packet.enqueued_at, sent.started_at);
        let asked_at =
            if requested_at < entered_at { entered_at } else { self.first_map_after(entered_at).min(started_at) };
        let paid_at = requested_at.clamp(asked_at, started_at);
        let (framing, serialisation) = sent.on_air(&mut self.channel);
        DelayParts {
            queue: paid_at.saturating_since(asked_at),
            request_wait: asked_at.saturating_since(entered_at),
            grant_wait: started_at.saturating_since(paid_at),
            framing,
            serialisation,
            pipeline: Span::ZERO,
            wire: self.delay,
            switching: Span::ZERO,
            hold: Span::ZERO,
        }
    }

    /// Start of the first MAP after `entered_at`.
    fn first_map_after(&self, entered_at: Instant) -> Instant {
        let interval = self.requests.clock().interval().as_ps();
        Instant::from_ps((entered_at.as_ps() / interval + 1) * interval)
    }

    fn run_timers(&mut self, until: Instant, context: &mut (impl LinkContext + ?Sized)) {
        if self.timer <= until {
            let (manager, mut call) = self.split(until, context);
            self.timer = run_timers(manager, until, &mut call);
        }
    }

    fn split<'a, C: ?Sized>(&'a mut self, now: Instant, context: &'a mut C) -> (&'a mut M, QueueCall<'a, C>) {
        let call = QueueCall {
            now,
            drain: Drain::Buckets(&self.shaper),
            staged: self.staged.bytes(),
            loop_delay: self.loop_delay,
            context,
        };
        (&mut self.manager, call)
    }
}

/// `unit` of `span`, rounded down.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and at most the span")]
fn fraction(span: Span, unit: f64) -> Span {
    Span::from_ps((span.as_ps() as f64 * unit) as u64)
}

impl<M: QueueManager + ?Sized, C: LinkContext + ?Sized> Transmit<C> for SingleQueue<M> {
    fn on_arrival(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut C) {
        if self.is_behind(now) {
            self.advance(now, context);
        }
        let (manager, mut call) = self.split(now, context);
        let _ = manager.enqueue(now, meta, item, &mut call);
        if self.plan == Plan::Idle {
            self.plan(context);
        }
    }

    fn on_wakeup(&mut self, now: Instant, context: &mut C) {
        self.advance(now, context);
    }
}

impl<M: QueueManager + ?Sized> Link for SingleQueue<M> {
    fn next_wakeup(&self) -> Instant {
        let next = match self.plan {
            Plan::Idle => Instant::NEVER,
            Plan::Map => self.requests.clock().starts_at(),
            Plan::Grant { starts_at, .. } => starts_at,
        };
        // A timer matters only if something waits.
        if self.timer < next && self.manager.backlog().packets.0 > 0 { self.timer } else { next }
    }

    fn backlog(&self) -> Backlog {
        self.manager.backlog()
    }

    fn retune_queue(&mut self, to: &dyn Any) -> bool {
        self.manager.retune(to)
    }

    fn staged(&self) -> Backlog {
        self.staged.backlog()
    }

    fn counters(&self) -> Option<LinkCounters> {
        Some(LinkCounters {
            requested: self.requests.requested(),
            granted: self.requests.granted(),
            unused_grant: self.unused,
        })
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.manager().sub_flow(meta)
    }
}

#[cfg(test)]
mod tests;
