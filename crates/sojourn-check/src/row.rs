//! A row that can fail, what is judged by it, and how it came out.
//!
//! Source: none. Deviations: none known.

use sojourn_base::{BitRate, Limit};
use sojourn_queue::QueueManager;

/// The line behind the queue, for limits in time. chosen: that of the scenarios of RFC 7928 here.
pub const RATE: BitRate = BitRate::from_mbps(10);

/// How a row came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// Not decidable for this manager; `found` gives the reason.
    NotJudged,
}

impl Verdict {
    /// The word of tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::NotJudged => "not judged",
        }
    }
}

/// Expectation and finding for a manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How it came out.
    pub verdict: Verdict,
    /// Expectation by the law, with its numbers.
    pub expected: String,
    /// Observed behaviour; of a fault, the first place.
    pub found: String,
}

impl Finding {
    pub(crate) fn of(holds: bool, expected: impl Into<String>, found: impl Into<String>) -> Self {
        let verdict = if holds { Verdict::Pass } else { Verdict::Fail };
        Self { verdict, expected: expected.into(), found: found.into() }
    }

    pub(crate) fn not_judged(expected: impl Into<String>, why: impl Into<String>) -> Self {
        Self { verdict: Verdict::NotJudged, ..Self::of(true, expected, why) }
    }
}

/// One thing that can fail.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its number, such as `X1` or `CD2`.
    pub id: &'static str,
    /// The requirement.
    pub statement: &'static str,
    /// The document with its section.
    pub source: &'static str,
    pub(crate) judge: fn(&Subject<'_>) -> Finding,
}

impl Row {
    /// Judges a manager.
    pub fn judge(&self, subject: &Subject<'_>) -> Finding {
        (self.judge)(subject)
    }
}

/// Costs that a program measures of itself, for rows about cost: this crate reads no clock.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Processor time of this thread so far, in ns.
    pub processor_ns: fn() -> u64,
    /// Resident memory of this process, in bytes; 0 where the system does not tell.
    pub resident: fn() -> u64,
}

/// A manager to be judged.
pub struct Subject<'a> {
    /// The kind that it must behave as; empty if it follows no document.
    pub like: &'a str,
    /// Makes a new, empty one.
    pub make: &'a dyn Fn() -> Box<dyn QueueManager>,
    /// The limit that it declares.
    pub limit: Option<Limit>,
    /// True if the limit covers the packets of its classic queue alone.
    pub has_service_queues: bool,
    /// Of a manager that takes only a seed from its context: makes the numbers that it is handed constant, or its generator's
    /// again, and returns whether it has asked for one since the call before. `None` if it draws from its context.
    pub choose_draws: Option<&'a dyn Fn(Option<f64>) -> bool>,
    /// Returns true if it has failed, and the rest would mean nothing.
    pub has_failed: &'a dyn Fn() -> bool,
    /// For rows about cost; they are not judged without.
    pub cost: Option<Cost>,
}

impl Subject<'_> {
    /// Makes draws constant, or random again; whether the manager has drawn since the call before, or draws from its context.
    pub(crate) fn choose(&self, unit: Option<f64>) -> bool {
        self.choose_draws.is_none_or(|choose| choose(unit))
    }
}

impl core::fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Subject").field("limit", &self.limit).finish_non_exhaustive()
    }
}
