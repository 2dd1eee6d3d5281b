//! Queue managers judged by their contract and the laws of their documents.

use crate::managers;
use crate::scenario::Scenario;
use cpu_time::ThreadTime;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use sojourn_base::Direction;
use sojourn_check::{Cost, Subject, rows};
use sojourn_queue::ManagerConfig;
use std::cell::RefCell;

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
    let rate = scenario.inner.access_rate(Direction::Upstream);
    let config = scenario.inner.access[Direction::Upstream].link.queue.clone().at(rate);
    let is_own = matches!(config.kind(), "python" | "plugin");
    let finding = py.detach(|| {
        drop(managers::take_failure()); // of a run that ended before anybody asked
        row.judge(&Subject {
            like,
            make: &|| config.build(),
            limit: config.limit(),
            has_service_queues: config.has_service_queues(),
            draws_here: !is_own,
            has_failed: &managers::has_failed,
            cost: is_own.then_some(Cost { processor_ns, resident }),
        })
    });
    match managers::take_failure() {
        Some(error) => Err(error),
        None => Ok((finding.verdict.as_str(), finding.expected, finding.found)),
    }
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
    module.add_function(wrap_pyfunction!(check_row, module)?)
}
