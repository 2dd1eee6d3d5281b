//! A fast lane for pure acknowledgements in front of another manager.
//!
//! Cable modems have long let upstream acknowledgements pass bulk data (White 2013 §1.3); no document
//! says how, so the scheme is ours: a small first-in, first-out lane with strict priority, capped so
//! that data are never starved.
//!
//! Source: White 2013 §1.3 (that it is done). Deviations: none known.

use crate::store::fifo::Fifo;
use crate::{Backlog, Held, QueueContext, QueueManager, Verdict};
use alloc::boxed::Box;
use sojourn_base::{Bytes, Instant, Meta, PacketHandle, ServiceQueue};
use sojourn_keys::{bytes, origin, parameters};

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

/// The lane, and the manager behind it.
#[derive(Debug)]
pub struct AckPriorityQueue {
    config: AckPriorityConfig,
    lane: Fifo,
    inner: Box<dyn QueueManager>,
    /// Acknowledgements served in a row while data waited.
    in_a_row: u32,
}

impl AckPriorityQueue {
    /// A lane in front of `inner`.
    pub const fn new(config: AckPriorityConfig, inner: Box<dyn QueueManager>) -> Self {
        Self { config, lane: Fifo::new(), inner, in_a_row: 0 }
    }

    /// Returns true if the next opportunity belongs to the lane.
    fn is_lanes_turn(&self) -> bool {
        !self.lane.is_empty() && (self.in_a_row < self.config.burst || self.inner.backlog().packets.0 == 0)
    }

    fn serve_lane(&mut self) -> Option<Held> {
        let packet = self.lane.pop()?;
        if self.inner.backlog().packets.0 == 0 {
            self.in_a_row = 0;
        } else {
            self.in_a_row = self.in_a_row.saturating_add(1);
        }
        Some(packet)
    }
}

impl QueueManager for AckPriorityQueue {
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        if !meta.pure_ack || meta.length > self.config.longest {
            return self.inner.enqueue(now, meta, item, context);
        }
        let lane = Meta { queue: ServiceQueue::AckPriority, ..meta };
        let packet = Held::new(now, lane, item);
        if self.lane.bytes() + u64::from(meta.length) > self.config.limit.0 {
            return self.inner.enqueue(now, meta, packet.item, context);
        }
        self.lane.push(packet);
        Verdict::Accepted
    }

    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
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

    fn dequeue_from(&mut self, now: Instant, queue: ServiceQueue, context: &mut dyn QueueContext) -> Option<Held> {
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
        if self.is_lanes_turn() { self.lane.head().map(|packet| packet.meta.length) } else { self.inner.head_length() }
    }

    fn backlog(&self) -> Backlog {
        let (lane, inner) = (self.lane.backlog(), self.inner.backlog());
        Backlog { bytes: lane.bytes + inner.bytes, packets: lane.packets + inner.packets }
    }

    /// That of packets that do not pass in the lane.
    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.inner.sub_flow(meta)
    }

    fn next_timer(&self) -> Option<Instant> {
        self.inner.next_timer()
    }

    fn on_timer(&mut self, now: Instant, context: &mut dyn QueueContext) {
        self.inner.on_timer(now, context);
    }
}
