//! Quantities: a number and a unit; and what is meant where they are spelt otherwise.
//!
//! Source: units of `sojourn_base::quantity`. Deviations: none known.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString as _;
use alloc::vec::Vec;
use core::cmp::Ordering;

use sojourn_base::quantity::{self, Quantity, QuantityError, Unit};
use sojourn_base::{BitRate, Bytes, Limit, Packets, Span};

use super::{Mismatch, Shape, Value, quoted, shown, unquoted};
use crate::content::Content;
use crate::key::Key;

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
        Shape::Quantity { name: Self::NAME, units: Self::UNITS }
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
        Content::Text(text) => quantity::parse(text).map_err(|error| explain::<Q>(text, error, key)),
        Content::Float(digits, value) if !value.is_finite() => Err(Mismatch::new(
            format!("{digits} is not {}", Q::NAME),
            format!("write a decimal number and a unit, for instance {}", example::<Q>(key)),
        )),
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
        QuantityError::NoUnit => {
            Mismatch::new(format!("{text} has no unit"), format!("write \"{number} {}\"", unit_for::<Q>(number, key)))
        }
        QuantityError::Negative => Mismatch::new(format!("{text} is negative"), format!("for instance {example}")),
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
            with_point(number, found).unwrap_or_else(|| {
                format!("one number, with a point and no commas, and a unit: for instance {example}")
            }),
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
    // The hint lists the other forms of a limit.
    let name = Q::NAME.split(" (").next().unwrap_or(Q::NAME);
    Mismatch::new(format!("{shown_text}: {} is not a unit of {name}", shown(found)), hint)
}

/// Returns the reading of a number with one comma: a point, unless three digits follow, which may be thousands.
fn with_point(whole: &str, rest: &str) -> Option<String> {
    let rest = rest.strip_prefix(',')?;
    let (fraction, unit) = quantity::split(rest);
    let is_number = !fraction.is_empty() && fraction.bytes().all(|octet| octet.is_ascii_digit());
    if !is_number || unit.starts_with(',') {
        return None;
    }
    let behind = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    let point = format!("\"{whole}.{fraction}{behind}\"");
    Some(if fraction.len() == 3 {
        format!("a point divides, and nothing groups: {point} or \"{whole}{fraction}{behind}\"")
    } else {
        format!("decimals follow a point: {point}")
    })
}

/// Reads a quantity of a command line; a number without unit is in `unit`, if that is not empty.
pub fn read_words<Q: Quantity>(text: &str, unit: &'static str) -> Result<Q, Mismatch> {
    let key = Key { unit, ..crate::key::key("", "", "") };
    match quantity::parse(text) {
        Err(QuantityError::NoUnit) if !unit.is_empty() => {
            let whole = format!("{} {unit}", text.trim());
            quantity::parse(&whole).map_err(|error| explain::<Q>(&whole, error, &key))
        }
        read => read.map_err(|error| explain::<Q>(text, error, &key)),
    }
}

/// The bit rate of a number of bytes per second.
fn bits_for_bytes(number: &str, unit: &str) -> Option<BitRate> {
    let size = unit.strip_suffix("/s").or_else(|| unit.strip_suffix("ps"))?;
    let bytes: Bytes = format!("{number} {size}").parse().ok()?;
    bytes.0.checked_mul(8).map(BitRate::from_bps)
}

/// Spellings that are no unit here, because they stand for two of them elsewhere, and what is meant most often.
const AMBIGUOUS: [(&str, &str); 4] = [("m", "min"), ("pkt", "packets"), ("pkts", "packets"), ("p", "packets")];

/// The unit that is meant by a spelling of other tools, or by one in other letter case.
fn meant_unit(found: &str, units: &'static [Unit]) -> Option<&'static str> {
    let lower = found.to_lowercase();
    let elsewhere = AMBIGUOUS.iter().find(|(spelling, _)| *spelling == lower).map(|(_, unit)| *unit);
    let mut names = units.iter().map(|(spelling, _)| *spelling);
    names.clone().find(|unit| Some(*unit) == elsewhere).or_else(|| names.find(|unit| unit.to_lowercase() == lower))
}
