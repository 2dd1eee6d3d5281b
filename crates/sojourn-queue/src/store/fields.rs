//! Which fields of a header make a flow, for managers with a queue for each.
//!
//! Managers see a number of the flow and no headers; the number is computed from these fields.
//!
//! Source: White 2013 section 2.2 ("3 or 5 elements in the packet header"). Deviations: none known.

use sojourn_base::FlowKey;
use sojourn_base::native::IN_TAB;
use sojourn_keys::{Key, Parameter, Visitor, key, words};

words! {
    /// Fields of a header that make a flow.
    pub enum FlowFields {
        /// addresses, protocol and ports: each connection is a flow
        Five = "five",
        /// addresses and protocol: all connections between two hosts are one flow
        Three = "three",
    }
}

impl FlowFields {
    /// Fields of today's flow queueing (RFC 8290 section 4.1.1).
    pub const BASE: Self = Self::Five;

    /// Returns the header with only the fields that make the flow.
    #[must_use]
    pub const fn of(self, header: FlowKey) -> FlowKey {
        match self {
            Self::Five => header,
            Self::Three => header.without_ports(),
        }
    }
}

const FIELDS: Key = key(
    "fields",
    "fields of a header that make a flow; the same for all queues of a direction that tell flows apart",
    "RFC 8290 §4.1.1; White 2013 §2.2: 3 or 5",
);

/// No lesson has it, and the engine of browsers is small.
pub(crate) fn show_fields(fields: &mut FlowFields, visitor: &mut dyn Visitor) {
    let is_said = *fields != FlowFields::BASE || visitor.has(FIELDS.name) || visitor.is_exhaustive();
    if !IN_TAB && is_said {
        fields.show(FIELDS, visitor);
    }
}
