//! The surroundings of the members of a group, and the one wake-up for all of them.

use crate::LinkContext;
use sojourn_base::Instant;

/// The surroundings of each modem of a group.
pub trait Members {
    /// Calls `act` with what the modem at `port` may ask and tell.
    fn at(&mut self, port: usize, act: &mut dyn FnMut(&mut dyn LinkContext));

    /// See [`LinkContext::work`].
    fn work(&mut self, units: u64) -> bool {
        let _ = units;
        true
    }
}

/// A medium that several members share.
pub trait Shared {
    /// Returns the time of its next call; [`Instant::NEVER`] if nothing is pending.
    fn next_wakeup(&self) -> Instant;

    /// Handles everything that is due at `now`, the time of its wake-up.
    fn on_due(&mut self, now: Instant, members: &mut impl Members);

    /// Handles everything that is due by `now`, in the order of time, while `members` allow the work.
    fn on_wakeup(&mut self, now: Instant, members: &mut impl Members) {
        loop {
            let at = self.next_wakeup();
            if at > now || !members.work(1) {
                return;
            }
            self.on_due(at, members);
        }
    }
}
