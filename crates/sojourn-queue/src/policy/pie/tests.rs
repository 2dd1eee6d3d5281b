//! The published vectors of the controller and of its admission rules.

#![expect(clippy::float_cmp, reason = "clamped and untouched values are exact")]

use super::*;
use std::vec::Vec;

fn without_burst(law: PieLaw) -> Pie {
    Pie { burst: Span::ZERO, ..Pie::new(&law) }
}

/// The probability after each of these delays in ms.
fn probabilities(law: PieLaw, delays_ms: &[f64]) -> Vec<f64> {
    let mut pie = without_burst(law);
    delays_ms
        .iter()
        .map(|ms| {
            // The allowance that a quiet queue gets back is not part of these vectors.
            pie.burst = Span::ZERO;
            pie.update(&law, ms / 1000.0);
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

#[test]
fn a_constant_delay_above_the_reference() {
    assert_close(
        &probabilities(PieLaw::RFC8033, &[20.0; 6]),
        &[
            1.251_220_703_125e-5,
            1.739_501_953_125e-5,
            2.227_783_203_125e-5,
            2.716_064_453_125e-5,
            3.204_345_703_125e-5,
            3.692_626_953_125e-5,
        ],
    );
}

#[test]
fn up_through_the_gains_and_down_again() {
    let delays = [30.0, 60.0, 90.0, 120.0, 120.0, 120.0, 50.0, 10.0, 0.0, 0.0, 0.0];
    let ours = probabilities(PieLaw::RFC8033, &delays);
    let printed = [
        1.922_607_422e-5,
        3.561_401_367e-4,
        1.820_983_887e-3,
        8.149_108_887e-3,
        9.789_733_887e-3,
        1.143_035_889e-2,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
    ];
    for (ours, printed) in ours.iter().zip(printed) {
        assert!((ours - printed).abs() <= 1e-9 * printed + 1e-15, "{ours} {printed}");
    }
}

#[test]
fn three_operating_points_with_the_values_of_white_2013() {
    let delays = [10.0, 20.0, 20.0, 20.0, 40.0, 5.0, 1.0, 0.0, 0.0];
    assert_close(
        &probabilities(PieLaw::WHITE2013, &delays),
        &[
            0.001_718_75,
            0.003_75,
            0.004_218_75,
            0.004_687_5,
            0.008_906_25,
            0.003_437_5,
            0.002_687_5,
            0.002_375,
            0.002_174_375,
        ],
    );
}

#[test]
fn the_values_of_white_2013_are_the_printed_ones() {
    // Claim W13-40.
    let law = PieLaw::WHITE2013;
    assert_eq!((law.alpha, law.beta), (0.25, 1.25));
    assert_eq!(law.reference, Span::from_ms(5));
    assert_eq!(law.update_interval, Span::from_ms(15));
    assert!(matches!(law.delay_source, DelaySource::DepartureRate(_)));
}

#[test]
fn a_burst_is_left_alone_for_ten_updates() {
    let law = PieLaw::RFC8033;
    let mut pie = Pie::new(&law);
    for update in 1..=10_u64 {
        assert_eq!(pie.burst_allowance(), Span::from_ms(165 - 15 * update));
        pie.update(&law, 0.050);
        assert_eq!(pie.probability(), 0.0, "update {update}");
    }
    pie.update(&law, 0.050);
    assert!(pie.probability() > 0.0);
}

#[test]
fn no_draw_while_the_delay_is_low_and_the_probability_moderate() {
    let law = PieLaw::RFC8033;
    let pie = |probability, old_delay| Pie { probability, old_delay, ..without_burst(law) };
    let offered = |mut pie: Pie, backlog| pie.on_arrival(&law, 1500, backlog, || 0.0);
    let refuse_to_draw = |mut pie: Pie, backlog| pie.on_arrival(&law, 1500, backlog, || panic!("no draw"));
    assert_eq!(refuse_to_draw(pie(0.19, 0.007), 30_000), PieVerdict::Pass);
    assert_eq!(offered(pie(0.2, 0.007), 30_000), PieVerdict::Drop);
    assert_eq!(offered(pie(0.19, 0.0075), 30_000), PieVerdict::Drop);
    // Hardly more than two packets wait: 2 × 1024 bytes.
    assert_eq!(refuse_to_draw(pie(0.9, 1.0), 2048), PieVerdict::Pass);
    assert_eq!(offered(pie(0.9, 1.0), 2049), PieVerdict::Drop);
}

#[test]
fn the_probability_rises_above_the_reference_and_falls_to_zero_below() {
    // Claim W13-39: a step of the estimated delay.
    let law = PieLaw::WHITE2013;
    let mut pie = without_burst(law);
    pie.update(&law, 0.020);
    for _ in 0..100 {
        let before = pie.probability();
        pie.update(&law, 0.020);
        assert!(pie.probability() > before);
    }
    for _ in 0..2000 {
        let before = pie.probability();
        pie.update(&law, 0.004);
        assert!(pie.probability() <= before);
    }
    assert_eq!(pie.probability(), 0.0);
}

#[test]
fn at_the_reference_the_probability_stands_still() {
    let law = PieLaw::RFC8033;
    let mut pie = Pie { probability: 0.05, old_delay: 0.015, ..without_burst(law) };
    pie.update(&law, 0.015);
    assert_eq!(pie.probability(), 0.05);
}

#[test]
fn steps_are_capped_above_ten_percent() {
    let law = PieLaw::RFC8033;
    let mut pie = Pie { probability: 0.1, ..without_burst(law) };
    pie.update(&law, 3.0);
    assert!((pie.probability() - 0.12).abs() < 1e-12);
    let boosted = PieLaw { high_delay: Some(Span::from_ms(250)), ..law };
    pie.update(&boosted, 3.0);
    assert!((pie.probability() - 0.16).abs() < 1e-12);
}

#[test]
fn small_packets_are_dropped_less_often_if_wanted() {
    let law = PieLaw { scale_by_size: true, ..PieLaw::RFC8033 };
    let mut pie = Pie { probability: 0.5, old_delay: 1.0, ..without_burst(law) };
    // 128 of 1024 bytes: an eighth of 0.5.
    assert_eq!(pie.on_arrival(&law, 128, 30_000, || 0.0625), PieVerdict::Pass);
    assert_eq!(pie.on_arrival(&law, 128, 30_000, || 0.0624), PieVerdict::Drop);
}

#[test]
fn marks_turn_into_drops_at_the_threshold() {
    let law = PieLaw { ecn: true, ..PieLaw::RFC8033 };
    let offered = |probability| {
        let mut pie = Pie { probability, old_delay: 1.0, ..without_burst(law) };
        pie.on_arrival(&law, 1500, 30_000, || 0.0)
    };
    assert_eq!(offered(0.099), PieVerdict::Mark);
    assert_eq!(offered(0.1), PieVerdict::Drop);
}

#[test]
fn derandomised_drops_are_spread() {
    let law = PieLaw { derandomise: true, ..PieLaw::RFC8033 };
    let drops = |unit: f64| -> Vec<u32> {
        let mut pie = Pie { probability: 0.125, old_delay: 1.0, ..without_burst(law) };
        (1..=140).filter(|_| pie.on_arrival(&law, 1024, 30_000, || unit) == PieVerdict::Drop).collect()
    };
    // 0.125 × 68 = 8.5 and 0.125 × 7 = 0.875, the first multiple that is at least 0.85.
    assert_eq!(drops(0.999), [68, 136]);
    assert_eq!(drops(0.0), (1..=20).map(|n| 7 * n).collect::<Vec<_>>());
}

#[test]
fn an_allowance_is_granted_again_only_after_the_quiet_time() {
    let law = PieLaw { burst_rule: BurstRule::AfterQuiet(Span::from_ms(1500)), ..PieLaw::RFC8033 };
    let mut pie = Pie::new(&law);
    let arrive = |pie: &mut Pie| pie.on_arrival(&law, 1500, 30_000, || 0.0);
    assert_eq!(arrive(&mut pie), PieVerdict::Pass);
    assert_eq!(pie.burst_allowance(), Span::from_ms(150));
    // The tenth update ends the allowance and the burst; then 100 quiet ones are counted (1.5 s /
    // 15 ms), and one more forgets the burst.
    for _ in 0..10 {
        pie.update(&law, 0.0);
    }
    for _ in 0..100 {
        assert_ne!(pie.burst_state, BurstState::Inactive);
        pie.update(&law, 0.0);
        let _ = arrive(&mut pie);
        assert_eq!(pie.burst_allowance(), Span::ZERO);
    }
    pie.update(&law, 0.0);
    assert_eq!(pie.burst_state, BurstState::Inactive);
    let _ = arrive(&mut pie);
    assert_eq!(pie.burst_allowance(), Span::from_ms(150));
}

#[test]
fn a_sleeping_pie_wakes_up_at_its_threshold_and_falls_asleep_again() {
    let law = PieLaw { activation: Activation::Backlog(Bytes(30_000)), ..PieLaw::RFC8033 };
    let mut pie = Pie::new(&law);
    let arrive = |pie: &mut Pie, backlog| pie.on_arrival(&law, 1500, backlog, || 0.0);
    for _ in 0..50 {
        pie.update(&law, 0.100);
        assert_eq!(arrive(&mut pie, 29_999), PieVerdict::Pass);
    }
    assert_eq!(pie.probability(), 0.0);
    assert_eq!(arrive(&mut pie, 30_000), PieVerdict::Pass);
    for _ in 0..12 {
        pie.update(&law, 0.100);
    }
    assert!(pie.probability() > 0.0);
    for _ in 0..2000 {
        pie.update(&law, 0.0);
    }
    assert!(!pie.active);
}

#[test]
fn probabilities_stay_in_range_for_absurd_parameters() {
    let law = PieLaw { alpha: 1e6, beta: 1e9, high_delay: Some(Span::ZERO), ..PieLaw::RFC8033 };
    let mut pie = without_burst(law);
    for step in 0..1000_u32 {
        pie.update(&law, f64::from(step % 7) * 1e3);
        assert!((0.0..=1.0).contains(&pie.probability()));
    }
}

/// RFC 8033 section 5.2 and `sch_pie`: after quiet the rate of the last busy period says nothing about the next one.
#[test]
fn the_departure_rate_is_forgotten_once_the_queue_has_been_quiet() {
    let source = DelaySource::DepartureRate(DepartureRateConfig::RFC8033);
    let late = BurstRule::AfterQuiet(Span::from_ms(1_500));
    for (burst_rule, updates) in [(BurstRule::WhenQuiet, 2), (late, 20)] {
        let law = PieLaw { delay_source: source, burst_rule, ..PieLaw::RFC8033 };
        let mut pie = Pie::new(&law);
        for packet in 0..11 {
            let now = Instant::ZERO + Span::from_us(2400) * packet;
            pie.on_departure(&law, 1500, Span::from_ms(20), 1_000_000, now);
        }
        // As in `one_measurement_at_5_mbps`: 687,500 B/s. The waiting packets keep it.
        assert_eq!(pie.delay(&law, 687_500), 1.0);
        pie.on_update(&law, 687_500);
        assert_eq!(pie.delay(&law, 687_500), 1.0);
        // An update that knows of the delay before, one that finds quiet, and until then the allowance of 150 ms.
        for _ in 0..updates {
            pie.on_update(&law, 0);
        }
        assert_eq!(pie.delay(&law, 687_500), 0.0, "{burst_rule:?}");
    }
}

/// RFC 8033 section 5.1, `accu_prob`: a drop begins the count of likelihoods anew, that of a full buffer, too.
#[test]
fn an_overflow_begins_the_count_of_likelihoods_anew() {
    let mut pie = Pie { accumulated: 0.8, ..Pie::new(&PieLaw::RFC8033) };
    pie.on_overflow();
    assert_eq!(pie.accumulated, 0.0);
}

/// RFC 8033 section 4.4: the allowance comes back when two delays in sequence are below half the reference; half of it is not below.
#[test]
fn half_the_reference_is_not_quiet() {
    let law = PieLaw::RFC8033;
    let half = law.reference.as_secs_f64() / 2.0;
    // At 95 % of it before, the probability would stay 0.
    for (delay, old_delay, quiet) in [(0.0, 0.0, true), (half, 0.95 * half, false), (0.0, half, false)] {
        let mut pie = Pie { active: true, old_delay, ..without_burst(law) };
        pie.update(&law, delay);
        assert_eq!(pie.burst == law.maximum_burst, quiet, "{delay} {old_delay} {}", pie.probability);
    }
}

/// RFC 8033 section 5.3: PIE turns on with a fresh allowance and no probability; the delay and the rate that it measured meanwhile
/// are those of the queue that woke it.
#[test]
fn a_pie_that_wakes_up_keeps_its_measurements() {
    let activation = Activation::Backlog(Bytes(30_000));
    let measured = DelaySource::DepartureRate(DepartureRateConfig::RFC8033);
    let late = BurstRule::AfterQuiet(Span::from_ms(1_500));
    for (delay_source, burst_rule) in [(DelaySource::LastSojourn, BurstRule::WhenQuiet), (measured, late)] {
        let law = PieLaw { delay_source, burst_rule, activation, ..PieLaw::RFC8033 };
        let mut pie = Pie::new(&law);
        for packet in 0..11 {
            pie.on_departure(
                &law,
                1500,
                Span::from_secs_f64(0.5),
                1_000_000,
                Instant::ZERO + Span::from_us(2400) * packet,
            );
        }
        let asleep = pie.delay(&law, 343_750);
        assert_eq!(asleep, 0.5, "as in `one_measurement_at_5_mbps`: 687,500 B/s");
        pie.probability = 0.3;
        let _ = pie.on_arrival(&law, 1500, 30_000, || 0.0);
        assert!(pie.active);
        assert_eq!((pie.delay(&law, 343_750), pie.probability(), pie.burst), (asleep, 0.0, law.maximum_burst));
    }
}

/// RFC 8033 section 5.4: no drop below 0.85 likelihoods, a draw from there on. Linux `sch_pie`: 2 % more per update beyond the
/// high delay, not at it. Sleep ends at the delay that wakes.
#[test]
fn thresholds_of_pie_belong_to_the_side_that_their_sources_say() {
    let law = PieLaw { derandomise: true, ..PieLaw::RFC8033 };
    for (probability, verdict) in [(0.849, PieVerdict::Pass), (0.85, PieVerdict::Drop)] {
        let mut pie = Pie { probability, old_delay: 1.0, ..without_burst(law) };
        assert_eq!(pie.on_arrival(&law, 1500, 30_000, || 0.0), verdict, "{probability}");
    }
    let law = PieLaw { alpha: 0.0, beta: 0.0, high_delay: Some(Span::from_ms(250)), ..PieLaw::RFC8033 };
    for (delay, probability) in [(0.25, 0.0), (0.251, 0.02)] {
        let mut pie = without_burst(law);
        pie.update(&law, delay);
        assert_eq!(pie.probability(), probability, "{delay}");
    }
    let law = PieLaw { activation: Activation::Delay(Span::from_ms(10)), ..PieLaw::RFC8033 };
    for (sojourn_us, wakes) in [(9_999, false), (10_000, true), (10_001, true)] {
        let mut pie = Pie::new(&law);
        pie.on_departure(&law, 1500, Span::from_us(sojourn_us), 30_000, Instant::from_ms(50));
        let _ = pie.on_arrival(&law, 1500, 30_000, || 0.0);
        assert_eq!(pie.active, wakes, "{sojourn_us} us");
    }
}
