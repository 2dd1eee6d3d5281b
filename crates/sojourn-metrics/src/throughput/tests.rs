use super::*;
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn departures() -> Vec<Departure> {
    [(10, 1500, 5), (50, 1500, 7), (99, 1500, 9), (100, 1500, 10), (250, 500, 2)]
        .map(|(at, bytes, sojourn)| Departure { at: at * MS, bytes, sojourn: sojourn * MS })
        .to_vec()
}

fn assert_close(ours: &[f64], expected: &[f64]) {
    assert_eq!(ours.len(), expected.len());
    for (a, b) in ours.iter().zip(expected) {
        assert!((a - b).abs() < 5e-5, "{ours:?} {expected:?}");
    }
}

#[test]
fn packets_fall_into_the_bin_of_their_departure() {
    let bins = series(&departures(), SERIES_BIN);
    let rates: Vec<f64> = bins.iter().map(|bin| bin.bits_per_second(SERIES_BIN) / 1e6).collect();
    assert_close(&rates, &[0.36, 0.12, 0.04]);
    let mean: Vec<f64> = bins.iter().filter_map(|bin| Some(bin.mean_sojourn()? / 1e6)).collect();
    assert_close(&mean, &[7.0, 10.0, 2.0]);
    let longest: Vec<u64> = bins.iter().map(|bin| bin.sojourn_max / MS).collect();
    assert_eq!(longest, [9, 10, 2]);
    assert_eq!(Bin::default().mean_sojourn(), None);
}

#[test]
fn a_ramp_has_a_peak_a_dip_and_a_volume() {
    // Bins of 1 s with 10, 96, 100, 40, 100 bytes and so on: 95 % of 100 are first reached at 1 s.
    let bins: Vec<Bin> = [10, 96, 100, 40, 100, 90, 7, 100, 100, 100, 3]
        .map(|bytes| Bin { bytes, packets: 1, ..Bin::default() })
        .to_vec();
    let second = 1_000 * MS;
    let ramp = ramp(&bins, second).expect("bytes left");
    assert_eq!(ramp.peak_reached_at, second);
    // 7 B in a second; the bin at 10 s is outside.
    assert_eq!(ramp.lowest_after_peak, Some(56.0));
    assert_eq!(ramp.bytes_by_6_s, 10 + 96 + 100 + 40 + 100 + 90);
    assert_eq!(super::ramp(&[Bin::default()], second), None);
    let alone = super::ramp(&bins[2..3], second).expect("bytes left");
    assert_eq!(alone.lowest_after_peak, None);
}

#[test]
fn the_byte_budget_of_2012_is_385_megabytes_and_case_d04_uses_it_up() {
    // 5 Mb/s for 600 s and a bucket of 10 MB. White 2012 Table 8, D04, in kB: 379,098 of FTP, and a call
    // of 6540 kB of which Table 4 says 11.41 % were lost; no page ever completed.
    let budget = byte_budget(BitRate::from_mbps(5), Bytes(10_000_000), Span::from_s(600));
    assert_eq!(budget, Bytes(385_000_000));
    let call = 218.0 * 50.0 * 600.0 / 1000.0;
    assert_close(&[call], &[6540.0]);
    let used = 379_098.0 + call * (1.0 - 0.1141);
    assert!((used - 384_892.0_f64).abs() < 1.0);
    assert!((1.0 - used / 385_000.0_f64).abs() < 0.003);
}

#[test]
fn the_fairness_index_of_worked_examples() {
    let index = |rates: &[f64]| jain_index(rates).expect("rates above zero");
    assert_close(
        &[index(&[5.0, 5.0, 5.0, 5.0]), index(&[10.0, 5.0, 5.0, 0.0]), index(&[1.0, 2.0, 3.0, 4.0])],
        &[1.0, 0.666_667, 0.833_333],
    );
    assert_eq!(jain_index(&[]), None);
    assert_eq!(jain_index(&[0.0, 0.0]), None);
}

#[test]
fn small_demands_are_met_and_the_rest_is_shared_alike() {
    // 10 among demands 1, 8, 3, 8: 1 and 3 are met, 6 remain for two.
    assert_close(&max_min_shares(&[1.0, 8.0, 3.0, 8.0], 10.0), &[1.0, 3.0, 3.0, 3.0]);
    assert_close(&max_min_shares(&[1.0, 2.0], 10.0), &[1.0, 2.0]);
    assert_close(&max_min_ratios(&[1.0, 6.0, 3.0, 0.0], &[1.0, 8.0, 3.0, 0.0], 10.0), &[1.0, 1.0, 1.0, 1.0]);
}

#[test]
fn use_of_credit_shows_as_more_than_one() {
    assert_eq!(utilisation(Bytes(5), Bytes(10)), Some(0.5));
    assert_eq!(utilisation(Bytes(15), Bytes(10)), Some(1.5));
    assert_eq!(utilisation(Bytes(15), Bytes::ZERO), None);
}

proptest! {
    #[test]
    fn no_byte_of_a_series_is_lost(
        packets in prop::collection::vec((0_u64..10_000 * MS, 0_u32..1500, 0_u64..MS), 0..50),
        width in MS..1000 * MS,
    ) {
        let departures: Vec<Departure> = packets
            .iter()
            .map(|&(at, bytes, sojourn)| Departure { at, bytes, sojourn })
            .collect();
        let bins = series(&departures, width);
        let bytes: u64 = departures.iter().map(|d| u64::from(d.bytes)).sum();
        prop_assert_eq!(bins.iter().map(|bin| bin.bytes).sum::<u64>(), bytes);
        prop_assert_eq!(bins.iter().map(|bin| bin.packets).sum::<u64>(), departures.len() as u64);
    }

    #[test]
    fn max_min_shares_use_the_capacity_and_exceed_no_demand(
        demands in prop::collection::vec(0.0_f64..100.0, 1..12),
        capacity in 0.0_f64..500.0,
    ) {
        let shares = max_min_shares(&demands, capacity);
        let wanted: f64 = demands.iter().sum();
        prop_assert!((shares.iter().sum::<f64>() - wanted.min(capacity)).abs() < 1e-9 * (1.0 + capacity));
        prop_assert!(shares.iter().zip(&demands).all(|(share, demand)| share <= demand));
    }

    #[test]
    fn the_fairness_index_lies_between_one_nth_and_one(rates in prop::collection::vec(0.01_f64..1e3, 1..20)) {
        let index = jain_index(&rates).unwrap();
        prop_assert!(index <= 1.0 + 1e-12 && index >= 1.0 / rates.len() as f64 - 1e-12);
    }
}
