//! PIE of RFC 8033 and of the 2013 draft, step by step; instants in ps, delays in seconds.
//!
//! Source: RFC 8033 §4 and §5; draft-pan-tsvwg-pie-00 with the first Linux `sch_pie`. Packets are only
//! counted here: PIE looks at lengths, backlogs and times, never at a packet twice.

/// Parameters, all in seconds, bytes and 1/s.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the documents, the units stand above")]
pub struct Parameters {
    pub is_draft: bool,
    pub reference: f64,
    pub period: f64,
    pub alpha: f64,
    pub beta: f64,
    pub max_burst: f64,
    pub mean_packet: f64,
    pub ecn: bool,
    /// Bytes per departure-rate measurement, with the weight of a new one; `None` measures sojourn.
    pub rate: Option<(f64, f64)>,
}

/// Fate of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Outcome {
    Accept,
    Mark,
    Drop,
}

/// State of one queue.
#[derive(Clone, Debug)]
pub struct PieOracle {
    parameters: Parameters,
    /// Lengths and arrival times of what waits.
    queue: Vec<(f64, i128)>,
    drop_prob: f64,
    qdelay_old: f64,
    burst_allowance: f64,
    latest_sojourn: f64,
    avg_dq_rate: f64,
    in_measurement: bool,
    dq_count: f64,
    dq_start: i128,
}

impl PieOracle {
    /// An empty queue.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            queue: Vec::new(),
            drop_prob: 0.0,
            qdelay_old: 0.0,
            burst_allowance: parameters.max_burst,
            latest_sojourn: 0.0,
            avg_dq_rate: 0.0,
            in_measurement: false,
            dq_count: 0.0,
            dq_start: 0,
        }
    }

    /// The drop probability.
    pub fn drop_prob(&self) -> f64 {
        self.drop_prob
    }

    fn qlen(&self) -> f64 {
        self.queue.iter().map(|(length, _)| length).sum()
    }

    /// A packet arrives at `now` (ps); `u` is the draw it would get if it came to one.
    pub fn enqueue(&mut self, length: f64, now: i128, ecn_capable: bool, u: f64) -> Outcome {
        let p = self.parameters;
        let mut outcome = Outcome::Accept;
        // A burst is let through.
        if self.burst_allowance <= 0.0 {
            // Safeguards.
            let low = self.qdelay_old < p.reference / 2.0 && self.drop_prob < 0.2;
            let short = self.qlen() <= 2.0 * p.mean_packet;
            if !low && !short && u < self.drop_prob {
                outcome = if p.ecn && ecn_capable && self.drop_prob < 0.1 { Outcome::Mark } else { Outcome::Drop };
            }
        }
        if outcome != Outcome::Drop {
            self.queue.push((length, now));
        }
        outcome
    }

    /// A packet leaves at `now` (ps).
    pub fn dequeue(&mut self, now: i128) {
        if self.queue.is_empty() {
            return;
        }
        let (length, since) = self.queue.remove(0);
        self.latest_sojourn = if self.queue.is_empty() { 0.0 } else { seconds(now - since) };
        let Some((dq_threshold, weight)) = self.parameters.rate else {
            return;
        };
        if !self.in_measurement && self.qlen() >= dq_threshold {
            self.in_measurement = true;
            self.dq_start = now;
            self.dq_count = 0.0;
        }
        if self.in_measurement {
            self.dq_count += length;
            if self.dq_count >= dq_threshold {
                let dq_time = seconds(now - self.dq_start);
                if dq_time > 0.0 {
                    let sample = self.dq_count / dq_time;
                    if self.avg_dq_rate == 0.0 {
                        self.avg_dq_rate = sample;
                    } else {
                        self.avg_dq_rate = (1.0 - weight) * self.avg_dq_rate + weight * sample;
                    }
                    if self.qlen() > dq_threshold {
                        self.dq_start = now;
                        self.dq_count = 0.0;
                    } else {
                        self.in_measurement = false;
                    }
                }
            }
        }
    }

    /// The periodic update.
    pub fn update(&mut self) {
        let p = self.parameters;
        // 1. Delay.
        let qdelay = match p.rate {
            None => self.latest_sojourn,
            Some(_) if self.avg_dq_rate > 0.0 => self.qlen() / self.avg_dq_rate,
            Some(_) => 0.0,
        };
        // 2. Probability.
        if self.burst_allowance > 0.0 {
            self.drop_prob = 0.0;
        } else {
            let mut d = p.alpha * (qdelay - p.reference) + p.beta * (qdelay - self.qdelay_old);
            if p.is_draft {
                if self.drop_prob < 0.01 {
                    d /= 8.0;
                } else if self.drop_prob < 0.1 {
                    d /= 2.0;
                }
            } else if self.drop_prob < 0.000_001 {
                d /= 2048.0;
            } else if self.drop_prob < 0.000_01 {
                d /= 512.0;
            } else if self.drop_prob < 0.000_1 {
                d /= 128.0;
            } else if self.drop_prob < 0.001 {
                d /= 32.0;
            } else if self.drop_prob < 0.01 {
                d /= 8.0;
            } else if self.drop_prob < 0.1 {
                d /= 2.0;
            }
            if self.drop_prob >= 0.1 && d > 0.02 {
                d = 0.02;
            }
            self.drop_prob += d;
        }
        // 3. Decay.
        if qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        // 4. Bounds and burst clock.
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.burst_allowance -= p.period;
        if self.burst_allowance < 1e-12 {
            self.burst_allowance = 0.0;
        }
        // 5. Back to rest.
        if self.drop_prob == 0.0 && qdelay < p.reference / 2.0 && self.qdelay_old < p.reference / 2.0 {
            self.burst_allowance = p.max_burst;
            self.avg_dq_rate = 0.0;
            self.in_measurement = false;
        }
        // 6.
        self.qdelay_old = qdelay;
    }
}

fn seconds(ps: i128) -> f64 {
    ps as f64 / 1e12
}
