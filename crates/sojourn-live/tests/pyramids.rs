//! Series and their pyramids, against sums over all bins.

use proptest::prelude::*;
use sojourn_base::{Instant, Span};
use sojourn_live::series::{FOLD, LEVELS};
use sojourn_live::{Column, Fold, Series, Subject};

const COLUMNS: &[Column] = &[
    Column::new("least", Fold::Least),
    Column::new("most", Fold::Most),
    Column::new("sum", Fold::Sum),
    Column::new("last", Fold::Last),
];

const LENGTH: &[Column] =
    &[Column::lasting("least", Fold::Least), Column::lasting("most", Fold::Most), Column::lasting("last", Fold::Last)];

fn series(columns: &'static [Column], end_ms: u64) -> Series {
    let subject = Subject::Link("upstream".to_owned());
    Series::new("test", subject, columns, Span::from_ms(1), Instant::from_ms(end_ms))
}

fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

proptest! {
    /// Values at any time, early and late ones mixed, and a look in between that builds a part of the pyramid.
    #[test]
    fn each_level_is_the_fold_of_all_its_bins(
        told in prop::collection::vec((0_u64..2000, 0_u16..500), 1..200),
        look in 0_usize..200,
        end in 1_u64..2000,
    ) {
        let mut series = series(COLUMNS, end);
        for (number, (at, value)) in told.iter().enumerate() {
            if number == look {
                series.build(Instant::from_ms(*at));
            }
            series.put(Instant::from_ms(*at), &[f32::from(*value); 4]);
        }
        series.build(Instant::from_ms(end));
        for level in 0..LEVELS {
            let width = (FOLD as u64).pow(u32::try_from(level).expect("few levels"));
            let rows = usize::try_from(end.div_ceil(width)).expect("few rows");
            prop_assert_eq!(series.rows(level), rows);
            for row in 0..rows {
                let within = |at: u64| at < end && at / width == row as u64;
                let values = || told.iter().filter(|told| within(told.0)).map(|told| f32::from(told.1));
                // The last report in the last bin that has one.
                let last_bin = told.iter().filter(|told| within(told.0)).map(|told| told.0).max();
                let last = told.iter().rev().find(|told| Some(told.0) == last_bin);
                let expected = [
                    values().reduce(f32::min).unwrap_or(f32::NAN),
                    values().reduce(f32::max).unwrap_or(f32::NAN),
                    values().fold(0.0, |sum, value| sum + value),
                    last.map_or(f32::NAN, |told| f32::from(told.1)),
                ];
                let found = series.row(level, row);
                prop_assert!(
                    found.iter().zip(expected).all(|(a, b)| same(*a, b)),
                    "level {} row {}: {:?} and not {:?}", level, row, found, expected
                );
            }
        }
    }

    #[test]
    fn a_view_has_at_most_eight_cells_a_pixel_and_covers_its_span(
        from in 0_u64..20_000, length in 1_u64..20_000, pixels in 1_usize..2000,
    ) {
        let mut series = series(COLUMNS, 20_000);
        series.build(Instant::from_ms(20_000));
        let until = (from + length).min(20_000);
        let (level, rows) = series.view(Instant::from_ms(from), Instant::from_ms(until), pixels);
        prop_assert!(level == LEVELS - 1 || rows.len() <= pixels * FOLD);
        if level > 0 {
            // The next finer level has too many.
            let finer = series.width_ns(level - 1) / 1_000_000;
            prop_assert!(until.div_ceil(finer) - from / finer > (pixels * FOLD) as u64);
        }
        let width = series.width_ns(level) / 1_000_000;
        prop_assert!(rows.start as u64 * width <= from && rows.end as u64 * width >= until);
    }
}

#[test]
fn a_queue_keeps_its_length_until_it_changes() {
    let mut series = series(LENGTH, 100);
    series.put(Instant::ZERO, &[0.0; 3]);
    series.put(Instant::from_ms(2), &[3000.0; 3]);
    series.put(Instant::from_ms(5), &[4500.0; 3]);
    series.put(Instant::from_ms(5), &[1500.0; 3]);
    series.build(Instant::from_ms(8));
    let rows: Vec<&[f32]> = (0..8).map(|row| series.row(0, row)).collect();
    assert_eq!(rows[1], [0.0; 3]);
    // It was empty when its bin began.
    assert_eq!(rows[2], [0.0, 3000.0, 3000.0]);
    assert_eq!(rows[4], [3000.0; 3]);
    assert_eq!(rows[5], [1500.0, 4500.0, 1500.0]);
    assert_eq!(rows[7], [1500.0; 3]);
    assert_eq!(series.row(1, 0), [0.0, 4500.0, 1500.0]);
}

#[test]
fn what_leaves_after_the_end_has_no_bin() {
    let mut series = series(COLUMNS, 10);
    series.put(Instant::from_ms(9), &[1.0; 4]);
    series.put(Instant::from_ms(10), &[1.0; 4]);
    assert!(series.at(Instant::from_s(100)).is_none());
    series.build(Instant::from_s(100));
    assert_eq!(series.rows(0), 10);
    assert!(same(series.row(1, 1)[2], 1.0));
}
