//! Do flows keep the laws that theory derives and that others have measured?
//!
//! Source: the square-root law of Mathis et al. (1997), the
//! response function of RFC 9438 section 5.1, and values of an independent reference model.
//! Units: k = (segments/s) x (round-trip time) x sqrt(loss probability).

use crate::path::{End, Fate, Path, Shape};
use sojourn_base::{Instant, Seed, Span};
use sojourn_transport::Segment;
use sojourn_transport::config::{
    AckPolicy, AckTimer, AckUnit, Avoidance, ControllerConfig, CubicConfig, GrowthGate, InitialThreshold, RenoConfig,
    SlowStart, StackConfig,
};

/// Reno with SACK by RFC 6675 and one acknowledgement per segment.
fn reno() -> StackConfig {
    StackConfig {
        initial_threshold: InitialThreshold::Unlimited,
        controller: ControllerConfig::of(&RenoConfig { avoidance: Avoidance::PerAck }),
        slow_start: SlowStart::PerAck,
        acknowledge: StackConfig::NS2_LINUX_CUBIC.acknowledge,
        growth_gate: GrowthGate::Near,
        ..StackConfig::BSD_RENO
    }
}

fn cubic(reno_friendly: bool) -> StackConfig {
    StackConfig { controller: ControllerConfig::from(CubicConfig { reno_friendly, ..CubicConfig::BASE }), ..reno() }
}

/// The path of the laws: no queue, only delay. 100 Gb/s keeps segments in order without adding any.
fn delay_only(round_trip: Span) -> Shape {
    Shape { service: Span::from_ns(120), propagation: round_trip / 2 }
}

type Loss = Box<dyn FnMut() -> bool>;

/// Every `interval`-th data packet is lost.
fn periodic(interval: u64) -> Loss {
    let mut count = 0;
    Box::new(move || {
        count += 1;
        count % interval == 0
    })
}

/// Leave slow start at the window `start`, so that the flow settles soon.
fn starting_at(start: f64, config: &StackConfig) -> StackConfig {
    StackConfig {
        initial_threshold: InitialThreshold::ReceiveWindow,
        receive_window: config.receive_window.min(whole(start)),
        ..*config
    }
}

/// Mean segments delivered per round trip from segment `settle` to `finish`, for a flow that
/// leaves slow start at the window `start`.
fn mean_window(
    config: &StackConfig,
    round_trip: Span,
    mut loss: Loss,
    start: f64,
    (settle, finish): (u64, u64),
) -> f64 {
    let judge = move |end, segment: &Segment| {
        if end == End::Client && segment.payload > 0 && loss() { Fate::Drop } else { Fate::Pass }
    };
    let mut path = Path::new(&starting_at(start, config), delay_only(round_trip), Box::new(judge));
    path.keep_rows = false;
    path.keep_events = false;
    path.run(u64::MAX, Instant::ZERO);
    let full = u64::from(config.maximum_segment_size);
    let mut measure = |target: u64| {
        let mut until = path.now;
        while path.server().snapshot().delivered < target * full {
            until += round_trip;
            path.go_on(until);
        }
        (path.now, path.server().snapshot().delivered / full)
    };
    let (start, first) = measure(settle);
    let (end, last) = measure(finish);
    let rounds = end.saturating_since(start).as_secs_f64() / round_trip.as_secs_f64();
    (last - first) as f64 / rounds
}

fn assert_within(what: &str, got: f64, expected: f64, tolerance: f64) {
    let deviation = got / expected - 1.0;
    assert!(deviation.abs() <= tolerance, "{what}: {got:.3} is {:+.1} % off {expected}", 100.0 * deviation);
}

const RTT: Span = Span::from_ms(100);

/// k of Reno under periodic loss.
fn periodic_k(config: &StackConfig, interval: u64) -> f64 {
    let root = (interval as f64).sqrt();
    let cycles = (15 * interval, 40 * interval);
    mean_window(config, RTT, periodic(interval), 4.0 * root, cycles) / root
}

#[test]
fn reno_keeps_the_square_root_law_under_periodic_loss() {
    // The limit is sqrt(3/2) = 1.22.
    for (interval, k, tolerance) in [(100, 0.99, 0.05), (1_000, 1.17, 0.04), (10_000, 1.20, 0.03)] {
        let got = periodic_k(&reno(), interval);
        assert_within("k", got, k, tolerance);
    }
}

#[test]
fn delayed_acknowledgements_slow_per_ack_growth_by_the_square_root_of_two() {
    let config = StackConfig {
        acknowledge: AckPolicy {
            every: 2,
            unit: AckUnit::Segments,
            delay: Span::from_ms(40),
            timer: AckTimer::OneShot,
            quick: 0,
        },
        ..reno()
    };
    for (interval, k) in [(1_000, 1.17), (10_000, 1.20)] {
        let got = periodic_k(&config, interval) * 2.0_f64.sqrt();
        assert_within("k sqrt 2", got, k, 0.04);
    }
}

#[test]
fn reno_keeps_the_square_root_law_under_random_loss() {
    for (interval, k, segments) in [(100_u32, 1.12, 60_000), (1_000, 1.25, 200_000)] {
        let root = f64::from(interval).sqrt();
        let runs: Vec<f64> = (0..6)
            .map(|seed| {
                let mut dice = Seed(seed).stream("test/loss");
                let loss = Box::new(move || dice.unit() < 1.0 / f64::from(interval));
                let settle = 5 * u64::from(interval);
                mean_window(&reno(), RTT, loss, 4.0 * root, (settle, settle + segments)) / root
            })
            .collect();
        let mean = runs.iter().sum::<f64>() / runs.len() as f64;
        let squares = runs.iter().map(|run| (run - mean) * (run - mean));
        let variance = squares.sum::<f64>() / 5.0;
        // 95 % of Student's t with 5 degrees of freedom is 2.57.
        let half_width = 2.57 * (variance / 6.0).sqrt();
        assert!(half_width / mean < 0.05, "half width {half_width:.3}");
        assert_within("k", mean, k, 0.06);
    }
}

fn cubic_window(config: &StackConfig, round_trip: Span, decade: u32, expected: f64) -> f64 {
    let interval = 10_u64.pow(decade);
    // Periodic loss and whole segments lock small windows into one of several cycles, 9.3 to 10.4
    // segments at p = 0.01; from far above, the flow ends in the largest. The longest cycles are
    // started where they peak, because CUBIC comes down slowly.
    let (start, settle, count) = if decade == 5 { (1.3, 3, 3) } else { (4.0, 20, 20) };
    let cycles = (settle * interval, (settle + count) * interval);
    mean_window(config, round_trip, periodic(interval), start * expected, cycles)
}

#[test]
fn cubic_keeps_its_response_function() {
    // Cubic region: 1.054 (RTT/p)^(3/4); below it Reno-friendly, about 1.2/sqrt(p).
    for (round_trip, expected) in [(100, [10.9, 37.7, 175.0, 993.0]), (10, [10.9, 37.3, 121.0, 386.0])] {
        for (decade, expected) in (2..).zip(expected) {
            let window = cubic_window(&cubic(true), Span::from_ms(round_trip), decade, expected);
            assert_within("mean window", window, expected, 0.08);
        }
    }
}

#[test]
fn cubic_without_reno_friendliness_is_slower_at_short_distance() {
    let window = cubic_window(&cubic(false), RTT, 3, 30.6);
    assert_within("mean window", window, 30.6, 0.08);
}

/// A Reno flow over a tail-drop buffer of `buffer` packets.
fn tail_drop(buffer: u32) -> Path {
    // 12 Mb/s, 100 ms: a bandwidth-delay product of 100 segments.
    let shape = Shape { service: Span::from_ms(1), propagation: RTT / 2 };
    let mut path = Path::new(&reno(), shape, Box::new(|_, _| Fate::Pass));
    path.keep_rows = false;
    path.keep_events = false;
    path.buffer = buffer as usize;
    path.run(u64::MAX, Instant::ZERO);
    path
}

#[test]
fn slow_start_overshoots_by_buffer_and_bandwidth_delay_product() {
    for (buffer, reference) in [(50, 124.0), (100, 202.0), (1000, 1102.0)] {
        let mut path = tail_drop(buffer);
        let mut until = Instant::ZERO;
        while path.dropped == 0 {
            until += RTT;
            path.go_on(until);
        }
        // The sender notices one round trip later, through the full buffer.
        path.go_on(until + RTT + Span::from_ms(u64::from(buffer)));
        let drops = path.dropped as f64;
        assert_within("drops", drops, f64::from(buffer) + 100.0, 0.3);
        assert_within("drops", drops, reference, 0.15);
    }
}

/// Utilisation of the link from 100 s to 400 s.
fn utilisation(buffer: u32) -> f64 {
    let mut path = tail_drop(buffer);
    path.go_on(Instant::from_s(100));
    let first = path.server().snapshot().delivered;
    path.go_on(Instant::from_s(400));
    let segments = (path.server().snapshot().delivered - first) / 1448;
    segments as f64 / 300_000.0
}

#[test]
fn a_single_reno_flow_fills_a_link_with_one_bandwidth_delay_product_of_buffer() {
    let (full, half) = (utilisation(100), utilisation(50));
    assert!(full >= 0.99, "utilisation {full:.3}");
    assert!((half - 0.956).abs() <= 0.015, "utilisation {half:.3}");
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "expected windows are small and positive")]
fn whole(window: f64) -> u32 {
    window as u32
}
