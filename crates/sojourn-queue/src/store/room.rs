//! Room for an arrival: a limit in bytes or packets, resolved to two plain comparisons.
//!
//! Source: ns-3 FIFO queue (reject if the arrival would exceed the limit). Deviations: none known.

use crate::Backlog;
use sojourn_base::{Bytes, Limit, Packets};

/// The most that may wait, in bytes and in packets; the unit that the limit does not name is
/// unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    bytes: u64,
    packets: u32,
}

impl Room {
    /// The room that `limit` gives.
    ///
    /// # Panics
    /// If the limit is a time: `ManagerConfig::at` turns it into bytes first.
    pub(crate) fn new(limit: Limit) -> Self {
        match limit {
            Limit::Bytes(Bytes(bytes)) => Self { bytes, packets: u32::MAX },
            Limit::Packets(Packets(packets)) => Self { bytes: u64::MAX, packets },
            Limit::Time(span) => {
                panic!("a limit of {span} needs a rate: call ManagerConfig::at before building")
            }
        }
    }

    /// Room for at most these bytes and packets.
    pub(crate) const fn of(bytes: u64, packets: u32) -> Self {
        Self { bytes, packets }
    }

    /// The same room, but for at most `bytes` bytes.
    pub(crate) fn within_bytes(self, bytes: u64) -> Self {
        Self { bytes: self.bytes.min(bytes), ..self }
    }

    /// Returns true if `length` more bytes in one more packet still fit.
    pub(crate) const fn fits(self, backlog: Backlog, length: u32) -> bool {
        backlog.packets.0 < self.packets && backlog.bytes.0.saturating_add(length as u64) <= self.bytes
    }

    /// Returns true if the backlog exceeds the room.
    pub(crate) const fn is_exceeded_by(self, backlog: Backlog) -> bool {
        backlog.packets.0 > self.packets || backlog.bytes.0 > self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::Span;

    fn waiting(bytes: u64, packets: u32) -> Backlog {
        Backlog { bytes: Bytes(bytes), packets: Packets(packets) }
    }

    #[test]
    fn a_limit_counts_only_in_its_own_unit() {
        let by_bytes = Room::new(Limit::Bytes(Bytes(3000)));
        assert!(by_bytes.fits(waiting(1500, 900), 1500));
        assert!(!by_bytes.fits(waiting(1500, 1), 1501));
        let by_packets = Room::new(Limit::Packets(Packets(2)));
        assert!(by_packets.fits(waiting(u64::MAX - 1, 1), 1500));
        assert!(!by_packets.fits(waiting(0, 2), 1));
    }

    #[test]
    #[should_panic(expected = "a limit of 20 ms needs a rate")]
    fn a_limit_in_time_is_refused() {
        let _ = Room::new(Limit::Time(Span::from_ms(20)));
    }
}
