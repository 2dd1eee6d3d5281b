//! Contents of a file, as values take them.
//!
//! Source: TOML 1.0. Deviations: none known; dates are read and refused later, because no key is a date.

use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;

/// A place in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// From 1; 0 for what came from a setting instead of the text.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
}

/// A value and its places.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub content: Content,
    /// Position of the key.
    pub key_at: Position,
    /// Position of the value.
    pub at: Position,
}

/// Contents of a key.
#[derive(Clone, Debug)]
pub enum Content {
    /// A text.
    Text(String),
    /// The digits as written, for messages, and the number if it fits.
    Integer(String, Option<i128>),
    /// The digits as written, and the number.
    Float(String, f64),
    /// True or false.
    Boolean(bool),
    /// A date or a time of day.
    Date,
    /// Values in a row.
    List(Vec<Node>),
    /// Keys with values.
    Table(Table),
}

/// Keys and their values, sorted by key.
#[derive(Clone, Debug, Default)]
pub struct Table {
    entries: Vec<(String, Node)>,
}

impl FromIterator<(String, Node)> for Table {
    fn from_iter<I: IntoIterator<Item = (String, Node)>>(entries: I) -> Self {
        Self { entries: entries.into_iter().collect() }
    }
}

impl Table {
    /// Returns the value of `key`.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|(k, _)| k == key).map(|(_, n)| n)
    }

    /// Returns the value of `key`, for changes.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries.iter_mut().find(|(k, _)| k == key).map(|(_, n)| n)
    }

    /// Puts `node` in place of what `key` holds.
    pub fn insert(&mut self, key: &str, node: Node) {
        match self.get_mut(key) {
            Some(old) => *old = node,
            None => self.entries.push((key.to_owned(), node)),
        }
    }

    /// Takes `key` out.
    pub fn remove(&mut self, key: &str) {
        self.entries.retain(|(k, _)| k != key);
    }

    /// All keys with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.entries.iter().map(|(k, n)| (k.as_str(), n))
    }
}

impl Content {
    /// Returns the type's name for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Integer(..) => "a whole number",
            Self::Float(..) => "a number",
            Self::Boolean(_) => "true or false",
            Self::Date => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}
