//! Places of the examples and the tests' data.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder of this crate.
pub(crate) fn folder(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

/// Name (without ending) and text of each file in a folder that ends in `ending`, sorted by name.
pub(crate) fn files(below: &str, ending: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = fs::read_dir(folder(below))
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).expect("it is text"))
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no *.{ending} in {below}");
    files
}

/// The example scenarios of the repository.
pub(crate) fn examples() -> Vec<(String, String)> {
    files("../../scenarios", "toml")
}
