//! All keys one after the other, as `sojourn keys` lists and searches them.

use super::KeyRow;
use super::catalogue::{Entry, Group};
use super::reference::{allowed, default_of, defaults_of, describe};

/// The rows of a file with these keys: each key, and below a table with a kind each kind and profile.
pub(super) fn rows(entries: &[Entry]) -> Vec<KeyRow> {
    let mut rows = Vec::new();
    list(&mut rows, entries, "", "");
    rows
}

fn list(rows: &mut Vec<KeyRow>, entries: &[Entry], path: &str, kind: &str) {
    for entry in entries {
        let key = entry.key();
        let here = match (path, key.name) {
            ("", name) => name.to_owned(),
            // Both directions have the same keys, listed once.
            ("access", "upstream") => "access.DIRECTION".to_owned(),
            ("access", "downstream") => continue,
            (path, name) => format!("{path}.{name}"),
        };
        let value = match entry {
            Entry::Value { shape, .. } => describe(shape),
            Entry::Table { .. } => "table".to_owned(),
            Entry::Items { .. } => "list of tables".to_owned(),
            Entry::Choice { .. } => "table with a kind".to_owned(),
        };
        // A row for each default, with the kinds that have it.
        let mut row = |kind: &str, default: &str| {
            rows.push(KeyRow {
                path: here.clone(),
                kind: kind.to_owned(),
                value: value.replace('`', ""),
                default: default_of(key, default).replace('`', ""),
                allowed: allowed(key, entry),
                about: key.about.to_owned(),
                origin: key.origin.to_owned(),
            });
        };
        match defaults_of(entry) {
            Some(defaults) => {
                for (default, kinds) in defaults.each() {
                    row(&if kinds.is_empty() { kind.to_owned() } else { kinds.join(", ") }, default);
                }
            }
            None => row(kind, ""),
        }
        match entry {
            Entry::Value { .. } => {}
            Entry::Table { entries, .. } => list(rows, entries, &here, kind),
            Entry::Items { entries, .. } => list(rows, entries, &format!("{here}.NAME"), kind),
            Entry::Choice { groups, .. } => {
                for group in groups {
                    list_group(rows, group, &here);
                }
            }
        }
    }
}

fn list_group(rows: &mut Vec<KeyRow>, group: &Group, path: &str) {
    let row = |kind: &str, value: String, about: &str| KeyRow {
        path: path.to_owned(),
        kind: kind.to_owned(),
        value,
        about: about.to_owned(),
        ..KeyRow::default()
    };
    for kind in &group.kinds {
        rows.push(row("", format!("kind = \"{}\"", kind.name), kind.about));
        for (name, about) in &kind.profiles {
            rows.push(row(kind.name, format!("profile = \"{name}\""), about));
        }
    }
    let kinds: Vec<&str> = group.kinds.iter().map(|kind| kind.name).collect();
    list(rows, &group.entries, path, &kinds.join(", "));
}
