//! RED step by step; times in seconds, queues in packets or bytes.
//!
//! Source: ns-2.35 `queue/red.cc` (`estimator`, `drop_early`, `modify_p`, `enque`), as a list of steps.

/// Parameters.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, clippy::struct_excessive_bools, reason = "the names, and the switches, are those of the code")]
pub struct Parameters {
    pub th_min: f64,
    pub th_max: f64,
    pub max_p: f64,
    pub q_w: f64,
    pub limit: f64,
    pub gentle: bool,
    pub wait: bool,
    pub bytes: bool,
    pub queue_in_bytes: bool,
    pub mean_pkt: f64,
    pub ptc: f64,
    pub setbit: bool,
    pub mark_p: Option<f64>,
}

/// Fate of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Outcome {
    Accept,
    Mark,
    Early,
    Forced,
    Overlimit,
}

/// State of one queue.
#[derive(Clone, Debug)]
pub struct RedOracle {
    p: Parameters,
    queue: Vec<f64>,
    v_ave: f64,
    count: f64,
    count_bytes: f64,
    old: bool,
    idle: bool,
    idletime: f64,
    /// How near the last draw was to its threshold.
    pub margin: f64,
}

impl RedOracle {
    /// An empty queue.
    pub fn new(p: Parameters) -> Self {
        Self {
            p,
            queue: Vec::new(),
            v_ave: 0.0,
            count: 0.0,
            count_bytes: 0.0,
            old: false,
            idle: true,
            idletime: 0.0,
            margin: 1.0,
        }
    }

    /// The average.
    pub fn average(&self) -> f64 {
        self.v_ave
    }

    /// A packet arrives; `u` is the draw that it would get.
    pub fn enqueue(&mut self, now: f64, length: f64, is_capable: bool, u: f64) -> Outcome {
        let p = self.p;
        self.margin = 1.0;
        let mut m = 0;
        if self.idle {
            self.idle = false;
            m = whole(p.ptc * (now - self.idletime));
        }
        let qlen = if p.queue_in_bytes { self.queue.iter().sum() } else { self.queue.len() as f64 };
        for _ in 0..m {
            self.v_ave *= 1.0 - p.q_w;
        }
        self.v_ave = self.v_ave * (1.0 - p.q_w) + p.q_w * qlen;
        self.count += 1.0;
        self.count_bytes += length;
        let mut outcome = Outcome::Accept;
        if self.v_ave >= p.th_min && qlen > 1.0 {
            let over = if p.gentle { 2.0 * p.th_max } else { p.th_max };
            if p.mark_p.is_none() && self.v_ave >= over {
                outcome = Outcome::Forced;
            } else if !self.old {
                self.count = 1.0;
                self.count_bytes = length;
                self.old = true;
            } else {
                outcome = self.drop_early(length, is_capable, u);
            }
        } else {
            self.old = false;
        }
        if qlen >= p.limit {
            outcome = Outcome::Overlimit;
        }
        match outcome {
            Outcome::Accept | Outcome::Mark => self.queue.push(length),
            Outcome::Early => {}
            Outcome::Forced | Outcome::Overlimit => {
                self.count = 0.0;
                self.count_bytes = 0.0;
            }
        }
        outcome
    }

    fn drop_early(&mut self, length: f64, is_capable: bool, u: f64) -> Outcome {
        let p = self.p;
        let mut p_b = if self.v_ave < p.th_max {
            p.max_p * (self.v_ave - p.th_min) / (p.th_max - p.th_min)
        } else if p.gentle {
            (1.0 - p.max_p) * self.v_ave / p.th_max + 2.0 * p.max_p - 1.0
        } else {
            1.0
        };
        p_b = p_b.min(1.0);
        let count = if p.bytes { (self.count_bytes / p.mean_pkt).floor() } else { self.count };
        let mut p_a = if p.wait {
            if count * p_b < 1.0 {
                0.0
            } else if count * p_b < 2.0 {
                p_b / (2.0 - count * p_b)
            } else {
                1.0
            }
        } else if count * p_b < 1.0 {
            p_b / (1.0 - count * p_b)
        } else {
            1.0
        };
        // The steps at which the form changes are as delicate as the draw.
        self.margin = (count * p_b - 1.0).abs().min((count * p_b - 2.0).abs());
        if p.bytes && p_a < 1.0 {
            p_a = p_a * length / p.mean_pkt;
        }
        p_a = p_a.min(1.0);
        self.margin = self.margin.min((u - p_a).abs());
        if u >= p_a {
            return Outcome::Accept;
        }
        self.count = 0.0;
        self.count_bytes = 0.0;
        let may_mark = match p.mark_p {
            None => true,
            Some(mark_p) => p_b < mark_p,
        };
        if p.setbit && is_capable && may_mark { Outcome::Mark } else { Outcome::Early }
    }

    /// The link asks for a packet.
    pub fn dequeue(&mut self, now: f64) {
        if self.queue.is_empty() {
            if !self.idle {
                self.idle = true;
                self.idletime = now;
            }
        } else {
            self.queue.remove(0);
        }
    }
}

/// Times are whole microseconds: whole packets to within that.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number of packets")]
fn whole(packets: f64) -> u32 {
    (packets + 1e-9).floor() as u32
}
