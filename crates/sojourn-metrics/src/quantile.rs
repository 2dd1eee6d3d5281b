//! Quantiles by the definitions that the studies need, and the moments printed beside them.
//!
//! Source: Hyndman and Fan 1996 (types 1, 4 and 7); the plotting script of docsis-ns3, which joins the
//! points of the empirical distribution with lines; order-statistic intervals after David and Nagaraja,
//! Order Statistics, 7.1.
//! Units and ranges: samples are sorted in rising order by the caller, without NaN; probabilities lie in
//! 0..=1. All functions answer `None` for an empty sample.
//! Deviations: none known.

use crate::Interval;
use sojourn_base::math;

/// The quantiles that reports show for packets (chosen: from the best case to the tail that an operator
/// plans for, with both ends).
pub const REPORTED: [f64; 12] = [0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0];

/// How far a cumulated probability may fall short of the wanted one. Chosen: far above the rounding of
/// sums of millions of weights, far below the weight of a packet.
pub const SLACK: f64 = 1e-12;

/// The smallest sample that at least the share `p` of the sample does not exceed (type 1): the
/// definition for packets.
pub fn inverted_cdf<T: Copy>(sorted: &[T], p: f64) -> Option<T> {
    let rank = rank_reaching(sorted.len(), p);
    sorted.get(rank.checked_sub(1)?).copied()
}

/// Linear interpolation between the samples around `(n - 1) p` (type 7): the definition for small
/// samples such as pages and runs.
pub fn linear(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    Some(interpolate(sorted, last as f64 * p))
}

/// The same as [`linear`], for a sample that is listed as (value, count) in rising order of values.
pub fn linear_counted(sorted: &[(f64, u64)], p: f64) -> Option<f64> {
    let total: u64 = sorted.iter().map(|(_, count)| count).sum();
    let index = total.checked_sub(1)? as f64 * p;
    let (below, mut passed) = (math::floor(index), 0.0);
    let some = sorted.iter().filter(|(_, count)| *count > 0);
    let mut ends = some.map(|(value, count)| {
        passed += *count as f64;
        (*value, passed)
    });
    let (low, end) = ends.find(|(_, end)| below < *end)?;
    let high = if below + 1.0 < end { low } else { ends.next().map_or(low, |(value, _)| value) };
    Some(low + (high - low) * (index - below))
}

/// The middle of `values` in any order, or the mean of the two in the middle.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    linear(&sorted, 0.5)
}

/// Linear interpolation between the points (j/n, j-th sample), flat before the first (type 4): what the
/// plots of docsis-ns3 show.
pub fn interpolated_inverted_cdf(sorted: &[f64], p: f64) -> Option<f64> {
    if sorted.is_empty() {
        return None;
    }
    Some(interpolate(sorted, (sorted.len() as f64 * p - 1.0).max(0.0)))
}

/// The smallest value at which the cumulated weight reaches the share `p` of all weight; `sorted` holds
/// (value, weight) in rising order of values, weights not negative.
pub fn weighted_inverted_cdf(sorted: &[(f64, f64)], p: f64) -> Option<f64> {
    let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
    let wanted = (p - SLACK) * total;
    let mut sum = 0.0;
    let reached = sorted.iter().find(|(_, weight)| {
        sum += weight;
        *weight > 0.0 && sum >= wanted
    });
    let last = || sorted.iter().rev().find(|(_, weight)| *weight > 0.0);
    reached.or_else(last).map(|(value, _)| *value)
}

/// Returns true if a sample of `count` is large enough to show its quantile `p`: at least ten samples beyond it
/// (chosen: the usual rule of thumb for the tail of an empirical distribution).
pub fn is_supported(count: usize, p: f64) -> bool {
    (1.0 - p + SLACK) * count as f64 >= 10.0
}

/// Ranks (from 1) of the two order statistics that enclose the quantile `p` of a sample of `count` with
/// 95 % probability, whatever the distribution, if the samples are independent. A rank of 0 or of
/// `count + 1` means that the sample cannot bound that side.
pub fn interval_ranks(count: usize, p: f64) -> (usize, usize) {
    (binomial_quantile(count, p, 0.025), binomial_quantile(count, p, 0.975) + 1)
}

/// The values at [`interval_ranks`], or `None` if the sample is too small to bound both sides.
pub fn interval(sorted: &[f64], p: f64) -> Option<Interval> {
    let (low, high) = interval_ranks(sorted.len(), p);
    Some(Interval { low: *sorted.get(low.checked_sub(1)?)?, high: *sorted.get(high - 1)? })
}

/// Arithmetic mean.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// Standard deviation of a sample (denominator n - 1).
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    Some(math::sqrt(squares / (values.len() - 1) as f64))
}

/// The smallest rank (from 1) whose share of `count` reaches `p`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped by `as`, and to the sample right after"
)]
fn rank_reaching(count: usize, p: f64) -> usize {
    let rank = math::ceil((p - SLACK) * count as f64) as usize;
    rank.clamp(1, count.max(1))
}

/// The value at the fractional `index`, between its neighbours.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped by `as`, and to the sample right after"
)]
fn interpolate(sorted: &[f64], index: f64) -> f64 {
    let last = sorted.len() - 1;
    let below = (math::floor(index) as usize).min(last);
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (index - below as f64).clamp(0.0, 1.0)
}

/// The smallest k with P(X <= k) >= `level` for a binomial X of `count` trials with probability `p`.
/// Sums weights relative to the mode, which neither overflow nor vanish for any number of trials.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the number of trials")]
fn binomial_quantile(count: usize, p: f64, level: f64) -> usize {
    if p <= 0.0 || p >= 1.0 {
        return if p <= 0.0 { 0 } else { count };
    }
    let odds = p / (1.0 - p);
    let mode = (math::floor((count + 1) as f64 * p) as usize).min(count);
    let up = |k: usize| (count - k) as f64 / (k + 1) as f64 * odds;
    let mut first = (mode, 1.0);
    while first.0 > 0 && first.1 > NEGLIGIBLE {
        first = (first.0 - 1, first.1 / up(first.0 - 1));
    }
    let weights = |start: (usize, f64)| {
        core::iter::successors(Some(start), move |&(k, weight)| {
            let next = (k + 1, weight * up(k));
            (k < count && (k < mode || next.1 > NEGLIGIBLE)).then_some(next)
        })
    };
    let total: f64 = weights(first).map(|(_, weight)| weight).sum();
    let mut sum = 0.0;
    weights(first)
        .find(|(_, weight)| {
            sum += weight;
            sum >= level * total
        })
        .map_or(count, |(k, _)| k)
}

/// Weights below this, relative to the mode, do not move a sum of any length in double precision
/// (chosen: the square of the machine epsilon, roughly).
const NEGLIGIBLE: f64 = 1e-30;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A worked example: ten delays in ms.
    const DELAYS: [f64; 10] = [1.2, 1.4, 1.5, 1.9, 2.3, 2.8, 3.6, 5.1, 8.4, 20.7];

    fn close(ours: Option<f64>, expected: f64) {
        let ours = ours.expect("a value");
        assert!((ours - expected).abs() <= 1e-9 * expected.abs(), "{ours} {expected}");
    }

    #[test]
    fn three_definitions_give_their_worked_out_values() {
        // Type 7 at 0.95: index 8.55, 8.4 + 0.55 * 12.3. Type 4 at 0.99: 8.4 + 0.9 * 12.3.
        for (p, step, line, joined) in
            [(0.50, 2.3, 2.55, 2.3), (0.90, 8.4, 9.63, 8.4), (0.95, 20.7, 15.165, 14.55), (0.99, 20.7, 19.593, 19.47)]
        {
            assert_eq!(inverted_cdf(&DELAYS, p), Some(step), "{p}");
            close(linear(&DELAYS, p), line);
            close(interpolated_inverted_cdf(&DELAYS, p), joined);
        }
    }

    #[test]
    fn the_ends_are_the_extremes_and_nothing_has_no_quantile() {
        for p in [0.0, 1.0] {
            let end = if p < 0.5 { 1.2 } else { 20.7 };
            assert_eq!(inverted_cdf(&DELAYS, p), Some(end));
            close(linear(&DELAYS, p), end);
            close(interpolated_inverted_cdf(&DELAYS, p), end);
        }
        assert_eq!(inverted_cdf::<u64>(&[], 0.5), None);
        assert_eq!(linear(&[], 0.5), None);
        assert_eq!(interpolated_inverted_cdf(&[], 0.5), None);
        assert_eq!(weighted_inverted_cdf(&[], 0.5), None);
    }

    #[test]
    fn moments_of_the_ten_delays() {
        close(mean(&DELAYS), 4.89);
        let deviation = standard_deviation(&DELAYS).expect("ten values");
        assert!((deviation - 5.9748).abs() < 5e-5, "{deviation}");
        assert_eq!(standard_deviation(&[1.0]), None);
        close(median(&[3.0, 1.0, 20.0, 2.0]), 2.5);
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn the_slack_absorbs_rounding_of_the_probability() {
        // 0.8 of weights that add up to 0.8 only in exact arithmetic.
        let atoms = [(2.0, 0.45), (3.0, 0.27), (5.0, 0.05), (6.0, 0.03), (11.0, 0.18), (14.0, 0.02)];
        assert_eq!(weighted_inverted_cdf(&atoms, 0.8), Some(6.0));
        let thousand: Vec<u32> = (1..=1000).collect();
        for (p, rank) in [(0.07, 70), (0.29, 290), (0.57, 570), (0.999, 999)] {
            assert_eq!(inverted_cdf(&thousand, p), Some(rank));
        }
    }

    #[test]
    fn a_quantile_needs_ten_samples_beyond_it() {
        // 100 s of a game stream have 3030 packets; P99.9 needs 10,000.
        assert!(is_supported(3030, 0.99));
        assert!(!is_supported(3030, 0.999));
        assert!(is_supported(10_000, 0.999));
        assert!(!is_supported(99_999, 0.9999));
        assert!(is_supported(100_000, 0.9999));
    }

    #[test]
    fn ranks_that_enclose_the_tail_of_ten_thousand_packets() {
        assert_eq!(interval_ranks(10_000, 0.99), (9880, 9920));
        assert_eq!(interval_ranks(10_000, 0.999), (9983, 9997));
        // Binomial(10, 0.5): P(X <= 1) = 0.0107, P(X <= 2) = 0.0547; symmetric above.
        assert_eq!(interval_ranks(10, 0.5), (2, 9));
        assert_eq!(interval(&DELAYS, 0.99), None);
        let bounds = interval(&DELAYS, 0.5).expect("bounded on both sides");
        assert_eq!((bounds.low, bounds.high), (1.4, 8.4));
    }

    proptest! {
        #[test]
        fn equal_weights_are_no_weights(mut values in prop::collection::vec(0.0_f64..1e9, 1..60), p in 0.0_f64..=1.0) {
            values.sort_by(f64::total_cmp);
            let weighted: Vec<_> = values.iter().map(|&value| (value, 1.0)).collect();
            prop_assert_eq!(weighted_inverted_cdf(&weighted, p), inverted_cdf(&values, p));
        }

        #[test]
        fn counted_values_are_repeated_values(
            mut counted in prop::collection::vec((0.0_f64..1e9, 0_u64..4), 0..30), p in 0.0_f64..=1.0,
        ) {
            counted.sort_by(|a, b| a.0.total_cmp(&b.0));
            let repeat = |&(value, count): &(f64, u64)| (0..count).map(move |_| value);
            let repeated: Vec<f64> = counted.iter().flat_map(repeat).collect();
            for p in [p, 0.0, 0.5, 1.0] {
                prop_assert_eq!(linear_counted(&counted, p), linear(&repeated, p));
            }
        }

        #[test]
        fn interpolated_quantiles_stay_within_one_sample_of_the_step(
            mut values in prop::collection::vec(0.0_f64..1e9, 1..60), p in 0.0_f64..=1.0,
        ) {
            values.sort_by(f64::total_cmp);
            let step = inverted_cdf(&values, p).unwrap();
            prop_assert!(interpolated_inverted_cdf(&values, p).unwrap() <= step * (1.0 + 1e-9) + 1e-9);
            prop_assert!(linear(&values, p).unwrap() >= values[0]);
            prop_assert!(linear(&values, p).unwrap() <= values[values.len() - 1]);
        }
    }
}
