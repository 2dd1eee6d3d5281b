//! The pacer: when the next segment may leave.
//!
//! Source: Linux `tcp_update_pacing_rate`, `fq`.
//! Deviations: none known.

use crate::config::Pace;
use sojourn_base::{Instant, Span};

/// Spreads segments over the round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    next_at: Instant,
    /// Segments left in the current burst.
    burst: u32,
    sent: u32,
}

impl Pacer {
    /// Send at once what comes next.
    pub(crate) fn release(&mut self) {
        self.next_at = Instant::ZERO;
    }

    /// When the next segment may leave, if that is later than `now`.
    pub(crate) fn held_until(&mut self, now: Instant, pacing: &Pace) -> Option<Instant> {
        if self.burst > 0 || self.sent < pacing.unpaced {
            return None;
        }
        if now < self.next_at {
            return Some(self.next_at);
        }
        self.burst = pacing.quantum.max(1);
        None
    }

    /// A segment leaves; segments are `interval` apart in the mean.
    pub(crate) fn on_sent(&mut self, now: Instant, interval: Span, pacing: &Pace) {
        self.sent = self.sent.saturating_add(1);
        self.burst = self.burst.saturating_sub(1);
        // Time not used is worth at most one burst.
        let credit = interval.saturating_mul(u64::from(pacing.quantum.max(1)) - 1);
        let earliest = Instant::from_ps(now.as_ps().saturating_sub(credit.as_ps()));
        self.next_at = self.next_at.max(earliest).saturating_add(interval);
    }
}
