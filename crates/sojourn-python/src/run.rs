//! Runs: the engine with the interpreter lock released, and the tables it leaves.

use crate::managers;
use crate::scenario::Scenario;
use crate::table::{ArrowTable, record_batch};
use arrow_array::RecordBatch;
use cpu_time::ThreadTime;
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_base::{Direction, Instant, Seed, Span};
use sojourn_capture::simulated::{Form, Sink};
use sojourn_capture::{Qlog, SimulatedCapture, Writers, Written};
use sojourn_engine::{Interrupt, Outcome, Progress, RunStatistics, column_recorder, flow_keys};
use sojourn_live::facts::facts;
use sojourn_metrics::run::{MetricRow, RunFacts, metric_rows, metric_table};
use sojourn_record::Recorder;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

pyo3::create_exception!(_engine, Interrupted, PyRuntimeError, "The run was cancelled.");

pyo3::create_exception!(
    _engine,
    MemoryExceeded,
    PyRuntimeError,
    "The run needs more memory than it may take; the arguments are the need and the remedy."
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
        Self { flag: Arc::new(AtomicBool::new(false)) }
    }

    fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    #[getter]
    fn cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

/// Costs of a run.
#[derive(Clone, Copy)]
pub struct Cost {
    pub simulated_s: f64,
    pub wall_s: f64,
    pub cpu_s: f64,
    pub statistics: RunStatistics,
}

/// Records of one run.
#[pyclass(frozen, module = "sojourn._engine")]
pub struct Records {
    metrics: Vec<MetricRow>,
    rest: Mutex<Rest>,
    cost: Cost,
    written: Written,
}

/// The tables beside the metrics, which most runs of a study are never asked for.
enum Rest {
    /// As the run left them, and tables that are no simulation's.
    Recorded(Box<sojourn_record::Records>, Vec<sojourn_record::Table>),
    Tables(Vec<(&'static str, RecordBatch)>),
}

impl Records {
    /// The tables beside the metrics, made when they are first asked for.
    fn rest(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, RecordBatch)>> {
        py.detach(|| {
            let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
            if let Rest::Recorded(records, more) = &mut *rest {
                let tables = records.tables().into_iter().chain(more.drain(..));
                let tables =
                    tables.map(|table| Ok((table.name, record_batch(table)?))).collect::<PyResult<Vec<_>>>()?;
                *rest = Rest::Tables(tables);
            }
            match &*rest {
                Rest::Tables(tables) => Ok(tables.clone()),
                Rest::Recorded(..) => unreachable!("they have just been made"),
            }
        })
    }
}

#[pymethods]
impl Records {
    /// Packets of captures, events of qlog and its files that were written while it ran.
    #[getter]
    const fn written(&self) -> (u64, u64, usize) {
        (self.written.packets, self.written.qlog.0, self.written.qlog.1)
    }

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

    /// Returns the rows of the table `metrics`, without a data frame.
    fn metrics(&self) -> Vec<MetricRow> {
        self.metrics.clone()
    }

    fn table_names(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        let rest = self.rest(py)?;
        let names = rest.into_iter().map(|(name, _)| name);
        Ok(std::iter::once(METRICS).chain(names).collect())
    }

    fn table(&self, py: Python<'_>, name: &str) -> PyResult<ArrowTable> {
        if name == METRICS {
            return record_batch(metric_table(&self.metrics)).map(ArrowTable::new);
        }
        self.rest(py)?
            .into_iter()
            .find(|(known, _)| *known == name)
            .map(|(_, batch)| ArrowTable::new(batch))
            .ok_or_else(|| PyKeyError::new_err(format!("this run has no table {name:?}")))
    }
}

/// Files that a run writes into existing directories, beside its records.
#[derive(Clone, Debug, Default)]
struct Beside {
    /// Captures of links, and whether each place has a file of its own.
    captures: Option<(PathBuf, bool)>,
    qlog: Option<PathBuf>,
}

impl Beside {
    /// The recorders that write it; `None` if nothing is asked for.
    fn writers(&self, scenario: &sojourn_scenario::Scenario) -> io::Result<Option<Writers>> {
        if self.captures.is_none() && self.qlog.is_none() {
            return Ok(None);
        }
        let topology = scenario.topology();
        let links = topology.links.iter();
        let links: Vec<(String, Direction)> = links.map(|link| (link.subject.clone(), link.direction)).collect();
        let mut writers = Writers::default();
        if let Some((directory, apart)) = &self.captures {
            let keys = Box::new(flow_keys(scenario));
            let mut open = |name: &str| -> io::Result<Sink> {
                let file = File::create_new(directory.join(name))?;
                Ok(Box::new(BufWriter::with_capacity(1 << 20, file)))
            };
            let form = if *apart { Form::Places } else { Form::Ends };
            writers.capture = Some(SimulatedCapture::new(&links, form, keys, &mut open)?);
        }
        if let Some(directory) = self.qlog.clone() {
            let traffic = topology.traffic.iter().map(|placed| {
                let stack = placed.entry.stack.as_ref();
                // An entry without a stack has no connections, and no segments.
                let segment = stack.map_or(0, |stack| stack.config.maximum_segment_size);
                (placed.subject.clone(), segment)
            });
            let append = Box::new(move |name: &str, text: &str| {
                let path = directory.join(name);
                let mut file = OpenOptions::new().append(true).create(true).open(path)?;
                file.write_all(text.as_bytes())
            });
            let links = links.iter().map(|(name, _)| name.as_str());
            writers.qlog = Some(Qlog::new(links, traffic.collect(), append));
        }
        Ok(Some(writers))
    }
}

/// Run one scenario; the interpreter lock is released. With `pcap` and `qlog`, directories that are there, packets and
/// connections are written while it runs; `apart` gives each place a file of classic form.
///
/// The work is done on a thread of its own while this one looks for interrupts: whatever the run computes, they are
/// obeyed. A run that does not notice at once is left to itself; it ends when it does.
#[pyfunction]
#[pyo3(signature = (scenario, seed, cancel=None, watch=None, memory=None, pcap=None, apart=false, qlog=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
fn run(
    py: Python<'_>,
    scenario: &Scenario,
    seed: u64,
    cancel: Option<&CancelToken>,
    watch: Option<Py<PyAny>>,
    memory: Option<u64>,
    pcap: Option<PathBuf>,
    apart: bool,
    qlog: Option<PathBuf>,
) -> PyResult<Records> {
    let beside = Beside { captures: pcap.map(|directory| (directory, apart)), qlog };
    let scenario = scenario.inner.clone();
    let budget = memory.unwrap_or(u64::MAX);
    refuse_what_needs_more(&scenario, budget)?;
    refuse_absent_libraries(&scenario)?;
    let flag = cancel.map(|token| Arc::clone(&token.flag));
    let state = Arc::new(RunState::default());
    py.detach(|| {
        let duration = scenario.duration;
        let (sender, ended) = mpsc::sync_channel(1);
        let worker = thread::Builder::new()
            .name("sojourn-run".to_owned())
            .stack_size(STACK_BYTES)
            .spawn({
                let state = Arc::clone(&state);
                move || {
                    let outcome = simulate(&scenario, Seed(seed), &state, budget, &beside);
                    // The receiver is gone if the run was given up.
                    let _ = sender.send(outcome);
                }
            })
            .map_err(|error| PyRuntimeError::new_err(format!("no thread for the run: {error}")))?;
        let mut patience = PATIENCE;
        let mut until_told = TELL_EVERY;
        let mut stopped_for: Option<PyErr> = None;
        loop {
            let outcome = match ended.recv_timeout(LOOK_EVERY) {
                Ok(outcome) => outcome,
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(()) => unreachable!("a thread that ends well has sent something"),
                },
                Err(RecvTimeoutError::Timeout) => {
                    until_told = until_told.saturating_sub(1);
                    if stopped_for.is_none() && until_told == 0 {
                        until_told = TELL_EVERY;
                        stopped_for = tell(watch.as_ref(), &state, duration).err();
                    }
                    let cancelled = flag.as_ref().is_some_and(|f| f.load(Ordering::Relaxed));
                    if cancelled || stopped_for.is_some() {
                        state.stop.set();
                        patience = patience.saturating_sub(1);
                    }
                    if patience > 0 {
                        continue;
                    }
                    Err(Failure::Cancelled)
                }
            };
            return match (stopped_for, outcome) {
                (Some(error), _) | (None, Err(Failure::Raised(error))) => Err(error),
                (None, Ok(records)) => Ok(records),
                (None, Err(Failure::Cancelled)) => Err(Interrupted::new_err(sojourn_engine::Cancelled.to_string())),
            };
        }
    })
}

/// Raises if a library of the scenario is not loaded in this process.
fn refuse_absent_libraries(scenario: &sojourn_scenario::Scenario) -> PyResult<()> {
    let topology = scenario.topology();
    let stacks = topology.traffic.iter().filter_map(|placed| placed.entry.stack.as_ref());
    match stacks.filter_map(|stack| stack.library.as_ref()).find(|library| library.build().is_none()) {
        Some(library) if library.kernel().is_some() => {
            Err(PyValueError::new_err("a run with the TCP of a kernel is made in its guest, and not here"))
        }
        Some(library) => {
            let hint = "give its file: --plugin FILE";
            Err(PyValueError::new_err(format!("the library \"{}\" was not given to this run: {hint}", library.name)))
        }
        None => Ok(()),
    }
}

/// Stack of a run's thread. chosen: what the main thread of a process has on Linux.
const STACK_BYTES: usize = 8 << 20;

/// Time between two looks for interrupts. chosen: a tenth of the 0.2 s within which one has to work.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Looks between two calls of Python. chosen: 40 ms, so that a signal handler has its turn in time.
const TELL_EVERY: u32 = 2;

/// Looks that a run which shall stop is waited for. chosen: 60 ms, which with those above stays below 0.2 s; most runs
/// notice within a millisecond.
const PATIENCE: u32 = 3;

/// State shared by the thread of a run and the one that waits for it.
#[derive(Default)]
struct RunState {
    /// The run shall end.
    stop: Interrupt,
    /// The time that it has reached, in ps.
    reached: AtomicU64,
    /// Bytes that it has taken, if that was too much.
    exceeded: AtomicU64,
}

/// Why there are no records.
enum Failure {
    Cancelled,
    /// By a queue manager, by Python while it watched, or for want of memory.
    Raised(PyErr),
}

/// Tells Python how far a run is, and lets it see signals.
fn tell(watch: Option<&Py<PyAny>>, state: &RunState, duration: Span) -> PyResult<()> {
    let share = state.reached.load(Ordering::Relaxed) as f64 / duration.as_ps().max(1) as f64;
    Python::attach(|py| {
        py.check_signals()?;
        if let Some(watch) = watch {
            watch.call1(py, (share,))?;
        }
        Ok(())
    })
}

/// The run itself.
fn simulate(
    scenario: &sojourn_scenario::Scenario,
    seed: Seed,
    state: &RunState,
    budget: u64,
    beside: &Beside,
) -> Result<Records, Failure> {
    let recorder = column_recorder(scenario, scenario.record);
    match beside.writers(scenario).map_err(failed_to_write)? {
        None => {
            let (recorder, cost) = drive(scenario, seed, state, budget, recorder)?;
            let left = recorder.into_records();
            Ok(records_of(&facts(scenario), left, Vec::new(), cost))
        }
        Some(writers) => {
            let both = (recorder, writers);
            let ((recorder, writers), cost) = drive(scenario, seed, state, budget, both)?;
            let written = writers.finish().map_err(failed_to_write)?;
            let left = recorder.into_records();
            let records = records_of(&facts(scenario), left, Vec::new(), cost);
            Ok(Records { written, ..records })
        }
    }
}

fn failed_to_write(error: io::Error) -> Failure {
    Failure::Raised(error.into())
}

/// Runs into a recorder, which comes back full.
fn drive<R: Recorder>(
    scenario: &sojourn_scenario::Scenario,
    seed: Seed,
    state: &RunState,
    budget: u64,
    recorder: R,
) -> Result<(R, Cost), Failure> {
    drop(managers::take_failure()); // of an earlier run
    let is_cancelled = |progress: Progress| {
        let reached = progress.now.saturating_since(Instant::ZERO).as_ps();
        state.reached.store(reached, Ordering::Relaxed);
        let bytes = progress.bytes as u64;
        if bytes > budget {
            state.exceeded.store(bytes, Ordering::Relaxed);
        }
        bytes > budget || state.stop.is_set() || managers::has_failed()
    };
    let (outcome, cost) =
        timed(scenario, |scenario| sojourn_engine::run_watched(scenario, seed, recorder, &state.stop, &is_cancelled));
    if let Some(error) = managers::take_failure() {
        return Err(Failure::Raised(error));
    }
    let exceeded = state.exceeded.load(Ordering::Relaxed);
    if exceeded > 0 {
        return Err(Failure::Raised(too_much(
            format!(
                "records and packets take {} after {:.3} s",
                gigabytes(exceeded),
                state.reached.load(Ordering::Relaxed) as f64 / 1e12
            ),
            budget,
            "fewer records (record.datagrams = false, wider bins), shorter queues",
        )));
    }
    let Outcome { recorder, statistics } = outcome.map_err(|_| Failure::Cancelled)?;
    Ok((recorder, Cost { statistics, ..cost }))
}

/// Returns the records of a run with their metrics, and `more` tables that simulations do not have.
pub fn records_of(
    facts: &RunFacts,
    recorded: sojourn_record::Records,
    more: Vec<sojourn_record::Table>,
    cost: Cost,
) -> Records {
    Records {
        metrics: metric_rows(facts, &recorded),
        rest: Mutex::new(Rest::Recorded(Box::new(recorded), more)),
        cost,
        written: Written::default(),
    }
}

/// Name of the table that each run has.
const METRICS: &str = "metrics";

/// Refuses a run that is known to need more than its budget.
fn refuse_what_needs_more(scenario: &sojourn_scenario::Scenario, budget: u64) -> PyResult<()> {
    let needs = sojourn_engine::memory::needs(scenario);
    let total = needs.iter().fold(0_u64, |sum, need| sum.saturating_add(need.bytes));
    let largest = &needs[0];
    if total <= budget {
        return Ok(());
    }
    Err(too_much(
        format!(
            "it would take {}, of which {} {}{}",
            gigabytes(total),
            gigabytes(largest.bytes),
            largest.what,
            if largest.most.is_empty() { String::new() } else { format!(" (most of it for \"{}\")", largest.most) }
        ),
        budget,
        largest.hint,
    ))
}

/// The error of a run that is too large; its arguments are a sentence and a hint.
fn too_much(what: String, budget: u64, hint: &'static str) -> PyErr {
    MemoryExceeded::new_err((format!("{what}, and the budget is {}", gigabytes(budget)), hint))
}

fn gigabytes(bytes: u64) -> String {
    let bytes = bytes as f64;
    if bytes < 1e9 { format!("{:.0} MB", bytes / 1e6) } else { format!("{:.1} GB", bytes / 1e9) }
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
    module.add("MemoryExceeded", module.py().get_type::<MemoryExceeded>())?;
    module.add_function(wrap_pyfunction!(run, module)?)
}
