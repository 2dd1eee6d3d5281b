//! The packets of numbered lines, as laws see them.
//!
//! Source: none. Deviations: none.

use crate::{Backlog, Held};
use sojourn_base::{Instant, Meta};

/// The packets of numbered lines.
pub trait Waiting {
    /// Returns the packets that wait in all lines.
    fn backlog(&self) -> Backlog;
    /// Bytes in a line.
    fn bytes_in(&self, line: usize) -> u64;
    /// Bytes that a law's state is for: those of its line, or all.
    #[inline]
    fn bytes_for(&self, line: usize, is_shared: bool) -> u64 {
        if is_shared { self.backlog().bytes.0 } else { self.bytes_in(line) }
    }
    /// Returns true if a line has this packet alone, or none.
    fn has_one(&self, line: usize) -> bool;
    /// Returns true if no packet waits in a line.
    fn is_empty(&self, line: usize) -> bool;
    /// The oldest packet of a line, and when it was accepted.
    fn head(&self, line: usize) -> Option<(&Meta, Instant)>;
    /// Takes the oldest packet of a line.
    fn pop(&mut self, line: usize) -> Option<Held>;
}
