//! Stacks of others: transport libraries that are plugins, and the kernel of a guest, carry the connections of a traffic entry.
//!
//! A scenario asks for one by `stack = { kind = "library", name = "NAME" }`, after `add_plugin` has made its file known, and runs
//! in a process that has loaded it, after [`add_stack`].
//!
//! Source: `sojourn-stack` for the interface; `docs/decisions/0012-plugins.md`. Deviations: none known.

use crate::managers::{calling, remember};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
#[cfg(target_os = "linux")]
use sojourn_emu::linux::kernel_tcp::{self, Kernel};
#[cfg(target_os = "linux")]
use sojourn_emu::linux::namespace::Failed;
use sojourn_stack::c::{Library as Table, sje_stack};
use sojourn_stack::checked::Fault;
use sojourn_stack::{Endpoint, Options, Read, State};
use sojourn_transport::library::{Clock, Known, Library, add_library, find_kernels_by};
use std::sync::Arc;

/// A library in this process.
#[derive(Debug)]
struct Loaded {
    name: String,
    table: Table,
}

impl Library for Loaded {
    fn headers(&self) -> u32 {
        self.table.headers()
    }

    fn open(&self, options: &Options, now: u64) -> Option<Box<dyn Endpoint>> {
        Some(Box::new(Counted(calling(|| self.table.open_end(options, now))?)))
    }

    fn on_fault(&self, fault: &Fault) {
        remember("library", &self.name, PyValueError::new_err(fault.0.clone()));
    }
}

/// An end whose calls are counted as they return, so that one that does not is found.
struct Counted(Box<dyn Endpoint>);

impl Endpoint for Counted {
    fn datagram(&mut self, now: u64, bytes: &[u8], ecn: u8) {
        calling(|| self.0.datagram(now, bytes, ecn));
    }

    fn transmit(&mut self, now: u64, buffer: &mut [u8]) -> Option<(usize, u8)> {
        calling(|| self.0.transmit(now, buffer))
    }

    fn timeout(&mut self) -> Option<u64> {
        calling(|| self.0.timeout())
    }

    fn write(&mut self, now: u64, stream: u32, bytes: &[u8], fin: bool) -> usize {
        calling(|| self.0.write(now, stream, bytes, fin))
    }

    fn read(&mut self, now: u64, stream: u32, buffer: &mut [u8]) -> Read {
        calling(|| self.0.read(now, stream, buffer))
    }

    fn close(&mut self, now: u64) {
        calling(|| self.0.close(now));
    }

    fn state(&self) -> State {
        calling(|| self.0.state())
    }
}

/// Make a loaded library known to scenarios; `table` is the address that its `sje_stack_v1` returned. The library stays loaded.
#[pyfunction]
#[expect(unsafe_code, reason = "a table of C is read")]
fn add_stack(name: &str, digest: &str, table: usize) -> PyResult<()> {
    let table = std::ptr::with_exposed_provenance::<sje_stack>(table);
    // SAFETY: Python hands over what the library's own function returned, and never unloads it.
    let table = unsafe { Table::read(table) }.map_err(PyValueError::new_err)?;
    let controllers = table.controllers().map(str::to_owned).collect();
    let library = Arc::new(Loaded { name: name.into(), table });
    add_library(name, Known { digest: digest.into(), controllers, library: Some(library) });
    Ok(())
}

/// TCP of the kernel that this process runs on.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct OfKernel {
    name: String,
    kernel: Arc<Kernel>,
}

#[cfg(target_os = "linux")]
impl Library for OfKernel {
    fn headers(&self) -> u32 {
        0
    }

    fn open(&self, options: &Options, now: u64) -> Option<Box<dyn Endpoint>> {
        self.kernel.open(options, now)
    }

    fn on_fault(&self, fault: &Fault) {
        remember("kernel", &self.name, PyValueError::new_err(fault.0.clone()));
    }

    fn clock(&self) -> Option<&dyn Clock> {
        Some(self)
    }
}

#[cfg(target_os = "linux")]
impl Clock for OfKernel {
    fn wait(&self, until: u64) -> Option<u64> {
        self.kernel.wait(until)
    }
}

/// Make a kernel known to scenarios: `stack = { kind = "linux", kernel = name }`.
#[pyfunction]
fn add_kernel(name: &str, digest: &str, controllers: Vec<String>) {
    add_library(&format!("linux@{name}"), Known { digest: digest.into(), controllers, library: None });
}

/// As `add_kernel`, of the kernel that this process runs on, under a clock of its own: scenarios run here. Called once, and
/// before there is a second thread.
#[cfg(target_os = "linux")]
#[pyfunction]
fn enter_kernel(name: &str, digest: &str, controllers: Vec<String>) -> PyResult<()> {
    let refused = |(step, number): Failed| {
        let why = std::io::Error::from_raw_os_error(number);
        PyOSError::new_err(format!("the guest has no {step}: {why}"))
    };
    kernel_tcp::enter().map_err(refused)?;
    let kernel = Arc::new(Kernel::new().map_err(refused)?);
    let library = Arc::new(OfKernel { name: name.into(), kernel });
    add_library(&format!("linux@{name}"), Known { digest: digest.into(), controllers, library: Some(library) });
    Ok(())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // Kernels lie where Python looks for them; a scenario that asks for one is rare, so nothing is looked for before.
    find_kernels_by(|| {
        Python::attach(|py| {
            let announced = py.import("sojourn.linux.build").and_then(|build| build.call_method0("announce_kernels"));
            if let Err(error) = announced {
                error.write_unraisable(py, None);
            }
        });
    });
    module.add_function(wrap_pyfunction!(add_kernel, module)?)?;
    #[cfg(target_os = "linux")]
    module.add_function(wrap_pyfunction!(enter_kernel, module)?)?;
    module.add_function(wrap_pyfunction!(add_stack, module)?)
}
