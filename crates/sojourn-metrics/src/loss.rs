//! Loss: shares of packets and how sure they are.
//!
//! Source: Wilson 1927, Probable inference (the score interval); metrics of White 2012 3.2.2 (packets
//! sent are the base).
//! Deviations: none known. Packets of a burst are lost together, which makes the interval too narrow:
//! headline numbers come from several runs.

use crate::Interval;
use sojourn_base::{dist, math};

/// The share `part` of `whole`; `None` if the whole is zero.
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Share of packets that were sent but not received.
pub fn loss_ratio(sent: u64, received: u64) -> Option<f64> {
    share(sent.saturating_sub(received), sent)
}

/// Score interval of the proportion `part` of `whole` at `confidence` (0.95 by convention); `None` if
/// the whole is zero.
pub fn wilson(part: u64, whole: u64, confidence: f64) -> Option<Interval> {
    let p = share(part, whole)?;
    let n = whole as f64;
    let z = dist::normal_quantile(0.5 + confidence / 2.0);
    let z2 = z * z;
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = z / (1.0 + z2 / n) * math::sqrt(p * (1.0 - p) / n + z2 / (4.0 * n * n));
    Some(Interval {
        low: if part == 0 { 0.0 } else { middle - half },
        high: if part == whole { 1.0 } else { middle + half },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn score_intervals_of_a_ten_minute_call() {
        // A call of 600 s has 30,000 packets.
        for (lost, low, high) in [(30, 0.000_701, 0.001_427), (0, 0.0, 0.000_128), (274, 0.008_118, 0.010_274)] {
            let interval = wilson(lost, 30_000, 0.95).expect("packets were sent");
            assert!((interval.low - low).abs() < 5e-7, "{lost}: {interval:?}");
            assert!((interval.high - high).abs() < 5e-7, "{lost}: {interval:?}");
        }
    }

    #[test]
    fn the_interval_of_all_and_of_nothing_touches_its_end() {
        let interval = wilson(8, 8, 0.95).expect("packets were sent");
        assert!((interval.high - 1.0).abs() < 1e-15);
        // 8 / (8 + z^2), z^2 = 3.8415.
        assert!((interval.low - 0.675_6).abs() < 5e-5, "{interval:?}");
        assert_eq!(wilson(0, 0, 0.95), None);
    }

    #[test]
    fn loss_is_a_share_of_what_was_sent() {
        assert_eq!(loss_ratio(200, 150), Some(0.25));
        assert_eq!(loss_ratio(0, 0), None);
        assert_eq!(loss_ratio(5, 6), Some(0.0));
    }
}
