//! Golden traces: recorded of managers, and replayed into them.

use crate::managers;
use crate::scenario::Scenario;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_base::{BitRate, Direction, Seed, Span};
use sojourn_check::golden::{Arrivals, COURSE_RATE, Load, Observed, record};
use sojourn_queue::ManagerConfig;
use sojourn_queue::trace::{Replay, Trace};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::PoisonError;

fn wrong(problem: impl ToString) -> PyErr {
    PyValueError::new_err(problem.to_string())
}

fn told(mut trace: Trace, rfc: String, made_by: String) -> String {
    trace.header.rfc = rfc;
    trace.header.made_by = made_by;
    trace.to_string()
}

/// Lead the manager of a line through the course, and return the trace.
#[pyfunction]
fn golden_course(py: Python<'_>, line: &str, rfc: String, made_by: String) -> PyResult<String> {
    let config = ManagerConfig::from_line(line, COURSE_RATE).map_err(wrong)?;
    Ok(py.detach(|| told(record(&config, &Load::course()), rfc, made_by)))
}

/// The arrivals of a queue, once the scenario that came with it has run.
#[pyclass(frozen, module = "sojourn._engine")]
struct QueueArrivals {
    config: ManagerConfig,
    rate: BitRate,
    arrivals: Arrivals,
}

#[pymethods]
impl QueueArrivals {
    /// The trace of these arrivals at the same manager, before a line of the link's rate.
    fn trace(&self, py: Python<'_>, rfc: String, made_by: String) -> String {
        py.detach(|| {
            let arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
            let load = Load::of_run(&arrivals, self.rate);
            told(record(&self.config, &load), rfc, made_by)
        })
    }
}

/// The scenario with a queue whose arrivals are written down, and where that is.
#[pyfunction]
fn observe_queue(scenario: &Scenario, direction: &str) -> PyResult<(Scenario, QueueArrivals)> {
    let direction = match direction {
        "upstream" => Direction::Upstream,
        "downstream" => Direction::Downstream,
        other => return Err(wrong(format!("no direction \"{other}\""))),
    };
    let mut inner = scenario.inner.clone();
    let rate = inner.access_rate(direction);
    let queue = &mut inner.access[direction].link.queue;
    let config = queue.clone().at(rate);
    if matches!(config.kind(), "python" | "plugin") {
        return Err(wrong("a trace is of a manager that a line names, and not of a plugin"));
    }
    let (observed, arrivals) = Observed::new(config.clone());
    *queue = observed.into();
    let seen = QueueArrivals { config, rate, arrivals };
    Ok((Scenario { inner }, seen))
}

thread_local! {
    /// Numbers of the trace that this thread replays into a plugin.
    static DRAWS: RefCell<VecDeque<f64>> = const { RefCell::new(VecDeque::new()) };
}

/// The next number of the trace that this thread replays into a plugin.
#[pyfunction]
fn next_draw() -> PyResult<f64> {
    let next = DRAWS.with_borrow_mut(VecDeque::pop_front);
    next.ok_or_else(|| wrong("it draws more numbers than the trace has"))
}

/// Manager, calls, and the line and the words of a difference.
type Replayed = (String, u64, Option<(u32, String)>);

/// Replay a golden trace into the manager of a line, or its own. The interpreter lock is released.
#[pyfunction]
fn replay_trace(py: Python<'_>, text: &str, line: Option<&str>, how: &str, slack_ns: u64) -> PyResult<Replayed> {
    drop(managers::take_failure()); // of an earlier run
    let trace = Trace::read(text).map_err(wrong)?;
    let config = match line {
        Some(line) => ManagerConfig::from_line(line, trace.header.rate.unwrap_or_default()).map_err(wrong)?,
        None => trace.config().map_err(wrong)?,
    };
    let is_own = matches!(config.kind(), "python" | "plugin");
    let found = py.detach(|| {
        let mut stream = Seed(1).stream("golden/law");
        let mut own = || stream.unit();
        let done = trace.replay_into(Replay {
            manager: config.build(),
            has_service_queues: config.has_service_queues(),
            own_timers: is_own || how != "exact",
            draws_elsewhere: is_own && how != "law",
            own_draws: (how == "law").then_some(&mut own),
            draw: &mut |unit| {
                DRAWS.with_borrow_mut(|draws| match unit {
                    Some(unit) if is_own => draws.push_back(unit),
                    _ => draws.clear(),
                });
            },
            has_failed: &managers::has_failed,
        });
        let difference = match how {
            "law" => trace.difference_by_law(&done),
            "slack" => trace.difference_with_slack(&done, Span::from_ns(slack_ns)),
            _ => trace.difference(&done),
        };
        (done.calls, difference)
    });
    if let Some(error) = managers::take_failure() {
        return Err(error);
    }
    let difference = found.1.map(|found| (found.line, found.message));
    Ok((config.to_line(), found.0, difference))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<QueueArrivals>()?;
    module.add_function(wrap_pyfunction!(golden_course, module)?)?;
    module.add_function(wrap_pyfunction!(observe_queue, module)?)?;
    module.add_function(wrap_pyfunction!(next_draw, module)?)?;
    module.add_function(wrap_pyfunction!(replay_trace, module)?)
}
