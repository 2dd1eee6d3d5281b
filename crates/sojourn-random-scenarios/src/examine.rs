//! One scenario: drawn, read back from its print, run for a bounded number of events, checked.
//!
//! Source: none. Deviations: none known.

use crate::conservation::Conservation;
use crate::generator::Generator;
use sojourn_base::{Seed, Span};
use sojourn_engine::{RunStatistics, column_recorder, run};
use sojourn_scenario::Scenario;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a run that held together was made of.
#[derive(Clone, Debug)]
pub struct Examined {
    /// Places and kinds of the scenario.
    pub kinds: Vec<String>,
    /// Simulated time.
    pub duration: Span,
    /// What the run cost.
    pub statistics: RunStatistics,
    /// Packets sent, arrived, dropped.
    pub packets: [u64; 3],
}

/// A scenario that does not hold together.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Its number.
    pub number: u64,
    /// What went wrong.
    pub what: String,
    /// Its file, if it came so far.
    pub text: String,
}

/// How often a run may look whether it was cancelled: every 4096 events. Chosen: a run of a debug build takes
/// some 50 ms at most, and still fills queues.
const LOOKS: u32 = 6;
/// How often a run is tried again with a fraction of its time before it counts as endless.
const CUTS: u32 = 8;
/// The fraction.
const CUT: u64 = 8;
/// Every so many scenarios run twice, to compare.
const REPEATED: u64 = 16;

/// Draws scenario `number` and runs it.
///
/// # Errors
/// What panicked or did not hold.
pub fn examine(generator: &Generator, number: u64) -> Result<Examined, Box<Failure>> {
    let failure = |what: String, text: &str| {
        Box::new(Failure {
            number,
            what,
            text: text.to_owned(),
        })
    };
    let drawn = catch_unwind(AssertUnwindSafe(|| generator.draw(number)))
        .map_err(|panic| failure(format!("drawing panicked: {}", message(&*panic)), ""))?;
    let judged = catch_unwind(AssertUnwindSafe(|| judge(&drawn.scenario, number)));
    let (duration, statistics, packets) = judged
        .unwrap_or_else(|panic| Err(format!("panicked: {}", message(&*panic))))
        .map_err(|what| failure(what, &drawn.text))?;
    Ok(Examined {
        kinds: drawn.kinds,
        duration,
        statistics,
        packets,
    })
}

type Judged = (Span, RunStatistics, [u64; 3]);

fn judge(scenario: &Scenario, number: u64) -> Result<Judged, String> {
    let print = scenario.canonical();
    match Scenario::parse(&print) {
        Ok(again) if again == *scenario => {}
        Ok(_) => return Err("another scenario is read back from the print".to_owned()),
        Err(problems) => return Err(format!("the print is not valid: {problems}")),
    }
    let mut scenario = scenario.clone();
    for _ in 0..CUTS {
        if let Some(judged) = attempt(&scenario, number)? {
            if number.is_multiple_of(REPEATED) && attempt(&scenario, number)? != Some(judged) {
                return Err("a second run differs from the first".to_owned());
            }
            return Ok(judged);
        }
        scenario.duration = scenario.duration / CUT;
    }
    Err(format!(
        "more than {LOOKS} times 4096 events in {}",
        scenario.duration
    ))
}

/// Runs the scenario; nothing if that took too many events.
fn attempt(scenario: &Scenario, number: u64) -> Result<Option<Judged>, String> {
    let recorder = Conservation::new(column_recorder(scenario, scenario.record));
    let looks = Cell::new(0);
    let is_cancelled = || {
        looks.set(looks.get() + 1);
        looks.get() > LOOKS
    };
    let Ok(outcome) = run(scenario, Seed(number), recorder, &is_cancelled) else {
        return Ok(None);
    };
    let packets = outcome.recorder.packets();
    let (columns, problems) = outcome.recorder.finish(outcome.statistics.in_flight);
    // Tables check their own columns.
    let _ = columns.into_records().tables();
    match problems.first() {
        Some(problem) => Err(problem.clone()),
        None => Ok(Some((scenario.duration, outcome.statistics, packets))),
    }
}

fn message(panic: &(dyn core::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "without a message".to_owned())
}
