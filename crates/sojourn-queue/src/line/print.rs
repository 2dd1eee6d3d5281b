//! Parameters as a line.

use super::join;
use crate::config::ManagerConfig;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use sojourn_keys::value::{Value, quoted};
use sojourn_keys::{Choice, Items, Key, Visitor};

/// The kind and every key.
pub(super) fn line(config: &ManagerConfig) -> String {
    let mut printer = Printer { line: config.kind().to_owned(), path: String::new() };
    let _ = config.shown(&mut printer);
    printer.line
}

/// Writes keys behind a kind.
struct Printer {
    line: String,
    path: String,
}

impl Printer {
    fn within(&mut self, name: &str, keys: &mut dyn FnMut(&mut dyn Visitor)) {
        let outer = core::mem::take(&mut self.path);
        self.path = join(&outer, name);
        keys(self);
        self.path = outer;
    }

    fn write(&mut self, name: &str, value: &str) {
        self.line.push(' ');
        self.line.push_str(&join(&self.path, name));
        self.line.push('=');
        self.line.push_str(value);
    }
}

impl Visitor for Printer {
    fn value(&mut self, key: Key, value: &mut dyn Value) {
        let mut print = value.print();
        if print.starts_with('[') {
            print.retain(|sign| sign != ' ');
        }
        self.write(key.name, &print);
    }

    fn table(&mut self, key: Key, keys: &mut dyn FnMut(&mut dyn Visitor)) {
        self.within(key.name, keys);
    }

    fn choice(&mut self, key: Key, choice: &mut dyn Choice) {
        self.write(key.name, &quoted(choice.selected()));
        self.within(key.name, &mut |visitor| choice.keys(visitor));
    }

    fn items(&mut self, key: Key, items: &mut dyn Items) {
        for index in 0..items.count() {
            self.within(&format!("{}.{index}", key.name), &mut |visitor| {
                items.keys(index, visitor);
            });
        }
    }
}
