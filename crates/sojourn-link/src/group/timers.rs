//! Timers of the queue managers of a group's homes: one list for all of them.
//!
//! A manager changes its mind often. Its home is written down when its timer comes earlier than what is written, and is asked again
//! when that is due.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use sojourn_base::Instant;

/// See the module.
#[derive(Debug)]
pub(crate) struct Timers {
    due: BinaryHeap<Reverse<(Instant, usize)>>,
    /// For when each home is written down; [`Instant::NEVER`] if it is not.
    written: Vec<Instant>,
}

impl Timers {
    /// A list for this number of homes, none of which has an entry.
    pub(crate) fn new(homes: usize) -> Self {
        Self { due: BinaryHeap::new(), written: alloc::vec![Instant::NEVER; homes] }
    }

    /// Returns the time of the first of them; [`Instant::NEVER`] if there is none.
    pub(crate) fn next(&self) -> Instant {
        self.due.peek().map_or(Instant::NEVER, |first| first.0.0)
    }

    /// The home at `port` wants its timer run at `timer`.
    pub(crate) fn follow(&mut self, port: usize, timer: Instant) {
        if timer < self.written[port] {
            self.written[port] = timer;
            self.due.push(Reverse((timer, port)));
        }
    }

    /// The first home that is due by `now`, which is no longer written down.
    pub(crate) fn take(&mut self, now: Instant) -> Option<usize> {
        let &Reverse((at, port)) = self.due.peek()?;
        if at > now {
            return None;
        }
        self.due.pop();
        self.written[port] = Instant::NEVER;
        Some(port)
    }
}
