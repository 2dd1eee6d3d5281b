//! How much a buffer may hold.

use crate::{BitRate, Bytes, Packets, Span};
use core::fmt;

/// A buffer limit as people write it: bytes, packets, or the time the buffer takes to drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// At most this many bytes.
    Bytes(Bytes),
    /// At most this many packets.
    Packets(Packets),
    /// As many bytes as drain in this time at the rate that the context names.
    Time(Span),
}

/// Nothing.
impl Default for Limit {
    fn default() -> Self {
        Self::Bytes(Bytes::ZERO)
    }
}

impl Limit {
    /// The same limit without time: `Time` becomes the bytes that `rate` sends in it.
    #[must_use]
    pub const fn at(self, rate: BitRate) -> Self {
        match self {
            Self::Time(span) => Self::Bytes(rate.bytes_in(span)),
            other => other,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Packets(packets) => packets.fmt(f),
            Self::Time(span) => span.fmt(f),
        }
    }
}
