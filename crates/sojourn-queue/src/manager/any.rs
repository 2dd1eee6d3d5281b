//! Every queue manager behind one type, so that a link calls them without a virtual call.
//!
//! `enqueue` and `dequeue` of the managers are `inline(never)`: in one function for all, each would save the
//! registers that the largest needs, and the two managers of a run would lie scattered among the others.
//!
//! Source: none needed. Deviations: none known.

use crate::manager::{AnyManager, each_manager};
use crate::{Backlog, Held, QueueContext, QueueManager, Verdict};
use core::fmt;
use sojourn_base::{Instant, Meta, ServiceQueue};

impl<T> QueueManager<T> for AnyManager<T> {
    #[inline]
    fn enqueue(
        &mut self,
        now: Instant,
        meta: Meta,
        item: T,
        context: &mut dyn QueueContext<T>,
    ) -> Verdict {
        each_manager!(self, manager => manager.enqueue(now, meta, item, context))
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext<T>) -> Option<Held<T>> {
        each_manager!(self, manager => manager.dequeue(now, context))
    }

    #[inline]
    fn pass(
        &mut self,
        now: Instant,
        meta: Meta,
        item: T,
        context: &mut dyn QueueContext<T>,
    ) -> Option<Held<T>> {
        each_manager!(self, manager => manager.pass(now, meta, item, context))
    }

    fn notices_idling(&self) -> bool {
        each_manager!(self, manager => manager.notices_idling())
    }

    fn dequeue_from(
        &mut self,
        now: Instant,
        queue: ServiceQueue,
        context: &mut dyn QueueContext<T>,
    ) -> Option<Held<T>> {
        each_manager!(self, manager => manager.dequeue_from(now, queue, context))
    }

    fn backlog_of(&self, queue: ServiceQueue) -> Backlog {
        each_manager!(self, manager => manager.backlog_of(queue))
    }

    #[inline]
    fn head_length(&self) -> Option<u32> {
        each_manager!(self, manager => manager.head_length())
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        each_manager!(self, manager => manager.backlog())
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        each_manager!(self, manager => manager.sub_flow(meta))
    }

    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        each_manager!(self, manager => manager.next_timer())
    }

    #[inline]
    fn on_timer(&mut self, now: Instant, context: &mut dyn QueueContext<T>) {
        each_manager!(self, manager => manager.on_timer(now, context));
    }
}

impl<T> fmt::Debug for AnyManager<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnyManager").field(&self.backlog()).finish()
    }
}
