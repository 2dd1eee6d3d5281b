//! The engine's version, which is part of the key of every stored run, follows whatever can change a result.

#[path = "../digest.rs"]
mod digest;

use std::fs;
use std::path::{Path, PathBuf};

/// The workspace of this crate.
fn workspace() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("below crates/")
}

/// A copy of the files that decide results, and of some that do not.
struct Copy {
    root: PathBuf,
}

impl Copy {
    fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&root);
        let copy = Self { root };
        for file in digest::files(workspace()).expect("readable") {
            let name = file.strip_prefix(workspace()).expect("below the workspace");
            copy.write(name, &fs::read(&file).expect("a file just listed"));
        }
        copy
    }

    fn write(&self, name: impl AsRef<Path>, content: &[u8]) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().expect("not the root")).expect("writable");
        fs::write(path, content).expect("writable");
    }

    fn digest(&self, features: &[&str]) -> String {
        let files = digest::files(&self.root).expect("readable");
        let features: Vec<String> = features.iter().map(|name| (*name).to_owned()).collect();
        digest::digest(&self.root, &files, &features).expect("readable")
    }

    /// The digest with `edit` made to one file.
    fn after(&self, name: &str, edit: impl FnOnce(&str) -> String) -> String {
        let path = self.root.join(name);
        let before = fs::read_to_string(&path).unwrap_or_default();
        let edited = edit(&before);
        assert_ne!(edited, before, "{name} was edited");
        self.write(name, edited.as_bytes());
        let digest = self.digest(&[]);
        if before.is_empty() {
            fs::remove_file(&path).expect("just written");
        } else {
            self.write(name, before.as_bytes());
        }
        digest
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn longer(text: &str) -> String {
    format!("{text}\n# longer\n")
}

#[test]
fn what_can_change_results_changes_the_digest() {
    let copy = Copy::new("changes");
    let before = copy.digest(&[]);
    assert_eq!(before, copy.digest(&[]), "the same files, the same digest");
    // One object of the page of White 2012 Appendix A: 5009 bytes of server 2.
    let page = "crates/sojourn-apps/data/white2012-appendix-a.csv";
    let one_object = copy.after(page, |text| text.replacen(",5009\n", ",5010\n", 1));
    let edits = [
        ("object of a page", one_object),
        ("locked libraries", copy.after("Cargo.lock", longer)),
        ("features of libraries", copy.after("Cargo.toml", longer)),
        ("features of a crate", copy.after("crates/sojourn-queue/Cargo.toml", longer)),
        ("a model", copy.after("crates/sojourn-queue/src/lib.rs", longer)),
        ("the extension", copy.after("crates/sojourn-python/src/run.rs", longer)),
        ("the compiler", copy.after("rust-toolchain.toml", longer)),
        ("compiled in from elsewhere", copy.after("scenarios/dumbbell-codel.toml", longer)),
        ("a new crate", copy.after("crates/sojourn-new/src/lib.rs", longer)),
        ("a feature of the extension", copy.digest(&["CARGO_FEATURE_FASTER"])),
    ];
    for (what, digest) in &edits {
        assert_ne!(*digest, before, "{what}");
        let same = edits.iter().filter(|(_, other)| other == digest);
        assert_eq!(same.count(), 1, "{what}");
    }
}

#[test]
fn tests_and_pages_leave_the_digest_as_it_is() {
    let copy = Copy::new("stays");
    let before = copy.digest(&[]);
    for name in [
        "crates/sojourn-queue/tests/oracles.rs",
        "crates/sojourn-benches/benches/managers.rs",
        "crates/sojourn-testkit/src/lib.rs",
        "docs/models/codel.md",
        "scenarios/another.toml",
    ] {
        assert_eq!(copy.after(name, longer), before, "{name}");
    }
    // As a source distribution has it.
    let fewer = |text: &str| text.replacen(", \"examples/own-*\"]", "]", 1);
    assert_eq!(copy.after("Cargo.toml", fewer), before, "members");
}

#[test]
fn what_sources_compile_in_is_digested() {
    let files = digest::files(workspace()).expect("readable");
    let has = |name: &str| files.contains(&workspace().join(name));
    for name in [
        "Cargo.lock",
        "crates/sojourn-apps/data/white2012-appendix-a.csv",
        "crates/sojourn-engine/src/simulation.rs",
        "crates/sojourn-python/build.rs",
        "crates/sojourn-python/src/lib.rs",
        "scenarios/dumbbell-codel.toml",
    ] {
        assert!(has(name), "{name}");
    }
    // No source includes a file by a computed name, which the digest could not follow.
    for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "rs")) {
        let text = fs::read_to_string(file).expect("readable");
        if file.ends_with("sojourn-python/digest.rs") {
            continue;
        }
        for (at, call) in text.match_indices("include_str!(").chain(text.match_indices("include_bytes!(")) {
            let argument = text[at + call.len()..].trim_start();
            assert!(argument.starts_with('"'), "{}: {call} of a name", file.display());
        }
    }
}
