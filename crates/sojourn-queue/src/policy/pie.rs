//! PIE drops arrivals with a probability that follows the delay and its trend.
//!
//! Source: RFC 8033 §4, §5 and Appendix A (`Rfc8033`); draft-pan-tsvwg-pie-00 as White 2013 §2.3 and §3.2 used it,
//! in the form of the first Linux `sch_pie` and of ns-2.36 `queue/pie.cc` (`Draft00`); the three-state
//! burst rule of the ns-3 PIE queue disc.
//! Units and ranges: delays in seconds, probability in 0..=1.
//! Deviations: draws are made only where a decision needs one.

use crate::policy::burst::BurstState;
use crate::policy::departure_rate::{DepartureRate, DepartureRateConfig};
use sojourn_base::{Bytes, Instant, Span};
use sojourn_keys::{Key, bytes, choices, key, origin, parameters, words};

/// Times of a control law. chosen: beyond ten minutes no run would ever see a signal.
pub(in crate::policy) const fn law(from: &'static str) -> Key {
    origin(from).least("1 us").most("600 s")
}

/// Marks in place of drops.
pub(crate) const ECN: Key =
    key("ecn", "mark ECN-capable packets instead of dropping them while the probability is low", "RFC 8033 §5.1: off");

/// Probability at which marking ends.
pub(crate) const MARK_THRESHOLD: Key =
    key("mark_threshold", "probability from which ECN-capable packets are dropped as well", "RFC 8033 §5.1")
        .least("0")
        .most("1");

const fn gain() -> Key {
    origin("RFC 8033 §4.2").least("0").most("1000")
}

parameters! {
    /// Parameters of PIE's decisions.
    #[derive(Copy)]
    pub struct PieLaw {
        /// wanted delay
        reference: Span = Span::from_ms(15), law("RFC 8033 §5.1");
        /// time between updates of the probability
        update_interval: Span = Span::from_ms(15), law("RFC 8033 §4.2");
        /// gain of the distance from the reference, in 1/s
        alpha: f64 = 0.125, gain();
        /// gain of the change since the last update, in 1/s
        beta: f64 = 1.25, gain();
        /// how fast the probability may move while it is small
        gains: PieGains = PieGains::Rfc8033, origin("RFC 8033 §4.2");
        /// how long a first burst is left alone
        maximum_burst: Span = Span::from_ms(150), origin("RFC 8033 §4.4").most("600 s");
        /// assumed mean packet length
        mean_packet: u32 = 1024, origin("RFC 8033 appendix A").least("1 B").most("64 KiB") => bytes;
        /// small packets are dropped less often, by their length over mean_packet
        scale_by_size: bool = false, origin("RFC 8033 §4.1: off");
        /// nothing is signalled while the delay is low or hardly more than two packets wait
        ///
        /// Low, and the probability moderate.
        safeguard: bool = true, origin("RFC 8033 §4.1");
        /// spread drops evenly instead of by independent draws
        derandomise: bool = false, origin("RFC 8033 §5.4: off");
        ecn: bool = false, ECN;
        mark_threshold: f64 = 0.1, MARK_THRESHOLD;
        /// add 2 % per update while the delay is above this
        high_delay: Option<Span> = None, law("RFC 8033: off; Linux 250 ms, ns-2 200 ms").or("off");
        /// where the current delay comes from
        delay_source: DelaySource = DelaySource::LastSojourn, origin("RFC 8033 §5.2");
        /// when the burst allowance is granted again
        burst_rule: BurstRule = BurstRule::WhenQuiet, origin("RFC 8033 §4.4");
        /// sleep until there is a queue worth controlling
        activation: Activation = Activation::Off, origin("RFC 8033 §5.3: off");
    }
    profiles {
        /// RFC 8033 §4.2, §4.4 and Appendix A; delay from timestamps (§4.3).
        RFC8033 {}
        /// draft-pan-tsvwg-pie-00 with the defaults of the first Linux `sch_pie`; averaging as in ns-2.
        DRAFT00 {
            reference = Span::from_ms(20);
            update_interval = Span::from_ms(30);
            gains = PieGains::Draft00;
            delay_source = DelaySource::DepartureRate(DepartureRateConfig::NS2);
            maximum_burst = Span::from_ms(100);
        }
        /// White 2013 §2.3 and §3.2: 5 ms, a = 0.25, b = 1.25, update each 15 ms. Burst allowance,
        /// threshold and averaging are not printed; chosen: those of the draft.
        WHITE2013 from DRAFT00 {
            reference = Span::from_ms(5);
            update_interval = Span::from_ms(15);
            alpha = 0.25;
        }
    }
}

words! {
    /// How fast the probability may move while it is small.
    pub enum PieGains {
        /// three operating points (White 2013 §2.3)
        ///
        /// draft-pan-tsvwg-pie-00.
        Draft00 = "draft00",
        /// seven operating points (RFC 8033 §4.2)
        Rfc8033 = "rfc8033",
    }
}

choices! {
    /// Source of the current delay.
    #[derive(Copy)]
    pub enum DelaySource {
        /// what the packet that left last had waited (RFC 8033 §5.2)
        ///
        /// 0 while the queue is empty (§4.3, ns-3).
        LastSojourn = "last-sojourn",
        /// backlog over the measured departure rate
        ///
        /// Needs no timestamps.
        DepartureRate(rate: DepartureRateConfig = DepartureRateConfig::RFC8033) = "departure-rate",
    }
}

choices! {
    /// Rule by which a spent burst allowance is granted again.
    #[derive(Copy, Eq)]
    pub enum BurstRule {
        /// once the probability is 0 and the delay has twice been below half the reference
        WhenQuiet = "when-quiet",
        /// on the first arrival after the queue has been quiet for some time (ns-3)
        AfterQuiet(quiet: Span = Span::from_ms(1_500), law("ns-3: 1.5 s").called("quiet", "how long it must be quiet")) = "after-quiet",
    }
}

choices! {
    /// Event that wakes PIE up, if it sleeps at all.
    #[derive(Copy, Eq)]
    pub enum Activation {
        /// always awake
        Off = "off",
        /// awake once the delay reaches a value
        Delay(delay: Span = Span::ZERO, law("no default").called("delay", "this delay").required("\"10 ms\"")) = "delay",
        /// awake once the backlog reaches a value (RFC 8033 §5.3: a third of the buffer)
        Backlog(backlog: Bytes = Bytes::ZERO, key("backlog", "this backlog", "no default").required("\"100 kB\"").least("1 B"))
            = "backlog",
    }
}

/// Judgement on an arrival that fits.
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
    /// Waiting time of the last packet, in seconds; 0 if it left an empty queue.
    last_sojourn: f64,
    /// Rest of the burst allowance.
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
            active: law.activation == Activation::Off,
        }
    }

    /// The same queue with another probability, for tests that start in the middle.
    #[cfg(test)]
    pub(crate) fn with_probability(self, probability: f64) -> Self {
        Self { probability, ..self }
    }

    /// A packet of `length` bytes arrives and fits; `backlog` bytes wait already.
    #[inline]
    pub fn on_arrival(&mut self, law: &PieLaw, length: u32, backlog: u64, draw: impl FnOnce() -> f64) -> PieVerdict {
        if !self.active && !self.wakes_up(law, backlog) {
            return PieVerdict::Pass;
        }
        if !self.burst.is_zero() {
            return PieVerdict::Pass;
        }
        if let (BurstRule::AfterQuiet(_), BurstState::Inactive) = (law.burst_rule, self.burst_state) {
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
        if law.ecn && self.probability < law.mark_threshold { PieVerdict::Mark } else { PieVerdict::Drop }
    }

    /// An arrival did not fit and was dropped.
    pub fn on_overflow(&mut self) {
        self.accumulated = 0.0;
    }

    /// A packet that had waited `sojourn` leaves `backlog` bytes behind.
    pub fn on_departure(&mut self, law: &PieLaw, length: u32, sojourn: Span, backlog: u64, now: Instant) {
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

    /// Returns the rest of the burst allowance.
    pub const fn burst_allowance(&self) -> Span {
        self.burst
    }

    /// One step of the controller for a delay in seconds.
    pub(crate) fn update(&mut self, law: &PieLaw, delay: f64) {
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
                self.burst_state.on_update(is_quiet, whole_updates(timeout, law.update_interval));
            }
        }
        if law.activation != Activation::Off && self.probability <= 0.0 && delay <= 0.0 && self.old_delay <= 0.0 {
            self.active = false;
        }
        self.old_delay = delay;
    }

    fn move_probability(&mut self, law: &PieLaw, delay: f64) {
        // RFC 8033 §5.5 and `sch_pie`: steps of at most 2 % once the probability is 10 %.
        const STEP: f64 = 0.02;
        let mut step = law.alpha * (delay - law.reference.as_secs_f64()) + law.beta * (delay - self.old_delay);
        step /= gain_divisor(law.gains, self.probability);
        if self.probability >= 0.1 && step > STEP {
            step = STEP;
        }
        self.probability += step;
        if law.high_delay.is_some_and(|high| delay > high.as_secs_f64()) {
            self.probability += STEP;
        }
    }

    /// Returns true if a signal now could starve the link (RFC 8033 §4.1); packets then pass.
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
            Activation::Off => true,
            Activation::Delay(threshold) => self.delay(law, backlog) >= threshold.as_secs_f64(),
            Activation::Backlog(threshold) => backlog >= threshold.0,
        };
        if is_due {
            *self = Self { last_sojourn: self.last_sojourn, rate: self.rate, active: true, ..Self::new(law) };
        }
        is_due
    }
}

/// By how much a step shrinks at this probability, so that a small one is not doubled at once.
pub(crate) fn gain_divisor(gains: PieGains, probability: f64) -> f64 {
    let table: &[(f64, f64)] = match gains {
        PieGains::Draft00 => &[(0.01, 8.0), (0.1, 2.0)],
        PieGains::Rfc8033 => &[(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (0.1, 2.0)],
    };
    table.iter().find(|(below, _)| probability < *below).map_or(1.0, |(_, divisor)| *divisor)
}

/// Whole updates in `span`.
#[expect(clippy::cast_possible_truncation, reason = "seconds over milliseconds")]
pub(crate) fn whole_updates(span: Span, update_interval: Span) -> u32 {
    (span.as_ps() / update_interval.as_ps().max(1)) as u32
}

#[cfg(test)]
mod tests;
