//! Vectors: a packet of 1,000 B each 10 ms, acknowledged 100 ms later, unless a test says otherwise.

#![expect(clippy::float_cmp, reason = "clamped and untouched values are exact")]

use super::*;

const RATES: MediaRates = MediaRates { least: 1e5, most: 1e7, ramp_up: 2e5 };
const HERE: Received = Received { arrived_at: None, is_marked: false };
const MARKED: Received = Received { is_marked: true, ..HERE };

fn scream(is_scalable: bool) -> Scream {
    Scream::new(RATES, Bytes(1_000), false, is_scalable)
}

/// Sends `count` packets of 1,000 B at `ms`.
fn send(scream: &mut Scream, ms: u64, count: u64) {
    for _ in 0..count {
        scream.on_sent(Instant::from_ms(ms), 1_000);
    }
}

/// A report at `ms` says this of the packets from `first` on.
fn report(scream: &mut Scream, ms: u64, first: u64, packets: &[Option<Received>]) {
    scream.on_report(Instant::from_ms(ms), first, packets.iter().copied());
}

#[test]
fn the_window_begins_with_3000_bytes_and_a_packet_more_below_the_target() {
    let mut scream = scream(false);
    for _ in 0..4 {
        assert!(scream.may_send(1_000));
        send(&mut scream, 0, 1);
    }
    assert!(!scream.may_send(1_000));
}

#[test]
fn fast_increase_adds_what_was_acknowledged_if_the_window_was_used() {
    let mut scream = scream(false);
    send(&mut scream, 0, 3);
    report(&mut scream, 100, 0, &[Some(HERE); 3]);
    assert_eq!(scream.window, 6_000.0);
    // 1.5 · 2,000 + 1,000 are less than 6,000: the window is not used.
    send(&mut scream, 100, 2);
    report(&mut scream, 200, 3, &[Some(HERE)]);
    assert_eq!(scream.window, 6_000.0);
}

#[test]
fn the_pace_is_a_window_in_a_round_trip() {
    let mut scream = scream(false);
    let (_, wait) = scream.on_sent(Instant::ZERO, 1_000);
    assert!(wait.is_zero(), "before a round trip is known");
    send(&mut scream, 0, 2);
    report(&mut scream, 100, 0, &[Some(HERE); 3]);
    // 6,000 B in 100 ms: 480 kb/s; 1,000 B take a sixth of 100 ms.
    let (_, wait) = scream.on_sent(Instant::from_ms(100), 1_000);
    assert!((wait.as_secs_f64() - 0.1 / 6.0).abs() < 1e-9, "{wait}");
}

#[test]
fn a_loss_takes_a_fifth_once_in_a_round_trip_and_ends_fast_increase() {
    let mut scream = scream(false);
    scream.window = 20_000.0;
    scream.rates.on_loss(Instant::ZERO);
    send(&mut scream, 0, 12);
    report(&mut scream, 100, 0, &[Some(HERE), None, Some(HERE)]);
    assert_eq!(scream.window, 16_000.0);
    assert!(!scream.is_fast);
    // 50 ms later: another loss of the same round trip; the window grows by LEDBAT's rule, and may not exceed 1.1 times
    // the 12,000 B that were in flight.
    report(&mut scream, 150, 3, &[None, Some(HERE)]);
    assert!((scream.window - 13_200.0).abs() < 1e-9);
    report(&mut scream, 300, 5, &[None, Some(HERE)]);
    assert!((scream.window - 13_200.0 * 0.8).abs() < 1e-9);
}

#[test]
fn a_classic_mark_takes_a_tenth_of_window_and_rate() {
    let mut scream = scream(false);
    scream.window = 20_000.0;
    send(&mut scream, 0, 12);
    let target = scream.target();
    report(&mut scream, 100, 0, &[Some(MARKED), Some(HERE)]);
    assert_eq!(scream.window, 18_000.0);
    // The rate is at its least.
    assert_eq!(scream.target(), target);
}

#[test]
fn marks_of_l4s_take_half_of_their_share() {
    let mut scream = scream(true);
    scream.window = 20_000.0;
    send(&mut scream, 0, 12);
    // Half of the packets of the first round trip: a share of 1/16 · 1/2, and half of that off the window.
    report(&mut scream, 100, 0, &[Some(MARKED), Some(HERE)]);
    assert_eq!(scream.marked_share, 1.0 / 32.0);
    assert_eq!(scream.window, 20_000.0 * (1.0 - 1.0 / 64.0));
    // All of the second one.
    report(&mut scream, 201, 2, &[Some(MARKED); 4]);
    let share = 1.0 / 32.0 + (1.0 - 1.0 / 32.0) / 16.0;
    assert!((scream.marked_share - share).abs() < 1e-12);
}

#[test]
fn outside_fast_increase_the_window_moves_as_far_as_the_delay_is_from_its_target() {
    let mut scream = scream(false);
    scream.window = 10_000.0;
    scream.is_fast = false;
    send(&mut scream, 0, 10);
    let arrived = |ms| Some(Received { arrived_at: Some(Instant::from_ms(ms)), ..HERE });
    // The base: 50 ms. No delay in queues: 1 · 2,000 · 1,000 / 10,000 = 200 B more.
    report(&mut scream, 100, 0, &[Some(HERE), arrived(50)]);
    assert!((scream.window - 10_200.0).abs() < 1e-9, "{}", scream.window);
    // 200 ms in queues: -1 · 2,000 · 1,000 / 10,200.
    report(&mut scream, 300, 2, &[Some(HERE), arrived(250)]);
    let expected = 10_200.0 - 2e6 / 10_200.0;
    assert!((scream.window - expected).abs() < 1e-9, "{}", scream.window);
    // Above the target nothing may exceed the window: 6,000 B are in flight.
    assert!(scream.may_send(4_003) && !scream.may_send(4_004));
}

#[test]
fn fast_increase_resumes_after_five_seconds_of_calm() {
    let mut scream = scream(false);
    scream.window = 20_000.0;
    send(&mut scream, 0, 100);
    report(&mut scream, 100, 0, &[None, Some(HERE)]);
    assert!(!scream.is_fast);
    report(&mut scream, 300, 2, &[Some(HERE)]);
    report(&mut scream, 5_299, 3, &[Some(HERE)]);
    assert!(!scream.is_fast);
    report(&mut scream, 5_300, 4, &[Some(HERE)]);
    assert!(scream.is_fast);
}

#[test]
fn silence_empties_the_flight_and_begins_anew() {
    let mut scream = scream(false);
    scream.on_frame(Instant::ZERO, 3_000, (3_000, 0.0));
    send(&mut scream, 0, 4);
    scream.on_frame(Instant::from_ms(1_000), 1_000, (1_000, 0.0));
    assert!(!scream.may_send(1_000));
    scream.on_frame(Instant::from_ms(1_001), 1_000, (1_000, 0.0));
    assert!(scream.may_send(1_000));
    assert_eq!(scream.window, LEAST_WINDOW);
}

#[test]
fn the_window_bounds_the_rate_of_l4s() {
    let mut scream = scream(true);
    scream.rates.limits.least = 1e3;
    scream.rates.target = 5e6;
    send(&mut scream, 0, 3);
    report(&mut scream, 100, 0, &[Some(HERE); 3]);
    // 6,000 B in 100 ms, over 1.2.
    assert!((scream.target() - 4e5).abs() < 1e-6, "{}", scream.target());
    // A frame that has waited for 2.25 frames: 2/16 more.
    scream.on_frame(Instant::from_ms(100), 1_000, (1_000, 2.25));
    assert!((scream.margin - 0.125).abs() < 1e-12);
    scream.on_frame(Instant::from_ms(101), 1_000, (1_000, 0.0));
    assert!((scream.margin - 0.125 + 0.25 / 16.0).abs() < 1e-12);
    scream.on_frame(Instant::from_ms(102), 1_000, (1_000, 90.0));
    assert_eq!(scream.margin, 0.5);
}
