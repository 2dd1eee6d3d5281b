//! Takes the values of a configuration from a file's tree, and notes everything that does not fit.

use core::cmp::Ordering;
use std::collections::BTreeMap;

use crate::problem::Problem;
use crate::tree;
use sojourn_keys::content::{Content, Node, Position, Table};
use sojourn_keys::nearest;
use sojourn_keys::value::{Mismatch, Value, quoted, shown, unknown_word};
use sojourn_keys::{Choice, Items, Key, Visitor};

/// Origin of a value in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Written in the file, in this line.
    File(u32),
    /// Set from outside the file (`--set`).
    Setting,
    /// Of the profile with this name.
    Profile(String),
    /// The default.
    Default,
}

/// Problems, positions and origins that reading found.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) problems: Vec<Problem>,
    /// Position of each key in the file.
    positions: BTreeMap<String, Position>,
    /// Origin of each value.
    pub(crate) origins: BTreeMap<String, Origin>,
}

impl Notes {
    /// Something is wrong with what stands at `path`, or should stand there.
    pub(crate) fn problem(&mut self, path: &str, mismatch: Mismatch) {
        let at = self.position(path);
        self.problem_at(path, at, mismatch);
    }

    fn problem_at(&mut self, path: &str, at: Position, mismatch: Mismatch) {
        self.problems.push(told(path, at, mismatch));
    }

    /// The same of what stands at `path`, or should stand there, and is not wrong.
    pub(crate) fn told_at(&self, path: &str, mismatch: Mismatch) -> Problem {
        told(path, self.position(path), mismatch)
    }

    /// The place of `path`, or of the nearest table around it that is written in the file.
    fn position(&self, path: &str) -> Position {
        let mut path = path;
        loop {
            if let Some(position) = self.positions.get(path) {
                return *position;
            }
            match path.rsplit_once('.') {
                Some((outer, _)) => path = outer,
                None => return Position::default(),
            }
        }
    }

    /// Returns true if `path`, or a key below or around it, has a problem already.
    pub(crate) fn is_doubtful(&self, path: &str) -> bool {
        self.problems.iter().any(|problem| is_within(&problem.path, path) || is_within(path, &problem.path))
    }

    /// Returns true if the table at `path` could not be read: it, a table around it, or its kind has a problem.
    pub(crate) fn is_unreadable(&self, path: &str) -> bool {
        let (kind, profile) = (join(path, "kind"), join(path, "profile"));
        self.problems
            .iter()
            .any(|problem| is_within(path, &problem.path) || problem.path == kind || problem.path == profile)
    }
}

fn told(path: &str, at: Position, mismatch: Mismatch) -> Problem {
    Problem { path: path.to_owned(), message: mismatch.message, hint: mismatch.hint, line: at.line, column: at.column }
}

/// Returns true if `path` is `outer` or below it.
fn is_within(path: &str, outer: &str) -> bool {
    !outer.is_empty() && path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// `key` below `path`.
pub(crate) fn join(path: &str, key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '[' | ']'));
    let key = if bare { key.to_owned() } else { quoted(key) };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

/// Reads one table.
pub(crate) struct Reader<'a> {
    table: &'a Table,
    path: String,
    notes: &'a mut Notes,
    /// Origin of values that the table does not have.
    base: Origin,
    /// Keys that were read from this table.
    known: Vec<&'static str>,
    /// The present values are whole: none of the keys must be written.
    is_whole: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(table: &'a Table, notes: &'a mut Notes) -> Self {
        Self { table, path: String::new(), notes, base: Origin::Default, known: Vec::new(), is_whole: false }
    }

    /// The node of `key`; notes its place, and its absence if it must be there.
    fn find(&mut self, key: &Key) -> (String, Option<&'a Node>) {
        self.known.push(key.name);
        let path = join(&self.path, key.name);
        let node = self.table.get(key.name);
        if let Some(node) = node {
            self.notes.positions.insert(path.clone(), node.at);
        } else if key.required && !self.is_whole && self.base == Origin::Default {
            let hint = format!("{}; for instance {}", key.about, key.example);
            self.notes.problem(&path, Mismatch::new("is missing", hint));
        }
        (path, node)
    }

    fn note_origin(&mut self, path: &str, node: Option<&Node>) {
        let origin = match node {
            Some(node) if node.at.line > 0 => Origin::File(node.at.line),
            Some(_) => Origin::Setting,
            None => self.base.clone(),
        };
        self.notes.origins.insert(path.to_owned(), origin);
    }

    /// Reads the table at `path` with `keys`.
    fn descend(
        &mut self,
        table: &'a Table,
        path: String,
        base: Origin,
        known: &[&'static str],
        keys: &mut dyn FnMut(&mut dyn Visitor),
    ) {
        let mut reader = Reader { table, path, notes: &mut *self.notes, base, known: known.to_vec(), is_whole: false };
        keys(&mut reader);
        reader.finish();
    }

    /// Reports the keys that were never read.
    pub(crate) fn finish(self) {
        for (name, node) in self.table.iter() {
            if self.known.contains(&name) {
                continue;
            }
            let hint = match nearest(name, self.known.iter().copied()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("known here are {}", self.known.join(", ")),
            };
            self.notes.problem_at(&join(&self.path, name), node.key_at, Mismatch::new("unknown key", hint));
        }
    }

    /// The kind and the profile that `table` names; notes what is wrong with them.
    fn read_kind(
        &mut self,
        table: &Table,
        path: &str,
        choice: &dyn Choice,
    ) -> Option<(&'static str, Option<&'static str>)> {
        let kinds = choice.kinds();
        let kind = self.read_word(table, path, "kind", kinds.iter().map(|kind| kind.name));
        let kind = match kind {
            Ok(Some(kind)) => kind,
            Ok(None) => {
                let hint = some_kinds(kinds.iter().map(|kind| kind.name));
                let path = join(path, "kind");
                self.notes.problem(&path, Mismatch::new("is missing", hint));
                return None;
            }
            Err(()) => return None,
        };
        let info = kinds.into_iter().find(|info| info.name == kind)?;
        let profiles = info.profiles.iter().map(|(name, _)| *name);
        if profiles.clone().next().is_none() {
            return Some((kind, None));
        }
        let profile = self.read_word(table, path, "profile", profiles).unwrap_or_default();
        Some((kind, profile))
    }

    /// The text at `key`, which must be one of `known`; notes it if it is not.
    fn read_word(
        &mut self,
        table: &Table,
        path: &str,
        key: &str,
        known: impl Iterator<Item = &'static str> + Clone,
    ) -> Result<Option<&'static str>, ()> {
        let Some(node) = table.get(key) else {
            return Ok(None);
        };
        let path = join(path, key);
        self.notes.positions.insert(path.clone(), node.at);
        let mismatch = match &node.content {
            Content::Text(text) => match known.clone().find(|name| name == text) {
                Some(name) => return Ok(Some(name)),
                None if key == "kind" => unknown_kind(text, known),
                None => unknown_word(text, known),
            },
            other => Mismatch::new(format!("{} where a word belongs", other.kind()), some_kinds(known)),
        };
        self.notes.problem(&path, mismatch);
        Err(())
    }
}

/// `text` is none of the `known` kinds.
fn unknown_kind(text: &str, known: impl Iterator<Item = &'static str> + Clone) -> Mismatch {
    let hint = match nearest(text, known.clone()) {
        Some(near) => format!("did you mean {}?", quoted(near)),
        None => some_kinds(known),
    };
    Mismatch::new(format!("{} is not known here", shown(text)), hint)
}

/// The first of many words: a list of all kinds would be too long to read.
fn some_kinds(known: impl Iterator<Item = &'static str>) -> String {
    let some: Vec<String> = known.take(3).map(quoted).collect();
    format!("for instance {}; the reference of scenario files lists all", some.join(", "))
}

impl Visitor for Reader<'_> {
    fn has(&self, name: &str) -> bool {
        self.table.get(name).is_some()
    }

    fn value(&mut self, key: Key, value: &mut dyn Value) {
        let (path, node) = self.find(&key);
        self.note_origin(&path, node);
        let Some(node) = node else {
            return;
        };
        let before = value.print();
        if let Err(mismatch) = value.read(&node.content, &key) {
            self.notes.problem(&path, mismatch);
        } else if let Err(mismatch) = value.check(&key) {
            self.notes.problem(&path, mismatch);
            // The parts are judged together with the nearest value that is allowed: rates of 10^30 would overflow there.
            let is_above = value.compare(key.most) == Some(Ordering::Greater);
            let bound = if is_above { key.most } else { key.least };
            if value.read(&tree::parse_value(bound).content, &key).is_err() {
                let _ = value.read(&tree::parse_value(&before).content, &key);
            }
        }
    }

    fn table(&mut self, key: Key, keys: &mut dyn FnMut(&mut dyn Visitor)) {
        let empty = Table::default();
        // A table whose parts are required is not asked for itself: its parts are.
        let (path, node) = self.find(&Key { required: false, ..key });
        let base = self.base.clone();
        match node.map(|node| &node.content) {
            Some(Content::Table(table)) => self.descend(table, path, base, &[], keys),
            Some(other) => {
                let message = format!("{} where a table belongs", other.kind());
                let hint = format!("a heading like [{path}], and its keys below");
                self.notes.problem(&path, Mismatch::new(message, hint));
            }
            None => {
                let mut reader = Reader {
                    table: &empty,
                    path,
                    notes: &mut *self.notes,
                    base,
                    known: Vec::new(),
                    is_whole: self.is_whole,
                };
                keys(&mut reader);
            }
        }
    }

    fn choice(&mut self, key: Key, choice: &mut dyn Choice) {
        let (path, node) = self.find(&key);
        let Some(node) = node else {
            // The present value stays; its parts come from wherever the whole comes from.
            let empty = Table::default();
            let mut reader = Reader {
                table: &empty,
                path,
                notes: &mut *self.notes,
                base: match &self.base {
                    Origin::Default if key.required => return,
                    base => base.clone(),
                },
                known: Vec::new(),
                is_whole: true,
            };
            choice.keys(&mut reader);
            return;
        };
        let shorthand;
        let table = match &node.content {
            Content::Table(table) => table,
            Content::Text(_) => {
                let mut table = Table::default();
                table.insert("kind", node.clone());
                shorthand = table;
                &shorthand
            }
            other => {
                let message = format!("{} where a table or a word belongs", other.kind());
                let kinds = choice.kinds();
                let kinds = some_kinds(kinds.iter().map(|kind| kind.name));
                let hint = format!("a table with a kind, {kinds}");
                self.notes.problem(&path, Mismatch::new(message, hint));
                return;
            }
        };
        // If there is a kind already, a table may change its parts and omit it.
        let keeps_kind = !key.required && !["kind", "profile"].iter().any(|k| table.get(k).is_some());
        let (kind, base) = if keeps_kind {
            (choice.selected(), self.base.clone())
        } else {
            let Some((kind, profile)) = self.read_kind(table, &path, choice) else {
                return;
            };
            choice.select(kind, profile);
            let base = profile.map_or(Origin::Default, |name| Origin::Profile(name.to_owned()));
            (kind, base)
        };
        let has_profiles = choice.kinds().iter().any(|info| info.name == kind && !info.profiles.is_empty());
        let mut reader = Reader { table, path, notes: &mut *self.notes, base, known: vec!["kind"], is_whole: false };
        if has_profiles {
            reader.known.push("profile");
        }
        choice.keys(&mut reader);
        reader.finish();
    }

    fn items(&mut self, key: Key, items: &mut dyn Items) {
        let (path, node) = self.find(&key);
        let Some(node) = node else {
            items.resize(0);
            return;
        };
        let named;
        let list = match &node.content {
            Content::List(list) => list,
            Content::Table(table) if key.named => {
                named = table.iter().map(|(name, node)| named_item(name, node)).collect();
                &named
            }
            other => {
                let message = format!("{} where a list of tables belongs", other.kind());
                let hint = format!("a heading like [[{path}]] for each of them");
                self.notes.problem(&path, Mismatch::new(message, hint));
                return;
            }
        };
        if list.is_empty() && key.required {
            let hint = format!("{}; for instance {}", key.about, key.example);
            self.notes.problem(&path, Mismatch::new("is empty", hint));
        }
        let most = key.most.parse().unwrap_or(usize::MAX);
        if list.len() > most {
            let message = format!("a list of {} entries", list.len());
            self.notes.problem(&path, Mismatch::new(message, format!("at most {most}")));
            return;
        }
        items.resize(list.len());
        for (index, item) in list.iter().enumerate() {
            let path = item_path(&path, index, item);
            self.notes.positions.insert(path.clone(), item.at);
            if let Content::Table(table) = &item.content {
                let (notes, known) = (&mut *self.notes, Vec::new());
                let mut reader = Reader { table, path, notes, base: Origin::Default, known, is_whole: false };
                items.keys(index, &mut reader);
                reader.finish();
            } else {
                let message = format!("{} where a table belongs", item.content.kind());
                let hint = "a heading of its own, and its keys below";
                self.notes.problem(&path, Mismatch::new(message, hint));
            }
        }
    }
}

/// An item that a table of tables calls so.
fn named_item(name: &str, node: &Node) -> Node {
    let mut node = node.clone();
    if let Content::Table(table) = &mut node.content {
        let content = Content::Text(name.to_owned());
        table.insert("name", Node { content, key_at: node.key_at, at: node.key_at });
    }
    node
}

/// The path of an item: its name if it has one, its number otherwise.
fn item_path(path: &str, index: usize, item: &Node) -> String {
    if let Content::Table(table) = &item.content
        && let Some(Content::Text(name)) = table.get("name").map(|node| &node.content)
        && !name.is_empty()
    {
        return join(path, name);
    }
    format!("{path}[{index}]")
}
