//! How long a round trip takes, without the time for which the peer held an acknowledgement back.
//!
//! Source: RFC 9002 sections 5.1 to 5.3 and appendix A.7 (`UpdateRtt`).
//! Deviations: none known.

use crate::common::rtt::RoundTrip;
use sojourn_base::{Instant, Span};

/// Estimator of one sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Estimator {
    /// `smoothed_rtt` and `rttvar`, which have the gains of RFC 6298.
    smoother: RoundTrip,
    minimum: Option<Span>,
    latest: Span,
    first_sample_at: Option<Instant>,
}

impl Estimator {
    /// A sample, and for how long of it the peer says that it held the acknowledgement back.
    pub(super) fn sample(&mut self, now: Instant, latest: Span, acknowledgement_delay: Span) {
        self.latest = latest;
        let minimum = self.minimum.map_or(latest, |minimum| minimum.min(latest));
        self.minimum = Some(minimum);
        let first = self.first_sample_at.is_none();
        self.first_sample_at.get_or_insert(now);
        let adjusted = if !first && latest >= minimum + acknowledgement_delay {
            latest.saturating_sub(acknowledgement_delay)
        } else {
            latest
        };
        self.smoother.sample(now, adjusted, false);
    }

    /// `smoothed_rtt`; `None` before the first sample.
    pub(super) fn smoothed(&self) -> Option<Span> {
        self.smoother.smoothed()
    }

    /// `rttvar`.
    pub(super) const fn variation(&self) -> Span {
        self.smoother.variation()
    }

    /// Returns the time of the first sample; [`Instant::NEVER`] before.
    pub(super) fn first_sample_at(&self) -> Instant {
        self.first_sample_at.unwrap_or(Instant::NEVER)
    }

    /// The probe timeout without `max_ack_delay` and back-off (section 6.2.1); `None` before the first sample.
    pub(super) fn timeout(&self, granularity: Span) -> Option<Span> {
        let smoothed = self.smoothed()?;
        Some(smoothed + self.smoother.four_variations().max(granularity))
    }

    /// The larger of the smoothed and the latest round trip (section 6.1.2).
    pub(super) fn larger(&self) -> Span {
        self.latest.max(self.smoothed().unwrap_or(Span::ZERO))
    }

    /// The path may be another one after persistent congestion (section 5.2): the next sample is the least.
    pub(super) const fn forget_minimum(&mut self) {
        self.minimum = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_lose_the_delay_of_the_acknowledgement_unless_that_leaves_less_than_the_least() {
        // Worked out by hand from appendix A.7: latest, ack_delay; smoothed_rtt, rttvar in ms.
        let table = [
            // The first sample counts whole: 100, half of it.
            (100, 20, 100.0, 50.0),
            // 130 - 20 = 110: rttvar 3/4 50 + 1/4 10, smoothed 7/8 100 + 1/8 110.
            (130, 20, 101.25, 40.0),
            // 110 - 20 is less than the least (100): 110 counts. |101.25 - 110| = 8.75.
            (110, 20, 102.34375, 32.1875),
            // A new least one, 80: its delay is not taken off.
            (80, 10, 99.550_781, 29.726_563),
            // 80 is the least now: 95 - 15 = 80 counts.
            (95, 15, 97.106_934, 27.182_617),
        ];
        let mut estimator = Estimator::default();
        for (latest, delay, smoothed, variation) in table {
            estimator.sample(Instant::ZERO, Span::from_ms(latest), Span::from_ms(delay));
            let got = estimator.smoothed().unwrap().as_ms_f64();
            assert!((got - smoothed).abs() < 1e-4, "smoothed {got}, not {smoothed}");
            let got = estimator.variation().as_ms_f64();
            assert!((got - variation).abs() < 1e-4, "rttvar {got}, not {variation}");
        }
        // Section 6.2.1: smoothed + max(4 rttvar, granularity).
        let timeout = estimator.timeout(Span::from_ms(1)).unwrap().as_ms_f64();
        assert!((timeout - (97.106_934 + 4.0 * 27.182_617)).abs() < 1e-3, "{timeout}");
        assert_eq!(estimator.larger(), estimator.smoothed().unwrap());
    }
}
