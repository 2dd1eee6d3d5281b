use super::*;
use crate::wifi::phy::{Band, Width};
use sojourn_base::Seed;

const VHT: Mode = Mode::vht(Width::Mhz80, 9, 2, true);

fn draws(name: &str) -> impl FnMut() -> f64 {
    let mut stream = Seed(1).stream(name);
    move || stream.unit()
}

#[test]
fn frames_are_lost_with_ten_percent_at_the_sensitivity_of_the_standard() {
    let near = |mode: Mode, snr, bytes, loss: f64| {
        let found = frame_error(mode, Snr::from_db(snr), Bytes(bytes)).get();
        assert!((found - loss).abs() < 1e-3, "{mode:?} at {snr} dB: {found}");
    };
    let vht = |mcs| Mode::vht(Width::Mhz80, mcs, 1, false);
    near(vht(0), 4, 4_096, 0.1);
    near(vht(9), 29, 4_096, 0.1);
    near(Mode::ofdm(Band::Ghz5, 7), 21, 1_000, 0.1);
    // Half the length: 1 - sqrt(0.9); one dB more: 1 - 0.9^0.1; two less: 1 - 0.9^100.
    near(vht(4), 16, 2_048, 0.0513);
    near(vht(4), 17, 4_096, 0.0105);
    near(vht(4), 14, 4_096, 1.0);
}

#[test]
fn modes_up_to_one_go_from_the_slowest_to_the_fastest_and_leave_out_illegal_ones() {
    let modes = RateControl::up_to(Mode::vht(Width::Mhz80, 9, 3, false));
    // Ten for each number of streams, but MCS 6 with three.
    assert_eq!(modes.len(), 29);
    assert!(modes.windows(2).all(|pair| pair[0].rate() <= pair[1].rate()));
}

#[test]
fn a_known_snr_takes_the_fastest_mode_that_holds() {
    let mut random = draws("known");
    let mut select = |db| RateControl::snr(Signal::fixed(Snr::from_db(db)), VHT).select(Instant::ZERO, &mut random);
    // 28 dB: MCS 8 asks for 27, MCS 9 for 29. Frames of 1,000 B: 1 - 0.9^(0.244 × 10^1) at one dB below, 0.22.
    assert_eq!((select(28).mcs, select(28).streams), (8, 2));
    assert_eq!((select(40).mcs, select(-20).mcs), (9, 0));
    // The slowest of all, however bad.
    assert_eq!(select(-20).streams, 1);
}

#[test]
fn a_walk_stays_in_its_range_and_moves_with_its_mean() {
    let moves = std::vec![(Instant::from_s(1_000), Snr::from_db(10))];
    let mut signal = Signal::fixed(Snr::from_db(30)).walking(400).moving(moves);
    signal.seed(7);
    // The time of a call changes nothing.
    let mut other = signal.clone();
    assert_eq!(other.at(Instant::from_s(50)), {
        let mut often = signal.clone();
        (0..500).for_each(|tenth| {
            let _ = often.at(Instant::from_ms(tenth * 100));
        });
        often.at(Instant::from_s(50))
    });
    let mut seen: Vec<i32> = (0..10_000).map(|tenth| signal.at(Instant::from_ms(tenth * 100)).0).collect();
    assert!(seen.windows(2).all(|pair| (pair[0] - pair[1]).abs() <= 50));
    seen.sort_unstable();
    assert_eq!((seen[0], seen[9_999]), (2_600, 3_400));
    assert!(signal.at(Instant::from_s(1_000)).0 <= 1_400);
    assert!((600..=1_400).contains(&signal.at(Instant::from_s(100_000)).0), "after a day of silence, too");
}

/// Sends aggregates of 16 frames of 1,500 B at this SNR for some seconds; the mean rate of what arrived, over that of the best mode.
fn efficiency(control: &mut RateControl, from: u64, until: u64) -> f64 {
    let mut random = draws("efficiency");
    let (mut arrived, mut best) = (0.0, 0.0);
    let modes = RateControl::up_to(VHT);
    for ms in from..until {
        let now = Instant::from_ms(ms);
        let mode = control.select(now, &mut random);
        let loss = control.loss(now, mode, Bytes(1_500));
        let delivered = (0..16).filter(|_| !loss.happens(random())).count();
        control.report(mode, 16, u32::try_from(delivered).expect("at most 16"));
        arrived += mode.rate().as_bps() as f64 * delivered as f64 / 16.0;
        let RateControl::Minstrel { signal, .. } = control else { panic!("not fixed") };
        let snr = signal.at(now);
        let carries = |mode: &Mode| mode.rate().as_bps() as f64 * (1.0 - frame_error(*mode, snr, Bytes(1_500)).get());
        best += modes.iter().map(carries).fold(0.0, f64::max);
    }
    arrived / best
}

#[test]
fn minstrel_finds_the_mode_that_carries_most_and_follows_a_station_that_moves() {
    for snr in [5, 13, 21, 30, 40] {
        // It moves to where 8 dB are left, and comes to terms with it within a second.
        let moves = std::vec![(Instant::from_ms(6_000), Snr::from_db(8))];
        let signal = Signal::fixed(Snr::from_db(snr)).moving(moves);
        let mut control = RateControl::minstrel(signal, VHT, MinstrelConfig::BASE);
        efficiency(&mut control, 0, 3_000);
        let found = efficiency(&mut control, 3_000, 6_000);
        assert!(found > 0.85, "{found} at {snr} dB");
        efficiency(&mut control, 6_000, 8_000);
        let found = efficiency(&mut control, 8_000, 11_000);
        assert!(found > 0.85, "{found} at 8 dB after {snr} dB");
    }
}

#[test]
fn minstrel_tries_no_more_often_than_it_may_and_walks_down_its_chain() {
    let mut control = RateControl::minstrel(Signal::fixed(Snr::from_db(30)), VHT, MinstrelConfig::BASE);
    efficiency(&mut control, 0, 3_000);
    let mut random = draws("tries");
    let usual = control.select(Instant::from_ms(3_000), &mut random);
    control.report(usual, 16, 16);
    let mut others = 0;
    // Within one interval the chain stays.
    for _ in 0..200 {
        let mode = control.select(Instant::from_ms(3_001), &mut random);
        others += u32::from(mode != usual);
        control.report(mode, 16, 16);
    }
    assert!((1..=20).contains(&others), "{others} tries of 200");
    // Nothing is acknowledged: two transmissions by the second mode, two by the surest, and then the slowest for good.
    let mut failing = || {
        let mode = control.select(Instant::from_ms(3_002), &mut random);
        control.report(mode, 16, 0);
        mode
    };
    // A try may come first.
    while failing() != usual {}
    let modes: Vec<Mode> = (0..9).map(|_| failing()).collect();
    assert_eq!(modes[0], usual);
    assert!(modes[1] == modes[2] && modes[1] != usual && modes[1].streams == 2, "{modes:?}");
    assert!(modes[5..].iter().all(|mode| *mode == Mode { mcs: 0, streams: 1, ..VHT }), "{modes:?}");
}

#[test]
fn a_fixed_mode_stays_and_loses_nothing() {
    let mut control = RateControl::Fixed(VHT);
    control.report(VHT, 1, 0);
    let mut none = || -> f64 { panic!("nothing is drawn") };
    assert_eq!(control.select(Instant::ZERO, &mut none), VHT);
    assert_eq!(control.loss(Instant::ZERO, VHT, Bytes(1_500)), Probability::ZERO);
}
