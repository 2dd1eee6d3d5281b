//! What is on its way to an event: many packets, and one event for the first of them.

use crate::arena::PacketId;
use crate::calendar::Calendar;
use crate::event::Event;
use sojourn_base::Instant;
use sojourn_link::Line;

/// Packets on their way to an event.
#[derive(Debug)]
pub(crate) struct EventLine {
    line: Line<PacketId>,
    /// Time of the pending event (or of the one that is being handled).
    pending_at: Instant,
}

impl EventLine {
    pub(crate) fn new() -> Self {
        Self {
            line: Line::default(),
            pending_at: Instant::NEVER,
        }
    }

    /// A packet arrives at `at`, which `event` tells.
    #[inline]
    pub(crate) fn announce(
        &mut self,
        at: Instant,
        id: PacketId,
        event: Event,
        calendar: &mut Calendar<Event>,
    ) {
        if at < self.pending_at {
            self.pending_at = at;
            calendar.schedule(at, event);
        }
        self.line.push(at, id);
    }

    /// The next packet that has arrived by `now`; without one, `event` tells when the next one does.
    #[inline]
    pub(crate) fn take(
        &mut self,
        now: Instant,
        event: Event,
        calendar: &mut Calendar<Event>,
    ) -> Option<PacketId> {
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
