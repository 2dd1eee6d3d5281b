//! FQ-CoDel step by step: each flow's queue is a CoDel oracle, the lists are plain vectors.
//!
//! Source: RFC 8290 §4.1 and §4.2.

use crate::oracle::codel::{CodelOracle, Outcome, Packet};
use sojourn_queue::CodelVariant;

/// Flow queues without a limit, or with one in packets.
#[derive(Clone, Debug)]
pub struct FqCodelOracle {
    queues: Vec<CodelOracle>,
    deficits: Vec<i128>,
    new: Vec<usize>,
    old: Vec<usize>,
    quantum: i128,
    limit: usize,
}

impl FqCodelOracle {
    /// So many empty queues; times in ps.
    pub fn new(
        queues: usize,
        quantum: i128,
        limit: usize,
        target: i128,
        interval: i128,
        ecn: bool,
    ) -> Self {
        let queue = CodelOracle::new(CodelVariant::Rfc8289, target, interval, ecn);
        Self {
            queues: vec![queue; queues],
            deficits: vec![0; queues],
            new: Vec::new(),
            old: Vec::new(),
            quantum,
            limit,
        }
    }

    /// A packet of a flow arrives; returns what is dropped for it.
    pub fn enqueue(&mut self, hash: usize, packet: Packet) -> Vec<u32> {
        let queue = hash % self.queues.len();
        self.queues[queue].enqueue(packet);
        if !self.new.contains(&queue) && !self.old.contains(&queue) {
            self.new.push(queue);
            self.deficits[queue] = self.quantum;
        }
        let mut dropped = Vec::new();
        let waiting: usize = self.queues.iter().map(CodelOracle::packets).sum();
        if waiting > self.limit {
            // The first of those with the most bytes gives up to 64 packets, or half of its bytes.
            let most = self
                .queues
                .iter()
                .map(CodelOracle::bytes)
                .max()
                .unwrap_or(0);
            let fattest = self
                .queues
                .iter()
                .position(|queue| queue.bytes() == most)
                .unwrap_or(0);
            let mut gone = 0;
            while dropped.len() < 64 && 2 * gone < most {
                let victim = self.queues[fattest].drop_head();
                gone += victim.length;
                dropped.push(victim.number);
            }
        }
        dropped
    }

    /// Serve one packet at `now` (in ps, above 0).
    pub fn dequeue(&mut self, now: i128) -> Outcome {
        let mut outcome = Outcome::default();
        loop {
            let from_new = !self.new.is_empty();
            let Some(&queue) = self.new.first().or(self.old.first()) else {
                return outcome;
            };
            if self.deficits[queue] <= 0 {
                self.deficits[queue] += self.quantum;
                if from_new {
                    self.new.remove(0);
                } else {
                    self.old.remove(0);
                }
                self.old.push(queue);
                continue;
            }
            let served = self.queues[queue].dequeue(now);
            outcome.dropped.extend(&served.dropped);
            if let Some(length) = served.sent_length {
                self.deficits[queue] -= length;
                return Outcome {
                    dropped: outcome.dropped,
                    ..served
                };
            }
            if from_new {
                self.new.remove(0);
                if !self.old.is_empty() {
                    self.old.push(queue);
                }
            } else {
                self.old.remove(0);
            }
        }
    }
}
