//! Names the engine's version after the package's version and all that decides results.
//!
//! Runs are stored under a key that contains this version. With the package's version alone, a change
//! of a model between two releases would go on serving results of the old one.

use std::env;
use std::path::Path;

mod digest;

/// Features that measure and change no result, as cargo tells a build script of them.
const ONLY_MEASURE: [&str; 1] = ["CARGO_FEATURE_COUNT_ALLOCATIONS"];

fn main() {
    let here = env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
    let root = Path::new(&here).ancestors().nth(2).expect("a crate below `crates/` of the workspace");
    let files = digest::files(root).expect("the workspace is readable");
    // A new file that matters is named by an old one, so these are all that need to be watched.
    for file in &files {
        println!("cargo:rerun-if-changed={}", file.display());
    }
    let mut features: Vec<String> = env::vars()
        .map(|(name, _)| name)
        .filter(|name| name.starts_with("CARGO_FEATURE_") && !ONLY_MEASURE.contains(&name.as_str()))
        .collect();
    features.sort();
    let digest = digest::digest(root, &files, &features).expect("files that were just listed");
    let version = env::var("CARGO_PKG_VERSION").expect("set by cargo");
    println!("cargo:rustc-env=SOJOURN_ENGINE_VERSION={version}+{digest}");
}
