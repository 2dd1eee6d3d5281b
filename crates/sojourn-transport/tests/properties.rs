//! Properties of every stack on every path that delivers in the end: all bytes once and in order, counters that agree
//! with their marks, and an end.

use crate::path::{End, Fate, Path, Shape};
use proptest::prelude::*;
use sojourn_base::{Instant, Span};
use sojourn_transport::config::{AckPolicy, ConnectPolicy, EcnMode, Pace, Pacing, StackConfig, TimeoutPolicy};
use sojourn_transport::{Endpoint, Event, Segment};

/// A stack that never gives up, so that only the path decides whether a connection ends.
fn persistent(config: StackConfig) -> StackConfig {
    StackConfig {
        connect: ConnectPolicy { attempts: None, ..config.connect },
        timeout: TimeoutPolicy { retries: u32::MAX, maximum: Span::from_s(2), ..config.timeout },
        receive_window: config.receive_window.min(200),
        ..config
    }
}

/// Per mille of packets that meet each fate, for the first `lasts` packets.
#[derive(Clone, Copy, Debug)]
struct Weather {
    seed: u64,
    drop: u64,
    repeat: u64,
    late: u64,
    mark: u64,
    lasts: u64,
}

fn weather() -> impl Strategy<Value = Weather> {
    (any::<u64>(), 0..150_u64, 0..50_u64, 0..100_u64, 0..50_u64, 0..1500_u64)
        .prop_map(|(seed, drop, repeat, late, mark, lasts)| Weather { seed: seed | 1, drop, repeat, late, mark, lasts })
}

impl Weather {
    fn judge(mut self) -> impl FnMut(End, &Segment) -> Fate {
        move |_, _| {
            self.lasts = self.lasts.saturating_sub(1);
            if self.lasts == 0 {
                return Fate::Pass;
            }
            // Xorshift: the tests' own dice.
            self.seed ^= self.seed << 13;
            self.seed ^= self.seed >> 7;
            self.seed ^= self.seed << 17;
            let roll = self.seed % 1000;
            let mut edge = self.drop;
            if roll < edge {
                return Fate::Drop;
            }
            edge += self.repeat;
            if roll < edge {
                return Fate::Repeat;
            }
            edge += self.late;
            if roll < edge {
                return Fate::Late(Span::from_us(100 + self.seed % 30_000));
            }
            edge += self.mark;
            if roll < edge { Fate::Mark } else { Fate::Pass }
        }
    }
}

fn shape() -> impl Strategy<Value = Shape> {
    (0..2000_u64, 0..40_u64).prop_map(|(service, propagation)| Shape {
        service: Span::from_us(service),
        propagation: Span::from_ms(propagation),
    })
}

/// One of the profiles, perhaps with pacing, other use of marks, or a window of few segments.
fn stack() -> impl Strategy<Value = (&'static str, StackConfig)> {
    (0..StackConfig::PROFILES.len(), any::<[bool; 3]>(), 0..6_usize, prop_oneof![Just(200_u32), 1..20_u32]).prop_map(
        |(index, [paced, option, nagle], ecn, window)| {
            let (name, config) = StackConfig::named().nth(index).expect("an index of one");
            let config = persistent(config);
            let pacing = Pace { slow_start_gain: 2.0, avoidance_gain: 1.2, quantum: 2, unpaced: 10 };
            (
                name,
                StackConfig {
                    pacing: if paced { Pacing::On(pacing) } else { Pacing::Off },
                    ecn: [
                        config.ecn,
                        EcnMode::Off,
                        EcnMode::Classic,
                        EcnMode::Dctcp,
                        EcnMode::Accurate,
                        EcnMode::AccurateL4s,
                    ][ecn],
                    accecn_option: option,
                    nagle,
                    receive_window: config.receive_window.min(window),
                    ..config
                },
            )
        },
    )
}

fn conversation(config: &StackConfig, shape: Shape, weather: Weather, bytes: [u64; 2]) -> Path {
    let mut path = Path::new(config, shape, Box::new(weather.judge()));
    path.keep_rows = false;
    path.close = true;
    path.to_answer = bytes[1];
    path.run(bytes[0], Instant::from_s(3600));
    path
}

fn check_end(path: &Path, end: usize, peer_bytes: u64) {
    let mut total = 0;
    let mut closed = 0;
    for (_, event) in &path.events[end] {
        match *event {
            Event::Delivered(bytes) => {
                assert!(bytes > total, "delivery goes forward");
                total = bytes;
            }
            Event::PeerClosed => assert_eq!(total, peer_bytes, "all is delivered before the end"),
            Event::Closed => closed += 1,
            Event::Aborted | Event::ConnectFailed => panic!("{event:?}"),
            Event::Connected | Event::Acknowledged(_) | Event::Early(..) => {}
        }
    }
    assert_eq!((total, closed), (peer_bytes, 1));
    assert!(path.ends[end].is_closed());
    let state = path.ends[end].snapshot();
    assert_eq!((state.pipe, state.flight), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_and_in_order_and_connections_end(
        (_name, config) in stack(),
        shape in shape(),
        weather in weather(),
        bytes in [1_u64..400_000, 0_u64..100_000],
    ) {
        let path = conversation(&config, shape, weather, bytes);
        check_end(&path, 1, bytes[0]);
        check_end(&path, 0, bytes[1]);
    }

    /// A deadline follows from an old transmission, a round trip and a cap; each may be anything.
    #[test]
    fn no_timer_is_armed_for_the_past(
        (_name, config) in stack(),
        shape in shape(),
        weather in weather(),
        [least, most, attempt, delay] in [1_u64..2_000_000, 1_000..200_000_u64, 1_000..3_000_000_u64, 1..500_000_u64],
        retries in 0..12_u32,
    ) {
        let (least, most) = (Span::from_us(least), Span::from_us(most));
        let config = StackConfig {
            timeout: TimeoutPolicy { minimum: least, maximum: most, retries, ..config.timeout },
            connect: ConnectPolicy {
                timeout: Span::from_us(attempt),
                maximum_timeout: Some(most),
                attempts: Some(3),
                ..config.connect
            },
            acknowledge: AckPolicy { delay: Span::from_us(delay), ..config.acknowledge },
            ..config
        };
        // The path asserts it of each call. With such caps a connection may be given up.
        let mut path = Path::new(&config, shape, Box::new(weather.judge()));
        path.keep_rows = false;
        path.buffer = 30;
        path.close = true;
        path.to_answer = 20_000;
        path.run(300_000, Instant::from_s(20));
    }

    #[test]
    fn packets_are_conserved_and_every_drop_is_repaired(
        (_name, config) in stack(),
        weather in weather(),
        bytes in 1_u64..300_000,
    ) {
        let weather = Weather { repeat: 0, ..weather };
        let lost = std::rc::Rc::new(std::cell::Cell::new(0_u64));
        let counter = std::rc::Rc::clone(&lost);
        let mut inner = weather.judge();
        let judge = move |end, segment: &Segment| {
            let fate = inner(end, segment);
            if fate == Fate::Drop && end == End::Client && segment.payload > 0 {
                counter.set(counter.get() + 1);
            }
            fate
        };
        let mut path = Path::new(&config, Shape::P1, Box::new(judge));
        path.keep_rows = false;
        path.close = true;
        path.run(bytes, Instant::from_s(3600));
        let (client, server) = (path.client().statistics(), path.server().statistics());
        prop_assert!(client.retransmissions() >= lost.get());
        prop_assert_eq!(
            path.sent[0] + path.sent[1],
            client.packets_received + server.packets_received + path.dropped
        );
        // Payload sent = payload delivered + what was lost or repeated.
        prop_assert!(client.payload_bytes_sent >= bytes);
    }

    #[test]
    fn a_reused_endpoint_behaves_like_a_new_one(
        (_, first) in stack(),
        (_, second) in stack(),
        weather in weather(),
    ) {
        let fresh = conversation(&second, Shape::P1, weather, [60_000, 5_000]);
        let used = conversation(&first, Shape::P1, Weather { seed: weather.seed | 5, ..weather }, [90_000, 9_000]);
        let mut again = Path::new(&second, Shape::P1, Box::new(weather.judge()));
        again.keep_rows = false;
        again.close = true;
        again.to_answer = 5_000;
        again.ends = used.ends;
        for end in &mut again.ends {
            end.reset(&second.into());
        }
        again.run(60_000, Instant::from_s(3600));
        prop_assert_eq!(&again.events, &fresh.events);
        prop_assert_eq!(&again.arrivals, &fresh.arrivals);
    }

    #[test]
    fn the_short_way_comes_to_the_same_as_the_long_one(
        (name, config) in stack(),
        shape in shape(),
        weather in weather(),
        bytes in [1_u64..400_000, 0_u64..100_000],
        buffer in prop_oneof![Just(usize::MAX), 3..60_usize],
    ) {
        let [short, long] = [true, false].map(|short| {
            let mut path = Path::new(&config, shape, Box::new(weather.judge()));
            if !short {
                path.ends.iter_mut().for_each(Endpoint::take_no_shortcuts);
            }
            (path.keep_rows, path.close, path.buffer) = (false, true, buffer);
            (path.to_answer, path.trace) = (bytes[1], Some(Vec::new()));
            path.run(bytes[0], Instant::from_s(3600));
            path
        });
        let (one, other) = (short.trace.expect("kept"), long.trace.expect("kept"));
        prop_assert_eq!(one.len(), other.len(), "{}", name);
        for (call, (one, other)) in one.iter().zip(&other).enumerate() {
            prop_assert_eq!(one, other, "{}, call {}", name, call);
        }
        for (one, other) in short.ends.iter().zip(&long.ends) {
            prop_assert_eq!(one.statistics(), other.statistics(), "{}", name);
        }
    }

    #[test]
    fn time_based_detection_needs_no_timeout_unless_a_whole_flight_is_lost(
        lost in proptest::collection::btree_set(1_u32..16, 1..15),
        offset in 0..5_u32,
        service in 0..1000_u64,
    ) {
        // One loss in five at most, and windows of two segments at least: some later segment, or the
        // probe, always arrives.
        let repaired = std::rc::Rc::new(std::cell::RefCell::new(std::collections::BTreeMap::new()));
        let judge = move |end, segment: &Segment| {
            let unlucky = segment.sequence % 5 == offset && lost.contains(&(segment.sequence / 5));
            if end == End::Server || segment.payload == 0 || !unlucky {
                return Fate::Pass;
            }
            let mut repaired = repaired.borrow_mut();
            let copies = repaired.entry(segment.sequence).or_insert(0);
            *copies += 1;
            if *copies == 1 { Fate::Drop } else { Fate::Pass }
        };
        let shape = Shape { service: Span::from_us(service), propagation: Span::from_ms(20) };
        let mut path = Path::new(&StackConfig::LINUX_RENO, shape, Box::new(judge));
        path.keep_rows = false;
        path.close = true;
        path.run(100 * 1448, Instant::from_s(60));
        prop_assert_eq!(path.client().statistics().timeouts, 0);
        prop_assert_eq!(path.server().snapshot().delivered, 100 * 1448);
    }
}

#[test]
fn nothing_is_ever_sent_beyond_the_window_of_the_peer() {
    for (name, config) in StackConfig::named() {
        let config = StackConfig { receive_window: 7, ..config };
        let mut path = Path::new(&config, Shape::P1, Box::new(|_, _| Fate::Pass));
        path.run(300_000, Instant::from_s(60));
        let largest = path.rows.iter().map(|row| row.after.flight).max();
        assert_eq!(largest, Some(7), "{name}");
        assert_eq!(path.server().snapshot().delivered, 300_000, "{name}");
    }
}
