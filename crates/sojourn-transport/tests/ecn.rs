//! Responses of stacks to marks, seen from outside: the echo of DCTCP's receiver, AccECN's count, and the windows and
//! rates under marks at a known rate.
//!
//! Source: RFC 8257 section 3.2; RFC 9768 section 3.2.2.5.1; Alizadeh, Javanmard and Prabhakar, "Analysis of DCTCP", 2011 (2/p).

use crate::path::{End, Fate, Path, Shape, ms};
use sojourn_base::{Ecn, Instant, Span};
use sojourn_transport::StackConfig;
use sojourn_transport::config::{AckPolicy, ControllerConfig, DctcpConfig, EcnMode, GrowthGate, Pacing};
use sojourn_transport::{Flags, Segment};
use std::cell::RefCell;
use std::rc::Rc;

/// Mean window of a flow over a path of 20 ms of which every `period`-th data segment is marked, or each with the
/// chance of one in `period`.
fn mean_window(grows_while_reduced: bool, period: u64, random: bool) -> f64 {
    let config = StackConfig {
        controller: ControllerConfig::from(DctcpConfig { grows_while_reduced, ..DctcpConfig::BASE }),
        acknowledge: AckPolicy { every: 1, ..StackConfig::DCTCP.acknowledge },
        growth_gate: GrowthGate::Near,
        ..StackConfig::DCTCP
    };
    let (mut count, mut draws) = (0_u64, 1_u64);
    let judge = move |end, segment: &Segment| {
        if end == End::Server || segment.payload == 0 {
            return Fate::Pass;
        }
        count += 1;
        draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let marked = if random { (draws >> 33) % period == 0 } else { count % period == 0 };
        if marked { Fate::Mark } else { Fate::Pass }
    };
    // 100 Gb/s keeps segments in order without adding any delay.
    let shape = Shape { service: Span::from_ns(120), propagation: Span::from_ms(10) };
    let mut path = Path::new(&config, shape, Box::new(judge));
    path.keep_rows = false;
    path.keep_events = false;
    path.run(u64::MAX, Instant::from_s(5));
    let (mut sum, mut samples) = (0.0, 0.0);
    for at in (5000..65_000).step_by(7) {
        path.go_on(Instant::from_ms(at));
        sum += path.client().congestion().window;
        samples += 1.0;
    }
    assert_eq!(path.client().statistics().loss_reductions, 0);
    sum / samples
}

#[test]
fn regular_marks_leave_a_window_of_two_periods() {
    // (period, 2/p law with growth throughout.)
    for period in [10, 20, 50, 100] {
        let window = mean_window(true, period, false);
        let law = 2.0 * period as f64;
        assert!((window / law - 1.0).abs() < 0.05, "{period}: {window}");
    }
}

#[test]
fn random_marks_leave_what_the_reference_model_says() {
    for (grows, factor) in [(true, 2.73), (false, 1.41)] {
        for period in [50, 100] {
            let window = mean_window(grows, period, true);
            let law = factor * period as f64;
            assert!((window / law - 1.0).abs() < 0.05, "{grows}, {period}: {window}, not {law}");
        }
    }
}

/// Returns the server's acknowledgements, with time in ms and echo, when the data segments of `marked` are marked.
fn acknowledgements(marked: &'static [u32]) -> Vec<(u32, bool)> {
    let config = StackConfig {
        initial_window: 8,
        acknowledge: AckPolicy { quick: 0, ..StackConfig::DCTCP.acknowledge },
        ..StackConfig::DCTCP
    };
    let log = Rc::new(RefCell::new(Vec::new()));
    let writer = Rc::clone(&log);
    let judge = move |end, segment: &Segment| {
        if end == End::Server && segment.is_pure_ack() {
            let echo = segment.flags.has(Flags::ECE);
            writer.borrow_mut().push((segment.acknowledgement, echo));
        }
        if end == End::Client && segment.payload > 0 {
            assert_eq!(segment.ecn, Ecn::Ect0);
            if marked.contains(&segment.sequence) {
                return Fate::Mark;
            }
        }
        Fate::Pass
    };
    let mut path = Path::new(&config, Shape::P1, Box::new(judge));
    path.run(8 * 1448, Instant::from_s(1));
    assert!(ms(path.now) > 0.0);
    drop(path);
    Rc::into_inner(log).expect("the path is gone").into_inner()
}

#[test]
fn a_change_of_marks_is_reported_at_once_with_the_old_echo() {
    assert_eq!(acknowledgements(&[]), [(2, false), (4, false), (6, false), (8, false)]);
    // Segment 3 is marked: what came before it is acknowledged without the echo, itself with it.
    assert_eq!(acknowledgements(&[3]), [(2, false), (3, false), (4, true), (6, false), (8, false)]);
    // Segments 2 to 4: two are acknowledged together, the third alone when an unmarked one follows.
    assert_eq!(acknowledgements(&[2, 3, 4]), [(2, false), (4, true), (5, true), (7, false), (8, false)]);
}

#[test]
fn the_sender_counts_marked_bytes_and_confirms_its_reductions() {
    assert_eq!(StackConfig::DCTCP.ecn, EcnMode::Dctcp);
    let judge = |end, segment: &Segment| {
        let at = ms(segment.sent_at);
        if end == End::Client && segment.payload > 0 && (300.0..350.0).contains(&at) { Fate::Mark } else { Fate::Pass }
    };
    let mut path = Path::new(&StackConfig::DCTCP, Shape::P1, Box::new(judge));
    path.run(1_500_000, Instant::from_s(60));
    let statistics = *path.client().statistics();
    assert_eq!(statistics.mark_reductions, 1, "one window was marked");
    assert_eq!(statistics.retransmissions(), 0);
    assert_eq!(path.server().snapshot().delivered, 1_500_000);
}

/// Rate in Mb/s of a flow of TCP Prague over a path of `ms` of which every `period`-th data segment is marked, or each
/// with the chance of one in `period`.
fn rate_of_prague(period: u64, ms: u64, random: bool, exact: bool) -> f64 {
    let config = StackConfig {
        acknowledge: AckPolicy { every: 1, ..StackConfig::PRAGUE.acknowledge },
        accecn_option: exact,
        ..StackConfig::PRAGUE
    };
    let (mut count, mut draws) = (0_u64, 1_u64);
    let judge = move |end, segment: &Segment| {
        if end == End::Server || segment.payload == 0 {
            return Fate::Pass;
        }
        count += 1;
        draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let counted = if random { draws >> 33 } else { count };
        if counted % period == 0 { Fate::Mark } else { Fate::Pass }
    };
    let shape = Shape { service: Span::from_ns(120), propagation: Span::from_ms(ms) / 2 };
    let mut path = Path::new(&config, shape, Box::new(judge));
    path.keep_rows = false;
    path.keep_events = false;
    path.run(u64::MAX, Instant::from_s(10));
    let before = path.server().snapshot().delivered;
    path.go_on(Instant::from_s(40));
    assert_eq!(path.client().statistics().retransmissions(), 0);
    let segments = (path.server().snapshot().delivered - before) / 1448;
    segments as f64 * 1500.0 * 8.0 / 30.0 / 1e6
}

/// 2 (1/p - 1) segments of 1500 B per 25 ms, or per round trip if that is longer.
fn law_of_prague(period: u64, ms: u64) -> f64 {
    0.96 * (period - 1) as f64 * 25.0 / ms.max(25) as f64
}

#[test]
fn the_rate_of_prague_depends_on_marks_and_not_on_the_round_trip_up_to_25_ms() {
    for (period, ms) in [(20, 25), (100, 10), (100, 25), (100, 50)] {
        let (rate, law) = (rate_of_prague(period, ms, false, true), law_of_prague(period, ms));
        assert!((rate / law - 1.0).abs() < 0.05, "1/{period}, {ms} ms: {rate}, not {law}");
        // Three bits say as much where no acknowledgement is lost.
        let field = rate_of_prague(period, ms, false, false);
        assert!((field - rate).abs() < 1e-9, "{field}, not {rate}");
    }
}

#[test]
fn random_marks_leave_prague_a_third_more() {
    // The next answer waits for the first mark after 25 ms: 1.37 times what regular marks leave.
    for (period, ms) in [(50, 10), (100, 5), (100, 10), (100, 25)] {
        let (rate, law) = (rate_of_prague(period, ms, true, true), 1.37 * law_of_prague(period, ms));
        assert!((rate / law - 1.0).abs() < 0.1, "1/{period}, {ms} ms: {rate}, not {law}");
    }
}

/// Returns the server's acknowledgements, with its count of marks, when the data segments of `marked` are marked.
fn counts(marked: &'static [u32]) -> Vec<(u32, u16)> {
    let config = StackConfig {
        initial_window: 8,
        pacing: Pacing::Off,
        acknowledge: AckPolicy { quick: 0, every: 4, ..StackConfig::PRAGUE.acknowledge },
        controller: StackConfig::LINUX_RENO.controller,
        ..StackConfig::PRAGUE
    };
    let log = Rc::new(RefCell::new(Vec::new()));
    let writer = Rc::clone(&log);
    let judge = move |end, segment: &Segment| {
        assert_eq!(segment.ecn, Ecn::Ect1, "control packets, too");
        if end == End::Server && segment.is_pure_ack() {
            writer.borrow_mut().push((segment.acknowledgement, segment.marks));
        }
        if end == End::Client && segment.payload > 0 && marked.contains(&segment.sequence) {
            return Fate::Mark;
        }
        Fate::Pass
    };
    let mut path = Path::new(&config, Shape::P1, Box::new(judge));
    path.run(8 * 1448, Instant::from_s(1));
    drop(path);
    Rc::into_inner(log).expect("the path is gone").into_inner()
}

#[test]
fn the_first_mark_is_reported_at_once_and_then_each_second_one() {
    assert_eq!(counts(&[]), [(4, 5), (8, 5)]);
    // The change at segment 1 is reported at once; later ones wait for company.
    assert_eq!(counts(&[1]), [(2, 6), (6, 6), (8, 6)]);
    // Marks in a row: the first at once, then by twos.
    assert_eq!(counts(&[1, 2, 3, 4, 5]), [(2, 6), (4, 8), (6, 10), (8, 10)]);
}

#[test]
fn a_count_of_marks_survives_the_loss_of_acknowledgements() {
    // Every data segment of a window is marked, and of ten acknowledgements nine are lost.
    let mut acknowledgements = 0_u32;
    let judge = move |end, segment: &Segment| {
        if end == End::Server && segment.is_pure_ack() {
            acknowledgements += 1;
            return if acknowledgements.is_multiple_of(10) || acknowledgements < 20 { Fate::Pass } else { Fate::Drop };
        }
        let at = ms(segment.sent_at);
        if end == End::Client && segment.payload > 0 && (300.0..350.0).contains(&at) { Fate::Mark } else { Fate::Pass }
    };
    let mut path = Path::new(&StackConfig::PRAGUE, Shape::P1, Box::new(judge));
    path.run(1_500_000, Instant::from_s(60));
    let statistics = *path.client().statistics();
    assert!((1..=3).contains(&statistics.mark_reductions), "{statistics:?}");
    assert_eq!(path.server().snapshot().delivered, 1_500_000);
}
