//! Any text as an overlay over a valid scenario. Nothing panics, what was laid reads back from its text, and
//! laying twice is laying once, as long as nothing is removed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_scenario::{Overlay, ScenarioFile};

const BASE: &str = include_str!("../../scenarios/white2012-c04.toml");

fuzz_target!(|text: &str| {
    let Ok(overlay) = Overlay::parse(text) else { return };
    let mut file = ScenarioFile::parse(BASE).expect("the example is valid");
    let problems = file.lay(&overlay);
    let once = file.text();
    let again = ScenarioFile::parse(&once).expect("what was laid reads back");
    assert_eq!(again.validate(), file.validate());
    if problems.is_empty() && !text.contains("remove") {
        assert!(file.lay(&overlay).is_empty());
        assert_eq!(file.text(), once);
    }
});
