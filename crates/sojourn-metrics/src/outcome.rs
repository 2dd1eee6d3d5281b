//! Scores of what a use of a line needs: Quality of Outcome, and Apdex.
//!
//! Source: draft-ietf-ippm-qoo (editors' copy of 2026-05-19) for Quality of Outcome; the Apdex specification for Apdex.
//! Units and ranges: delays in ms, loss as a share, rates in Mb/s; Quality of Outcome from 0 to 100, Apdex from 0 to 1.
//! Deviations: the draft divides by the distance of the two bounds; where they are equal, a value up to them is perfect and one
//! beyond is useless. It standardises no requirement: those of [`USES`] are this project's own, each with its reason.

use crate::quantile;
use sojourn_base::PerDirection;

/// Requirement of one use of a line, for round trips.
#[derive(Clone, Copy, Debug)]
pub struct Requirement {
    /// Common name of the use.
    pub name: &'static str,
    /// Percentile of round trips, up to where it is perfect (ROP), and from where on useless (CPUP), ms.
    pub latency: &'static [(f64, f64, f64)],
    /// The same two bounds of loss.
    pub loss: (f64, f64),
    /// Rates, Mb/s.
    pub rates: PerDirection<f64>,
    /// Origin of the numbers.
    pub origin: &'static str,
}

/// Requirements that come with Sojourn.
pub const USES: &[Requirement] = &[
    Requirement {
        name: "call",
        latency: &[(90.0, 60.0, 200.0), (99.0, 100.0, 300.0)],
        loss: (0.005, 0.05),
        rates: both(0.1, 0.1),
        origin: "chosen: people begin to interrupt each other from 177 ms one way (White 2012 3.2.2); with 60 ms held back for jitter, 300 ms there and back are too late; G.711 of 87 kb/s",
    },
    Requirement {
        name: "video-call",
        latency: &[(90.0, 80.0, 250.0), (99.0, 120.0, 400.0)],
        loss: (0.005, 0.04),
        rates: both(1.5, 1.5),
        origin: "chosen: as a call, with a picture that hides some delay, in 720p",
    },
    Requirement {
        name: "game",
        latency: &[(99.0, 50.0, 150.0)],
        loss: (0.005, 0.05),
        rates: both(0.1, 0.2),
        origin: "chosen: White 2013 1.1 (100 ms noticeable, 200 annoying; accuracy falls from 75), 5 % loss went unnoticed",
    },
    Requirement {
        name: "cloud-game",
        latency: &[(99.0, 40.0, 80.0), (99.9, 60.0, 150.0)],
        loss: (0.001, 0.003),
        rates: both(0.2, 25.0),
        origin: "chosen: 80 ms of network are too late for cloud games (White 2013 1.1, after Choy and Jarschel)",
    },
    Requirement {
        name: "web",
        latency: &[(50.0, 60.0, 250.0), (95.0, 100.0, 600.0)],
        loss: (0.005, 0.05),
        rates: both(0.5, 5.0),
        origin: "chosen: a page takes some ten round trips one after the other: 0.6 s are not noticed, 2.5 s make people leave",
    },
    Requirement {
        name: "draft-figure",
        latency: &[(99.0, 100.0, 200.0), (99.9, 200.0, 300.0)],
        loss: (0.001, 0.02),
        rates: both(4.0, 4.0),
        origin: "draft-ietf-ippm-qoo: the requirement of its figure",
    },
];

const fn both(upstream: f64, downstream: f64) -> PerDirection<f64> {
    PerDirection { upstream, downstream }
}

/// Samples from which percentiles are those of packets, and not interpolated. chosen: a 99th percentile of fewer is their largest.
const FEW: usize = 100;

impl Requirement {
    /// The worth of round trips (ms, in rising order) and of a loss, with what there is of the rates (Mb/s). If nothing came, no
    /// percentile is met: the score is 0.
    pub fn judge(&self, rising: &[f64], lost: f64, rates: PerDirection<Option<f64>>) -> QualityOfOutcome {
        let latency = self.latency.iter().map(|(percentile, perfect, useless)| {
            let share = percentile / 100.0;
            let measured = if rising.len() < FEW {
                quantile::linear(rising, share)
            } else {
                quantile::inverted_cdf(rising, share)
            };
            Judged { measured: measured.unwrap_or(f64::INFINITY), perfect: *perfect, useless: *useless }
        });
        let latency: Vec<_> = latency.collect();
        let (perfect, useless) = self.loss;
        let loss = Judged { measured: lost, perfect, useless };
        let known = [(rates.upstream, self.rates.upstream), (rates.downstream, self.rates.downstream)];
        let known: Vec<_> = known.into_iter().filter_map(|(there, needed)| Some((there?, needed))).collect();
        QualityOfOutcome::of(&latency, Some(loss), &known)
    }
}

/// A measured value with the two bounds of a requirement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// Measured value; infinite if nothing arrived.
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
        let all_met = rates.iter().all(|(measured, required)| measured >= required);
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
        Judged { measured, perfect, useless }
    }

    fn close(ours: f64, expected: f64) {
        assert!((ours - expected).abs() < 1e-9, "{ours} {expected}");
    }

    #[test]
    fn nothing_that_came_is_worth_nothing_to_anyone() {
        let free = PerDirection { upstream: Some(100.0), downstream: Some(100.0) };
        for needs in USES {
            assert_eq!(needs.judge(&[], 1.0, free).overall().to_bits(), 0_f64.to_bits(), "{}", needs.name);
            // One of three hundred that came back at once is worth no more than its loss.
            assert!(needs.judge(&[1.0], 299.0 / 300.0, free).overall() <= 0.0, "{}", needs.name);
        }
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
