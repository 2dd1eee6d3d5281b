//! Congestion events and recovery periods.
//!
//! Source: RFC 9002 sections 7.1 and 7.3, appendices B.6 and B.7.
//! Deviations: none known. A controller that answers each mark goes on growing after one.

use super::Sender;
use crate::congestion::{Cause, Congestion};
use crate::quic::Outlet;
use sojourn_base::Instant;

impl Sender {
    /// A congestion event begins a recovery period (RFC 9002 appendix B.6).
    pub(super) fn begin_recovery<C>(&mut self, now: Instant, cause: Cause, out: &mut Outlet<'_, C>) {
        self.control.on_congestion(&Congestion { now, cause, base: self.control.window().size, next: self.next() });
        let window = self.control.window_mut();
        window.size = match cause {
            Cause::Mark => window.size.min(window.threshold),
            Cause::Loss | Cause::Timeout => window.threshold,
        };
        self.recovery_since = Some(now);
        self.set_recovering(now, true, out);
    }

    pub(super) fn set_recovering<C>(&mut self, now: Instant, recovering: bool, out: &mut Outlet<'_, C>) {
        if recovering != self.recovering {
            *if self.recovering { &mut out.statistics.time_in_recovery } else { &mut out.statistics.time_open } +=
                now.saturating_since(self.state_since);
            (self.recovering, self.state_since) = (recovering, now);
        }
    }

    /// More packets were marked (RFC 9002 appendix B.7); `sent_at`: when the newest acknowledged packet was sent.
    pub(super) fn on_marks<C>(&mut self, now: Instant, sent_at: Instant, out: &mut Outlet<'_, C>) {
        let until = self.marks_until.max(self.recovery_since);
        if until.is_some_and(|until| sent_at <= until) || !self.control.reacts_to_mark(now) {
            return;
        }
        let (since, recovering) = (self.recovery_since, self.recovering);
        self.begin_recovery(now, Cause::Mark, out);
        self.marks_until = Some(now);
        out.statistics.mark_reductions += 1;
        if self.control.grows_with_marks() {
            // Scalable controllers go on growing.
            self.recovery_since = since;
            self.set_recovering(now, recovering, out);
        }
    }
}
