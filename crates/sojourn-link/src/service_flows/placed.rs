//! A manager with a classic and a low-latency queue behind classifiers.
//!
//! The [`Meta::queue`] of an arrival says what they have decided, in the code of [`decided`].

use alloc::boxed::Box;
use sojourn_base::{Instant, Meta, PacketHandle, ServiceQueue};
use sojourn_queue::{Backlog, Held, QueueContext, QueueManager, Verdict};

/// Encodes a decision for [`Placed`]: arrivals are "classic" before any decision.
pub(super) const fn decided(queue: Option<ServiceQueue>) -> ServiceQueue {
    match queue {
        None => ServiceQueue::Classic,
        Some(ServiceQueue::LowLatency) => ServiceQueue::LowLatency,
        Some(ServiceQueue::Classic | ServiceQueue::AckPriority) => ServiceQueue::AckPriority,
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Placed {
    manager: Box<dyn QueueManager>,
}

impl Placed {
    pub(super) const fn new(manager: Box<dyn QueueManager>) -> Self {
        Self { manager }
    }
}

impl QueueManager for Placed {
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        let queue = match meta.queue {
            ServiceQueue::Classic => return self.manager.enqueue(now, meta, item, context),
            ServiceQueue::LowLatency => ServiceQueue::LowLatency,
            ServiceQueue::AckPriority => ServiceQueue::Classic,
        };
        self.manager.enqueue_to(queue, now, meta, item, context)
    }

    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        self.manager.dequeue(now, context)
    }

    fn notices_idling(&self) -> bool {
        self.manager.notices_idling()
    }

    fn dequeue_from(&mut self, now: Instant, queue: ServiceQueue, context: &mut dyn QueueContext) -> Option<Held> {
        self.manager.dequeue_from(now, queue, context)
    }

    fn backlog_of(&self, queue: ServiceQueue) -> Backlog {
        self.manager.backlog_of(queue)
    }

    fn head_length(&self) -> Option<u32> {
        self.manager.head_length()
    }

    fn backlog(&self) -> Backlog {
        self.manager.backlog()
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.manager.sub_flow(meta)
    }

    fn next_timer(&self) -> Option<Instant> {
        self.manager.next_timer()
    }

    fn on_timer(&mut self, now: Instant, context: &mut dyn QueueContext) {
        self.manager.on_timer(now, context);
    }
}
