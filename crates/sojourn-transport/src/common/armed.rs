//! Deadlines as the caller of an endpoint knows them.

use crate::{EndpointContext, Timer};
use sojourn_base::Instant;

/// A deadline for each [`Timer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Armed([Instant; 3]);

impl Armed {
    /// No timer is armed.
    pub(crate) const NONE: Self = Self([Instant::NEVER; 3]);

    /// The deadline of a timer.
    pub(crate) const fn of(&self, timer: Timer) -> Instant {
        self.0[timer as usize]
    }

    /// The timer has expired.
    pub(crate) const fn on_expired(&mut self, timer: Timer) {
        self.0[timer as usize] = Instant::NEVER;
    }

    /// Arms a timer, if that is news to the caller.
    #[inline]
    pub(crate) fn arm(&mut self, timer: Timer, at: Instant, context: &mut impl EndpointContext) {
        if at != self.0[timer as usize] {
            self.0[timer as usize] = at;
            context.arm(timer, at);
        }
    }

    /// Disarms all timers.
    #[cold]
    pub(crate) fn disarm(&mut self, context: &mut impl EndpointContext) {
        for timer in [Timer::Main, Timer::DelayedAck, Timer::Pacing] {
            self.arm(timer, Instant::NEVER, context);
        }
    }
}
