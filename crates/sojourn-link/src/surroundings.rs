//! What a queue manager sees of the link that owns it.
//!
//! Source: the contract of [`sojourn_queue::Environment`].
//! Deviations: timers that fall due while a queue is empty are run, each at its own time, before the
//! next packet is offered; an empty queue therefore needs no wake-ups.

use crate::shaper::RateShaper;
use crate::{Draw, LinkOutput, Stage};
use sojourn_base::{Bytes, Instant, ServiceQueue, Span};
use sojourn_queue::{Environment, Held, QueueManager, Reason, Shaper};

/// How fast the queue can drain.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Drain<'a> {
    /// Always the same.
    Constant(Shaper),
    /// Token buckets.
    Buckets(&'a RateShaper),
}

/// The environment of a managed queue during one call.
#[derive(Debug)]
pub(crate) struct Surroundings<'a, O> {
    /// When the call happens.
    pub(crate) now: Instant,
    /// How fast the queue can drain.
    pub(crate) drain: Drain<'a>,
    /// Bytes pulled from the queue and not sent.
    pub(crate) staged: Bytes,
    /// Mean time from request to grant.
    pub(crate) loop_delay: Span,
    /// Where drops go and draws come from.
    pub(crate) output: &'a mut O,
}

impl<T, O: LinkOutput<T>> Environment<T> for Surroundings<'_, O> {
    fn dropped(&mut self, packet: Held<T>, reason: Reason) {
        self.output.dropped(
            packet.item,
            &packet.meta,
            packet.enqueued_at,
            Stage::Queue,
            reason,
        );
    }

    fn unit(&mut self) -> f64 {
        self.output.unit(Draw::QueueManager)
    }

    fn shaper(&self) -> Shaper {
        match self.drain {
            Drain::Constant(shaper) => shaper,
            Drain::Buckets(shaper) => shaper.view(self.now),
        }
    }

    fn staged(&self, _queue: ServiceQueue) -> Bytes {
        self.staged
    }

    fn loop_delay(&self) -> Span {
        self.loop_delay
    }
}

/// Whether the manager has a timer that is due by `now`; most managers have none.
#[inline]
pub(crate) fn has_due_timer<T, M: QueueManager<T>>(manager: &M, now: Instant) -> bool {
    manager.next_timer().is_some_and(|due| due <= now)
}

/// Runs the manager's timers that are due by `until`, each at its own time.
#[cold]
pub(crate) fn run_timers<T, M: QueueManager<T>, O: LinkOutput<T>>(
    manager: &mut M,
    until: Instant,
    surroundings: &mut Surroundings<'_, O>,
) {
    while let Some(due) = manager.next_timer()
        && due <= until
    {
        surroundings.now = due;
        manager.on_timer(due, surroundings);
    }
    surroundings.now = until;
}

/// When the manager wants its next timer run, if anything waits that it could matter to.
pub(crate) fn timer_wakeup<T, M: QueueManager<T>>(manager: &M) -> Instant {
    match manager.next_timer() {
        Some(due) if manager.backlog().packets.0 > 0 => due,
        _ => Instant::NEVER,
    }
}
