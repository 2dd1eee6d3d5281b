//! Pieces of scenario that are laid over others: the overlays and sweep values of studies, and settings.
//!
//! Tables merge key by key, every other value replaces what is there. Four rules go beyond that:
//!
//! - a table whose `kind` changes is replaced as a whole, since the old kind's keys mean nothing to the new;
//! - a table without a kind that is laid over a word keeps it: `stack = "linux-cubic"` is the same as
//!   `stack = { kind = "linux-cubic" }`;
//! - `traffic` entries, links, loads and homes merge by their `name`, and a new name adds an entry; nothing else than
//!   such entries can be laid over them;
//! - `remove` lists key paths (`access.upstream.queue.limit`, `traffic.call`) to take out first.
//!
//! Source: none; the rules are the project's own. Deviations: none known.

use std::collections::BTreeSet;

use sojourn_keys::content::{Content, Node, Position, Table};
use sojourn_keys::{Mismatch, nearest};

use crate::problem::{Problem, ScenarioProblems};
use crate::reader::join;
use crate::tree;

/// A piece of scenario.
#[derive(Clone, Debug)]
pub struct Overlay {
    table: Table,
}

impl Overlay {
    /// Reads the text as TOML. Keys are not checked.
    pub fn parse(text: &str) -> Result<Self, ScenarioProblems> {
        let mut table = tree::parse(text)?;
        forget_places(&mut table);
        Ok(Self { table })
    }

    /// The overlay that has `value` at a key path, and nothing else.
    pub(crate) fn at(path: &[String], value: Node) -> Self {
        let Some((last, tables)) = path.split_last() else {
            return Self { table: Table::default() };
        };
        let mut table = Table::default();
        table.insert(last, value);
        for key in tables.iter().rev() {
            let mut outer = Table::default();
            outer.insert(key, node(Content::Table(table)));
            table = outer;
        }
        Self { table }
    }
}

/// Lays `overlay` over `base`; returns the entries that have no place there, and lays the others.
pub(crate) fn lay(base: &mut Table, overlay: &Overlay) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Some(paths) = overlay.table.get("remove") {
        remove(base, &paths.content, &mut problems);
    }
    lay_lists(base, &overlay.table, ("", &LISTS), &mut problems);
    problems
}

/// Lists of a scenario whose entries are known by their names.
const LISTS: [&str; 4] = ["link", "home", "load", "traffic"];

/// Those of a home.
const LISTS_OF_HOME: [&str; 2] = ["load", "traffic"];

/// Merges tables key by key, `lists` at the end and entry by entry. `place` is where the tables stand.
fn lay_lists(base: &mut Table, changes: &Table, (place, lists): (&str, &[&str]), problems: &mut Vec<Problem>) {
    let (named, rest): (Vec<_>, Vec<_>) = into_entries(changes)
        .into_iter()
        .filter(|(key, _)| !place.is_empty() || key != "remove")
        .partition(|(key, _)| lists.contains(&key.as_str()));
    merge(base, rest);
    for key in lists {
        if let Some((_, change)) = named.iter().find(|(other, _)| other == key) {
            lay_list(base, key, (&join(place, key), &change.content), problems);
        }
    }
}

/// Merges tables key by key.
fn merge(target: &mut Table, changes: impl IntoIterator<Item = (String, Node)>) {
    for (key, change) in changes {
        if let Some(Content::List(items)) = target.get_mut(&key).map(|node| &mut node.content)
            && let Some(changes) = entries_of(items, &change.content)
        {
            lay_entries(items, changes);
            continue;
        }
        match (target.get_mut(&key), change.content) {
            (Some(present), Content::Table(table)) => lay_table(present, table),
            (_, content) => target.insert(&key, node(content)),
        }
    }
}

/// Returns changes to the entries of a list, if all have different names: tables by name, or named entries. A list with
/// a name twice is replaced as a whole.
fn entries_of(items: &[Node], change: &Content) -> Option<Vec<(String, Table)>> {
    let named = |item: &Node| match &item.content {
        Content::Table(entry) => name_of(entry).map(|name| (name, entry.clone())),
        _ => None,
    };
    let known: Vec<(String, Table)> = items.iter().map(named).collect::<Option<_>>()?;
    if known.is_empty() || has_twins(&known) {
        return None;
    }
    let changes: Vec<(String, Table)> = match change {
        Content::List(changes) => changes.iter().map(named).collect(),
        Content::Table(by_name) => by_name
            .iter()
            .map(|(name, change)| match &change.content {
                Content::Table(entry) => Some((name.to_owned(), entry.clone())),
                _ => None,
            })
            .collect(),
        _ => None,
    }?;
    (!has_twins(&changes)).then_some(changes)
}

/// Returns true if a name occurs twice.
fn has_twins(entries: &[(String, Table)]) -> bool {
    let mut names = BTreeSet::new();
    !entries.iter().all(|(name, _)| names.insert(name))
}

/// Merges entries by name; a new name adds one.
fn lay_entries(items: &mut Vec<Node>, changes: Vec<(String, Table)>) {
    for (name, change) in changes {
        let is_meant =
            |item: &Node| matches!(&item.content, Content::Table(entry) if name_of(entry).as_ref() == Some(&name));
        let place = items.iter().position(is_meant).unwrap_or_else(|| {
            let mut entry = Table::default();
            entry.insert("name", node(Content::Text(name.clone())));
            items.push(node(Content::Table(entry)));
            items.len() - 1
        });
        if let Content::Table(entry) = &mut items[place].content {
            merge(entry, into_entries(&change));
        }
    }
}

/// Lays a table over whatever is present.
fn lay_table(present: &mut Node, table: Table) {
    let keeps_kind = match (&present.content, table.get("kind")) {
        (Content::Table(_) | Content::Text(_), None) => true,
        (Content::Table(old), Some(kind)) => old.get("kind").is_some_and(|old| same_text(old, kind)),
        _ => false,
    };
    if !keeps_kind {
        *present = node(Content::Table(table));
        return;
    }
    if let Content::Text(_) = present.content {
        let mut expanded = Table::default();
        expanded.insert("kind", present.clone());
        present.content = Content::Table(expanded);
    }
    if let Content::Table(old) = &mut present.content {
        merge(old, into_entries(&table));
    }
}

/// Merges the entries of a list of `base` by their names; a new name adds one.
fn lay_list(base: &mut Table, key: &str, (place, changes): (&str, &Content), problems: &mut Vec<Problem>) {
    let mut entries = match base.get(key).map(|node| &node.content) {
        Some(content) => named(place, content, problems),
        None => Vec::new(),
    };
    let known: Vec<String> = entries.iter().map(|(name, _)| name.clone()).collect();
    let told = problems.len();
    let changes = named(place, changes, problems);
    if problems.len() > told && changes.is_empty() {
        return; // nothing is laid, and nothing lost
    }
    for (name, change) in changes {
        let found = entries.iter().position(|(known, _)| *known == name);
        let found = found.unwrap_or_else(|| {
            let mut entry = Table::default();
            entry.insert("name", node(Content::Text(name.clone())));
            entries.push((name.clone(), entry));
            entries.len() - 1
        });
        let entry = &mut entries[found].1;
        let of_entry = if key == "home" { &LISTS_OF_HOME[..] } else { &[] };
        lay_lists(entry, &change, (&join(place, &name), of_entry), problems);
        if key == "traffic" && entry.get("app").is_none() && !known.contains(&name) {
            let message = "the base has no traffic of this name, and new traffic needs an `app`".to_owned();
            problems.push(problem(&join(place, &name), message, hint_of(&name, &known)));
        }
    }
    let list = entries.into_iter().map(|(_, entry)| node(Content::Table(entry))).collect();
    base.insert(key, node(Content::List(list)));
}

/// Entries of a list at `place` with the names that they are matched by, from either way of writing them. In a table
/// by name, a `name` of its own renames the entry.
fn named(place: &str, list: &Content, problems: &mut Vec<Problem>) -> Vec<(String, Table)> {
    let mut named: Vec<(String, Table)> = Vec::new();
    match list {
        Content::Table(by_name) => {
            let mut written: Vec<_> = by_name.iter().collect();
            written.sort_by_key(|(_, entry)| (entry.key_at.line, entry.key_at.column));
            for (name, entry) in written {
                let Content::Table(entry) = &entry.content else {
                    let message = format!("{} where a table belongs", entry.content.kind());
                    let hint = format!("name a key below it: {place}.{name}.KEY");
                    problems.push(problem(&join(place, name), message, hint));
                    continue;
                };
                let mut table = Table::default();
                table.insert("name", node(Content::Text(name.to_owned())));
                merge(&mut table, into_entries(entry));
                named.push((name.to_owned(), table));
            }
        }
        Content::List(items) => {
            for (index, item) in items.iter().enumerate() {
                let Content::Table(entry) = &item.content else {
                    problems.push(nameless(place, index));
                    continue;
                };
                match name_of(entry) {
                    None => problems.push(nameless(place, index)),
                    Some(name) if named.iter().any(|(other, _)| *other == name) => {
                        let message = format!("{place} \"{name}\" occurs twice");
                        problems.push(problem(place, message, String::new()));
                    }
                    Some(name) => named.push((name, entry.clone())),
                }
            }
        }
        other => {
            let message = format!("{} where a table belongs", other.kind());
            let hint = "a table by name, or an array of tables".to_owned();
            problems.push(problem(place, message, hint));
        }
    }
    named
}

fn nameless(place: &str, index: usize) -> Problem {
    let message = format!("entry {} has no name to match it by", index + 1);
    problem(place, message, "write: name = \"…\"".to_owned())
}

fn name_of(entry: &Table) -> Option<String> {
    match entry.get("name").map(|node| &node.content) {
        Some(Content::Text(name)) => Some(name.clone()),
        _ => None,
    }
}

/// The names of the traffic entries of `base`.
pub(crate) fn traffic_names(base: &Table) -> Vec<String> {
    match base.get("traffic").map(|node| &node.content) {
        Some(Content::List(items)) => items
            .iter()
            .filter_map(|item| match &item.content {
                Content::Table(entry) => name_of(entry),
                _ => None,
            })
            .collect(),
        Some(Content::Table(entries)) => entries.iter().map(|(name, _)| name.to_owned()).collect(),
        _ => Vec::new(),
    }
}

/// Takes out what a list of key paths names.
fn remove(base: &mut Table, paths: &Content, problems: &mut Vec<Problem>) {
    let Content::List(paths) = paths else {
        let message = format!("{} where a list of key paths belongs", paths.kind());
        let hint = "for instance remove = [\"traffic.call\"]".to_owned();
        problems.push(problem("remove", message, hint));
        return;
    };
    for path in paths {
        let found = match &path.content {
            Content::Text(text) => tree::parse_path(text)
                .ok_or_else(|| Mismatch::new(format!("\"{text}\" is not a key path"), ""))
                .and_then(|parts| remove_one(base, &parts, text)),
            other => Err(Mismatch::new(format!("{} where a key path belongs", other.kind()), "")),
        };
        if let Err(mismatch) = found {
            problems.push(problem("remove", mismatch.message, mismatch.hint));
        }
    }
}

/// Takes out what stands at a key path, if anything does.
pub(crate) fn clear(base: &mut Table, path: &[String]) {
    let _ = remove_one(base, path, "");
}

fn remove_one(table: &mut Table, parts: &[String], path: &str) -> Result<(), Mismatch> {
    let cannot = |what: &str, name: &str, known: &[String]| {
        Mismatch::new(format!("cannot remove \"{path}\": the base has no such {what}"), hint_of(name, known))
    };
    let Some((first, rest)) = parts.split_first() else {
        return Ok(());
    };
    let keys: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
    let Some(present) = table.get_mut(first) else {
        return Err(cannot("key", first, &keys));
    };
    let Some((second, below)) = rest.split_first() else {
        table.remove(first);
        return Ok(());
    };
    match &mut present.content {
        Content::Table(inner) => remove_one(inner, rest, path),
        Content::List(items) => {
            let is_meant =
                |item: &Node| matches!(&item.content, Content::Table(entry) if name_of(entry).as_ref() == Some(second));
            let names: Vec<String> = items
                .iter()
                .filter_map(|item| match &item.content {
                    Content::Table(entry) => name_of(entry),
                    _ => None,
                })
                .collect();
            let Some(place) = items.iter().position(is_meant) else {
                return Err(cannot("entry", second, &names));
            };
            if below.is_empty() {
                items.retain(|item| !is_meant(item));
                return Ok(());
            }
            match &mut items[place].content {
                Content::Table(entry) => remove_one(entry, below, path),
                _ => Ok(()),
            }
        }
        _ => Err(cannot("key", second, &[])),
    }
}

fn hint_of(word: &str, known: &[String]) -> String {
    match nearest(word, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if known.is_empty() => String::new(),
        None => format!("known: {}", known.join(", ")),
    }
}

fn problem(path: &str, message: String, hint: String) -> Problem {
    Problem { path: path.to_owned(), message, hint, line: 0, column: 0 }
}

fn into_entries(table: &Table) -> Vec<(String, Node)> {
    table.iter().map(|(key, node)| (key.to_owned(), node.clone())).collect()
}

fn same_text(one: &Node, other: &Node) -> bool {
    matches!((&one.content, &other.content), (Content::Text(a), Content::Text(b)) if a == b)
}

fn node(content: Content) -> Node {
    Node { content, key_at: Position::default(), at: Position::default() }
}

/// Removes positions: an overlay's entries have no place in the scenario's text. Its order stays: that of new traffic.
fn forget_places(table: &mut Table) {
    let mut entries = into_entries(table);
    entries.sort_by_key(|(_, node)| (node.key_at.line, node.key_at.column));
    let entries: Vec<(String, Node)> = entries
        .into_iter()
        .map(|(key, mut node)| {
            forget(&mut node);
            (key, node)
        })
        .collect();
    *table = entries.into_iter().collect();
}

fn forget(node: &mut Node) {
    node.at = Position::default();
    node.key_at = Position::default();
    match &mut node.content {
        Content::Table(table) => forget_places(table),
        Content::List(items) => items.iter_mut().for_each(forget),
        _ => {}
    }
}
