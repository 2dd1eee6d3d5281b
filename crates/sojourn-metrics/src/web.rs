//! Page load times: what finished pages took, and what unfinished ones say.
//!
//! Source: White 2012 3.2.3 and Tables 5 and 6 (median, median absolute deviation, number of pages);
//! Kaplan and Meier 1958 (median with unfinished pages).
//! Units and ranges: times in seconds, not negative.
//! Deviations: none known. The deviation is not scaled to a normal distribution, as in the source.

use crate::quantile;
use sojourn_base::math;

/// The pages of a user, or of several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadTimes {
    /// Pages that were completed.
    pub completed: usize,
    /// Pages that were under way when the run ended.
    pub unfinished: usize,
    /// Median of the completed ones.
    pub median: Option<f64>,
    /// Median distance from the median, unscaled.
    pub median_absolute_deviation: Option<f64>,
    /// Mean of the completed ones.
    pub mean: Option<f64>,
    /// 95th percentile of the completed ones, interpolated.
    pub p95: Option<f64>,
    /// Median with regard to the unfinished pages; `None` if fewer than half are known to have ended.
    pub kaplan_meier_median: Option<f64>,
}

impl LoadTimes {
    /// The load times of pages that took `completed` seconds, and of pages that were unfinished after
    /// `unfinished` seconds; both in any order.
    pub fn new(completed: &[f64], unfinished: &[f64]) -> Self {
        let mut sorted = completed.to_vec();
        sorted.sort_by(f64::total_cmp);
        Self {
            completed: completed.len(),
            unfinished: unfinished.len(),
            median: quantile::linear(&sorted, 0.5),
            median_absolute_deviation: median_absolute_deviation(&sorted),
            mean: quantile::mean(&sorted),
            p95: quantile::linear(&sorted, 0.95),
            kaplan_meier_median: kaplan_meier_median(completed, unfinished),
        }
    }

    /// Returns true if more than 5 % of the pages are unfinished, so that the plain median misleads and the other one
    /// must be shown (chosen: the usual limit for leaving out incomplete observations).
    pub fn needs_kaplan_meier(&self) -> bool {
        self.unfinished * 20 > self.completed + self.unfinished
    }
}

/// Median distance of `values`, in any order, from their median; not scaled.
pub fn median_absolute_deviation(values: &[f64]) -> Option<f64> {
    let center = quantile::median(values)?;
    let distances: Vec<f64> = values.iter().map(|x| (x - center).abs()).collect();
    quantile::median(&distances)
}

/// The smallest time at which the estimated share of pages still loading is at most one half; `None` if
/// it stays above. A page that is unfinished at a time counts as loading at that time.
pub fn kaplan_meier_median(completed: &[f64], unfinished: &[f64]) -> Option<f64> {
    let mut events: Vec<(f64, bool)> = completed.iter().map(|&time| (time, true)).collect();
    events.extend(unfinished.iter().map(|&time| (time, false)));
    // At the same time, completed pages come before unfinished ones.
    events.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let mut loading = events.len() as f64;
    let mut share = 1.0;
    for (time, ended) in events {
        if ended {
            share *= (loading - 1.0) / loading;
            if share <= 0.5 + quantile::SLACK {
                return Some(time);
            }
        }
        loading -= 1.0;
    }
    None
}

/// How many pages of `load_time` with pauses of `pause` between them end within `duration`, the first
/// starting at once and each counted with its pause.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped by `as`")]
pub fn pages_within(duration: f64, load_time: f64, pause: f64) -> u64 {
    math::floor(duration / (load_time + pause)) as u64
}

/// Slope of the least-squares line through (round trip, load time): how many round trips a page load
/// takes. `None` with fewer than two different round trips.
pub fn round_trip_slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
    let square = |x: f64| (x - mean_x) * (x - mean_x);
    let squares: f64 = points.iter().map(|&(x, _)| square(x)).sum();
    let products: f64 = points.iter().map(|&(x, y)| (x - mean_x) * (y - mean_y)).sum();
    (squares > 0.0).then(|| products / squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(ours: Option<f64>, expected: f64) {
        let ours = ours.expect("a value");
        assert!((ours - expected).abs() < 1e-9, "{ours} {expected}");
    }

    #[test]
    fn one_slow_page_moves_the_mean_but_not_the_median() {
        // Sorted 2.74 2.75 2.75 2.76 2.77 3.10 9.80; distances 0 0.01 0.01 0.01 0.02 0.34 7.04.
        let times = LoadTimes::new(&[2.75, 2.76, 2.74, 3.10, 2.75, 9.80, 2.77], &[]);
        close(times.median, 2.76);
        close(times.median_absolute_deviation, 0.01);
        close(times.mean, 3.81);
        // Index 5.7: 3.10 + 0.7 * 6.70.
        close(times.p95, 7.79);
        close(times.kaplan_meier_median, 2.76);
        assert_eq!((times.completed, times.unfinished), (7, 0));
        assert!(!times.needs_kaplan_meier());
    }

    #[test]
    fn ten_minutes_hold_seventy_seven_idle_pages() {
        // White 2012 Table 5, case 01: 2.756 s and 77 pages.
        assert_eq!(pages_within(600.0, 2.756, 5.0), 77);
    }

    #[test]
    fn unfinished_pages_raise_the_median() {
        // Five pages: 1, 2, then one unfinished at 2.5, then 4, 6.
        // Still loading: 4/5 after 1, 3/5 after 2, 3/5 * 1/2 after 4.
        let times = LoadTimes::new(&[4.0, 1.0, 6.0, 2.0], &[2.5]);
        close(times.median, 3.0);
        close(times.kaplan_meier_median, 4.0);
        assert!(times.needs_kaplan_meier());
        // Unfinished at the very time another page ends: it was still loading.
        close(kaplan_meier_median(&[1.0, 2.0], &[1.0]), 2.0);
    }

    #[test]
    fn the_median_is_unknown_if_half_of_the_pages_never_ended() {
        let times = LoadTimes::new(&[1.0], &[600.0, 600.0]);
        assert_eq!(times.kaplan_meier_median, None);
        let nothing = LoadTimes::new(&[], &[600.0]);
        assert_eq!((nothing.median, nothing.mean), (None, None));
        assert_eq!(nothing.median_absolute_deviation, None);
        // Exactly half still loading at the second of four: that is the median.
        close(kaplan_meier_median(&[1.0, 2.0], &[9.0, 9.0]), 2.0);
    }

    #[test]
    fn the_slope_counts_round_trips() {
        close(round_trip_slope(&[(0.02, 1.0), (0.07, 1.7), (0.12, 2.4)]), 14.0);
        assert_eq!(round_trip_slope(&[(0.02, 1.0)]), None);
    }
}
