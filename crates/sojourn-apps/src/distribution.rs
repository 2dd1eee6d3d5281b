//! Sizes, pauses and intervals that are drawn: the distributions of traffic models, with their bounds.
//!
//! A [`Distribution`] is what a file says, a [`Sampler`] what a running model draws from. Each draw takes one uniform
//! number, whatever the bounds: between bounds it is inverted within the share of the distribution that lies there, which
//! has the same result as drawing until one fits. So draws of two runs stay aligned when a bound differs.
//!
//! Source: White 2019 Appendix B (normal and log-normal), 3GPP2 C.R1002 as White 2019 cites it (log-normal, Pareto,
//! exponential), Akhtar 2013 (Pareto by mean and coefficient of variation).
//! Deviations: none known.

mod spelling;

use core::marker::PhantomData;
use core::str::FromStr;

use sojourn_base::{Bytes, RandomStream, Span, dist, math};
use sojourn_keys::Value;

use crate::{ApplicationContext, Draw};

/// A quantity that can be drawn: a number in its base unit.
pub trait Measured: Value + Copy + PartialOrd + FromStr {
    /// Example of the quantity, for messages and the reference.
    const EXAMPLE: Self;
    /// It in bytes, seconds, or as it is.
    fn number(self) -> f64;
    /// The nearest one to `number`.
    fn of_number(number: f64) -> Self;
}

impl Measured for Bytes {
    const EXAMPLE: Self = Self(1500);

    fn number(self) -> f64 {
        self.0 as f64
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped by `as`")]
    fn of_number(number: f64) -> Self {
        Self((number + 0.5) as u64)
    }
}

impl Measured for Span {
    const EXAMPLE: Self = Self::from_ms(20);

    fn number(self) -> f64 {
        self.as_secs_f64()
    }

    fn of_number(number: f64) -> Self {
        Self::from_secs_f64(number)
    }
}

impl Measured for f64 {
    const EXAMPLE: Self = 5.0;

    fn number(self) -> f64 {
        self
    }

    fn of_number(number: f64) -> Self {
        number
    }
}

/// One value, or a law to draw from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution<Q> {
    /// Always the same; nothing is drawn.
    Constant(Q),
    /// Drawn anew each time.
    Random(Law<Q>, Bounds<Q>),
}

/// The law of a random quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law<Q> {
    /// Uniform between its bounds, which must be given.
    Uniform,
    /// Exponential.
    Exponential {
        /// Mean.
        mean: Q,
    },
    /// Normal.
    Normal {
        /// Mean.
        mean: Q,
        /// Standard deviation.
        sd: Q,
    },
    /// Log-normal, by its own moments.
    LogNormal {
        /// Mean.
        mean: Q,
        /// Standard deviation.
        sd: Q,
    },
    /// Log-normal, by the moments of the natural logarithm of bytes or seconds.
    LogNormalOf {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Pareto, by its moments; its shape is 1 + sqrt(1 + 1/cv²).
    Pareto {
        /// Mean.
        mean: Q,
        /// Coefficient of variation: standard deviation over mean.
        cv: f64,
    },
    /// Pareto, by its parameters.
    ParetoOf {
        /// The least value.
        scale: Q,
        /// The exponent of its tail.
        shape: f64,
    },
}

/// Bounds of draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds<Q> {
    /// The least draw, if it has a bound.
    pub least: Option<Q>,
    /// The greatest draw, if it has a bound.
    pub most: Option<Q>,
    /// Treatment of draws beyond the bounds.
    pub outside: Outside,
}

/// Treatment of a draw beyond the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// It is drawn anew until it lies between them.
    Redraw,
    /// It becomes the bound.
    Clamp,
}

impl<Q: Default> Default for Distribution<Q> {
    fn default() -> Self {
        Self::Constant(Q::default())
    }
}

impl<Q: Copy> Distribution<Q> {
    /// Draws of `law` without bounds.
    pub const fn of(law: Law<Q>) -> Self {
        Self::Random(law, Bounds { least: None, most: None, outside: Outside::Redraw })
    }

    /// Draws of `law`; those outside `least` and `most` are discarded.
    pub const fn between(law: Law<Q>, least: Q, most: Q) -> Self {
        Self::Random(law, Bounds { least: Some(least), most: Some(most), outside: Outside::Redraw })
    }

    /// Draws of `law`; those below `least` become `least`.
    pub const fn at_least(law: Law<Q>, least: Q) -> Self {
        Self::Random(law, Bounds { least: Some(least), most: None, outside: Outside::Clamp })
    }
}

impl<Q: Measured> Distribution<Q> {
    /// Returns a sampler; draws below `least` or above `most` become that bound.
    pub fn sampler(&self, least: Q, most: Q) -> Sampler<Q> {
        let (least, most) = (least.number(), most.number());
        match *self {
            Self::Constant(value) => Sampler::Constant(value),
            Self::Random(law, bounds) => Sampler::Random(Inverse::new(law, bounds, least, most)),
        }
    }

    /// A value that half of the draws do not exceed.
    pub fn median(&self) -> Q {
        self.quantile(0.5)
    }

    /// The greatest draw that can happen.
    pub fn greatest(&self) -> Q {
        self.quantile(1.0 - f64::EPSILON / 2.0)
    }

    /// The value that a share `unit` of the draws does not exceed.
    fn quantile(&self, unit: f64) -> Q {
        match *self {
            Self::Constant(value) => value,
            Self::Random(law, bounds) => {
                let inverse: Inverse<Q> = Inverse::new(law, bounds, f64::NEG_INFINITY, f64::INFINITY);
                Q::of_number(inverse.at(unit))
            }
        }
    }
}

/// Sampler of a running model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampler<Q> {
    /// Always the same.
    Constant(Q),
    /// Drawn by inversion.
    Random(Inverse<Q>),
}

impl<Q: Measured> Sampler<Q> {
    /// The next one, from the application's stream of `purpose`; a constant takes no draw.
    pub fn draw(&self, purpose: Draw, context: &mut dyn ApplicationContext) -> Q {
        match self {
            Self::Constant(value) => *value,
            Self::Random(inverse) => Q::of_number(inverse.at(context.unit(purpose))),
        }
    }

    /// The next one from a stream of its own.
    pub fn draw_from(&self, stream: &mut RandomStream) -> Q {
        match self {
            Self::Constant(value) => *value,
            Self::Random(inverse) => Q::of_number(inverse.at(stream.unit())),
        }
    }

    /// The same as [`Sampler::draw`] as a number in bytes or seconds, before it is rounded to what the type holds.
    pub fn draw_number(&self, purpose: Draw, context: &mut dyn ApplicationContext) -> f64 {
        match self {
            Self::Constant(value) => value.number(),
            Self::Random(inverse) => inverse.at(context.unit(purpose)),
        }
    }
}

/// The inverse of a bounded distribution function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inverse<Q> {
    curve: Curve,
    /// The share below the bounds and that between them, if draws beyond are drawn anew.
    within: Option<(f64, f64)>,
    /// No result lies outside these.
    least: f64,
    most: f64,
    of: PhantomData<Q>,
}

/// A law with its parameters as they are needed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Curve {
    Uniform { least: f64, most: f64 },
    Exponential { mean: f64 },
    Normal { mean: f64, sd: f64 },
    LogNormal { mu: f64, sigma: f64 },
    Pareto { scale: f64, shape: f64 },
}

impl<Q: Measured> Inverse<Q> {
    pub(crate) fn new(law: Law<Q>, bounds: Bounds<Q>, least: f64, most: f64) -> Self {
        let low = bounds.least.map_or(f64::NEG_INFINITY, Q::number);
        let high = bounds.most.map_or(f64::INFINITY, Q::number);
        let curve = match law {
            Law::Uniform => Curve::Uniform { least: low.max(least), most: high.min(most) },
            Law::Exponential { mean } => Curve::Exponential { mean: mean.number() },
            Law::Normal { mean, sd } => Curve::Normal { mean: mean.number(), sd: sd.number() },
            Law::LogNormal { mean, sd } => {
                let ratio = sd.number() / mean.number();
                let variance = math::ln_1p(ratio * ratio);
                Curve::LogNormal { mu: math::ln(mean.number()) - variance / 2.0, sigma: math::sqrt(variance) }
            }
            Law::LogNormalOf { mu, sigma } => Curve::LogNormal { mu, sigma },
            Law::Pareto { mean, cv } => {
                let shape = 1.0 + math::sqrt(1.0 + 1.0 / (cv * cv));
                Curve::Pareto { scale: mean.number() * (shape - 1.0) / shape, shape }
            }
            Law::ParetoOf { scale, shape } => Curve::Pareto { scale: scale.number(), shape },
        };
        let is_cut = bounds.least.is_some() || bounds.most.is_some();
        let redraws = is_cut && bounds.outside == Outside::Redraw && law != Law::Uniform;
        let below = curve.share_below(low);
        Self {
            curve,
            within: redraws.then(|| (below, curve.share_below(high) - below)),
            least: low.max(least),
            most: high.min(most),
            of: PhantomData,
        }
    }

    /// The value that a share `unit` of the draws does not exceed.
    pub fn at(&self, unit: f64) -> f64 {
        let unit = match self.within {
            None => unit,
            Some((below, width)) => below + unit * width,
        };
        self.curve.at(unit).max(self.least).min(self.most)
    }

    /// The share of the unbounded distribution between the bounds, if draws beyond are drawn anew.
    fn share_within(&self) -> Option<f64> {
        self.within.map(|(_, width)| width)
    }
}

impl Curve {
    fn at(&self, unit: f64) -> f64 {
        match *self {
            Self::Uniform { least, most } => dist::uniform(unit, least, most),
            Self::Exponential { mean } => dist::exponential(unit, mean),
            Self::Normal { mean, sd } => mean + sd * dist::standard_normal(unit),
            Self::LogNormal { mu, sigma } => dist::log_normal(unit, mu, sigma),
            Self::Pareto { scale, shape } => scale * math::powf(1.0 - unit, -1.0 / shape),
        }
    }

    fn share_below(&self, x: f64) -> f64 {
        if x == f64::NEG_INFINITY {
            return 0.0;
        }
        if x == f64::INFINITY {
            return 1.0;
        }
        match *self {
            Self::Uniform { least, most } => ((x - least) / (most - least)).clamp(0.0, 1.0),
            Self::Exponential { mean } => 1.0 - math::exp(-x.max(0.0) / mean),
            Self::Normal { mean, sd } => dist::normal_share_below((x - mean) / sd),
            Self::LogNormal { .. } if x <= 0.0 => 0.0,
            Self::LogNormal { mu, sigma } => dist::normal_share_below((math::ln(x) - mu) / sigma),
            Self::Pareto { scale, .. } if x <= scale => 0.0,
            Self::Pareto { scale, shape } => 1.0 - math::powf(scale / x, shape),
        }
    }
}

#[cfg(test)]
mod tests;
