//! The reference page.

use std::fmt::Write as _;

use super::catalogue::{Defaults, Entry, Group};
use sojourn_keys::Key;
use sojourn_keys::value::Shape;

/// Text above the generated part.
const INTRODUCTION: &str = include_str!("introduction.md");

/// The page of a file with these keys.
pub(super) fn page(entries: &[Entry]) -> String {
    let mut out = String::from(INTRODUCTION);
    out.push_str("\n## The file\n\n");
    values(&mut out, entries);
    sections(&mut out, entries, "");
    out
}

/// Sections for everything that is a table.
fn sections(out: &mut String, entries: &[Entry], path: &str) {
    for entry in entries {
        let key = entry.key();
        let here = match (path, key.name) {
            ("", name) => name.to_owned(),
            // Both directions have the same keys, listed once.
            ("access", "upstream") => "access.DIRECTION".to_owned(),
            ("access" | "link", "downstream") => continue,
            // Keys that stand elsewhere are a reference to that section.
            ("link", "upstream") => {
                same(out, "link.DIRECTION", "access.DIRECTION");
                continue;
            }
            ("home", "access") => {
                same(out, "home.access", "access");
                continue;
            }
            ("home", "traffic") => {
                same(out, "[[home.traffic]]", "[[traffic]]");
                continue;
            }
            ("home", "load") => {
                same(out, "[[home.load]]", "[[load]]");
                continue;
            }
            ("load", "stack") => {
                same(out, "load.stack", "traffic.stack");
                continue;
            }
            (path, name) => format!("{path}.{name}"),
        };
        match entry {
            Entry::Value { .. } => {}
            Entry::Table { entries, .. } => {
                if entries.iter().any(|entry| matches!(entry, Entry::Value { .. })) {
                    let _ = writeln!(out, "\n## `{here}`\n\n{}.\n", sentence(key.about));
                    values(out, entries);
                }
                sections(out, entries, &here);
            }
            Entry::Items { entries, .. } => {
                let _ = writeln!(out, "\n## `[[{here}]]`\n\n{}.\n", sentence(key.about));
                values(out, entries);
                sections(out, entries, &here);
            }
            Entry::Choice { groups, .. } => {
                let _ = writeln!(out, "\n## `{here}`\n\n{}. Kinds:\n", sentence(key.about));
                kinds(out, groups);
                for group in groups {
                    keys_of(out, group, &here);
                }
            }
        }
    }
}

fn same(out: &mut String, here: &str, there: &str) {
    let _ = writeln!(out, "\n## `{here}`\n\nThe keys of `{there}`.");
}

fn kinds(out: &mut String, groups: &[Group]) {
    out.push_str("| `kind` | meaning |\n|---|---|\n");
    for kind in groups.iter().flat_map(|group| &group.kinds) {
        let _ = writeln!(out, "| `\"{}\"` | {} |", kind.name, kind.about);
    }
}

/// The profiles and keys of a group of kinds.
fn keys_of(out: &mut String, group: &Group, path: &str) {
    if group.entries.is_empty() {
        return;
    }
    let names: Vec<String> = group.kinds.iter().map(|kind| format!("`\"{}\"`", kind.name)).collect();
    let _ = writeln!(out, "\n### `{path}` of kind {}\n", names.join(", "));
    for kind in group.kinds.iter().filter(|kind| !kind.profiles.is_empty()) {
        let _ = writeln!(out, "| `profile` of `\"{}\"` | values |\n|---|---|", kind.name);
        for (name, about) in &kind.profiles {
            let _ = writeln!(out, "| `\"{name}\"` | {about} |");
        }
        out.push('\n');
    }
    values(out, &group.entries);
    for entry in &group.entries {
        let key = entry.key();
        let here = format!("{path}.{}", key.name);
        match entry {
            Entry::Table { entries, .. } => {
                let _ = writeln!(out, "\n#### `{here}`\n\n{}.\n", sentence(key.about));
                values(out, entries);
            }
            Entry::Choice { groups, .. } => {
                let _ = writeln!(out, "\n#### `{here}`\n\n{}. Kinds:\n", sentence(key.about));
                kinds(out, groups);
                for group in groups {
                    keys_of(out, group, &here);
                }
            }
            _ => {}
        }
    }
}

/// The table of the keys.
fn values(out: &mut String, entries: &[Entry]) {
    out.push_str("| key | value | default | allowed | meaning | origin |\n");
    out.push_str("|---|---|---|---|---|---|\n");
    for entry in entries {
        let key = entry.key();
        let what = match entry {
            Entry::Value { shape, .. } => describe(shape),
            Entry::Table { .. } => "table".to_owned(),
            Entry::Items { .. } => "list of tables".to_owned(),
            Entry::Choice { .. } => "table with `kind`".to_owned(),
        };
        let default = default_by_kind(entry);
        let _ = writeln!(
            out,
            "| `{}` | {what} | {default} | {} | {} | {} |",
            key.name,
            allowed(key, entry),
            key.about,
            key.origin
        );
    }
}

/// The defaults of an entry that has any.
pub(super) const fn defaults_of(entry: &Entry) -> Option<&Defaults> {
    match entry {
        Entry::Value { default, .. } | Entry::Choice { default, .. } => Some(default),
        Entry::Table { .. } | Entry::Items { .. } => None,
    }
}

/// The default of most kinds, and the others with their kinds.
pub(super) fn default_by_kind(entry: &Entry) -> String {
    let key = entry.key();
    let Some(defaults) = defaults_of(entry) else {
        return if matches!(entry, Entry::Items { .. }) { default_of(key, "") } else { String::new() };
    };
    let mut told = default_of(key, defaults.usual());
    if key.required || key.conditional {
        return told;
    }
    for (default, kinds) in defaults.each().filter(|(default, _)| *default != defaults.usual()) {
        let kinds: Vec<String> = kinds.iter().map(|kind| format!("`\"{kind}\"`")).collect();
        let _ = write!(told, "; of {}: {}", kinds.join(", "), default_of(key, default));
    }
    told
}

pub(super) fn default_of(key: &Key, default: &str) -> String {
    match default {
        _ if key.required => "required".to_owned(),
        _ if key.conditional => "see meaning".to_owned(),
        "" => String::new(),
        default => format!("`{default}`"),
    }
}

pub(super) fn allowed(key: &Key, entry: &Entry) -> String {
    if matches!(entry, Entry::Items { .. }) {
        return format!("1 to {} entries", key.most);
    }
    match (key.least, key.most) {
        ("", "") => String::new(),
        (least, "") => format!("from {least}"),
        ("", most) => format!("up to {most}"),
        (least, most) => format!("{least} to {most}"),
    }
}

pub(super) fn describe(shape: &Shape) -> String {
    match shape {
        Shape::Quantity { name, .. } => {
            let name = name.strip_prefix("a ").unwrap_or(name);
            name.split(" (").next().unwrap_or(name).to_owned()
        }
        Shape::Whole => "whole number".to_owned(),
        Shape::Number => "number".to_owned(),
        Shape::Boolean => "`true` or `false`".to_owned(),
        Shape::Text => "text".to_owned(),
        Shape::Words(words) => {
            let words: Vec<String> = words.iter().map(|(word, about)| format!("`\"{word}\"` ({about})")).collect();
            words.join(", ")
        }
        Shape::WordOr(word, inner) => format!("`\"{word}\"`, or {}", describe(inner)),
        Shape::Either(one, other) => format!("{}, or {}", describe(one), describe(other)),
        Shape::OneOrMany(inner) => format!("{0}, or list of {0}", describe(inner)),
        Shape::List(inner) => format!("list of {}", describe(inner)),
        Shape::Table(fields) => {
            let names: Vec<String> = fields.iter().map(|field| format!("`{}` ({})", field.name, field.about)).collect();
            format!("table of {}", names.join(" and "))
        }
        Shape::Settings => "table of key paths and values".to_owned(),
        Shape::Explained(name, _) => (*name).to_owned(),
        Shape::Exactly(number) => format!("`{number}`"),
    }
}

/// With a capital letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
