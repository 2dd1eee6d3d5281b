//! Drops one arrival in N, whatever waits: the smallest policy that does something.
//!
//! Source: none; an example. Deviations: none known.

use sojourn_base::{Bytes, Instant, Limit, Meta, PacketHandle};
use sojourn_keys::{origin, parameters};
use sojourn_queue::config::LIMIT;
use sojourn_queue::{
    Backlog, DropTailConfig, DropTailQueue, Held, ManagerKind, QueueContext, QueueManager, Reason, Verdict,
};

parameters! {
    /// Parameters of the queue.
    #[derive(Copy, Eq)]
    pub struct DropFiftiethConfig: "drop-fiftieth", "first in, first out; one arrival in N is dropped" {
        limit: Limit = Limit::Bytes(Bytes(625_000)), LIMIT;
        /// one arrival in N is dropped
        every: u32 = 50, origin("chosen: 2 %").least("2");
    }
}

impl ManagerKind for DropFiftiethConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        let line = DropTailConfig { limit: self.limit, ..DropTailConfig::bytes(0) };
        Box::new(DropFiftiethQueue { line: DropTailQueue::new(line), every: self.every, arrivals: 0 })
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        Some(&mut self.limit)
    }
}

/// The running queue.
#[derive(Clone, Debug)]
pub struct DropFiftiethQueue {
    line: DropTailQueue,
    every: u32,
    arrivals: u32,
}

impl QueueManager for DropFiftiethQueue {
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        self.arrivals += 1;
        if self.arrivals == self.every {
            self.arrivals = 0;
            context.dropped(Held::new(now, meta, item), Reason::Early);
            return Verdict::Dropped(Reason::Early);
        }
        self.line.enqueue(now, meta, item, context)
    }

    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        self.line.dequeue(now, context)
    }

    fn head_length(&self) -> Option<u32> {
        self.line.head_length()
    }

    fn backlog(&self) -> Backlog {
        self.line.backlog()
    }
}
