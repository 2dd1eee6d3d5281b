//! The file form of a configuration, declared once and walked by everybody who needs it.
//!
//! A configuration's keys are declared by a function that shows each of them, with its value, to a
//! [`Visitor`]. The reader takes values from a file, the printer writes them, the catalogue describes
//! them for the JSON schema and the reference page. None of them can miss a key or name it otherwise.

use crate::value::Value;

/// A key of a table.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Key {
    /// As it is written in a file.
    pub name: &'static str,
    /// What it means, in a line.
    pub about: &'static str,
    /// Where its default or its meaning comes from.
    pub origin: &'static str,
    /// It has no default: a table without a profile must have it.
    pub required: bool,
    /// Whether it is required depends on other keys.
    pub conditional: bool,
    /// The least allowed value as written in a file; empty for none.
    pub least: &'static str,
    /// The greatest allowed value as written in a file; empty for none.
    pub most: &'static str,
    /// The unit that hints suggest; empty for the usual one of the type.
    pub unit: &'static str,
    /// An example for hints, as TOML.
    pub example: &'static str,
    /// The word that stands for the absence of a value that may be absent.
    pub absence: &'static str,
    /// Of a list: a single value may stand for a list of one.
    pub one_or_many: bool,
}

/// A key with a default.
pub const fn key(name: &'static str, about: &'static str, origin: &'static str) -> Key {
    Key {
        name,
        about,
        origin,
        required: false,
        conditional: false,
        least: "",
        most: "",
        unit: "",
        example: "",
        absence: "",
        one_or_many: false,
    }
}

impl Key {
    /// It must be written; `example` is a value as TOML.
    pub const fn required(mut self, example: &'static str) -> Self {
        self.required = true;
        self.example = example;
        self
    }

    /// Hints give this example, as TOML.
    pub const fn example(mut self, example: &'static str) -> Self {
        self.example = example;
        self
    }

    /// It must be written in some cases, which its meaning names, and makes no sense in others.
    pub const fn conditional(mut self) -> Self {
        self.conditional = true;
        self
    }

    /// Its value must not be below `least`.
    pub const fn least(mut self, least: &'static str) -> Self {
        self.least = least;
        self
    }

    /// Its value must not be above `most`.
    pub const fn most(mut self, most: &'static str) -> Self {
        self.most = most;
        self
    }

    /// Hints suggest this unit.
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// The value may be absent, which is written as this `word`.
    pub const fn or(mut self, word: &'static str) -> Self {
        self.absence = word;
        self
    }

    /// A single value may stand for a list of one, and the list is never empty.
    pub const fn one_or_many(mut self) -> Self {
        self.one_or_many = true;
        self
    }

    /// The same with another origin.
    pub const fn origin(mut self, origin: &'static str) -> Self {
        self.origin = origin;
        self
    }

    /// What a row of a declaration says of a key that has no name yet.
    pub const fn called(mut self, name: &'static str, about: &'static str) -> Self {
        if self.name.is_empty() {
            self.name = name;
            self.about = about;
        }
        self
    }
}

/// Somebody who is shown the keys of a configuration, in the order of the canonical print.
pub trait Visitor {
    /// A key with a single value.
    fn value(&mut self, key: Key, value: &mut dyn Value);
    /// A key with a table of fixed keys, which `keys` shows.
    fn table(&mut self, key: Key, keys: &mut dyn FnMut(&mut dyn Visitor));
    /// A key with a table whose `kind` decides about its other keys.
    fn choice(&mut self, key: Key, choice: &mut dyn Choice);
    /// A key with a list of tables.
    fn items(&mut self, key: Key, items: &mut dyn Items);
    /// Whether keys that only some values of other keys allow are to be shown all the same.
    fn is_exhaustive(&self) -> bool {
        false
    }
    /// Whether the file has this key in the present table.
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
    /// What it is, in a line.
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
