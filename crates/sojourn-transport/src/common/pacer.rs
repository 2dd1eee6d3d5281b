//! The pacer: when the next segment may leave.
//!
//! Source: Linux `tcp_update_pacing_rate`, `fq`.
//! Deviations: none known.

use crate::config::{Pace, StackConfig};
use crate::congestion::WindowControl;
use sojourn_base::{Bytes, Instant, Span};

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

    /// The earliest time of the next burst.
    pub(crate) const fn next_at(&self) -> Instant {
        self.next_at
    }

    /// Returns the earliest time of the next segment, if that is later than `now`.
    pub(crate) fn held_until(&mut self, now: Instant, pacing: &Pace, control: &WindowControl) -> Option<Instant> {
        if self.burst > 0 || self.sent < pacing.unpaced {
            return None;
        }
        if now < self.next_at {
            return Some(self.next_at);
        }
        self.burst = control.burst(pacing);
        None
    }

    /// A segment leaves; segments are `interval` apart in the mean.
    pub(crate) fn on_sent(&mut self, now: Instant, interval: Span, burst: u32) {
        self.sent = self.sent.saturating_add(1);
        self.burst = self.burst.saturating_sub(1);
        // Time not used is worth at most one burst.
        let credit = interval.saturating_mul(u64::from(burst) - 1);
        let earliest = Instant::from_ps(now.as_ps().saturating_sub(credit.as_ps()));
        self.next_at = self.next_at.max(earliest).saturating_add(interval);
    }
}

/// Time that a packet of `length` bytes takes at the pacing rate, with the smoothed round trip and the segments in the
/// network.
pub(crate) fn pacing_interval(
    control: &WindowControl,
    (smoothed, pipe): (Option<Span>, u32),
    length: u32,
    pacing: &Pace,
    config: &StackConfig,
) -> Span {
    if let Some(rate) = control.pacing_rate() {
        return rate.time_for(Bytes(u64::from(length)));
    }
    let Some(smoothed) = smoothed else {
        return Span::ZERO;
    };
    let window = control.window();
    let gain = if window.size < window.threshold / 2.0 { pacing.slow_start_gain } else { pacing.avoidance_gain };
    let in_network = window.size.max(f64::from(pipe));
    let full = f64::from(config.maximum_segment_size + config.wire.data_header);
    let share = f64::from(length) / (gain * in_network * full);
    Span::from_secs_f64(smoothed.as_secs_f64() * share)
}
