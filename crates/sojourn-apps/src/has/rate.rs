//! How the client of an adaptive stream chooses the level of its next chunk.
//!
//! Source: Huang et al., "A Buffer-Based Approach to Rate Adaptation", SIGCOMM 2014, Algorithm 1 (BBA-0); Spiteri,
//! Urgaonkar and Sitaraman, "BOLA", INFOCOM 2016, in the parameters of dash.js (`BolaRule.js`: utilities begin at zero,
//! V and g follow from a minimum and a target of the buffer); Akhtar 2013 for what the clients choose from.
//! Deviations: the client of Akhtar 2013 (WiLo) has no published parameters; the rule by throughput and buffer takes its
//! place (chosen). BOLA follows the throughput until the buffer has held its minimum once.

use crate::keys::LONGEST_PAUSE;
use sojourn_base::report::LevelReason;
use sojourn_base::{BitRate, Span, math};
use sojourn_keys::{Key, choices, origin, parameters};
use std::collections::VecDeque;

choices! {
    /// The rule.
    #[derive(Copy)]
    pub enum RateRule {
        /// as much as the throughput of the last chunks allows, downwards late, upwards step by step
        ThroughputBuffer(rule: ThroughputBufferConfig = ThroughputBufferConfig::BASE) = "throughput-buffer",
        /// BOLA: by the buffer, so that the mean logarithm of the rates is largest
        Bola(rule: BolaConfig = BolaConfig::BASE) = "bola",
        /// BBA-0: by the buffer, on a line from the lowest to the highest rate
        Bba0(rule: Bba0Config = Bba0Config::BASE) = "bba-0",
    }
}

const fn span(from: &'static str) -> Key {
    origin(from).most(LONGEST_PAUSE).unit("s")
}

const SHARES: &str =
    "chosen: about an eighth, a third and two thirds of a buffer of 30 s; of one of 3 s, three, seven and eight tenths";

parameters! {
    /// The rule by throughput and buffer.
    #[derive(Copy)]
    pub struct ThroughputBufferConfig {
        /// share of the estimated throughput that a level may need
        safety: f64 = 0.85, origin("chosen: room for the variation from chunk to chunk").least("0.01").most("1");
        /// chunks (of a live stream windows) whose throughputs make the estimate, by their harmonic mean
        samples: u32 = 5, origin("chosen: ten seconds of media").least("1").most("1000");
        /// below this buffer level, the lowest level
        panic_below: Span = Span::from_s(4), span(SHARES);
        /// a higher level only from this buffer level on
        up_from: Span = Span::from_s(10), span(SHARES);
        /// chunks in a row for which a higher level must have been possible
        up_after: u32 = 3, origin("chosen: three").least("1").most("1000");
        /// from this buffer level on, a level that is too high is kept
        hold_from: Span = Span::from_s(20), span(SHARES);
        /// but not if the next chunk would take this multiple of its own length
        hold_up_to: f64 = 1.25, origin("chosen: 1.25").least("1").most("100");
    }
    profiles {
        /// With three seconds in the buffer.
        LIVE {
            panic_below = Span::from_ms(800);
            up_from = Span::from_ms(2200);
            hold_from = Span::from_ms(2600);
        }
    }
}

parameters! {
    /// Parameters of BOLA.
    #[derive(Copy, Eq)]
    pub struct BolaConfig {
        /// buffer up to which the lowest level is right
        minimum: Span = Span::from_s(10), span("dash.js BolaRule: 10 s").least("1 ms");
        /// buffer about which the highest level is right
        /// (with 30 s it would need 27.9 s)
        target: Span = Span::from_s(26),
            span("chosen: 26 s, reachable below the 28 s at which a client with 30 s asks again").least("1 ms");
    }
}

parameters! {
    /// Parameters of BBA-0. Chosen: 6 and 21 s, the shares of the buffer that the paper gives, with a shorter reservoir
    /// and a cushion that ends below the 28 s at which the client of Akhtar 2013 asks again.
    #[derive(Copy, Eq)]
    pub struct Bba0Config {
        /// buffer up to which the lowest level is right
        reservoir: Span = Span::from_s(6), span("chosen: Huang 2014 has 90 s and 126 s of a buffer of 240 s");
        /// from there, buffer in which the rate rises to the highest
        cushion: Span = Span::from_s(21),
            span("chosen: Huang 2014 has 90 s and 126 s of a buffer of 240 s").least("1 ms");
    }
}

impl BolaConfig {
    /// (g, V) for these rates.
    fn gains(&self, ladder: &[BitRate]) -> (f64, f64) {
        let top = ladder.last().map_or(0.0, |rate| utility(*rate, ladder));
        let minimum = self.minimum.as_secs_f64();
        let g = 1.0 + top / (self.target.as_secs_f64() / minimum - 1.0);
        (g, minimum / (g - 1.0))
    }

    /// The level with the highest score; the higher of equals.
    fn level(&self, ladder: &[BitRate], buffer: f64) -> usize {
        let (g, v) = self.gains(ladder);
        let mut best = (0, f64::NEG_INFINITY);
        for (level, rate) in ladder.iter().enumerate() {
            let score = (v * (utility(*rate, ladder) + g) - buffer) / mbps(*rate);
            if score >= best.1 {
                best = (level, score);
            }
        }
        best.0
    }
}

/// Logarithm of a rate over the lowest one.
fn utility(rate: BitRate, ladder: &[BitRate]) -> f64 {
    math::ln(mbps(rate) / mbps(ladder[0]))
}

impl Bba0Config {
    /// The rate in Mb/s that belongs to a buffer.
    fn map(&self, ladder: &[BitRate], buffer: f64) -> f64 {
        let (low, high) = (mbps(ladder[0]), mbps(ladder[ladder.len() - 1]));
        let above = buffer - self.reservoir.as_secs_f64();
        low + (high - low) * (above / self.cushion.as_secs_f64()).clamp(0.0, 1.0)
    }

    fn level(&self, ladder: &[BitRate], level: usize, buffer: f64) -> usize {
        let top = ladder.len() - 1;
        let rate = |level: usize| mbps(ladder[level]);
        if buffer <= self.reservoir.as_secs_f64() {
            return 0;
        }
        if buffer >= (self.reservoir + self.cushion).as_secs_f64() {
            return top;
        }
        let mapped = self.map(ladder, buffer);
        if level < top && mapped >= rate(level + 1) {
            (0..=top).rev().find(|m| rate(*m) < mapped).unwrap_or(0)
        } else if level > 0 && mapped <= rate(level - 1) {
            (0..=top).find(|m| rate(*m) > mapped).unwrap_or(top)
        } else {
            level
        }
    }
}

/// A level, why, and the throughput in b/s that was expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) level: usize,
    pub(crate) reason: LevelReason,
    pub(crate) estimate: Option<f64>,
}

/// Measurements of a client, and its choice of a level.
#[derive(Clone, Debug)]
pub(crate) struct Chooser {
    rule: RateRule,
    /// Throughputs of the last chunks in b/s.
    samples: VecDeque<f64>,
    /// Choices in a row for which a higher level was possible.
    higher: u32,
    /// BOLA's buffer has held its minimum.
    is_started: bool,
    level: usize,
}

/// Inputs of a choice.
pub(crate) struct Offer<'a> {
    pub(crate) ladder: &'a [BitRate],
    /// Length of a chunk.
    pub(crate) chunk: Span,
    pub(crate) buffer: Span,
    /// Bytes of the next chunk at each level.
    pub(crate) bytes: &'a dyn Fn(usize) -> u64,
}

impl Chooser {
    pub(crate) const fn new(rule: RateRule) -> Self {
        Self { rule, samples: VecDeque::new(), higher: 0, is_started: false, level: 0 }
    }

    /// A chunk has arrived at this rate in b/s.
    pub(crate) fn on_sample(&mut self, throughput: f64) {
        let most = match self.rule {
            RateRule::ThroughputBuffer(config) => config.samples as usize,
            _ => SAMPLES,
        };
        if self.samples.len() >= most {
            self.samples.pop_front();
        }
        self.samples.push_back(throughput);
    }

    /// Harmonic mean of what is remembered.
    fn estimate(&self) -> Option<f64> {
        let sum: f64 = self.samples.iter().map(|sample| 1.0 / sample).sum();
        (!self.samples.is_empty()).then(|| self.samples.len() as f64 / sum)
    }

    /// The level of the next chunk.
    pub(crate) fn choose(&mut self, offer: &Offer<'_>) -> Choice {
        let before = self.level;
        let estimate = self.estimate();
        let buffer = offer.buffer.as_secs_f64();
        let mut reason = None;
        self.level = match (self.rule, estimate) {
            (RateRule::ThroughputBuffer(config), Some(estimate)) => {
                let (level, why) = self.by_throughput(&config, estimate, offer);
                reason = why;
                level
            }
            (RateRule::ThroughputBuffer(_), None) => {
                reason = Some(LevelReason::Start);
                0
            }
            (RateRule::Bola(config), _) => {
                self.is_started |= offer.buffer >= config.minimum;
                if self.is_started {
                    config.level(offer.ladder, buffer)
                } else {
                    reason = Some(LevelReason::Start);
                    let allowed = BOLA_SAFETY * estimate.unwrap_or(0.0) / 1e6;
                    highest(offer.ladder, |_, rate| mbps(rate) <= allowed)
                }
            }
            (RateRule::Bba0(config), _) => config.level(offer.ladder, before, buffer),
        };
        let reason = reason.unwrap_or(match self.level {
            level if level > before => LevelReason::Up,
            level if level < before => LevelReason::Down,
            _ => LevelReason::Stay,
        });
        Choice { level: self.level, reason, estimate }
    }

    fn by_throughput(
        &mut self,
        config: &ThroughputBufferConfig,
        estimate: f64,
        offer: &Offer<'_>,
    ) -> (usize, Option<LevelReason>) {
        let now = self.level;
        if offer.buffer < config.panic_below {
            self.higher = 0;
            return (0, Some(LevelReason::Panic));
        }
        let length = offer.chunk.as_secs_f64();
        let takes = |level: usize, rate: f64| (offer.bytes)(level) as f64 * 8.0 / rate;
        let fits = highest(offer.ladder, |level, _| takes(level, config.safety * estimate) <= length);
        if fits > now {
            self.higher = self.higher.saturating_add(1);
            let may = offer.buffer >= config.up_from && self.higher >= config.up_after;
            return (now + usize::from(may), None);
        }
        self.higher = 0;
        if fits < now && offer.buffer >= config.hold_from {
            if takes(now, estimate) > config.hold_up_to * length {
                return (now - 1, None);
            }
            return (now, Some(LevelReason::HoldBuffer));
        }
        (fits, None)
    }
}

/// A chunk that arrives at once would have no throughput. chosen: a microsecond.
pub(crate) const SHORTEST: f64 = 1e-6;

/// Share of the throughput that BOLA may use before it is at work. chosen: 0.9, as dash.js.
const BOLA_SAFETY: f64 = 0.9;

/// Chunks whose throughputs are remembered by rules that do not say how many. chosen: as the rule by throughput.
const SAMPLES: usize = 5;

/// The highest level that is `fitting`; the lowest if none is.
fn highest(ladder: &[BitRate], fitting: impl Fn(usize, BitRate) -> bool) -> usize {
    let mut levels = ladder.iter().copied().enumerate().rev();
    levels.find(|(level, rate)| fitting(*level, *rate)).map_or(0, |(level, _)| level)
}

fn mbps(rate: BitRate) -> f64 {
    rate.as_bps() as f64 / 1e6
}

#[cfg(test)]
mod tests;
