//! The emulator: a running emulation, its state, and its result.

use crate::run::{Cost, Records, records_of};
use crate::scenario::Scenario;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_base::quantity::parse;
use sojourn_base::{BitRate, Bytes, Direction, Limit, Seed, Span};
use sojourn_emu::linux::between::Interfaces;
use sojourn_emu::linux::error::Refused;
use sojourn_emu::linux::inside::{Commands, join};
use sojourn_emu::linux::namespace::Setup;
use sojourn_emu::linux::netlink::RouteMetrics;
use sojourn_emu::linux::session::{Around, Request, Session};
use sojourn_emu::linux::tun::Superpackets;
use sojourn_emu::plan::{ETHERNET_HEADER, Options};
use sojourn_emu::{DirectionView, Ends, Finished, Lateness, Plan, Snapshot, Summary};
use sojourn_engine::RunStatistics;
use sojourn_metrics::run::{Datagrams, RunFacts};
use std::ffi::{CString, OsString};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::sync::{Mutex, PoisonError};

pyo3::create_exception!(
    _engine,
    EmulationRefused,
    PyRuntimeError,
    "An emulation is impossible; the arguments are the error, the remedy, and true for wrong usage."
);

fn refused(error: Refused) -> PyErr {
    EmulationRefused::new_err((error.message, error.hint, error.is_usage))
}

fn usage(message: String, hint: &str) -> PyErr {
    EmulationRefused::new_err((message, hint.to_owned(), true))
}

/// An emulation that runs.
#[pyclass(frozen, module = "sojourn._engine")]
pub struct Emulation {
    session: Mutex<Option<Session>>,
    scenario: sojourn_scenario::Scenario,
    /// Traffic entries, those for what matches none among them.
    entries: usize,
    /// Warnings about it.
    #[pyo3(get)]
    told: Vec<String>,
    priority: Mutex<String>,
    /// Number of the thread that moves packets.
    #[pyo3(get)]
    loop_thread: i32,
    #[pyo3(get)]
    offload: &'static str,
    #[pyo3(get)]
    seed: u64,
    #[pyo3(get)]
    command: Vec<OsString>,
    /// Far addresses with their round trips in s.
    #[pyo3(get)]
    far: Vec<(String, f64)>,
}

#[pymethods]
impl Emulation {
    /// Makes namespaces and devices and starts the loop; the command waits.
    #[new]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        wanted: &Bound<'_, PyDict>,
        command: Vec<OsString>,
        environment: Vec<OsString>,
    ) -> PyResult<Self> {
        let (request, told) = request(&scenario.inner, wanted, &command, environment)?;
        let far = request.plan.far.iter().map(|end| (end.v4.to_string(), end.rtt.as_secs_f64())).collect();
        let seed = request.plan.seed.0;
        let entries = request.plan.entries.len() + sojourn_emu::classify::REST.len();
        let session = py.detach(|| Session::start(&request)).map_err(refused)?;
        Ok(Self {
            scenario: scenario.inner.clone(),
            priority: Mutex::new(session.priority().to_string()),
            loop_thread: session.loop_thread,
            offload: session.superpackets.0.min(session.superpackets.1).as_str(),
            entries,
            told,
            seed,
            command,
            far,
            session: Mutex::new(Some(session)),
        })
    }

    /// Returns the scheduling of the loop at its last check.
    #[getter]
    fn priority(&self) -> String {
        let priority = self.priority.lock().unwrap_or_else(PoisonError::into_inner);
        priority.clone()
    }

    /// Looks how the loop is scheduled now.
    fn look_at_priority(&self, py: Python<'_>) -> PyResult<String> {
        let now = self.with(py, |session| session.priority().to_string())?;
        let mut priority = self.priority.lock().unwrap_or_else(PoisonError::into_inner);
        priority.clone_from(&now);
        Ok(now)
    }

    /// Starts the command.
    fn go(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |session| session.go())?.map_err(refused)
    }

    /// Waits for the end, at most `seconds`; returns true if it is over.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let wanted = std::time::Duration::from_secs_f64(seconds.clamp(0.0, 1e6));
        let mut left = u64::try_from(wanted.as_millis()).unwrap_or(0);
        loop {
            // So that a signal has its turn in time.
            let now = left.min(50);
            let is_over = self.with(py, |session| session.wait(now as u16))?;
            py.check_signals()?;
            left -= now;
            if is_over || left == 0 {
                return Ok(is_over);
            }
        }
    }

    /// Returns its state.
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let snapshot = self.with(py, |session| session.snapshot())?;
        view(py, &self.scenario, &snapshot)
    }

    /// Descriptors of the namespaces; they stay the emulation's.
    fn namespaces(&self, py: Python<'_>) -> PyResult<Vec<i32>> {
        self.with(py, |session| session.namespaces().iter().map(AsRawFd::as_raw_fd).collect())
    }

    /// Ends it.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Session::end)
    }

    /// Waits until all has ended, and returns its summary and its records.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let session = self.lock().take().ok_or_else(over)?;
        let outcome = py.detach(|| session.finish());
        let result = PyDict::new(py);
        result.set_item("ended", outcome.ended.as_str())?;
        result.set_item("status", outcome.status)?;
        result.set_item("summary", summary(py, &outcome.finished.summary)?)?;
        let failed = outcome.finished.capture_failed.as_ref();
        result.set_item("capture_failed", failed.map(ToString::to_string))?;
        result.set_item("failed", outcome.failed)?;
        result.set_item("records", self.records(outcome.finished))?;
        Ok(result)
    }
}

fn over() -> PyErr {
    PyRuntimeError::new_err("the emulation has been finished")
}

impl Emulation {
    fn records(&self, finished: Finished) -> Records {
        let duration = finished.summary.duration;
        let allowance = Direction::BOTH.map(|direction| {
            let link = &self.scenario.access[direction].link;
            link.allowance(duration)
        });
        let facts = RunFacts {
            duration,
            from: Span::ZERO,
            allowance: allowance.to_vec(),
            // The kind of real datagrams is unknown; messages get no score.
            datagrams: vec![Datagrams::Messages; self.entries],
            lasted: vec![None; self.entries],
            probes: vec![None; self.entries],
            shared: None,
            games: vec![None; self.entries],
        };
        let cost = Cost {
            simulated_s: duration.as_secs_f64(),
            wall_s: duration.as_secs_f64(),
            cpu_s: 0.0,
            statistics: RunStatistics::default(),
        };
        records_of(&facts, finished.records, finished.tables, cost)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Session) -> T + Send) -> PyResult<T> {
        py.detach(|| self.lock().as_mut().map(work)).ok_or_else(over)
    }
}

/// Returns the plan, and the ends of the emulation, from the options.
fn request(
    scenario: &sojourn_scenario::Scenario,
    wanted: &Bound<'_, PyDict>,
    command: &[OsString],
    environment: Vec<OsString>,
) -> PyResult<(Request, Vec<String>)> {
    let get = |name: &str| option(wanted, name);
    let rtts: Vec<String> = get("rtt")?.extract()?;
    let rtts = rtts.iter().map(|text| span("--rtt", text));
    let rtts = rtts.collect::<PyResult<Vec<_>>>()?;
    let seed = Seed(get("seed")?.extract()?);
    let between: Option<(String, String)> = get("between")?.extract()?;
    let options = Options {
        round_trips: rtts,
        seed: Some(seed),
        link_header: if between.is_some() { ETHERNET_HEADER } else { 0 },
    };
    let (plan, told) = Plan::of(scenario, &options).map_err(|why| usage(why.message, &why.hint))?;
    if between.is_some() && plan.far.len() > 1 {
        return Err(usage(
            format!("{} round trips, and one way between two interfaces", plan.far.len()),
            "--rtt once, or emulate.rtt with one round trip",
        ));
    }
    let lasts: Option<String> = get("lasts")?.extract()?;
    let lasts = lasts.map(|text| span("--for", &text)).transpose()?;
    if lasts == Some(Span::ZERO) {
        let message = "option --for: no time is left to emulate".to_owned();
        return Err(usage(message, "such as 30ms or 10s"));
    }
    let around = match between {
        Some((inside, far)) => {
            Around::Interfaces(Interfaces { names: Ends { inside, far }, take: get("take")?.extract()? })
        }
        None => around_command(scenario, &plan, wanted, command, environment)?,
    };
    let request = Request {
        around,
        lasts,
        real_time: get("real_time")?.extract()?,
        precise: get("precise")?.extract()?,
        is_virtual: get("is_virtual")?.extract()?,
        captures: get("captures")?.extract()?,
        plan,
    };
    Ok((request, told))
}

/// Returns the configuration of the ends around a command, and the commands to run.
fn around_command(
    scenario: &sojourn_scenario::Scenario,
    plan: &Plan,
    wanted: &Bound<'_, PyDict>,
    command: &[OsString],
    environment: Vec<OsString>,
) -> PyResult<Around> {
    let get = |name: &str| option(wanted, name);
    let is_isolated: bool = get("isolated")?.extract()?;
    let ecn = get("ecn")?.extract()?;
    let metrics =
        |name| -> PyResult<RouteMetrics> { Ok(RouteMetrics { congestion_control: get(name)?.extract()?, ecn }) };
    let strings = |texts: Vec<OsString>| {
        texts
            .into_iter()
            .map(|text| {
                let what = format!("{} holds a character with the number 0", text.display());
                CString::new(text.into_vec()).map_err(|_| usage(what, "the system knows no such arguments"))
            })
            .collect::<PyResult<Vec<_>>>()
    };
    Ok(Around::Command {
        setup: Setup {
            far_count: u8::try_from(plan.far.len()).unwrap_or(u8::MAX),
            mtu: u32::try_from(plan.mtu.0).unwrap_or(u32::MAX),
            inside: metrics("tcp")?,
            far: metrics("far_tcp")?,
            buffer: buffer(scenario, plan),
            internet: !is_isolated,
            superpackets: (Superpackets::TcpAndUdp, Superpackets::TcpAndUdp),
        },
        commands: Commands {
            command: strings(command.to_vec())?,
            far: strings(get("far_commands")?.extract()?)?,
            environment: strings(environment)?,
            output_to_stderr: get("json")?.extract()?,
            resolver: Some(format!("nameserver {}\n", plan.far[0].v4)),
        },
    })
}

fn option<'py>(wanted: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    wanted.get_item(name)?.ok_or_else(|| PyRuntimeError::new_err(format!("no option {name}")))
}

fn span(option: &str, text: &str) -> PyResult<Span> {
    parse(text).map_err(|error| {
        usage(format!("option {option}: {text:?} is no length of time: {error}"), "such as 30ms or 10s")
    })
}

/// Bytes that a connection may keep under way: four times what the link holds, else one connection does not fill it
/// (specification of the emulator, section 7.2).
fn buffer(scenario: &sojourn_scenario::Scenario, plan: &Plan) -> u64 {
    let longest = plan.far.iter().map(|end| end.rtt).max().unwrap_or_default();
    let holds = |direction: Direction| {
        let rate: BitRate = scenario.access_rate(direction);
        let queue = match scenario.access[direction].link.queue.limit() {
            Some(Limit::Bytes(bytes)) => bytes.0,
            Some(Limit::Packets(packets)) => u64::from(packets.0) * plan.mtu.0,
            Some(Limit::Time(time)) => rate.bytes_in(time).0,
            None => 0,
        };
        4 * (rate.bytes_in(longest).0 + queue)
    };
    // chosen: never less than what Linux allows a connection to receive anyway, and what fits into memory.
    holds(Direction::Upstream).max(holds(Direction::Downstream)).clamp(6 << 20, 256 << 20)
}

fn view<'py>(
    py: Python<'py>,
    scenario: &sojourn_scenario::Scenario,
    snapshot: &Snapshot,
) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("at_ns", snapshot.at.as_ns())?;
    for direction in Direction::BOTH {
        let seen = &snapshot.directions[direction];
        let entry = direction_view(py, seen)?;
        let rate = scenario.access_rate(direction).as_bps() as f64 / 1e6;
        entry.set_item("rate_mbps", rate)?;
        result.set_item(direction.as_str(), entry)?;
    }
    result.set_item("hidden_losses", snapshot.hidden_losses)?;
    result.set_item("stalls", snapshot.stalls)?;
    result.set_item("longest_gap_ns", snapshot.longest_gap.as_ns())?;
    result.set_item("joined", snapshot.joins)?;
    result.set_item("busy", snapshot.busy)?;
    Ok(result)
}

fn direction_view<'py>(py: Python<'py>, seen: &DirectionView) -> PyResult<Bound<'py, PyDict>> {
    let bytes = |bytes: Bytes| bytes.0;
    let entry = PyDict::new(py);
    entry.set_item("entered_packets", seen.entered.0.0)?;
    entry.set_item("entered_bytes", bytes(seen.entered.1))?;
    entry.set_item("delivered_packets", seen.delivered.0.0)?;
    entry.set_item("delivered_bytes", bytes(seen.delivered.1))?;
    entry.set_item("dropped", seen.dropped)?;
    entry.set_item("marked", seen.marked)?;
    entry.set_item("backlog_packets", seen.backlog.0.0)?;
    entry.set_item("backlog_bytes", bytes(seen.backlog.1))?;
    entry.set_item("delay_ns", seen.delay.as_ns())?;
    entry.set_item("delay_p50_ns", seen.delay_p50.as_ns())?;
    entry.set_item("delay_p99_ns", seen.delay_p99.as_ns())?;
    entry.set_item("late_p99_ns", seen.lateness.p99.as_ns())?;
    Ok(entry)
}

fn summary<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("grade", summary.grade.as_str())?;
    result.set_item("duration_s", summary.duration.as_secs_f64())?;
    let late = PyDict::new(py);
    for direction in Direction::BOTH {
        let of: &Lateness = &summary.lateness[direction];
        let entry = PyDict::new(py);
        entry.set_item("packets", of.packets)?;
        entry.set_item("p50_ns", of.p50.as_ns())?;
        entry.set_item("p99_ns", of.p99.as_ns())?;
        entry.set_item("max_ns", of.most.as_ns())?;
        late.set_item(direction.as_str(), entry)?;
    }
    result.set_item("lateness", late)?;
    result.set_item("hidden_losses", summary.hidden_losses)?;
    result.set_item("tagged_frames", summary.tagged)?;
    let stalls = summary.stalls.iter().map(|stall| (stall.at.as_ns(), stall.gap.as_ns()));
    result.set_item("stalls", stalls.collect::<Vec<_>>())?;
    result.set_item("joined", summary.joined)?;
    result.set_item("gave_priority_up", summary.gave_priority_up)?;
    Ok(result)
}

/// Rates of a scenario's access link, as a view has them.
#[pyfunction]
fn emulation_rates<'py>(py: Python<'py>, scenario: &Scenario) -> PyResult<Bound<'py, PyDict>> {
    view(py, &scenario.inner, &Snapshot::default())
}

/// Runs a command in the namespaces of an emulation and returns its status.
#[pyfunction]
fn emulation_join(
    py: Python<'_>,
    namespaces: Vec<i32>,
    command: Vec<OsString>,
    environment: Vec<OsString>,
    is_far: bool,
) -> PyResult<i32> {
    let strings = |texts: Vec<OsString>| -> Vec<CString> {
        texts.into_iter().filter_map(|text| CString::new(text.into_vec()).ok()).collect()
    };
    let (command, environment) = (strings(command), strings(environment));
    py.detach(|| join(&namespaces, &command, &environment, is_far)).map_err(refused)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Emulation>()?;
    module.add("EmulationRefused", module.py().get_type::<EmulationRefused>())?;
    module.add_function(wrap_pyfunction!(emulation_rates, module)?)?;
    module.add_function(wrap_pyfunction!(emulation_join, module)?)
}
