//! How the floor of CoDel is spelt.
//!
//! Source: none; the spelling is the project's own. Deviations: none known.

use super::CodelFloor;
use alloc::boxed::Box;
use alloc::string::String;
use core::cmp::Ordering;
use sojourn_base::Bytes;
use sojourn_keys::value::quoted;
use sojourn_keys::{Content, Key, Mismatch, Or, Shape, Value};

/// `"largest-seen"`, or a size.
impl Value for CodelFloor {
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
        let mut size = match self {
            Self::Fixed(size) => Some(Bytes(u64::from(*size))),
            Self::LargestSeen => None,
        };
        Or { value: &mut size, word: LARGEST_SEEN }.read(content, key)?;
        *self = match size {
            None => Self::LargestSeen,
            Some(Bytes(size)) => Self::Fixed(u32::try_from(size).map_err(|_| {
                Mismatch::new(alloc::format!("{} is more than can be held", Bytes(size)), "for instance \"1500 B\"")
            })?),
        };
        Ok(())
    }

    fn print(&self) -> String {
        match self {
            Self::LargestSeen => quoted(LARGEST_SEEN),
            Self::Fixed(size) => Bytes(u64::from(*size)).print(),
        }
    }

    fn shape(&self) -> Shape {
        Shape::WordOr(LARGEST_SEEN, Box::new(Bytes(0).shape()))
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}

/// The word for [`CodelFloor::LargestSeen`].
const LARGEST_SEEN: &str = "largest-seen";
