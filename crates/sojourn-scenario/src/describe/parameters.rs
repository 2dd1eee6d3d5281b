//! A table of the parameters of each kind, for the pages about models.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use sojourn_apps::ApplicationConfig;
use sojourn_keys::value::{Shape, Value};
use sojourn_keys::{AnyKind, Choice, Items, Key, Visitor};
use sojourn_link::LinkConfig;
use sojourn_queue::ManagerConfig;
use sojourn_transport::StackConfig;
use sojourn_transport::congestion::ControllerConfig;

use super::catalogue::{Catalogue, Entry};
use super::reference::{allowed, default_by_kind};

const HEAD: &str = "| key | default; allowed | meaning | origin |\n|---|---|---|---|\n";

/// Name, as `queue/codel`, and table of every kind; `stack` has the keys of all stacks.
pub(super) fn tables() -> Vec<(String, String)> {
    let mut tables = Vec::new();
    add(&mut tables, "queue", &ManagerConfig::kinds());
    add(&mut tables, "link", &LinkConfig::kinds());
    add(&mut tables, "controller", &ControllerConfig::kinds());
    add(&mut tables, "application", &ApplicationConfig::kinds());
    let mut stack = Catalogue::default();
    StackConfig::LINUX_CUBIC.clone().keys(&mut stack);
    let mut out = String::new();
    let controllers = ControllerConfig::kinds();
    let controllers = controllers.iter().map(|kind| kind.info().name).collect();
    rows(&mut out, &stack.entries, "", &controllers);
    tables.push(("stack".to_owned(), out));
    tables
}

fn add<T>(tables: &mut Vec<(String, String)>, family: &str, kinds: &[&'static dyn AnyKind<T>]) {
    let relatives: BTreeSet<&str> = kinds.iter().map(|kind| kind.info().name).collect();
    for kind in kinds {
        let name = format!("{family}/{}", kind.info().name);
        tables.push((name, table(*kind, &relatives)));
    }
}

/// Returns the table of a kind. If a key holds another of its `relatives`, that one's page lists its keys.
fn table<T>(kind: &dyn AnyKind<T>, relatives: &BTreeSet<&str>) -> String {
    let mut catalogue = Catalogue::default();
    kind.keys(&mut kind.values(None), &mut catalogue);
    let mut out = String::new();
    rows(&mut out, &catalogue.entries, "", relatives);
    let profiles = kind.info().profiles;
    if !profiles.is_empty() {
        let usual = Values::of(kind, None);
        out.push_str("\n| profile | meaning | differs from the defaults |\n|---|---|---|\n");
        for (name, about) in profiles {
            let own = Values::of(kind, Some(name)).0;
            let others = own.into_iter().filter(|value| !usual.0.contains(value));
            let others: Vec<String> = others.map(|(key, value)| format!("`{key} = {value}`")).collect();
            let others = match others.as_slice() {
                [] => "nothing".to_owned(),
                others => others.join(", "),
            };
            let _ = writeln!(out, "| `{name}` | {about} | {others} |");
        }
    }
    out
}

/// The table of `entries`, and below it those of the tables and kinds among them.
fn rows(out: &mut String, entries: &[Entry], place: &str, relatives: &BTreeSet<&str>) {
    out.push_str(HEAD);
    for entry in entries {
        let key = entry.key();
        let default = match entry {
            Entry::Value { .. } | Entry::Choice { .. } => default_by_kind(entry),
            Entry::Items { .. } | Entry::Table { .. } => "table".to_owned(),
        };
        let allowed = choices(entry).unwrap_or_else(|| allowed(key, entry));
        let between = if default.is_empty() || allowed.is_empty() { "" } else { "; " };
        let _ =
            writeln!(out, "| `{}` | {default}{between}{allowed} | {} | {} |", key.name, key.about, judged(key.origin));
    }
    for entry in entries {
        let name = format!("{place}{}", entry.key().name);
        match entry {
            Entry::Value { .. } => {}
            Entry::Table { entries, .. } | Entry::Items { entries, .. } => {
                let _ = writeln!(out, "\n`{name}`:\n");
                rows(out, entries, &format!("{name}."), relatives);
            }
            Entry::Choice { groups, .. } => {
                for group in groups.iter().filter(|group| !group.entries.is_empty()) {
                    let kinds: Vec<&str> = group.kinds.iter().map(|kind| kind.name).collect();
                    if !kinds.iter().any(|kind| relatives.contains(kind)) {
                        let _ = writeln!(out, "\n`{name}` of kind {}:\n", words(&kinds));
                        rows(out, &group.entries, &format!("{name}."), relatives);
                    }
                }
            }
        }
    }
}

/// Words as a file spells them.
fn words(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
    words.join(", ")
}

/// Returns the choices of a key that holds a word or a kind.
fn choices(entry: &Entry) -> Option<String> {
    let known: Vec<&str> = match entry {
        Entry::Value { shape: Shape::Words(words), .. } => words.iter().map(|(word, _)| *word).collect(),
        Entry::Choice { groups, .. } => {
            let kinds = groups.iter().flat_map(|group| &group.kinds);
            kinds.map(|kind| kind.name).collect()
        }
        _ => return None,
    };
    Some(words(&known))
}

/// An origin that no document gives stands out.
fn judged(origin: &str) -> String {
    match origin.split_once(':') {
        Some((word @ ("chosen" | "assumed" | "fitted" | "inferred"), reason)) => {
            format!("*{word}*:{reason}")
        }
        _ => origin.to_owned(),
    }
}

/// Keys with their values as a file spells them, and those of them that hold a kind.
#[derive(Default)]
struct Values(Vec<(String, String)>, Vec<String>);

impl Values {
    /// Those of a profile, or the defaults.
    fn of<T>(kind: &dyn AnyKind<T>, profile: Option<&str>) -> Self {
        let mut values = Self::default();
        kind.keys(&mut kind.values(profile), &mut values);
        values
    }

    /// Those of keys and tables, and of kinds within their words alone.
    #[cfg(test)]
    fn own(self) -> Vec<(String, String)> {
        let kinds: Vec<String> = self.1.iter().map(|kind| format!("{kind}.")).collect();
        self.0.into_iter().filter(|(key, _)| !kinds.iter().any(|kind| key.starts_with(kind))).collect()
    }

    fn below(&mut self, key: &str, keys: &mut dyn FnMut(&mut dyn Visitor)) {
        let mut inner = Self::default();
        keys(&mut inner);
        let Self(values, kinds) = inner;
        self.0.extend(values.into_iter().map(|(name, value)| (format!("{key}.{name}"), value)));
        self.1.extend(kinds.into_iter().map(|name| format!("{key}.{name}")));
    }
}

impl Visitor for Values {
    fn value(&mut self, key: Key, value: &mut dyn Value) {
        self.0.push((key.name.to_owned(), value.print()));
    }

    fn table(&mut self, key: Key, keys: &mut dyn FnMut(&mut dyn Visitor)) {
        self.below(key.name, keys);
    }

    fn choice(&mut self, key: Key, choice: &mut dyn Choice) {
        self.0.push((key.name.to_owned(), format!("\"{}\"", choice.selected())));
        self.1.push(key.name.to_owned());
        self.below(key.name, &mut |visitor| choice.keys(visitor));
    }

    fn items(&mut self, _key: Key, _items: &mut dyn Items) {}
}

/// Place, kind, and keys with values.
#[cfg(test)]
type Built = (&'static str, String, Vec<(String, String)>);

/// Each kind of a family and each stack, without the keys of kinds within.
#[cfg(test)]
pub(super) fn built() -> Vec<Built> {
    fn each<T>(place: &'static str, kinds: &[&'static dyn AnyKind<T>]) -> Vec<Built> {
        kinds.iter().map(|kind| (place, kind.info().name.to_owned(), Values::of(*kind, None).own())).collect()
    }
    let mut built = each("access.DIRECTION.queue", &ManagerConfig::kinds());
    built.extend(each("access.DIRECTION.link", &LinkConfig::kinds()));
    built.extend(each("traffic.NAME.app", &ApplicationConfig::kinds()));
    built.extend(each("traffic.NAME.stack.controller", &ControllerConfig::kinds()));
    built.extend(StackConfig::named().map(|(name, mut config)| {
        let mut values = Values::default();
        config.keys(&mut values);
        ("traffic.NAME.stack", name.to_owned(), values.own())
    }));
    built
}
