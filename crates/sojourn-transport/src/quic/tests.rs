//! Vectors by hand from RFC 9002, appendices A and B.

use super::Outlet;
use super::packet::AckFrame;
use super::receiver::Receiver;
use super::sender::Sender;
use crate::common::marks::FIRST_COUNT;
use crate::config::{ControllerConfig, EcnMode, GrowthGate, Pacing, PragueConfig, StackConfig};
use crate::{ConnectionStatistics, EndpointContext, Event, Flags, SackBlocks, Segment, SendTimes, Timer};
use sojourn_base::{Instant, Span};
use std::vec::Vec;

#[derive(Default)]
struct Wire {
    segments: Vec<Segment>,
    events: Vec<Event>,
}

impl EndpointContext for Wire {
    fn emit(&mut self, segment: &Segment, _: SendTimes) {
        self.segments.push(*segment);
    }
    fn arm(&mut self, _: Timer, _: Instant) {}
    fn notify(&mut self, event: Event) {
        self.events.push(event);
    }
}

/// A sender whose handshake is over, without a pacer unless its stack says so.
struct Bench {
    config: StackConfig,
    sender: Sender,
    receiver: Receiver,
    statistics: ConnectionStatistics,
    wire: Wire,
}

impl Bench {
    fn new(config: StackConfig) -> Self {
        let mut sender = Sender::new(&config);
        sender.establish(Instant::ZERO);
        Self {
            sender,
            receiver: Receiver::new(config.acknowledge),
            config,
            statistics: ConnectionStatistics::default(),
            wire: Wire::default(),
        }
    }

    fn unpaced() -> Self {
        Self::new(StackConfig { pacing: Pacing::Off, ..StackConfig::QUIC })
    }

    fn act<R>(&mut self, act: impl FnOnce(&mut Sender, &mut Outlet<'_, Wire>) -> R) -> R {
        let mut out = Outlet {
            context: &mut self.wire,
            receiver: &mut self.receiver,
            config: &self.config,
            statistics: &mut self.statistics,
        };
        act(&mut self.sender, &mut out)
    }

    /// Full packets are written; returns the numbers and offsets of what left.
    fn write(&mut self, ms: u64, packets: u64) -> Vec<(u32, u32)> {
        let bytes = packets * u64::from(self.config.maximum_segment_size);
        self.sender.stream.write(Instant::from_ms(ms), bytes);
        self.act(|sender, out| sender.transmit(Instant::from_ms(ms), out));
        self.sent()
    }

    /// An ACK frame with these ranges, the highest first.
    fn ack(&mut self, ms: u64, ranges: &[(u32, u32)]) -> Vec<(u32, u32)> {
        self.ack_with(ms, ranges, 0)
    }

    /// The same with `marks` packets marked so far.
    fn ack_with(&mut self, ms: u64, ranges: &[(u32, u32)], marks: u16) -> Vec<(u32, u32)> {
        let now = Instant::from_ms(ms);
        self.act(|sender, out| sender.on_ack(now, &frame(ranges, marks), out));
        assert!(self.sender.is_consistent());
        self.sent()
    }

    fn timer(&mut self, ms: u64) -> Vec<(u32, u32)> {
        self.act(|sender, out| sender.on_timer(Instant::from_ms(ms), out));
        assert!(self.sender.is_consistent());
        self.sent()
    }

    /// Numbers and offsets, in packets.
    fn sent(&mut self) -> Vec<(u32, u32)> {
        let full = self.config.maximum_segment_size;
        let segments = self.wire.segments.drain(..);
        segments.map(|sent| (sent.sequence, sent.acknowledgement / full)).collect()
    }

    fn window(&self) -> f64 {
        self.sender.control.window().size
    }

    fn deadline(&self) -> Span {
        self.sender.deadline(&self.config).saturating_since(Instant::ZERO)
    }
}

/// An ACK frame without delay.
fn frame(ranges: &[(u32, u32)], marks: u16) -> AckFrame {
    let mut blocks = SackBlocks::NONE;
    for &(first, end) in ranges {
        blocks.push(first, end);
    }
    AckFrame { ranges: blocks, delay: Span::ZERO, one_way_delay: Span::ZERO, ce_count: FIRST_COUNT + marks }
}

/// `n` and its content, the same for packets that are sent in order for the first time.
fn both(numbers: core::ops::Range<u32>) -> Vec<(u32, u32)> {
    numbers.map(|number| (number, number)).collect()
}

#[test]
fn a_packet_is_lost_when_the_third_after_it_is_acknowledged_and_what_it_carried_gets_a_new_number() {
    let mut bench = Bench::unpaced();
    assert_eq!(bench.write(0, 20), both(0..10));
    // 2 is acknowledged: 0 and 1 are less than three packets before it.
    assert_eq!(bench.ack(100, &[(2, 3)]), both(10..12));
    assert_eq!(bench.statistics.loss_reductions, 0);
    // 3: packet 0 is lost; its content leaves as packet 12, whatever the window says.
    assert_eq!(bench.ack(101, &[(2, 4)]), [(12, 0)]);
    assert_eq!((bench.statistics.loss_reductions, bench.statistics.fast_retransmissions), (1, 1));
    // 4: packet 1 is lost; the window of five is full.
    assert_eq!(bench.ack(102, &[(2, 5)]), []);
    assert_eq!(bench.sender.waiting_again(), 1);
}

#[test]
fn a_packet_is_lost_when_nine_eighths_of_a_round_trip_have_passed_since_it_was_sent() {
    let mut bench = Bench::unpaced();
    bench.write(0, 2);
    // Round trip 80 ms: packet 0 is lost 90 ms after it was sent.
    assert_eq!(bench.ack(80, &[(1, 2)]), []);
    assert_eq!(bench.deadline(), Span::from_ms(90));
    assert_eq!(bench.timer(89), []);
    assert_eq!(bench.timer(90), [(2, 0)]);
    assert_eq!(bench.statistics.loss_reductions, 1);
}

#[test]
fn probes_leave_after_the_probe_timeout_which_doubles_and_reduce_no_window() {
    let mut bench = Bench::unpaced();
    bench.write(0, 1);
    // Without a sample 333 ms + 4 x 166.5 ms = 999 ms (section 6.2.2).
    assert_eq!(bench.deadline(), Span::from_ms(999));
    bench.ack(100, &[(0, 1)]);
    assert_eq!(bench.sender.deadline(&bench.config), Instant::NEVER);
    // Now smoothed 100 ms, variation 50 ms: 100 + 4 x 50 + max_ack_delay of 25 ms.
    assert_eq!(bench.write(200, 3), both(1..4));
    assert_eq!(bench.deadline(), Span::from_ms(525));
    // Nothing new: what has been outstanding longest goes again, in packets of their own (section 6.2.4).
    assert_eq!(bench.timer(525), [(4, 1), (5, 2)]);
    assert_eq!(bench.deadline(), Span::from_ms(525 + 650));
    // New data are preferred.
    bench.sender.stream.write(Instant::from_ms(600), 1437);
    assert_eq!(bench.timer(525 + 650), [(6, 4), (7, 2)]);
    assert_eq!(bench.deadline(), Span::from_ms(525 + 650 + 1300));
    assert!(bench.window() >= 10.0);
    // The probes are acknowledged: what they have repeated is not sent once more when it is found lost.
    assert_eq!(bench.ack(1300, &[(4, 8)]), [(8, 3)]);
    assert_eq!(bench.sender.expiries, 0);
    assert_eq!(bench.wire.events, [Event::Acknowledged(1437), Event::Acknowledged(3 * 1437)]);
}

#[test]
fn the_window_doubles_halves_once_per_round_trip_and_grows_by_one_packet_for_each_window() {
    let mut bench = Bench::unpaced();
    bench.write(0, 1000);
    // Slow start (appendix B.5): as many packets more as are acknowledged.
    bench.ack(100, &[(0, 10)]);
    assert!((bench.window() - 20.0).abs() < 1e-9);
    // Packets 10 to 29 are out. 10 is lost: half of the window that 13 to 15 have made 20 (appendix B.6).
    bench.ack(200, &[(11, 14), (0, 10)]);
    assert!((bench.window() - 10.0).abs() < 1e-9, "{}", bench.window());
    // Losses and acknowledgements of what was sent before change nothing (section 7.3.2).
    bench.ack(205, &[(15, 30), (11, 14)]);
    assert!((bench.window() - 10.0).abs() < 1e-9);
    assert_eq!(bench.statistics.loss_reductions, 1);
    // Recovery ends with a packet sent in it; five of the window of ten open it by half a packet (section 7.3.3).
    assert_eq!(bench.ack(310, &[(30, 36)]).first(), Some(&(40, 38)));
    assert!((bench.window() - 10.5).abs() < 1e-9, "{}", bench.window());
}

#[test]
fn marks_halve_the_window_once_per_round_trip() {
    let mut bench = Bench::new(StackConfig { pacing: Pacing::Off, ecn: EcnMode::Accurate, ..StackConfig::QUIC });
    bench.write(0, 1000);
    bench.ack_with(100, &[(0, 5)], 1);
    assert!((bench.window() - 5.0).abs() < 1e-9);
    bench.ack_with(101, &[(0, 10)], 2);
    assert!((bench.window() - 5.0).abs() < 1e-9);
    assert_eq!(bench.statistics.mark_reductions, 1);
}

#[test]
fn a_scalable_controller_is_told_of_each_mark() {
    let mut bench = Bench::new(StackConfig {
        pacing: Pacing::Off,
        ecn: EcnMode::AccurateL4s,
        controller: ControllerConfig::of(&PragueConfig::BASE),
        ..StackConfig::QUIC
    });
    bench.write(0, 1000);
    bench.ack_with(100, &[(0, 10)], 2);
    // The first mark halves; eight of ten unmarked packets had opened the window before or do so after it.
    assert_eq!(bench.statistics.mark_reductions, 1);
    assert!(bench.window() > 5.0 && bench.window() < 14.0, "{}", bench.window());
}

#[test]
fn persistent_congestion_is_declared_as_in_the_example() {
    // Section 7.6.3: a probe timeout of 2 s: smoothed 200 ms + 4 x 100 ms + max_ack_delay of 1.4 s.
    let mut bench = Bench::unpaced();
    bench.config.acknowledge.delay = Span::from_ms(1400);
    let earlier = Instant::ZERO;
    bench.sender.round_trip.sample(earlier, Span::from_ms(200), Span::ZERO);
    // The packets of the example are 1 to 9 there, one less here; they leave from second 10 on.
    for (number, second) in [(0, 10), (1, 11)] {
        assert_eq!(bench.write(second * 1000, 1), both(number..number + 1));
    }
    assert_eq!(bench.ack(11_200, &[(0, 1)]), []);
    bench.sender.round_trip = super::rtt::Estimator::default();
    bench.sender.round_trip.sample(earlier, Span::from_ms(200), Span::ZERO);
    for (number, second) in [(2, 12), (3, 13), (4, 14), (5, 15), (6, 16)] {
        assert_eq!(bench.write(second * 1000, 1), both(number..number + 1));
    }
    assert_eq!(bench.deadline(), Span::from_s(18));
    // Each probe timeout sends two packets here, and one in the example: the second one is new data or the next oldest.
    assert_eq!(bench.timer(18_000), [(7, 1), (8, 2)]);
    assert_eq!(bench.deadline(), Span::from_s(22));
    assert_eq!(bench.timer(22_000), [(9, 1), (10, 2)]);
    // From second 11 to 18 all are lost: 7 s are more than 3 x 2 s.
    bench.ack(22_200, &[(9, 11)]);
    assert_eq!(bench.statistics.timeouts, 1);
    assert!((bench.window() - 2.0).abs() < 1e-9);
}

#[test]
fn congestion_is_not_persistent_if_a_packet_in_between_was_acknowledged() {
    let mut bench = Bench::unpaced();
    bench.config.acknowledge.delay = Span::from_ms(1400);
    bench.sender.round_trip.sample(Instant::ZERO, Span::from_ms(200), Span::ZERO);
    for second in 10..20 {
        bench.write(second * 1000, 1);
    }
    // The sixth of ten arrived: neither five seconds before it nor three after it are more than six.
    bench.act(|sender, out| {
        sender.on_ack(Instant::from_ms(19_200), &frame(&[(9, 10), (5, 6)], 0), out);
    });
    assert_eq!((bench.statistics.timeouts, bench.statistics.loss_reductions), (0, 1));
}

#[test]
fn packets_are_spread_over_the_round_trip() {
    let mut bench = Bench::new(StackConfig::QUIC);
    assert_eq!(bench.write(0, 100), both(0..10));
    // A window of 20 and a round trip of 100 ms, at 2.5 windows per round trip: a packet each 2 ms, two at a time.
    assert_eq!(bench.ack(100, &[(0, 10)]), both(10..12));
    let paced = bench.sender.paced_until(Instant::from_ms(100), &bench.config);
    assert_eq!(paced, Instant::from_ms(102));
    bench.act(|sender, out| sender.transmit(Instant::from_ms(102), out));
    assert_eq!(bench.sent(), both(12..14));
}

#[test]
fn a_handshake_takes_a_round_trip_and_is_repeated_after_a_second() {
    let config = StackConfig::QUIC.into();
    let (mut client, mut server) = (crate::Endpoint::client(&config), crate::Endpoint::server(&config));
    let mut wire = Wire::default();
    client.open(Instant::ZERO, &mut wire);
    // RFC 9000 section 14.1: 1200 B of UDP payload. It is lost, and goes again with the next number.
    client.on_timer(Instant::from_ms(999), Timer::Main, &mut wire);
    let numbers: Vec<(u32, u32)> = wire.segments.iter().map(|s| (s.sequence, s.length)).collect();
    assert_eq!(numbers, [(0, 1228), (1, 1228)]);
    let at = |ms: u64| Instant::from_ms(999 + ms);
    let first = wire.segments.pop().unwrap();
    wire.segments.clear();
    server.on_segment(at(50), &first, &mut wire);
    assert!(wire.events.is_empty(), "the server waits for the client");
    let answer = wire.segments[0];
    assert!(answer.flags.has(Flags::SYN.with(Flags::ACK)) && !answer.is_pure_ack());
    wire.segments.clear();
    client.on_segment(at(100), &answer, &mut wire);
    assert_eq!(wire.events, [Event::Connected]);
    assert_eq!(client.snapshot().smoothed_round_trip, Some(Span::from_ms(100)));
    // The request takes the acknowledgement along.
    client.write(at(100), 500, &mut wire);
    let request = *wire.segments.last().unwrap();
    wire.segments.clear();
    server.on_segment(at(150), &request, &mut wire);
    assert_eq!(wire.events, [Event::Connected, Event::Connected, Event::Delivered(500)]);
}

#[test]
fn a_window_that_is_not_used_does_not_grow_unless_the_stack_is_more_generous() {
    for (gate, expected) in [(GrowthGate::Strict, 10.0), (GrowthGate::Linux, 12.0), (GrowthGate::None, 16.0)] {
        let mut bench = Bench::unpaced();
        bench.config.growth_gate = gate;
        // Six of ten: twice that is twelve.
        bench.write(0, 6);
        bench.ack(100, &[(0, 2)]);
        bench.ack(101, &[(0, 6)]);
        assert!((bench.window() - expected).abs() < 1e-9, "{gate:?}: {}", bench.window());
    }
}
