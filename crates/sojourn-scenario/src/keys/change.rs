//! Changes of a file during a run, as they are spelt.
//!
//! Source: none; the form is the project's own. Deviations: none known.

use core::cmp::Ordering;

use sojourn_base::Span;
use sojourn_keys::content::Table;
use sojourn_keys::value::{Mismatch, Shape, Value, quoted};
use sojourn_keys::{Content, Key, Visitor, key};

use crate::model::{Change, Scenario};
use crate::reader::join;
use crate::writer;

/// Most changes of a file. chosen: more than a person makes.
pub(crate) const MOST_CHANGES: &str = "1000";

/// A change as a file spells it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChangeDraft {
    pub(crate) at: Span,
    pub(crate) set: Settings,
    /// The scenario from then on, once known.
    pub(crate) then: Option<Scenario>,
}

impl ChangeDraft {
    pub(crate) fn of(change: &Change) -> Self {
        Self { at: change.at, set: Settings(change.set.clone()), then: Some(change.then.clone()) }
    }

    pub(crate) fn keys(&mut self, visitor: &mut dyn Visitor) {
        let at = key("at", "time of the change; all of one time at once", "no default");
        visitor.value(at.required("\"20 s\"").least("1 ns").unit("s"), &mut self.at);
        let set = key(
            "set",
            "keys with their new values: rate of a serial link, rates and bursts of a shaped one, limit and law of a queue's manager, lanes of bulk, paused",
            "no default",
        );
        visitor.value(set.required("{ \"access.upstream.link.rate\" = \"5 Mb/s\" }"), &mut self.set);
    }
}

/// Key paths with values as TOML.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settings(pub(crate) Vec<(String, String)>);

impl Settings {
    fn add(&mut self, place: &str, table: &Table) {
        for (key, node) in table.iter() {
            let path = if place.is_empty() { key.to_owned() } else { join(place, key) };
            match &node.content {
                Content::Table(inner) => self.add(&path, inner),
                content => self.0.push((path, writer::inline(content))),
            }
        }
    }
}

impl Value for Settings {
    fn read(&mut self, content: &Content, _key: &Key) -> Result<(), Mismatch> {
        self.0.clear();
        if let Content::Table(table) = content {
            self.add("", table);
        }
        self.0.sort();
        if self.0.is_empty() {
            let hint = "for instance { \"access.upstream.link.rate\" = \"5 Mb/s\" }";
            return Err(Mismatch::new("no keys with values", hint));
        }
        Ok(())
    }

    fn print(&self) -> String {
        let set = self.0.iter();
        let set: Vec<String> = set.map(|(path, value)| format!("{} = {value}", quoted(path))).collect();
        format!("{{ {} }}", set.join(", "))
    }

    fn shape(&self) -> Shape {
        Shape::Settings
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}
