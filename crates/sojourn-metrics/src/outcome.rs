//! Scores of what a use of a line needs: Quality of Outcome, and Apdex.
//!
//! Source: draft-ietf-ippm-qoo (editors' copy of 2026-05-19) for Quality of Outcome; the Apdex specification for Apdex.
//! Units and ranges: delays in ms, loss as a share, rates in Mb/s; Quality of Outcome from 0 to 100, Apdex from 0 to 1.
//! Deviations: the draft divides by the distance of the two bounds; where they are equal, a value up to them is perfect and one
//! beyond is useless.

/// A measured value with the two bounds of a requirement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// What was measured; infinite if nothing came.
    pub measured: f64,
    /// Up to here nothing could be better (ROP).
    pub perfect: f64,
    /// From here on it is useless (CPUP), not below `perfect`.
    pub useless: f64,
}

impl Judged {
    /// How much of what is needed is met: 1 up to `perfect`, 0 from `useless` on, straight between.
    pub fn met(&self) -> f64 {
        if self.measured <= self.perfect {
            1.0
        } else if self.measured >= self.useless {
            0.0
        } else {
            1.0 - (self.measured - self.perfect) / (self.useless - self.perfect)
        }
    }
}

/// The parts of Quality of Outcome, each from 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QualityOfOutcome {
    /// Of the percentile of latency that is met worst.
    pub latency: f64,
    /// Of mean loss; `None` if it was not measured.
    pub loss: Option<f64>,
    /// 100 or 0; `None` if no rate was measured.
    pub throughput: Option<f64>,
}

impl QualityOfOutcome {
    /// The parts for percentiles of latency, for loss, and for rates as (measured, required).
    pub fn of(latency: &[Judged], loss: Option<Judged>, rates: &[(f64, f64)]) -> Self {
        let met = latency.iter().map(Judged::met).fold(1.0, f64::min);
        let all_met = rates
            .iter()
            .all(|(measured, required)| measured >= required);
        Self {
            latency: 100.0 * met,
            loss: loss.map(|loss| 100.0 * loss.met()),
            throughput: (!rates.is_empty()).then_some(if all_met { 100.0 } else { 0.0 }),
        }
    }

    /// The least of those that are known.
    pub fn overall(&self) -> f64 {
        let others = [self.loss, self.throughput];
        others.into_iter().flatten().fold(self.latency, f64::min)
    }
}

/// Satisfied samples (up to `satisfied`) and half of the tolerating ones (up to four times that), of all; samples that never came
/// are infinite. `None` without samples.
pub fn apdex(samples: &[f64], satisfied: f64) -> Option<f64> {
    if samples.is_empty() {
        return None;
    }
    let value = |sample: &f64| {
        if *sample <= satisfied {
            1.0
        } else if *sample <= TOLERATED * satisfied {
            0.5
        } else {
            0.0
        }
    };
    Some(samples.iter().map(value).sum::<f64>() / samples.len() as f64)
}

/// How many times what satisfies is still tolerated. Source: Apdex.
const TOLERATED: f64 = 4.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(measured: f64, perfect: f64, useless: f64) -> Judged {
        Judged {
            measured,
            perfect,
            useless,
        }
    }

    fn close(ours: f64, expected: f64) {
        assert!((ours - expected).abs() < 1e-9, "{ours} {expected}");
    }

    #[test]
    fn the_example_of_the_draft_is_half_met() {
        // Vector C1.
        let latency = [judged(350.0, 200.0, 500.0), judged(375.0, 300.0, 600.0)];
        close(latency[0].met(), 0.5);
        close(latency[1].met(), 0.75);
        let found = QualityOfOutcome::of(&latency, Some(judged(0.02, 0.01, 0.05)), &[(28.0, 4.0)]);
        close(found.latency, 50.0);
        close(found.loss.expect("measured"), 75.0);
        assert_eq!(found.throughput, Some(100.0));
        close(found.overall(), 50.0);
    }

    #[test]
    fn the_worst_percentile_decides_and_a_rate_is_met_or_not() {
        // Vectors C2 and C3.
        let of = |tail: f64, rate: f64| {
            let latency = [judged(118.0, 100.0, 200.0), judged(tail, 200.0, 300.0)];
            QualityOfOutcome::of(&latency, Some(judged(0.004, 0.001, 0.02)), &[(rate, 4.0)])
        };
        close(of(240.0, 28.0).overall(), 60.0);
        close(of(240.0, 28.0).latency, 60.0);
        close(of(100.0, 28.0).latency, 82.0);
        assert!((of(240.0, 28.0).loss.expect("measured") - 84.2).abs() < 0.05);
        close(of(240.0, 3.9).overall(), 0.0);
        close(of(301.0, 28.0).overall(), 0.0);
    }

    #[test]
    fn equal_bounds_are_a_step_and_what_was_not_measured_decides_nothing() {
        close(judged(50.0, 50.0, 50.0).met(), 1.0);
        close(judged(50.1, 50.0, 50.0).met(), 0.0);
        let found = QualityOfOutcome::of(&[judged(10.0, 50.0, 150.0)], None, &[]);
        assert_eq!((found.loss, found.throughput), (None, None));
        close(found.overall(), 100.0);
        close(judged(f64::INFINITY, 50.0, 150.0).met(), 0.0);
    }

    #[test]
    fn apdex_counts_tolerating_samples_by_half() {
        // Vector C11: 820 of 1000 within T, 150 more within 4 T.
        let mut samples = vec![1.0; 820];
        samples.extend([8.0; 150]);
        samples.extend([8.1; 29]);
        samples.push(f64::INFINITY);
        close(apdex(&samples, 2.0).expect("samples"), 0.895);
        assert_eq!(apdex(&[], 2.0), None);
    }
}
