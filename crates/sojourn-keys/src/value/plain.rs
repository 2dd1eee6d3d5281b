//! Plain values: whole numbers, numbers, true and false, texts.
//!
//! Source: TOML 1.0. Deviations: none known.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString as _;
use core::cmp::Ordering;

use super::{Mismatch, Shape, Value, quoted, shown};
use crate::content::Content;
use crate::key::Key;

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
            return Err(Mismatch::new("this number is not finite", "for instance 0.2"));
        }
        // -0.0 prints and compares unlike 0.0; the difference is never meant.
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
