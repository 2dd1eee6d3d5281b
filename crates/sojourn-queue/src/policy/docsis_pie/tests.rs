//! The published vectors of DOCSIS-PIE.

#![expect(clippy::float_cmp, reason = "clamped and untouched values are exact")]

use super::*;
use sojourn_base::Bytes;
use std::vec::Vec;

const LAW: DocsisPieLaw = DocsisPieLaw::RFC8034;

fn probabilities(mut pie: DocsisPie, delays_ms: &[f64]) -> Vec<f64> {
    delays_ms
        .iter()
        .map(|ms| {
            pie.on_update(&LAW, ms / 1000.0);
            pie.probability()
        })
        .collect()
}

fn assert_close(ours: &[f64], expected: &[f64]) {
    assert_eq!(ours.len(), expected.len());
    for (ours, expected) in ours.iter().zip(expected) {
        assert!((ours - expected).abs() <= 1e-9 * expected.abs(), "{ours} instead of {expected}");
    }
}

/// Past the inactive state and the safeguards, with this probability.
fn awake(probability: f64) -> DocsisPie {
    DocsisPie { probability, old_delay: 1.0, state: BurstState::Active, ..DocsisPie::default() }
}

#[test]
fn tokens_go_at_peak_rate_and_the_rest_at_the_sustained_rate() {
    let shaper = |peak| Shaper { tokens: Bytes(20_000), sustained: BitRate::from_mbps(5), peak };
    let with_peak = shaper(BitRate::from_mbps(20));
    for (queued, shaper, ms) in [
        (50_000, with_peak, 56.0),
        (20_000, with_peak, 8.0),
        (50_000, shaper(BitRate::ZERO), 48.0),
        (20_000, shaper(BitRate::ZERO), 0.0),
        (50_000, Shaper::default(), 0.0),
    ] {
        assert!((shaper_delay(queued, &shaper) * 1000.0 - ms).abs() < 1e-9);
    }
}

#[test]
fn a_constant_delay_of_56_ms() {
    let ours = probabilities(DocsisPie::default(), &[56.0; 6]);
    assert_close(
        &ours,
        &[
            7.397_460_937_5e-5,
            1.638_183_593_75e-4,
            5.231_933_593_75e-4,
            8.825_683_593_75e-4,
            1.241_943_359_375e-3,
            2.679_443_359_375e-3,
        ],
    );
}

#[test]
fn a_delay_above_200_ms_adds_two_percent_per_update() {
    let ours = probabilities(DocsisPie::default(), &[250.0; 6]);
    let printed =
        [0.020_334_472_66, 0.070_334_472_66, 0.120_334_472_66, 0.160_334_472_66, 0.200_334_472_66, 0.240_334_472_66];
    for (ours, printed) in ours.iter().zip(printed) {
        assert!((ours - printed).abs() < 1e-11, "{ours} instead of {printed}");
    }
}

#[test]
fn the_probability_decays_below_5_ms() {
    let pie = DocsisPie { old_delay: 0.004, ..awake(0.5) };
    assert_close(&probabilities(pie, &[4.0; 3]), &[0.487_06, 0.474_378_8, 0.461_951_224]);
}

/// Which of 140 mean packets are dropped if every draw gives `unit`, and how many draws that takes.
fn derandomised_drops(unit: f64) -> (Vec<u32>, u32) {
    let mut pie = awake(0.125);
    let mut draws = 0;
    let drops = (1..=140)
        .filter(|_| {
            pie.on_arrival(&LAW, MEAN_PACKET, 30_000, 100_000, || {
                draws += 1;
                unit
            })
        })
        .collect();
    (drops, draws)
}

#[test]
fn drops_are_spread_between_085_and_85_due_ones() {
    let (drops, draws) = derandomised_drops(0.999);
    assert_eq!(drops, [68, 136]);
    // Packets 7 to 67 and 75 to 135 draw; 1 to 6, 68 and so on do not.
    assert_eq!(draws, 61 + 61);
    let (drops, draws) = derandomised_drops(0.0);
    assert_eq!(drops, (1..=20).map(|n| 7 * n).collect::<Vec<_>>());
    assert_eq!(draws, 20);
}

#[test]
fn the_burst_clock_covers_nine_updates() {
    let mut pie = DocsisPie { burst: MAXIMUM_BURST, ..awake(0.5) };
    for update in 0..9 {
        let left = Span::from_ms(142 - 16 * update);
        assert_eq!(pie.burst_allowance(), left, "update {update}");
        pie.on_update(&LAW, 0.1);
        assert_eq!(pie.probability(), 0.0);
    }
    assert_eq!(pie.burst_allowance(), Span::ZERO);
    pie.on_update(&LAW, 0.1);
    assert!(pie.probability() > 0.0);
}

#[test]
fn a_short_queue_sleeps_and_a_first_drop_grants_a_burst() {
    let mut pie = DocsisPie { probability: 5.0, old_delay: 1.0, ..DocsisPie::default() };
    let mut arrive = |backlog| {
        let dropped = pie.on_arrival(&LAW, 1500, backlog, 90_000, || 0.0);
        (dropped, pie)
    };
    assert!(!arrive(29_999).0);
    // One third of the buffer: awake, and 0.85 drops are due at once.
    let (dropped, pie) = arrive(30_000);
    assert!(dropped);
    assert_eq!(pie.burst_allowance(), MAXIMUM_BURST);
    assert_eq!(pie.state, BurstState::Active);
}

#[test]
fn a_probability_above_one_spares_small_packets() {
    // p = 8: a 64-byte packet is dropped with 8/16.
    let mut pie = awake(8.0);
    let mut arrive = |unit: f64| pie.on_arrival(&LAW, 64, 30_000, 90_000, || unit);
    assert!(!arrive(0.4));
    assert!(arrive(0.4));
}

#[test]
fn lengths_are_rounded_up_to_their_class() {
    for (length, class) in [(40, 64), (64, 64), (65, 128), (1500, 1536), (9000, 2048)] {
        assert_eq!(length_class(length), class);
    }
}

#[test]
fn probabilities_stay_in_range() {
    let mut pie = DocsisPie::default();
    for update in 0..5000_u32 {
        pie.on_update(&LAW, f64::from(update % 11) * 10.0);
        assert!((0.0..=13.6).contains(&pie.probability()));
    }
    assert!((PROBABILITY_MAXIMUM - 13.6).abs() < 1e-12);
}

/// RFC 8034 A.1: no drop while the delay is below half the target and the probability below 20 %, whatever the likelihoods add up to.
#[test]
fn a_short_delay_is_safe_up_to_a_fifth() {
    for (probability, old_delay, is_safe) in [(0.1, 0.004, true), (0.2, 0.004, false), (0.1, 0.005, false)] {
        let pie = DocsisPie { old_delay, ..awake(probability) };
        assert_eq!(pie.is_safe(&LAW, 100_000), is_safe, "{probability} {old_delay}");
    }
}

/// RFC 8034 A.2, `CalcDropProb`: the limits belong to the class above them.
#[test]
fn the_gains_change_at_their_limits() {
    for (probability, expected) in [(0.1, 0.5), (0.999, 0.5), (1.0, 0.125), (9.999, 0.125), (10.0, 0.031_25)] {
        assert_eq!(divisor(probability), expected, "{probability}");
    }
}
