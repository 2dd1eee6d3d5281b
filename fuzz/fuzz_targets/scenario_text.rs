//! Any bytes as a scenario file: they are valid and read back from their print, or at least one problem is reported.
//! Nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_base::Seed;
use sojourn_scenario::{Scenario, ScenarioFile};

fuzz_target!(|bytes: &[u8]| {
    match ScenarioFile::parse_bytes(bytes).and_then(|file| file.validate()) {
        Ok(scenario) => {
            let print = scenario.canonical();
            let again = Scenario::parse(&print).expect("a canonical print is valid");
            assert_eq!(again, scenario);
            assert_eq!(again.canonical(), print);
            assert_eq!(again.key(Seed(1), ""), scenario.key(Seed(1), ""));
        }
        Err(problems) => {
            assert!(!problems.as_slice().is_empty());
            assert!(problems.as_slice().iter().all(|problem| !problem.message.is_empty()));
        }
    }
});
