//! The clock of periodic updates: phase-locked, and never running several updates back to back.
//!
//! Source: contract 5 of this crate. Deviations: none known.

use sojourn_base::{Instant, Span};

/// Time of the next update.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Period {
    next: Instant,
    period: Span,
}

impl Period {
    /// First due one period after the start of the run.
    pub(crate) fn new(period: Span) -> Self {
        Self { next: Instant::ZERO + period, period }
    }

    /// Returns the time of the next update.
    pub(crate) const fn next(self) -> Instant {
        self.next
    }

    /// Returns true if an update is due `now`; the next one is then a period after this one was due, or after `now` if
    /// that has passed as well.
    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        if now < self.next {
            return false;
        }
        self.next += self.period;
        if self.next <= now {
            self.next = now + self.period;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_keep_their_phase_and_skip_what_was_missed() {
        let mut period = Period::new(Span::from_ms(15));
        assert!(!period.is_due(Instant::from_ms(14)));
        assert!(period.is_due(Instant::from_ms(16)));
        assert_eq!(period.next(), Instant::from_ms(30));
        assert!(period.is_due(Instant::from_ms(100)));
        assert_eq!(period.next(), Instant::from_ms(115));
    }
}
