//! The generated descriptions: they name the same keys, and the schema agrees with the reader about what
//! is valid.

#![expect(clippy::unwrap_used, reason = "the schema is ours: what is missing in it fails the test")]

use crate::common;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use serde_json::{Map, Value};
use sojourn_scenario::{Scenario, describe};
use toml::de::{DeTable, DeValue};

/// The names of all keys of a schema.
fn keys(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(entries) => {
            if let Some(Value::Object(properties)) = entries.get("properties") {
                found.extend(properties.keys().cloned());
            }
            entries.values().for_each(|inner| keys(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| keys(inner, found)),
        _ => {}
    }
}

#[test]
fn the_reference_page_names_every_key_of_the_schema() {
    let schema: Value = serde_json::from_str(&describe::json_schema()).expect("JSON");
    let page = describe::reference_page();
    let mut found = BTreeSet::new();
    keys(&schema, &mut found);
    assert!(found.len() > 100, "{} keys", found.len());
    let words: BTreeSet<_> = page.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    for key in found {
        assert!(words.contains(key.as_str()), "{key}");
    }
}

/// A line for each table of the reference: its heading, and its keys with their defaults.
fn defaults() -> String {
    let mut lines = Vec::<String>::new();
    for line in describe::reference_page().lines() {
        let cells: Vec<_> = line.split(" | ").collect();
        if line.starts_with('#') {
            lines.push(line.to_owned());
        } else if let (6, Some(key)) = (cells.len(), cells[0].strip_prefix("| `")) {
            let last = lines.last_mut().expect("tables have headings");
            let _ = write!(last, "; {} {}", key.trim_end_matches('`'), cells[2]);
        }
    }
    lines.retain(|line| line.contains(';'));
    lines.join("\n") + "\n"
}

#[test]
fn keys_and_their_defaults_are_those_of_the_list() {
    let path = common::folder("tests/described").join("defaults.txt");
    let found = defaults();
    if std::env::var_os("SOJOURN_WRITE_DOCS").is_some() {
        fs::write(&path, &found).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap();
    for (kept, found) in kept.lines().zip(found.lines()) {
        assert_eq!(found, kept, "if this is meant: make generated");
    }
    assert_eq!(found.lines().count(), kept.lines().count());
}

#[test]
fn the_parameters_of_every_kind_stand_on_a_page_about_models() {
    let mut included = BTreeSet::new();
    for (_, page) in common::files("../../docs/models", "md") {
        let names = page.lines().filter_map(|line| line.strip_prefix("```{include} parameters/"));
        included.extend(names.map(|name| name.trim_end_matches(".md").to_owned()));
    }
    let tables = describe::parameter_tables();
    let kinds: BTreeSet<String> = tables.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(included, kinds);
    let (_, codel) = tables.iter().find(|(name, _)| name == "queue/codel").unwrap();
    for row in [
        "| `interval` | `\"100 ms\"`; 1 us to 600 s | how long the delay may stay above target before the first signal \
         | RFC 8289 §5.3 |\n",
        "| `white2012` | White 2012 §1.1, §3.1.2: 5 ms in 100 ms, the code of 2012, 417 packets \
         | `limit = \"417 packets\"`, `variant = \"nichols2013\"` |\n",
    ] {
        assert!(codel.contains(row), "{codel}");
    }
    let (_, web) = tables.iter().find(|(name, _)| name == "application/web").unwrap();
    assert!(web.contains("*fitted*: the upstream bytes per page"), "{web}");
}

/// Every schema with a default that is not valid by it.
fn invalid_defaults(schema: &Value, root: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(entries) => {
            if let (Some(default), Some(Value::String(about))) = (entries.get("default"), entries.get("description"))
                && !is_valid(default, schema, root)
            {
                found.push(format!("{default} of {about}"));
            }
            entries.values().for_each(|inner| invalid_defaults(inner, root, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| invalid_defaults(inner, root, found)),
        _ => {}
    }
}

#[test]
fn defaults_of_the_schema_are_valid() {
    let schema: Value = serde_json::from_str(&describe::json_schema()).expect("JSON");
    let mut found = Vec::new();
    invalid_defaults(&schema, &schema, &mut found);
    assert_eq!(found, [""; 0]);
    assert_eq!(schema["properties"]["seed"]["default"], 1);
}

/// A TOML value as JSON.
fn to_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(digits) => Value::from(digits.as_str().parse::<i64>().unwrap()),
        DeValue::Float(digits) => Value::from(digits.as_str().parse::<f64>().unwrap()),
        DeValue::Boolean(value) => Value::from(*value),
        DeValue::Datetime(date) => Value::from(date.to_string()),
        DeValue::Array(items) => items.iter().map(|item| to_json(item.get_ref())).collect(),
        DeValue::Table(table) => {
            let entries = table.iter().map(|(key, value)| (key.get_ref().to_string(), to_json(value.get_ref())));
            Value::Object(entries.collect::<Map<_, _>>())
        }
    }
}

/// Returns true if `value` satisfies `schema`, within the part of JSON Schema that the project uses; any other keyword
/// panics.
fn is_valid(value: &Value, schema: &Value, root: &Value) -> bool {
    let holds = |(keyword, rule): (&String, &Value)| match keyword.as_str() {
        // `defaults_of_the_schema_are_valid` looks at defaults.
        "$schema" | "title" | "description" | "default" => true,
        "$ref" => {
            let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
            is_valid(value, root.pointer(pointer).expect("the reference leads somewhere"), root)
        }
        "type" => match rule.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            other => panic!("type {other}"),
        },
        "const" => value == rule,
        "enum" => rule.as_array().unwrap().contains(value),
        "anyOf" => rule.as_array().unwrap().iter().any(|option| is_valid(value, option, root)),
        "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap()),
        "minLength" => value.as_str().is_none_or(|text| !text.is_empty()),
        "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| is_valid(item, rule, root))),
        "required" => value
            .as_object()
            .is_none_or(|object| rule.as_array().unwrap().iter().all(|key| object.contains_key(key.as_str().unwrap()))),
        "properties" => value.as_object().is_none_or(|object| {
            object.iter().all(|(key, inner)| rule.get(key).is_none_or(|schema| is_valid(inner, schema, root)))
        }),
        "additionalProperties" => {
            // Tables by name have a schema for any other key.
            let is_told = |key: &str| schema["properties"].get(key).is_some();
            let is_allowed =
                |(key, inner): (&String, &Value)| is_told(key) || (rule.is_object() && is_valid(inner, rule, root));
            value.as_object().is_none_or(|object| object.iter().all(is_allowed))
        }
        "pattern" => value.as_str().is_none_or(|text| matches(text, rule.as_str().unwrap())),
        other => panic!("the schema uses {other}"),
    };
    schema.as_object().expect("a schema is an object").iter().all(holds)
}

/// Our only pattern: a number and one of the units in its last group.
fn matches(text: &str, pattern: &str) -> bool {
    let (_, units) = pattern.strip_suffix(")\\s*$").unwrap().rsplit_once('(').unwrap();
    let (number, unit) = sojourn_base::quantity::split(text);
    let number = number.trim_start_matches('+');
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    units.split('|').any(|known| known == unit)
        && whole.starts_with(|c: char| c.is_ascii_digit())
        && !fraction.is_empty()
        && digits(whole)
        && digits(fraction)
}

fn satisfies_schema(text: &str) -> bool {
    let schema: Value = serde_json::from_str(&describe::json_schema()).expect("JSON");
    let document = DeTable::parse(text).expect("TOML");
    let value = to_json(&DeValue::Table(document.into_inner()));
    is_valid(&value, &schema, &schema)
}

#[test]
fn the_schema_accepts_the_examples_and_their_canonical_prints() {
    for (name, text) in common::examples() {
        assert!(satisfies_schema(&text), "{name}");
        let print = Scenario::parse(&text).unwrap().canonical();
        assert!(satisfies_schema(&print), "{name}\n{print}");
    }
}

#[test]
fn the_schema_refuses_what_is_misspelt() {
    for name in [
        "misspelt-keys",
        "bare-numbers",
        "wrong-units",
        "not-quantities",
        "no-such-kinds",
        "no-such-profile",
        "wrong-types",
        "required-keys",
        "schema-missing",
        "schema-unsupported",
        "one-traffic-table",
        "no-traffic",
        "kind-missing",
    ] {
        let path = common::folder("tests/problems").join(format!("{name}.toml"));
        let text = fs::read_to_string(path).unwrap();
        assert!(!satisfies_schema(&text), "{name}");
    }
}
