use super::*;
use proptest::prelude::*;

/// Loss and printed score of the 36 calls of White 2012, Tables 3, 4, 7 and 8.
const PRINTED: &str = include_str!("../../data/white2012-scores.csv");

#[test]
fn ratings_and_scores_worked_out_by_hand() {
    for (delay_ms, loss, expected, score) in [
        (0.0, 0.0, 94.2000, 4.4278),
        (20.0, 0.0, 93.7200, 4.4191),
        (25.0, 0.01, 89.4071, 4.3242),
        (40.0, 0.0268, 83.1030, 4.1357),
        (45.0, 0.0911, 67.2776, 3.4669),
        (70.0, 0.2081, 50.0335, 2.5768),
        (177.3, 0.0, 89.9448, 4.3376),
        (200.0, 0.0, 86.9030, 4.2559),
        (270.0, 0.02, 69.6521, 3.5806),
        (1020.0, 0.0, -22.977, 1.0),
        (20.0, 0.9987, 10.5789, 1.0430),
    ] {
        let ours = rating(delay_ms, loss);
        assert!((ours - expected).abs() < 6e-5, "{delay_ms} {loss}: {ours}");
        let ours = mean_opinion_score(ours);
        assert!((ours - score).abs() < 6e-5, "{delay_ms} {loss}: {ours}");
    }
}

#[test]
fn the_score_never_falls_below_one() {
    // The cubic has its minimum, 0.9888, at 3.22.
    assert!((cubic(3.22) - 0.9888).abs() < 5e-5);
    for (r, score) in [(-5.0, 1.0), (3.22, 1.0), (100.0, 4.5), (120.0, 4.5)] {
        assert!((mean_opinion_score(r) - score).abs() < 1e-15, "{r}");
    }
}

#[test]
fn scores_turn_back_into_ratings() {
    for (score, expected) in
        [(1.5, 27.2688), (2.0, 38.6837), (3.0, 58.0785), (3.6, 70.0640), (4.0, 79.3709), (4.3, 88.4798), (4.4, 92.7298)]
    {
        let ours = rating_of_score(score).expect("in range");
        assert!((ours - expected).abs() < 6e-5, "{score}: {ours}");
        // The closed form of ITU-T G.107 Annex B.
        let (m, root) = (score, 226.0_f64.sqrt());
        let y = 15.0 * (-903_522.0 + 1_113_960.0 * m - 202_500.0 * m * m).sqrt();
        let h = y.atan2(18_566.0 - 6750.0 * m) / 3.0;
        let closed = 20.0 / 3.0 * (8.0 - root * (h + core::f64::consts::FRAC_PI_3).cos());
        assert!((ours - closed).abs() < 1e-9, "{ours} {closed}");
    }
    assert_eq!(rating_of_score(0.9), None);
    assert_eq!(rating_of_score(4.6), None);
    let best = rating_of_score(4.5).expect("in range");
    assert!((best - 100.0).abs() < 1e-9, "{best}");
}

#[test]
fn packets_are_late_more_than_sixty_milliseconds_after_the_fastest() {
    // 10.2 10.0 12.5 40.0 11.1 10.0 95.3 10.4 ms: one of eight is late; the others average 104.2 / 7.
    let tenths = [102, 100, 125, 400, 111, 100, 953, 104];
    let call = Call::new(&tenths.map(|delay| Some(delay * 100_000)));
    assert_eq!((call.sent, call.lost, call.late), (8, 0, 1));
    let mean = call.mean_delay_ms.expect("seven were played");
    assert!((mean - 104.2 / 7.0).abs() < 1e-9);
    let edge = Call::new(&[Some(1), Some(60_000_001), Some(60_000_002), None]);
    assert_eq!((edge.sent, edge.lost, edge.late), (4, 1, 1));
    assert_eq!(edge.lost_share(), Some(0.25));
    assert_eq!(edge.late_share(), Some(0.25));
    assert_eq!(edge.total_loss(), Some(0.5));
}

#[test]
fn the_delay_to_the_listener_is_added_to_the_measured_one() {
    // 25 ms in all and 1 of 100 packets lost: third row of the table above.
    let mut delays = vec![Some(5_000_000); 99];
    delays.push(None);
    let call = Call::new(&delays);
    let counted = call.rating(DelayTerm::Counted).expect("packets were sent");
    assert!((counted - 89.4071).abs() < 6e-5, "{counted}");
    let absent = call.rating(DelayTerm::Absent).expect("packets were sent");
    assert!((absent - counted - 0.6).abs() < 1e-9);
    let score = call.score(DelayTerm::Counted).expect("packets were sent");
    assert!((score - 4.3242).abs() < 6e-5);
}

#[test]
fn calls_without_packets_have_no_rating_and_without_played_ones_a_bad_one() {
    assert_eq!(Call::new(&[]).rating(DelayTerm::Counted), None);
    let silent = Call::new(&[None, None]);
    assert_eq!(silent.mean_delay_ms, None);
    // 94.2 - 0.48 - 30 ln 16.
    let ours = silent.rating(DelayTerm::Counted).expect("packets were sent");
    assert!((ours - 10.5423).abs() < 6e-5, "{ours}");
}

#[test]
fn the_printed_scores_of_2012_follow_from_loss_alone() {
    let (mut rows, mut matches) = (0, 0);
    for line in PRINTED.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |index: usize| cells[index].parse::<f64>().expect("a number");
        let loss = number(3) / 100.0;
        let without = mean_opinion_score(rating(0.0, loss));
        let with = mean_opinion_score(rating(LISTENER_DELAY.as_ms_f64(), loss));
        assert!((without - number(5)).abs() < 6e-5, "{line}: {without}");
        assert!((with - number(6)).abs() < 6e-5, "{line}: {with}");
        // W12-87: the CoDel scores of Table 8 repeat those of Table 7, so they belong to its losses.
        let repeated = cells[0] == "4/8" && cells[2] == "CoDel";
        let source = if repeated { score_of("3/7", cells[1]) } else { without };
        assert_eq!(format!("{source:.1}"), cells[4], "{line}");
        rows += 1;
        matches += u32::from(format!("{without:.1}") == cells[4]);
    }
    // With its own loss, one row of Table 8 (C06) misses.
    assert_eq!((rows, matches), (36, 35));
}

/// Score without delay of a CoDel call from the loss in the pair of `tables`.
fn score_of(tables: &str, case: &str) -> f64 {
    let line =
        PRINTED.lines().find(|line| line.starts_with(&format!("{tables},{case},CoDel"))).expect("the call is listed");
    let loss: f64 = line.split(',').nth(3).expect("loss").parse().expect("a number");
    mean_opinion_score(rating(0.0, loss / 100.0))
}

/// Returns the tally of packets with these delays.
fn tally_of(delays: &[Option<u64>]) -> DatagramTally {
    let mut tally = DatagramTally::default();
    for delay in delays {
        match delay {
            Some(ns) => tally.on_arrival(Span::from_ns(*ns)),
            None => tally.on_loss(),
        }
    }
    tally
}

#[test]
fn a_tally_tells_the_call_of_eight_packets() {
    let tenths = [102, 100, 125, 400, 111, 100, 953, 104];
    let mut delays: Vec<Option<u64>> = tenths.iter().map(|delay| Some(delay * 100_000)).collect();
    delays.push(None);
    let call = Call::from_tally(&tally_of(&delays));
    assert_eq!((call.sent, call.lost, call.late), (9, 1, 1));
    let mean = call.mean_delay_ms.expect("seven were played");
    assert!((mean / (104.2 / 7.0) - 1.0).abs() < HALF_A_BIN, "{mean}");
    // Equal delays are their own minimum and maximum: nothing is lost by counting them.
    let same = Call::from_tally(&tally_of(&[Some(8_234_567); 50]));
    assert_eq!(same, Call::new(&[Some(8_234_567); 50]));
    for nothing in [&[][..], &[None, None]] {
        assert_eq!(Call::from_tally(&tally_of(nothing)), Call::new(nothing));
    }
}

#[test]
fn lateness_is_measured_from_the_exact_minimum() {
    // From 2^30 ns on, bins are 2^20 ns wide. One delay is in the middle of the 57th bin after that of the
    // shortest: 60.3 ms after its lower end, 59.2 ms after its upper end.
    let (lower, upper) = (1_u64 << 30, (1 << 30) + (1 << 20) - 1);
    let other = lower + 57 * (1 << 20) + (1 << 19);
    for (shortest, late) in [(lower, 1), (upper, 0)] {
        let delays = [Some(shortest), Some(other)];
        let call = Call::from_tally(&tally_of(&delays));
        assert_eq!((call.late, Call::new(&delays).late), (late, late));
    }
}

/// How far the middle of a bin is from its delays at most: half of one of the 1024 bins of each doubling.
const HALF_A_BIN: f64 = 1.0 / 2048.0;

/// Delays of a call: from microseconds to seconds, many near the edge of being late, some lost.
fn delays() -> impl Strategy<Value = Vec<Option<u64>>> {
    let delay = prop_oneof![
        2 => (14_u32..32).prop_flat_map(|bits| (1_u64 << bits)..(2_u64 << bits)),
        2 => 5_000_000..30_000_000_u64,
        1 => 64_900_000..66_000_000_u64,
    ];
    prop::collection::vec(prop::option::weighted(0.9, delay), 0..200)
}

proptest! {
    #[test]
    fn a_tally_agrees_with_the_definition_within_its_resolution(delays in delays()) {
        let (literal, counted) = (Call::new(&delays), Call::from_tally(&tally_of(&delays)));
        prop_assert_eq!((counted.sent, counted.lost), (literal.sent, literal.lost));
        let arrived = || delays.iter().copied().flatten();
        let shortest = arrived().min().unwrap_or_default();
        let late = |error: f64| {
            let late = |delay: &u64| *delay as f64 * (1.0 + error) > (shortest + 60_000_000) as f64;
            arrived().filter(late).count() as u64
        };
        // Bins begin and end at whole nanoseconds, of which there are far more than this.
        let resolution = HALF_A_BIN + 1e-6;
        let (least, most) = (late(-resolution), late(resolution));
        prop_assert!((least..=most).contains(&counted.late), "{least} {counted:?} {most}");
        if least == most {
            prop_assert_eq!(counted.late, literal.late);
            prop_assert_eq!(counted.mean_delay_ms.is_some(), literal.mean_delay_ms.is_some());
            if let (Some(ours), Some(exact)) = (counted.mean_delay_ms, literal.mean_delay_ms) {
                prop_assert!((ours / exact - 1.0).abs() <= resolution, "{ours} {exact}");
            }
        }
    }
}

#[test]
fn delay_impairs_as_g107_says() {
    // Vector C9: Idd worked out with a pocket calculator.
    for (delay_ms, expected) in [(100.0, 0.0), (150.0, 0.164), (200.0, 3.044), (300.0, 14.761), (400.0, 24.070)] {
        let ours = delay_impairment(delay_ms);
        assert!((ours - expected).abs() < 5e-4, "{delay_ms}: {ours}");
    }
}

#[test]
fn loss_impairs_as_g107_says_and_concealment_helps() {
    // Vector C10.
    for (loss, plain, concealed) in [(0.01, 17.925, 3.640), (0.02, 30.159, 7.011), (0.05, 51.075, 15.781)] {
        let of = |codec: Codec| codec.impairment_with_loss(loss, 1.0);
        assert!((of(Codec::G711) - plain).abs() < 5e-4, "{loss}");
        assert!((of(Codec::G711_CONCEALED) - concealed).abs() < 5e-4, "{loss}");
    }
    assert!((rating_g107(150.0, 0.0, Codec::G711, None) - (93.2 - 0.164)).abs() < 5e-4);
    assert!(Codec::G711.impairment_with_loss(0.0, 1.0).abs() < 1e-12);
}

#[test]
fn echo_impairs_as_g107_says() {
    // 150 ms: TERV = 65 - 40 log10(16/2) = 28.876; Re = 80 + 2.5 * 14.876 = 117.19; (94.77 - 117.19)/2 = -11.21, its root with 100
    // 15.02: Idte 2.81. Rle = 10.5 * 117 / 301^(1/4) = 294.95: -100.09 + 100.93 = 0.84; without delay 0.149. Together 3.50.
    assert!((echo_impairment(150.0, DEFAULT_TELR) - 3.50).abs() < 0.02, "{}", echo_impairment(150.0, DEFAULT_TELR));
    let rating = rating_g107(150.0, 0.0, Codec::G711, Some(DEFAULT_TELR));
    assert!((rating - 89.5).abs() < 0.05, "{rating}");
    // An echo that is 20 dB weaker is hardly audible to the speaker; without delay none is.
    assert!(echo_impairment(150.0, 85.0) < 1.2);
    assert!(echo_impairment(0.0, DEFAULT_TELR).abs() < 1e-9);
    let by_delay: Vec<f64> = (0..60).map(|step| echo_impairment(10.0 * f64::from(step), DEFAULT_TELR)).collect();
    assert!(by_delay.windows(2).all(|pair| pair[1] >= pair[0]), "more delay is never better");
}
