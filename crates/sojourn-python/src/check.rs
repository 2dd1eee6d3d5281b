//! Queue managers judged by their contract and the laws of their documents.

use crate::managers;
use crate::scenario::Scenario;
use cpu_time::ThreadTime;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use sojourn_base::Direction;
use sojourn_check::{Cost, Subject, packets_held, rows};
use sojourn_queue::ManagerConfig;
use std::cell::{Cell, RefCell};

/// Identifier, statement and source of each row that a manager of kind `like` must keep.
#[pyfunction]
fn check_rows(like: &str) -> Vec<(&'static str, &'static str, &'static str)> {
    let listed = rows(like).into_iter();
    listed.map(|row| (row.id, row.statement, row.source)).collect()
}

/// Judge the queue of a scenario's upstream by one row: verdict, what was expected, what was found. The interpreter lock
/// is released.
#[pyfunction]
fn check_row(py: Python<'_>, scenario: &Scenario, like: &str, id: &str) -> PyResult<(&'static str, String, String)> {
    let row = rows(like)
        .into_iter()
        .find(|row| row.id == id)
        .ok_or_else(|| PyKeyError::new_err(format!("no row {id:?} of {like:?}")))?;
    let finding = py.detach(|| of_subject(scenario, like, |subject| row.judge(subject)))?;
    Ok((finding.verdict.as_str(), finding.expected, finding.found))
}

/// Packets that wait at once in the queue of a scenario's upstream before one is dropped for want of room. None if it is not
/// packets that it counts, or if they are very many. The interpreter lock is released.
#[pyfunction]
fn packets_kept(py: Python<'_>, scenario: &Scenario) -> PyResult<Option<u32>> {
    py.detach(|| of_subject(scenario, "", packets_held))
}

/// Asks something of the queue of a scenario's upstream.
fn of_subject<T>(scenario: &Scenario, like: &str, ask: impl FnOnce(&Subject<'_>) -> T) -> PyResult<T> {
    let rate = scenario.inner.access_rate(Direction::Upstream);
    let config = scenario.inner.access[Direction::Upstream].link.queue.clone().at(rate);
    let is_own = matches!(config.kind(), "python" | "plugin");
    drop(managers::take_failure()); // of an earlier run
    let found = ask(&Subject {
        like,
        make: &|| config.build(),
        limit: config.limit(),
        has_service_queues: config.has_service_queues(),
        choose_draws: if is_own { Some(&choose) } else { None },
        has_failed: &managers::has_failed,
        cost: is_own.then_some(Cost { processor_ns, resident }),
    });
    managers::take_failure().map_or(Ok(found), Err)
}

thread_local! {
    /// Constant that replaces random numbers of this thread's plugins, if a law sets one; true if a plugin has drawn.
    static CHOSEN: Cell<(Option<f64>, bool)> = const { Cell::new((None, false)) };
}

fn choose(unit: Option<f64>) -> bool {
    CHOSEN.replace((unit, false)).1
}

/// The number that a law hands to plugins of this thread in place of a random one, if it does.
#[pyfunction]
fn chosen_draw() -> Option<f64> {
    let (unit, _) = CHOSEN.get();
    CHOSEN.set((unit, true));
    unit
}

/// Kinds of queue managers, in the order of the reference page; those of this process's plugins and classes apart.
#[pyfunction]
fn manager_kinds() -> Vec<&'static str> {
    let names = ManagerConfig::kinds().into_iter().map(|kind| kind.info().name);
    names.filter(|name| !matches!(*name, "python" | "plugin")).collect()
}

thread_local! {
    /// Since when this thread counts.
    static BEGAN: RefCell<ThreadTime> = RefCell::new(ThreadTime::now());
}

fn processor_ns() -> u64 {
    let elapsed = BEGAN.with_borrow(ThreadTime::elapsed);
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

/// Resident memory of this process, as Linux tells it.
fn resident() -> u64 {
    const PAGE: u64 = 4096;
    let told = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = told.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0_u64) * PAGE
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_rows, module)?)?;
    module.add_function(wrap_pyfunction!(manager_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(check_row, module)?)?;
    module.add_function(wrap_pyfunction!(packets_kept, module)?)?;
    module.add_function(wrap_pyfunction!(chosen_draw, module)?)
}
