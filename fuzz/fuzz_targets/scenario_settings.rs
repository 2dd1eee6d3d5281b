//! Any settings on top of a valid scenario, one `key=value` a line. Nothing panics, and a scenario that
//! is still valid reads back from its print.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sojourn_scenario::{Scenario, ScenarioFile};

/// A small one: it is validated with every input.
static BASE: LazyLock<ScenarioFile> = LazyLock::new(|| {
    ScenarioFile::parse(include_str!("../../scenarios/lesson-buffer.toml")).expect("the example is valid")
});

fuzz_target!(|text: &str| {
    let mut file = BASE.clone();
    let mut is_changed = false;
    for (key, value) in text.lines().filter_map(|line| line.split_once('=')) {
        file.set(key, value);
        is_changed = true;
    }
    if !is_changed {
        return;
    }
    if let Ok(scenario) = file.validate() {
        let again = Scenario::parse(&scenario.canonical()).expect("a canonical print is valid");
        assert_eq!(again, scenario);
    }
});
