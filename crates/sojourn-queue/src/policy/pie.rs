//! PIE drops arrivals with a probability that follows the delay and its trend.
//!
//! Source: RFC 8033 §4, §5 and Appendix A (`Rfc8033`); draft-pan-tsvwg-pie-00 as White 2013 §2.3 and §3.2 used it,
//! in the form of the first Linux `sch_pie` and of ns-2.36 `queue/pie.cc` (`Draft00`); the three-state
//! burst rule of the ns-3 PIE queue disc.
//! Units and ranges: delays in seconds, probability in 0..=1.
//! Deviations: draws are made only where a decision needs one.

pub(crate) mod keys;

use crate::policy::burst::BurstState;
use crate::policy::departure_rate::{DepartureRate, DepartureRateConfig};
use sojourn_base::{Bytes, Instant, Span};

/// How fast the probability may move while it is small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PieGains {
    /// Three operating points (draft-pan-tsvwg-pie-00, White 2013 §2.3).
    Draft00,
    /// Seven (RFC 8033 §4.2).
    #[default]
    Rfc8033,
}

/// Where the current delay comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DelaySource {
    /// Backlog over the measured departure rate; needs no timestamps.
    DepartureRate(DepartureRateConfig),
    /// What the packet that left last had waited; 0 while the queue is empty (RFC 8033 §4.3, ns-3).
    LastSojourn,
}

/// When a spent burst allowance is granted again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BurstRule {
    /// As soon as the probability is 0 and the delay has been below half the reference twice.
    #[default]
    WhenQuiet,
    /// On the first arrival after the queue has been quiet for so long (ns-3: 1.5 s).
    AfterQuiet(Span),
}

/// What wakes PIE up, if it sleeps at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// The delay reaches this.
    Delay(Span),
    /// The backlog reaches this, for instance one third of the buffer (RFC 8033 §5.3).
    Backlog(Bytes),
}

/// Parameters of PIE's decisions.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches of the documents"
)]
pub struct PieLaw {
    /// Wanted delay.
    pub reference: Span,
    /// Time between updates of the probability.
    pub update_interval: Span,
    /// Gain of the distance from the reference, in 1/s.
    pub alpha: f64,
    /// Gain of the change since the last update, in 1/s.
    pub beta: f64,
    /// How fast the probability may move while it is small.
    pub gains: PieGains,
    /// Where the current delay comes from.
    pub delay_source: DelaySource,
    /// How long a first burst is left alone.
    pub maximum_burst: Span,
    /// When the allowance is granted again.
    pub burst_rule: BurstRule,
    /// Assumed mean packet length in bytes.
    pub mean_packet: u32,
    /// Small packets are dropped less often: the probability is scaled by length over `mean_packet`.
    pub scale_by_size: bool,
    /// Nothing is signalled while the delay is low and the probability moderate, or while hardly more
    /// than two packets wait.
    pub safeguard: bool,
    /// Spread drops evenly instead of by independent draws (RFC 8033 §5.4).
    pub derandomise: bool,
    /// Sleep until there is a queue worth controlling (RFC 8033 §5.3).
    pub activation: Option<Activation>,
    /// Add 2 % per update while the delay is above this (Linux: 250 ms, ns-2: 200 ms).
    pub high_delay: Option<Span>,
    /// Mark ECN-capable packets instead of dropping them while the probability is below
    /// `mark_threshold`.
    pub ecn: bool,
    /// Probability from which capable packets are dropped as well.
    pub mark_threshold: f64,
}

impl PieLaw {
    /// RFC 8033 §4.2, §4.4 and Appendix A; delay from timestamps (§4.3).
    pub const RFC8033: Self = Self {
        reference: Span::from_ms(15),
        update_interval: Span::from_ms(15),
        alpha: 0.125,
        beta: 1.25,
        gains: PieGains::Rfc8033,
        delay_source: DelaySource::LastSojourn,
        maximum_burst: Span::from_ms(150),
        burst_rule: BurstRule::WhenQuiet,
        mean_packet: 1024,
        scale_by_size: false,
        safeguard: true,
        derandomise: false,
        activation: None,
        high_delay: None,
        ecn: false,
        mark_threshold: 0.1,
    };
    /// draft-pan-tsvwg-pie-00 with the defaults of the first Linux `sch_pie`; averaging as in ns-2.
    pub const DRAFT00: Self = Self {
        reference: Span::from_ms(20),
        update_interval: Span::from_ms(30),
        gains: PieGains::Draft00,
        delay_source: DelaySource::DepartureRate(DepartureRateConfig::NS2),
        maximum_burst: Span::from_ms(100),
        ..Self::RFC8033
    };
    /// White 2013 §2.3 and §3.2: 5 ms, a = 0.25, b = 1.25, update each 15 ms. Burst allowance,
    /// threshold and averaging are not printed; chosen: those of the draft.
    pub const WHITE2013: Self = Self {
        reference: Span::from_ms(5),
        update_interval: Span::from_ms(15),
        alpha: 0.25,
        ..Self::DRAFT00
    };
}

/// What to do with an arrival that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum PieVerdict {
    /// Accept it.
    Pass,
    /// Drop it.
    Drop,
    /// Mark it if it is ECN-capable; otherwise drop it.
    Mark,
}

/// Decision state of one queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pie {
    probability: f64,
    /// Delay at the last update, in seconds.
    old_delay: f64,
    /// What the last packet had waited, in seconds; 0 if it left nothing behind.
    last_sojourn: f64,
    /// What is left of the burst allowance.
    burst: Span,
    burst_state: BurstState,
    rate: DepartureRate,
    /// Probability accumulated since the last drop (derandomisation).
    accumulated: f64,
    active: bool,
}

impl Pie {
    /// A queue at rest.
    pub fn new(law: &PieLaw) -> Self {
        Self {
            probability: 0.0,
            old_delay: 0.0,
            last_sojourn: 0.0,
            burst: match law.burst_rule {
                BurstRule::WhenQuiet => law.maximum_burst,
                BurstRule::AfterQuiet(_) => Span::ZERO,
            },
            burst_state: BurstState::Inactive,
            rate: DepartureRate::default(),
            accumulated: 0.0,
            active: law.activation.is_none(),
        }
    }

    /// The same queue with another probability, for tests that start in the middle.
    #[cfg(test)]
    pub(crate) fn with_probability(self, probability: f64) -> Self {
        Self {
            probability,
            ..self
        }
    }

    /// A packet of `length` bytes arrives and fits; `backlog` bytes wait already.
    #[inline]
    pub fn on_arrival(
        &mut self,
        law: &PieLaw,
        length: u32,
        backlog: u64,
        draw: impl FnOnce() -> f64,
    ) -> PieVerdict {
        if !self.active && !self.wakes_up(law, backlog) {
            return PieVerdict::Pass;
        }
        if !self.burst.is_zero() {
            return PieVerdict::Pass;
        }
        if let (BurstRule::AfterQuiet(_), BurstState::Inactive) = (law.burst_rule, self.burst_state)
        {
            self.burst_state = BurstState::Active;
            self.burst = law.maximum_burst;
            return PieVerdict::Pass;
        }
        if law.safeguard && self.is_safe(law, backlog) {
            return PieVerdict::Pass;
        }
        let mut probability = self.probability;
        if law.scale_by_size {
            probability = probability * f64::from(length) / f64::from(law.mean_packet.max(1));
        }
        if !self.hits(law, probability, draw) {
            return PieVerdict::Pass;
        }
        self.accumulated = 0.0;
        if law.ecn && self.probability < law.mark_threshold {
            PieVerdict::Mark
        } else {
            PieVerdict::Drop
        }
    }

    /// An arrival did not fit and was dropped.
    pub fn on_overflow(&mut self) {
        self.accumulated = 0.0;
    }

    /// A packet that had waited `sojourn` leaves `backlog` bytes behind.
    pub fn on_departure(
        &mut self,
        law: &PieLaw,
        length: u32,
        sojourn: Span,
        backlog: u64,
        now: Instant,
    ) {
        match &law.delay_source {
            DelaySource::DepartureRate(config) => {
                self.rate.on_departure(config, length, backlog, now);
            }
            DelaySource::LastSojourn if backlog == 0 => self.last_sojourn = 0.0,
            DelaySource::LastSojourn => self.last_sojourn = sojourn.as_secs_f64(),
        }
    }

    /// An update is due; `backlog` bytes wait.
    pub fn on_update(&mut self, law: &PieLaw, backlog: u64) {
        let delay = self.delay(law, backlog);
        self.update(law, delay);
    }

    /// The current delay in seconds.
    pub fn delay(&self, law: &PieLaw, backlog: u64) -> f64 {
        match law.delay_source {
            DelaySource::DepartureRate(_) => self.rate.delay(backlog),
            DelaySource::LastSojourn => self.last_sojourn,
        }
    }

    /// The probability of a signal, in 0..=1.
    pub const fn probability(&self) -> f64 {
        self.probability
    }

    /// What is left of the burst allowance.
    pub const fn burst_allowance(&self) -> Span {
        self.burst
    }

    /// One step of the controller for a delay in seconds.
    fn update(&mut self, law: &PieLaw, delay: f64) {
        if !self.active {
            self.old_delay = delay;
            return;
        }
        if self.burst.is_zero() {
            self.move_probability(law, delay);
        } else {
            self.probability = 0.0;
        }
        if delay <= 0.0 && self.old_delay <= 0.0 {
            // RFC 8033 §4.2 and the first `sch_pie`: decay by 2 % per update while nothing waits.
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst = self.burst.saturating_sub(law.update_interval);
        let half = law.reference.as_secs_f64() / 2.0;
        let is_quiet = self.probability <= 0.0 && delay < half && self.old_delay < half;
        match law.burst_rule {
            BurstRule::WhenQuiet => {
                if is_quiet {
                    self.burst = law.maximum_burst;
                    self.rate.reset();
                }
            }
            BurstRule::AfterQuiet(timeout) => {
                let is_quiet = is_quiet && self.burst.is_zero();
                if is_quiet {
                    self.rate.reset();
                }
                self.burst_state
                    .on_update(is_quiet, whole_updates(timeout, law.update_interval));
            }
        }
        if law.activation.is_some()
            && self.probability <= 0.0
            && delay <= 0.0
            && self.old_delay <= 0.0
        {
            self.active = false;
        }
        self.old_delay = delay;
    }

    fn move_probability(&mut self, law: &PieLaw, delay: f64) {
        // RFC 8033 §5.5 and `sch_pie`: steps of at most 2 % once the probability is 10 %.
        const STEP: f64 = 0.02;
        let mut step =
            law.alpha * (delay - law.reference.as_secs_f64()) + law.beta * (delay - self.old_delay);
        step /= gain_divisor(law.gains, self.probability);
        if self.probability >= 0.1 && step > STEP {
            step = STEP;
        }
        self.probability += step;
        if law
            .high_delay
            .is_some_and(|high| delay > high.as_secs_f64())
        {
            self.probability += STEP;
        }
    }

    /// Whether signalling now could starve the link (RFC 8033 §4.1).
    fn is_safe(&self, law: &PieLaw, backlog: u64) -> bool {
        let is_low = self.old_delay < law.reference.as_secs_f64() / 2.0 && self.probability < 0.2;
        is_low || backlog <= 2 * u64::from(law.mean_packet)
    }

    fn hits(&mut self, law: &PieLaw, probability: f64, draw: impl FnOnce() -> f64) -> bool {
        if law.derandomise {
            // RFC 8033 §5.4: no drop before 0.85 drops are due, no later than when 8.5 are.
            if self.probability <= 0.0 {
                self.accumulated = 0.0;
            }
            self.accumulated += probability;
            if self.accumulated < 0.85 {
                return false;
            }
            if self.accumulated >= 8.5 {
                return true;
            }
        }
        draw() < probability
    }

    #[cold]
    fn wakes_up(&mut self, law: &PieLaw, backlog: u64) -> bool {
        let is_due = match law.activation {
            None => true,
            Some(Activation::Delay(threshold)) => {
                self.delay(law, backlog) >= threshold.as_secs_f64()
            }
            Some(Activation::Backlog(threshold)) => backlog >= threshold.0,
        };
        if is_due {
            *self = Self {
                last_sojourn: self.last_sojourn,
                rate: self.rate,
                active: true,
                ..Self::new(law)
            };
        }
        is_due
    }
}

/// By how much a step shrinks at this probability, so that a small one is not doubled at once.
pub(crate) fn gain_divisor(gains: PieGains, probability: f64) -> f64 {
    let table: &[(f64, f64)] = match gains {
        PieGains::Draft00 => &[(0.01, 8.0), (0.1, 2.0)],
        PieGains::Rfc8033 => &[
            (1e-6, 2048.0),
            (1e-5, 512.0),
            (1e-4, 128.0),
            (1e-3, 32.0),
            (1e-2, 8.0),
            (0.1, 2.0),
        ],
    };
    table
        .iter()
        .find(|(below, _)| probability < *below)
        .map_or(1.0, |(_, divisor)| *divisor)
}

/// Whole updates in `span`.
#[expect(clippy::cast_possible_truncation, reason = "seconds over milliseconds")]
pub(crate) fn whole_updates(span: Span, update_interval: Span) -> u32 {
    (span.as_ps() / update_interval.as_ps().max(1)) as u32
}

#[cfg(test)]
mod tests;
