//! `sojourn._engine`: the thin layer between the Rust crates and the Python package.
//!
//! One short file per area and no algorithm: scenarios ([`scenario`]), runs and their tables
//! ([`run`], [`table`]), the emulator (`emulate`), fixed benchmark worlds ([`bench`]), metric definitions ([`metrics`]), queue managers that
//! are Python classes ([`managers`]), controllers that are ([`controllers`]), libraries of transports ([`stacks`]), laws of the former ([`check`]) and golden traces ([`golden`]), captures ([`capture`]), CM configuration files ([`provisioning`]).

use pyo3::prelude::*;

mod bench;
mod capture;
mod check;
mod controllers;
#[cfg(feature = "count-allocations")]
mod counting;
#[cfg(target_os = "linux")]
mod emulate;
mod golden;
mod managers;
mod metrics;
mod provisioning;
mod run;
mod scenario;
mod stacks;
mod table;
mod version;

#[cfg(feature = "count-allocations")]
#[global_allocator]
static ALLOCATOR: counting::CountingAllocator = counting::CountingAllocator;

/// Version that enters content hashes; changes whenever results may.
#[pyfunction]
fn engine_version() -> &'static str {
    version::ENGINE_VERSION
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(engine_version, module)?)?;
    scenario::register(module)?;
    run::register(module)?;
    #[cfg(target_os = "linux")]
    emulate::register(module)?;
    managers::register(module)?;
    controllers::register(module)?;
    stacks::register(module)?;
    table::register(module)?;
    bench::register(module)?;
    check::register(module)?;
    golden::register(module)?;
    capture::register(module)?;
    provisioning::register(module)?;
    metrics::register(module)
}
