//! Libraries by the names that scenarios have for them.

use super::Library;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::sync::{Mutex, OnceLock, PoisonError};

static KNOWN: Mutex<BTreeMap<String, Known>> = Mutex::new(BTreeMap::new());

/// A library that was made known.
#[derive(Clone, Debug)]
pub struct Known {
    /// Digest that stands for its behaviour in keys of runs.
    pub digest: String,
    /// Its controllers, if it is loaded.
    pub controllers: Vec<String>,
    /// The library; nothing in a process that only plans runs.
    pub library: Option<Arc<dyn Library>>,
}

static FINDER: OnceLock<fn()> = OnceLock::new();

/// `finder` is what [`find_kernels`] calls; the first one stays.
pub fn find_kernels_by(finder: fn()) {
    let _ = FINDER.set(finder);
}

/// Makes the kernels of this machine known, by [`add_library`].
pub fn find_kernels() {
    if let Some(finder) = FINDER.get() {
        finder();
    }
}

/// Makes a library known; one may replace another of its name.
pub fn add_library(name: &str, library: Known) {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(name.into(), library);
}

/// All libraries by name.
pub fn known_libraries() -> BTreeMap<String, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
