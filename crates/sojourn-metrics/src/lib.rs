//! Metrics, defined once: pure functions from columns of records to numbers.
//!
//! Times come in whole nanoseconds, as records have them; whatever is not in nanoseconds says its unit.
//! A metric that does not exist (the median of nothing) is `None`, never zero.
//!
//! | module | metrics |
//! |---|---|
//! | [`quantile`] | quantiles by four definitions, mean, deviation, intervals of quantiles |
//! | [`distribution`] | weighted distributions: mixtures, sums, time-weighted values |
//! | [`game`] | round trips of a cloud game against its budget, its opinion score |
//! | [`latency`] | rounding, delay variation, jitter, round trips from one-way delays |
//! | [`loss`] | ratios and their intervals |
//! | [`outcome`] | Quality of Outcome, Apdex |
//! | [`voice`] | late packets, rating R, mean opinion score |
//! | [`web`] | page load times with unfinished pages |
//! | [`streaming`] | predicted opinion and underflow of videos |
//! | [`throughput`] | series, ramps, utilisation, fairness, byte budget |
//! | [`responsiveness`] | round trips under load, and per minute |
//! | [`run`] | all of them applied to the records of a run |
//! | [`schema`] | their names, units, words and bounds |
#![forbid(unsafe_code)]

pub mod distribution;
pub mod game;
pub mod latency;
pub mod loss;
pub mod outcome;
pub mod quantile;
pub mod responsiveness;
pub mod run;
pub mod schema;
pub mod streaming;
pub mod throughput;
pub mod voice;
pub mod web;

/// A lower and an upper bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}
