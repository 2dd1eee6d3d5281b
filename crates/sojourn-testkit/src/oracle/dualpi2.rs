//! `DualPI2` step by step; times in seconds.
//!
//! Source: RFC 9332 appendix A.1 and A.2, in the order of their pseudocode; Linux `sch_dualpi2` for its scheduler.

/// Parameters.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the document")]
pub struct Parameters {
    pub limit: u64,
    pub target: f64,
    pub alpha: f64,
    pub beta: f64,
    pub k: f64,
    pub min_th: f64,
    pub range: f64,
    pub th_len: usize,
    pub overload_aware: bool,
    /// Weight of the low-latency queue, of 256; `None` for the time-shifted scheduler.
    pub weight: Option<f64>,
    pub tshift: f64,
}

/// A packet.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Packet {
    pub number: u32,
    pub length: u64,
    pub at: f64,
    pub is_low_latency: bool,
    pub is_capable: bool,
    pub is_marked: bool,
}

/// Result of an opportunity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Outcome {
    pub dropped: Vec<u32>,
    pub sent: Option<u32>,
    /// A mark was put on what is sent.
    pub marked: bool,
}

/// State of both queues.
#[derive(Clone, Debug)]
pub struct DualPi2Oracle {
    p: Parameters,
    lq: Vec<Packet>,
    cq: Vec<Packet>,
    p_prime: f64,
    prevq: f64,
    count_l: f64,
    count_c: f64,
    credit: f64,
}

impl DualPi2Oracle {
    /// Empty queues.
    pub fn new(p: Parameters) -> Self {
        let mut oracle = Self {
            p,
            lq: Vec::new(),
            cq: Vec::new(),
            p_prime: 0.0,
            prevq: 0.0,
            count_l: 0.0,
            count_c: 0.0,
            credit: 0.0,
        };
        oracle.reset();
        oracle
    }

    /// The base likelihood.
    pub fn base(&self) -> f64 {
        self.p_prime
    }

    fn reset(&mut self) {
        let w = self.p.weight.unwrap_or(0.0);
        self.credit = 1500.0 * (256.0 - w - w);
    }

    /// A packet arrives; whether it is kept.
    pub fn enqueue(&mut self, packet: Packet) -> bool {
        let waiting: u64 = self.lq.iter().chain(&self.cq).map(|packet| packet.length).sum();
        if waiting + packet.length.max(1500) > self.p.limit {
            return false;
        }
        if packet.is_low_latency {
            self.lq.push(packet);
        } else {
            self.cq.push(packet);
        }
        true
    }

    /// An update is due.
    pub fn update(&mut self, now: f64) {
        let waited = |queue: &[Packet]| queue.first().map_or(0.0, |head| now - head.at);
        let mut curq = waited(&self.cq);
        if self.p.overload_aware && waited(&self.lq) > curq {
            curq = waited(&self.lq);
        }
        self.p_prime += self.p.alpha * (curq - self.p.target) + self.p.beta * (curq - self.prevq);
        self.p_prime = self.p_prime.clamp(0.0, 1.0);
        self.prevq = curq;
    }

    /// An opportunity.
    pub fn dequeue(&mut self, now: f64) -> Outcome {
        let mut outcome = Outcome::default();
        loop {
            if self.lq.is_empty() && self.cq.is_empty() {
                self.reset();
                return outcome;
            }
            let p_cl = self.p.k * self.p_prime;
            let p_c = self.p_prime * self.p_prime;
            if self.is_turn_of_low_latency(now) {
                let packet = self.lq.remove(0);
                let mark = if p_cl < 1.0 {
                    let sojourn = now - packet.at;
                    let mut native = 0.0;
                    if self.lq.len() > self.p.th_len {
                        if sojourn >= self.p.min_th + self.p.range {
                            native = 1.0;
                        } else if sojourn > self.p.min_th {
                            native = (sojourn - self.p.min_th) / self.p.range;
                        }
                    }
                    recur(&mut self.count_l, f64::max(native, p_cl))
                } else {
                    if recur(&mut self.count_l, p_c) {
                        outcome.dropped.push(packet.number);
                        continue;
                    }
                    recur(&mut self.count_l, p_cl.min(1.0))
                };
                outcome.marked = mark && packet.is_capable && !packet.is_marked;
                if !self.cq.is_empty() {
                    self.credit += (256.0 - self.p.weight.unwrap_or(0.0)) * packet.length as f64;
                }
                outcome.sent = Some(packet.number);
                return outcome;
            }
            let packet = self.cq.remove(0);
            if recur(&mut self.count_c, p_c) {
                if !packet.is_capable || p_c >= (1.0 / (self.p.k * self.p.k)).min(1.0) {
                    outcome.dropped.push(packet.number);
                    continue;
                }
                outcome.marked = !packet.is_marked;
            }
            if !self.lq.is_empty() {
                self.credit -= self.p.weight.unwrap_or(0.0) * packet.length as f64;
            }
            outcome.sent = Some(packet.number);
            return outcome;
        }
    }

    fn is_turn_of_low_latency(&self, now: f64) -> bool {
        let (Some(l), Some(c)) = (self.lq.first(), self.cq.first()) else {
            return !self.lq.is_empty();
        };
        if self.p.weight.is_some() {
            self.credit <= 0.0
        } else {
            // To half a picosecond, so that equal times are equal.
            ((now - l.at) + self.p.tshift - (now - c.at)) * 1e12 >= -0.5
        }
    }
}

fn recur(count: &mut f64, likelihood: f64) -> bool {
    *count += likelihood;
    if *count > 1.0 {
        *count -= 1.0;
        return true;
    }
    false
}
