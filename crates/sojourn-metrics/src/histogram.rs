//! Delays of any number of packets in fixed memory: counts in bins whose width is a thousandth of the
//! value.
//!
//! Source: the recorded-value histogram of Gil Tene (HdrHistogram), with three significant digits.
//! Units and ranges: nanoseconds; delays above an hour count as an hour. Mean, minimum and maximum are
//! exact, quantiles and shares within a thousandth.
//! Deviations: none known.

use hdrhistogram::Histogram;

/// Delays of a flow or of a queue.
#[derive(Clone, Debug)]
pub struct DelayHistogram {
    counts: Histogram<u64>,
    sum: u128,
    min: u64,
    max: u64,
}

/// A step of the distribution function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CdfPoint {
    /// A delay in nanoseconds.
    pub delay: u64,
    /// The share of packets with at most this delay.
    pub share: f64,
}

impl DelayHistogram {
    /// An empty histogram; all memory it will ever need is taken now.
    pub fn new() -> Self {
        Self {
            counts: Histogram::new_with_bounds(1, LONGEST, SIGNIFICANT_DIGITS)
                .expect("an hour with three digits is a valid range"),
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    /// Count one packet.
    pub fn record(&mut self, delay: u64) {
        self.counts.saturating_record(delay);
        self.sum += u128::from(delay);
        self.min = self.min.min(delay);
        self.max = self.max.max(delay);
    }

    /// Count all packets of `other` as well.
    pub fn merge(&mut self, other: &Self) {
        self.counts
            .add(&other.counts)
            .expect("histograms of delays have the same range");
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Number of packets.
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// Mean delay.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }

    /// Shortest delay.
    pub fn min(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.min)
    }

    /// Longest delay.
    pub fn max(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max)
    }

    /// The delay that the share `p` of packets does not exceed, at most a thousandth above the sample.
    pub fn quantile(&self, p: f64) -> Option<u64> {
        let (min, max) = (self.min()?, self.max()?);
        Some(self.counts.value_at_quantile(p).clamp(min, max))
    }

    /// The distribution function: one point for each bin that has packets, in rising order.
    pub fn cdf_points(&self) -> Vec<CdfPoint> {
        let count = self.count() as f64;
        let mut below = 0;
        self.counts
            .iter_recorded()
            .map(|bin| {
                below += bin.count_at_value();
                CdfPoint {
                    delay: bin.value_iterated_to().clamp(self.min, self.max),
                    share: below as f64 / count,
                }
            })
            .collect()
    }
}

impl Default for DelayHistogram {
    fn default() -> Self {
        Self::new()
    }
}

/// Longest delay that is told apart. Chosen: an hour is longer than any queue.
const LONGEST: u64 = 3_600_000_000_000;
/// Digits that are kept. Chosen: a thousandth is below what a figure shows, and takes a quarter of a
/// megabyte.
const SIGNIFICANT_DIGITS: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_small_delays_are_exact() {
        // Below 2048 ns every value has a bin of its own.
        let mut delays = DelayHistogram::new();
        for delay in [0, 5, 5, 7, 1000] {
            delays.record(delay);
        }
        assert_eq!(delays.count(), 5);
        assert_eq!(delays.mean(), Some(203.4));
        assert_eq!((delays.min(), delays.max()), (Some(0), Some(1000)));
        let quantiles = [0.2, 0.5, 0.6, 0.8, 1.0].map(|p| delays.quantile(p).unwrap());
        assert_eq!(quantiles, [0, 5, 5, 7, 1000]);
        let points: Vec<(u64, f64)> = delays
            .cdf_points()
            .iter()
            .map(|point| (point.delay, point.share))
            .collect();
        assert_eq!(points, [(0, 0.2), (5, 0.6), (7, 0.8), (1000, 1.0)]);
    }

    #[test]
    fn an_empty_histogram_has_no_statistics() {
        let empty = DelayHistogram::default();
        assert_eq!((empty.mean(), empty.quantile(0.5)), (None, None));
        assert_eq!((empty.min(), empty.max()), (None, None));
        assert!(empty.cdf_points().is_empty());
    }

    #[test]
    fn delays_beyond_the_range_keep_the_exact_maximum_and_mean() {
        let mut delays = DelayHistogram::new();
        delays.record(5_000_000_000_000);
        delays.record(1_000_000_000_000);
        assert_eq!(delays.max(), Some(5_000_000_000_000));
        assert_eq!(delays.mean(), Some(3e12));
        assert_eq!(delays.count(), 2);
    }

    proptest! {
        #[test]
        fn quantiles_are_within_a_thousandth_of_the_sample(
            mut delays in prop::collection::vec(0_u64..3_600_000_000_000, 1..200), p in 0.0_f64..=1.0,
        ) {
            let mut histogram = DelayHistogram::new();
            for &delay in &delays {
                histogram.record(delay);
            }
            delays.sort_unstable();
            let exact = crate::quantile::inverted_cdf(&delays, p).unwrap();
            let ours = histogram.quantile(p).unwrap();
            prop_assert!(ours >= exact && ours - exact <= exact / 1000 + 1, "{} {}", ours, exact);
        }

        #[test]
        fn merging_is_counting_together(
            a in prop::collection::vec(0_u64..1_000_000_000, 0..50),
            b in prop::collection::vec(0_u64..1_000_000_000, 0..50),
        ) {
            let count = |delays: &[u64]| {
                let mut histogram = DelayHistogram::new();
                for &delay in delays {
                    histogram.record(delay);
                }
                histogram
            };
            let mut merged = count(&a);
            merged.merge(&count(&b));
            let together = count(&[a, b].concat());
            prop_assert_eq!(merged.cdf_points(), together.cdf_points());
            prop_assert_eq!(merged.mean(), together.mean());
            prop_assert_eq!((merged.min(), merged.max()), (together.min(), together.max()));
        }
    }
}
