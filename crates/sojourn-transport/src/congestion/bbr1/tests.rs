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
                    in_flight: pipe,
                    in_flight_when_sent: pipe,
                    in_flight_before: pipe,
                    ..sample(before, self.delivered)
                }),
                ..ack_at(self.now, 1)
            };
            self.bbr.on_ack(&ack, &mut self.window);
        }
    }
}

/// A sample of 40 ms of a segment that was sent when `before` bytes were delivered of `delivered` now.
const fn sample(before: u64, delivered: u64) -> RateSample {
    RateSample {
        delivered: Bytes(delivered - before),
        interval: Span::from_ms(40),
        delivered_before: Bytes(before),
        delivered_in_total: Bytes(delivered),
        application_limited: false,
        round_trip: Some(Span::from_ms(40)),
        in_flight: 0,
        in_flight_when_sent: 0,
        in_flight_before: 0,
        until_departure: Span::ZERO,
        lost: 0,
        newly_lost: 0,
        window_limited: false,
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

/// A connection that cruises at a rate in segments per second and a shortest round trip in ms.
fn cruising(rate: f64, min_rtt: u64, cycle_index: usize) -> Bbr1 {
    Bbr1 {
        state: State::ProbeBw,
        cycle_index,
        max_bw_filter: [rate; MAX_BW_FILTER_LEN],
        min_rtt: Span::from_ms(min_rtt),
        pacing_rate: 0.99 * rate,
        ..Bbr1::new(Bbr1Config::BASE, &CONNECTION)
    }
}

/// Linux 6.12 `bbr_inflight`, worked out by hand: the product is rounded up, three bursts are added, the sum is rounded up to an even
/// number, and the phase that probes has two more.
#[test]
fn targets_are_those_of_linux() {
    // 20 Mb/s and 20 ms: 33.3 segments, and bursts of two.
    let inflight = |rate, min_rtt, cycle_index, gain| whole(cruising(rate, min_rtt, cycle_index).inflight(gain));
    for (cycle_index, gain, segments) in [(2, 1.0, 40), (1, 1.0, 40), (0, 1.25, 50), (2, 2.0, 74)] {
        assert_eq!(inflight(1666.7, 20, cycle_index, gain), segments, "phase {cycle_index}, gain {gain}");
    }
    // 50 Mb/s and 60 ms: 250 segments, and bursts of four, those of 1/1024 s at 0.99 of the rate.
    assert_eq!(inflight(4166.6, 60, 2, 1.0), 262);
    // Below 1.2 Mb/s a burst is one segment.
    assert_eq!((cruising(80.0, 100, 2).burst(), cruising(120.0, 100, 2).burst()), (1, 2));
    // At most 65,215 B: 45 segments of 1448 B. 44 are those of 1/1024 s at 527 Mb/s.
    assert_eq!([46_000.0, 48_000.0, 200_000.0].map(|rate| cruising(rate, 20, 2).burst()), [44, 45, 45]);
    // 1158 Mb/s and 20 ms: 2000 segments, and three bursts of 45.
    assert_eq!(inflight(100_000.0, 20, 2, 1.0), 2136);
}

/// Linux 6.12 `bbr_is_next_cycle_phase`: the segments before the acknowledgement count, and the burst that departs next, less those that
/// are delivered until then.
#[test]
fn a_phase_ends_by_the_segments_in_the_network_at_the_next_departure() {
    let long = Instant::from_ms(21);
    for (cycle_index, in_flight_before, until_departure, now, ends) in [
        (0, 48, Span::ZERO, long, true),
        (0, 47, Span::ZERO, long, false),
        (0, 48, Span::from_us(700), long, false), // one has been delivered by then
        (0, 60, Span::ZERO, Instant::from_ms(20), false),
        (1, 40, Span::ZERO, Instant::from_ms(5), true),
        (1, 41, Span::ZERO, Instant::from_ms(5), false),
        (1, 41, Span::from_us(700), Instant::from_ms(5), true),
    ] {
        let mut bbr = cruising(1666.7, 20, cycle_index);
        let rate = RateSample { in_flight_before, until_departure, ..sample(0, 1448) };
        bbr.update_cycle_phase(now, &rate);
        assert_eq!(bbr.cycle_index != cycle_index, ends, "{in_flight_before} in phase {cycle_index}");
    }
}
