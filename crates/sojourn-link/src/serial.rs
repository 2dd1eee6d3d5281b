//! A line of constant rate behind a managed queue.
//!
//! A packet that finds the line idle is sent at once. Otherwise it waits, and the line asks the
//! manager for the next packet the moment the last bit of the one before has left. When the manager
//! has nothing, the line is idle from that moment; the question is put (late, but with the time at
//! which it was due) before the next packet is offered, so that managers which age while idle see it.
//!
//! Source: Akhtar 2013 (DSL line); White 2012 §2.1 (the ns-2 link).
//! Deviations: none known.

use crate::config::SerialConfig;
use crate::surroundings::{Drain, Surroundings, run_timers, timer_wakeup};
use crate::{DelayParts, Link, LinkOutput, Passage};
use sojourn_base::{BitRate, Bytes, Instant, Meta, Serializer, Span};
use sojourn_queue::{Backlog, Held, QueueManager, Shaper, Verdict};

/// See the module. `T` is the caller's packet, `M` the queue manager.
#[derive(Clone, Debug)]
pub struct Serial<M> {
    manager: M,
    serializer: Serializer,
    delay: Span,
    /// End of the last transmission.
    busy_until: Instant,
    /// The manager was asked at `busy_until` and had nothing.
    idle: bool,
}

impl<M> Serial<M> {
    /// An idle line.
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn new(config: SerialConfig, manager: M) -> Self {
        Self {
            manager,
            serializer: Serializer::new(config.rate),
            delay: config.delay,
            busy_until: Instant::ZERO,
            idle: false,
        }
    }

    /// The queue manager, for records.
    pub const fn manager(&self) -> &M {
        &self.manager
    }

    fn split<'a, O>(
        &'a mut self,
        now: Instant,
        output: &'a mut O,
    ) -> (&'a mut M, Surroundings<'a, O>) {
        let shaper = Shaper {
            tokens: Bytes::ZERO,
            sustained: self.serializer.rate(),
            peak: BitRate::ZERO,
        };
        let surroundings = Surroundings {
            now,
            drain: Drain::Constant(shaper),
            staged: Bytes::ZERO,
            loop_delay: Span::ZERO,
            output,
        };
        (&mut self.manager, surroundings)
    }

    /// Everything that is due by `now`.
    fn advance<T>(&mut self, now: Instant, output: &mut impl LinkOutput<T>)
    where
        M: QueueManager<T>,
    {
        while !self.idle && self.busy_until <= now {
            let free_at = self.busy_until;
            let (manager, mut surroundings) = self.split(free_at, output);
            run_timers(manager, free_at, &mut surroundings);
            let next = manager.dequeue(free_at, &mut surroundings);
            self.send(next, free_at, output);
        }
        let (manager, mut surroundings) = self.split(now, output);
        run_timers(manager, now, &mut surroundings);
    }

    fn send<T>(
        &mut self,
        packet: Option<Held<T>>,
        start: Instant,
        output: &mut impl LinkOutput<T>,
    ) {
        self.idle = packet.is_none();
        let Some(packet) = packet else {
            self.serializer.on_idle();
            return;
        };
        let serialisation = self.serializer.send(Bytes(packet.meta.length.into()));
        self.busy_until = start + serialisation;
        let delay = DelayParts {
            queue: start.saturating_since(packet.enqueued_at),
            serialisation,
            wire: self.delay,
            ..DelayParts::default()
        };
        let passage = Passage {
            entered_at: packet.enqueued_at,
            dequeued_at: start,
            arrives_at: self.busy_until + self.delay,
            delay,
            marked: packet.marked,
        };
        output.deliver(packet.item, &packet.meta, &passage);
    }
}

impl<T, M: QueueManager<T>> Link<T> for Serial<M> {
    fn on_arrival(&mut self, now: Instant, meta: Meta, item: T, output: &mut impl LinkOutput<T>) {
        self.advance(now, output);
        let (manager, mut surroundings) = self.split(now, output);
        let verdict = manager.enqueue(now, meta, item, &mut surroundings);
        if self.idle && verdict == Verdict::Accepted {
            let (manager, mut surroundings) = self.split(now, output);
            let next = manager.dequeue(now, &mut surroundings);
            self.send(next, now, output);
        }
    }

    fn next_wakeup(&self) -> Instant {
        if self.manager.backlog().packets.0 == 0 {
            return Instant::NEVER;
        }
        self.busy_until.min(timer_wakeup(&self.manager))
    }

    fn on_wakeup(&mut self, now: Instant, output: &mut impl LinkOutput<T>) {
        self.advance(now, output);
    }

    fn backlog(&self) -> Backlog {
        self.manager.backlog()
    }
}
