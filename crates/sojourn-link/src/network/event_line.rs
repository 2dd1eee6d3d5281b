//! Packets on their way to an event: many packets, and one event for the first of them.

use super::route::{NetworkEvent, PacketId, Schedule};
use crate::Line;
use sojourn_base::Instant;

/// Packets on their way to an event.
#[derive(Debug)]
pub(super) struct EventLine {
    line: Line<PacketId>,
    /// Time of the pending event (or of the one that is being handled).
    pending_at: Instant,
}

impl EventLine {
    pub(super) fn new() -> Self {
        Self { line: Line::default(), pending_at: Instant::NEVER }
    }

    /// A packet arrives at `at`, which `event` tells.
    #[inline]
    pub(super) fn announce(&mut self, at: Instant, id: PacketId, event: NetworkEvent, calendar: &mut impl Schedule) {
        if at < self.pending_at {
            self.pending_at = at;
            calendar.schedule(at, event);
        }
        self.line.push(at, id);
    }

    /// The next packet that has arrived by `now`; without one, `event` tells when the next one does.
    #[inline]
    pub(super) fn take(&mut self, now: Instant, event: NetworkEvent, calendar: &mut impl Schedule) -> Option<PacketId> {
        if self.pending_at != now {
            return None; // an earlier event took over
        }
        let taken = self.line.take(now);
        if taken.is_none() {
            let next = self.line.next_due();
            self.pending_at = next;
            if next < Instant::NEVER {
                calendar.schedule(next, event);
            }
        }
        taken
    }
}
