//! One scenario: drawn, read back from its print, run for a bounded number of events, checked.

use crate::conservation::{Allowed, Conservation};
use crate::generator::Generator;
use sojourn_apps::CaptureConfig;
use sojourn_base::{Seed, Span};
use sojourn_engine::{RunStatistics, column_recorder, run};
use sojourn_scenario::Scenario;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Contents of a run that passed.
#[derive(Clone, Debug)]
pub struct Examined {
    /// Places and kinds of the scenario.
    pub kinds: Vec<String>,
    /// Simulated time.
    pub duration: Span,
    /// Costs of the run.
    pub statistics: RunStatistics,
    /// Packets sent, arrived, dropped.
    pub packets: [u64; 3],
}

/// A scenario that does not hold together.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Its number.
    pub number: u64,
    /// The error.
    pub what: String,
    /// Its file, if it came so far.
    pub text: String,
}

/// Bounds of the draw, and of the run.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// Number of the scenario; seed of the run.
    pub number: u64,
    /// The first throws, see [`Generator::draw_with`].
    pub throws: &'a [u8],
    /// How often a run may look whether it was cancelled: every 4096 events.
    pub looks: u32,
    /// Most simulated time.
    pub most: Span,
    /// Runs, each with a seed of its own: a run of some hundred events takes less than drawing what is run.
    pub runs: u64,
}

/// Looks of a run that fills queues. Chosen: one of a debug build takes some 50 ms at most.
const LOOKS: u32 = 6;
/// How often a run is tried again with a fraction of its time before it counts as endless.
const CUTS: u32 = 8;
/// The fraction.
const CUT: u64 = 8;
/// One scenario in this many runs twice, to compare.
const REPEATED: u64 = 16;

/// Draws scenario `number` and runs it.
///
/// # Errors The panic or the violated check.
pub fn examine(generator: &Generator, number: u64) -> Result<Examined, Box<Failure>> {
    examine_trial(generator, Trial { number, throws: &[], looks: LOOKS, most: Span::MAX, runs: 1 })
}

/// Draws what a trial asks for and runs it.
///
/// # Errors
/// As [`examine`].
pub fn examine_trial(generator: &Generator, trial: Trial<'_>) -> Result<Examined, Box<Failure>> {
    let number = trial.number;
    let failure = |what: String, text: &str| Box::new(Failure { number, what, text: text.to_owned() });
    let drawn = catch_unwind(AssertUnwindSafe(|| generator.draw_with(number, trial.throws)))
        .map_err(|panic| failure(format!("drawing panicked: {}", message(&*panic)), ""))?;
    let judged = catch_unwind(AssertUnwindSafe(|| judge(&drawn.scenario, trial)));
    let (duration, statistics, packets) = judged
        .unwrap_or_else(|panic| Err(format!("panicked: {}", message(&*panic))))
        .map_err(|what| failure(what, &drawn.text))?;
    Ok(Examined { kinds: drawn.kinds, duration, statistics, packets })
}

type Judged = (Span, RunStatistics, [u64; 3]);

fn judge(scenario: &Scenario, trial: Trial<'_>) -> Result<Judged, String> {
    let print = scenario.canonical();
    match Scenario::parse(&print) {
        Ok(again) if again == *scenario => {}
        Ok(_) => return Err("another scenario is read back from the print".to_owned()),
        Err(problems) => return Err(format!("the print is not valid: {problems}")),
    }
    let mut judged = judge_run(scenario, trial, trial.number)?;
    for run in 1..trial.runs {
        judged = judge_run(scenario, trial, trial.number + run)?;
    }
    Ok(judged)
}

/// One run, with a fraction of the time if it takes too many events.
fn judge_run(scenario: &Scenario, trial: Trial<'_>, seed: u64) -> Result<Judged, String> {
    let mut scenario = scenario.clone();
    scenario.duration = scenario.duration.min(trial.most);
    for _ in 0..CUTS {
        if let Some(judged) = attempt(&scenario, trial, seed)? {
            if seed.is_multiple_of(REPEATED) && attempt(&scenario, trial, seed)? != Some(judged) {
                return Err("a second run differs from the first".to_owned());
            }
            return Ok(judged);
        }
        scenario.duration = scenario.duration / CUT;
    }
    Err(format!("more than {} times 4096 events in {}", trial.looks, scenario.duration))
}

/// Runs the scenario; nothing if that took too many events.
fn attempt(scenario: &Scenario, trial: Trial<'_>, seed: u64) -> Result<Option<Judged>, String> {
    let topology = scenario.topology();
    let allowed = topology.links.iter().map(|link| Allowed::on(&link.config.link, &link.config.conditions));
    let columns = column_recorder(scenario, scenario.record);
    let stations = topology.links.iter().map(|link| link.station.is_some());
    // Packets of a capture have code points of their own, and so several categories.
    let one_category = topology.traffic.iter().map(|it| it.entry.application.get::<CaptureConfig>().is_none());
    let recorder = Conservation::new(columns, allowed.collect(), stations.collect(), one_category.collect());
    let looks = Cell::new(0);
    let is_cancelled = || {
        looks.set(looks.get() + 1);
        looks.get() > trial.looks
    };
    let Ok(outcome) = run(scenario, Seed(seed), recorder, &is_cancelled) else {
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
