//! Parameters of a declaration's row: a value, a list, a value or a word, one of several kinds, a table.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use sojourn_base::{BitRate, Bytes};

use crate::form::Visitor;
use crate::key::Key;
use crate::kind::{Kind, OneOf};
use crate::value::{ListOf, OneOrMany, Or, Value};

/// A parameter that shows itself to a visitor.
pub trait Parameter {
    /// Shows itself under `key`.
    fn show(&mut self, key: Key, visitor: &mut dyn Visitor);
}

impl<V: Value> Parameter for V {
    fn show(&mut self, key: Key, visitor: &mut dyn Visitor) {
        visitor.value(key, self);
    }
}

/// A value, or the word of its key ([`Key::or`]) that stands for its absence.
impl<V: Value + Clone + Default> Parameter for Option<V> {
    fn show(&mut self, key: Key, visitor: &mut dyn Visitor) {
        let word = key.absence;
        visitor.value(key, &mut Or { value: self, word });
    }
}

/// A list of values, which may be empty; or one value or a list, if its key says so ([`Key::one_or_many`]).
impl<V: Value + Clone + Default> Parameter for Vec<V> {
    fn show(&mut self, key: Key, visitor: &mut dyn Visitor) {
        if key.one_or_many {
            visitor.value(key, &mut OneOrMany { values: self });
        } else {
            visitor.value(key, &mut ListOf { values: self });
        }
    }
}

/// As a [`Vec`], for lists with a default.
impl<V: Value + Clone + Default> Parameter for Cow<'static, [V]> {
    fn show(&mut self, key: Key, visitor: &mut dyn Visitor) {
        self.to_mut().show(key, visitor);
    }
}

/// One of several kinds, declared by [`choices!`](crate::choices).
pub trait Choices: Sized + 'static {
    /// All kinds.
    const KINDS: &'static [Kind<Self>];
    /// The word for the present one.
    fn word(&self) -> &'static str;
}

/// Shows one of several kinds under `key`.
pub fn choice<T: Choices>(key: Key, value: &mut T, visitor: &mut dyn Visitor) {
    visitor.choice(key, &mut OneOf::new(value, T::KINDS, T::word));
}

/// Shows a size that a configuration holds in 32 bits.
pub fn bytes(key: Key, value: &mut u32, visitor: &mut dyn Visitor) {
    let mut size = Bytes(u64::from(*value));
    visitor.value(key, &mut size);
    // Every such key has a greatest value; what is above it was noted as a problem.
    *value = u32::try_from(size.0).unwrap_or(*value);
}

/// Shows a rate, zero of which means the word for its absence.
pub fn rate_or(key: Key, rate: &mut BitRate, visitor: &mut dyn Visitor) {
    let mut said = (*rate > BitRate::ZERO).then_some(*rate);
    said.show(key, visitor);
    *rate = said.unwrap_or(BitRate::ZERO);
}

/// Shows nothing of a part that is as it is.
pub fn without_keys<T>(_part: &mut T, _visitor: &mut dyn Visitor) {}
