//! A scenario file: text whose spelling is right, and what it means.
//!
//! Source: TOML 1.0 for the text; the keys are declared in `keys`. Deviations: none known.

use core::fmt;

use crate::check::check;
use crate::keys::scenario::Draft;
use crate::keys::stack;
use crate::model::Scenario;
use crate::printer::Printer;
use crate::problem::{Problem, ScenarioProblems};
use crate::reader::{Notes, Origin, Reader, join};
use crate::tree;
use sojourn_keys::content::{Content, Node, Position, Table};
use sojourn_keys::value::{Mismatch, shown};

/// The text of a scenario, spelt as TOML, with the settings that were made on top of it.
#[derive(Clone)]
pub struct ScenarioFile {
    table: Table,
    /// Settings that have no place in the file, found out when they were made.
    misplaced: Vec<Problem>,
}

impl fmt::Debug for ScenarioFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScenarioFile")
            .field(
                "keys",
                &self.table.iter().map(|(key, _)| key).collect::<Vec<_>>(),
            )
            .finish_non_exhaustive()
    }
}

impl ScenarioFile {
    /// Reads the text as TOML. What the keys mean is not looked at.
    pub fn parse(text: &str) -> Result<Self, ScenarioProblems> {
        // Editors of some systems put a byte-order mark in front.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Ok(Self {
            table: tree::parse(text)?,
            misplaced: Vec::new(),
        })
    }

    /// Reads the bytes of a file, which must be UTF-8.
    pub fn parse_bytes(bytes: &[u8]) -> Result<Self, ScenarioProblems> {
        match core::str::from_utf8(bytes) {
            Ok(text) => Self::parse(text),
            Err(error) => {
                let before = &bytes[..error.valid_up_to()];
                let lines = before.split(|byte| *byte == b'\n').count();
                Err(ScenarioProblems::new(vec![Problem {
                    path: String::new(),
                    message: "not UTF-8 text".to_owned(),
                    hint: "a scenario is a text file; save it as UTF-8".to_owned(),
                    line: u32::try_from(lines).unwrap_or(u32::MAX),
                    column: 1,
                }]))
            }
        }
    }

    /// Puts `value` at the dotted key `path`, in place of what the file says there. The value is TOML,
    /// or else a text that needs no quotes. Traffic entries are addressed by their name:
    /// `traffic.bulk.stack`. A new `kind` empties its table first, because the keys of one kind mean
    /// nothing to another. What is wrong with a setting, validation tells.
    pub fn set(&mut self, path: &str, value: &str) {
        let Some(parts) = tree::parse_path(path.trim()) else {
            self.misplace(
                path,
                Mismatch::new("not a key path", "for instance access.upstream.queue.limit"),
            );
            return;
        };
        let node = tree::parse_value(value);
        if let Err(mismatch) = put(&mut self.table, &parts, node) {
            self.misplace(path, mismatch);
        }
    }

    fn misplace(&mut self, path: &str, mismatch: Mismatch) {
        self.misplaced.push(Problem {
            path: path.trim().to_owned(),
            message: format!("cannot be set: {}", mismatch.message),
            hint: mismatch.hint,
            line: 0,
            column: 0,
        });
    }

    /// The complete scenario, or everything that is wrong with the file.
    pub fn validate(&self) -> Result<Scenario, ScenarioProblems> {
        self.read().map(|(draft, _)| draft.into_scenario())
    }

    /// The complete scenario as TOML, with a remark on each value that says where it comes from.
    pub fn explain(&self) -> Result<String, ScenarioProblems> {
        let (draft, notes) = self.read()?;
        // The servers' values are complete only in the scenario.
        let mut draft = Draft::of(&draft.into_scenario());
        let mut printer = Printer::explaining(notes.origins);
        draft.keys(&mut printer, true);
        Ok(printer.print())
    }

    fn read(&self) -> Result<(Draft, Notes), ScenarioProblems> {
        let mut notes = Notes::default();
        let mut draft = Draft::default();
        let mut reader = Reader::new(&self.table, &mut notes);
        draft.keys(&mut reader, true);
        reader.finish();
        fit_receive_windows(&mut draft, &notes);
        check(&draft, &mut notes);
        notes.problems.extend(self.misplaced.iter().cloned());
        if notes.problems.is_empty() {
            Ok((draft, notes))
        } else {
            Err(ScenarioProblems::new(notes.problems))
        }
    }
}

/// The receive window of ns-2 stacks follows the access link, unless the file says otherwise.
fn fit_receive_windows(draft: &mut Draft, notes: &Notes) {
    for traffic in &mut draft.traffic {
        let path = join("traffic", &traffic.name);
        let path = format!("{path}.stack.receive_window");
        let given = matches!(
            notes.origins.get(&path),
            Some(Origin::File(_) | Origin::Setting)
        );
        if !given {
            let direction = traffic.application.direction();
            let rate = draft.access[direction].drain_rate();
            stack::fit_receive_window(&mut traffic.stack, rate);
        }
    }
}

/// Puts `node` below `table`.
fn put(table: &mut Table, parts: &[String], node: Node) -> Result<(), Mismatch> {
    let Some((first, rest)) = parts.split_first() else {
        return Ok(());
    };
    if rest.is_empty() {
        // What belongs to another kind means nothing to the new one.
        if first == "kind" && table.get("kind").is_some_and(|old| !same_text(old, &node)) {
            *table = Table::default();
        }
        table.insert(first, node);
        return Ok(());
    }
    if table.get(first).is_none() {
        table.insert(first, empty_table());
    }
    let Some(inner) = table.get_mut(first) else {
        return Ok(());
    };
    match &mut inner.content {
        Content::Table(inner) => put(inner, rest, node),
        Content::List(items) => put_in_list(items, first, rest, node),
        // A word such as stack = "linux-cubic" stands for a table with that kind.
        Content::Text(_) => {
            let mut expanded = Table::default();
            expanded.insert("kind", inner.clone());
            let result = put(&mut expanded, rest, node);
            inner.content = Content::Table(expanded);
            result
        }
        other => Err(Mismatch::new(
            format!("{first} holds {}", other.kind()),
            "only tables have keys below them",
        )),
    }
}

/// Puts `node` into the item that has the name `rest[0]`.
fn put_in_list(
    items: &mut [Node],
    list: &str,
    rest: &[String],
    node: Node,
) -> Result<(), Mismatch> {
    let (name, below) = rest
        .split_first()
        .expect("a path ends at a key, not at a list");
    let named = |item: &Node| match &item.content {
        Content::Table(table) => match table.get("name").map(|node| &node.content) {
            Some(Content::Text(text)) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    };
    let names: Vec<String> = items.iter().filter_map(named).collect();
    let Some(item) = items
        .iter_mut()
        .find(|item| named(item).as_ref() == Some(name))
    else {
        let hint = if names.is_empty() {
            format!("no entry of {list} has a name")
        } else {
            format!("entries of {list} are {}", names.join(", "))
        };
        return Err(Mismatch::new(
            format!("{list} has no entry {}", shown(name)),
            hint,
        ));
    };
    match &mut item.content {
        Content::Table(table) if !below.is_empty() => put(table, below, node),
        Content::Table(_) => Err(Mismatch::new(
            format!("{name} is a whole entry"),
            format!("name a key below it, for instance {list}.{name}.stack"),
        )),
        other => Err(Mismatch::new(format!("{name} holds {}", other.kind()), "")),
    }
}

fn same_text(one: &Node, other: &Node) -> bool {
    matches!((&one.content, &other.content), (Content::Text(a), Content::Text(b)) if a == b)
}

fn empty_table() -> Node {
    Node {
        content: Content::Table(Table::default()),
        key_at: Position::default(),
        at: Position::default(),
    }
}

impl Scenario {
    /// Reads and validates the text of a scenario file.
    pub fn parse(text: &str) -> Result<Self, ScenarioProblems> {
        Self::parse_with(text, &[])
    }

    /// Reads the text of a scenario file and puts `settings` in place of what it says: pairs of a
    /// dotted key and a value, as [`ScenarioFile::set`] takes them.
    pub fn parse_with(text: &str, settings: &[(&str, &str)]) -> Result<Self, ScenarioProblems> {
        let mut file = ScenarioFile::parse(text)?;
        for (path, value) in settings {
            file.set(path, value);
        }
        file.validate()
    }

    /// The complete scenario as TOML, every value in force. Two scenarios are equal exactly if these
    /// texts are, and the text reads back as an equal scenario.
    pub fn canonical(&self) -> String {
        self.print(true)
    }

    /// Content hash of what decides a run's results: the scenario without its list of seeds, the
    /// run's `seed`, and the version of the engine. 64 hexadecimal digits.
    pub fn key(&self, seed: sojourn_base::Seed, engine_version: &str) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("sojourn run key v1");
        let content = self.print(false);
        for part in [content.as_bytes(), engine_version.as_bytes()] {
            // Lengths keep parts apart.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.update(&seed.0.to_le_bytes());
        hasher.finalize().to_hex().to_string()
    }

    fn print(&self, with_seeds: bool) -> String {
        let mut printer = Printer::default();
        Draft::of(self).keys(&mut printer, with_seeds);
        printer.print()
    }
}

/// All problems of a scenario's text; empty if it is valid.
pub fn problems(text: &str) -> Vec<Problem> {
    match Scenario::parse(text) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.into_vec(),
    }
}
