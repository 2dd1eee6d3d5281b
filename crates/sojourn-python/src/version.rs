//! The version of the engine.

/// Version that enters content hashes: the package's version and a digest of the sources that decide
/// results (see `build.rs`).
pub const ENGINE_VERSION: &str = env!("SOJOURN_ENGINE_VERSION");
