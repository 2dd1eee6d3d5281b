//! Runs: the engine with the interpreter lock released, and the tables it leaves.

use crate::managers;
use crate::scenario::Scenario;
use crate::table::{ArrowTable, record_batch};
use arrow_array::RecordBatch;
use cpu_time::ThreadTime;
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_apps::ApplicationConfig;
use sojourn_base::{Instant, Seed, Span};
use sojourn_engine::{Outcome, RunStatistics, column_recorder};
use sojourn_metrics::run::{Datagrams, MetricRow, RunFacts, Watched, metric_rows, metric_table};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pyo3::create_exception!(
    _engine,
    Interrupted,
    PyRuntimeError,
    "The run was cancelled."
);

/// Stops runs that were given it, from any thread.
#[pyclass(frozen, module = "sojourn._engine")]
pub struct CancelToken {
    flag: Arc<AtomicBool>,
}

#[pymethods]
impl CancelToken {
    #[new]
    fn new() -> Self {
        Self {
            flag: Arc::new(AtomicBool::new(false)),
        }
    }

    fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    #[getter]
    fn cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

/// What a run cost.
#[derive(Clone, Copy)]
pub struct Cost {
    pub simulated_s: f64,
    pub wall_s: f64,
    pub cpu_s: f64,
    pub statistics: RunStatistics,
}

/// What happened in one run.
#[pyclass(frozen, module = "sojourn._engine")]
pub struct Records {
    metrics: Vec<MetricRow>,
    tables: Vec<(&'static str, RecordBatch)>,
    cost: Cost,
}

#[pymethods]
impl Records {
    #[getter]
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let entry = PyDict::new(py);
        entry.set_item("simulated_s", self.cost.simulated_s)?;
        entry.set_item("wall_s", self.cost.wall_s)?;
        entry.set_item("cpu_s", self.cost.cpu_s)?;
        entry.set_item("packet_hops", self.cost.statistics.packet_hops)?;
        entry.set_item("events", self.cost.statistics.events)?;
        Ok(entry)
    }

    /// The rows of the table `metrics`, for whoever has no use for a data frame.
    fn metrics(&self) -> Vec<MetricRow> {
        self.metrics.clone()
    }

    fn table_names(&self) -> Vec<&'static str> {
        self.tables.iter().map(|(name, _)| *name).collect()
    }

    fn table(&self, name: &str) -> PyResult<ArrowTable> {
        self.tables
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, batch)| ArrowTable::new(batch.clone()))
            .ok_or_else(|| PyKeyError::new_err(format!("this run has no table {name:?}")))
    }
}

/// Run one scenario; the interpreter lock is released.
#[pyfunction]
#[pyo3(signature = (scenario, seed, cancel=None, watch=None))]
fn run(
    py: Python<'_>,
    scenario: &Scenario,
    seed: u64,
    cancel: Option<&CancelToken>,
    watch: Option<Py<PyAny>>,
) -> PyResult<Records> {
    let scenario = &scenario.inner;
    let flag = cancel.map(|token| Arc::clone(&token.flag));
    let watch = watch.map(|callback| Watch::new(callback, scenario.duration));
    py.detach(|| {
        let recorder = column_recorder(scenario, scenario.record);
        drop(managers::take_failure()); // of a run that ended before anybody asked
        let is_cancelled = |now| {
            flag.as_ref()
                .is_some_and(|flag| flag.load(Ordering::Relaxed))
                || managers::has_failed()
                || watch.as_ref().is_some_and(|watch| watch.objects(now))
        };
        let (outcome, cost) = timed(scenario, |scenario| {
            sojourn_engine::run_watched(scenario, Seed(seed), recorder, &is_cancelled)
        });
        if let Some(error) = watch.and_then(|watch| watch.raised.into_inner()) {
            return Err(error);
        }
        if let Some(error) = managers::take_failure() {
            return Err(error);
        }
        let Outcome {
            recorder,
            statistics,
        } = outcome.map_err(|cancelled| Interrupted::new_err(cancelled.to_string()))?;
        let records = recorder.into_records();
        let metrics = metric_rows(&facts(scenario), &records);
        let mut tables = vec![metric_table(&metrics)];
        tables.extend(records.tables());
        let tables = tables
            .into_iter()
            .map(|table| Ok((table.name, record_batch(table)?)))
            .collect::<PyResult<Vec<_>>>()?;
        Ok(Records {
            metrics,
            tables,
            cost: Cost { statistics, ..cost },
        })
    })
}

/// Somebody in Python who is told from time to time how far a run is, and may stop it by an exception.
struct Watch {
    callback: Py<PyAny>,
    duration: Span,
    last: Cell<std::time::Instant>,
    raised: RefCell<Option<PyErr>>,
}

impl Watch {
    /// Time between two calls. chosen: a quarter of the 0.2 s within which an interrupt has to work.
    const EVERY: Duration = Duration::from_millis(50);

    #[expect(clippy::disallowed_methods, reason = "people wait by the clock")]
    fn new(callback: Py<PyAny>, duration: Span) -> Self {
        Self {
            callback,
            duration,
            last: Cell::new(std::time::Instant::now()),
            raised: RefCell::new(None),
        }
    }

    /// Calls back with the share of the run that is done if it is time to; whether that raised.
    fn objects(&self, now: Instant) -> bool {
        if self.last.get().elapsed() < Self::EVERY {
            return false;
        }
        let share = now.saturating_since(Instant::ZERO).as_secs_f64() / self.duration.as_secs_f64();
        let outcome = Python::attach(|py| self.callback.call1(py, (share,)).map(drop));
        #[expect(clippy::disallowed_methods, reason = "people wait by the clock")]
        self.last.set(std::time::Instant::now());
        let objects = outcome.is_err();
        self.raised.replace(outcome.err());
        objects
    }
}

/// What the metrics need to know of the scenario.
fn facts(scenario: &sojourn_scenario::Scenario) -> RunFacts {
    let topology = scenario.topology();
    let links = topology.links.iter();
    RunFacts {
        duration: scenario.duration,
        allowance: links
            .map(|link| link.config.link.allowance(scenario.duration))
            .collect(),
        datagrams: topology
            .traffic
            .iter()
            .map(|placed| match &placed.entry.application {
                ApplicationConfig::ConstantRate(config) if config.is_call => Datagrams::Call,
                ApplicationConfig::Probe(_) => Datagrams::Messages,
                other if other.datagrams().is_some() => Datagrams::Stream,
                _ => Datagrams::Messages,
            })
            .collect(),
        lasted: topology
            .traffic
            .iter()
            .map(|placed| match &placed.entry.application {
                ApplicationConfig::Bulk(config) => config
                    .stop
                    .filter(|stop| config.start < *stop && *stop <= scenario.duration)
                    .map(|stop| stop.saturating_sub(config.start)),
                _ => None,
            })
            .collect(),
        probes: topology
            .traffic
            .iter()
            .map(|placed| match &placed.entry.application {
                ApplicationConfig::Probe(config) => Some(Watched {
                    from: config.loaded_from,
                    until: config.loaded_until.unwrap_or(scenario.duration),
                }),
                _ => None,
            })
            .collect(),
    }
}

/// Calls `work` and measures what it takes.
pub fn timed<T>(
    scenario: &sojourn_scenario::Scenario,
    work: impl FnOnce(&sojourn_scenario::Scenario) -> T,
) -> (T, Cost) {
    #[expect(clippy::disallowed_methods, reason = "measures the wall time of a run")]
    let wall = std::time::Instant::now();
    let cpu = ThreadTime::now();
    let result = work(scenario);
    let cost = Cost {
        simulated_s: scenario.duration.as_secs_f64(),
        wall_s: wall.elapsed().as_secs_f64(),
        cpu_s: cpu.elapsed().as_secs_f64(),
        statistics: RunStatistics::default(),
    };
    (result, cost)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CancelToken>()?;
    module.add_class::<Records>()?;
    module.add("Interrupted", module.py().get_type::<Interrupted>())?;
    module.add_function(wrap_pyfunction!(run, module)?)
}
