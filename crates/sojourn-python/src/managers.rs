//! Queue managers that are Python classes, for prototypes and plugins: the one place where Python sees packets.
//!
//! A scenario asks for one by `queue = { kind = "python", class = "NAME" }`, after [`add_manager`] has made the class
//! known, or by `queue = { kind = "plugin", name = "NAME" }` for a user's file, after [`add_plugin`]. The digest of
//! that file is part of the scenario, so that its runs have a key. Packets stay here; Python holds a [`Packet`] for
//! each and decides its fate. No mistake of Python loses or doubles a packet: after the first one the queue is first
//! in, first out until the run ends.
//!
//! Source: none; see `docs/decisions/0008-managers-in-python.md` and `0012-plugins.md`. Deviations: none known.

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PySystemExit, PyValueError};
use pyo3::prelude::*;
use sojourn_base::{Bytes, Ecn, Instant, Meta, PacketHandle, Packets, Reason};
use sojourn_keys::{Configured, Visitor, key};
use sojourn_queue::{Backlog, ConfigProblem, Held, ManagerKind, QueueContext, QueueManager, Verdict};
use sojourn_transport::library::{Known, add_library};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};

pyo3::create_exception!(
    _engine,
    ManagerFailed,
    PyRuntimeError,
    "A queue manager or congestion controller written in Python raised an exception, its cause, or broke the rules."
);

/// Classes by the name that scenarios have for them; a class may replace one of its name.
static CLASSES: Mutex<BTreeMap<String, Py<PyAny>>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// First error in the run of this thread.
    static FAILURE: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Calls of plugins that have returned, and those under way.
static CALLS: (AtomicU64, AtomicU64) = (AtomicU64::new(0), AtomicU64::new(0));

/// How often plugins have returned to the engine, over all runs of this process, and whether a call is under way.
#[pyfunction]
fn plugin_calls() -> (u64, bool) {
    let under_way = CALLS.1.load(Ordering::Relaxed) > 0;
    (CALLS.0.load(Ordering::Relaxed), under_way)
}

/// Returns true if a manager of this thread's run has failed.
pub fn has_failed() -> bool {
    FAILURE.with_borrow(Option::is_some)
}

/// Takes the first error in this thread's run.
pub fn take_failure() -> Option<PyErr> {
    FAILURE.take()
}

/// Remembers what went wrong first in the run of this thread, which ends it.
pub fn remember(what: &str, name: &str, error: PyErr) {
    let error = Python::attach(|py| {
        if error.is_instance_of::<PyKeyboardInterrupt>(py) || error.is_instance_of::<PySystemExit>(py) {
            return error;
        }
        let told = ManagerFailed::new_err(format!("the {what} \"{name}\": {error}"));
        told.set_cause(py, Some(error));
        told
    });
    FAILURE.with_borrow_mut(|failure| {
        failure.get_or_insert(error);
    });
}

/// Calls a plugin. One that does not return is found by it, and what the engine computes itself is not taken for a call.
pub fn calling<T>(call: impl FnOnce() -> T) -> T {
    struct UnderWay;
    impl Drop for UnderWay {
        fn drop(&mut self) {
            CALLS.0.fetch_add(1, Ordering::Relaxed);
            CALLS.1.fetch_sub(1, Ordering::Relaxed);
        }
    }
    CALLS.1.fetch_add(1, Ordering::Relaxed);
    let _under_way = UnderWay;
    call()
}

/// Returns the factory of the plugin of that name.
pub fn factory_of(py: Python<'_>, name: &str) -> Option<Py<PyAny>> {
    Origin::Plugin.factory(py, name)
}

/// Make a class of queue managers known to scenarios: `queue = { kind = "python", class = name }`.
#[pyfunction]
fn add_manager(name: String, factory: Py<PyAny>) {
    static KIND: Once = Once::new();
    KIND.call_once(|| {
        sojourn_queue::add_manager::<PythonConfig>().expect("only this module adds this kind");
    });
    let mut classes = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
    let replaced = classes.insert(name, factory);
    drop(classes); // before a class that goes may run code of its own
    drop(replaced);
}

/// A user's file that manages queues.
struct Plugin {
    /// SHA-256 of the file and of all else that decides its behaviour.
    digest: String,
    /// Makes a manager; `None` in a process that only plans runs.
    factory: Option<Py<PyAny>>,
}

/// Plugins by name; one may replace another of its name.
static PLUGINS: Mutex<BTreeMap<String, Plugin>> = Mutex::new(BTreeMap::new());

/// Make a plugin known to scenarios: `queue = { kind = "plugin", name = name }`. Without a factory they are valid and
/// have a key, and cannot run here.
#[pyfunction]
#[pyo3(signature = (name, digest, factory=None))]
fn add_plugin(name: String, digest: String, factory: Option<Py<PyAny>>) {
    let known = Known { digest: digest.clone(), controllers: Vec::new(), library: None };
    add_library(&name, known);
    let mut plugins = PLUGINS.lock().unwrap_or_else(PoisonError::into_inner);
    let replaced = plugins.insert(name, Plugin { digest, factory });
    drop(plugins); // before a class that goes may run code of its own
    drop(replaced);
}

/// Returns true if a scenario, in canonical form, asks for a class of this process.
pub fn asked_for_by(canonical: &str) -> bool {
    canonical.contains("kind = \"python\"") // quotes of names are escaped
}

/// Returns true if a scenario, in canonical form, asks for a plugin.
pub fn plugin_asked_for_by(canonical: &str) -> bool {
    ["plugin", "library"].iter().any(|kind| canonical.contains(&format!("kind = \"{kind}\"")))
}

/// Source of a manager's class.
#[derive(Clone, Copy, Debug)]
enum Origin {
    /// Of this process.
    Class,
    /// Of a file.
    Plugin,
}

impl Origin {
    /// The class of that name.
    fn factory(self, py: Python<'_>, name: &str) -> Option<Py<PyAny>> {
        match self {
            Self::Class => {
                let classes = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
                classes.get(name).map(|class| class.clone_ref(py))
            }
            Self::Plugin => {
                let plugins = PLUGINS.lock().unwrap_or_else(PoisonError::into_inner);
                let factory = plugins.get(name)?.factory.as_ref();
                factory.map(|class| class.clone_ref(py))
            }
        }
    }
}

/// Parameters of a manager written in Python.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PythonConfig {
    class: String,
}

impl Configured for PythonConfig {
    const KIND: &'static str = "python";
    const ABOUT: &'static str = "a class of this Python process; its runs are not kept in the store";

    fn base() -> Self {
        Self { class: String::new() }
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(
            key("class", "name of the class, as it was added", "no default").required("\"mine\""),
            &mut self.class,
        );
    }
}

impl ManagerKind for PythonConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(PythonQueue::new(Origin::Class, &self.class))
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        let classes = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
        if !classes.contains_key(&self.class) {
            let known: Vec<&str> = classes.keys().map(String::as_str).collect();
            problems.push(ConfigProblem {
                field: "class",
                message: format!("no class \"{}\" was added; there is: {}", self.class, known.join(", ")),
                hint: "sojourn.add_manager(\"NAME\", CLASS)",
            });
        }
    }
}

/// Parameters of a manager, or a congestion controller, that is a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginConfig {
    name: String,
    digest: String,
}

impl PluginConfig {
    /// Returns the plugin's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Configured for PluginConfig {
    const KIND: &'static str = "plugin";
    const ABOUT: &'static str = "a file of your own, given by `--plugin FILE`";

    fn base() -> Self {
        Self { name: String::new(), digest: String::new() }
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(
            key("name", "name of the plugin, which follows from that of its file", "no default").required("\"mine\""),
            &mut self.name,
        );
        if self.digest.is_empty() {
            let plugins = PLUGINS.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(plugin) = plugins.get(&self.name) {
                self.digest.clone_from(&plugin.digest);
            }
        }
        visitor.value(key("digest", "digest of the plugin", "that of the file that is given"), &mut self.digest);
    }
}

impl ManagerKind for PluginConfig {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(PythonQueue::new(Origin::Plugin, &self.name))
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        let plugins = PLUGINS.lock().unwrap_or_else(PoisonError::into_inner);
        let given = plugins.get(&self.name);
        if given.is_some_and(|plugin| plugin.digest != self.digest) {
            problems.push(ConfigProblem {
                field: "digest",
                message: format!("the plugin \"{}\" that was given is another file", self.name),
                hint: "leave the key out, or give the file that it stands for",
            });
        }
        if given.is_none() && self.digest.is_empty() {
            let known: Vec<&str> = plugins.keys().map(String::as_str).collect();
            problems.push(ConfigProblem {
                field: "name",
                message: match known.as_slice() {
                    [] => format!("no plugin \"{}\" was given", self.name),
                    known => format!("no plugin \"{}\" was given; there is: {}", self.name, known.join(", ")),
                },
                hint: "--plugin FILE, whose name is that of the file: mine.py or libmine.so",
            });
        }
    }
}

/// Python's decisions on packets, in order.
type Wishes = Arc<Mutex<Vec<(u64, Wish)>>>;

#[derive(Clone, Copy, Debug)]
enum Wish {
    Drop(Reason),
    Mark(Reason),
}

/// A packet in a queue, as a manager written in Python sees it.
#[pyclass(frozen, module = "sojourn._engine")]
pub struct Packet {
    number: u64,
    meta: Meta,
    arrived: f64,
    wishes: Wishes,
}

#[pymethods]
impl Packet {
    /// Bytes that the queue is charged.
    #[getter]
    fn length(&self) -> u32 {
        self.meta.length
    }

    /// Hash of the flow's addresses and ports.
    #[getter]
    fn flow(&self) -> u32 {
        self.meta.flow_hash
    }

    /// DSCP, 0 to 63.
    #[getter]
    fn dscp(&self) -> u8 {
        self.meta.dscp
    }

    /// ECN field as it arrived: `not-ect`, `ect0`, `ect1` or `ce`.
    #[getter]
    fn ecn(&self) -> &'static str {
        match self.meta.ecn {
            Ecn::NotEct => "not-ect",
            Ecn::Ect0 => "ect0",
            Ecn::Ect1 => "ect1",
            Ecn::Ce => "ce",
        }
    }

    /// True for a TCP segment that only acknowledges.
    #[getter]
    fn pure_ack(&self) -> bool {
        self.meta.pure_ack
    }

    /// Time of its arrival, in seconds of simulated time.
    #[getter]
    fn arrived(&self) -> f64 {
        self.arrived
    }

    /// Drop it, for a reason of the records.
    #[pyo3(signature = (reason="early"))]
    fn drop(&self, reason: &str) -> PyResult<()> {
        self.wish(Wish::Drop(known(reason)?));
        Ok(())
    }

    /// Mark it if it is ECN-capable, and say whether it is.
    #[pyo3(signature = (reason="early"))]
    fn mark(&self, reason: &str) -> PyResult<bool> {
        self.wish(Wish::Mark(known(reason)?));
        Ok(self.meta.ecn != Ecn::NotEct)
    }

    fn __repr__(&self) -> String {
        format!("<Packet {}: {} B>", self.number, self.meta.length)
    }
}

impl Packet {
    fn wish(&self, wish: Wish) {
        let mut wishes = self.wishes.lock().unwrap_or_else(PoisonError::into_inner);
        wishes.push((self.number, wish));
    }
}

fn known(reason: &str) -> PyResult<Reason> {
    let found = Reason::ALL.into_iter().find(|one| one.as_str() == reason);
    found.ok_or_else(|| {
        let words = Reason::ALL.map(Reason::as_str).join(", ");
        PyValueError::new_err(format!("no reason \"{reason}\"; known: {words}"))
    })
}

/// The running manager: packets and their order of arrival here, decisions in Python.
#[derive(Debug)]
struct PythonQueue {
    origin: Origin,
    class: String,
    /// Made when it is first asked, because only then there is a random number for it.
    manager: Option<Py<PyAny>>,
    failed: bool,
    waiting: BTreeMap<u64, Held>,
    backlog: Backlog,
    arrivals: u64,
    wishes: Wishes,
}

impl PythonQueue {
    fn new(origin: Origin, class: &str) -> Self {
        Self {
            origin,
            class: class.into(),
            manager: None,
            failed: false,
            waiting: BTreeMap::new(),
            backlog: Backlog::default(),
            arrivals: 0,
            wishes: Wishes::default(),
        }
    }

    /// The object, made if need be with a `random.Random` that follows the seed of the run.
    fn manager(&mut self, py: Python<'_>, context: &mut dyn QueueContext) -> PyResult<Py<PyAny>> {
        if let Some(manager) = &self.manager {
            return Ok(manager.clone_ref(py));
        }
        let factory = self.origin.factory(py, &self.class);
        let factory = factory.ok_or_else(|| PyValueError::new_err("it was not given to this run"))?;
        let seed = context.unit();
        let random = py.import("random")?.call_method1("Random", (seed,))?;
        let manager = factory.call1(py, (random,))?;
        self.manager = Some(manager.clone_ref(py));
        Ok(manager)
    }

    /// Tells the manager of an arrival.
    fn tell(&mut self, number: u64, now: Instant, context: &mut dyn QueueContext) {
        let meta = self.waiting[&number].meta;
        let told = calling(|| {
            Python::attach(|py| {
                let packet = Packet { number, meta, arrived: seconds(now), wishes: Arc::clone(&self.wishes) };
                let manager = self.manager(py, context)?;
                manager.call_method1(py, "enqueue", (packet, seconds(now)))?;
                Ok(())
            })
        });
        if let Err(error) = told {
            self.fail(error);
        }
    }

    /// Asks the manager for the number of the packet that goes next.
    fn ask(&mut self, now: Instant, context: &mut dyn QueueContext) -> PyResult<Option<u64>> {
        Python::attach(|py| {
            let manager = self.manager(py, context)?;
            let answer = manager.call_method1(py, "dequeue", (seconds(now),))?;
            if answer.is_none(py) {
                return Ok(None);
            }
            let packet = answer.bind(py).cast::<Packet>()?;
            Ok(Some(packet.get().number))
        })
    }

    /// Applies Python's decisions, and returns the reason of the last drop. A decision on a packet that does not wait
    /// here is a mistake.
    fn obey(&mut self, context: &mut dyn QueueContext) -> Option<Reason> {
        let wishes = {
            let mut wishes = self.wishes.lock().unwrap_or_else(PoisonError::into_inner);
            core::mem::take(&mut *wishes)
        };
        let mut dropped = None;
        for (number, wish) in wishes {
            let Some(held) = self.waiting.get_mut(&number) else {
                self.fail(PyValueError::new_err(format!(
                    "packet {number} was dropped or marked, and does not wait here"
                )));
                break;
            };
            match wish {
                Wish::Mark(_) if matches!(held.meta.ecn, Ecn::NotEct | Ecn::Ce) => {}
                Wish::Mark(reason) => {
                    held.meta.ecn = Ecn::Ce;
                    context.marked(held, reason);
                }
                Wish::Drop(reason) => {
                    if let Some(held) = self.take(number) {
                        context.dropped(held, reason);
                        dropped = Some(reason);
                    }
                }
            }
        }
        dropped
    }

    fn take(&mut self, number: u64) -> Option<Held> {
        let held = self.waiting.remove(&number)?;
        self.backlog.bytes -= Bytes(held.meta.length.into());
        self.backlog.packets -= Packets(1);
        Some(held)
    }

    /// Remembers the first mistake of the run, which ends it.
    fn fail(&mut self, error: PyErr) {
        self.failed = true;
        remember("queue manager", &self.class, error);
    }

    /// Returns the packet that Python sends next.
    fn decided(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        let answer = calling(|| self.ask(now, context));
        let _ = self.obey(context);
        match answer {
            Err(error) => self.fail(error),
            Ok(Some(number)) => {
                if let Some(held) = self.take(number) {
                    return Some(held);
                }
                self.fail(PyValueError::new_err(format!("dequeue returned packet {number}, which does not wait here")));
            }
            Ok(None) if self.waiting.is_empty() => {}
            Ok(None) => self
                .fail(PyValueError::new_err(format!("dequeue returned None, and {} packets wait", self.waiting.len()))),
        }
        None
    }
}

impl QueueManager for PythonQueue {
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        let number = self.arrivals;
        self.arrivals += 1;
        self.waiting.insert(number, Held::new(now, meta, item));
        self.backlog.bytes += Bytes(meta.length.into());
        self.backlog.packets += Packets(1);
        if self.failed {
            return Verdict::Accepted;
        }
        self.tell(number, now, context);
        match self.obey(context) {
            Some(reason) if !self.waiting.contains_key(&number) => Verdict::Dropped(reason),
            _ => Verdict::Accepted,
        }
    }

    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        if self.manager.is_some() && !self.failed {
            let next = self.decided(now, context);
            if next.is_some() || !self.failed {
                return next;
            }
        }
        let (&oldest, _) = self.waiting.first_key_value()?;
        self.take(oldest)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }
}

fn seconds(now: Instant) -> f64 {
    now.saturating_since(Instant::ZERO).as_secs_f64()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    static KIND: Once = Once::new();
    KIND.call_once(|| {
        sojourn_queue::add_manager::<PluginConfig>().expect("only this module adds this kind");
    });
    module.add_class::<Packet>()?;
    module.add("ManagerFailed", module.py().get_type::<ManagerFailed>())?;
    module.add_function(wrap_pyfunction!(add_manager, module)?)?;
    module.add_function(wrap_pyfunction!(plugin_calls, module)?)?;
    module.add_function(wrap_pyfunction!(add_plugin, module)?)
}
