//! How many bytes a MAP can grant to this modem while others use the channel.
//!
//! Source: White 2012 §2.2.2 (random grant size) and §3.1.3 (borderline congestion); White 2013 §3.3
//! (cyclic levels).
//! Deviations: the order of White 2013's levels is drawn in a figure only; we use the order of the
//! ns-2 script it descends from, which is also in docsis-ns3 `examples/simple-docsislink.cc`.

use crate::config::keys::HIGHEST_RATE;
use crate::docsis::map::MapDraws;
use crate::problems::problem;
use crate::{Draw, LinkContext};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Instant, Span, WholeBytes, math};
use sojourn_keys::{Key, choices, key, origin, parameters};
use sojourn_queue::ConfigProblem;

/// How much of the channel others leave.
pub(crate) const CONGESTION: Key =
    key("congestion", "how much of the channel others leave", "White 2012 §3.1.3, White 2013 §3.3");

/// Around what a MAP grants on average. White 2013 does not mention it.
const VARIATION: Key = key(
    "variation",
    "half width of the random range of a grant, relative to its mean",
    "assumed: 0 where a source does not mention it",
)
.least("0")
.most("1");

choices! {
    /// How much of the channel others leave.
    pub enum CongestionConfig {
        /// grants are limited by the channel rate only
        None = "none",
        /// each MAP grants at most a random number of bytes
        ///
        /// Uniform on `mean · (1 ± variation)`.
        GrantSize {
            /// mean of the largest grant of a MAP
            mean: Bytes = Bytes::ZERO, origin("no default").required("\"1250 B\"").least("1 B").most("1 GB");
            /// half width of the range relative to its mean, 0 to 1
            variation: f64 = 0.0, VARIATION;
        } = "grant-size" profiles {
            /// White 2012 §3.1.3: 1250 B ± 20 % in each 2 ms, 5 Mb/s on average
            "white2012-borderline" = Self::WHITE2012_BORDERLINE;
        },
        /// the rate that others leave follows a cycle of levels
        Schedule(cycle: RateCycle = RateCycle::BASE) = "schedule" profiles {
            /// White 2013 §3.3: 2.5, 5, 12.5 and 20 Mb/s
            "white2013-light" = Self::white2013_light();
            /// White 2013 §3.3: 1.7, 3.3, 5 and 12.5 Mb/s
            "white2013-moderate" = Self::white2013_moderate();
            /// docsis-ns3 simple-docsislink.cc: 8.25, 10, 11.25 and 12.5 Mb/s, 5 s each
            "ns3-1" = Self::ns3_1();
            /// the same: 9.25, 9.5, 10 and 11.25 Mb/s
            "ns3-2" = Self::ns3_2();
            /// the same: 5, 6, 9 and 10 Mb/s
            "ns3-3" = Self::ns3_3();
        },
    }
}

parameters! {
    /// Levels of available rate, each held for the same time, in an order that repeats.
    pub struct RateCycle {
        /// the available rates
        levels: Vec<BitRate> = Vec::new(),
            origin("no default").required("[\"2.5 Mb/s\", \"5 Mb/s\"]").most(HIGHEST_RATE);
        /// which level each dwell has, as numbers into levels, from 0; then it repeats
        order: Vec<usize> = Vec::new(), origin("no default").required("[0, 1]");
        /// how long each level holds
        dwell: Span = Span::from_s(10), origin("White 2013 §3.3").least("1 us").unit("s");
        /// number of the dwell that the run starts with
        ///
        /// Modulo the cycle.
        phase: usize = 0, origin("chosen: the first");
        variation: f64 = 0.0, VARIATION;
        /// hold the cycle to visiting each ordered pair of distinct levels exactly once
        exhaustive: bool = false, origin("chosen: off unless claimed");
    }
}

/// Closed walk through all 12 ordered pairs of four levels: the cycle of docsis-ns3
/// `examples/simple-docsislink.cc`, begun one step earlier so that a run starts at the top level.
/// chosen: the start; White 2013 §3.3 gives the property, not the order.
const FOUR_LEVEL_ORDER: [usize; 12] = [3, 1, 0, 1, 2, 0, 2, 1, 3, 0, 3, 2];

impl CongestionConfig {
    /// White 2012 §3.1.3, borderline: the sustained rate of 5 Mb/s on average, 1250 B ± 20 % per MAP.
    pub const WHITE2012_BORDERLINE: Self = Self::GrantSize { mean: Bytes(1250), variation: 0.2 };

    /// White 2013 §3.3, light: 2.5, 5, 12.5 and 20 Mb/s.
    pub fn white2013_light() -> Self {
        Self::Schedule(RateCycle::white2013([2_500, 5_000, 12_500, 20_000]))
    }

    /// White 2013 §3.3, moderate: 1.7, 3.3, 5 and 12.5 Mb/s.
    pub fn white2013_moderate() -> Self {
        Self::Schedule(RateCycle::white2013([1_700, 3_300, 5_000, 12_500]))
    }

    /// The levels of docsis-ns3 `examples/simple-docsislink.cc`: 8.25, 10, 11.25 and 12.5 Mb/s, those of the ns-2 script
    /// times five, 5 s each.
    pub fn ns3_1() -> Self {
        Self::Schedule(RateCycle::ns3([8_250, 10_000, 11_250, 12_500]))
    }

    /// The second levels there: 9.25, 9.5, 10 and 11.25 Mb/s.
    pub fn ns3_2() -> Self {
        Self::Schedule(RateCycle::ns3([9_250, 9_500, 10_000, 11_250]))
    }

    /// The third: 5, 6, 9 and 10 Mb/s.
    pub fn ns3_3() -> Self {
        Self::Schedule(RateCycle::ns3([5_000, 6_000, 9_000, 10_000]))
    }

    pub(crate) fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        match self {
            Self::None => {}
            Self::GrantSize { mean, variation } => {
                if *mean == Bytes::ZERO {
                    problems.push(problem(
                        "congestion.mean",
                        String::from("a mean grant of zero bytes never sends anything"),
                        "\"1250 B\"",
                    ));
                }
                require_variation(*variation, problems);
            }
            Self::Schedule(cycle) => cycle.collect_problems(problems),
        }
    }
}

impl RateCycle {
    fn white2013(levels_kbps: [u64; 4]) -> Self {
        Self {
            levels: levels_kbps.map(BitRate::from_kbps).to_vec(),
            order: FOUR_LEVEL_ORDER.to_vec(),
            // White 2013 §3.3: 120 s for 12 transitions.
            dwell: Span::from_s(10),
            phase: 0,
            variation: 0.0,
            exhaustive: true,
        }
    }

    fn ns3(levels_kbps: [u64; 4]) -> Self {
        Self {
            dwell: Span::from_s(5),
            // The order of that program begins here.
            phase: 1,
            ..Self::white2013(levels_kbps)
        }
    }

    /// Time until the cycle repeats.
    pub fn period(&self) -> Span {
        self.dwell.saturating_mul(self.order.len() as u64)
    }

    /// The level of dwell number `dwell` of the run.
    ///
    /// # Panics
    /// If the cycle is empty or names a level that does not exist.
    #[expect(clippy::cast_possible_truncation, reason = "the remainder is below the length of a vector")]
    pub fn level(&self, dwell: u64) -> BitRate {
        let length = self.order.len();
        let place = (dwell % length as u64) as usize;
        self.levels[self.order[(place + self.phase % length) % length]]
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_variation(self.variation, problems);
        if self.dwell.is_zero() {
            problems.push(problem("congestion.dwell", String::from("levels must hold for some time"), "\"10 s\""));
        }
        if self.order.is_empty() {
            problems.push(problem(
                "congestion.order",
                String::from("the cycle has no dwells"),
                "indices into `levels`, one per dwell",
            ));
        }
        if self.levels.iter().all(|level| *level == BitRate::ZERO) {
            problems.push(problem(
                "congestion.levels",
                String::from("no level lets anything pass"),
                "at least one positive rate",
            ));
        }
        if let Some(index) = self.order.iter().find(|i| **i >= self.levels.len()) {
            problems.push(problem(
                "congestion.order",
                alloc::format!("there is no level {index}, only {} (from 0)", self.levels.len()),
                "indices into `levels`, counted from 0",
            ));
        } else if self.exhaustive && !self.visits_each_ordered_pair_once() {
            let pairs = self.levels.len() * self.levels.len().saturating_sub(1);
            problems.push(problem(
                "congestion.exhaustive",
                alloc::format!("the cycle does not visit each of the {pairs} ordered pairs of distinct levels once"),
                "another `order`, or exhaustive = false",
            ));
        }
    }

    /// Returns true if the closed cycle makes each change from one level to another exactly once.
    fn visits_each_ordered_pair_once(&self) -> bool {
        let count = self.levels.len();
        if self.order.len() != count * count.saturating_sub(1) {
            return false;
        }
        let mut seen = vec![false; count * count];
        let next = self.order.iter().cycle().skip(1);
        self.order
            .iter()
            .zip(next)
            .all(|(&from, &to)| from != to && !core::mem::replace(&mut seen[from * count + to], true))
    }
}

fn require_variation(variation: f64, problems: &mut Vec<ConfigProblem>) {
    if !(0.0..=1.0).contains(&variation) {
        problems.push(problem(
            "congestion.variation",
            alloc::format!("{variation} is not between 0 and 1"),
            "a fraction of the mean, for instance 0.2",
        ));
    }
}

/// The largest grant of each MAP, or of each symbol downstream.
#[derive(Clone, Debug)]
pub(crate) struct GrantLimit {
    config: CongestionConfig,
    map_interval: Span,
    /// Bytes that the channel serialises in one MAP interval.
    ceiling: Bytes,
    draws: MapDraws,
    /// The last answer and the MAP it was for.
    last: Option<(u64, Bytes)>,
    /// Level of the current dwell, and when the dwell ends.
    dwell: (BitRate, Instant),
    /// Fractions of bytes are carried over to a later MAP.
    whole: WholeBytes,
    /// Every MAP that starts before this instant has the limit of the last one: there is no variation, and the level is a
    /// whole number of bytes.
    steady_until: Instant,
}

impl GrantLimit {
    pub(crate) fn new(config: CongestionConfig, map_interval: Span, channel: BitRate) -> Self {
        Self {
            config,
            map_interval,
            ceiling: channel.bytes_in(map_interval),
            draws: MapDraws::new(Draw::GrantSize),
            last: None,
            dwell: (BitRate::ZERO, Instant::ZERO),
            whole: WholeBytes::default(),
            steady_until: Instant::ZERO,
        }
    }

    /// The most that MAP `number`, which starts at `at`, can grant. Numbers never decrease; asking again
    /// for the same MAP gives the same answer.
    pub(crate) fn at(&mut self, number: u64, at: Instant, context: &mut (impl LinkContext + ?Sized)) -> Bytes {
        match self.last {
            Some((last, limit)) if last == number || at < self.steady_until => return limit,
            _ => {}
        }
        let level = self.level(at);
        let was_even = self.whole.is_even();
        let mean = match level {
            Level::Bytes(mean) => mean,
            Level::Rate(rate) => self.whole.pass(rate, self.map_interval),
        };
        if self.variation() == 0.0 && was_even && self.whole.is_even() {
            self.steady_until = match level {
                Level::Rate(_) => self.dwell.1,
                Level::Bytes(_) => Instant::NEVER,
            };
        }
        let limit = match self.variation() {
            0.0 => mean,
            variation => uniform(mean, variation, self.draws.draw(number, context)),
        };
        let limit = limit.min(self.ceiling);
        self.last = Some((number, limit));
        limit
    }

    /// Nothing but the channel rate limits grants.
    pub(crate) const fn is_unlimited(&self) -> bool {
        matches!(self.config, CongestionConfig::None)
    }

    /// The mean of the largest grant at `now`, in whole bytes.
    pub(crate) fn mean(&mut self, now: Instant) -> Bytes {
        match self.level(now) {
            Level::Bytes(mean) => mean,
            Level::Rate(rate) => rate.bytes_in(self.map_interval),
        }
    }

    fn level(&mut self, now: Instant) -> Level {
        match &self.config {
            CongestionConfig::None => Level::Bytes(self.ceiling),
            CongestionConfig::GrantSize { mean, .. } => Level::Bytes(*mean),
            CongestionConfig::Schedule(cycle) => {
                if self.dwell.1 <= now {
                    let dwell = now.as_ps() / cycle.dwell.as_ps();
                    let end = cycle.dwell.saturating_mul(dwell + 1);
                    self.dwell = (cycle.level(dwell), Instant::ZERO.saturating_add(end));
                }
                Level::Rate(self.dwell.0)
            }
        }
    }

    const fn variation(&self) -> f64 {
        match &self.config {
            CongestionConfig::None => 0.0,
            CongestionConfig::GrantSize { variation, .. } => *variation,
            CongestionConfig::Schedule(cycle) => cycle.variation,
        }
    }
}

/// Bytes that a MAP can grant on average.
#[derive(Clone, Copy, Debug)]
enum Level {
    Bytes(Bytes),
    Rate(BitRate),
}

/// A whole number of bytes, uniform on `mean · (1 ± variation)` with both ends included.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "both ends are positive and far below 2^53"
)]
fn uniform(mean: Bytes, variation: f64, unit: f64) -> Bytes {
    let mean = mean.0 as f64;
    let low = math::floor(mean * (1.0 - variation) + 0.5);
    let high = math::floor(mean * (1.0 + variation) + 0.5);
    Bytes((low + math::floor((high - low + 1.0) * unit)) as u64)
}

#[cfg(test)]
mod tests;
