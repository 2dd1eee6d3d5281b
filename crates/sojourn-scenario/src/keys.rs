//! The keys of a scenario file, table by table.

pub(crate) mod application;
pub(crate) mod link;
pub(crate) mod queue;
pub(crate) mod scenario;
pub(crate) mod stack;

use sojourn_base::Bytes;

use crate::form::{Key, Visitor};

/// A size that a configuration holds in 32 bits.
fn bytes(key: Key, value: &mut u32, visitor: &mut dyn Visitor) {
    let mut size = Bytes(u64::from(*value));
    visitor.value(key, &mut size);
    // Every such key has a greatest value; what is above it was noted as a problem.
    *value = u32::try_from(size.0).unwrap_or(*value);
}
