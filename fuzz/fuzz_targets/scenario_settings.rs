//! Any settings on top of a valid scenario, one `key=value` a line. Nothing panics, and a scenario that
//! is still valid reads back from its print.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_scenario::Scenario;

const BASE: &str = include_str!("../../scenarios/white2012-c04.toml");

fuzz_target!(|text: &str| {
    let settings: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once('=')).collect();
    if let Ok(scenario) = Scenario::parse_with(BASE, &settings) {
        let again = Scenario::parse(&scenario.canonical()).expect("a canonical print is valid");
        assert_eq!(again, scenario);
    }
});
