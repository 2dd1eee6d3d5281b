//! Fixed worlds for benchmarks: the same work in every version.

use crate::run::timed;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_base::{Seed, Span};
use sojourn_engine::{RunStatistics, column_recorder, run, worlds};
use sojourn_record::NoRecords;
use sojourn_scenario::Scenario;

/// Names of the worlds.
#[pyfunction]
fn bench_worlds() -> Vec<&'static str> {
    worlds::NAMES.to_vec()
}

/// Runs a world and measures it.
///
/// Allocations are those of the second half of the time: what steady state costs. They are missing in a
/// build that does not count them.
#[pyfunction]
#[pyo3(name = "bench", signature = (world, duration_s=None))]
fn run_bench<'py>(py: Python<'py>, world: &str, duration_s: Option<f64>) -> PyResult<Bound<'py, PyDict>> {
    let mut scenario = worlds::world(world).ok_or_else(|| PyKeyError::new_err(format!("no world {world:?}")))?;
    if let Some(seconds) = duration_s {
        scenario.duration = Span::from_secs_f64(seconds);
    }
    let (half, full, cost) = py.detach(|| {
        let half = Scenario { duration: scenario.duration / 2, ..scenario.clone() };
        let half = counted(&half);
        let (full, cost) = timed(&scenario, counted);
        (half, full, cost)
    });
    let hops = full.1.packet_hops;
    let steady_hops = hops.saturating_sub(half.1.packet_hops).max(1);
    let entry = PyDict::new(py);
    entry.set_item("name", world)?;
    entry.set_item("cpu_s", cost.cpu_s)?;
    entry.set_item("wall_s", cost.wall_s)?;
    entry.set_item("simulated_s", cost.simulated_s)?;
    entry.set_item("packet_hops", hops)?;
    entry.set_item("ns_per_packet_hop", cost.cpu_s * 1e9 / hops.max(1) as f64)?;
    entry.set_item(
        "allocations_per_packet_hop",
        (full.0.zip(half.0)).map(|(full, half)| full.saturating_sub(half) as f64 / steady_hops as f64),
    )?;
    entry.set_item("peak_rss_bytes", peak_rss_bytes())?;
    Ok(entry)
}

/// Tells how many allocations this thread has made, in a build that counts them.
#[cfg(feature = "count-allocations")]
const ALLOCATIONS: Option<fn() -> u64> = Some(crate::counting::allocations);
#[cfg(not(feature = "count-allocations"))]
const ALLOCATIONS: Option<fn() -> u64> = None;

/// Allocations and statistics of one run.
fn counted(scenario: &Scenario) -> (Option<u64>, RunStatistics) {
    let before = ALLOCATIONS.map(|count| count());
    let statistics = if scenario.record == sojourn_record::RecordConfig::NOTHING {
        run(scenario, Seed(1), NoRecords, &|| false).map(|outcome| outcome.statistics)
    } else {
        let recorder = column_recorder(scenario, scenario.record);
        run(scenario, Seed(1), recorder, &|| false).map(|outcome| outcome.statistics)
    };
    let statistics = statistics.expect("never cancelled");
    let made = ALLOCATIONS.zip(before).map(|(count, before)| count() - before);
    (made, statistics)
}

/// Largest resident memory of this process so far; 0 where the system does not say.
fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().strip_suffix(" kB"))
        .and_then(|number| number.trim().parse::<u64>().ok())
        .map_or(0, |kib| kib * 1024)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(bench_worlds, module)?)?;
    module.add_function(wrap_pyfunction!(run_bench, module)?)
}
