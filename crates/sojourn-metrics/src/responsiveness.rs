//! Round trips under load: working latency, and round trips per minute.
//!
//! Source: Flent's division of a test into idle and loaded seconds (DELAY); the ratio of loaded to idle latency that
//! White 2013 1.4 reports of measurement programmes; draft-ietf-ippm-responsiveness for round trips per minute, in
//! the aggregation of its working copy: means that leave out the largest 5 %, foreign probes by the mean of their
//! parts, and the mean of foreign and self probes.
//! Units and ranges: samples as (time of the question, round trip), times in nanoseconds.
//! Deviations: earlier revisions of the draft aggregate differently. The metrics of a run count the last four seconds of the
//! load, and do not judge whether goodput was stable; scores follow revision 09 in both ([`is_stable`]).

use crate::quantile;

/// Nanoseconds in a millisecond.
const MILLISECOND: f64 = 1e6;

/// Seconds after the start of a load that do not count as loaded. chosen: a queue of a second has filled, and slow
/// start is over.
pub(crate) const RAMP_NS: u64 = 2_000_000_000;

/// Seconds before a load that count as idle. Source: Flent's DELAY.
const IDLE_NS: u64 = 5_000_000_000;

/// Intervals of a second over which responsiveness is judged. Source: the draft's MAD and ID.
const LAST_NS: u64 = 4_000_000_000;

/// Share of the smallest samples that a trimmed mean keeps. Source: the draft's TMP, 95 %.
const KEPT_PERCENT: usize = 95;

/// Round trips without and with a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkingLatency {
    /// Median before the load, ms.
    pub idle: Option<f64>,
    /// Mean under load, ms.
    pub loaded_mean: Option<f64>,
    /// 95th percentile under load, ms (type 1).
    pub loaded_p95: Option<f64>,
}

impl WorkingLatency {
    /// The latency of `samples` around a load from `from` to `until`.
    pub fn of(samples: &[(u64, u64)], from: u64, until: u64) -> Self {
        let within = |low: u64, high: u64| {
            let chosen =
                samples.iter().filter(|(at, _)| (low..high).contains(at)).map(|(_, took)| *took as f64 / MILLISECOND);
            let mut chosen: Vec<f64> = chosen.collect();
            chosen.sort_by(f64::total_cmp);
            chosen
        };
        let idle = within(from.saturating_sub(IDLE_NS), from);
        let loaded = within(from.saturating_add(RAMP_NS), until);
        Self {
            idle: quantile::linear(&idle, 0.5),
            loaded_mean: quantile::mean(&loaded),
            loaded_p95: quantile::inverted_cdf(&loaded, 0.95),
        }
    }

    /// Returns the increase of the mean under load, ms.
    pub fn induced(&self) -> Option<f64> {
        Some(self.loaded_mean? - self.idle?)
    }

    /// Latency under load over that without.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.loaded_mean? / self.idle?)
    }
}

/// Mean of the smallest 95 % of `samples`, which are sorted here; `None` without any.
pub fn trimmed_mean(samples: &mut [f64]) -> Option<f64> {
    samples.sort_by(f64::total_cmp);
    let kept = samples.len() * KEPT_PERCENT / 100;
    quantile::mean(&samples[..kept.max(samples.len().min(1))])
}

/// Returns true if a value has settled: the deviation of its last four moving averages is below 5 % of the newest.
/// Source: the draft's MAD and SDT.
pub fn is_stable(averages: &[f64]) -> bool {
    const LAST: usize = 4;
    const TOLERANCE: f64 = 0.05;
    let Some(from) = averages.len().checked_sub(LAST) else {
        return false;
    };
    let last = &averages[from..];
    let deviation = quantile::standard_deviation(last);
    deviation.is_some_and(|deviation| deviation < TOLERANCE * last[LAST - 1])
}

/// Round trips per minute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Responsiveness {
    /// Of new connections.
    pub foreign: f64,
    /// Of questions over a kept one.
    pub loaded: f64,
}

impl Responsiveness {
    /// Responsiveness by the trimmed means, in ms, of handshakes, of questions over new connections and of those over a
    /// kept one; a handshake of TLS counts if there is one.
    pub fn of(handshake: f64, tls: Option<f64>, request: f64, own: f64) -> Self {
        const MINUTE_MS: f64 = 60_000.0;
        let parts = [Some(handshake), tls, Some(request)];
        let parts: Vec<f64> = parts.into_iter().flatten().collect();
        let foreign = parts.iter().sum::<f64>() / parts.len() as f64;
        Self { foreign: MINUTE_MS / foreign, loaded: MINUTE_MS / own }
    }

    /// The mean of both.
    pub fn combined(&self) -> f64 {
        f64::midpoint(self.foreign, self.loaded)
    }

    /// Responsiveness at the end of a load by samples of handshakes, of questions over new connections and of those
    /// over a kept one; `None` if one of them is missing.
    pub fn at_end(samples: [&[(u64, u64)]; 3], until: u64) -> Option<Self> {
        let from = until.saturating_sub(LAST_NS);
        let mut means = samples.into_iter().map(|samples| {
            let last = samples.iter().filter(|(at, _)| (from..until).contains(at));
            let mut last: Vec<f64> = last.map(|(_, took)| *took as f64 / MILLISECOND).collect();
            trimmed_mean(&mut last)
        });
        let mut next = || means.next().flatten();
        Some(Self::of(next()?, None, next()?, next()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nineteen samples of `usual` and one of `worst`.
    fn twenty(usual: f64, worst: f64) -> Vec<f64> {
        let mut samples = vec![worst];
        samples.extend([usual; 19]);
        samples
    }

    #[test]
    fn round_trips_per_minute_are_those_of_the_worked_example() {
        let tm = |usual, worst| trimmed_mean(&mut twenty(usual, worst)).expect("twenty samples");
        let (tcp, tls, http) = (tm(20.0, 200.0), tm(22.0, 300.0), tm(25.0, 400.0));
        let own = tm(60.0, 900.0);
        let whole = Responsiveness::of(tcp, Some(tls), http, own);
        assert!((whole.foreign - 2686.567).abs() < 1e-3, "{whole:?}");
        assert!((whole.loaded - 1000.0).abs() < 1e-9, "{whole:?}");
        assert!((whole.combined() - 1843.284).abs() < 1e-3, "{whole:?}");
        let plain = Responsiveness::of(tcp, None, http, own);
        assert!((plain.foreign - 2666.667).abs() < 1e-3, "{plain:?}");
    }

    #[test]
    fn goodput_is_stable_if_its_last_averages_differ_by_little() {
        // Vector C8: a deviation of 0.2630, 2.63 % of 10.0.
        assert!(is_stable(&[9.4, 9.8, 9.9, 10.0]));
        assert!(is_stable(&[1.0, 9.4, 9.8, 9.9, 10.0]));
        assert!(!is_stable(&[8.8, 9.8, 9.9, 10.0]));
        assert!(!is_stable(&[9.8, 9.9, 10.0]));
        assert!(!is_stable(&[0.0; 4]));
    }

    #[test]
    fn a_trimmed_mean_keeps_at_least_one_sample() {
        assert_eq!(trimmed_mean(&mut []), None);
        assert_eq!(trimmed_mean(&mut [7.0]), Some(7.0));
        // 95 % of three are two.
        assert_eq!(trimmed_mean(&mut [9.0, 1.0, 3.0]), Some(2.0));
    }

    #[test]
    fn working_latency_compares_loaded_with_idle_seconds() {
        const S: u64 = 1_000_000_000;
        let ms = |ms: u64| ms * 1_000_000;
        // Idle 20, 22, 30; two seconds of ramp; loaded 100, 140; afterwards 20.
        let samples = [
            (S, ms(20)),
            (2 * S, ms(22)),
            (4 * S, ms(30)),
            (6 * S, ms(900)),
            (8 * S, ms(100)),
            (20 * S, ms(140)),
            (66 * S, ms(20)),
        ];
        let found = WorkingLatency::of(&samples, 5 * S, 65 * S);
        assert_eq!(found.idle, Some(22.0));
        assert_eq!(found.loaded_mean, Some(120.0));
        assert_eq!(found.loaded_p95, Some(140.0));
        assert_eq!(found.induced(), Some(98.0));
        assert!(found.ratio().is_some_and(|ratio| (ratio - 120.0 / 22.0).abs() < 1e-12));
        let none = WorkingLatency::of(&[], 0, S);
        assert_eq!((none.idle, none.induced(), none.ratio()), (None, None, None));
    }

    #[test]
    fn responsiveness_is_that_of_the_last_four_seconds() {
        const S: u64 = 1_000_000_000;
        let early = (S, 900 * 1_000_000);
        let samples: Vec<(u64, u64)> = [early, (17 * S, 60_000_000), (19 * S, 60_000_000)].into();
        let found = Responsiveness::at_end([&samples, &samples, &samples], 20 * S);
        assert_eq!(found.map(|found| found.combined()), Some(1000.0));
        assert_eq!(Responsiveness::at_end([&samples, &samples, &[]], 20 * S), None);
    }
}
