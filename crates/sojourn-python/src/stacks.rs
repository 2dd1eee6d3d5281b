//! Transport libraries that are plugins: a shared library carries the connections of a traffic entry.
//!
//! A scenario asks for one by `stack = { kind = "library", name = "NAME" }`, after `add_plugin` has made its file known, and runs
//! in a process that has loaded it, after [`add_stack`].
//!
//! Source: `sojourn-stack` for the interface; `docs/decisions/0012-plugins.md`. Deviations: none known.

use crate::managers::{remember, returned};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_stack::c::{Library as Table, sje_stack};
use sojourn_stack::checked::Fault;
use sojourn_stack::{Endpoint, Options, Read, State};
use sojourn_transport::library::{Known, Library, add_library};
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
        let end = self.table.open_end(options, now);
        returned();
        Some(Box::new(Counted(end?)))
    }

    fn on_fault(&self, fault: &Fault) {
        remember("library", &self.name, PyValueError::new_err(fault.0.clone()));
    }
}

/// An end whose calls are counted as they return, so that one that does not is found.
struct Counted(Box<dyn Endpoint>);

impl Endpoint for Counted {
    fn datagram(&mut self, now: u64, bytes: &[u8], ecn: u8) {
        self.0.datagram(now, bytes, ecn);
        returned();
    }

    fn transmit(&mut self, now: u64, buffer: &mut [u8]) -> Option<(usize, u8)> {
        let sent = self.0.transmit(now, buffer);
        returned();
        sent
    }

    fn timeout(&mut self) -> Option<u64> {
        self.0.timeout()
    }

    fn write(&mut self, now: u64, stream: u32, bytes: &[u8], fin: bool) -> usize {
        self.0.write(now, stream, bytes, fin)
    }

    fn read(&mut self, now: u64, stream: u32, buffer: &mut [u8]) -> Read {
        self.0.read(now, stream, buffer)
    }

    fn close(&mut self, now: u64) {
        self.0.close(now);
    }

    fn state(&self) -> State {
        self.0.state()
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

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(add_stack, module)?)
}
