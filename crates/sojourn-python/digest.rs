//! The files that decide what a run records, and their digest.
//!
//! Used by `build.rs`, and by `tests/digest.rs`, which changes copies of them and runs with the tests of sojourn-testkit.

use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// Files beside the crates that choose libraries, their features and the compiler, where there are such.
const WORKSPACE: [&str; 4] = ["Cargo.lock", "Cargo.toml", "rust-toolchain.toml", ".cargo/config.toml"];

/// Folders of a crate, and crates, that no extension module is made of.
const NOT_COMPILED_IN: [&str; 7] =
    ["benches", "examples", "sojourn-benches", "sojourn-random-scenarios", "sojourn-testkit", "target", "tests"];

/// All files below `root`, the workspace, that can change what a run records, in order: its crates with their
/// data, what their sources compile in from elsewhere, and what chooses libraries and compiler.
pub(crate) fn files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = WORKSPACE.map(|name| root.join(name)).into();
    files.retain(|file| file.is_file());
    for name in entries(&root.join("crates"))? {
        if name.is_dir() && !is_left_out(&name) {
            for part in entries(&name)? {
                if !is_left_out(&part) {
                    collect(&part, &mut files)?;
                }
            }
        }
    }
    for file in files.clone() {
        if file.extension().is_some_and(|extension| extension == "rs") {
            compiled_in(&file, &mut files)?;
        }
    }
    files.sort();
    files.dedup();
    Ok(files)
}

/// The digest of the files' names below `root` and their contents, and of the cargo features switched on.
pub(crate) fn digest(root: &Path, files: &[PathBuf], features: &[String]) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    let mut add = |bytes: &[u8]| {
        hasher.update(&bytes.len().to_le_bytes());
        hasher.update(bytes);
    };
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(file);
        add(name.to_string_lossy().as_bytes());
        let mut content = fs::read(file)?;
        if name == Path::new("Cargo.toml") {
            content = without_members(&content);
        }
        add(&content);
    }
    for feature in features {
        add(feature.as_bytes());
    }
    Ok(hasher.finalize().to_hex()[..12].to_owned())
}

/// A manifest of a workspace without its members: a source distribution has only those that the module is made of, and
/// their files are added one by one.
fn without_members(manifest: &[u8]) -> Vec<u8> {
    let lines = manifest.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| !line.starts_with(b"members = [")).collect::<Vec<_>>().concat()
}

fn is_left_out(path: &Path) -> bool {
    path.file_name().is_some_and(|name| NOT_COMPILED_IN.iter().any(|left_out| name == *left_out))
}

fn entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect()
}

/// Adds `path`, or the files below it.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in entries(path)? {
        collect(&entry, files)?;
    }
    Ok(())
}

/// Adds the files that `source` includes by name, wherever they are.
fn compiled_in(source: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let text = fs::read_to_string(source)?;
    for call in ["include_str!(", "include_bytes!(", "include!("] {
        for (at, _) in text.match_indices(call) {
            let argument = text[at + call.len()..].trim_start();
            let name = argument.strip_prefix('"').and_then(|rest| rest.split('"').next());
            if let (Some(name), Some(directory)) = (name, source.parent()) {
                files.extend(Some(without_dots(&directory.join(name))).filter(|it| it.is_file()));
            }
        }
    }
    Ok(())
}

/// The path without `..`, so that a file has one name.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}
