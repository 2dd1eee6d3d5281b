//! The file form of a configuration, declared once and walked by every visitor.
//!
//! A configuration's keys are declared by a function that shows each of them, with its value, to a
//! [`Visitor`]. The reader takes values from a file, the printer writes them, the catalogue describes
//! them for the JSON schema and the reference page. None of them can miss a key or name it otherwise.

use crate::key::Key;
use crate::value::Value;
use alloc::vec::Vec;

/// Visits the keys of a configuration, in the order of the canonical print.
pub trait Visitor {
    /// A key with a single value.
    fn value(&mut self, key: Key, value: &mut dyn Value);
    /// A key with a table of fixed keys, which `keys` shows.
    fn table(&mut self, key: Key, keys: &mut dyn FnMut(&mut dyn Visitor));
    /// A key with a table whose `kind` decides about its other keys.
    fn choice(&mut self, key: Key, choice: &mut dyn Choice);
    /// A key with a list of tables.
    fn items(&mut self, key: Key, items: &mut dyn Items);
    /// Returns true if it also visits keys that only some values of other keys allow.
    fn is_exhaustive(&self) -> bool {
        false
    }
    /// Returns true if the file has this key in the present table.
    fn has(&self, name: &str) -> bool {
        let _ = name;
        false
    }
}

/// A kind of something, as it is described.
#[derive(Clone, Debug)]
pub struct KindInfo {
    /// The word for it.
    pub name: &'static str,
    /// Meaning, in a line.
    pub about: &'static str,
    /// Names and meanings of its profiles.
    pub profiles: Vec<(&'static str, &'static str)>,
}

/// A value that is one of several kinds.
pub trait Choice {
    /// All kinds.
    fn kinds(&self) -> Vec<KindInfo>;
    /// Name of the present kind.
    fn selected(&self) -> &'static str;
    /// Becomes `kind` with the values of `profile`, or with the kind's defaults; unknown names change
    /// nothing.
    fn select(&mut self, kind: &str, profile: Option<&str>);
    /// Shows the keys of the present kind.
    fn keys(&mut self, visitor: &mut dyn Visitor);
}

/// Tables in a list.
pub trait Items {
    /// How many there are.
    fn count(&self) -> usize;
    /// Makes them `count`, new ones with defaults.
    fn resize(&mut self, count: usize);
    /// Shows the keys of one of them.
    fn keys(&mut self, index: usize, visitor: &mut dyn Visitor);
}

/// [`Items`] of a vector.
#[derive(Debug)]
pub struct ItemsOf<'a, T> {
    /// The tables.
    pub items: &'a mut Vec<T>,
    /// A new one.
    pub base: fn() -> T,
    /// Shows the keys of one.
    pub keys: fn(&mut T, &mut dyn Visitor),
}

impl<T> Items for ItemsOf<'_, T> {
    fn count(&self) -> usize {
        self.items.len()
    }

    fn resize(&mut self, count: usize) {
        self.items.clear();
        self.items.resize_with(count, self.base);
    }

    fn keys(&mut self, index: usize, visitor: &mut dyn Visitor) {
        (self.keys)(&mut self.items[index], visitor);
    }
}
