//! How the client of an adaptive stream chooses the level of its next chunk.
//!
//! Source: Huang et al., "A Buffer-Based Approach to Rate Adaptation", SIGCOMM 2014, Algorithm 1 (BBA-0); Spiteri,
//! Urgaonkar and Sitaraman, "BOLA", INFOCOM 2016, in the parameters of dash.js (`BolaRule.js`: utilities begin at zero,
//! V and g follow from a minimum and a target of the buffer); Akhtar 2013 for what the clients choose from.
//! Deviations: the client of Akhtar 2013 (WiLo) has no published parameters; the rule by throughput and buffer takes its
//! place (chosen). BOLA follows the throughput until the buffer has held its minimum once.

use sojourn_base::report::LevelReason;
use sojourn_base::{BitRate, Span, math};
use std::collections::VecDeque;

/// The rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateRule {
    /// By throughput and buffer.
    ThroughputBuffer(ThroughputBufferConfig),
    /// BOLA.
    Bola(BolaConfig),
    /// BBA-0.
    Bba0(Bba0Config),
}

/// The rule by throughput and buffer: as much as the throughput allows, downwards late, upwards step by step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThroughputBufferConfig {
    /// Share of the estimated throughput that a level may need.
    pub safety: f64,
    /// Throughputs of so many chunks make the estimate, their harmonic mean.
    pub samples: u32,
    /// With less in the buffer, the lowest level.
    pub panic_below: Span,
    /// A higher level only with so much in the buffer.
    pub up_from: Span,
    /// Chunks in a row for which a higher level must have been possible.
    pub up_after: u32,
    /// With so much in the buffer a level that is too high is kept.
    pub hold_from: Span,
    /// But not if the next chunk would take so many times its own length.
    pub hold_up_to: f64,
}

impl ThroughputBufferConfig {
    /// Chosen: a share of 0.85 leaves room for the variation from chunk to chunk; five samples are ten seconds of
    /// media; 4, 10 and 20 s are about an eighth, a third and two thirds of the 30 s of Akhtar 2013.
    pub const AKHTAR2013: Self = Self {
        safety: 0.85,
        samples: 5,
        panic_below: Span::from_s(4),
        up_from: Span::from_s(10),
        up_after: 3,
        hold_from: Span::from_s(20),
        hold_up_to: 1.25,
    };

    /// For a player of a live stream with three seconds in its buffer. Chosen: five windows of a second; 0.8, 2.2 and
    /// 2.6 s are about three, seven and eight tenths of the buffer, so that a higher level needs nearly all of it.
    pub const LOW_LATENCY: Self = Self {
        panic_below: Span::from_ms(800),
        up_from: Span::from_ms(2200),
        hold_from: Span::from_ms(2600),
        ..Self::AKHTAR2013
    };
}

/// Parameters of BOLA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BolaConfig {
    /// The lowest level up to here.
    pub minimum: Span,
    /// The highest level from about here.
    pub target: Span,
}

impl BolaConfig {
    /// Chosen: 10 s (dash.js), and 26 s, because the top level must be reachable below the 28 s at which a client with
    /// 30 s of buffer and chunks of 2 s asks again; with 30 s it needs 27.9 s.
    pub const AKHTAR2013: Self = Self {
        minimum: Span::from_s(10),
        target: Span::from_s(26),
    };

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

/// Parameters of BBA-0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bba0Config {
    /// The lowest level up to here.
    pub reservoir: Span,
    /// From there to the highest level.
    pub cushion: Span,
}

impl Bba0Config {
    /// Chosen: 6 and 21 s, the shares of the buffer that the paper gives (90 and 126 s of 240 s), with a shorter
    /// reservoir and a cushion that ends below the 28 s at which the client of Akhtar 2013 asks again.
    pub const AKHTAR2013: Self = Self {
        reservoir: Span::from_s(6),
        cushion: Span::from_s(21),
    };

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

/// What a client has seen, and how it chooses.
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

/// What the choice is about.
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
        Self {
            rule,
            samples: VecDeque::new(),
            higher: 0,
            is_started: false,
            level: 0,
        }
    }

    /// A chunk has arrived with so many b/s.
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
        Choice {
            level: self.level,
            reason,
            estimate,
        }
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
        let fits = highest(offer.ladder, |level, _| {
            takes(level, config.safety * estimate) <= length
        });
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
    levels
        .find(|(level, rate)| fitting(*level, *rate))
        .map_or(0, |(level, _)| level)
}

fn mbps(rate: BitRate) -> f64 {
    rate.as_bps() as f64 / 1e6
}

#[cfg(test)]
mod tests;
