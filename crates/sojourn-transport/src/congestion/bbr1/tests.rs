use super::super::bbr_model::testing::bytes_in_a_round;
use super::super::testing::{CONNECTION, ack_at};
use super::*;
use sojourn_base::Bytes;

/// Acknowledgements of a path of `rate` segments per second and 40 ms, one per `1/rate`.
struct Path {
    /// Acknowledgements of a round, and the time between two.
    round: (u32, Span),
    bbr: Bbr1,
    window: Window,
    now: Instant,
    delivered: u64,
}

impl Path {
    fn new() -> Self {
        let bbr = Bbr1::new(Bbr1Config::BASE, &CONNECTION);
        let round = (10, Span::from_ms(4));
        Self {
            round,
            bbr,
            window: Window { size: 10.0, threshold: f64::INFINITY },
            now: Instant::from_s(1),
            delivered: 0,
        }
    }

    /// One round of acknowledgements in which segments arrive at `rate` with `pipe` in the network.
    fn round(&mut self, rate: f64, pipe: u32) {
        let before = self.delivered;
        let (count, spacing) = self.round;
        for _ in 0..count {
            self.now += spacing;
            self.delivered += 1448;
            let ack = Ack {
                round_trip: Some(Span::from_ms(40)),
                rate: Some(RateSample {
                    delivered: bytes_in_a_round(rate),
                    interval: Span::from_ms(40),
                    delivered_before: Bytes(before),
                    delivered_in_total: Bytes(self.delivered),
                    application_limited: false,
                    round_trip: Some(Span::from_ms(40)),
                    in_flight: pipe,
                    in_flight_when_sent: pipe,
                    lost: 0,
                    newly_lost: 0,
                    window_limited: false,
                }),
                ..ack_at(self.now, 1)
            };
            self.bbr.on_ack(&ack, &mut self.window);
        }
    }
}

#[test]
fn startup_ends_after_three_rounds_without_a_quarter_more_and_drain_with_the_queue() {
    let mut path = Path::new();
    for rate in [250.0, 500.0, 1000.0] {
        path.round(rate, 40);
    }
    assert_eq!(path.bbr.state, State::Startup);
    // 2.885 x 0.99 times the rate.
    assert!((path.bbr.pacing_rate - 2856.15).abs() < 0.01, "{}", path.bbr.pacing_rate);
    for _ in 0..3 {
        path.round(1200.0, 120);
    }
    assert_eq!(path.bbr.state, State::Drain);
    assert!(path.bbr.pacing_rate < 1200.0 / 2.8);
    // The product is 48 segments, and three quanta of two.
    path.round(1200.0, 54);
    assert_eq!(path.bbr.state, State::ProbeBw);
    assert!(PACING_GAIN_CYCLE[path.bbr.cycle_index] >= 0.75);
}

#[test]
fn ten_seconds_without_a_shorter_round_trip_are_followed_by_four_segments_for_a_fifth_of_a_second() {
    let mut path = Path::new();
    for _ in 0..6 {
        path.round(1000.0, 20);
    }
    assert_eq!(path.bbr.state, State::ProbeBw);
    // Another round trip of 40 ms is not a shorter one.
    path.now += Span::from_s(10);
    path.round(1000.0, 20);
    assert_eq!(path.bbr.state, State::ProbeRtt);
    assert!((path.window.size - 4.0).abs() < 1e-12);
    let began = path.now;
    while path.bbr.state == State::ProbeRtt {
        path.round(100.0, 4);
    }
    let lasted = path.now.saturating_since(began);
    assert!(lasted >= Span::from_ms(200) && lasted < Span::from_ms(300), "{lasted:?}");
    assert!(path.window.size > 20.0, "{}", path.window.size);
}

/// draft-cardwell-iccrg-bbr-congestion-control-00, BBRHandleProbeRTT: low samples of a probe are ignored; Linux sets `tp->app_limited`.
#[test]
fn a_probe_of_more_rounds_than_the_filter_has_leaves_the_rate_and_so_does_what_was_sent_during_it() {
    let mut path = Path::new();
    for _ in 0..6 {
        path.round(1000.0, 20);
    }
    path.now += Span::from_s(10);
    path.round(1000.0, 20);
    assert_eq!(path.bbr.state, State::ProbeRtt);
    let rounds = path.bbr.rounds.round_count;
    path.round = (4, Span::from_ms(2));
    while path.bbr.state == State::ProbeRtt {
        path.round(100.0, 4);
    }
    assert!(path.bbr.rounds.round_count - rounds > 20);
    assert!(path.bbr.max_bw() >= 999.0, "{}", path.bbr.max_bw());
    // The first round after it answers segments that were sent during it. Samples of those that were sent later count, and by now the
    // rates from before have expired.
    path.round = (10, Span::from_ms(4));
    path.round(100.0, 20);
    assert!(path.bbr.max_bw() >= 999.0, "{}", path.bbr.max_bw());
    path.round(900.0, 20);
    assert!((path.bbr.max_bw() - 900.0).abs() < 1.0, "{}", path.bbr.max_bw());
}

#[test]
fn a_loss_conserves_packets_for_a_round_and_then_the_window_is_back() {
    let mut path = Path::new();
    for _ in 0..8 {
        path.round(1000.0, 40);
    }
    let before = path.window.size;
    let event = super::super::testing::congestion(40.0, Cause::Loss);
    path.bbr.on_congestion(&event, &path.window);
    path.round(1000.0, 30);
    assert!(path.window.size <= before);
    for _ in 0..4 {
        path.round(1000.0, 40);
    }
    assert!((path.window.size - before).abs() < 12.0);
    assert!(path.bbr.max_bw() >= 999.0, "the rate stands");
}
