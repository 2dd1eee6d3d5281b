//! Differences between the named stacks, seen from outside: handshakes, first windows, small objects, repair of losses,
//! marks, pacing.
//!
//! Source: White 2012 section 4.3 (round trips of small objects); RFC 3168; the simulators that the studies used.

use crate::path::{End, Fate, Path, Shape, ms};
use sojourn_base::{Bytes, Ecn, Instant, Span};
use sojourn_transport::config::{EcnMode, InitialThreshold, Pace, Pacing, StackConfig};
use sojourn_transport::{Event, Flags, Segment};
use std::cell::RefCell;
use std::rc::Rc;

/// 100 ms without any service time: rounds are visible as multiples of 100 ms.
const ROUNDS: Shape = Shape { service: Span::ZERO, propagation: Span::from_ms(50) };

fn clean(config: &StackConfig, shape: Shape) -> Path {
    Path::new(config, shape, Box::new(|_, _| Fate::Pass))
}

/// Everything the client sends, as (ms, number, length, flags).
type Log = Rc<RefCell<Vec<Segment>>>;

fn logged(config: &StackConfig, shape: Shape, fate: impl Fn(&Segment) -> Fate + 'static) -> (Path, Log) {
    let log = Log::default();
    let writer = Rc::clone(&log);
    let judge = move |end, segment: &Segment| {
        if end == End::Client {
            writer.borrow_mut().push(*segment);
            return fate(segment);
        }
        Fate::Pass
    };
    (Path::new(config, shape, Box::new(judge)), log)
}

#[test]
fn the_first_window_of_ns2_linux_leaves_with_its_syn() {
    let (mut path, log) = logged(&StackConfig::NS2_LINUX_CUBIC, ROUNDS, |_| Fate::Pass);
    path.run(u64::MAX, Instant::from_ms(99));
    let first: Vec<(u32, u32)> = log.borrow().iter().map(|segment| (segment.sequence, segment.length)).collect();
    assert_eq!(first, [(0, 40), (1, 1500), (2, 1500), (3, 1500)]);
    assert!(log.borrow()[0].flags.has(Flags::SYN));
    assert_eq!(path.events[0], [(Instant::ZERO, Event::Connected)]);
    // One acknowledgement of 40 B per packet, two new segments for each.
    path.go_on(Instant::from_ms(100));
    assert_eq!(log.borrow().len(), 12);
    assert_eq!(path.server().statistics().wire_bytes_sent, 4 * 40);
}

#[test]
fn ns2_reno_waits_for_the_acknowledgement_of_its_syn() {
    let (mut path, log) = logged(&StackConfig::NS2_RENO, ROUNDS, |_| Fate::Pass);
    path.run(u64::MAX, Instant::from_ms(99));
    assert_eq!(log.borrow().len(), 1);
    path.go_on(Instant::from_ms(100));
    let numbers: Vec<u32> = log.borrow().iter().map(|segment| segment.sequence).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4], "a window of four segments");
}

/// Round trips from the SYN to the last byte of an object of `bytes` that a request of 100 B fetches.
fn rounds(config: &StackConfig, bytes: u64) -> f64 {
    let mut path = clean(config, ROUNDS);
    path.to_answer = bytes;
    path.answer_after = 100;
    path.run(100, Instant::from_s(10));
    assert_eq!(path.client().snapshot().delivered, bytes);
    let last = path.events[0].iter().rfind(|(_, event)| matches!(event, Event::Delivered(_))).expect("an object");
    ms(last.0) / 100.0
}

#[test]
fn objects_of_white_2012_take_the_round_trips_that_its_page_load_times_imply() {
    // Worked out by hand: (initial window, Nagle) -> round trips that 25,000 B and 102,400 B take.
    for (initial_window, nagle, object, page) in
        [(4, false, 4.0, 6.0), (4, true, 5.0, 7.0), (2, false, 5.0, 7.0), (10, false, 3.0, 5.0)]
    {
        let config = StackConfig { initial_window, nagle, ..StackConfig::NS2_BSD_SACK };
        let got = (rounds(&config, 25_000), rounds(&config, 102_400));
        let what = format!("initial window {initial_window}, Nagle {nagle}: {got:?}");
        assert!((got.0 - object).abs() < 1e-9, "{what}");
        assert!((got.1 - page).abs() < 1e-9, "{what}");
    }
}

#[test]
fn ns3_stalls_on_the_first_segment_of_a_transfer() {
    // One segment, then 200 ms of delayed acknowledgement: 100 + 50 + 200 + 50 ms.
    let mut path = clean(&StackConfig::NS3_2019, ROUNDS);
    path.run(100_000, Instant::from_s(10));
    let sends = path.sends();
    assert_eq!(sends[0], (100.0, vec![0]));
    assert_eq!(sends[1], (400.0, vec![1, 2]));
}

#[test]
fn later_versions_of_the_ns3_simulator_send_ten_segments_at_once_and_pace_the_rest() {
    let config = StackConfig::by_name("docsis-ns3-1.2").expect("a profile");
    let mut path = clean(&config, ROUNDS);
    path.run(100_000, Instant::from_s(10));
    let sends = path.sends();
    assert_eq!(sends[0], (100.0, (0..10).collect()));
    // Acknowledgements of two segments each, all after 100 ms, open the window from 10 to 15; the rest of it leaves at
    // twice the window per round trip, the first after the first acknowledgement: 100 ms / (2 x 15).
    assert_eq!(sends[1].1.len(), 1);
    let gaps: Vec<f64> = sends[2..10].windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert!(sends[2..10].iter().all(|(_, numbers)| numbers.len() == 1), "{sends:?}");
    assert!(gaps.iter().all(|gap| (gap - 100.0 / 30.0).abs() < 1e-6), "{gaps:?}");
}

#[test]
fn the_ns3_stacks_keep_at_most_their_buffer_outstanding() {
    // 2,048,000 B are 1414 segments of 1448 B and a part of one; the window itself would go on to grow.
    for config in [StackConfig::NS3_2019, StackConfig::DOCSIS_NS3_1_2] {
        let mut path = clean(&config, ROUNDS);
        path.run(u64::MAX, Instant::from_s(5));
        let pipe = path.client().snapshot().pipe;
        assert_eq!(pipe, 1414);
    }
}

#[test]
fn the_ns3_stacks_halve_what_is_in_the_network_without_the_lost() {
    // The first 40 of 100 segments bring 20 acknowledgements, which open the window to 120 and let 60 more leave. Of the
    // 120 outstanding 20 are lost; with three SACKed and two sent by limited transmit, 122 - 20 - 3 = 99 are in the network.
    // RFC 6675 would halve 120.
    let config = StackConfig { initial_window: 100, ..StackConfig::NS3_2019 };
    let (mut path, _) = logged(&config, ROUNDS, |segment| {
        let lost = segment.payload > 0 && (40..60).contains(&segment.sequence);
        if lost && segment.sent_at < Instant::from_ms(150) { Fate::Drop } else { Fate::Pass }
    });
    path.run(u64::MAX, Instant::from_ms(201));
    let threshold = path.client().snapshot().threshold;
    assert!((threshold - 49.5).abs() < 1e-9, "{threshold}");
}

#[test]
fn sizes_on_the_wire() {
    for (name, syn, data, ack, one_block) in [
        ("ns2-linux-cubic", 40, 1500, 40, 48),
        ("ns2-bsd-sack", 50, 1500, 50, 60),
        ("akhtar2013", 40, 1500, 40, 50),
        ("linux-cubic", 60, 1500, 52, 64),
    ] {
        let config = StackConfig::by_name(name).expect("a profile");
        let acks = Rc::new(RefCell::new(Vec::new()));
        let seen = Rc::clone(&acks);
        let sizes = Rc::new(RefCell::new(Vec::new()));
        let sent = Rc::clone(&sizes);
        let mut is_lost = false;
        let judge = move |end, segment: &Segment| {
            if end == End::Client {
                sent.borrow_mut().push(segment.length);
                if segment.payload > 0 && segment.sequence == 2 && !is_lost {
                    is_lost = true;
                    return Fate::Drop;
                }
            } else if segment.is_pure_ack() {
                seen.borrow_mut().push((segment.sack.len(), segment.length));
            }
            Fate::Pass
        };
        let mut path = Path::new(&config, Shape::P1, Box::new(judge));
        path.run(100_000, Instant::from_s(10));
        assert_eq!(sizes.borrow()[0], syn, "{name}: SYN");
        assert!(sizes.borrow().contains(&data), "{name}: data");
        assert!(acks.borrow().contains(&(0, ack)), "{name}: ACK");
        assert!(acks.borrow().contains(&(1, one_block)), "{name}: SACK");
    }
}

/// Timeouts of a transfer of 200 full segments that loses the given copies.
fn timeouts(config: &StackConfig, drops: &'static [(u32, u32)]) -> u64 {
    let mut path = Path::with_drops(config, drops);
    let bytes = 200 * u64::from(config.maximum_segment_size);
    path.run(bytes, Instant::from_s(100));
    assert_eq!(path.server().snapshot().delivered, bytes);
    path.client().statistics().timeouts
}

#[test]
fn only_some_stacks_notice_a_lost_retransmission() {
    const TWICE: &[(u32, u32)] = &[(40, 1), (40, 2)];
    for (name, expected) in [
        ("ns2-linux-cubic", 0),
        ("linux-cubic", 0),
        ("linux-reno", 0),
        ("ns3-2019", 1),
        ("ns2-reno", 1),
        ("ns2-bsd-sack", 1),
        ("bsd-reno", 1),
    ] {
        let config = StackConfig::by_name(name).expect("a profile");
        assert_eq!(timeouts(&config, TWICE), expected, "{name}");
    }
}

#[test]
fn three_losses_in_a_window_cost_only_the_stack_without_sack_a_timeout() {
    const THREE: &[(u32, u32)] = &[(40, 1), (43, 1), (47, 1)];
    for (name, config) in StackConfig::named() {
        let expected = u64::from(name == "ns2-reno");
        assert_eq!(timeouts(&config, THREE), expected, "{name}");
    }
}

#[test]
fn a_lost_syn_costs_its_timeout_and_some_stacks_their_first_window() {
    for (name, start, first) in
        [("ns2-bsd-sack", 3100, 4), ("ns2-reno", 3100, 1), ("ns3-2019", 3100, 1), ("linux-cubic", 1100, 10)]
    {
        let config = StackConfig::by_name(name).expect("a profile");
        let (path, log) = logged(&config, ROUNDS, |segment| {
            if segment.flags.has(Flags::SYN) && segment.sent_at == Instant::ZERO { Fate::Drop } else { Fate::Pass }
        });
        let mut path = path;
        path.run(u64::MAX, Instant::from_ms(start));
        let count = log
            .borrow()
            .iter()
            .filter(|segment| segment.payload > 0 && segment.sent_at == Instant::from_ms(start))
            .count();
        assert_eq!(count, first, "{name}");
    }
}

#[test]
fn idle_senders_restart_as_their_stack_says() {
    for (name, expected) in [
        ("ns2-linux-cubic", 4),
        ("ns2-reno", 1),
        ("ns2-bsd-sack", 4),
        ("akhtar2013", 10),
        ("ns3-2019", 100),
        ("bsd-reno", 10),
    ] {
        let config = StackConfig::by_name(name).expect("a profile");
        let mut path = clean(&config, ROUNDS);
        path.run(300 * u64::from(config.maximum_segment_size), Instant::from_s(30));
        let before = path.client().snapshot().window;
        assert!(before >= 100.0, "{name}: {before}");
        path.now = Instant::from_s(40);
        path.call(End::Client, None, &mut |endpoint, now, context| {
            endpoint.write(now, 1_000_000, context);
        });
        let burst = path.rows.last().expect("a write").sends.len();
        if name == "ns3-2019" {
            assert!(burst >= expected, "{name}: {burst}");
        } else {
            assert_eq!(burst, expected, "{name}");
        }
    }
}

#[test]
fn a_mark_reduces_the_window_once_per_round_trip_and_is_confirmed() {
    let config = StackConfig { ecn: EcnMode::Classic, ..StackConfig::LINUX_RENO };
    // All data first sent from 300 to 350 ms are marked: less than one round trip.
    let (mut path, log) = logged(&config, Shape::P1, |segment| {
        let at = ms(segment.sent_at);
        if segment.payload > 0 && (300.0..350.0).contains(&at) {
            assert_eq!(segment.ecn, Ecn::Ect0);
            Fate::Mark
        } else {
            Fate::Pass
        }
    });
    path.run(1_500_000, Instant::from_s(60));
    let statistics = path.client().statistics();
    assert_eq!((statistics.mark_reductions, statistics.loss_reductions), (1, 0));
    let marks = path.server().statistics().marks_received;
    assert!(marks > 1);
    // The echo lasts until the confirmation arrives.
    assert!(statistics.echoes_received > 1, "{statistics:?}");
    let confirmations = log.borrow().iter().filter(|segment| segment.flags.has(Flags::CWR)).count();
    assert_eq!(confirmations, 1);
    assert_eq!(path.server().snapshot().delivered, 1_500_000);
}

#[test]
fn a_lost_confirmation_does_not_hold_the_window_down() {
    let config = StackConfig { ecn: EcnMode::Classic, ..StackConfig::LINUX_RENO };
    // Marked for a while, then everything is lost, the confirmation as well: a timeout.
    let (mut path, _) = logged(&config, Shape::P1, |segment| match (segment.payload > 0, ms(segment.sent_at)) {
        (true, at) if (300.0..350.0).contains(&at) => Fate::Mark,
        (true, at) if (350.0..1200.0).contains(&at) => Fate::Drop,
        _ => Fate::Pass,
    });
    path.run(1_500_000, Instant::from_s(20));
    let statistics = path.client().statistics();
    assert!(statistics.timeouts > 0 && statistics.echoes_received > 0);
    // At one segment per round trip a thousand of them would take longer.
    assert_eq!(path.server().snapshot().delivered, 1_500_000);
}

#[test]
fn only_data_that_are_sent_for_the_first_time_may_be_marked() {
    // RFC 3168 sections 6.1.1, 6.1.4 and 6.1.5.
    let config = StackConfig { ecn: EcnMode::Classic, ..StackConfig::LINUX_RENO };
    let seen = Rc::new(RefCell::new(Vec::<(u32, bool, bool, Ecn)>::new()));
    let writer = Rc::clone(&seen);
    let mut is_lost = false;
    let judge = move |_, segment: &Segment| {
        let mut seen = writer.borrow_mut();
        let first = !seen.iter().any(|&(number, data, ..)| data && number == segment.sequence);
        seen.push((segment.sequence, segment.payload > 0, first, segment.ecn));
        if segment.payload > 0 && segment.sequence == 20 && !is_lost {
            is_lost = true;
            return Fate::Drop;
        }
        Fate::Pass
    };
    let mut path = Path::new(&config, Shape::P1, Box::new(judge));
    path.run(100_000, Instant::from_s(10));
    let seen = seen.borrow();
    assert!(seen.iter().any(|&(_, data, first, _)| data && !first), "a repetition");
    assert!(seen.iter().any(|&(_, data, ..)| !data), "SYNs and acknowledgements");
    for &(number, data, first, ecn) in seen.iter() {
        let capable = if data && first { Ecn::Ect0 } else { Ecn::NotEct };
        assert_eq!(ecn, capable, "{number}");
    }
}

#[test]
fn paced_segments_are_spread_over_the_round_trip() {
    let config = StackConfig {
        pacing: Pacing::On(Pace { slow_start_gain: 2.0, avoidance_gain: 1.2, quantum: 1, unpaced: 10 }),
        ..StackConfig::LINUX_RENO
    };
    let (mut path, log) = logged(&config, ROUNDS, |_| Fate::Pass);
    path.run(100_000, Instant::from_s(60));
    let times: Vec<f64> =
        log.borrow().iter().filter(|segment| segment.payload > 0).map(|segment| ms(segment.sent_at)).collect();
    assert!(times[..10].iter().all(|at| (at - 100.0).abs() < 1e-9));
    // 20 segments of the second round at twice the window per round trip: 100 ms / (2 x 20).
    let gaps: Vec<f64> = times[20..30].windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| (gap - 2.5).abs() < 0.3), "{gaps:?}");
    assert_eq!(path.server().snapshot().delivered, 100_000);
}

#[test]
fn a_segment_knows_since_when_its_data_waited() {
    let mut path = clean(&StackConfig::NS2_BSD_SACK, ROUNDS);
    path.run(10 * 1450, Instant::from_s(10));
    // Written at 100 ms; four leave at once, six a round trip later.
    let waits = [0, 0, 0, 0, 100, 100, 100, 100, 100, 100].map(Span::from_ms);
    assert_eq!(path.wishes.waits, waits);
}

#[test]
fn an_aborted_end_is_silent() {
    let mut path = clean(&StackConfig::LINUX_CUBIC, ROUNDS);
    path.to_answer = u64::MAX;
    path.run(1000, Instant::from_ms(400));
    let sent = path.sent[0];
    path.call(End::Client, None, &mut |endpoint, now, context| {
        endpoint.abort(now, context);
    });
    let events = path.events[0].len();
    path.go_on(Instant::from_s(5));
    assert_eq!((path.sent[0], path.events[0].len()), (sent, events));
    // The peer gives up in the end, without notice.
    path.go_on(Instant::from_s(3000));
    assert!(path.events[1].iter().any(|(_, event)| *event == Event::Aborted));
}

#[test]
fn the_last_segment_of_a_superpacket_is_acknowledged_at_once() {
    // Linux: PSH on the last of several segments, none on one that leaves alone (`__tcp_transmit_skb`); the receiver
    // answers it as soon as its application has read it (`tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`).
    let log = Rc::new(RefCell::new([Vec::<Segment>::new(), Vec::new()]));
    let writer = Rc::clone(&log);
    let judge = move |end, segment: &Segment| {
        writer.borrow_mut()[usize::from(end == End::Server)].push(*segment);
        Fate::Pass
    };
    let config = StackConfig { initial_threshold: InitialThreshold::Of(Bytes(29_000)), ..StackConfig::LINUX_6_RENO };
    let mut path = Path::new(&config, Shape::P1, Box::new(judge));
    path.run(u64::MAX, Instant::from_s(12));
    let [data, acks] = &*log.borrow();
    let data: Vec<&Segment> =
        data.iter().filter(|segment| segment.payload > 0 && segment.sent_at > Instant::from_s(6)).collect();
    let mut pairs = 0;
    for group in data.chunk_by(|one, next| one.sent_at == next.sent_at) {
        let pushed: Vec<bool> = group.iter().map(|segment| segment.flags.has(Flags::PSH)).collect();
        match pushed.as_slice() {
            [pushed] => assert!(!pushed),
            [first, second] => {
                assert!(!first && *second);
                pairs += 1;
            }
            _ => {}
        }
    }
    assert!(pairs > 1_000, "{pairs}");
    let answered: Vec<u32> = acks.iter().map(|ack| ack.acknowledgement).collect();
    let pushed: Vec<u32> =
        data.iter().filter(|segment| segment.flags.has(Flags::PSH)).map(|segment| segment.sequence + 1).collect();
    let known = pushed.iter().take(pushed.len() - 50);
    assert!(known.clone().all(|end| answered.contains(end)));
    let one_by_one = acks.windows(2).filter(|two| two[1].acknowledgement == two[0].acknowledgement + 1);
    assert!(one_by_one.filter(|two| two[0].sent_at > Instant::from_s(6)).count() > 10);
}
