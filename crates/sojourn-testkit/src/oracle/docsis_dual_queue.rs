//! The dual queue of Low Latency DOCSIS step by step; times in ns, rates in b/s, delays of the classic queue in s.
//!
//! Source: DOCSIS 3.1 MULPI annexes M, N, O, P with RFC 8034 and RFC 9957, in the order of their pseudocode.

/// Parameters; zero rates are not set.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the documents")]
pub struct Parameters {
    pub amsr: f64,
    pub msr_l: f64,
    pub msr_c: f64,
    pub buffer_c: u64,
    pub buffer_l: u64,
    pub latency_target: f64,
    pub maxth_us: f64,
    pub lg_range: u32,
    pub max_frame_size: f64,
    pub coupling: f64,
    pub weight: f64,
    pub virtual_queue: bool,
    pub qprotect_on: bool,
    pub critical_score_us: f64,
    pub lg_aging: u32,
    pub bi_size: u32,
}

/// A packet as the dual queue sees it.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Packet {
    pub number: u32,
    pub length: u64,
    pub flow: u32,
    pub is_low_latency: bool,
    pub is_ect1: bool,
}

/// Queue of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Place {
    Lost,
    Classic,
    LowLatency,
}

/// Fate of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Outcome {
    pub place: Place,
    pub marked: bool,
    pub sanctioned: bool,
}

/// State of both queues.
#[derive(Clone, Debug)]
pub struct DualQueueOracle {
    p: Parameters,
    q_l: Vec<Packet>,
    q_c: Vec<Packet>,
    max_rate: f64,
    minth: f64,
    maxth: f64,
    // Annex M and RFC 8034.
    drop_prob: f64,
    accu_prob: f64,
    old_delay: f64,
    burst: i64,
    burst_reset: u32,
    /// 0 inactive, 1 quiescent, 2 active.
    burst_state: u8,
    prob_cl: f64,
    count: f64,
    interval_bits_l: f64,
    // Annex O.
    vq: f64,
    t_last: f64,
    average: f64,
    // Annex P: owner and expiry of each bucket.
    buckets: Vec<(Option<u32>, f64)>,
    credit: f64,
}

impl DualQueueOracle {
    /// Empty queues.
    pub fn new(p: Parameters) -> Self {
        let max_rate = match (p.amsr > 0.0, p.msr_l > 0.0) {
            (true, true) => p.amsr.min(p.msr_l),
            (true, false) => p.amsr,
            _ => p.msr_l,
        };
        let floor = (2.0 * 8.0 * p.max_frame_size * 1e9 / max_rate).min(65_535_000.0);
        let range = f64::from(1_u32 << p.lg_range);
        let minth = (p.maxth_us * 1e3 - range).max(floor);
        Self {
            p,
            q_l: Vec::new(),
            q_c: Vec::new(),
            max_rate,
            minth,
            maxth: (minth + range).min(65_535_000.0),
            drop_prob: 0.0,
            accu_prob: 0.0,
            old_delay: 0.0,
            burst: 0,
            burst_reset: 0,
            burst_state: 0,
            prob_cl: 0.0,
            count: 0.0,
            interval_bits_l: 0.0,
            vq: 0.0,
            t_last: 0.0,
            average: 0.0,
            buckets: vec![(None, 0.0); (1 << p.bi_size) + 1],
            credit: 1500.0 * (256.0 - p.weight - p.weight),
        }
    }

    /// The likelihood of a classic drop, and that of a coupled mark.
    pub fn likelihoods(&self) -> (f64, f64) {
        (self.drop_prob, self.prob_cl)
    }

    /// How near the next draw or comparison is to going the other way because of rounding.
    pub fn is_borderline(&self, u: f64, length: u64) -> bool {
        let p1 = (self.drop_prob * length as f64 / 1024.0).min(0.85);
        let due = self.accu_prob + p1;
        (p1 - u).abs() < 1e-9 || (due - 0.85).abs() < 1e-9 || (due - 8.5).abs() < 1e-9
    }

    /// A packet arrives at `now`; `u` is the draw that it would get.
    pub fn enqueue(&mut self, packet: Packet, now: f64, u: f64) -> Outcome {
        if !packet.is_low_latency {
            return self.enqueue_classic(packet, u, false, false);
        }
        let (len, own) = (packet.length as f64, 8.0 * packet.length as f64 * 1e9 / self.max_rate);
        let waiting = bytes(&self.q_l);
        // Annex O.
        let delay = if self.p.virtual_queue {
            self.vq = (self.vq - (now - self.t_last)).max(0.0) + own;
            self.t_last = now;
            self.vq
        } else {
            8.0 * (waiting as f64 + len) * 1e9 / self.max_rate
        };
        // Annex M.
        let prob_native = if delay >= self.maxth {
            1.0
        } else if delay > self.minth {
            (delay - self.minth) / (self.maxth - self.minth)
        } else {
            0.0
        };
        self.count += prob_native.max(self.prob_cl);
        let mut marked = false;
        if self.count > 1.0 {
            self.count -= 1.0;
            marked = packet.is_ect1;
        }
        // Annex P.
        if self.p.qprotect_on && self.sanctions(&packet, now, delay, prob_native) {
            self.vq = (self.vq - own).max(0.0);
            return self.enqueue_classic(packet, u, marked, true);
        }
        let free = self.p.buffer_l as f64 - self.p.max_frame_size;
        let space =
            if self.p.virtual_queue { delay < free * 8.0 * 1e9 / self.max_rate } else { (waiting as f64) < free };
        let accepted = space && waiting + packet.length <= self.p.buffer_l;
        if accepted {
            self.q_l.push(packet);
        } else {
            self.vq = (self.vq - own).max(0.0);
        }
        Outcome { place: if accepted { Place::LowLatency } else { Place::Lost }, marked, sanctioned: false }
    }

    fn sanctions(&mut self, packet: &Packet, now: f64, delay: f64, prob_native: f64) -> bool {
        let nbuckets = self.buckets.len() - 1;
        let mut found = None;
        let mut expired = None;
        for j in 0..2 {
            let b = (packet.flow as usize >> (j * self.p.bi_size as usize)) % nbuckets;
            if self.buckets[b].0 == Some(packet.flow) {
                found = Some(b);
                break;
            }
            if expired.is_none() && self.buckets[b].1 <= now {
                expired = Some(b);
            }
        }
        let b = found.or(expired).unwrap_or(nbuckets);
        let bucket = &mut self.buckets[b];
        bucket.0 = Some(packet.flow);
        if bucket.1 <= now {
            bucket.1 = now;
        }
        let aging = f64::from(1_u32 << (30 - self.p.lg_aging));
        bucket.1 += (prob_native * packet.length as f64 * aging).floor();
        bucket.1 = bucket.1.min(now + 5e9);
        let score = bucket.1 - now;
        delay > self.maxth && delay * score > self.maxth * self.p.critical_score_us * 1e3
    }

    fn enqueue_classic(&mut self, packet: Packet, u: f64, marked: bool, sanctioned: bool) -> Outcome {
        let mut outcome = Outcome { place: Place::Lost, marked, sanctioned };
        let queued = bytes(&self.q_c);
        if queued + packet.length > self.p.buffer_c {
            self.accu_prob = 0.0;
            return outcome;
        }
        if !self.drops_early(queued, packet.length as f64, u) {
            self.q_c.push(packet);
            outcome.place = Place::Classic;
        }
        outcome
    }

    fn drops_early(&mut self, queued: u64, length: f64, u: f64) -> bool {
        if self.burst > 0 {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        if self.burst_state == 0 {
            if queued * 3 < self.p.buffer_c {
                return false;
            }
            self.burst_state = 1;
            self.burst_reset = 0;
        }
        let p1 = (self.drop_prob * length / 1024.0).min(0.85);
        self.accu_prob += p1;
        if self.old_delay < 0.5 * self.p.latency_target && self.drop_prob < 0.2 {
            return false;
        }
        if queued <= 2048 {
            return false;
        }
        if self.accu_prob < 0.85 {
            return false;
        }
        if self.accu_prob < 8.5 && u >= p1 {
            return false;
        }
        self.accu_prob = 0.0;
        if self.burst_state == 1 {
            self.burst_state = 2;
            self.burst = 142;
        }
        true
    }

    /// An opportunity for a queue.
    pub fn dequeue_from(&mut self, low_latency: bool) -> Option<u32> {
        let queue = if low_latency { &mut self.q_l } else { &mut self.q_c };
        if queue.is_empty() {
            return None;
        }
        let packet = queue.remove(0);
        if low_latency {
            self.interval_bits_l += 8.0 * packet.length as f64;
        }
        Some(packet.number)
    }

    /// An opportunity for whichever queue's turn it is.
    pub fn dequeue(&mut self) -> Option<u32> {
        let (has_l, has_c) = (!self.q_l.is_empty(), !self.q_c.is_empty());
        if !has_l && !has_c {
            self.credit = 1500.0 * (256.0 - self.p.weight - self.p.weight);
            return None;
        }
        let low_latency = has_l && (!has_c || self.credit <= 0.0);
        let length = if low_latency { self.q_l[0].length } else { self.q_c[0].length } as f64;
        if has_l && has_c {
            self.credit += if low_latency { (256.0 - self.p.weight) * length } else { -self.p.weight * length };
        }
        self.dequeue_from(low_latency)
    }

    /// The 16-ms update.
    pub fn update(&mut self) {
        let mut r_l = self.p.weight / 256.0 * self.p.amsr;
        if self.p.msr_l > 0.0 {
            r_l = r_l.min(self.p.msr_l);
        }
        r_l = r_l.min(self.interval_bits_l / 0.016);
        let mut r_c = self.p.amsr - r_l;
        if self.p.msr_c > 0.0 {
            r_c = r_c.min(self.p.msr_c);
        }
        let delay = bytes(&self.q_c) as f64 * 8.0 / r_c;
        self.interval_bits_l = 0.0;
        let target = self.p.latency_target;
        if self.burst > 0 {
            self.drop_prob = 0.0;
        } else {
            let mut p = 0.25 * (delay - target) + 2.5 * (delay - self.old_delay);
            p /= match self.drop_prob {
                d if d < 0.000_001 => 2048.0,
                d if d < 0.000_01 => 512.0,
                d if d < 0.000_1 => 128.0,
                d if d < 0.001 => 32.0,
                d if d < 0.01 => 8.0,
                d if d < 0.1 => 2.0,
                d if d < 1.0 => 0.5,
                d if d < 10.0 => 0.125,
                _ => 0.031_25,
            };
            if self.drop_prob >= 0.1 && p > 0.02 {
                p = 0.02;
            }
            self.drop_prob += p;
            if delay < 0.005 && self.old_delay < 0.005 {
                self.drop_prob *= 0.98;
            } else if delay > 0.2 {
                self.drop_prob += 0.02;
            }
            self.drop_prob = self.drop_prob.clamp(0.0, 13.6);
        }
        self.prob_cl = (self.p.coupling * self.drop_prob.sqrt()).min(1.0);
        self.burst = (self.burst - 16).max(0);
        let quiet = delay < target / 2.0 && self.old_delay < target / 2.0 && self.drop_prob == 0.0 && self.burst == 0;
        match (self.burst_state, quiet) {
            (2, true) => {
                self.burst_state = 1;
                self.burst_reset = 0;
            }
            (1, true) => {
                self.burst_reset += 1;
                if self.burst_reset > 62 {
                    self.burst_state = 0;
                    self.burst_reset = 0;
                }
            }
            (1, false) => self.burst_reset = 0,
            _ => {}
        }
        self.old_delay = delay;
    }

    /// The alignment of the virtual queue, without staged bytes and grants.
    pub fn align(&mut self, now: f64) {
        self.vq = (self.vq - (now - self.t_last)).max(0.0);
        self.t_last = now;
        self.average += (bytes(&self.q_l) as f64 - self.average) / 128.0;
        if self.average > 0.0 {
            self.vq = self.vq.max(8.0 * self.average * 1e9 / self.max_rate);
        }
    }
}

fn bytes(queue: &[Packet]) -> u64 {
    queue.iter().map(|packet| packet.length).sum()
}
