//! A rate shaper with a managed queue and a fixed delay: the downstream of a DOCSIS 3.0 CMTS, or a router.
//!
//! The head of the queue leaves as a whole as soon as both buckets hold it; the shaper has no line rate
//! of its own, so leaving takes no time. By the deficit rule the head leaves as soon as the packets before it are
//! paid for: a bucket of no depth that may be in debt for one packet.
//!
//! Source: White 2012 §2.2 (last paragraph) and §2.3; for the deficit rule Linux `sch_cake` (`cake_enqueue`,
//! `cake_dequeue`, `cake_advance_shaper`).
//! Deviations: the paper gives the downstream a configurable link bandwidth and does not print it; at
//! the rate of a bonded downstream it would add less than 0.1 ms per packet.

use crate::config::{Rule, ShapedConfig, ShaperConfig};
use crate::rate_shaping_queue::{NextStage, RateShapingQueue};
use crate::{DelayParts, Link, LinkContext, Passage, Transmit};
use alloc::boxed::Box;
use core::any::Any;
use sojourn_base::{Bytes, Instant, Meta, PacketHandle, Span};
use sojourn_queue::{Backlog, Held, QueueManager};

impl ShapedConfig {
    /// Buckets of its shaper by its rule.
    const fn buckets(&self) -> ShaperConfig {
        match self.rule {
            Rule::Bucket => self.shaper,
            Rule::Deficit => ShaperConfig { burst: Bytes::ZERO, ..self.shaper },
        }
    }
}

/// See the module. `M` is the queue manager.
#[derive(Clone, Debug)]
pub struct Shaped<M: ?Sized = dyn QueueManager> {
    queue: RateShapingQueue<M>,
    delay: Span,
}

impl<M: QueueManager + ?Sized> Shaped<M> {
    /// An idle shaper with full buckets.
    pub fn new(config: ShapedConfig, manager: Box<M>) -> Self {
        Self { queue: RateShapingQueue::new(&config.buckets(), config.pull, manager), delay: config.delay }
    }

    /// The queue manager, for records.
    pub const fn manager(&self) -> &M {
        self.queue.manager()
    }

    /// Tokens of the sustained-rate bucket at `now`, for records.
    pub fn tokens(&self, now: Instant) -> Bytes {
        self.queue.tokens(now)
    }

    /// Everything that is due by `now`, in order of time; timers first where times are equal.
    fn advance(&mut self, now: Instant, context: &mut (impl LinkContext + ?Sized)) {
        while self.queue.due() <= now && context.work(1) {
            let at = self.queue.due();
            self.queue.run_timers(at, NextStage::default(), context);
            self.release(at, context);
        }
        self.queue.run_timers(now, NextStage::default(), context);
    }

    fn release(&mut self, now: Instant, context: &mut (impl LinkContext + ?Sized)) {
        while let Some(packet) = self.queue.release(now, now, NextStage::default(), context) {
            self.deliver(packet, now, context);
        }
    }

    fn deliver(&self, packet: Held, now: Instant, context: &mut (impl LinkContext + ?Sized)) {
        let delay =
            DelayParts { queue: now.saturating_since(packet.enqueued_at), wire: self.delay, ..DelayParts::default() };
        let passage = Passage::of(&packet, now, now + self.delay, delay);
        context.deliver(packet.item, &packet.meta, &passage);
    }
}

impl<M: QueueManager + ?Sized, C: LinkContext + ?Sized> Transmit<C> for Shaped<M> {
    fn on_arrival(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut C) {
        if self.queue.due() <= now || self.queue.has_timer_by(now) {
            self.advance(now, context);
        }
        let next_stage = NextStage::default();
        if self.queue.is_open(now, meta.length) {
            if let Some(packet) = self.queue.pass(now, meta, item, next_stage, context) {
                self.deliver(packet, now, context);
            }
        } else {
            self.queue.offer(now, meta, item, next_stage, context);
            self.release(now, context);
        }
    }

    fn on_wakeup(&mut self, now: Instant, context: &mut C) {
        self.advance(now, context);
    }
}

impl<M: QueueManager + ?Sized> Link for Shaped<M> {
    fn next_wakeup(&self) -> Instant {
        self.queue.due().min(self.queue.timer())
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn retune(&mut self, now: Instant, from: &dyn Any, to: &dyn Any) -> bool {
        let (Some(from), Some(to)) = (from.downcast_ref::<ShapedConfig>(), to.downcast_ref::<ShapedConfig>()) else {
            return false;
        };
        self.queue.retune(now, &to.buckets());
        let shaper = from.shaper;
        *from == ShapedConfig { shaper, ..*to }
    }

    fn retune_queue(&mut self, to: &dyn Any) -> bool {
        self.queue.retune_manager(to)
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.manager().sub_flow(meta)
    }
}

#[cfg(test)]
mod tests;
