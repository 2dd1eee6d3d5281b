//! Reads the keys of a line as parameters, and reports the first error.

use super::words::node;
use super::{LineProblem, join};
use crate::config::ManagerConfig;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use sojourn_keys::content::{Content, Table};
use sojourn_keys::value::{Mismatch, Value, shown};
use sojourn_keys::{Choice, Items, Key, Visitor, nearest};

/// The parameters of a kind of this name with these keys.
pub(super) fn parameters(name: &str, table: &Table) -> Result<ManagerConfig, LineProblem> {
    let kinds = ManagerConfig::kinds();
    let Some(kind) = kinds.iter().find(|kind| kind.info().name == name) else {
        let known: Vec<&str> = kinds.iter().map(|kind| kind.info().name).collect();
        let message = format!("{} is no queue manager", shown(name));
        return Err(LineProblem::new("", message, meant(name, &known)));
    };
    let profile = profile_of(table, &kind.info().profiles).map_err(|mismatch| LineProblem::of("profile", mismatch))?;
    let mut config = kind.values(profile);
    let mut problem = None;
    let mut reader = Reader::new(table, "", profile.is_some(), &mut problem);
    reader.known.push("profile");
    kind.keys(&mut config, &mut reader);
    reader.finish();
    problem.map_or(Ok(config), Err)
}

/// Returns the known word that an unknown one may mean.
fn meant(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("one of {}", known.join(", ")),
    }
}

/// The profile that the table names.
fn profile_of(table: &Table, profiles: &[(&'static str, &'static str)]) -> Result<Option<&'static str>, Mismatch> {
    let Some(node) = table.get("profile") else {
        return Ok(None);
    };
    let Content::Text(text) = &node.content else {
        let message = format!("{} where a word belongs", node.content.kind());
        return Err(Mismatch::new(message, ""));
    };
    let known: Vec<&'static str> = profiles.iter().map(|(name, _)| *name).collect();
    let found = known.iter().find(|name| *name == text);
    found.map(|name| Some(*name)).ok_or_else(|| {
        let hint = if known.is_empty() { "it has none".to_owned() } else { meant(text, &known) };
        Mismatch::new(format!("no profile {}", shown(text)), hint)
    })
}

/// Takes values from a table; keeps the first thing that is wrong.
struct Reader<'a> {
    table: &'a Table,
    path: &'a str,
    /// True if a profile has a value for each key.
    has_profile: bool,
    problem: &'a mut Option<LineProblem>,
    known: Vec<&'static str>,
}

impl<'a> Reader<'a> {
    fn new(table: &'a Table, path: &'a str, has_profile: bool, problem: &'a mut Option<LineProblem>) -> Self {
        Self { table, path, has_profile, problem, known: Vec::new() }
    }

    fn below(&self, name: &str) -> String {
        join(self.path, name)
    }

    fn fail(&mut self, name: &str, mismatch: Mismatch) {
        let problem = LineProblem::of(&self.below(name), mismatch);
        self.problem.get_or_insert(problem);
    }

    fn find(&mut self, key: &Key) -> Option<&'a Content> {
        self.known.push(key.name);
        let node = self.table.get(key.name);
        if node.is_none() && key.required && !self.has_profile {
            let hint = format!("for instance {}={}", self.below(key.name), key.example);
            self.fail(key.name, Mismatch::new("is missing", hint));
        }
        node.map(|node| &node.content)
    }

    /// Refuses keys that were never read.
    fn finish(mut self) {
        let unknown = self.table.iter().find(|(name, _)| !self.known.contains(name));
        if let Some((name, _)) = unknown {
            let hint = meant(name, &self.known);
            self.fail(name, Mismatch::new("unknown key", hint));
        }
    }
}

impl Visitor for Reader<'_> {
    fn has(&self, name: &str) -> bool {
        self.table.get(name).is_some()
    }

    fn value(&mut self, key: Key, value: &mut dyn Value) {
        let Some(content) = self.find(&key) else {
            return;
        };
        let read = value.read(content, &key).and_then(|()| value.check(&key));
        if let Err(mismatch) = read {
            self.fail(key.name, mismatch);
        }
    }

    fn table(&mut self, key: Key, keys: &mut dyn FnMut(&mut dyn Visitor)) {
        let optional = Key { required: false, ..key };
        let empty = Table::default();
        let table = match self.find(&optional) {
            Some(Content::Table(table)) => table,
            None => &empty,
            Some(_) => {
                let hint = format!("{}.KEY=VALUE", self.below(key.name));
                self.fail(key.name, Mismatch::new("is a table", hint));
                return;
            }
        };
        let path = self.below(key.name);
        let mut reader = Reader::new(table, &path, self.has_profile, self.problem);
        keys(&mut reader);
        reader.finish();
    }

    fn choice(&mut self, key: Key, choice: &mut dyn Choice) {
        let mut word = Table::default();
        let table = match self.find(&key) {
            Some(Content::Table(table)) => table,
            Some(content @ Content::Text(_)) => {
                word.insert("kind", node(content.clone()));
                &word
            }
            Some(_) => {
                self.fail(key.name, Mismatch::new("is no word", ""));
                return;
            }
            None if key.required && !self.has_profile => return,
            None => &word,
        };
        let path = self.below(key.name);
        let mut has_profile = self.has_profile;
        if let Some(named) = table.get("kind") {
            let kinds = choice.kinds();
            let word = match &named.content {
                Content::Text(word) => word.as_str(),
                _ => "",
            };
            let Some(info) = kinds.iter().find(|kind| kind.name == word) else {
                let known: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
                let hint = meant(word, &known);
                self.fail(key.name, Mismatch::new("is none of the known words", hint));
                return;
            };
            match profile_of(table, &info.profiles) {
                Ok(profile) => {
                    choice.select(info.name, profile);
                    has_profile = profile.is_some();
                }
                Err(mismatch) => {
                    self.fail(&join(key.name, "profile"), mismatch);
                    return;
                }
            }
        }
        let mut reader = Reader::new(table, &path, has_profile, self.problem);
        reader.known.extend(["kind", "profile"]);
        choice.keys(&mut reader);
        reader.finish();
    }

    fn items(&mut self, key: Key, items: &mut dyn Items) {
        /// chosen: one for each code point.
        const MOST: usize = 64;
        let content = self.find(&key);
        let table = match content {
            None => {
                items.resize(0);
                return;
            }
            Some(Content::Table(table)) if table.iter().count() <= MOST => table,
            Some(_) => {
                let hint = format!("{}.0.KEY=VALUE, at most {MOST}", self.below(key.name));
                self.fail(key.name, Mismatch::new("is a list of entries", hint));
                return;
            }
        };
        items.resize(table.iter().count());
        for index in 0..items.count() {
            let name = index.to_string();
            let Some(Content::Table(entry)) = table.get(&name).map(|node| &node.content) else {
                let hint = format!("{}.{index}.KEY=VALUE", self.below(key.name));
                self.fail(key.name, Mismatch::new(format!("entry {index} is missing"), hint));
                return;
            };
            let path = format!("{}.{index}", self.below(key.name));
            let mut reader = Reader::new(entry, &path, false, self.problem);
            items.keys(index, &mut reader);
            reader.finish();
        }
    }
}
