use super::*;
use proptest::prelude::*;

fn ladder() -> Vec<BitRate> {
    super::super::HasConfig::AKHTAR2013.ladder.into_owned()
}

/// Returns the buffers in s at which `level` rises.
fn steps(level: impl Fn(f64) -> usize) -> Vec<f64> {
    let mut found = Vec::new();
    let mut before = level(0.0);
    for hundredth in 1..=3000 {
        let buffer = f64::from(hundredth) / 100.0;
        let now = level(buffer);
        found.extend((before..now).map(|_| buffer));
        before = now;
    }
    found
}

#[test]
fn bola_goes_up_at_the_buffers_that_its_score_gives() {
    // Worked out from u = ln(R/R0), g = 1 + u_max/(T/10 - 1), V = 10/(g - 1), where scores of neighbours meet.
    for (target, g, v, points) in [
        (26, 2.3147, 7.6065, [11.18, 13.94, 16.63, 19.10, 21.67, 24.32]),
        (30, 2.0517, 9.5082, [11.48, 14.92, 18.28, 21.37, 24.59, 27.90]),
    ] {
        let config = BolaConfig { target: Span::from_s(target), ..BolaConfig::BASE };
        let gains = config.gains(&ladder());
        assert!((gains.0 - g).abs() < 1e-4 && (gains.1 - v).abs() < 1e-3, "{gains:?}");
        let found = steps(|buffer| config.level(&ladder(), buffer));
        assert_eq!(found.len(), 6);
        for (found, expected) in found.into_iter().zip(points) {
            // Printed to two digits, found on a grid of hundredths.
            assert!((found - expected).abs() < 0.015, "{found} {expected}");
        }
    }
}

#[test]
fn bba_0_maps_the_buffer_to_a_rate_on_a_line() {
    let config = Bba0Config::BASE;
    for (buffer, rate) in
        [(0.0, 0.72), (6.0, 0.72), (10.0, 1.707), (15.0, 2.940), (20.0, 4.173), (27.0, 5.9), (30.0, 5.9)]
    {
        let mapped = config.map(&ladder(), buffer);
        assert!((mapped - rate).abs() < 6e-4, "{buffer}: {mapped}");
    }
}

#[test]
fn bba_0_keeps_its_level_until_the_line_passes_a_neighbour() {
    let level = |before, buffer| Bba0Config::BASE.level(&ladder(), before, buffer);
    // 1.707 Mb/s: from 1.5 Mb/s (level 2) neither 1 nor 2 Mb/s is reached.
    assert_eq!(level(2, 10.0), 2);
    // From 0.72 Mb/s up to the highest below it, from 3.9 Mb/s down to the lowest above it.
    assert_eq!((level(0, 10.0), level(5, 10.0)), (2, 3));
    assert_eq!((level(6, 6.0), level(0, 27.0)), (0, 6));
}

/// Chunks of the nominal size.
fn offered(chooser: &mut Chooser, buffer: u64) -> (usize, LevelReason) {
    let ladder = ladder();
    let bytes = |level: usize| ladder[level].as_bps() / 4;
    let choice =
        chooser.choose(&Offer { ladder: &ladder, chunk: Span::from_s(2), buffer: Span::from_s(buffer), bytes: &bytes });
    (choice.level, choice.reason)
}

fn by_throughput(mbps: &[f64]) -> Chooser {
    let mut chooser = Chooser::new(RateRule::ThroughputBuffer(ThroughputBufferConfig::BASE));
    for sample in mbps {
        chooser.on_sample(sample * 1e6);
    }
    chooser
}

#[test]
fn the_estimate_is_the_harmonic_mean_of_the_last_five() {
    let chooser = by_throughput(&[100.0, 1.0, 2.0, 4.0, 4.0, 4.0]);
    // 5 / (1 + 1/2 + 3/4) = 2.2222.
    assert!((chooser.estimate().unwrap() - 20e6 / 9.0).abs() < 1.0);
}

#[test]
fn a_client_begins_at_the_bottom_and_panics_with_a_nearly_empty_buffer() {
    let mut chooser = by_throughput(&[]);
    assert_eq!(offered(&mut chooser, 0), (0, LevelReason::Start));
    chooser.on_sample(100e6);
    assert_eq!(offered(&mut chooser, 2), (0, LevelReason::Panic));
}

#[test]
fn a_client_goes_up_one_level_after_three_possible_chunks_with_ten_seconds() {
    let mut chooser = by_throughput(&[100.0]);
    for buffer in [6, 8] {
        assert_eq!(offered(&mut chooser, buffer), (0, LevelReason::Stay));
    }
    assert_eq!(offered(&mut chooser, 9), (0, LevelReason::Stay));
    assert_eq!(offered(&mut chooser, 10), (1, LevelReason::Up));
    assert_eq!(offered(&mut chooser, 12), (2, LevelReason::Up));
}

#[test]
fn a_client_goes_down_to_what_fits_unless_its_buffer_lets_it_wait() {
    let mut chooser = by_throughput(&[]);
    chooser.level = 4;
    // 0.85 of 2.0 Mb/s fit 1.5 Mb/s (level 2).
    chooser.on_sample(2e6);
    let mut low = chooser.clone();
    assert_eq!(offered(&mut low, 19), (2, LevelReason::Down));
    // 2.9 Mb/s for 2 s over 2.0 Mb/s take 2.9 s, more than 2.5 s: one level down.
    let mut full = chooser.clone();
    assert_eq!(offered(&mut full, 20), (3, LevelReason::Down));
    // 2.0 Mb/s take 2 s: kept.
    assert_eq!(offered(&mut full, 20), (3, LevelReason::HoldBuffer));
}

#[test]
fn bola_follows_the_throughput_until_its_buffer_was_full_once() {
    let mut chooser = Chooser::new(RateRule::Bola(BolaConfig::BASE));
    assert_eq!(offered(&mut chooser, 0), (0, LevelReason::Start));
    chooser.on_sample(4.4e6);
    // 0.9 of 4.4 Mb/s are 3.96 Mb/s: level 5.
    assert_eq!(offered(&mut chooser, 8), (5, LevelReason::Start));
    assert_eq!(offered(&mut chooser, 12), (1, LevelReason::Down));
    assert_eq!(offered(&mut chooser, 8), (0, LevelReason::Down));
}

proptest! {
    #[test]
    fn rules_stay_on_the_ladder_and_go_up_by_throughput_one_level_at_a_time(
        which in 0_u8..3,
        steps in prop::collection::vec((0.01_f64..50.0, 0_u64..31), 1..60),
    ) {
        let mut chooser = Chooser::new(match which {
            0 => RateRule::ThroughputBuffer(ThroughputBufferConfig::BASE),
            1 => RateRule::Bola(BolaConfig::BASE),
            _ => RateRule::Bba0(Bba0Config::BASE),
        });
        let mut before = 0;
        for (mbps, buffer) in steps {
            chooser.on_sample(mbps * 1e6);
            let (level, reason) = offered(&mut chooser, buffer);
            prop_assert!(level < 7);
            if which == 0 {
                prop_assert!(level <= before + 1);
            }
            match reason {
                LevelReason::Up => prop_assert!(level > before),
                LevelReason::Down => prop_assert!(level < before),
                LevelReason::Stay | LevelReason::HoldBuffer => prop_assert_eq!(level, before),
                LevelReason::Panic => prop_assert_eq!(level, 0),
                LevelReason::Start => {}
            }
            before = level;
        }
    }

    #[test]
    fn buffer_rules_never_go_down_as_the_buffer_fills(low in 0.0_f64..30.0, more in 0.0_f64..30.0, before in 0_usize..7) {
        let ladder = ladder();
        let bola = BolaConfig::BASE;
        prop_assert!(bola.level(&ladder, low) <= bola.level(&ladder, low + more));
        let bba = Bba0Config::BASE;
        prop_assert!(bba.level(&ladder, before, low) <= bba.level(&ladder, before, low + more));
    }
}
