//! Time, as the loop sees it.

use sojourn_base::{Instant, PerDirection, Span};
use std::io;

/// Tells the time and waits for it.
///
/// The time never runs backwards. It begins wherever it likes: the pump counts from its first look. It is that of
/// `CLOCK_MONOTONIC`, which stands still while the machine sleeps.
pub trait Clock {
    /// Returns the current time.
    fn now(&self) -> Instant;

    /// Waits until `until`, or until something can be read from a port or the emulation shall end, whichever is first; with
    /// an `until` that is past it only looks. `until` is a time of this clock, [`Instant::NEVER`] if nothing is planned.
    ///
    /// # Errors
    /// If the operating system cannot wait.
    fn wait(&mut self, until: Instant) -> io::Result<Wake>;

    /// Waits until `until`, whatever can be read meanwhile.
    fn rest(&mut self, until: Instant);

    /// Gives up the priority that this thread may have.
    fn give_priority_up(&mut self) {}

    /// Returns the processor time that this thread has used so far; `None` if unknown. Read once a second.
    fn busy(&mut self) -> Option<Span> {
        None
    }

    /// Returns the stolen time of this machine so far, summed over its cores; `None` if unknown. Read once a second.
    fn stolen(&mut self) -> Option<Span> {
        None
    }
}

/// Why a wait is over; none of it if the time has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wake {
    /// True for each direction whose source port is readable: upstream the inside, downstream the far end.
    pub readable: PerDirection<bool>,
    /// The emulation shall end: its command has ended, its duration has passed, or a user has requested it.
    pub ended: bool,
}
