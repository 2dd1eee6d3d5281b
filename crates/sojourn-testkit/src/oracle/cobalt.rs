//! COBALT step by step; times in ps.
//!
//! Source: ns-3 `cobalt-queue-disc.cc` (`QueueFull`, `QueueEmpty`, `ShouldDrop`), as a list of steps; Linux `sch_cake`
//! for the fate of a last packet (`cake_dequeue`: it "may be marked, shouldn't be dropped") and for the time of a
//! packet (`cake_set_rate`: target and interval; `cobalt_should_drop`: late is what has waited for four of it).

use crate::oracle::codel::{Outcome, Packet};

/// Parameters; times in ps.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the code")]
pub struct Parameters {
    pub target: i128,
    pub interval: i128,
    pub limit: usize,
    pub ecn: bool,
    pub increment: f64,
    pub decrement: f64,
    pub blue_threshold: i128,
    pub keeps_last: bool,
    /// Time of a packet at the rate of the shaper; zero without one.
    pub mtu_time: i128,
    /// Part of every wait that does not count.
    pub allowed: i128,
}

/// State of one queue.
#[derive(Clone, Debug)]
pub struct CobaltOracle {
    p: Parameters,
    queue: Vec<Packet>,
    count: u32,
    dropping: bool,
    drop_next: i128,
    p_drop: f64,
    last_update: i128,
}

impl CobaltOracle {
    /// An empty queue; its first packet comes at `start`.
    pub fn new(mut p: Parameters, start: i128) -> Self {
        if p.mtu_time > 0 {
            let said = p.target;
            if 3 * p.mtu_time / 2 > p.target {
                p.target = 3 * p.mtu_time / 2;
            }
            p.interval += p.target - said;
            if p.interval < 2 * p.target {
                p.interval = 2 * p.target;
            }
        }
        Self { p, queue: Vec::new(), count: 0, dropping: false, drop_next: 0, p_drop: 0.0, last_update: start }
    }

    /// The BLUE likelihood.
    pub fn p_drop(&self) -> f64 {
        self.p_drop
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "between 0 and the interval")]
    fn law(&self, t: i128) -> i128 {
        let count = f64::from(self.count.max(1));
        t + (self.p.interval as f64 / count.sqrt() + 0.5) as i128
    }

    /// A packet arrives; whether it is kept.
    pub fn enqueue(&mut self, packet: Packet, now: i128) -> bool {
        if self.queue.len() < self.p.limit {
            self.queue.push(packet);
            return true;
        }
        self.on_full(now);
        false
    }

    /// Put a packet at the end.
    pub fn push(&mut self, packet: Packet) {
        self.queue.push(packet);
    }

    /// Take the oldest packet without judging it.
    pub fn drop_head(&mut self) -> Packet {
        self.queue.remove(0)
    }

    /// Lengths of the packets that wait.
    pub fn lengths(&self) -> Vec<i128> {
        self.queue.iter().map(|packet| packet.length).collect()
    }

    /// Something had to be dropped for want of room.
    pub fn on_full(&mut self, now: i128) {
        if now - self.last_update > self.p.target {
            self.p_drop = (self.p_drop + self.p.increment).min(1.0);
            self.last_update = now;
        }
        self.dropping = true;
        self.drop_next = now;
        if self.count == 0 {
            self.count = 1;
        }
    }

    /// An opportunity; every draw is `u`.
    pub fn dequeue(&mut self, now: i128, u: f64) -> Outcome {
        let mut outcome = Outcome::default();
        loop {
            if self.queue.is_empty() {
                if self.p_drop > 0.0 && now - self.last_update > self.p.target {
                    self.p_drop = (self.p_drop - self.p.decrement).max(0.0);
                    self.last_update = now;
                }
                self.dropping = false;
                if self.count > 0 && now >= self.drop_next {
                    self.count -= 1;
                    self.drop_next = self.law(self.drop_next);
                }
                return outcome;
            }
            let packet = self.queue.remove(0);
            let sojourn = now - packet.enqueued_at;
            let delay = (sojourn - self.p.allowed).max(0);
            let over_target = delay > self.p.target && delay > 4 * self.p.mtu_time;
            let mut next_due = self.count > 0 && now >= self.drop_next;
            let mut schedule = now - self.drop_next;
            if over_target {
                if !self.dropping {
                    self.dropping = true;
                    if self.count == 0 {
                        self.count = 1;
                        self.drop_next = self.law(now);
                        self.count = 0;
                    } else {
                        self.drop_next = self.law(now);
                    }
                }
                if self.count == 0 {
                    self.count = 1;
                }
            } else {
                self.dropping = false;
            }
            let mut drop = false;
            let mut mark = false;
            if next_due && self.dropping {
                if self.p.ecn && packet.ecn_capable {
                    mark = true;
                } else {
                    drop = true;
                }
                self.count = self.count.saturating_add(1);
                self.drop_next = self.law(self.drop_next);
                schedule = now - self.drop_next;
            } else {
                while next_due {
                    self.count -= 1;
                    self.drop_next = self.law(self.drop_next);
                    schedule = now - self.drop_next;
                    next_due = self.count > 0 && now >= self.drop_next;
                }
            }
            if sojourn > self.p.blue_threshold && now - self.last_update > self.p.target {
                self.p_drop = (self.p_drop + self.p.increment).min(1.0);
                self.last_update = now;
            }
            if self.p_drop > 0.0 && u < self.p_drop {
                drop = true;
            }
            if self.count == 0 {
                self.drop_next = now + self.p.interval;
            } else if schedule > 0 && !drop {
                self.drop_next = now;
            }
            let is_last = self.queue.is_empty();
            if drop && !(self.p.keeps_last && is_last) {
                outcome.dropped.push(packet.number);
                continue;
            }
            outcome.marked = mark;
            outcome.sent = Some(packet.number);
            outcome.sent_length = Some(packet.length);
            return outcome;
        }
    }
}
