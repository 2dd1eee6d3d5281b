//! The DOCSIS 3.0 modem of White 2012: a rate-shaping queue feeds a transmit queue with the
//! request-grant loop.
//!
//! Packets pass from one queue to the other in no time. All that happens at the start of a MAP (the
//! grant, the deliveries it makes, the places it frees) is one wake-up, and MAPs that grant nothing
//! are none.
//!
//! Of packets that arrive at the same instant the first may pass at once; whether the others pass with it or are
//! queued first is a parameter, [`Forwarding`].
//!
//! Source: White 2012 §2.2 and §2.3.
//! Deviations: a grant is limited to what the channel carries in one MAP interval, so that grants never
//! overlap (24,576 B with the default channel; the study's flows request at most 6522 B per MAP). The
//! two variants are the alternatives that §2.2.3 names without details, see [`CascadeVariant`]; our
//! reading of the first is in `Cascade::judged_at`. It is weak while the shaper is not the bottleneck: the
//! rate-shaping queue then holds the head only, and CoDel starts anew after each drop that empties it.

use super::request_grant::RequestGrant;
use super::transmit_queue::TransmitQueue;
use crate::config::{CascadeConfig, CascadeVariant, Forwarding};
use crate::docsis::congestion::GrantLimit;
use crate::rate_shaping_queue::{NextStage, RateShapingQueue};
use crate::{Link, LinkContext, LinkCounters, Transmit};
use alloc::boxed::Box;
use core::any::Any;
use sojourn_base::{Bytes, Instant, Meta, PacketHandle, Span};
use sojourn_queue::{Backlog, Held, QueueManager};

/// See the module. `M` is the manager of the rate-shaping queue.
#[derive(Clone, Debug)]
pub struct Cascade<M: ?Sized = dyn QueueManager> {
    rate_shaping: RateShapingQueue<M>,
    transmit: TransmitQueue,
    requests: RequestGrant,
    limit: GrantLimit,
    variant: CascadeVariant,
    forwarding: Forwarding,
    map_interval: Span,
    /// From a request to its grant.
    grant_delay: Span,
    loop_delay: Span,
    /// Time of the next grant or release.
    next: Instant,
    /// The queue manager's latest time, if that differs from the clock.
    last_judged_at: Instant,
    /// Time of the last arrival: packets of the same instant wait behind it.
    last_arrival: Instant,
}

impl<M: QueueManager + ?Sized> Cascade<M> {
    /// An idle modem with full buckets.
    ///
    /// # Panics
    /// If [`crate::LinkConfig::problems`] would list something.
    pub fn new(config: &CascadeConfig, manager: Box<M>) -> Self {
        Self {
            rate_shaping: RateShapingQueue::new(&config.shaper, config.pull, manager),
            transmit: TransmitQueue::new(config.transmit_queue, config.channel_rate, config.delay),
            requests: RequestGrant::new(config.map_interval, config.grant_delay),
            grant_delay: config.map_interval * u64::from(config.grant_delay),
            limit: GrantLimit::new(config.congestion.clone(), config.map_interval, config.channel_rate),
            variant: config.variant,
            forwarding: config.forwarding,
            map_interval: config.map_interval,
            // The grant delay, and half an interval until the request leaves.
            loop_delay: config.map_interval * (2 * u64::from(config.grant_delay) + 1) / 2,
            next: Instant::NEVER,
            last_judged_at: Instant::ZERO,
            last_arrival: Instant::NEVER,
        }
    }

    /// The manager of the rate-shaping queue, for records.
    pub const fn manager(&self) -> &M {
        self.rate_shaping.manager()
    }

    /// Tokens of the sustained-rate bucket at `now`, for records.
    pub fn tokens(&self, now: Instant) -> Bytes {
        self.rate_shaping.tokens(now)
    }

    /// Handles everything due by `now`, in order of time. At equal times: timers, then the MAP, then the rate-shaping
    /// queue.
    fn advance(&mut self, now: Instant, context: &mut (impl LinkContext + ?Sized)) {
        while self.next <= now && context.work(1) {
            let at = self.next;
            self.rate_shaping.run_timers(at, self.next_stage(), context);
            if self.requests.next_grant() == at {
                self.on_map(at, context);
            }
            self.release(at, context);
        }
        self.rate_shaping.run_timers(now, self.next_stage(), context);
    }

    #[inline(never)] // two of three wake-ups are for the shaper
    fn on_map(&mut self, now: Instant, context: &mut (impl LinkContext + ?Sized)) {
        let number = self.requests.on_map();
        let limit = self.limit.at(number, now, context);
        let grant = self.requests.grant(limit);
        self.requests.step();
        self.transmit.send(now, grant, context);
        let next_stage = self.next_stage();
        if next_stage.answered_for && self.transmit.is_empty() && self.rate_shaping.due() == Instant::NEVER {
            self.last_judged_at = self.last_judged_at.max(now);
            self.rate_shaping.on_idle(self.last_judged_at, next_stage, context);
        }
    }

    /// Moves what may move from the rate-shaping queue to the transmit queue.
    #[inline]
    fn release(&mut self, now: Instant, context: &mut (impl LinkContext + ?Sized)) {
        while self.next_release() <= now {
            self.release_head(now, context);
        }
        self.next = self.next_release().min(self.requests.next_grant());
    }

    #[inline(never)] // most arrivals find nothing to release
    fn release_head(&mut self, now: Instant, context: &mut (impl LinkContext + ?Sized)) {
        let judged_at = self.judged_at(now);
        let next_stage = self.next_stage();
        let head = self.rate_shaping.release(now, judged_at, next_stage, context);
        if let Some(packet) = head {
            self.forward(now, packet, context);
        }
    }

    /// A packet comes from the rate-shaping queue.
    #[inline]
    fn forward(&mut self, now: Instant, packet: Held, context: &mut (impl LinkContext + ?Sized)) {
        if self.transmit.is_full() {
            TransmitQueue::refuse(packet, context);
            return;
        }
        let bytes = Bytes(packet.meta.length.into());
        let requested_at = self.requests.on_queued(now, bytes);
        self.transmit.push(now, requested_at, packet);
    }

    /// Returns true if a packet of `length` bytes that comes at `now` goes on to the transmit queue at once, or is lost
    /// there; it is judged on arrival.
    fn is_open(&mut self, now: Instant, length: u32) -> bool {
        let takes_more = match self.variant {
            CascadeVariant::SojournOverBoth => false,
            CascadeVariant::BackPressure => !self.transmit.is_full(),
            CascadeVariant::DropAtTransmitQueue => true,
        };
        takes_more && self.rate_shaping.is_open(now, length)
    }

    /// Returns the time at which the rate-shaping queue may release a packet, as far as known.
    fn next_release(&self) -> Instant {
        if self.variant == CascadeVariant::BackPressure && self.transmit.is_full() {
            Instant::NEVER
        } else {
            self.rate_shaping.due()
        }
    }

    /// The time at which the queue manager judges the head: now, or with
    /// [`CascadeVariant::SojournOverBoth`] the time at which the head's last byte is expected to be
    /// granted. That is the grant delay after its request at the earliest, and not before all bytes queued
    /// ahead of it are granted at the mean rate of grants. Expectations that shrink do not take the
    /// manager's time back. With that variant the bytes in the transmit queue also count as waiting for
    /// the manager (a floor such as CoDel's one full-size packet holds for both queues), and it is idle
    /// only when both are.
    fn judged_at(&mut self, now: Instant) -> Instant {
        if self.variant != CascadeVariant::SojournOverBoth {
            return now;
        }
        let request = self.requests.next_request(now);
        let earliest = request + self.grant_delay;
        let head = self.rate_shaping.head_length().unwrap_or(0);
        let bytes = self.transmit.bytes().0 + u64::from(head);
        let mean = self.limit.mean(now).0.max(1);
        let grants = bytes.div_ceil(mean).max(1);
        let first = self.requests.next_grant().min(earliest);
        let expected = earliest.max(first + self.map_interval * (grants - 1));
        self.last_judged_at = self.last_judged_at.max(expected);
        self.last_judged_at
    }

    fn next_stage(&self) -> NextStage {
        let answered_for = self.variant == CascadeVariant::SojournOverBoth;
        let staged = if answered_for { self.transmit.bytes() } else { Bytes::ZERO };
        NextStage { staged, answered_for, loop_delay: self.loop_delay }
    }
}

impl<M: QueueManager + ?Sized, C: LinkContext + ?Sized> Transmit<C> for Cascade<M> {
    fn on_arrival(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut C) {
        if self.next <= now || self.rate_shaping.has_timer_by(now) {
            self.advance(now, context);
        }
        let next_stage = self.next_stage();
        let waits = now == self.last_arrival && self.forwarding == Forwarding::OneAtATime;
        if !waits && self.is_open(now, meta.length) {
            self.last_arrival = now;
            if let Some(packet) = self.rate_shaping.pass(now, meta, item, next_stage, context) {
                self.forward(now, packet, context);
            }
            self.next = self.next_release().min(self.requests.next_grant());
            return;
        }
        self.rate_shaping.offer(now, meta, item, next_stage, context);
        if waits {
            // The rest of a burst meets the queue's limit, and is served a picosecond later, in whichever
            // order the calls of this instant come.
            let release = self.next_release().max(now + Span::from_ps(1));
            self.next = release.min(self.requests.next_grant());
        } else {
            self.last_arrival = now;
            self.release(now, context);
        }
    }

    fn on_wakeup(&mut self, now: Instant, context: &mut C) {
        self.advance(now, context);
    }
}

impl<M: QueueManager + ?Sized> Link for Cascade<M> {
    fn next_wakeup(&self) -> Instant {
        self.next.min(self.rate_shaping.timer())
    }

    fn backlog(&self) -> Backlog {
        self.rate_shaping.backlog()
    }

    fn retune_queue(&mut self, to: &dyn Any) -> bool {
        self.rate_shaping.retune_manager(to)
    }

    fn staged(&self) -> Backlog {
        self.transmit.backlog()
    }

    fn counters(&self) -> Option<LinkCounters> {
        Some(LinkCounters {
            requested: self.requests.requested(),
            granted: self.requests.granted(),
            unused_grant: Bytes::ZERO,
        })
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.manager().sub_flow(meta)
    }
}

#[cfg(test)]
mod tests;
