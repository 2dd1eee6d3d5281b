//! The tree of a file as TOML again: what a scenario says after overlays and settings.
//!
//! Source: TOML 1.0. Deviations: comments and the order of tables are not kept; a date, which no key takes,
//! is written as the first of January 1970.

use std::fmt::Write as _;

use sojourn_keys::content::{Content, Node, Table};
use sojourn_keys::value::quoted;

/// The text of `table`.
pub(crate) fn text(table: &Table) -> String {
    let mut out = String::new();
    write_table(&mut out, table, "");
    out
}

fn write_table(out: &mut String, table: &Table, path: &str) {
    for (key, node) in table.iter().filter(|(_, node)| !has_heading(node)) {
        let _ = writeln!(out, "{} = {}", spelt(key), inline(&node.content));
    }
    for (key, node) in table.iter() {
        let key = spelt(key);
        let path = if path.is_empty() { key } else { format!("{path}.{key}") };
        match &node.content {
            Content::Table(inner) => {
                let _ = writeln!(out, "\n[{path}]");
                write_table(out, inner, &path);
            }
            Content::List(items) if has_heading(node) => {
                for item in items {
                    if let Content::Table(inner) = &item.content {
                        let _ = writeln!(out, "\n[[{path}]]");
                        write_table(out, inner, &path);
                    }
                }
            }
            _ => {}
        }
    }
}

/// A key, in quotes if it needs them.
fn spelt(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if bare { key.to_owned() } else { quoted(key) }
}

/// Returns true if a value is written under a heading of its own.
fn has_heading(node: &Node) -> bool {
    match &node.content {
        Content::Table(_) => true,
        Content::List(items) => !items.is_empty() && items.iter().all(|item| matches!(item.content, Content::Table(_))),
        _ => false,
    }
}

/// A value as it stands in a line.
pub(crate) fn inline(content: &Content) -> String {
    match content {
        Content::Text(text) => quoted(text),
        Content::Integer(digits, _) | Content::Float(digits, _) => digits.clone(),
        Content::Boolean(value) => value.to_string(),
        Content::Date => "1970-01-01".to_owned(),
        Content::List(items) => {
            let items: Vec<String> = items.iter().map(|item| inline(&item.content)).collect();
            format!("[{}]", items.join(", "))
        }
        Content::Table(table) => {
            let entries: Vec<String> =
                table.iter().map(|(key, node)| format!("{} = {}", spelt(key), inline(&node.content))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}
