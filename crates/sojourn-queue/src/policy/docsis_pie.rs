//! DOCSIS-PIE: PIE for a cable modem, which knows its token bucket and needs no rate estimate.
//!
//! Source: RFC 8034; ns-2.36 `queue/pie.cc` in DOCSIS mode; docsis-ns3 `dual-queue-coupled-aqm.cc`.
//! Units and ranges: delays in seconds; the probability may reach 13.6, because small packets are
//! dropped with a fraction of it.
//! Deviations: draws are made only where a decision needs one.

use crate::Shaper;
use crate::policy::burst::BurstState;
use crate::policy::pie::{PieGains, gain_divisor, law, whole_updates};
use sojourn_base::{BitRate, Span};
use sojourn_keys::{origin, parameters};

/// RFC 8034 A.1.2: gain of the distance from the target, in 1/s.
const ALPHA: f64 = 0.25;
/// RFC 8034 A.1.2: gain of the change since the last update, in 1/s.
const BETA: f64 = 2.5;
/// RFC 8034 A.1.2: time between updates.
pub const UPDATE_INTERVAL: Span = Span::from_ms(16);
/// RFC 8034 A.1.2: how long a first burst is left alone.
const MAXIMUM_BURST: Span = Span::from_ms(142);
/// RFC 8034 A.1.2: assumed mean packet length.
const MEAN_PACKET: u32 = 1024;
/// RFC 8034 A.1.2: smallest packet.
const MINIMUM_PACKET: u32 = 64;
/// RFC 8034 A.1.2: no drop before the sum of probabilities reaches this.
const PROBABILITY_LOW: f64 = 0.85;
/// RFC 8034 A.1.2: a drop at the latest when it reaches this.
const PROBABILITY_HIGH: f64 = 8.5;
/// RFC 8034 A.1.2: below this delay the probability decays.
const LATENCY_LOW: f64 = 0.005;
/// RFC 8034 A.1.2: above this delay the probability is raised.
const LATENCY_HIGH: f64 = 0.2;
/// The probability at which even the smallest packet is dropped as often as allowed: 13.6.
const PROBABILITY_MAXIMUM: f64 = PROBABILITY_LOW * MEAN_PACKET as f64 / MINIMUM_PACKET as f64;

parameters! {
    /// Parameters of DOCSIS-PIE's decisions (RFC 8034 A.1.2); the others are fixed by RFC 8034.
    #[derive(Copy, Eq)]
    pub struct DocsisPieLaw {
        /// wanted delay
        ///
        /// LATENCY_TARGET. An extreme one switches the manager off in effect.
        target: Span = Span::from_ms(10), law("RFC 8034 §4.2");
        /// how long the queue must be quiet before a new burst allowance
        ///
        /// BURST_RESET_TIMEOUT.
        burst_reset: Span = Span::from_s(1), law("RFC 8034 §4.2");
        /// round packet lengths up to one of nine classes
        quantise_length: bool = false, origin("RFC 8034 allows it: off");
    }
    profiles {
        /// RFC 8034 A.1.2: 10 ms, 1 s.
        RFC8034 {}
    }
}

/// Decision state of one service flow's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DocsisPie {
    probability: f64,
    /// Probability accumulated since the last drop.
    accumulated: f64,
    /// Delay at the last update, in seconds.
    old_delay: f64,
    /// Rest of the burst allowance.
    burst: Span,
    state: BurstState,
}

impl DocsisPie {
    /// A packet of `length` bytes arrives and fits into the `buffer` (bytes); `backlog` bytes
    /// wait already. Returns whether to signal, which is a drop where nothing marks.
    pub fn on_arrival(
        &mut self,
        law: &DocsisPieLaw,
        length: u32,
        backlog: u64,
        buffer: u64,
        draw: impl FnOnce() -> f64,
    ) -> bool {
        if !self.burst.is_zero() {
            return false;
        }
        if self.probability <= 0.0 {
            self.accumulated = 0.0;
        }
        if self.state == BurstState::Inactive {
            if backlog * 3 < buffer {
                return false;
            }
            self.state = BurstState::Quiescent { quiet: 0 };
        }
        let length = if law.quantise_length { length_class(length) } else { length };
        let scaled = self.probability * f64::from(length) / f64::from(MEAN_PACKET);
        let probability = scaled.min(PROBABILITY_LOW);
        self.accumulated += probability;
        if self.is_safe(law, backlog) || !self.hits(probability, draw) {
            return false;
        }
        self.accumulated = 0.0;
        if matches!(self.state, BurstState::Quiescent { .. }) {
            self.state = BurstState::Active;
            self.burst = MAXIMUM_BURST;
        }
        true
    }

    /// An arrival did not fit and was dropped.
    pub fn on_overflow(&mut self) {
        self.accumulated = 0.0;
    }

    /// An update is due. The queue's delay is in seconds.
    pub fn on_update(&mut self, law: &DocsisPieLaw, delay: f64) {
        if self.burst.is_zero() {
            self.move_probability(law, delay);
        } else {
            self.probability = 0.0;
            self.burst = self.burst.saturating_sub(UPDATE_INTERVAL);
        }
        let half = law.target.as_secs_f64() / 2.0;
        let is_quiet = delay < half && self.old_delay < half && self.probability <= 0.0 && self.burst.is_zero();
        self.state.on_update(is_quiet, whole_updates(law.burst_reset, UPDATE_INTERVAL));
        self.old_delay = delay;
    }

    /// The probability for a packet of mean length, in 0..=13.6.
    pub const fn probability(&self) -> f64 {
        self.probability
    }

    /// The delay of the queue at the last update.
    pub fn delay(&self) -> Span {
        Span::from_secs_f64(self.old_delay)
    }

    /// Returns the rest of the burst allowance.
    pub const fn burst_allowance(&self) -> Span {
        self.burst
    }

    /// Returns true if the queue is so short that the algorithm sleeps.
    pub fn is_inactive(&self) -> bool {
        self.state == BurstState::Inactive
    }

    fn move_probability(&mut self, law: &DocsisPieLaw, delay: f64) {
        // RFC 8034 A.2: steps of at most 2 % once the probability is 10 %.
        const STEP: f64 = 0.02;
        let mut step = ALPHA * (delay - law.target.as_secs_f64()) + BETA * (delay - self.old_delay);
        step /= divisor(self.probability);
        if self.probability >= 0.1 && step > STEP {
            step = STEP;
        }
        self.probability += step;
        if delay < LATENCY_LOW && self.old_delay < LATENCY_LOW {
            // RFC 8034 A.2: decay by 2 % per update.
            self.probability *= 0.98;
        } else if delay > LATENCY_HIGH {
            self.probability += STEP;
        }
        self.probability = self.probability.clamp(0.0, PROBABILITY_MAXIMUM);
    }

    /// Returns true if a signal now could starve the link; packets then pass.
    fn is_safe(&self, law: &DocsisPieLaw, backlog: u64) -> bool {
        let is_low = self.old_delay < law.target.as_secs_f64() / 2.0 && self.probability < 0.2;
        is_low || backlog <= 2 * u64::from(MEAN_PACKET)
    }

    fn hits(&self, probability: f64, draw: impl FnOnce() -> f64) -> bool {
        if self.accumulated < PROBABILITY_LOW {
            return false;
        }
        self.accumulated >= PROBABILITY_HIGH || draw() < probability
    }
}

/// Seconds until `queued` bytes have left through `shaper`: what the tokens cover goes at peak rate,
/// the rest at the sustained rate.
pub fn shaper_delay(queued: u64, shaper: &Shaper) -> f64 {
    let seconds = |bytes: u64, rate: BitRate| match rate.as_bps() {
        0 => 0.0,
        bps => bytes as f64 * 8.0 / bps as f64,
    };
    if shaper.sustained == BitRate::ZERO {
        return 0.0;
    }
    let at_peak = queued.min(shaper.tokens.0);
    seconds(queued - at_peak, shaper.sustained) + seconds(at_peak, shaper.peak)
}

/// RFC 8034 A.2: the gain table of RFC 8033, continued above 1.
fn divisor(probability: f64) -> f64 {
    if probability < 0.1 {
        gain_divisor(PieGains::Rfc8033, probability)
    } else if probability < 1.0 {
        0.5
    } else if probability < 10.0 {
        0.125
    } else {
        0.031_25
    }
}

/// RFC 8034: the classes that a modem may round lengths to; chosen: upwards.
fn length_class(length: u32) -> u32 {
    const CLASSES: [u32; 9] = [64, 128, 256, 512, 768, 1024, 1280, 1536, 2048];
    CLASSES.into_iter().find(|class| length <= *class).unwrap_or(2048)
}

#[cfg(test)]
mod tests;
