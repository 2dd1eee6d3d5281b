//! Names the engine's version after the package's version and the sources that decide results.
//!
//! Runs are stored under a key that contains this version. With the package's version alone, a change
//! of a model between two releases would go on serving results of the old one.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Crates whose sources can change what a run records.
const CRATES: [&str; 9] = [
    "sojourn-apps",
    "sojourn-base",
    "sojourn-engine",
    "sojourn-link",
    "sojourn-metrics",
    "sojourn-queue",
    "sojourn-record",
    "sojourn-scenario",
    "sojourn-transport",
];

fn main() {
    let crates = Path::new("..");
    // The workspace pins the libraries that decide random numbers and elementary functions.
    let mut files = vec![crates.join("../Cargo.toml")];
    for name in CRATES {
        collect(&crates.join(name).join("src"), &mut files);
    }
    files.sort();
    let mut hasher = blake3::Hasher::new();
    for file in &files {
        println!("cargo:rerun-if-changed={}", file.display());
        let content = fs::read(file).expect("a source file that was just listed");
        hasher.update(file.to_string_lossy().as_bytes());
        hasher.update(&content.len().to_le_bytes());
        hasher.update(&content);
    }
    let version = env::var("CARGO_PKG_VERSION").expect("set by cargo");
    let digest = hasher.finalize().to_hex();
    println!(
        "cargo:rustc-env=SOJOURN_ENGINE_VERSION={version}+{}",
        &digest[..12]
    );
}

/// Adds the files below `directory`, and has cargo watch for new ones.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    println!("cargo:rerun-if-changed={}", directory.display());
    let entries = fs::read_dir(directory).expect("a crate of the workspace has sources");
    for entry in entries {
        let path = entry.expect("a readable directory").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
