use super::*;
use crate::docsis31::config::DownstreamConfig;
use crate::docsis31::downstream::Downstream;
use crate::docsis31::proactive::{Guarantee, ProactiveConfig};
use crate::testing::{Collector, TwoQueues, drive_packets};
use crate::{Loss, Mark};
use proptest::prelude::*;
use sojourn_base::{RandomStream, Seed};

mod proactive_grants;

/// A context with given draws for places and requests.
struct Scripted {
    inner: Collector,
    request_frame: f64,
    grant_offset: f64,
}

impl LinkContext for Scripted {
    fn inner(&mut self) -> Option<&mut (dyn LinkContext + '_)> {
        Some(&mut self.inner)
    }

    fn deliver(&mut self, item: PacketHandle, meta: &Meta, passage: &Passage) {
        self.inner.deliver(item, meta, passage);
    }

    fn dropped(&mut self, item: PacketHandle, meta: &Meta, loss: &Loss) {
        self.inner.dropped(item, meta, loss);
    }

    fn marked(&mut self, item: PacketHandle, meta: &Meta, mark: &Mark) {
        self.inner.marked(item, meta, mark);
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        match purpose {
            Draw::RequestFrame => self.request_frame,
            Draw::GrantOffset => self.grant_offset,
            other => self.inner.unit(other),
        }
    }
}

/// An IP packet of `length` bytes in an Ethernet frame.
fn frame(length: u32, queue: ServiceQueue) -> Meta {
    Meta { length: length.max(46) + 18, queue, ..Meta::default() }
}

fn classic(length: u32) -> Meta {
    frame(length, ServiceQueue::Classic)
}

fn low_latency(length: u32) -> Meta {
    frame(length, ServiceQueue::LowLatency)
}

fn modem(config: &UpstreamConfig) -> Upstream<TwoQueues> {
    Upstream::new(config, Box::new(TwoQueues::default()))
}

/// Returns the passage of the only packet.
fn lone_packet(config: &UpstreamConfig, at: Instant, draws: (f64, f64)) -> Passage {
    let mut context = Scripted { inner: Collector::default(), request_frame: draws.0, grant_offset: draws.1 };
    drive_packets(&mut modem(config), [(at, classic(1_000))], Instant::from_s(1), &mut context);
    context.inner.delivered[0].2
}

#[test]
fn a_request_takes_as_long_as_the_notes_work_out() {
    // Vectors C4 and C5 (docsis-link-test-suite.cc, docsis-lld-test-suite.cc).
    let at = Instant::from_us(100_001);
    let slow = lone_packet(&UpstreamConfig::WHITE2019, at, (11.5 / 15.0, 300.0 / 3_525.0));
    assert_eq!(slow.arrives_at, Instant::from_us(103_720));
    let fast = UpstreamConfig { map_interval: Span::from_ms(1), ..UpstreamConfig::WHITE2019 };
    let fast = lone_packet(&fast, at, (4.5 / 7.0, 0.0));
    assert_eq!(fast.dequeued_at, Instant::from_us(102_870));
    assert_eq!(fast.arrives_at, Instant::from_us(103_315));
    assert_eq!(fast.delay.total(), fast.arrives_at.saturating_since(at));
    // Asked for at 100.710 ms, prepared for at 102.870 ms.
    assert_eq!(fast.delay.request_wait, Span::from_us(709));
    assert_eq!(fast.delay.grant_wait, Span::from_us(2_160));
    assert_eq!(fast.delay.queue, Span::ZERO);
    assert_eq!(fast.delay.pipeline, Span::from_us(270));
    assert_eq!(fast.delay.serialisation, Span::from_us(135));
    assert_eq!(fast.delay.wire, Span::from_us(40));
}

#[test]
fn a_packet_that_meets_its_grant_takes_445_us() {
    // Vector C2: it comes in the moment in which the burst of a frame is prepared.
    let config = &UpstreamConfig::WHITE2019_PGS;
    for (late, expected) in [(0, 445_000), (1, 445_000 + 134_999)] {
        let prepared = config.timeline().frame_at(100, 3) - Span::from_us(135);
        let at = prepared + Span::from_ns(late);
        let mut context = Collector::default();
        drive_packets(&mut modem(config), [(at, low_latency(40))], Instant::from_s(1), &mut context);
        let passage = context.delivered[0].2;
        let taken = passage.arrives_at.saturating_since(at);
        assert_eq!(taken, Span::from_ns(expected));
        assert_eq!(passage.delay.total(), taken);
    }
}

#[test]
fn a_modem_in_which_classic_packets_wait_wakes_for_the_grant_of_a_low_latency_one() {
    let config = &UpstreamConfig::WHITE2019_PGS;
    let timeline = config.timeline();
    for frame in 0..timeline.frames {
        let prepared = timeline.prepared_at(timeline.frame_at(100, frame));
        let classic = (0..200).map(|n| (Instant::from_ms(90) + Span::from_us(n), classic(1_000)));
        let arrivals = classic.chain([(prepared - Span::from_us(1), low_latency(40))]);
        let (mut modem, mut context) = (modem(config), Collector::default());
        drive_packets(&mut modem, arrivals, prepared, &mut context);
        assert!(modem.backlog().packets.0 > 0, "classic packets wait");
        let mut left = context.delivered.iter().filter(|(item, ..)| *item == 200);
        let passage = left.next().map(|(.., passage)| *passage);
        let dequeued_at = passage.map(|passage| passage.dequeued_at);
        assert_eq!(dequeued_at, Some(prepared), "frame {frame}");
    }
}

#[test]
fn a_longer_packet_takes_two_proactive_grants() {
    // Vector C8: 110 B are 138 B on the wire, a grant is 96 B: 580 to 715 us.
    let config = &UpstreamConfig::WHITE2019_PGS;
    for phase_us in 0..135 {
        let at = Instant::from_us(50_000 + phase_us);
        let mut context = Collector::default();
        drive_packets(&mut modem(config), [(at, low_latency(110))], Instant::from_s(1), &mut context);
        let taken = context.delivered[0].2.arrives_at.saturating_since(at);
        assert!(taken >= Span::from_us(580) && taken < Span::from_us(715), "{taken}");
    }
}

#[test]
fn the_queue_counts_frames_and_the_modem_asks_for_headers_too() {
    // Vector C9: 1528 B and 74 B.
    for (length, bytes) in [(1_500, 1_528), (40, 74)] {
        let mut modem = modem(&UpstreamConfig::WHITE2019);
        let mut context = Collector::default();
        let at = Instant::from_ms(10);
        modem.on_arrival(at, classic(length), PacketHandle(0), &mut context);
        assert_eq!(modem.backlog().bytes.0, bytes - 10);
        drive_packets(&mut modem, [], Instant::from_s(1), &mut context);
        assert_eq!(modem.counters[CLASSIC].requested, Bytes(bytes));
        let granted = bytes.div_ceil(48) * 48;
        assert_eq!(modem.counters[CLASSIC].granted, Bytes(granted));
        assert_eq!(modem.counters[CLASSIC].unused_grant, Bytes(granted - bytes));
    }
}

/// Round trips in milliseconds of lone packets upstream and, of others, downstream.
fn round_trips(config: &UpstreamConfig, count: u64, spread: f64) -> Vec<f64> {
    let mut random = Seed(7).stream("arrivals");
    let mut modem = modem(config);
    let mut context = Collector::default();
    let down = DownstreamConfig::WHITE2019;
    let mut cmts = Downstream::new(&down, Box::new(TwoQueues::default()));
    let mut back = Collector::default();
    for number in 0..count {
        let at =
            |random: &mut RandomStream| Instant::from_ms(20 + 33 * number) + Span::from_secs_f64(0.004 * random.unit());
        let length = normal(&mut random) * spread + 110.0;
        let arrival = (at(&mut random), low_latency(whole(length)));
        let until = Instant::from_ms(33 * (number + 1));
        drive_packets(&mut modem, [arrival], until, &mut context);
        let arrival = (at(&mut random), low_latency(432));
        drive_packets(&mut cmts, [arrival], until, &mut back);
    }
    let taken = |(_, _, p): &(u32, Meta, Passage)| {
        assert_eq!(p.delay.total(), p.arrives_at.saturating_since(p.entered_at));
        p.arrives_at.saturating_since(p.entered_at).as_ms_f64()
    };
    assert_eq!(context.delivered.len() as u64, count);
    let both = context.delivered.iter().zip(&back.delivered);
    let mut found: Vec<f64> = both.map(|(up, down)| taken(up) + taken(down)).collect();
    found.sort_by(f64::total_cmp);
    found
}

/// Near enough: twelve uniform draws.
fn normal(random: &mut RandomStream) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and not negative")]
fn whole(value: f64) -> u32 {
    value as u32
}

fn quantile(sorted: &[f64], part: f64) -> f64 {
    sorted[whole(part * (sorted.len() - 1) as f64) as usize]
}

#[test]
fn round_trips_are_those_of_the_monte_carlo_of_the_map_timeline() {
    // Vectors C6 and C7: a million samples of the timeline alone, worked out beside this code. White 2019 prints 4.7,
    // 7.7 and 0.9 ms.
    let proactive = |us| UpstreamConfig {
        proactive: ProactiveConfig::Basic(Guarantee { rate: BitRate::from_mbps(5), interval: Some(Span::from_us(us)) }),
        ..UpstreamConfig::WHITE2019_LLD
    };
    for (config, least, mean, p99, p999, spread) in [
        (UpstreamConfig::WHITE2019_LLD, 2.08, 3.49, 4.75, 4.98, 0.0),
        (UpstreamConfig::WHITE2019, 2.08, 5.20, 7.69, 8.16, 0.0),
        (proactive(135), 0.598, 0.81, 0.88, 0.97, 20.0),
        (proactive(270), 0.598, 0.75, 0.88, 1.06, 20.0),
        (proactive(945), 0.598, 1.08, 1.55, 1.56, 20.0),
    ] {
        let found = round_trips(&config, 20_000, spread);
        let found_mean = found.iter().sum::<f64>() / found.len() as f64;
        let text = std::format!(
            "{:?}: least {:.3}, mean {found_mean:.3}, P99 {:.3}, P99.9 {:.3}",
            config.proactive,
            found[0],
            quantile(&found, 0.99),
            quantile(&found, 0.999)
        );
        assert!(found[0] > least - 0.01 && found[0] < least + 0.05, "{text}");
        assert!((found_mean - mean).abs() < 0.03, "{text}");
        assert!((quantile(&found, 0.99) - p99).abs() < 0.03, "{text}");
        assert!((quantile(&found, 0.999) - p999).abs() < 0.06, "{text}");
    }
}

/// Load of W19-22 and vector C11: a modem under two constant loads.
fn loaded(config: &UpstreamConfig, packets: u64, gap: Span) -> Collector {
    let mut context = Collector::default();
    let both = |number| {
        let at = Instant::from_ms(10) + gap * number;
        [(at, classic(1_000)), (at, low_latency(1_000))]
    };
    drive_packets(&mut modem(config), (0..packets).flat_map(both), Instant::from_s(100), &mut context);
    context
}

#[test]
fn two_flows_that_fill_the_aggregate_are_both_served() {
    // Vector C11: 24.996 Mb/s each, with headers.
    for kbps in [0, 5_680, 49_800] {
        let proactive = match kbps {
            0 => ProactiveConfig::None,
            kbps => ProactiveConfig::Basic(Guarantee { rate: BitRate::from_kbps(kbps), interval: None }),
        };
        let config = UpstreamConfig { proactive, ..UpstreamConfig::WHITE2019_LLD };
        let packets = 10_000;
        let context = loaded(&config, packets, Span::from_us(329));
        assert_eq!(context.delivered.len() as u64, 2 * packets);
        let last = context.delivered.last().expect("packets").2;
        let taken = last.arrives_at.saturating_since(last.entered_at);
        assert!(taken < Span::from_ms(10), "{kbps}: {taken}");
    }
}

#[test]
fn a_weight_shares_a_full_aggregate_and_a_single_queue_manager_has_the_classic_flow() {
    // Invariant 12: both flows want more than there is.
    let context = loaded(&UpstreamConfig::WHITE2019_LLD, 20_000, Span::from_us(100));
    let late =
        |(_, _, p): &&(u32, Meta, Passage)| p.arrives_at > Instant::from_s(1) && p.arrives_at < Instant::from_ms(1_900);
    let served: Vec<_> = context.delivered.iter().filter(late).collect();
    let of = |queue| served.iter().filter(|(_, m, _)| m.queue == queue).count() as f64;
    let share = of(ServiceQueue::LowLatency) / served.len() as f64;
    assert!((share - 230.0 / 256.0).abs() < 0.01, "{share}");

    let mut context = Collector::default();
    let config = &UpstreamConfig::WHITE2019_PGS;
    let mut link = Upstream::new(config, Box::new(crate::testing::Diary::default()));
    drive_packets(&mut link, [(Instant::from_ms(10), low_latency(100))], Instant::from_s(1), &mut context);
    assert_eq!(context.delivered.len(), 1);
    let taken = context.delivered[0].2.delay.total();
    assert!(taken > Span::from_us(1_930), "no proactive grant was for it");
}

/// A modem that never runs dry over `span`: packets of `length` bytes come a tenth faster than `config` lets them go,
/// in turns for the classic and for the low-latency flow, after some hundred at once.
fn backlogged(config: &UpstreamConfig, length: u32, span: Span) -> Collector {
    let (mut modem, mut context) = (modem(config), Collector::default());
    let frame = Bytes(classic(length).length.into());
    let gap = BitRate::from_bps(config.rate.as_bps() * 11 / 10).time_for(frame);
    let end = Instant::ZERO + span;
    let at_once = config.burst.0 / frame.0 + 300;
    let mut at = Instant::ZERO;
    let arrivals = (0..).map_while(|number| {
        if number > at_once {
            at += gap;
        }
        let both = [classic(length), low_latency(length)];
        (at < end).then_some((at, both[usize::from(number % 2 == 1)]))
    });
    drive_packets(&mut modem, arrivals, end, &mut context);
    assert!(modem.backlog().packets.0 > 100, "it never runs dry");
    context
}

#[test]
fn one_service_flow_and_both_of_an_aggregate_get_the_rate_and_not_more() {
    // Ethernet frames of 64 and of 1518 B; MAC headers of 10 B are beyond the rate. Half of the time is left out, in which
    // the burst is spent.
    for kbps in [100, 200, 500, 1_000, 5_000, 50_000, 300_000] {
        let rate = BitRate::from_kbps(kbps);
        let ms = (20_000_000 / kbps).clamp(500, 100_000);
        let (span, half) = (Span::from_ms(ms), Instant::from_ms(ms / 2));
        // A peak rate that is hardly above the rate, or none above it, takes nothing.
        for (length, service, map_ms, peak) in [
            (46, Service::Single, 1, 0),
            (1_500, Service::Single, 2, 0),
            (46, Service::LowLatency, 2, 0),
            (1_500, Service::LowLatency, 1, 0),
            (46, Service::Single, 2, kbps),
            (1_500, Service::Single, 2, kbps),
            (1_500, Service::LowLatency, 2, kbps),
            (46, Service::LowLatency, 4, kbps),
            (1_500, Service::Single, 4, kbps + kbps / 100),
        ] {
            let config = UpstreamConfig {
                rate,
                peak: BitRate::from_kbps(peak),
                burst: rate.bytes_in(Span::from_ms(10)).max(Bytes(3_044)),
                service,
                map_interval: Span::from_ms(map_ms),
                ..UpstreamConfig::BASE
            };
            let context = backlogged(&config, length, span);
            let late = context.delivered.iter().filter(|(.., p)| p.arrives_at > half);
            let bytes: u64 = late.map(|(_, meta, _)| u64::from(meta.length)).sum();
            let due = rate.bytes_in(span / 2).0;
            // What is under way at both ends, less than one in a hundred: a packet, and the arrivals of a MAP interval, or of two
            // where the peak rate has left the burst for rounding up.
            let maps = 1 + u64::from(peak > 0);
            let ends = 1_518 + rate.bytes_in(Span::from_ms(maps * map_ms)).0;
            assert!(
                bytes.abs_diff(due) <= ends,
                "{kbps} kb/s, peak {peak}, {length} B, {service:?}: {bytes} B for {due} B"
            );
        }
    }
}

#[test]
fn a_flow_of_an_aggregate_keeps_to_a_rate_of_its_own() {
    // 50 Mb/s, of which both flows want 27.5.
    for (own_mbps, proactive, expected) in [
        ([0, 10], ProactiveConfig::None, [27.5, 10.0]),
        ([0, 10], UpstreamConfig::WHITE2019_PGS.proactive, [27.5, 10.0]),
        ([20, 0], ProactiveConfig::None, [20.0, 27.5]),
    ] {
        let config = UpstreamConfig {
            classic_rate: BitRate::from_mbps(own_mbps[0]),
            low_latency_rate: BitRate::from_mbps(own_mbps[1]),
            burst: Bytes(62_500),
            peak: BitRate::ZERO,
            proactive,
            ..UpstreamConfig::WHITE2019_LLD
        };
        let context = backlogged(&config, 1_500, Span::from_ms(1_000));
        let second_half = Instant::from_ms(500)..Instant::from_s(1);
        let mut mbps = [0.0; 2];
        for (_, meta, passage) in &context.delivered {
            if second_half.contains(&passage.arrives_at) {
                let flow = usize::from(meta.queue == ServiceQueue::LowLatency);
                mbps[flow] += f64::from(meta.length) * 8.0 / 0.5e6;
            }
        }
        for (found, expected) in mbps.into_iter().zip(expected) {
            assert!(f64::abs(found - expected) < 0.1, "{mbps:?} Mb/s");
        }
    }
}

/// A queue that records its link's answers, and the queues that it is asked for.
#[derive(Debug, Default)]
struct Asking(TwoQueues, Vec<(BitRate, BitRate, Span)>, Vec<[u64; 2]>, Vec<ServiceQueue>);

impl QueueManager for Asking {
    fn enqueue(
        &mut self,
        now: Instant,
        meta: Meta,
        item: PacketHandle,
        context: &mut dyn sojourn_queue::QueueContext,
    ) -> Verdict {
        let queue = meta.queue;
        let (all, own) = (context.shaper().sustained, context.service_flow_rate(queue));
        self.1.push((all, own, context.loop_delay_of(queue)));
        self.2.push([ServiceQueue::Classic, ServiceQueue::LowLatency].map(|queue| context.staged(queue).0));
        self.0.enqueue(now, meta, item, context)
    }

    fn dequeue(&mut self, now: Instant, context: &mut dyn sojourn_queue::QueueContext) -> Option<sojourn_queue::Held> {
        self.0.dequeue(now, context)
    }

    fn dequeue_from(
        &mut self,
        now: Instant,
        queue: ServiceQueue,
        context: &mut dyn sojourn_queue::QueueContext,
    ) -> Option<sojourn_queue::Held> {
        self.3.push(queue);
        self.0.dequeue_from(now, queue, context)
    }

    fn backlog(&self) -> Backlog {
        self.0.backlog()
    }

    /// Packets of 64 B have priority.
    fn backlog_of(&self, queue: ServiceQueue) -> Backlog {
        let classic = self.0.backlog_of(ServiceQueue::Classic);
        match queue {
            ServiceQueue::AckPriority if classic.bytes.0 == 64 => classic,
            queue => self.0.backlog_of(queue),
        }
    }

    fn retune(&mut self, to: &dyn Any) -> bool {
        to.is::<Self>()
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        Some(meta.length)
    }
}

#[test]
fn both_directions_answer_for_their_queue_manager_and_what_is_taken_from_it() {
    // Downstream 400 Mb/s, 1125 B a symbol; upstream a grant of 96 B for the low-latency flow, of which 10 B are a header.
    let config = &UpstreamConfig::WHITE2019_PGS;
    let down = DownstreamConfig { rate: BitRate::from_mbps(400), burst: Bytes(1_125), ..DownstreamConfig::WHITE2019 };
    let mut up: Upstream<Asking> = Upstream::new(config, Box::default());
    let mut down: Downstream<Asking> = Downstream::new(&down, Box::default());
    let at = config.timeline().prepared_at(config.timeline().frame_at(100, 3));
    let arrivals = [0, 1].map(|us| (at + Span::from_us(us), low_latency(1_500)));
    drive_packets(&mut up, arrivals, at + Span::from_us(1), &mut Collector::default());
    let arrivals = [0, 1].map(|us| (Instant::from_us(us), low_latency(1_500)));
    drive_packets(&mut down, arrivals, Instant::from_us(1), &mut Collector::default());
    assert_eq!([&up.manager().2, &down.manager().2], [&[[0, 0], [0, 1_528 - 96]], &[[0, 0], [0, 1_518 - 1_125]]]);
    for (link, rest) in [(&mut up as &mut dyn Link, 1_528 - 96), (&mut down as &mut dyn Link, 1_518 - 1_125)] {
        let held = |bytes| Backlog { bytes: Bytes(bytes), packets: Packets(1) };
        assert_eq!((link.backlog(), link.staged()), (held(1_518), held(rest)));
        assert_eq!((link.retune_queue(&Asking::default()), link.retune_queue(&0)), (true, false));
        assert_eq!(link.sub_flow(&classic(100)), Some(118));
    }
}

#[test]
fn the_classic_flow_takes_acknowledgements_with_priority_first() {
    let mut modem: Upstream<Asking> = Upstream::new(&UpstreamConfig::WHITE2019_LLD, Box::default());
    let arrivals = [(100, 20), (200, 1_000)].map(|(ms, length)| (Instant::from_ms(ms), classic(length)));
    drive_packets(&mut modem, arrivals, Instant::from_s(1), &mut Collector::default());
    assert_eq!(modem.manager().3, [ServiceQueue::AckPriority, ServiceQueue::Classic]);
}

#[test]
fn one_service_flow_keeps_order_and_two_have_counters_of_their_own() {
    for (config, keeps_order) in [(&UpstreamConfig::WHITE2019, true), (&UpstreamConfig::WHITE2019_LLD, false)] {
        let mut modem = modem(config);
        let arrivals = [100, 200, 100].map(classic).into_iter().chain([low_latency(300)]);
        drive_packets(
            &mut modem,
            arrivals.map(|meta| (Instant::from_ms(10), meta)),
            Instant::from_ms(10),
            &mut Collector::default(),
        );
        let held = |bytes, packets| Backlog { bytes: Bytes(bytes), packets: Packets(packets) };
        let each = if keeps_order { [held(772, 4); 2] } else { [held(454, 3), held(318, 1)] };
        assert_eq!(([CLASSIC, LOW_LATENCY].map(|flow| modem.waiting(flow)), modem.waits()), (each, [true; 2]));
        drive_packets(&mut modem, [], Instant::from_s(1), &mut Collector::default());
        assert_eq!(modem.keeps_order(), keeps_order);
        let counters = modem.service_flow_counters().map(|flows| flows.map(|flow| flow.requested.0 > 0));
        assert_eq!(counters, (!keeps_order).then_some([true; 2]));
    }
}

#[test]
fn requests_of_a_shaped_flow_are_limited_by_burst_and_peak_rate_and_headers_come_back() {
    let shaper = |peak, burst| {
        let rate = BitRate::from_mbps(8);
        RequestShaper::new(&UpstreamConfig { rate, peak, burst: Bytes(burst), ..UpstreamConfig::WHITE2019 })
    };
    let mut burst = shaper(BitRate::ZERO, 1_000);
    assert_eq!(burst.admit(Instant::ZERO, 5_000), 1_000);
    burst.pay_back(Instant::ZERO, 10);
    assert_eq!(burst.admit(Instant::ZERO, 5_000), 10);
    // 16 Mb/s are 2000 B in a millisecond.
    let mut peak = shaper(BitRate::from_mbps(16), 100_000);
    assert_eq!(peak.admit(Instant::from_ms(1), 10_000), 2_000);
    (0..2).for_each(|_| peak.pay_back(Instant::from_ms(1), 10));
    assert_eq!(peak.admit(Instant::from_ms(2), 10_000), 2_020);
}

#[test]
fn bytes_are_committed_until_their_frame_is_over() {
    let committed = [(1, 10), (2, 20), (3, 30)].map(|(ms, bytes)| (Instant::from_ms(ms), bytes));
    let mut flow = Flow { committed: committed.into(), ..Flow::default() };
    assert_eq!(flow.committed(Instant::from_ms(2)), 50);
}

#[test]
fn timers_of_the_queue_manager_run_while_packets_wait() {
    let diary = crate::testing::Diary::with_timer(Span::from_ms(1));
    let mut modem = Upstream::new(&UpstreamConfig::WHITE2019, Box::new(diary));
    drive_packets(&mut modem, [(Instant::ZERO, classic(100))], Instant::from_us(1_500), &mut Collector::default());
    assert_eq!(modem.manager().times_in_ms(crate::testing::Call::Timer), [1]);
}

#[test]
fn a_queue_manager_hears_the_rates_of_both_flows_and_the_loop_of_the_maps() {
    let config = UpstreamConfig {
        classic_rate: BitRate::from_mbps(30),
        low_latency_rate: BitRate::from_mbps(10),
        ..UpstreamConfig::WHITE2019_LLD
    };
    let mut modem: Upstream<Asking> = Upstream::new(&config, Box::new(Asking::default()));
    let at = Instant::from_ms(10);
    let arrivals = [(at, classic(100)), (at, low_latency(100))];
    drive_packets(&mut modem, arrivals, at, &mut Collector::default());
    // Twelve frames of 135 us, and an interval of seven.
    let heard = |mbps| {
        let [all, own] = [50, mbps].map(BitRate::from_mbps);
        (all, own, Span::from_us(1_620 + 945))
    };
    assert_eq!(modem.manager().1, [heard(30), heard(10)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// White 2019 §2.1: whatever the flows ask for, both together have the rate, guarantees included.
    #[test]
    fn in_any_window_both_flows_together_send_what_rate_and_burst_allow(
        load in prop::collection::vec((0_u64..3_000, 20_u32..1_501, any::<bool>(), 1_usize..40), 100..400),
        kbps in prop_oneof![100_u64..2_000, 2_000_u64..100_000],
        burst in 1_600_u64..100_000,
        service in prop_oneof![Just(Service::Single), Just(Service::LowLatency)],
        guaranteed in prop::option::of(1_u64..90),
        weight in 1_u32..256,
        map_us in 500_u64..4_000,
        seed in any::<u64>(),
    ) {
        let rate = BitRate::from_kbps(kbps);
        let proactive = guaranteed.filter(|_| service == Service::LowLatency).map_or(
            ProactiveConfig::None,
            |percent| ProactiveConfig::Basic(Guarantee {
                rate: BitRate::from_kbps(kbps * percent / 100),
                interval: None,
            }),
        );
        let config = UpstreamConfig {
            rate,
            burst: Bytes(burst),
            service,
            weight,
            proactive,
            map_interval: Span::from_us(map_us),
            ..UpstreamConfig::BASE
        };
        let grid = config.timeline();
        let (mut modem, mut context) = (modem(&config), Collector::seeded(seed));
        let mut at = Instant::ZERO;
        let arrivals = load.iter().flat_map(|&(gap, length, low, count)| {
            at += Span::from_us(gap);
            std::vec![(at, if low { low_latency(length) } else { classic(length) }); count]
        });
        let arrivals: Vec<_> = arrivals.collect();
        drive_packets(&mut modem, arrivals, Instant::from_s(20), &mut context);
        // A guarantee is granted whole, in whole minislots, even if that is more than the rate.
        let unasked = proactive.guarantee().map_or(0, |guarantee| {
            let rate = crate::docsis31::scheduler::with_headers(guarantee.rate, Bytes(200), 10);
            crate::docsis31::proactive::minislots(rate, grid.frames, &grid) * grid.minislot_bytes
        });
        prop_assume!(unasked <= rate.bytes_in(grid.interval).0);
        // Beyond the burst: what a MAP interval gives, as a grant may lie anywhere in it; a packet of each flow of which a
        // part went before the window; a minislot of rounding; the guarantee of a MAP for which no tokens were left; and
        // what the bucket got until the CMTS knew that something was not used.
        let span = grid.interval + grid.frame + grid.lead + grid.interval * 2;
        let slack = rate.bytes_in(span).0 + 2 * 1_518 + 48 + unasked;
        let cost = |bytes: u64| i128::from(bytes) * 8_000_000_000_000;
        let mut arrived: Vec<_> = context.delivered.iter().map(|(_, m, p)| (p.arrives_at, m.length)).collect();
        arrived.sort_unstable();
        // The most by which any window that ends here is beyond the rate.
        let (mut beyond, mut last) = (0_i128, Instant::ZERO);
        for (at, length) in arrived {
            let given = i128::from(at.saturating_since(last).as_ps()) * i128::from(rate.as_bps());
            beyond = (beyond - given).max(0) + cost(length.into());
            last = at;
            prop_assert!(
                beyond <= cost(burst + slack),
                "{} B beyond the rate at {at:?}, with a burst of {burst} B and {slack} B at its ends",
                beyond / 8_000_000_000_000
            );
        }
    }
}

#[test]
fn an_idle_modem_wants_nothing_and_is_granted_nothing() {
    // Invariant 14.
    let mut modem = modem(&UpstreamConfig::WHITE2019_LLD);
    let mut context: Collector = Collector::default();
    let day = Instant::from_s(86_400);
    modem.on_arrival(Instant::ZERO, classic(100), PacketHandle(0), &mut context);
    drive_packets(&mut modem, [], day, &mut context);
    assert_eq!(modem.next_wakeup(), Instant::NEVER);
    let before = modem.counters;
    modem.settle(day, &mut context);
    assert_eq!(modem.counters, before);
    assert!(day.saturating_since(modem.timeline.starts_at(modem.next_map)) < Span::from_ms(2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Invariants 1, 2, 6, 7, 9, 10 and 11 of the notes, over channels, services and loads.
    #[test]
    fn packets_pass_once_in_order_and_what_is_granted_is_accounted_for(
        load in prop::collection::vec((0_u64..3_000, 20_u32..1_501, any::<bool>()), 1..200),
        symbols in 6_u32..37,
        wide in any::<bool>(),
        interval_us in 1_000_u64..5_000,
        kilometres in 0_u32..81,
        mbps in 1_u64..200,
        service in prop_oneof![Just(Service::Single), Just(Service::LowLatency)],
        guaranteed in 0_u64..2,
        all in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let proactive = if service == Service::LowLatency && guaranteed == 1 {
            ProactiveConfig::Basic(Guarantee { rate: BitRate::from_kbps(mbps * 500), interval: None })
        } else {
            ProactiveConfig::None
        };
        let mut config = UpstreamConfig {
            rate: BitRate::from_mbps(mbps),
            peak: BitRate::ZERO,
            burst: Bytes(1_000_000),
            service,
            proactive,
            map_interval: Span::from_us(interval_us),
            plant_km: f64::from(kilometres),
            request_subtracts: if all { RequestSubtracts::All } else { RequestSubtracts::Next },
            ..UpstreamConfig::BASE
        };
        config.channel.symbols_per_frame = symbols;
        if wide {
            config.channel.spacing = crate::docsis31::channel::Spacing::Khz25;
        }
        config.map_interval = config.map_interval.max(config.channel.frame());
        let grid = config.timeline();
        let mut modem = modem(&config);
        let mut context = Collector::seeded(seed);
        let mut at = Instant::ZERO;
        let arrivals: Vec<(Instant, Meta)> = load
            .iter()
            .map(|(gap, length, low)| {
                at += Span::from_us(*gap);
                (at, if *low { low_latency(*length) } else { classic(*length) })
            })
            .collect();
        drive_packets(&mut modem, arrivals.clone(), Instant::NEVER, &mut context);
        prop_assert_eq!(context.delivered.len(), arrivals.len());
        prop_assert_eq!(modem.backlog().packets.0 + modem.staged().packets.0, 0);
        let mut before = [(0, Instant::ZERO); 2];
        let mut bytes = 0;
        for (number, meta, passage) in &context.delivered {
            let entered = arrivals[*number as usize].0;
            let taken = passage.arrives_at.saturating_since(entered);
            prop_assert_eq!(passage.delay.total(), taken);
            prop_assert!(passage.dequeued_at >= entered);
            prop_assert!(taken >= grid.preparation + grid.completion());
            if matches!(proactive, ProactiveConfig::None) && passage.delay.queue.is_zero() && *number == 0 {
                let least = grid.request + grid.lead;
                prop_assert!(taken >= least, "{taken} is less than {least}");
            }
            let flow = usize::from(service == Service::LowLatency && meta.queue == ServiceQueue::LowLatency);
            if service == Service::LowLatency {
                prop_assert!(u64::from(*number) + 1 > before[flow].0);
                before[flow].0 = u64::from(*number) + 1;
            }
            prop_assert!(passage.arrives_at >= before[flow].1);
            before[flow].1 = passage.arrives_at;
            bytes += u64::from(meta.length) + 10;
        }
        let counters = Link::counters(&modem).expect("it counts");
        // A grant that is known at the end and has not begun is neither sent nor unused.
        let coming: u64 = modem.flows.iter().flat_map(|flow| &flow.granted).sum();
        prop_assert_eq!(counters.granted.0, bytes + counters.unused_grant.0 + coming);
        if matches!(proactive, ProactiveConfig::None) {
            let maps = modem.next_map;
            prop_assert!(counters.granted.0 <= counters.requested.0 + 2 * maps * grid.minislot_bytes);
        }
    }
}

#[test]
fn switching_is_a_cause_of_its_own_in_both_directions() {
    let switching = Span::from_us(70);
    let at = Instant::from_us(100_001);
    let passages = |config: &UpstreamConfig, down: &DownstreamConfig| {
        let up = lone_packet(config, at, (0.5, 0.5));
        let mut link = Downstream::new(down, Box::new(TwoQueues::default()));
        let mut context = Collector::default();
        drive_packets(&mut link, [(at, classic(1_000))], Instant::from_s(1), &mut context);
        [up, context.delivered[0].2]
    };
    let (up, down) = (UpstreamConfig::WHITE2019, DownstreamConfig::WHITE2019);
    let without = passages(&up, &down);
    let with = passages(&UpstreamConfig { switching, ..up.clone() }, &DownstreamConfig { switching, ..down.clone() });
    for (with, without) in with.into_iter().zip(without) {
        assert_eq!(with.arrives_at, without.arrives_at + switching);
        assert_eq!(with.delay, DelayParts { switching, ..without.delay });
        assert_eq!(with.delay.total(), with.arrives_at.saturating_since(at));
    }
}
