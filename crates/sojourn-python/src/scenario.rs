//! Scenarios: parse, print, hash.

use crate::managers;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sojourn_base::quantity::Quantity;
use sojourn_base::{BitRate, Bytes, Direction, Packets, Seed, Span};
use sojourn_keys::value::read_words;
use sojourn_scenario::Problem;

/// An IP packet of full size on Ethernet.
const FULL_PACKET_BYTES: f64 = 1500.0;

pyo3::create_exception!(
    _engine,
    ScenarioProblems,
    PyValueError,
    "The text is not a valid scenario; `problems` lists everything that is wrong with it."
);

/// A validated scenario with every default filled in.
#[pyclass(frozen, module = "sojourn._engine")]
pub struct Scenario {
    pub inner: sojourn_scenario::Scenario,
}

#[pymethods]
impl Scenario {
    /// Validate; raises `ScenarioProblems` with all problems at once.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str) -> PyResult<Self> {
        match sojourn_scenario::Scenario::parse(text) {
            Ok(inner) => Ok(Self { inner }),
            Err(problems) => Err(refusal(py, &problems)?),
        }
    }

    /// The same for an emulation, whose traffic is that of real programs: it need not have any.
    #[staticmethod]
    fn parse_for_emulation(py: Python<'_>, text: &str) -> PyResult<Self> {
        let read = sojourn_scenario::ScenarioFile::parse(text);
        match read.and_then(|file| file.validate_for_emulation()) {
            Ok(inner) => Ok(Self { inner }),
            Err(problems) => Err(refusal(py, &problems)?),
        }
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.inner.duration.as_secs_f64()
    }

    /// The first seed that the file asks for.
    #[getter]
    fn seed(&self) -> u64 {
        self.inner.seed.0
    }

    /// How many seeds it asks for.
    #[getter]
    fn seed_count(&self) -> u32 {
        self.inner.seed_count
    }

    /// Packets of full size that fill both access links at their sustained rates for the whole run.
    #[getter]
    fn full_packets(&self) -> f64 {
        let bits: f64 =
            Direction::BOTH.into_iter().map(|direction| self.inner.access_rate(direction).as_bps() as f64).sum();
        bits * self.inner.duration.as_secs_f64() / (8.0 * FULL_PACKET_BYTES)
    }

    /// The complete scenario as TOML.
    fn canonical(&self) -> String {
        self.inner.canonical()
    }

    /// Contradictions of the scenario, whose run differs from its keys.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        problem_list(py, &self.inner.warnings())
    }

    /// True if classes of this Python process decide in its queues.
    #[getter]
    fn is_prototype(&self) -> bool {
        managers::asked_for_by(&self.inner.canonical())
    }

    /// True if a plugin decides in its queues.
    #[getter]
    fn has_plugin(&self) -> bool {
        managers::plugin_asked_for_by(&self.inner.canonical())
    }

    /// Digest of the kernel that carries connections, in whose guest it runs; empty without.
    #[getter]
    fn kernel(&self) -> String {
        let topology = self.inner.topology();
        let stacks = topology.traffic.iter().filter_map(|placed| placed.entry.stack.as_ref());
        let mut libraries = stacks.filter_map(|stack| stack.library.as_ref());
        libraries.find(|library| library.kernel().is_some()).map_or_else(String::new, |library| library.digest.clone())
    }

    /// Content hash of scenario, seed and engine version; `ValueError` if it does not tell all that decides results.
    fn key(&self, seed: u64) -> PyResult<String> {
        Ok(self.keys(seed, 1)?.remove(0))
    }

    /// Content hashes of the runs with `count` seeds from `first` on; see `key`.
    fn keys(&self, first: u64, count: u32) -> PyResult<Vec<String>> {
        if self.is_prototype() {
            return Err(PyValueError::new_err(
                "runs with a queue manager of kind python have no key: the behaviour of its class is unknown",
            ));
        }
        let seeds = (0..u64::from(count)).map(|more| Seed(first.wrapping_add(more)));
        Ok(self.inner.keys(seeds, crate::version::ENGINE_VERSION))
    }

    fn __repr__(&self) -> String {
        format!("Scenario({:?}, {})", self.inner.name, self.inner.duration)
    }
}

/// The text of a scenario, spelt as TOML, with what was laid over it. Never changes: laying makes a new one.
#[pyclass(frozen, module = "sojourn._engine")]
pub struct ScenarioFile {
    inner: sojourn_scenario::ScenarioFile,
}

#[pymethods]
impl ScenarioFile {
    /// Read as TOML; raises `ScenarioProblems` if it is none. Keys are not checked.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str) -> PyResult<Self> {
        match sojourn_scenario::ScenarioFile::parse(text) {
            Ok(inner) => Ok(Self { inner }),
            Err(problems) => Err(refusal(py, &problems)?),
        }
    }

    /// The file with an overlay, a text, laid over it, and what has no place in it.
    fn laid<'py>(&self, py: Python<'py>, overlay: &str) -> PyResult<(Self, Bound<'py, PyList>)> {
        let overlay = match sojourn_scenario::Overlay::parse(overlay) {
            Ok(overlay) => overlay,
            Err(problems) => return Err(refusal(py, &problems)?),
        };
        let mut inner = self.inner.clone();
        let problems = inner.lay(&overlay);
        Ok((Self { inner }, problem_list(py, &problems)?))
    }

    /// The file with a value put at a key path, and why that is not possible, if it is not.
    fn with_setting<'py>(&self, py: Python<'py>, path: &str, value: &str) -> PyResult<(Self, Bound<'py, PyList>)> {
        let mut inner = self.inner.clone();
        let before = inner.misplaced().len();
        inner.set(path, value);
        let problems = problem_list(py, &inner.misplaced()[before..])?;
        Ok((Self { inner }, problems))
    }

    /// Contradictions in a valid file, each with its place.
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        problem_list(py, &self.inner.warnings())
    }

    /// The file as TOML, with what was laid over it.
    fn text(&self) -> String {
        self.inner.text()
    }
}

/// Returns the units of quantities: spelling, quantity, and the number of its smallest steps.
#[pyfunction]
fn units() -> Vec<(&'static str, &'static str, u64)> {
    fn of<Q: Quantity>() -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        Q::UNITS.iter().map(|(spelling, scale)| (*spelling, Q::NAME, *scale))
    }
    of::<Span>().chain(of::<BitRate>()).chain(of::<Bytes>()).chain(of::<Packets>()).collect()
}

/// A quantity of a command line in its smallest step (b/s, bytes, ps), read as scenario files are; a number alone is in
/// `unit`. Raises `ValueError` with what is wrong and what would be right.
#[pyfunction]
fn quantity(what: &str, text: &str, unit: &str) -> PyResult<u64> {
    let units = BitRate::UNITS.iter().chain(Span::UNITS).chain(Bytes::UNITS);
    let unit = units.map(|(spelling, _)| *spelling).find(|spelling| *spelling == unit).unwrap_or("");
    let found = match what {
        "rate" => read_words::<BitRate>(text, unit).map(BitRate::as_bps),
        "size" => read_words::<Bytes>(text, unit).map(|size| size.0),
        _ => read_words::<Span>(text, unit).map(Span::as_ps),
    };
    found.map_err(|mismatch| PyValueError::new_err((mismatch.message, mismatch.hint)))
}

fn refusal(py: Python<'_>, problems: &sojourn_scenario::ScenarioProblems) -> PyResult<PyErr> {
    let error = ScenarioProblems::new_err(problems.to_string());
    error.value(py).setattr("problems", problem_list(py, problems.as_slice())?)?;
    Ok(error)
}

/// All problems of a scenario text; empty if it is valid.
#[pyfunction]
fn check<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyList>> {
    match sojourn_scenario::Scenario::parse(text) {
        Ok(_) => Ok(PyList::empty(py)),
        Err(problems) => problem_list(py, problems.as_slice()),
    }
}

/// JSON Schema of the scenario file.
#[pyfunction]
fn scenario_schema() -> String {
    sojourn_scenario::json_schema()
}

/// All keys of the scenario file: path, kinds, value, default, bounds, meaning, origin.
#[pyfunction]
fn scenario_keys() -> Vec<[String; 7]> {
    sojourn_scenario::describe::key_rows()
        .into_iter()
        .map(|row| [row.path, row.kind, row.value, row.default, row.allowed, row.about, row.origin])
        .collect()
}

/// Returns words of users, and the words that files have for them.
#[pyfunction]
fn synonyms() -> Vec<(&'static str, Vec<&'static str>)> {
    sojourn_keys::SYNONYMS.iter().map(|(said, meant)| (*said, meant.to_vec())).collect()
}

/// The word of `known` that is nearest to `word`, by spelling or by meaning.
#[pyfunction]
fn nearest(word: &str, known: Vec<String>) -> Option<String> {
    sojourn_keys::nearest(word, known.iter().map(String::as_str)).map(str::to_owned)
}

fn problem_list<'py>(py: Python<'py>, problems: &[Problem]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for problem in problems {
        let entry = PyDict::new(py);
        entry.set_item("path", &problem.path)?;
        entry.set_item("message", &problem.message)?;
        entry.set_item("hint", &problem.hint)?;
        entry.set_item("line", problem.line)?;
        entry.set_item("column", problem.column)?;
        list.append(entry)?;
    }
    Ok(list)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Scenario>()?;
    module.add_class::<ScenarioFile>()?;
    module.add("ScenarioProblems", module.py().get_type::<ScenarioProblems>())?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(units, module)?)?;
    module.add_function(wrap_pyfunction!(quantity, module)?)?;
    module.add_function(wrap_pyfunction!(scenario_schema, module)?)?;
    module.add_function(wrap_pyfunction!(scenario_keys, module)?)?;
    module.add_function(wrap_pyfunction!(synonyms, module)?)?;
    module.add_function(wrap_pyfunction!(nearest, module)?)
}
