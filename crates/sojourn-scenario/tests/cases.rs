//! Set, print, match: does each key reach its place, and only that place? The cases are data in
//! `tests/cases`, one file for each kind of table.

use crate::common;
use std::collections::BTreeSet;

use sojourn_scenario::{Scenario, describe};
use toml::de::{DeTable, DeValue};

struct Case {
    id: String,
    set: String,
    to: String,
    prints: Vec<String>,
}

/// The base scenario and the cases of a file.
fn read(text: &str) -> (String, Vec<Case>) {
    let file = DeTable::parse(text).expect("a case file is TOML");
    let file = file.get_ref();
    let string = |table: &DeTable<'_>, key: &str| {
        table.get(key).and_then(|value| value.get_ref().as_str()).expect(key).to_owned()
    };
    let cases = file.get("case").and_then(|cases| cases.get_ref().as_array()).expect("cases");
    let cases = cases
        .iter()
        .map(|case| {
            let DeValue::Table(case) = case.get_ref() else {
                panic!("a case is a table");
            };
            let prints = case.get("prints").and_then(|list| list.get_ref().as_array());
            Case {
                id: string(case, "id"),
                set: string(case, "set"),
                to: string(case, "to"),
                prints: prints
                    .expect("prints")
                    .iter()
                    .map(|line| line.get_ref().as_str().expect("a line").to_owned())
                    .collect(),
            }
        })
        .collect();
    (string(file, "base"), cases)
}

/// Each line with a key, and the heading it stands under.
fn lines(print: &str) -> Vec<(String, String)> {
    let mut heading = String::new();
    let mut lines = Vec::new();
    for line in print.lines().filter(|line| !line.is_empty()) {
        if line.starts_with('[') {
            line.clone_into(&mut heading);
        } else {
            lines.push((heading.clone(), line.to_owned()));
        }
    }
    lines
}

#[test]
fn each_key_changes_the_lines_of_its_own_and_no_other() {
    let mut ids = BTreeSet::new();
    for (file, text) in common::files("tests/cases", "toml") {
        let (base, cases) = read(&text);
        let before = Scenario::parse(&base).unwrap_or_else(|e| panic!("{file}: {e}"));
        let old = lines(&before.canonical());
        for case in cases {
            assert!(ids.insert(case.id.clone()), "{} is there twice", case.id);
            let after = Scenario::parse_with(&base, &[(&case.set, &case.to)])
                .unwrap_or_else(|e| panic!("{file} {}: {e}", case.id));
            let new: Vec<String> = lines(&after.canonical())
                .into_iter()
                .filter(|line| !old.contains(line))
                .map(|(_, line)| line)
                .collect();
            assert_eq!(new, case.prints, "{file} {}: {} = {}", case.id, case.set, case.to);
            assert_ne!(before, after, "{}: the model did not change", case.id);
        }
    }
}

/// Names of all keys with a single value in a JSON schema.
fn value_keys(schema: &serde_json::Value, found: &mut BTreeSet<String>) {
    if let Some(properties) = schema.get("properties").and_then(|p| p.as_object()) {
        for (name, inner) in properties {
            let text = inner.to_string();
            if !text.contains("\"properties\"") && inner.get("$ref").is_none() {
                found.insert(name.clone());
            }
        }
    }
    match schema {
        serde_json::Value::Object(map) => map.values().for_each(|v| value_keys(v, found)),
        serde_json::Value::Array(list) => list.iter().for_each(|v| value_keys(v, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_the_file_has_a_case() {
    let schema = serde_json::from_str(&describe::json_schema()).expect("the schema is JSON");
    let mut keys = BTreeSet::new();
    value_keys(&schema, &mut keys);
    // The version has one value only; a profile prints as the values it stands for; the parts of a
    // distribution are parts of one value; a named load prints as the traffic that it stands for; an aggregate
    // has members before a further one joins it, so no case prints its name anew.
    for constant in ["schema", "profile", "test", "length", "aggregate"] {
        assert!(keys.remove(constant), "{constant}");
    }
    for number in ["mu", "sigma", "sd", "cv", "shape", "least", "most", "outside"] {
        assert!(keys.remove(number), "{number}");
    }
    for (_, text) in common::files("tests/cases", "toml") {
        for line in read(&text).1.iter().flat_map(|case| &case.prints) {
            if let Some((key, _)) = line.split_once(" = ") {
                keys.remove(key);
            }
        }
    }
    assert!(keys.is_empty(), "no case prints {keys:?}");
}

/// Values at and far beyond what a key may hold.
const FAR_OUT: [&str; 9] =
    ["1e30", "-1e30", "1e-30", "0", "18446744073709551615", "\"1 b/s\"", "\"1 Tb/s\"", "\"1000 GB\"", "\"5000 h\""];

#[test]
fn no_value_of_any_key_however_absurd_ends_in_an_overflow() {
    for (file, text) in common::files("tests/cases", "toml") {
        let (base, cases) = read(&text);
        let keys: BTreeSet<String> = cases.into_iter().map(|case| case.set).collect();
        for key in keys {
            for value in FAR_OUT {
                let told = std::panic::catch_unwind(|| {
                    if let Ok(scenario) = Scenario::parse_with(&base, &[(&key, value)]) {
                        let _ = (scenario.warnings(), scenario.canonical());
                    }
                });
                assert!(told.is_ok(), "{file}: {key} = {value}");
            }
        }
    }
}
