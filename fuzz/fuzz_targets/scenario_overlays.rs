//! Any text as an overlay over a valid scenario. Nothing panics, what was laid reads back from its text and means the
//! same, and laying twice is laying once, as long as nothing is removed.
#![no_main]

use std::collections::BTreeSet;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sojourn_scenario::{Overlay, Scenario, ScenarioFile};

/// A small one: it is validated with every input.
static BASE: LazyLock<ScenarioFile> = LazyLock::new(|| {
    ScenarioFile::parse(include_str!("../../scenarios/lesson-buffer.toml")).expect("the example is valid")
});

/// Returns the file's scenario, or its problems without places and order, since a printed text has lines of its own.
fn meaning(file: &ScenarioFile) -> Result<Scenario, BTreeSet<(String, String)>> {
    file.validate().map_err(|problems| {
        problems.as_slice().iter().map(|problem| (problem.path.clone(), problem.message.clone())).collect()
    })
}

/// The lines of a text, in no order: what was laid stands behind the rest until it is read again.
fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

fuzz_target!(|text: &str| {
    let Ok(overlay) = Overlay::parse(text) else { return };
    let mut file = BASE.clone();
    let problems = file.lay(&overlay);
    let once = file.text();
    let again = ScenarioFile::parse(&once).expect("what was laid reads back");
    assert_eq!(lines(&again.text()), lines(&once));
    // Validating both takes several times as long as the rest: one input in sixteen is.
    if text.len() % 16 == 7 {
        assert_eq!(meaning(&again), meaning(&file));
    }
    if problems.is_empty() && !text.contains("remove") {
        assert!(file.lay(&overlay).is_empty());
        assert_eq!(file.text(), once);
    }
});
