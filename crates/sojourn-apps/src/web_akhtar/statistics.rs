//! The statistics of web pages that are looked up.
//!
//! Source: Akhtar 2013, "Google Stats for Web Traffic". Deviations: none known.

use super::Lookup;

/// Deciles of a quantity, from the 10th to the 100th percentile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statistic([f64; 10]);

/// Answers from one host.
pub(super) const GETS_PER_HOST: Statistic = Statistic([2.3, 3.3, 4.2, 5.1, 6.3, 7.6, 9.3, 12.1, 18.0, 32.4]);

/// Size of an answer in kB.
pub(super) const KILOBYTES_PER_GET: Statistic = Statistic([0.4, 0.6, 0.9, 1.3, 1.9, 2.9, 4.4, 8.0, 18.5, 33.6]);

/// Size of all answers of one host in kB.
pub(super) const KILOBYTES_PER_HOST: Statistic = Statistic([0.7, 1.8, 3.9, 6.7, 11.2, 17.1, 26.8, 55.5, 132.8, 199.1]);

impl Statistic {
    /// The value for a uniform draw.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped by `as`; the draw lies in [0, 1)"
    )]
    pub(super) fn at(&self, lookup: Lookup, unit: f64) -> f64 {
        let column = ((unit * 10.0) as usize).min(9);
        match lookup {
            Lookup::Step => self.0[column],
            Lookup::Interpolated => {
                let low = if column == 0 { 0.0 } else { self.0[column - 1] };
                low + (self.0[column] - low) * (unit * 10.0 - column as f64)
            }
        }
    }

    /// Mean of what look-ups give.
    pub(super) fn mean(&self, lookup: Lookup) -> f64 {
        let columns: f64 = self.0.iter().sum();
        match lookup {
            Lookup::Step => columns / 10.0,
            Lookup::Interpolated => (columns - self.0[9] / 2.0) / 10.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_printed_one() {
        let file = include_str!("../../data/akhtar2013-web-statistics.csv");
        let row = |name: &str| -> Vec<f64> {
            let line = file.lines().find(|line| line.starts_with(name)).expect(name);
            line.split(',').skip(3).map(|cell| cell.parse().unwrap()).collect()
        };
        assert_eq!(row("gets_per_host"), GETS_PER_HOST.0);
        assert_eq!(row("kb_per_get"), KILOBYTES_PER_GET.0);
        assert_eq!(row("kb_per_host"), KILOBYTES_PER_HOST.0);
    }

    #[test]
    fn draws_are_looked_up_on_lines_or_in_columns() {
        // Worked out by hand from the table of Akhtar 2013.
        for (unit, [gets, kilobytes, host]) in [
            (0.37, [(4.83, 5.1), (1.18, 1.3), (5.86, 6.7)]),
            (0.85, [(15.05, 18.0), (13.25, 18.5), (94.15, 132.8)]),
            (0.05, [(1.15, 2.3), (0.20, 0.4), (0.35, 0.7)]),
        ] {
            for (statistic, (line, step)) in
                [(GETS_PER_HOST, gets), (KILOBYTES_PER_GET, kilobytes), (KILOBYTES_PER_HOST, host)]
            {
                assert!((statistic.at(Lookup::Interpolated, unit) - line).abs() < 1e-9);
                assert!((statistic.at(Lookup::Step, unit) - step).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn means_are_those_of_the_readings() {
        for (statistic, line, step) in
            [(GETS_PER_HOST, 8.44, 10.06), (KILOBYTES_PER_GET, 5.57, 7.25), (KILOBYTES_PER_HOST, 35.6, 45.6)]
        {
            assert!((statistic.mean(Lookup::Interpolated) - line).abs() < 0.05);
            assert!((statistic.mean(Lookup::Step) - step).abs() < 0.05);
        }
    }
}
