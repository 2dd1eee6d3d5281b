//! Vectors by hand that involve time, packet by packet on one test path
//! (data take 1 ms of service and 50 ms of propagation, acknowledgements 50 ms). Handshake: SYN at 0,
//! data from 100 ms on. Vectors about a single mechanism are
//! tested beside their code.

#![expect(clippy::float_cmp, reason = "whole segments are exact")]

use crate::path::{End, Fate, Path, Shape, ms};
use sojourn_base::{Instant, Span};
use sojourn_transport::config::{
    AckPolicy, AckTimer, AckUnit, Avoidance, ConnectPolicy, ControllerConfig, GrowthGate, InitialThreshold,
    LossDetection, RecoveryMode, RenoConfig, SlowStart, StackConfig, TimeoutFormula,
};
use sojourn_transport::{CongestionState, Event};

/// Segments of 1460 B in packets of 1500 B, Reno with one acknowledgement per segment, SACK.
fn vector(initial_window: u32) -> StackConfig {
    StackConfig {
        maximum_segment_size: 1460,
        wire: StackConfig::NS2_LINUX_CUBIC.wire,
        connect: ConnectPolicy { timeout: Span::from_s(1), ..StackConfig::NS2_BSD_SACK.connect },
        initial_window,
        initial_threshold: InitialThreshold::Unlimited,
        controller: ControllerConfig::of(&RenoConfig { avoidance: Avoidance::PerAck }),
        slow_start: SlowStart::PerAck,
        acknowledge: StackConfig::NS2_LINUX_CUBIC.acknowledge,
        loss_detection: LossDetection::Sack6675,
        tail_loss_probe: false,
        recovery: RecoveryMode::Pipe,
        timeout: StackConfig::NS2_BSD_SACK.timeout,
        growth_gate: GrowthGate::Strict,
        ..StackConfig::LINUX_RENO
    }
}

fn run(config: &StackConfig, segments: u64, drops: &'static [(u32, u32)]) -> Path {
    let mut path = Path::with_drops(config, drops);
    path.run(segments * 1460, Instant::from_s(100));
    let total = segments * 1460;
    let delivered = path.server().snapshot().delivered;
    assert_eq!(delivered, total, "everything arrives");
    path
}

fn assert_time(got: f64, expected: f64) {
    assert!((got - expected).abs() < 6e-4, "at {got} ms, not {expected}");
}

fn assert_ends(path: &Path, last_byte: f64, last_ack: f64) {
    let (byte, ack) = path.ends_at();
    assert_time(byte, last_byte);
    assert_time(ack, last_ack);
}

fn assert_sends(path: &Path, expected: &[(f64, &[u32])]) {
    let sends = path.sends();
    for (at, numbers) in expected {
        let row = sends
            .iter()
            .find(|row| (row.0 - at).abs() < 6e-4)
            .unwrap_or_else(|| panic!("nothing was sent at {at}: {sends:?}"));
        assert_eq!(&row.1, numbers, "at {at}");
    }
}

#[test]
fn slow_start_without_losses() {
    let path = run(&vector(3), 10, &[]);
    assert_eq!(
        path.sends(),
        [(100.0, vec![0, 1, 2]), (201.0, vec![3, 4]), (202.0, vec![5, 6]), (203.0, vec![7, 8]), (302.0, vec![9]),]
    );
    for (ack, at, window) in [(1, 201.0, 4.0), (2, 202.0, 5.0), (3, 203.0, 6.0), (4, 302.0, 7.0)] {
        let row = path.row_of_ack(ack);
        assert_time(ms(row.at), at);
        assert!((row.after.window - window).abs() < 1e-12, "ack {ack}");
        assert_eq!(row.after.acknowledged, u64::from(ack) * 1460);
    }
    let arrivals: Vec<f64> = path.arrivals.iter().map(|&(at, _)| ms(at)).collect();
    assert_eq!(arrivals, [151.0, 152.0, 153.0, 252.0, 253.0, 254.0, 255.0, 256.0, 257.0, 353.0]);
    assert_ends(&path, 353.0, 403.0);
    for (at, bytes) in [(153.0, 4_380), (257.0, 13_140), (353.0, 14_600)] {
        let delivered = path.events[1].iter().rev().find_map(|&(when, event)| match event {
            Event::Delivered(total) if ms(when) <= at => Some(total),
            _ => None,
        });
        assert_eq!(delivered, Some(bytes), "delivered at {at}");
    }
    let sent = path.client().statistics().wire_bytes_sent;
    assert_eq!(sent, 10 * 1500 + 40 + 40, "data, SYN, ACK");
}

fn every_second(delay: u64) -> AckPolicy {
    AckPolicy { every: 2, unit: AckUnit::Segments, delay: Span::from_ms(delay), timer: AckTimer::OneShot, quick: 0 }
}

#[test]
fn every_second_segment_is_acknowledged() {
    for delay in [40, 200] {
        let path = run(&StackConfig { acknowledge: every_second(delay), ..vector(10) }, 10, &[]);
        assert_eq!(path.sends(), [(100.0, (0..10).collect())]);
        for (ack, at) in [(2, 202.0), (4, 204.0), (6, 206.0), (8, 208.0), (10, 210.0)] {
            assert_time(ms(path.row_of_ack(ack).at), at);
        }
        assert_ends(&path, 160.0, 210.0);
    }
}

#[test]
fn delayed_acknowledgements_with_byte_counting() {
    let path = run(
        &StackConfig { acknowledge: every_second(40), slow_start: SlowStart::Bytes { limit: 2 }, ..vector(3) },
        10,
        &[],
    );
    assert_eq!(
        path.sends(),
        [(100.0, vec![0, 1, 2]), (202.0, vec![3, 4, 5, 6]), (243.0, vec![7, 8]), (304.0, vec![9]),]
    );
    assert!((path.row_of_ack(2).after.window - 5.0).abs() < 1e-12);
    assert!((path.row_of_ack(3).after.window - 6.0).abs() < 1e-12);
    for (ack, at) in [(2, 202.0), (3, 243.0), (5, 304.0), (7, 306.0), (9, 345.0), (10, 445.0)] {
        assert_time(ms(path.row_of_ack(ack).at), at);
    }
    assert_ends(&path, 355.0, 445.0);
}

const BEFORE_RECOVERY: &[(f64, &[u32])] = &[
    (100.0, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
    (201.0, &[10, 11]),
    (202.0, &[12, 13]),
    (203.0, &[14, 15]),
    (204.0, &[16, 17]),
    (205.0, &[18]),
    (206.0, &[19]),
    (207.0, &[4]),
];

/// State after the acknowledgement at `at` ms.
fn after(path: &Path, at: f64) -> sojourn_transport::ConnectionSnapshot {
    path.rows
        .iter()
        .find(|row| (ms(row.at) - at).abs() < 6e-4)
        .unwrap_or_else(|| panic!("nothing happens at {at}"))
        .after
}

#[test]
fn one_loss_with_pipe() {
    let path = run(&vector(10), 40, &[(4, 1)]);
    assert_sends(&path, BEFORE_RECOVERY);
    let entry = after(&path, 207.0);
    assert_eq!((entry.window, entry.threshold), (7.0, 7.0));
    assert_eq!((entry.pipe, entry.state), (13, CongestionState::Recovery));
    assert_eq!(after(&path, 205.0).pipe, 14);
    assert_eq!(after(&path, 305.0).pipe, 7);
    let later: Vec<_> = path.sends().into_iter().filter(|row| row.0 > 207.5 && row.0 < 312.5).collect();
    assert_eq!(
        later,
        [
            (306.0, vec![20]),
            (307.0, vec![21]),
            (308.0, vec![22]),
            (309.0, vec![23]),
            (310.0, vec![24]),
            (311.0, vec![25]),
            (312.0, vec![26]),
        ]
    );
    let exit = path.row_of_ack(20);
    assert_time(ms(exit.at), 312.0);
    assert!((exit.after.window - 7.0).abs() < 1e-12);
    let first = path.row_of_ack(21);
    assert_time(ms(first.at), 407.0);
    assert!((first.after.window - 7.143).abs() < 1e-3);
    let seventh = path.row_of_ack(27);
    assert_time(ms(seventh.at), 413.0);
    // Seven times 1/cwnd, from 7: 7.1429, 7.2829, 7.4202, 7.5549, 7.6873, 7.8174, 7.9453.
    assert!((seventh.after.window - 7.9453).abs() < 1e-4);
    assert_ends(&path, 564.0, 614.0);
}

#[test]
fn one_loss_with_proportional_reduction() {
    let path = run(&StackConfig { recovery: RecoveryMode::Proportional, ..vector(10) }, 40, &[(4, 1)]);
    assert_sends(&path, BEFORE_RECOVERY);
    let later: Vec<_> = path.sends().into_iter().filter(|row| row.0 > 207.5 && row.0 < 312.5).collect();
    assert_eq!(
        later,
        [
            (209.0, vec![20]),
            (303.0, vec![21]),
            (305.0, vec![22]),
            (307.0, vec![23]),
            (310.0, vec![24]),
            (311.0, vec![25]),
            (312.0, vec![26]),
        ]
    );
    for (at, pipe) in [
        (207.0, 13),
        (208.0, 12),
        (209.0, 12),
        (302.0, 11),
        (303.0, 11),
        (304.0, 10),
        (305.0, 10),
        (306.0, 9),
        (307.0, 9),
        (308.0, 8),
        (309.0, 7),
        (310.0, 7),
        (311.0, 7),
    ] {
        assert_eq!(after(&path, at).pipe, pipe, "after sending at {at}");
    }
    assert_eq!(after(&path, 207.0).threshold, 7.0);
    assert!((after(&path, 312.0).window - 7.0).abs() < 1e-12);
    assert_ends(&path, 563.0, 613.0);
}

fn without_sack(recovery: RecoveryMode) -> StackConfig {
    StackConfig { loss_detection: LossDetection::ThreeDuplicates, recovery, ..vector(10) }
}

#[test]
fn inflation_sends_at_the_same_times_as_pipe() {
    let pipe = run(&vector(10), 40, &[(4, 1)]);
    for mode in [RecoveryMode::Reno, RecoveryMode::NewReno] {
        let path = run(&without_sack(mode), 40, &[(4, 1)]);
        assert_eq!(path.sends(), pipe.sends(), "{mode:?}");
        assert_ends(&path, 564.0, 614.0);
    }
}

const TWO: &[(u32, u32)] = &[(4, 1), (7, 1)];

fn assert_repairs(path: &Path, expected: &[(f64, u32)], exit: f64) {
    for &(at, number) in expected {
        let row = path
            .sends()
            .into_iter()
            .find(|row| row.1.contains(&number) && row.0 > 150.0)
            .unwrap_or_else(|| panic!("{number} is never repeated"));
        assert_time(row.0, at);
    }
    let open = path
        .rows
        .windows(2)
        .find(|rows| {
            rows[0].after.state == CongestionState::Recovery && rows[1].after.state != CongestionState::Recovery
        })
        .expect("recovery ends");
    assert_time(ms(open[1].at), exit);
}

#[test]
fn two_losses_with_sack_and_pipe() {
    let path = run(&vector(10), 40, TWO);
    assert_repairs(&path, &[(207.0, 4), (306.0, 7)], 407.0);
    assert_ends(&path, 565.0, 615.0);
}

#[test]
fn two_losses_with_proportional_reduction() {
    let config = StackConfig { recovery: RecoveryMode::Proportional, ..vector(10) };
    let path = run(&config, 40, TWO);
    assert_repairs(&path, &[(207.0, 4), (302.0, 7)], 403.0);
    assert_ends(&path, 564.0, 614.0);
}

#[test]
fn two_losses_with_new_reno() {
    let path = run(&without_sack(RecoveryMode::NewReno), 40, TWO);
    assert_repairs(&path, &[(207.0, 4), (312.0, 7)], 413.0);
    assert_ends(&path, 566.0, 616.0);
}

#[test]
fn two_losses_with_reno_end_in_a_timeout() {
    let path = run(&without_sack(RecoveryMode::Reno), 40, TWO);
    assert_repairs(&path, &[(207.0, 4), (512.0, 7)], 312.0);
    let timeout = path.rows.iter().find(|row| row.after.state == CongestionState::Loss).expect("a timeout");
    assert_time(ms(timeout.at), 512.0);
    assert_eq!((timeout.before.flight, timeout.before.window), (18, 7.0));
    assert_eq!((timeout.after.threshold, timeout.after.window), (3.0, 1.0));
    assert_ends(&path, 1068.0, 1118.0);
}

fn tail(formula: TimeoutFormula, minimum: u64, detection: LossDetection, probe: bool) -> StackConfig {
    let base = vector(10);
    StackConfig {
        loss_detection: detection,
        tail_loss_probe: probe,
        timeout: sojourn_transport::config::TimeoutPolicy { formula, minimum: Span::from_ms(minimum), ..base.timeout },
        ..base
    }
}

#[test]
fn a_lost_last_segment() {
    use LossDetection::{Rack, Sack6675};
    use TimeoutFormula::{Linux, Rfc6298};
    for (name, config, repair, last_byte) in [
        ("a1", tail(Rfc6298, 200, Sack6675, false), 409.0, 460.0),
        ("a2", tail(Rfc6298, 1000, Sack6675, false), 1209.0, 1260.0),
        ("a3", tail(Linux, 200, Sack6675, false), 513.105, 564.105),
        ("a4", tail(Linux, 200, Rack, true), 513.105, 564.105),
    ] {
        let path = run(&config, 10, &[(9, 1)]);
        assert_sends(&path, &[(repair, &[9])]);
        assert_ends(&path, last_byte, last_byte + 50.0);
        let row = after(&path, repair);
        let statistics = path.client().statistics();
        if name == "a4" {
            assert_eq!((row.state, statistics.timeouts), (CongestionState::Open, 0));
            assert!(row.window >= 10.0, "the probe keeps the window");
            assert_eq!(statistics.loss_reductions, 1, "one reduction for the repair");
        } else {
            assert_eq!((row.state, row.window), (CongestionState::Loss, 1.0));
            assert_eq!(statistics.loss_reductions, 0);
        }
    }
}

#[test]
fn two_lost_at_the_tail_without_a_probe() {
    let config = tail(TimeoutFormula::Linux, 200, LossDetection::Sack6675, false);
    let path = run(&config, 10, &[(8, 1), (9, 1)]);
    assert_sends(&path, &[(511.405, &[8]), (612.405, &[9])]);
    assert_ends(&path, 663.405, 713.405);
}

#[test]
fn a_probe_without_time_based_detection_makes_it_worse() {
    let config = tail(TimeoutFormula::Linux, 200, LossDetection::Sack6675, true);
    let path = run(&config, 10, &[(8, 1), (9, 1)]);
    assert_sends(&path, &[(414.811, &[9]), (718.216, &[8])]);
    assert_ends(&path, 769.216, 819.216);
}

#[test]
fn a_probe_with_time_based_detection() {
    let config = tail(TimeoutFormula::Linux, 200, LossDetection::Rack, true);
    let path = run(&config, 10, &[(8, 1), (9, 1)]);
    assert_sends(&path, &[(414.811, &[9]), (515.811, &[8])]);
    assert_eq!(after(&path, 515.811).state, CongestionState::Recovery);
    assert_ends(&path, 566.811, 616.811);
}

#[test]
fn a_lost_retransmission_waits_for_the_timeout() {
    let config = tail(TimeoutFormula::Rfc6298, 250, LossDetection::Sack6675, false);
    let path = run(&config, 40, &[(4, 1), (4, 2)]);
    let expected: [(f64, &[u32]); 18] = [
        (306.0, &[20]),
        (307.0, &[21]),
        (308.0, &[22]),
        (309.0, &[23]),
        (310.0, &[24]),
        (311.0, &[25]),
        (407.0, &[26]),
        (408.0, &[27]),
        (409.0, &[28]),
        (410.0, &[29]),
        (411.0, &[30]),
        (412.0, &[31]),
        (457.0, &[4]),
        (558.0, &[32, 33]),
        (659.0, &[34, 35]),
        (660.0, &[36]),
        (760.0, &[37]),
        (761.0, &[38]),
    ];
    let sends = path.sends();
    assert_sends(&path, &expected[..16]);
    assert!(sends.iter().all(|row| !(row.0 > 457.5 && row.0 < 557.5)), "SACKs at 508 to 513 send nothing");
    let timeout = path.rows.iter().find(|row| (ms(row.at) - 457.0).abs() < 1e-3).expect("the timeout");
    assert_eq!((timeout.before.flight, timeout.before.window), (28, 7.0));
    assert_eq!((timeout.after.threshold, timeout.after.window), (3.0, 1.0));
    assert!((after(&path, 558.0).window - 2.0).abs() < 1e-12);
    assert!((after(&path, 659.0).window - 3.0).abs() < 1e-12);
    assert!((after(&path, 660.0).window - 3.33).abs() < 0.01);
    assert_ends(&path, 813.0, 863.0);
}

#[test]
fn what_was_sacked_before_a_timeout_does_not_open_the_window_after_it() {
    let config = StackConfig {
        controller: ControllerConfig::of(&RenoConfig { avoidance: Avoidance::Bytes }),
        slow_start: SlowStart::Linux,
        ..tail(TimeoutFormula::Rfc6298, 250, LossDetection::Sack6675, false)
    };
    let path = run(&config, 40, &[(4, 1), (4, 2)]);
    // The repair of segment 4 is answered by an acknowledgement of 28 segments; one of them is news.
    let repaired = after(&path, 558.0);
    assert_eq!((repaired.window, repaired.threshold), (2.0, 3.0));
}

/// Times in s at which the client's SYNs leave if nothing ever answers, and the time of the failure.
fn attempts(config: &StackConfig, limit: u64) -> (Vec<u64>, Option<u64>) {
    let log = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let seen = std::rc::Rc::clone(&log);
    let judge = move |_: End, segment: &sojourn_transport::Segment| {
        seen.borrow_mut().push(segment.sent_at.as_ns() / 1_000_000_000);
        Fate::Drop
    };
    let mut path = Path::new(config, Shape::P1, Box::new(judge));
    path.run(1000, Instant::from_s(limit));
    let failure = path.events[0]
        .iter()
        .find(|(_, event)| *event == Event::ConnectFailed)
        .map(|(at, _)| at.as_ns() / 1_000_000_000);
    let times = log.borrow().clone();
    (times, failure)
}

#[test]
fn attempts_to_connect() {
    // White 2012 (4.3.2) lists nine attempts, shifted by 1 s: 1, 4, 10, 22, 46, 94, 154, 214, 274.
    let ns2 = (vec![0, 3, 9, 21, 45, 93, 153, 213, 273, 333], None);
    assert_eq!(attempts(&StackConfig::NS2_BSD_SACK, 340), ns2);
    let one_second = StackConfig {
        connect: ConnectPolicy { timeout: Span::from_s(1), ..StackConfig::NS2_BSD_SACK.connect },
        ..StackConfig::NS2_BSD_SACK
    };
    assert_eq!(attempts(&one_second, 250), (vec![0, 1, 3, 7, 15, 31, 63, 123, 183, 243], None));
    assert_eq!(attempts(&StackConfig::LINUX_CUBIC, 1000), (vec![0, 1, 3, 7, 15, 31, 63], Some(127)));
    assert_eq!(attempts(&StackConfig::NS3_2019, 1000), (vec![0, 3, 9, 21, 45, 93], Some(189)));
    // The one-way agent repeats its SYN as data, on the same schedule.
    assert_eq!(attempts(&StackConfig::NS2_RENO, 340), ns2);
}

#[test]
fn back_off_of_data() {
    // A round trip of 2 ms makes the timeout the minimum of 200 ms.
    let shape = Shape { service: Span::ZERO, propagation: Span::from_ms(1) };
    let log = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let seen = std::rc::Rc::clone(&log);
    let judge = move |end: End, segment: &sojourn_transport::Segment| {
        if end == End::Client && segment.payload > 0 {
            seen.borrow_mut().push(segment.sent_at);
            return Fate::Drop;
        }
        Fate::Pass
    };
    let mut path = Path::new(&vector(1), shape, Box::new(judge));
    path.run(1460, Instant::from_s(165));
    let times = log.borrow().clone();
    let waits: Vec<f64> = times[1..].iter().map(|at| (ms(*at) - ms(times[0])).round() / 1000.0).collect();
    assert_eq!(waits, [0.2, 0.6, 1.4, 3.0, 6.2, 12.6, 25.4, 51.0, 102.2, 162.2]);
}

#[test]
fn a_short_segment_is_acknowledged_at_the_heartbeat() {
    // Short segment sent so that it arrives at 237 ms; heartbeat every 100 ms.
    let shape = Shape { service: Span::ZERO, propagation: Span::from_ms(79) };
    let config = StackConfig { acknowledge: StackConfig::AKHTAR2013.acknowledge, ..vector(4) };
    let mut path = Path::new(&config, shape, Box::new(|_, _| Fate::Pass));
    path.run(500, Instant::from_s(10));
    assert_time(ms(path.arrivals[0].0), 237.0);
    assert_time(path.ends_at().1, 379.0);
    let mut path = Path::new(&config, shape, Box::new(|_, _| Fate::Pass));
    path.run(2 * 1460, Instant::from_s(10));
    assert_time(path.ends_at().1, 316.0);
}

#[test]
fn nagle_holds_the_last_short_segment_back() {
    // 25,000 B in segments of 1460 B: 17 full ones and one of 180 B.
    let shape = Shape { service: Span::ZERO, propagation: Span::from_ms(50) };
    for (nagle, round, last_byte) in [(true, 300, 350.0), (false, 200, 250.0)] {
        let config = StackConfig { nagle, nagle_fin_flush: false, ..vector(4) };
        let mut path = Path::new(&config, shape, Box::new(|_, _| Fate::Pass));
        path.run(25_000, Instant::from_s(10));
        // Times of the vector count from the first data, here at 100 ms.
        let mut rounds = std::collections::BTreeMap::<u64, Vec<u32>>::new();
        for row in &path.rows {
            rounds.entry((row.at.as_ns() / 1_000_000).saturating_sub(100)).or_default().extend(&row.sends);
        }
        let full = |at: u64| rounds[&at].iter().filter(|&&number| number < 17).count();
        assert_eq!((full(0), full(100), full(200)), (4, 8, 5), "nagle {nagle}");
        assert!(rounds[&round].contains(&17), "nagle {nagle}");
        assert_time(path.ends_at().0 - 100.0, last_byte);
        assert_eq!(path.server().snapshot().delivered, 25_000);
    }
}
