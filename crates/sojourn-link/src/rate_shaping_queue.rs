//! A managed queue whose head leaves when the token buckets hold it.
//!
//! The bucket test uses the length of the packet that the manager would look at first. If the manager
//! then drops packets at its head and returns a longer one than the tokens cover, or cannot tell a
//! length beforehand, the packet waits outside the manager until the tokens are there. Dropped packets
//! cost nothing. A shaper that pulls ahead asks the manager as soon as the packet before has left, and
//! each packet waits outside.
//!
//! Source: White 2012 §2.2.1; for pulling ahead the shaped link that its authors published for ns-2
//! (`link/delaytb.cc`, copyright 2012 to 2013).
//! Deviations: a packet that waits outside the manager was judged before that wait; the paper does not
//! say what happens when a head drop uncovers a longer packet.

use crate::LinkContext;
use crate::config::{Pull, ShaperConfig};
use crate::queue_call::{Drain, QueueCall, next_timer, run_timers};
use crate::shaper::{RateShaper, ShaperPrice};
use alloc::boxed::Box;
use core::any::Any;
use sojourn_base::{Bytes, Instant, Meta, PacketHandle, Packets, Span};
use sojourn_queue::{Backlog, Held, QueueManager};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct RateShapingQueue<M: ?Sized> {
    manager: Box<M>,
    shaper: RateShaper,
    pull: Pull,
    /// Pulled from the manager, waiting for its tokens.
    staged: Option<Held>,
    /// Time at which the head (staged, or as last seen in the manager) has its tokens; [`Instant::NEVER`] if no packet
    /// waits.
    due: Instant,
    /// Length of the head that `due` waits for; 0 if it is not known or nothing waits.
    due_length: u32,
    /// Time of the manager's timer; [`Instant::NEVER`] without one.
    timer: Instant,
    /// True if the manager is asked when it runs dry.
    notices_idling: bool,
    /// Price of a packet of `priced_length`: most packets are as long as the one before.
    price: ShaperPrice,
    priced_length: u32,
}

/// State that the queue shows to its manager besides its own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NextStage {
    /// Bytes in a next stage that the manager answers for.
    pub(crate) staged: Bytes,
    /// The manager answers for the next stage: running out of packets is not running idle.
    pub(crate) answered_for: bool,
    /// Mean time from request to grant.
    pub(crate) loop_delay: Span,
}

impl<M: QueueManager + ?Sized> RateShapingQueue<M> {
    pub(crate) fn new(config: &ShaperConfig, pull: Pull, manager: Box<M>) -> Self {
        Self {
            timer: next_timer(&*manager),
            notices_idling: manager.notices_idling(),
            manager,
            shaper: RateShaper::new(config),
            pull,
            staged: None,
            due: Instant::NEVER,
            due_length: 0,
            price: ShaperPrice::default(),
            priced_length: 0,
        }
    }

    pub(crate) const fn manager(&self) -> &M {
        &self.manager
    }

    /// Tokens of the sustained-rate bucket.
    pub(crate) fn tokens(&self, now: Instant) -> Bytes {
        self.shaper.tokens(now)
    }

    /// Goes on with other buckets, which hold what is left of these as far as it fits.
    pub(crate) fn retune(&mut self, now: Instant, config: &ShaperConfig) {
        self.shaper = self.shaper.retuned(now, config);
        // Prices are those of a rate.
        self.priced_length = 0;
        if let Some(packet) = &self.staged {
            let length = packet.meta.length;
            self.set_price(length);
            self.due = self.shaper.earliest(self.price).max(now);
        } else {
            self.look_ahead(now);
        }
    }

    /// See [`QueueManager::retune`].
    pub(crate) fn retune_manager(&mut self, to: &dyn Any) -> bool {
        self.manager.retune(to)
    }

    /// Offer an arrival to the manager.
    pub(crate) fn offer<C: LinkContext + ?Sized>(
        &mut self,
        now: Instant,
        meta: Meta,
        item: PacketHandle,
        next_stage: NextStage,
        context: &mut C,
    ) {
        let (manager, mut call) = self.split(now, next_stage, context);
        let _ = manager.enqueue(now, meta, item, &mut call);
        if self.due == Instant::NEVER {
            self.look_ahead(now);
        }
    }

    /// Returns true if a packet of `length` bytes that comes at `now` would leave at once: no packet waits, and the
    /// tokens are there.
    #[inline]
    pub(crate) fn is_open(&mut self, now: Instant, length: u32) -> bool {
        self.due == Instant::NEVER && {
            self.set_price(length);
            self.shaper.earliest(self.price) <= now
        }
    }

    /// The same as an offer and a release, for a packet that the queue is open for.
    #[inline]
    pub(crate) fn pass<C: LinkContext + ?Sized>(
        &mut self,
        now: Instant,
        meta: Meta,
        item: PacketHandle,
        next_stage: NextStage,
        context: &mut C,
    ) -> Option<Held> {
        let (manager, mut call) = self.split(now, next_stage, context);
        let packet = manager.pass(now, meta, item, &mut call)?;
        debug_assert_eq!(packet.meta.length, self.priced_length, "the price is its own");
        self.shaper.debit(now, self.price);
        if self.notices_idling && !next_stage.answered_for {
            self.on_idle(now, next_stage, context);
        }
        Some(packet)
    }

    /// Run the manager's timers that are due.
    pub(crate) fn run_timers<C: LinkContext + ?Sized>(&mut self, now: Instant, next_stage: NextStage, context: &mut C) {
        if self.timer <= now {
            let (manager, mut call) = self.split(now, next_stage, context);
            self.timer = run_timers(manager, now, &mut call);
        }
    }

    /// Returns true if the manager has a timer that is due by `now`.
    #[inline]
    pub(crate) fn has_timer_by(&self, now: Instant) -> bool {
        self.timer <= now
    }

    /// Returns the time at which [`RateShapingQueue::release`] may have a packet.
    pub(crate) const fn due(&self) -> Instant {
        self.due
    }

    /// Returns the time of the manager's timer, if a packet waits that it could affect.
    pub(crate) fn timer(&self) -> Instant {
        if self.timer < Instant::NEVER && self.manager.backlog().packets.0 > 0 { self.timer } else { Instant::NEVER }
    }

    /// Returns the next packet that leaves by `now`, paid for. `judged_at` is the manager's time.
    #[inline]
    pub(crate) fn release<C: LinkContext + ?Sized>(
        &mut self,
        now: Instant,
        judged_at: Instant,
        next_stage: NextStage,
        context: &mut C,
    ) -> Option<Held> {
        if self.due > now { None } else { self.release_head(now, judged_at, next_stage, context) }
    }

    fn release_head<C: LinkContext + ?Sized>(
        &mut self,
        now: Instant,
        judged_at: Instant,
        next_stage: NextStage,
        context: &mut C,
    ) -> Option<Held> {
        if self.staged.is_none() {
            self.pull(now, judged_at, next_stage, context);
            if self.due > now {
                return None;
            }
        }
        // Handed on as it is, because a packet costs ten instructions each time that it is unwrapped.
        let packet = self.staged.take();
        debug_assert_eq!(
            packet.as_ref().map(|packet| packet.meta.length),
            Some(self.priced_length),
            "the price is its own"
        );
        self.shaper.debit(now, self.price);
        self.look_ahead(now);
        if self.due == Instant::NEVER && self.notices_idling && !next_stage.answered_for {
            // The shaper could go on and finds nothing.
            self.on_idle(judged_at, next_stage, context);
        }
        packet
    }

    /// Ask the manager in vain: what an idle queue is to it.
    pub(crate) fn on_idle<C: LinkContext + ?Sized>(&mut self, now: Instant, next_stage: NextStage, context: &mut C) {
        debug_assert!(self.due == Instant::NEVER, "packets wait");
        let (manager, mut call) = self.split(now, next_stage, context);
        let nothing = manager.dequeue(now, &mut call);
        debug_assert!(nothing.is_none(), "an empty manager has no packets");
    }

    /// Length of the packet that `release` would look at, if that is known.
    pub(crate) fn head_length(&self) -> Option<u32> {
        match &self.staged {
            Some(packet) => Some(packet.meta.length),
            None => self.manager.head_length(),
        }
    }

    /// Returns the packets that wait, including one that waits for its tokens outside the manager.
    pub(crate) fn backlog(&self) -> Backlog {
        let mut backlog = self.manager.backlog();
        if let Some(packet) = &self.staged {
            backlog.bytes += Bytes(packet.meta.length.into());
            backlog.packets += Packets(1);
        }
        backlog
    }

    /// Takes the manager's next packet, and finds out when it has its tokens.
    #[inline]
    fn pull<C: LinkContext + ?Sized>(
        &mut self,
        now: Instant,
        judged_at: Instant,
        next_stage: NextStage,
        context: &mut C,
    ) {
        let (manager, mut call) = self.split(judged_at, next_stage, context);
        self.staged = manager.dequeue(judged_at, &mut call);
        let Some(packet) = &self.staged else {
            self.due = Instant::NEVER;
            return;
        };
        let length = packet.meta.length;
        if length != self.due_length {
            self.set_price(length);
            self.due = self.shaper.earliest(self.price).max(now);
            self.due_length = length;
        }
    }

    /// Sets `due` for the head of the manager's queue: when it has its tokens, or at once if it is taken
    /// to wait for them behind the manager.
    fn look_ahead(&mut self, now: Instant) {
        let head = match self.pull {
            Pull::WithTokens => self.manager.head_length(),
            Pull::Ahead => None,
        };
        if let Some(length) = head {
            self.set_price(length);
            self.due = self.shaper.earliest(self.price).max(now);
            self.due_length = length;
        } else {
            let is_empty = self.manager.backlog().packets.0 == 0;
            self.due = if is_empty {
                Instant::NEVER
            } else if self.pull == Pull::WithTokens && self.shaper.pays_afterwards() {
                // Whatever the manager then gives may leave.
                self.shaper.earliest(ShaperPrice::default()).max(now)
            } else {
                now
            };
            self.due_length = 0;
        }
    }

    #[inline]
    fn set_price(&mut self, length: u32) {
        if length != self.priced_length {
            self.price = self.shaper.price(Bytes(length.into()));
            self.priced_length = length;
        }
    }

    fn split<'a, C: ?Sized>(
        &'a mut self,
        now: Instant,
        next_stage: NextStage,
        context: &'a mut C,
    ) -> (&'a mut M, QueueCall<'a, C>) {
        let waiting = self.staged.as_ref().map_or(0, |packet| packet.meta.length);
        let call = QueueCall {
            now,
            drain: Drain::Buckets(&self.shaper),
            staged: next_stage.staged + Bytes(waiting.into()),
            loop_delay: next_stage.loop_delay,
            context,
        };
        (&mut self.manager, call)
    }
}
