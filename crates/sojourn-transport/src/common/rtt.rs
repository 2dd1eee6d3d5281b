//! How long a round trip takes: smoothed value, variation, and recent minimum.
//!
//! Source: RFC 6298 section 2 (estimator); RFC 8985 section 6.2 (windowed minimum); ns-2.35
//! `tcp-linux.cc` for the gentle variation.
//! Units: picoseconds, scaled by 8 (srtt) and 4 (rttvar) so that integer arithmetic rounds far below
//! a nanosecond. The estimator works on exact times; clock granularity enters only the timeout.

use sojourn_base::{Instant, Span};

/// Estimator of one direction of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrip {
    /// 8 srtt in picoseconds; 0 before the first sample.
    smoothed: u64,
    /// 4 rttvar in picoseconds.
    variation: u64,
    minimum: Span,
    minimum_at: Instant,
}

/// How long a minimum counts as recent (RFC 8985 section 6.2 leaves it open; Linux
/// `tcp_min_rtt_wlen` is 300 s). chosen: the 10 s of BBR, so that a changed path is noticed.
const MINIMUM_WINDOW: Span = Span::from_s(10);

impl RoundTrip {
    /// A sample arrives. `gentle`: one below srtt raises rttvar at an eighth of the gain.
    pub(crate) fn sample(&mut self, now: Instant, sample: Span, gentle: bool) {
        let round_trip = sample.as_ps().max(1);
        let is_first = self.smoothed == 0;
        if is_first {
            self.smoothed = round_trip * 8;
            self.variation = round_trip * 2;
        } else {
            let smoothed = self.smoothed / 8;
            let deviation = smoothed.abs_diff(round_trip);
            let variation = self.variation / 4;
            if gentle && round_trip < smoothed && deviation > variation {
                self.variation += (deviation - variation) / 8;
            } else {
                self.variation = self.variation - variation + deviation;
            }
            self.smoothed = self.smoothed - smoothed + round_trip;
        }
        if is_first || sample <= self.minimum || now.saturating_since(self.minimum_at) > MINIMUM_WINDOW {
            (self.minimum, self.minimum_at) = (sample, now);
        }
    }

    /// Smoothed round-trip time.
    pub(crate) fn smoothed(&self) -> Option<Span> {
        (self.smoothed > 0).then(|| Span::from_ps(self.smoothed / 8))
    }

    /// Variation of the round-trip time.
    pub(crate) const fn variation(&self) -> Span {
        Span::from_ps(self.variation / 4)
    }

    /// Four times the variation, without rounding.
    pub(crate) const fn four_variations(&self) -> Span {
        Span::from_ps(self.variation)
    }

    /// Smallest sample of the last ten seconds; zero before the first one.
    pub(crate) const fn minimum(&self) -> Span {
        self.minimum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srtt_and_rttvar() {
        // Worked out by hand from RFC 6298 section 2: samples and expected values in ms.
        let table = [
            (100, 100.0, 50.0),
            (120, 102.5, 42.5),
            (90, 100.9375, 35.0),
            (200, 113.3203, 51.0156),
            (100, 111.6553, 41.5918),
            (100, 110.1984, 34.1077),
        ];
        let mut estimator = RoundTrip::default();
        for (sample, smoothed, variation) in table {
            estimator.sample(Instant::ZERO, Span::from_ms(sample), false);
            let got = estimator.smoothed().unwrap().as_ms_f64();
            assert!((got - smoothed).abs() < 1e-4, "srtt {got}, not {smoothed}");
            let got = estimator.variation().as_ms_f64();
            assert!((got - variation).abs() < 1e-4, "rttvar {got}, not {variation}");
        }
    }

    #[test]
    fn a_falling_sample_raises_the_variation_gently() {
        let mut estimator = RoundTrip::default();
        for _ in 0..100 {
            estimator.sample(Instant::ZERO, Span::from_ms(200), true);
        }
        let before = estimator.variation();
        assert!(before < Span::from_us(1));
        estimator.sample(Instant::ZERO, Span::from_ms(40), true);
        // 160 ms / 4 / 8 = 5 ms; the normal gain would give 40 ms.
        let rise = estimator.variation().saturating_sub(before);
        assert!(rise.as_ms_f64() > 4.99 && rise.as_ms_f64() < 5.01, "{rise}");
    }

    #[test]
    fn the_minimum_forgets_after_ten_seconds() {
        let mut estimator = RoundTrip::default();
        estimator.sample(Instant::ZERO, Span::from_ms(20), false);
        estimator.sample(Instant::from_s(9), Span::from_ms(50), false);
        assert_eq!(estimator.minimum(), Span::from_ms(20));
        estimator.sample(Instant::from_s(11), Span::from_ms(50), false);
        assert_eq!(estimator.minimum(), Span::from_ms(50));
    }
}
