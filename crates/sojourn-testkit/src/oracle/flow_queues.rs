//! FQ-CoDel and FQ-COBALT step by step: each flow's queue is an oracle of its own, the lists are plain vectors.
//!
//! Source: RFC 8290 §4.1 and §4.2; ns-3 `fq-cobalt-queue-disc.cc`; Linux `cake_drop`.

use crate::oracle::cobalt::CobaltOracle;
use crate::oracle::codel::{CodelOracle, Outcome, Packet};

/// The queue of a flow.
pub trait FlowQueue: Clone {
    /// Put a packet at the end.
    fn push(&mut self, packet: Packet);
    /// Take the oldest packet without judging it.
    fn drop_head(&mut self) -> Packet;
    /// The queue has paid for an overflow.
    fn on_full(&mut self, now: i128);
    /// Serve one packet; every draw is `u`.
    fn serve(&mut self, now: i128, u: f64) -> Outcome;
    /// Lengths of the packets that wait.
    fn lengths(&self) -> Vec<i128>;
}

impl FlowQueue for CodelOracle {
    fn push(&mut self, packet: Packet) {
        self.enqueue(packet);
    }

    fn drop_head(&mut self) -> Packet {
        self.drop_head()
    }

    fn on_full(&mut self, _now: i128) {}

    fn serve(&mut self, now: i128, _u: f64) -> Outcome {
        self.dequeue(now)
    }

    fn lengths(&self) -> Vec<i128> {
        self.lengths()
    }
}

impl FlowQueue for CobaltOracle {
    fn push(&mut self, packet: Packet) {
        self.push(packet);
    }

    fn drop_head(&mut self) -> Packet {
        self.drop_head()
    }

    fn on_full(&mut self, now: i128) {
        self.on_full(now);
    }

    fn serve(&mut self, now: i128, u: f64) -> Outcome {
        self.dequeue(now, u)
    }

    fn lengths(&self) -> Vec<i128> {
        self.lengths()
    }
}

/// Flow queues without a limit, or with one in packets.
#[derive(Clone, Debug)]
pub struct FlowQueuesOracle<Q> {
    queues: Vec<Q>,
    deficits: Vec<i128>,
    new: Vec<usize>,
    old: Vec<usize>,
    quantum: i128,
    limit: usize,
}

impl<Q: FlowQueue> FlowQueuesOracle<Q> {
    /// Returns `queues` queues like `empty`; the quantum in bytes, the limit in packets.
    pub fn new(queues: usize, quantum: i128, limit: usize, empty: &Q) -> Self {
        Self {
            queues: vec![empty.clone(); queues],
            deficits: vec![0; queues],
            new: Vec::new(),
            old: Vec::new(),
            quantum,
            limit,
        }
    }

    /// A packet of a flow arrives at `now` (in ps); returns what is dropped for it.
    pub fn enqueue(&mut self, hash: usize, packet: Packet, now: i128) -> Vec<u32> {
        let queue = hash % self.queues.len();
        self.queues[queue].push(packet);
        if !self.new.contains(&queue) && !self.old.contains(&queue) {
            self.new.push(queue);
            self.deficits[queue] = self.quantum;
        }
        let mut dropped = Vec::new();
        let lengths: Vec<Vec<i128>> = self.queues.iter().map(Q::lengths).collect();
        let waiting: usize = lengths.iter().map(Vec::len).sum();
        if waiting > self.limit {
            // The first of those with the most bytes gives up to 64 packets, or half of its bytes.
            let bytes: Vec<i128> = lengths.iter().map(|queue| queue.iter().sum()).collect();
            let most = *bytes.iter().max().unwrap_or(&0);
            let fattest = bytes.iter().position(|bytes| *bytes == most).unwrap_or(0);
            let mut gone = 0;
            while dropped.len() < 64 && 2 * gone < most {
                let victim = self.queues[fattest].drop_head();
                gone += victim.length;
                dropped.push(victim.number);
            }
            self.queues[fattest].on_full(now);
        }
        dropped
    }

    /// Serve one packet at `now` (in ps, above 0); every draw is `u`.
    pub fn dequeue(&mut self, now: i128, u: f64) -> Outcome {
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
            let served = self.queues[queue].serve(now, u);
            outcome.dropped.extend(&served.dropped);
            if let Some(length) = served.sent_length {
                self.deficits[queue] -= length;
                return Outcome { dropped: outcome.dropped, ..served };
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
