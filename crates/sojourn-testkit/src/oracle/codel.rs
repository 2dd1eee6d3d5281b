//! CoDel in its published versions, step by step, with its packets in a plain list.
//!
//! Source: RFC 8289 §5.5 and §5.6; ns-2 `codel.cc` and `sfqcodel.cc` for the older versions.

use sojourn_queue::CodelVariant;

/// A waiting packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Which one.
    pub number: u32,
    /// Its length in bytes.
    pub length: i128,
    /// Time of its acceptance, in ps.
    pub enqueued_at: i128,
    /// May be marked.
    pub ecn_capable: bool,
}

/// Result of a call to [`CodelOracle::dequeue`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Packets dropped from the head, in order.
    pub dropped: Vec<u32>,
    /// The packet sent.
    pub sent: Option<u32>,
    /// Its length.
    pub sent_length: Option<i128>,
    /// The packet sent is one that CoDel wanted to mark.
    pub marked: bool,
}

/// CoDel over one queue.
#[derive(Clone, Debug)]
pub struct CodelOracle {
    /// Version of the control law.
    pub variant: CodelVariant,
    /// Target in ps.
    pub target: i128,
    /// Interval in ps.
    pub interval: i128,
    /// True if capable packets are marked.
    pub ecn: bool,
    queue: Vec<Packet>,
    first_above_time: i128,
    drop_next: i128,
    count: i128,
    last_count: i128,
    dropping: bool,
    max_packet: i128,
}

impl CodelOracle {
    /// An empty queue; times in ps.
    pub fn new(variant: CodelVariant, target: i128, interval: i128, ecn: bool) -> Self {
        Self {
            variant,
            target,
            interval,
            ecn,
            queue: Vec::new(),
            first_above_time: 0,
            drop_next: 0,
            count: 0,
            last_count: 0,
            dropping: false,
            max_packet: 256,
        }
    }

    /// Put a packet at the end.
    pub fn enqueue(&mut self, packet: Packet) {
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

    fn is_of_2013(&self) -> bool {
        self.variant == CodelVariant::Nichols2013 || self.variant == CodelVariant::Sfq2013
    }

    fn control_law(&self, t: i128) -> i128 {
        // Nearest whole number to interval/√count, by search: r with (2r−1)² ≤ 4·interval²/count.
        let scaled = 4 * self.interval * self.interval;
        let (mut low, mut high) = (0_i128, self.interval + 1);
        while high - low > 1 {
            let r = i128::midpoint(low, high);
            if (2 * r - 1) * (2 * r - 1) * self.count <= scaled {
                low = r;
            } else {
                high = r;
            }
        }
        t + low
    }

    /// Returns the packet and whether it may be dropped. `first_above_time` of 0 means "not set".
    fn do_dequeue(&mut self, now: i128) -> (Option<Packet>, bool) {
        if self.queue.is_empty() {
            self.first_above_time = 0;
            return (None, false);
        }
        let packet = self.queue.remove(0);
        if packet.length > self.max_packet {
            self.max_packet = packet.length;
        }
        let sojourn_time = now - packet.enqueued_at;
        if sojourn_time < self.target || self.lengths().iter().sum::<i128>() <= self.max_packet {
            self.first_above_time = 0;
            return (Some(packet), false);
        }
        if self.first_above_time == 0 {
            self.first_above_time = now + self.interval;
            if self.variant == CodelVariant::Nichols2013 && self.count > 1 && now - self.drop_next < 8 * self.interval {
                self.first_above_time = self.control_law(now);
            }
            return (Some(packet), false);
        }
        (Some(packet), now >= self.first_above_time)
    }

    fn can_mark(&self, packet: Option<Packet>) -> bool {
        self.ecn && packet.is_some_and(|packet| packet.ecn_capable)
    }

    /// Serve one packet at `now` (in ps, above 0).
    pub fn dequeue(&mut self, now: i128) -> Outcome {
        let mut outcome = Outcome::default();
        let (mut packet, mut ok_to_drop) = self.do_dequeue(now);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                if self.can_mark(packet) {
                    self.count += 1;
                    self.drop_next = self.control_law(self.drop_next);
                    outcome.marked = true;
                    break;
                }
                outcome.dropped.extend(packet.map(|packet| packet.number));
                if !self.is_of_2013() {
                    self.count += 1;
                }
                (packet, ok_to_drop) = self.do_dequeue(now);
                if ok_to_drop {
                    if self.is_of_2013() {
                        self.count += 1;
                    }
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            if self.can_mark(packet) {
                outcome.marked = true;
            } else {
                outcome.dropped.extend(packet.map(|packet| packet.number));
                (packet, _) = self.do_dequeue(now);
            }
            self.dropping = true;
            let d = now - self.drop_next;
            match self.variant {
                CodelVariant::Original2012 => {
                    if self.count > 1 && d < 16 * self.interval {
                        self.count -= 1;
                    } else {
                        self.count = 1;
                    }
                }
                CodelVariant::Nichols2013 => {
                    if self.count > 2 && d < 8 * self.interval {
                        let c = self.count - 2;
                        self.count = if c > 126 { self.count * 9844 / 10_000 } else { c };
                    } else {
                        self.count = 1;
                    }
                }
                CodelVariant::Sfq2013 => {
                    if self.count > 2 && d < 8 * self.interval {
                        self.count -= 2;
                    } else {
                        self.count = 1;
                    }
                }
                CodelVariant::Linux => panic!("its oracle is the kernel itself"),
                CodelVariant::Rfc8289 => {
                    let delta = self.count - self.last_count;
                    self.count = 1;
                    if delta > 1 && d < 16 * self.interval {
                        self.count = delta;
                    }
                    self.last_count = self.count;
                }
            }
            self.drop_next = self.control_law(now);
        }
        outcome.sent = packet.map(|packet| packet.number);
        outcome.sent_length = packet.map(|packet| packet.length);
        outcome
    }
}
