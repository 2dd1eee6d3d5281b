//! Weighted distributions: the mixture of several scenarios, the sum of two delays, the share of time a
//! quantity spends at each value.
//!
//! Percentiles of scenarios are never averaged: distributions are mixed, then quantiles are taken.
//!
//! Source: White 2019 5.4 and Table 2 (weights of traffic mixes), White 2013 4.1.1 (equal weight of
//! cells); the plotting scripts of docsis-ns3 for binning and convolution of one-way delays.
//! Deviations: bins stand for their middle unless the left edges of docsis-ns3 are asked for.

use crate::quantile::weighted_inverted_cdf;
use sojourn_base::math;
use sojourn_record::DelayHistogram;

/// Values with weights that add up to one, in rising order, no value twice; empty if there was nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    atoms: Vec<(f64, f64)>,
}

/// Which value stands for a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinPlace {
    /// The middle: no bias.
    Middle,
    /// The left edge, as docsis-ns3 has it: sums of two are low by up to two bins.
    LeftEdge,
}

impl Distribution {
    /// The distribution of `atoms`, (value, weight) in any order; weights that are not above zero and
    /// values that are not numbers are left out.
    pub fn from_weighted(mut atoms: Vec<(f64, f64)>) -> Self {
        atoms.retain(|(value, weight)| !value.is_nan() && *weight > 0.0);
        atoms.sort_by(|a, b| a.0.total_cmp(&b.0));
        atoms.dedup_by(|next, kept| {
            let same = next.0.total_cmp(&kept.0).is_eq();
            if same {
                kept.1 += next.1;
            }
            same
        });
        let total: f64 = atoms.iter().map(|(_, weight)| weight).sum();
        for (_, weight) in &mut atoms {
            *weight /= total;
        }
        Self { atoms }
    }

    /// The empirical distribution of `samples`, each with the same weight.
    pub fn from_samples(samples: impl IntoIterator<Item = f64>) -> Self {
        Self::from_weighted(samples.into_iter().map(|value| (value, 1.0)).collect())
    }

    /// The delays in ns that a run counted.
    pub fn from_histogram(delays: &DelayHistogram) -> Self {
        let bins = delays.bins();
        Self::from_weighted(bins.map(|(delay, count)| (delay as f64, count as f64)).collect())
    }

    /// The distribution of `samples` in bins of `width`, each at the place that `place` says.
    ///
    /// # Panics
    /// If the width is not above zero.
    pub fn from_binned(samples: impl IntoIterator<Item = f64>, width: f64, place: BinPlace) -> Self {
        assert!(width > 0.0, "bins need a width");
        let offset = match place {
            BinPlace::Middle => 0.5,
            BinPlace::LeftEdge => 0.0,
        };
        Self::from_samples(samples.into_iter().map(|value| (math::floor(value / width) + offset) * width))
    }

    /// How long a quantity had each value: `steps` are (time, new value) in order of time, and the last
    /// value lasts until `end`. The mean of the result is the time-weighted mean.
    pub fn from_steps(steps: &[(u64, f64)], end: u64) -> Self {
        let ends = steps.iter().skip(1).map(|(at, _)| *at).chain([end]);
        let atoms = steps.iter().zip(ends).map(|((at, value), until)| {
            let duration = until.min(end).saturating_sub(*at);
            (*value, duration as f64)
        });
        Self::from_weighted(atoms.collect())
    }

    /// The mixture of `parts`, (weight, distribution): a part counts by its weight, however many samples
    /// it was made of. Empty parts are left out.
    pub fn mixture<'a>(parts: impl IntoIterator<Item = (f64, &'a Self)>) -> Self {
        let atoms = parts
            .into_iter()
            .flat_map(|(share, part)| part.atoms.iter().map(move |&(value, weight)| (value, share * weight)));
        Self::from_weighted(atoms.collect())
    }

    /// The distribution of the sum of two independent quantities. The work grows with the product of
    /// the numbers of different values: bin first if that is above some 10^8.
    #[must_use]
    pub fn convolve(&self, other: &Self) -> Self {
        let sums = self.atoms.iter().flat_map(|&(a, weight)| {
            let others = other.atoms.iter();
            others.map(move |&(b, share)| (a + b, weight * share))
        });
        Self::from_weighted(sums.collect())
    }

    /// The smallest value at which at least the share `p` is reached.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        weighted_inverted_cdf(&self.atoms, p)
    }

    /// The share of values at or below `value`.
    pub fn cumulative(&self, value: f64) -> f64 {
        let below = self.atoms.iter().take_while(|(atom, _)| *atom <= value);
        below.map(|(_, weight)| weight).sum()
    }

    /// Mean value.
    pub fn mean(&self) -> Option<f64> {
        if self.atoms.is_empty() {
            return None;
        }
        Some(self.atoms.iter().map(|(value, weight)| value * weight).sum())
    }

    /// The values and their weights.
    pub fn atoms(&self) -> &[(f64, f64)] {
        &self.atoms
    }
}

/// Bin width of docsis-ns3 for delays in ns up to `longest`: a ten-thousandth of it, rounded to whole
/// microseconds, at least one (its plotting script, in ms with three decimals).
pub fn docsis_ns3_bin_width(longest: f64) -> f64 {
    let microseconds = longest / 10_000.0 / 1000.0;
    1000.0 * math::floor(microseconds + 0.5).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::Span;

    fn assert_atoms(distribution: &Distribution, expected: &[(f64, f64)]) {
        assert_eq!(distribution.atoms.len(), expected.len(), "{distribution:?}");
        for (ours, theirs) in distribution.atoms.iter().zip(expected) {
            assert!((ours.0 - theirs.0).abs() < 1e-9, "{ours:?} {theirs:?}");
            assert!((ours.1 - theirs.1).abs() < 5e-7, "{ours:?} {theirs:?}");
        }
    }

    #[test]
    fn one_way_delays_convolve_to_round_trips() {
        let up = Distribution::from_weighted(vec![(1.0, 0.5), (2.0, 0.3), (10.0, 0.2)]);
        let down = Distribution::from_weighted(vec![(1.0, 0.9), (4.0, 0.1)]);
        let both = up.convolve(&down);
        assert_atoms(&both, &[(2.0, 0.45), (3.0, 0.27), (5.0, 0.05), (6.0, 0.03), (11.0, 0.18), (14.0, 0.02)]);
        let quantiles = [0.5, 0.8, 0.9, 0.99].map(|p| both.quantile(p));
        assert_eq!(quantiles, [Some(3.0), Some(6.0), Some(11.0), Some(14.0)]);
    }

    #[test]
    fn a_mixture_weighs_scenarios_not_packets() {
        let a = Distribution::from_samples([1., 1., 1., 2., 2., 2., 2., 3., 3., 4.]);
        let b = Distribution::from_samples([1., 2., 5., 9., 10.]);
        let quantiles = |d: &Distribution| [0.5, 0.9, 0.95, 0.99].map(|p| d.quantile(p));
        assert_eq!(quantiles(&Distribution::mixture([(10.0, &a), (1.0, &b)])), [2.0, 4.0, 5.0, 10.0].map(Some));
        // Pooling without weights: 10 samples of a and 5 of b.
        assert_eq!(quantiles(&Distribution::mixture([(10.0, &a), (5.0, &b)])), [2.0, 9.0, 10.0, 10.0].map(Some));
    }

    #[test]
    fn mixing_and_convolving_do_not_commute() {
        let a = Distribution::from_samples([1.0]);
        let b = Distribution::from_samples([1.0, 50.0]);
        let later = Distribution::mixture([(10.0, &a.convolve(&a)), (1.0, &b.convolve(&b))]);
        assert_atoms(&later, &[(2.0, 0.931_818), (51.0, 0.045_455), (100.0, 0.022_727)]);
        let mix = Distribution::mixture([(10.0, &a), (1.0, &b)]);
        let earlier = mix.convolve(&mix);
        assert_atoms(&earlier, &[(2.0, 0.911_157), (51.0, 0.086_777), (100.0, 0.002_066)]);
        assert_eq!(later.quantile(0.99), Some(100.0));
        assert_eq!(earlier.quantile(0.99), Some(51.0));
    }

    #[test]
    fn bins_stand_for_their_middle_or_their_left_edge() {
        let samples = [0.0, 0.9, 1.0, 2.5];
        let middle = Distribution::from_binned(samples, 1.0, BinPlace::Middle);
        assert_atoms(&middle, &[(0.5, 0.5), (1.5, 0.25), (2.5, 0.25)]);
        let left = Distribution::from_binned(samples, 1.0, BinPlace::LeftEdge);
        assert_atoms(&left, &[(0.0, 0.5), (1.0, 0.25), (2.0, 0.25)]);
        // 3 ms: below half a microsecond, so 1 us; 437 ms: 43.7 us, so 44 us.
        assert!((docsis_ns3_bin_width(3e6) - 1e3).abs() < 1e-6);
        assert!((docsis_ns3_bin_width(437e6) - 44e3).abs() < 1e-6);
    }

    #[test]
    fn counted_delays_become_a_distribution() {
        let mut delays = DelayHistogram::default();
        for ns in [5, 7, 7, 1000] {
            delays.record(Span::from_ns(ns));
        }
        assert_atoms(&Distribution::from_histogram(&delays), &[(5.0, 0.25), (7.0, 0.5), (1000.0, 0.25)]);
    }

    #[test]
    fn steps_count_by_their_duration() {
        // 0 for 10, 2 for 30, 5 for 10, then 2 for 50.
        let steps = [(0, 0.0), (10, 2.0), (40, 5.0), (50, 2.0)];
        let occupancy = Distribution::from_steps(&steps, 100);
        assert_atoms(&occupancy, &[(0.0, 0.1), (2.0, 0.8), (5.0, 0.1)]);
        assert!((occupancy.mean().unwrap() - 2.1).abs() < 1e-12);
        assert!((occupancy.cumulative(2.0) - 0.9).abs() < 1e-12);
        assert!(occupancy.cumulative(-1.0).abs() < 1e-12);
        // Times after the end do not count.
        assert_atoms(&Distribution::from_steps(&steps, 20), &[(0.0, 0.5), (2.0, 0.5)]);
    }

    #[test]
    fn nothing_has_neither_mean_nor_quantile() {
        let nothing = Distribution::from_samples([]);
        assert_eq!((nothing.mean(), nothing.quantile(0.5)), (None, None));
        let some = Distribution::from_samples([7.0]);
        assert_eq!(Distribution::mixture([(3.0, &nothing), (1.0, &some)]), some);
    }
}
