//! Single values of a scenario file: how each type is spelt, read, printed and described.
//!
//! Source: none; the spelling is the project's own (quantities are texts with units, enumerations are
//! words). Deviations: none known.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

mod compound;
mod plain;
mod quantity;

pub use compound::{ListOf, OneOrMany, Or, Word, Worded, Words, unknown_word};
pub use quantity::read_words;

use core::cmp::Ordering;
use core::fmt::Write as _;

use sojourn_base::quantity::Unit;

use crate::content::Content;
use crate::key::Key;

/// Why a value does not fit its key, and what would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The error.
    pub message: String,
    /// The remedy; may be empty.
    pub hint: String,
}

impl Mismatch {
    /// `message` says what is wrong, `hint` what would be right.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }

    /// A value of another type.
    fn kind(found: &Content, wanted: &str, example: &str) -> Self {
        Self::new(format!("{} where {wanted} belongs", found.kind()), format!("for instance {example}"))
    }
}

/// Allowed spellings of a value, for the JSON schema and the reference page.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A text of number and unit.
    Quantity {
        /// Name of the quantity.
        name: &'static str,
        /// The units that may be written.
        units: &'static [Unit],
    },
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// Any text.
    Text,
    /// One of some words, each with its meaning.
    Words(Vec<(&'static str, &'static str)>),
    /// A word, or something else.
    WordOr(&'static str, Box<Self>),
    /// One thing or another.
    Either(Box<Self>, Box<Self>),
    /// An inline table with these keys.
    Table(Vec<Field>),
    /// A table of key paths and their values.
    Settings,
    /// One of several things that have one name, under which the reference page explains them.
    Explained(&'static str, Vec<Self>),
    /// Exactly this whole number.
    Exactly(u32),
    /// One value, or a list of such.
    OneOrMany(Box<Self>),
    /// A list of values.
    List(Box<Self>),
}

/// A key of an inline table that is a single value.
#[derive(Clone, Debug)]
pub struct Field {
    /// As it is written.
    pub name: &'static str,
    /// Meaning, in a line.
    pub about: &'static str,
    /// Shape of its value.
    pub shape: Shape,
    /// The table must have it.
    pub required: bool,
}

/// A value that a key may hold.
pub trait Value {
    /// Takes the value from the file, or says why it cannot.
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch>;
    /// The value as TOML.
    fn print(&self) -> String;
    /// Returns the allowed spellings.
    fn shape(&self) -> Shape;
    /// How the value compares with `bound`, which is spelt as in a file; `None` if it does not.
    fn compare(&self, bound: &str) -> Option<Ordering>;

    /// Returns an error unless the value lies within the bounds of its key.
    fn check(&self, key: &Key) -> Result<(), Mismatch> {
        let low = !key.least.is_empty() && self.compare(key.least) == Some(Ordering::Less);
        let high = !key.most.is_empty() && self.compare(key.most) == Some(Ordering::Greater);
        if low || high {
            return Err(out_of_range(&self.print(), key));
        }
        Ok(())
    }
}

/// Returns the error for a value with this print.
fn out_of_range(print: &str, key: &Key) -> Mismatch {
    let hint = match (key.least, key.most) {
        (least, "") => format!("at least {least}"),
        ("", most) => format!("at most {most}"),
        (least, most) => format!("allowed are {least} to {most}"),
    };
    Mismatch::new(format!("{} is out of range", unquoted(print)), hint)
}

/// `text` as a TOML string.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn unquoted(print: &str) -> &str {
    print.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(print)
}

/// Longest text that a message repeats.
const REPEATED: usize = 60;

/// `text` as a message repeats it.
pub fn shown(text: &str) -> String {
    if text.chars().count() <= REPEATED {
        return quoted(text);
    }
    let start: String = text.chars().take(REPEATED).collect();
    quoted(&format!("{start}…"))
}
