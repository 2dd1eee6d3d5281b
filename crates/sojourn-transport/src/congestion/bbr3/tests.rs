use super::super::bbr_model::testing::bytes_in_a_round;
use super::super::bbr2::TWO;
use super::super::testing::{CONNECTION, ack_at};
use super::*;
use sojourn_base::Bytes;
use std::vec::Vec;

/// Acknowledgements of a path of 40 ms, ten in each round.
struct Path {
    bbr: Bbr3,
    window: Window,
    now: Instant,
    delivered: u64,
    /// Of the ten acknowledgements of a round, how many report a mark.
    marked: u32,
}

impl Path {
    fn new() -> Self {
        Self::of(Bbr3::new(Bbr3Config::BASE, Version::THREE, &CONNECTION))
    }

    /// With a peer that counts marks, which are answered on this path.
    fn counting(version: Version) -> Self {
        let config = Bbr3Config { marks_up_to: Span::ZERO, ..Bbr3Config::BASE };
        let connection = Connection { counts_marks: true, ..CONNECTION };
        Self::of(Bbr3::new(config, version, &connection))
    }

    fn of(bbr: Bbr3) -> Self {
        Self {
            bbr,
            window: Window { size: 10.0, threshold: f64::INFINITY },
            now: Instant::from_s(1),
            delivered: 0,
            marked: 0,
        }
    }

    /// One round at `rate` segments per second with `pipe` of them in the network, of which `lost` were lost since
    /// they were sent, one found with each of the first acknowledgements.
    fn round(&mut self, rate: f64, pipe: u32, lost: u32) {
        let before = self.delivered;
        for number in 0..10 {
            self.now += Span::from_ms(4);
            self.delivered += 1448;
            let ack = Ack {
                round_trip: Some(Span::from_ms(40)),
                marks: u32::from(number < self.marked),
                rate: Some(RateSample {
                    delivered: bytes_in_a_round(rate),
                    interval: Span::from_ms(40),
                    delivered_before: Bytes(before),
                    delivered_in_total: Bytes(self.delivered),
                    application_limited: false,
                    round_trip: Some(Span::from_ms(40)),
                    in_flight: pipe,
                    in_flight_when_sent: pipe,
                    in_flight_before: pipe,
                    until_departure: Span::ZERO,
                    lost,
                    newly_lost: u32::from(number < lost),
                    window_limited: true,
                }),
                ..ack_at(self.now, 1)
            };
            self.bbr.on_ack(&ack, &mut self.window);
        }
    }

    /// Through startup and drain.
    fn full() -> Self {
        Self::new().filled()
    }

    fn filled(mut self) -> Self {
        let path = &mut self;
        for _ in 0..5 {
            path.round(1000.0, 90, 0);
        }
        assert_eq!(path.bbr.state, State::Drain);
        path.round(1000.0, 40, 0);
        assert!(path.bbr.is_in_a_probe_bw_state());
        self
    }

    fn until(&mut self, state: State) {
        for _ in 0..200 {
            if self.bbr.state == state {
                return;
            }
            self.round(1000.0, 40, 0);
        }
        panic!("{state:?} never came: {:?}", self.bbr.state);
    }
}

#[test]
fn startup_sends_at_277_hundredths_and_ends_when_the_rate_stops_growing() {
    let mut path = Path::new();
    path.round(1000.0, 40, 0);
    assert!((path.bbr.pacing_rate - 0.99 * 2770.0).abs() < 0.01);
    path.round(2000.0, 80, 0);
    path.round(2000.0, 80, 0);
    path.round(2000.0, 80, 0);
    assert_eq!(path.bbr.state, State::Startup);
    path.round(2000.0, 100, 0);
    assert_eq!(path.bbr.state, State::Drain);
    assert!((path.bbr.pacing_rate - 0.99 * 0.5 * 2000.0).abs() < 0.01);
}

#[test]
fn drain_ends_after_three_rounds_whatever_is_in_the_network() {
    for (drain_rounds, rounds) in [(Some(3), 4), (None, 20)] {
        let config = Bbr3Config { drain_rounds, ..Bbr3Config::BASE };
        let mut path = Path::of(Bbr3::new(config, Version::THREE, &CONNECTION));
        while path.bbr.state != State::Drain {
            path.round(1000.0, 90, 0);
        }
        for _ in 1..rounds {
            path.round(1000.0, 90, 0);
            assert_eq!(path.bbr.state, State::Drain);
        }
        path.round(1000.0, 90, 0);
        let is_over = path.bbr.state == State::ProbeBwDown;
        assert_eq!(is_over, drain_rounds.is_some());
        let told = path.bbr.state();
        assert_eq!(told.phase == Some("ProbeBW_DOWN"), is_over);
        // 1000 segments a second, 1500 B with their headers.
        assert_eq!(told.bandwidth, Some(BitRate::from_kbps(12_000)));
    }
}

#[test]
fn six_losses_in_a_round_end_startup_and_bound_what_is_in_the_network() {
    let mut path = Path::new();
    path.round(1000.0, 40, 0);
    path.round(2000.0, 80, 6);
    path.round(4000.0, 80, 6);
    assert_ne!(path.bbr.state, State::Startup);
    assert!(path.bbr.inflight_longterm.is_finite());
}

#[test]
fn a_cycle_goes_down_cruises_refills_and_probes_upward() {
    let mut path = Path::full();
    path.until(State::ProbeBwCruise);
    let since = path.bbr.cycle_stamp;
    path.until(State::ProbeBwRefill);
    // 40 segments in the network: a Reno flow of that size has its turn after 40 rounds of 40 ms.
    let waited = path.now.saturating_since(since);
    assert!((Span::from_ms(1400)..=Span::from_ms(1800)).contains(&waited), "{waited:?}");
    path.until(State::ProbeBwUp);
    assert!((path.bbr.pacing_rate - 0.99 * 1250.0).abs() < 0.5);
    // A queue is left by the probe: 50 in the network are more than the product and three quanta.
    for _ in 0..5 {
        path.round(1000.0, 50, 0);
    }
    assert_eq!(path.bbr.state, State::ProbeBwDown);
    assert!((path.bbr.pacing_rate - 0.99 * 900.0).abs() < 0.5);
}

#[test]
fn a_loss_of_more_than_two_per_cent_in_a_probe_bounds_what_is_in_the_network() {
    let mut path = Path::full();
    path.until(State::ProbeBwUp);
    path.round(1000.0, 50, 1);
    assert!(path.bbr.inflight_longterm.is_infinite(), "1 of 50 is 2 %");
    path.round(1000.0, 50, 2);
    assert_eq!(path.bbr.state, State::ProbeBwDown);
    assert!((path.bbr.inflight_longterm - 50.0).abs() < 1e-9);
    // Cruising leaves 15 % of it.
    assert!((path.bbr.inflight_with_headroom() - 42.5).abs() < 1e-9);
}

#[test]
fn losses_while_cruising_lower_the_rate_by_seven_tenths_at_most_until_the_next_probe() {
    let mut path = Path::full();
    path.until(State::ProbeBwCruise);
    // The first round of losses still delivers what was sent at 1000; then seven tenths of that; then 500, which are
    // delivered and more than seven tenths of 700.
    let mut bounds = Vec::new();
    for lost in [1, 1, 1, 0, 0] {
        path.round(500.0, 40, lost);
        bounds.push(path.bbr.bw_shortterm);
    }
    bounds.retain(|bound| bound.is_finite());
    bounds.dedup_by(|one, other| (*one - *other).abs() < 1e-6);
    let expected = [1000.0, 700.0, 500.0];
    assert_eq!(bounds.len(), expected.len(), "{bounds:?}");
    assert!(bounds.iter().zip(expected).all(|(bound, expected)| (bound - expected).abs() < 1e-6), "{bounds:?}");
    path.until(State::ProbeBwRefill);
    assert!(path.bbr.bw_shortterm.is_infinite());
}

#[test]
fn half_of_the_product_for_a_fifth_of_a_second_each_five_seconds() {
    let mut path = Path::full();
    path.until(State::ProbeRtt);
    assert!(path.window.size <= path.bbr.probe_rtt_cwnd(), "{}", path.window.size);
    assert!((path.bbr.probe_rtt_cwnd() - 20.0).abs() < 1e-6);
    let began = path.now;
    while path.bbr.state == State::ProbeRtt {
        path.round(500.0, 20, 0);
    }
    let lasted = path.now.saturating_since(began);
    assert!(lasted >= Span::from_ms(200) && lasted < Span::from_ms(320), "{lasted:?}");
}

/// Version 3 that waits for its next probe.
const PATIENT: Version = Version { rules: Rules::Three { reprobes_after_marks: false }, ..Version::THREE };

#[test]
fn marks_while_cruising_cut_the_network_by_a_third_of_the_estimate_and_not_the_rate() {
    let mut path = Path::counting(PATIENT).filled();
    path.until(State::ProbeBwCruise);
    let (window, before) = (path.bbr.cwnd, path.bbr.marks.cut());
    assert!(path.bbr.inflight_shortterm.is_infinite());
    path.marked = 1;
    path.round(1000.0, 40, 0);
    path.marked = 0;
    path.round(1000.0, 40, 0);
    let cut = path.bbr.inflight_shortterm / window;
    assert!(cut > 0.6 && cut < 1.0 && (cut - before).abs() < 0.03, "{cut}");
    assert!(path.bbr.bw_shortterm.is_infinite(), "the rate is for losses");
}

#[test]
fn after_marks_without_losses_the_next_probe_comes_at_once_in_version_three() {
    for (version, at_once) in [(Version::THREE, true), (PATIENT, false)] {
        let mut path = Path::counting(version).filled();
        path.until(State::ProbeBwCruise);
        path.marked = 1;
        path.round(1000.0, 40, 0);
        let probing = matches!(path.bbr.state, State::ProbeBwRefill | State::ProbeBwUp);
        assert_eq!(probing, at_once, "{:?}", path.bbr.state);
    }
}

#[test]
fn two_rounds_of_many_marks_end_startup() {
    let mut path = Path::counting(Version::THREE);
    path.marked = 10;
    path.round(1000.0, 40, 0);
    assert_eq!(path.bbr.state, State::Startup);
    path.round(2000.0, 80, 0);
    assert_ne!(path.bbr.state, State::Startup);
    assert!(path.bbr.inflight_longterm.is_finite());
}

#[test]
fn many_marks_in_a_probe_bound_what_is_in_the_network() {
    let mut path = Path::counting(PATIENT).filled();
    path.until(State::ProbeBwUp);
    path.marked = 10;
    path.round(1000.0, 50, 0);
    path.round(1000.0, 50, 0);
    assert_eq!(path.bbr.state, State::ProbeBwDown);
    assert!((path.bbr.inflight_longterm - 50.0).abs() < 1e-9);
}

#[test]
fn version_two_starts_as_version_one_and_ends_a_probe_with_a_quarter_more_in_the_network() {
    let mut path = Path::counting(TWO);
    path.round(1000.0, 40, 0);
    assert!((path.bbr.pacing_rate - 0.99 * 2885.0).abs() < 0.01);
    let mut path = Path::counting(TWO).filled();
    path.until(State::ProbeBwUp);
    // 1.25 times 40 and the two that every probe may add are 52.
    for _ in 0..5 {
        path.round(1000.0, 51, 0);
    }
    assert_eq!(path.bbr.state, State::ProbeBwUp);
    path.round(1000.0, 52, 0);
    assert_eq!(path.bbr.state, State::ProbeBwDown);
    assert!((path.bbr.pacing_rate - 0.99 * 750.0).abs() < 0.5);
}

#[test]
fn in_version_two_what_is_released_at_once_is_a_least_window_and_many_marks_leave_the_product() {
    let mut path = Path::counting(TWO);
    path.marked = 10;
    path.round(1000.0, 40, 0);
    path.round(1000.0, 80, 0);
    // 1000 segments per second for 40 ms; version 3 would keep what was delivered in the round, if that is more.
    assert!((path.bbr.inflight_longterm - 40.0).abs() < 1e-9);
    assert!((path.bbr.inflight(1.0) - 40.0).abs() < 1e-9);
    assert!((path.bbr.inflight(0.05) - 6.0).abs() < 1e-9);
}

#[test]
fn half_of_a_round_of_marks_is_too_many_in_version_two() {
    for (version, ends) in [(TWO, true), (PATIENT, false)] {
        let mut path = Path::counting(version).filled();
        path.until(State::ProbeBwUp);
        path.marked = 5;
        path.round(1000.0, 50, 0);
        path.round(1000.0, 50, 0);
        assert_eq!(path.bbr.state == State::ProbeBwDown, ends);
        assert_eq!(path.bbr.inflight_longterm.is_finite(), ends);
    }
}

#[test]
fn a_probe_of_version_two_stops_at_the_bound_of_the_last_and_the_next_goes_beyond_at_once() {
    let mut path = Path::counting(TWO).filled();
    path.until(State::ProbeBwUp);
    path.round(1000.0, 44, 2);
    assert_eq!(path.bbr.state, State::ProbeBwDown);
    assert!((path.bbr.inflight_longterm - 44.0).abs() < 1e-9);
    path.until(State::ProbeBwUp);
    // 44 are the bound and less than the 52 that end a probe for its queue.
    path.round(1000.0, 43, 0);
    assert_eq!(path.bbr.state, State::ProbeBwUp);
    path.round(1000.0, 44, 0);
    assert_eq!(path.bbr.state, State::ProbeBwDown);
    assert!(path.bbr.stopped_at_the_bound);
    // A round later, not after a cycle, and this time the bound does not stop it.
    path.round(1000.0, 36, 0);
    path.round(1000.0, 36, 0);
    assert_eq!(path.bbr.state, State::ProbeBwUp);
    path.round(1000.0, 45, 0);
    assert_eq!(path.bbr.state, State::ProbeBwUp);
}
