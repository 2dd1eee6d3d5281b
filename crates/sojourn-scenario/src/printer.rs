//! Writes a configuration as TOML, every value that is in force.
//!
//! Source: TOML 1.0. Deviations: none known.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::reader::{Origin, join};
use sojourn_keys::value::{Value, quoted};
use sojourn_keys::{Choice, Items, Key, Visitor};

/// A table as it will be printed.
#[derive(Debug, Default)]
pub(crate) struct Printer {
    /// Keys, their values as TOML, and their comments.
    values: Vec<(&'static str, String, String)>,
    tables: Vec<(&'static str, Part)>,
    /// Path of this table as problems name it.
    path: String,
    /// Origins of values, if they shall be printed.
    origins: BTreeMap<String, Origin>,
}

#[derive(Debug)]
enum Part {
    Table(Printer),
    List(Vec<Printer>),
}

impl Printer {
    /// A printer that says of each value where it comes from.
    pub(crate) fn explaining(origins: BTreeMap<String, Origin>) -> Self {
        Self { origins, ..Self::default() }
    }

    fn below(&self, path: String) -> Self {
        Self { path, origins: self.origins.clone(), ..Self::default() }
    }

    fn remark(&self, key: &str) -> String {
        match self.origins.get(&join(&self.path, key)) {
            None => String::new(),
            Some(Origin::File(line)) => format!("line {line}"),
            Some(Origin::Setting) => "set".to_owned(),
            Some(Origin::Profile(name)) => format!("profile {name}"),
            Some(Origin::Default) => "default".to_owned(),
        }
    }

    /// The text.
    pub(crate) fn print(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, "");
        out
    }

    fn write(&self, out: &mut String, heading: &str) {
        for (key, value, remark) in &self.values {
            let line = format!("{key} = {value}");
            if remark.is_empty() {
                let _ = writeln!(out, "{line}");
            } else {
                let _ = writeln!(out, "{line:<40}# {remark}");
            }
        }
        for (key, part) in &self.tables {
            let heading = join(heading, key);
            match part {
                Part::Table(table) => {
                    if !table.values.is_empty() {
                        let _ = writeln!(out, "\n[{heading}]");
                    }
                    table.write(out, &heading);
                }
                Part::List(tables) => {
                    for table in tables {
                        let _ = writeln!(out, "\n[[{heading}]]");
                        table.write(out, &heading);
                    }
                }
            }
        }
    }
}

impl Visitor for Printer {
    fn value(&mut self, key: Key, value: &mut dyn Value) {
        let remark = self.remark(key.name);
        self.values.push((key.name, value.print(), remark));
    }

    fn table(&mut self, key: Key, keys: &mut dyn FnMut(&mut dyn Visitor)) {
        let mut table = self.below(join(&self.path, key.name));
        keys(&mut table);
        self.tables.push((key.name, Part::Table(table)));
    }

    fn choice(&mut self, key: Key, choice: &mut dyn Choice) {
        let mut table = self.below(join(&self.path, key.name));
        table.values.push(("kind", quoted(choice.selected()), String::new()));
        choice.keys(&mut table);
        self.tables.push((key.name, Part::Table(table)));
    }

    fn items(&mut self, key: Key, items: &mut dyn Items) {
        let tables = (0..items.count())
            .map(|index| {
                // Paths of items carry their names, which the first key of each tells, or else their numbers.
                let mut probe = self.below(String::new());
                items.keys(index, &mut probe);
                let place = join(&self.path, key.name);
                let place = match probe.values.first() {
                    Some(("name", name, _)) => join(&place, name.trim_matches('"')),
                    _ => format!("{place}[{index}]"),
                };
                let mut table = self.below(place);
                items.keys(index, &mut table);
                table
            })
            .collect();
        self.tables.push((key.name, Part::List(tables)));
    }
}
