//! Single values of a scenario file: how each type is spelt, read, printed and described.
//!
//! Source: none; the spelling is the project's own (quantities are texts with units, enumerations are
//! words). Deviations: none known.

use core::cmp::Ordering;
use core::fmt::Write as _;

use sojourn_base::quantity::{self, Quantity, QuantityError, Unit};
use sojourn_base::{BitRate, Bytes, Limit, Packets, Span};

use crate::form::Key;
use crate::nearest::nearest;
use crate::tree::Content;

/// Why a value does not fit its key, and what would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Mismatch {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// A value of another type.
    fn kind(found: &Content, wanted: &str, example: &str) -> Self {
        Self::new(
            format!("{} where {wanted} belongs", found.kind()),
            format!("for instance {example}"),
        )
    }
}

/// What may be written for a value, for the JSON schema and the reference page.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// A text of number and unit.
    Quantity {
        name: &'static str,
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
    /// An inline table of numbers: their names and meanings.
    Numbers(&'static [(&'static str, &'static str)]),
    /// Exactly this whole number.
    Exactly(u32),
    /// One value, or a list of such.
    OneOrMany(Box<Self>),
    /// A list of values.
    List(Box<Self>),
}

/// A value that a key may hold.
pub(crate) trait Value {
    /// Takes the value from the file, or says why it cannot.
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch>;
    /// The value as TOML.
    fn print(&self) -> String;
    /// What may be written.
    fn shape(&self) -> Shape;
    /// How the value compares with `bound`, which is spelt as in a file; `None` if it does not.
    fn compare(&self, bound: &str) -> Option<Ordering>;

    /// Whether the value lies within the bounds of its key.
    fn check(&self, key: &Key) -> Result<(), Mismatch> {
        let low = !key.least.is_empty() && self.compare(key.least) == Some(Ordering::Less);
        let high = !key.most.is_empty() && self.compare(key.most) == Some(Ordering::Greater);
        if low || high {
            let hint = match (key.least, key.most) {
                (least, "") => format!("at least {least}"),
                ("", most) => format!("at most {most}"),
                (least, most) => format!("allowed are {least} to {most}"),
            };
            return Err(Mismatch::new(
                format!("{} is out of range", unquoted(&self.print())),
                hint,
            ));
        }
        Ok(())
    }
}

/// `text` as a TOML string.
pub(crate) fn quoted(text: &str) -> String {
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
    print
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(print)
}

/// Longest text that a message repeats.
const REPEATED: usize = 60;

/// `text` as a message repeats it.
pub(crate) fn shown(text: &str) -> String {
    if text.chars().count() <= REPEATED {
        return quoted(text);
    }
    let start: String = text.chars().take(REPEATED).collect();
    quoted(&format!("{start}…"))
}

macro_rules! quantity_value {
    ($($name:ty),*) => {$(
        impl Value for $name {
            fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
                *self = read_quantity(content, key)?;
                Ok(())
            }

            fn print(&self) -> String {
                quoted(&self.to_string())
            }

            fn shape(&self) -> Shape {
                Shape::Quantity { name: <Self as Quantity>::NAME, units: <Self as Quantity>::UNITS }
            }

            fn compare(&self, bound: &str) -> Option<Ordering> {
                bound.parse::<Self>().ok().map(|bound| self.cmp(&bound))
            }
        }
    )*};
}

quantity_value!(Span, BitRate, Bytes, Packets);

impl Value for Limit {
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
        *self = read_quantity(content, key)?;
        Ok(())
    }

    fn print(&self) -> String {
        quoted(&self.to_string())
    }

    fn shape(&self) -> Shape {
        Shape::Quantity {
            name: Self::NAME,
            units: Self::UNITS,
        }
    }

    /// Limits of different dimensions do not compare.
    fn compare(&self, bound: &str) -> Option<Ordering> {
        match (*self, bound.parse().ok()?) {
            (Self::Bytes(a), Self::Bytes(b)) => Some(a.cmp(&b)),
            (Self::Packets(a), Self::Packets(b)) => Some(a.cmp(&b)),
            (Self::Time(a), Self::Time(b)) => Some(a.cmp(&b)),
            _ => None,
        }
    }
}

fn read_quantity<Q: Quantity>(content: &Content, key: &Key) -> Result<Q, Mismatch> {
    match content {
        Content::Text(text) => {
            quantity::parse(text).map_err(|error| explain::<Q>(text, error, key))
        }
        Content::Integer(digits, _) | Content::Float(digits, _) => {
            let number = digits.trim_start_matches(['-', '+']);
            Err(Mismatch::new(
                format!("{digits} has no unit"),
                format!("write \"{number} {}\"", unit_for::<Q>(number, key)),
            ))
        }
        other => Err(Mismatch::kind(other, Q::NAME, &example::<Q>(key))),
    }
}

/// A right value of the key, as TOML.
fn example<Q: Quantity>(key: &Key) -> String {
    if !key.example.is_empty() {
        return key.example.to_owned();
    }
    let (number, unit) = quantity::split(Q::EXAMPLE);
    let unit = if key.unit.is_empty() { unit } else { key.unit };
    format!("\"{number} {unit}\"")
}

/// The unit that is most likely missing behind `number`.
fn unit_for<Q: Quantity>(number: &str, key: &Key) -> &'static str {
    let large = number.parse::<f64>().is_ok_and(|number| number >= LARGE);
    let (smallest, _) = Q::UNITS[0];
    match key.unit {
        "" if large && smallest == "b/s" => smallest,
        "" => quantity::split(Q::EXAMPLE).1,
        unit => unit,
    }
}

/// From this number on, a rate without unit is meant in bit/s. chosen: 10 Gb/s is the fastest tier.
const LARGE: f64 = 10_000.0;

/// Why `text` is not a quantity of kind `Q`, and what may be meant.
fn explain<Q: Quantity>(text: &str, error: QuantityError, key: &Key) -> Mismatch {
    let (number, _) = quantity::split(text);
    let example = example::<Q>(key);
    let text = shown(text);
    match error {
        QuantityError::Empty | QuantityError::NoNumber => Mismatch::new(
            format!("{text} is not {}", Q::NAME),
            format!("write a decimal number and a unit, for instance {example}"),
        ),
        QuantityError::NoUnit => Mismatch::new(
            format!("{text} has no unit"),
            format!("write \"{number} {}\"", unit_for::<Q>(number, key)),
        ),
        QuantityError::Negative => Mismatch::new(
            format!("{text} is negative"),
            format!("for instance {example}"),
        ),
        QuantityError::TooLarge => Mismatch::new(
            format!("{text} is more than can be held"),
            match key.most {
                "" => format!("for instance {example}"),
                most => format!("at most \"{most}\""),
            },
        ),
        QuantityError::TooFine => Mismatch::new(
            format!("{text} has more digits than can be held exactly"),
            "times are whole picoseconds, rates whole bits per second, sizes whole bytes",
        ),
        QuantityError::UnknownUnit => wrong_unit::<Q>(&text, &example),
    }
}

/// A number and something behind it that is no unit of this quantity.
fn wrong_unit<Q: Quantity>(shown_text: &str, example: &str) -> Mismatch {
    let (number, found) = quantity::split(unquoted(shown_text));
    if found.starts_with(|c: char| c == ',' || c.is_ascii_digit()) {
        return Mismatch::new(
            format!("{shown_text} is not {}", Q::NAME),
            format!("one number, with a point and no commas, and a unit: for instance {example}"),
        );
    }
    let units = Q::UNITS.iter().map(|(spelling, _)| *spelling);
    let hint = if let Some(bits) = bits_for_bytes(number, found)
        && Q::UNITS.iter().any(|(unit, _)| *unit == "b/s")
    {
        format!("rates count bits: did you mean \"{bits}\"?")
    } else if let Some(meant) = meant_unit(found, Q::UNITS) {
        format!("did you mean \"{number} {meant}\"?")
    } else {
        let units: Vec<&str> = units.filter(|unit| unit.is_ascii()).collect();
        format!("units are {}, for instance {example}", units.join(", "))
    };
    // What else a limit may be is for the hint to say.
    let name = Q::NAME.split(" (").next().unwrap_or(Q::NAME);
    Mismatch::new(
        format!("{shown_text}: {} is not a unit of {name}", shown(found)),
        hint,
    )
}

/// The bit rate of so many bytes per second.
fn bits_for_bytes(number: &str, unit: &str) -> Option<BitRate> {
    let size = unit
        .strip_suffix("/s")
        .or_else(|| unit.strip_suffix("ps"))?;
    let bytes: Bytes = format!("{number} {size}").parse().ok()?;
    bytes.0.checked_mul(8).map(BitRate::from_bps)
}

/// Spellings of units that people use elsewhere.
const OTHER_SPELLINGS: [(&str, &str); 34] = [
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("millisecond", "ms"),
    ("milliseconds", "ms"),
    ("usec", "us"),
    ("microseconds", "us"),
    ("nsec", "ns"),
    ("nanoseconds", "ns"),
    ("m", "min"),
    ("mins", "min"),
    ("minute", "min"),
    ("minutes", "min"),
    ("hour", "h"),
    ("hours", "h"),
    ("bps", "b/s"),
    ("bit/s", "b/s"),
    ("kbps", "kb/s"),
    ("kbit/s", "kb/s"),
    ("kbit", "kb/s"),
    ("mbps", "Mb/s"),
    ("mbit/s", "Mb/s"),
    ("mbit", "Mb/s"),
    ("gbps", "Gb/s"),
    ("gbit/s", "Gb/s"),
    ("gbit", "Gb/s"),
    ("byte", "B"),
    ("bytes", "B"),
    ("pkt", "packets"),
    ("pkts", "packets"),
    ("p", "packets"),
    ("kb", "kB"),
];

/// The unit that is meant by a spelling of other tools, or by one in other letter case.
fn meant_unit(found: &str, units: &'static [Unit]) -> Option<&'static str> {
    let lower = found.to_lowercase();
    let elsewhere = OTHER_SPELLINGS
        .iter()
        .find(|(spelling, _)| *spelling == lower)
        .map(|(_, unit)| *unit);
    let mut names = units.iter().map(|(spelling, _)| *spelling);
    names
        .clone()
        .find(|unit| Some(*unit) == elsewhere)
        .or_else(|| names.find(|unit| unit.to_lowercase() == lower))
}

macro_rules! whole_value {
    ($($name:ty),*) => {$(
        impl Value for $name {
            fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
                match content {
                    Content::Integer(_, Some(value)) if <$name>::try_from(*value).is_ok() => {
                        *self = <$name>::try_from(*value).unwrap_or_default();
                        Ok(())
                    }
                    Content::Integer(digits, _) => {
                        let or = |bound: &str, limit: $name| match bound {
                            "" => limit.to_string(),
                            bound => bound.to_owned(),
                        };
                        let (least, most) =
                            (or(key.least, <$name>::MIN), or(key.most, <$name>::MAX));
                        Err(Mismatch::new(
                            format!("{digits} is out of range"),
                            format!("allowed are {least} to {most}"),
                        ))
                    }
                    Content::Text(text) if text.trim().parse::<$name>().is_ok() => {
                        Err(Mismatch::new(
                            format!("{} is a text where a whole number belongs", shown(text)),
                            format!("write {} without quotes", text.trim()),
                        ))
                    }
                    other => Err(Mismatch::kind(other, "a whole number", "5")),
                }
            }

            fn print(&self) -> String {
                self.to_string()
            }

            fn shape(&self) -> Shape {
                Shape::Whole
            }

            fn compare(&self, bound: &str) -> Option<Ordering> {
                bound.parse::<Self>().ok().map(|bound| self.cmp(&bound))
            }
        }
    )*};
}

whole_value!(u8, u16, u32, u64, usize);

impl Value for f64 {
    fn read(&mut self, content: &Content, _key: &Key) -> Result<(), Mismatch> {
        let value = match content {
            Content::Float(_, value) => *value,
            Content::Integer(digits, _) => digits.parse().unwrap_or(Self::NAN),
            Content::Text(text) if text.trim().parse::<Self>().is_ok() => {
                return Err(Mismatch::new(
                    format!("{} is a text where a number belongs", shown(text)),
                    format!("write {} without quotes", text.trim()),
                ));
            }
            other => return Err(Mismatch::kind(other, "a number", "0.2")),
        };
        if !value.is_finite() {
            return Err(Mismatch::new(
                "this number is not finite",
                "for instance 0.2",
            ));
        }
        // -0.0 prints and compares unlike 0.0; nobody means the difference.
        *self = if value == 0.0 { 0.0 } else { value };
        Ok(())
    }

    fn print(&self) -> String {
        format!("{self:?}")
    }

    fn shape(&self) -> Shape {
        Shape::Number
    }

    fn compare(&self, bound: &str) -> Option<Ordering> {
        self.partial_cmp(&bound.parse().ok()?)
    }
}

impl Value for bool {
    fn read(&mut self, content: &Content, _key: &Key) -> Result<(), Mismatch> {
        match content {
            Content::Boolean(value) => {
                *self = *value;
                Ok(())
            }
            Content::Text(text) if matches!(text.as_str(), "true" | "false") => Err(Mismatch::new(
                format!("{} is a text where true or false belongs", shown(text)),
                format!("write {text} without quotes"),
            )),
            other => Err(Mismatch::kind(other, "true or false", "true")),
        }
    }

    fn print(&self) -> String {
        self.to_string()
    }

    fn shape(&self) -> Shape {
        Shape::Boolean
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}

/// Longest text value (a name) in characters. chosen: names become file names and table cells.
const LONGEST_TEXT: usize = 200;

impl Value for String {
    fn read(&mut self, content: &Content, _key: &Key) -> Result<(), Mismatch> {
        let Content::Text(text) = content else {
            return Err(Mismatch::kind(content, "a text", "\"an example\""));
        };
        if text.trim().is_empty() {
            return Err(Mismatch::new("the text is empty", "write a short name"));
        }
        if text.chars().count() > LONGEST_TEXT || text.chars().any(char::is_control) {
            return Err(Mismatch::new(
                "the text is too long or contains control characters",
                format!("one line of at most {LONGEST_TEXT} characters"),
            ));
        }
        self.clone_from(text);
        Ok(())
    }

    fn print(&self) -> String {
        quoted(self)
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}

/// One word of an enumeration.
#[derive(Debug)]
pub(crate) struct Word<T: 'static> {
    pub(crate) name: &'static str,
    pub(crate) value: T,
    pub(crate) about: &'static str,
}

/// An enumeration whose values are words.
pub(crate) struct Words<'a, T: 'static> {
    pub(crate) value: &'a mut T,
    pub(crate) words: &'static [Word<T>],
}

impl<T: Copy + PartialEq> Value for Words<'_, T> {
    fn read(&mut self, content: &Content, _key: &Key) -> Result<(), Mismatch> {
        let names = || self.words.iter().map(|word| word.name);
        let Content::Text(text) = content else {
            let example = self.words.first().map_or("", |word| word.name);
            return Err(Mismatch::kind(content, "a word", &quoted(example)));
        };
        match self.words.iter().find(|word| word.name == text) {
            Some(word) => {
                *self.value = word.value;
                Ok(())
            }
            None => Err(unknown_word(text, names())),
        }
    }

    fn print(&self) -> String {
        let word = self.words.iter().find(|word| word.value == *self.value);
        quoted(word.map_or("", |word| word.name))
    }

    fn shape(&self) -> Shape {
        Shape::Words(
            self.words
                .iter()
                .map(|word| (word.name, word.about))
                .collect(),
        )
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}

/// `text` is none of the `known` words.
pub(crate) fn unknown_word<'a>(
    text: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Mismatch {
    let list: Vec<String> = known.clone().map(quoted).collect();
    let mut hint = match list.as_slice() {
        [one] => format!("the only one is {one}"),
        list => format!("known are {}", list.join(", ")),
    };
    if let Some(near) = nearest(text, known) {
        hint = format!("did you mean {}? {hint}", quoted(near));
    }
    Mismatch::new(format!("{} is not known here", shown(text)), hint)
}

/// A value, or the word that stands for its absence.
pub(crate) struct Or<'a, T> {
    pub(crate) value: &'a mut Option<T>,
    /// The word, for instance `off` or `unlimited`.
    pub(crate) word: &'static str,
    /// Any value of the type, to describe it.
    pub(crate) example: T,
}

impl<T: Value + Clone> Value for Or<'_, T> {
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
        if matches!(content, Content::Text(text) if text == self.word) {
            *self.value = None;
            return Ok(());
        }
        let mut inner = self.example.clone();
        inner.read(content, key).map_err(|mut mismatch| {
            mismatch.hint = format!("{}, or \"{}\"", mismatch.hint, self.word);
            mismatch
        })?;
        *self.value = Some(inner);
        Ok(())
    }

    fn print(&self) -> String {
        self.value
            .as_ref()
            .map_or_else(|| quoted(self.word), Value::print)
    }

    fn shape(&self) -> Shape {
        Shape::WordOr(self.word, Box::new(self.example.shape()))
    }

    fn compare(&self, bound: &str) -> Option<Ordering> {
        self.value.as_ref()?.compare(bound)
    }
}

/// Most items of a list. chosen: above any list a person writes, below what slows the checks.
const LONGEST_LIST: usize = 10_000;

/// One value, or a list of them; never empty.
pub(crate) struct OneOrMany<'a, T> {
    pub(crate) values: &'a mut Vec<T>,
    pub(crate) example: T,
}

impl<T: Value + Clone> Value for OneOrMany<'_, T> {
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
        let items = match content {
            Content::List(items) => items.iter().map(|item| &item.content).collect(),
            single => vec![single],
        };
        if items.is_empty() || items.len() > LONGEST_LIST {
            return Err(Mismatch::new(
                format!("a list of {} values", items.len()),
                format!("one value, or a list of 1 to {LONGEST_LIST}"),
            ));
        }
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            let mut value = self.example.clone();
            value.read(item, key)?;
            values.push(value);
        }
        *self.values = values;
        Ok(())
    }

    fn print(&self) -> String {
        match self.values.as_slice() {
            [one] => one.print(),
            many => print_list(many),
        }
    }

    fn shape(&self) -> Shape {
        Shape::OneOrMany(Box::new(self.example.shape()))
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }

    fn check(&self, key: &Key) -> Result<(), Mismatch> {
        self.values.iter().try_for_each(|value| value.check(key))
    }
}

/// A list of values, possibly empty.
pub(crate) struct ListOf<'a, T> {
    pub(crate) values: &'a mut Vec<T>,
    pub(crate) example: T,
}

impl<T: Value + Clone> Value for ListOf<'_, T> {
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
        if let Content::List(items) = content
            && items.is_empty()
        {
            self.values.clear();
            return Ok(());
        }
        let Content::List(_) = content else {
            let example = format!("[{}]", self.example.print());
            return Err(Mismatch::kind(content, "a list", &example));
        };
        OneOrMany {
            values: self.values,
            example: self.example.clone(),
        }
        .read(content, key)
    }

    fn print(&self) -> String {
        print_list(self.values)
    }

    fn shape(&self) -> Shape {
        Shape::List(Box::new(self.example.shape()))
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }

    fn check(&self, key: &Key) -> Result<(), Mismatch> {
        self.values.iter().try_for_each(|value| value.check(key))
    }
}

fn print_list<T: Value>(values: &[T]) -> String {
    let items: Vec<String> = values.iter().map(Value::print).collect();
    format!("[{}]", items.join(", "))
}
