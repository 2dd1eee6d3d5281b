//! Times in these tests follow from docs/models/service-group.md, "The grid": frames of 135 us, seven in an interval of 945 us; MAP k
//! is made 1110 us and heard 757.5 us before its interval; a request takes 445 us.

use super::*;
use crate::Draw;
use crate::LinkContext;
use crate::group::config::Backoff;
use crate::group::contention::{Contention, Tries};
use crate::testing::{Collector, packet};
use crate::{Loss, Stage};
use sojourn_base::{BitRate, Bytes, RandomStream, Seed, Span};
use sojourn_queue::{Backlog, DropTailConfig, ManagerConfig, Reason};
use std::vec;

/// Modems with scripted draws: the first values of each are given; then a stream's.
pub(super) struct Homes {
    pub(super) collectors: Vec<Collector>,
    told: Vec<VecDeque<f64>>,
}

/// A context with given next draws.
struct Told<'a>(&'a mut Collector, &'a mut VecDeque<f64>);

impl LinkContext for Told<'_> {
    fn inner(&mut self) -> Option<&mut (dyn LinkContext + '_)> {
        Some(self.0)
    }
    fn deliver(&mut self, item: PacketHandle, meta: &Meta, passage: &crate::Passage) {
        self.0.deliver(item, meta, passage);
    }
    fn dropped(&mut self, item: PacketHandle, meta: &Meta, loss: &Loss) {
        self.0.dropped(item, meta, loss);
    }
    fn marked(&mut self, item: PacketHandle, meta: &Meta, mark: &crate::Mark) {
        self.0.marked(item, meta, mark);
    }
    fn unit(&mut self, purpose: Draw) -> f64 {
        self.0.unit(purpose)
    }
    fn unit_at(&mut self, purpose: Draw, number: u64) -> f64 {
        let told = self.1.pop_front();
        told.unwrap_or_else(|| self.0.unit_at(purpose, number))
    }
}

impl Members for Homes {
    fn at(&mut self, port: usize, act: &mut dyn FnMut(&mut dyn LinkContext)) {
        act(&mut Told(&mut self.collectors[port], &mut self.told[port]));
    }
}

impl Homes {
    pub(super) fn new(count: u64) -> Self {
        Self {
            collectors: (0..count).map(Collector::seeded).collect(),
            told: (0..count).map(|_| VecDeque::new()).collect(),
        }
    }

    /// The next draw of `port` lets `deferral` opportunities of a window of `window` pass.
    pub(super) fn tell(&mut self, port: usize, deferral: u32, window: u32) {
        let unit = (f64::from(deferral) + 0.5) / f64::from(window);
        self.told[port].push_back(unit);
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times of tests are positive and short")]
pub(super) fn us(us: f64) -> Instant {
    Instant::from_ps((us * 1e6).round() as u64)
}

/// Eight opportunities at most and at least unless said; window 2..8.
pub(super) fn config(opportunities: u32) -> GroupConfig {
    let mut config = GroupConfig::BASE;
    config.requests.minimum = opportunities;
    config.requests.fill = opportunities;
    config.requests.backoff = Backoff::Fixed;
    config
}

pub(super) fn group(config: &GroupConfig, homes: usize) -> Group {
    let queue = ManagerConfig::from(DropTailConfig::bytes(10_000_000));
    let home = || (MemberConfig::BASE, queue.clone().at(BitRate::ZERO).build());
    Group::new(config, (0..homes).map(|_| home()).collect())
}

/// Wakes the group until `until`.
pub(super) fn advance(group: &mut Group, until: Instant, homes: &mut Homes) {
    while group.next_wakeup() <= until {
        let at = group.next_wakeup();
        group.on_wakeup(at, homes);
    }
}

pub(super) fn arrive(group: &mut Group, at: Instant, port: usize, length: u32, homes: &mut Homes) {
    advance(group, at, homes);
    let number = homes.collectors[port].delivered.len() as u64;
    group.on_arrival(at, port, packet(length), PacketHandle(number), homes);
}

#[test]
fn a_lone_packet_takes_the_times_of_the_notes() {
    // Vector 6.
    let mut group = group(&config(64), 1);
    let mut homes = Homes::new(1);
    homes.tell(0, 2, 4);
    arrive(&mut group, us(100_001.0), 0, 1_018, &mut homes);
    advance(&mut group, us(110_000.0), &mut homes);
    let passage = homes.collectors[0].delivered[0].2;
    assert_eq!(passage.arrives_at, us(102_370.0));
    let delay = passage.delay;
    let parts = [delay.request_wait, delay.grant_wait, delay.queue, delay.framing, delay.serialisation, delay.wire];
    assert_eq!(parts.map(|part| part.as_ps() / 1_000_000), [34, 2_025, 0, 0, 135, 175]);
    assert_eq!(delay.total(), Span::from_us(2_369));
    let counters = group.member_counters(0);
    assert_eq!((counters.attempts, counters.collided, counters.heard), (1, 0, 1));
    // 22 minislots of 48 B, less the header of the segment.
    assert_eq!(group.modems[0].flows[0].mac.granted, Bytes(1_048));
    assert_eq!(group.modems[0].flows[0].mac.unused_grant, Bytes(20));
}

#[test]
fn two_modems_in_one_opportunity_lose_both_and_try_again() {
    // Vector 5: interval 100, opportunity 1, in its first frame at 94.5 ms.
    let mut group = group(&config(8), 2);
    let mut homes = Homes::new(2);
    for port in [0, 1] {
        homes.tell(port, 1, 4);
        // 94.4 ms is in the last frame of interval 99, which has no opportunity to come.
        arrive(&mut group, us(94_400.0), port, 500, &mut homes);
    }
    homes.tell(0, 5, 8);
    homes.tell(1, 2, 8);
    advance(&mut group, us(94_500.0), &mut homes);
    assert_eq!(group.counters.collided, 1);
    advance(&mut group, us(95_632.5), &mut homes);
    let at = |group: &Group, port: usize| match group.modems[port].flows[0].contention {
        Contention::Deferring { at, .. } => at,
        _ => None,
    };
    // Frame 4 of interval 101, and the first frame of interval 102.
    assert_eq!(at(&group, 0), Some((us(96_390.0), 0, 0)));
    assert_eq!(at(&group, 1), Some((us(95_985.0), 0, 5)));
    advance(&mut group, us(98_280.0), &mut homes);
    advance(&mut group, us(110_000.0), &mut homes);
    for port in [0, 1] {
        let passage = homes.collectors[port].delivered[0].2;
        // Both are granted in MAP 104.
        assert_eq!(passage.arrives_at, us(98_280.0 + 310.0), "{port}");
        let waits = group.member_counters(port);
        let sent = [96_390.0, 95_985.0][port];
        assert_eq!(waits.contention, us(sent).saturating_since(us(94_500.0)));
        assert_eq!(group.member_counters(port).collided, 1);
    }
}

#[test]
fn a_deferral_counts_the_opportunities_of_all_maps_on_its_way() {
    // Vector 2: a draw of 11, MAPs with 6, 2 and 8 opportunities: the fourth of the third.
    let mut group = group(&config(8), 1);
    let mut homes = Homes::new(1);
    arrive(&mut group, us(94_400.0), 0, 500, &mut homes);
    (group.uses, group.next_map) = (VecDeque::new(), 102);
    group.known = VecDeque::from([6, 2]);
    homes.tell(0, 11, 16);
    let tries = Tries { exponent: 4, repeated: 0, since: Instant::ZERO, first: None };
    // The last moment of interval 99: everything of interval 100 is to come.
    let now = us(94_499.0);
    homes.at(0, &mut |context| group.defer(now, (0, 0), tries, context));
    (group.known, group.next_map) = (VecDeque::from([6, 2, 8]), 103);
    group.decide(102, us(95_632.5), &mut homes);
    let Contention::Deferring { at, .. } = group.modems[0].flows[0].contention else {
        panic!("{:?}", group.modems[0].flows[0].contention);
    };
    assert_eq!(at, Some((us(102.0 * 945.0 + 270.0), 0, 3)));
}

#[test]
fn a_greedy_modem_contends_once_and_then_asks_in_its_grants() {
    // Vector 14.
    let mut config = config(16);
    config.requests.contend_while_pending = false;
    let mut group = group(&config, 1);
    let mut homes = Homes::new(1);
    for number in 0..4_000 {
        arrive(&mut group, us(1_000.0 + 100.0 * f64::from(number)), 0, 6_000, &mut homes);
    }
    assert_eq!(group.member_counters(0).attempts, 1);
    assert!(homes.collectors[0].delivered.len() > 3_900);
}

#[test]
fn a_modem_that_hears_of_a_grant_leaves_its_opportunity_unused() {
    // Vector 15: a second packet comes while the first one's request is under way, and draws an opportunity behind the MAP
    // that grants the first.
    let mut group = group(&config(8), 1);
    let mut homes = Homes::new(1);
    homes.tell(0, 0, 4);
    arrive(&mut group, us(94_400.0), 0, 500, &mut homes);
    homes.tell(0, 3, 4);
    arrive(&mut group, us(95_800.0), 0, 500, &mut homes);
    advance(&mut group, us(110_000.0), &mut homes);
    let counters = group.member_counters(0);
    assert_eq!(homes.collectors[0].delivered.len(), 2);
    assert_eq!(counters.packets, 2);
    let mut found = group.counters(us(110_000.0));
    found.opportunities = 0;
    assert_eq!(u64::from(counters.attempts > 0), 1);
    assert_eq!(found.used, counters.attempts);
}

#[test]
fn after_the_last_try_the_packet_at_the_head_is_dropped() {
    // Vector 3: windows of 4, 8, … 256, 256, …; 17 attempts. Two modems that always choose the same opportunity.
    let mut group = group(&config(8), 2);
    let mut homes = Homes::new(2);
    for port in [0, 1] {
        homes.told[port].extend([0.3; 17]);
        arrive(&mut group, us(94_400.0), port, 500, &mut homes);
    }
    let mut windows = Vec::new();
    while group.next_wakeup() <= us(10_000_000.0) {
        if let Contention::Deferring { tries, .. } = group.modems[0].flows[0].contention
            && windows.len() == tries.repeated as usize
        {
            windows.push(1 << tries.exponent);
        }
        let at = group.next_wakeup();
        group.on_wakeup(at, &mut homes);
    }
    assert_eq!(windows[..8], [4, 8, 16, 32, 64, 128, 256, 256]);
    assert_eq!(windows.len(), 17);
    for port in [0, 1] {
        let counters = group.member_counters(port);
        assert_eq!((counters.attempts, counters.collided), (17, 17));
        assert_eq!(counters.given_up, 1);
        let (_, _, loss) = &homes.collectors[port].dropped[0];
        assert_eq!((loss.stage, loss.reason), (Stage::TransmitQueue, Reason::Unheard));
    }
}

#[test]
fn the_wait_of_lone_packets_is_that_of_the_notes_whatever_the_phase() {
    // Vector 7: least 1930, mean 2402.5, at most 2875 us.
    let mut group = group(&config(256), 1);
    let mut homes = Homes::new(1);
    let mut waits = Vec::new();
    for number in 0..2_000_u32 {
        // 20 ms and a part of an interval that has none in common with it.
        let at = us(20_000.0 * f64::from(number + 1) + 0.4725 * f64::from(number));
        homes.told[0].push_back(0.0);
        arrive(&mut group, at, 0, 100, &mut homes);
    }
    advance(&mut group, us(50_000_000.0), &mut homes);
    for (_, _, passage) in &homes.collectors[0].delivered {
        waits.push(passage.delay.total().as_secs_f64() * 1e6);
    }
    assert_eq!(waits.len(), 2_000);
    let mean = waits.iter().sum::<f64>() / 2_000.0;
    let least = waits.iter().copied().fold(f64::MAX, f64::min);
    let most = waits.iter().copied().fold(0.0, f64::max);
    assert!((least - 1_930.0).abs() < 2.0, "{least}");
    assert!((most - 2_875.0).abs() < 2.0, "{most}");
    assert!((mean - 2_402.5).abs() < 5.0, "{mean}");
}

#[test]
fn the_wait_behind_an_empty_bucket_is_the_homes_own_and_behind_a_full_channel_the_neighbours() {
    // Vector 25, in directions: one home shaped to 1 Mb/s alone; then 40 greedy homes on a channel of 20 subcarriers.
    let queue = || ManagerConfig::from(DropTailConfig::bytes(10_000_000)).at(BitRate::ZERO).build();
    let mut slow = MemberConfig::BASE;
    slow.shaper.sustained = BitRate::from_mbps(1);
    let mut lone = Group::new(&config(16), vec![(slow, queue())]);
    let mut homes = Homes::new(1);
    for number in 0..50 {
        arrive(&mut lone, us(1_000.0 + f64::from(number)), 0, 1_500, &mut homes);
    }
    advance(&mut lone, us(2_000_000.0), &mut homes);
    let waits = lone.member_counters(0);
    assert!(waits.own_rate > Span::from_s(5), "{waits:?}");
    assert!(waits.neighbours < Span::from_ms(100), "{waits:?}");

    let mut narrow = config(2);
    narrow.channel.subcarriers = 40;
    let mut full = group(&narrow, 10);
    let mut homes = Homes::new(10);
    for port in 0..10 {
        for number in 0..50 {
            let at = us(1_000.0 + f64::from(number + 50 * port));
            arrive(&mut full, at, usize::try_from(port).unwrap(), 1_500, &mut homes);
        }
    }
    advance(&mut full, us(2_000_000.0), &mut homes);
    for port in 0..10 {
        let waits = full.member_counters(port);
        // Alone it would have waited behind its own packets: 1528 B each, at 33 minislots of 48 B in 945 us.
        let own = waits.own_rate.as_secs_f64();
        let alone = 945e-6 * 1_528.0 / (33.0 * 48.0) * (50.0 * 49.0 / 2.0);
        assert!((own / alone - 1.0).abs() < 0.05, "{own} s for {alone} s");
        assert!(waits.neighbours > Span::from_ms(100), "{waits:?}");
    }
}

#[test]
fn bytes_requested_are_granted_or_lost_and_delays_sum_to_the_whole() {
    let mut group = group(&config(8), 20);
    let mut homes = Homes::new(20);
    let mut stream: RandomStream = Seed(3).stream("arrivals");
    let mut at = 0.0;
    for _ in 0..4_000 {
        at += 400.0 * stream.unit();
        let port = (0..20).find(|port| stream.unit() * f64::from(20 - port) < 1.0);
        let port = usize::try_from(port.unwrap_or(19)).unwrap();
        let length = 64 + u32::try_from(stream.bits() % 1_400).unwrap();
        arrive(&mut group, us(at), port, length, &mut homes);
    }
    advance(&mut group, us(at + 5_000_000.0), &mut homes);
    assert!(group.is_idle());
    for port in 0..20 {
        let delivered = &homes.collectors[port].delivered;
        let (counters, mac) = (group.member_counters(port), group.modems[port].flows[0].mac);
        assert_eq!(counters.packets, delivered.len() as u64);
        let payload: u64 = delivered.iter().map(|it| u64::from(it.1.length) + 10).sum();
        assert_eq!(mac.granted.0, payload + mac.unused_grant.0);
        for (_, _, passage) in delivered {
            assert_eq!(passage.delay.total(), passage.arrives_at.saturating_since(passage.entered_at));
        }
        assert!(delivered.is_sorted_by_key(|it| it.2.arrives_at));
        assert_eq!(group.modems[port].backlog(), Backlog::default());
    }
}

#[test]
fn another_home_changes_no_draw_and_maps_that_are_skipped_change_nothing() {
    // A home far from the others' times: alone it has the same delays, although the group then skips MAPs.
    let run = |others: bool| {
        let mut group = group(&config(16), 2);
        let mut homes = Homes::new(2);
        for number in 0..200 {
            let at = 20_000.0 * f64::from(number + 1);
            if others {
                arrive(&mut group, us(at - 10_000.0), 1, 700, &mut homes);
            }
            arrive(&mut group, us(at), 0, 300, &mut homes);
        }
        advance(&mut group, us(10_000_000.0), &mut homes);
        let of = |it: &(u32, Meta, crate::Passage)| it.2;
        homes.collectors[0].delivered.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn two_flows_of_one_modem_in_one_opportunity_do_not_collide_and_the_second_takes_the_next() {
    // Vector 13: the lower flow uses opportunity 1, the other one 2; if another modem has that, those two collide.
    use crate::docsis31::config::Service;
    use crate::testing::TwoQueues;
    use sojourn_base::ServiceQueue;
    let member = MemberConfig { service: Service::LowLatency, ..MemberConfig::BASE };
    let home = || {
        let queue: Box<dyn QueueManager> = Box::new(TwoQueues::default());
        (member, queue)
    };
    for (others, collided) in [(false, [0, 0]), (true, [1, 1])] {
        let mut group = Group::new(&config(8), vec![home(), home()]);
        let mut homes = Homes::new(2);
        let send = |group: &mut Group, port: usize, queue, homes: &mut Homes| {
            let meta = Meta { queue, ..packet(500) };
            group.on_arrival(us(94_400.0), port, meta, PacketHandle(0), homes);
        };
        for queue in [ServiceQueue::LowLatency, ServiceQueue::Classic] {
            homes.tell(0, 1, 4);
            send(&mut group, 0, queue, &mut homes);
        }
        if others {
            homes.tell(1, 2, 4);
            send(&mut group, 1, ServiceQueue::Classic, &mut homes);
        }
        advance(&mut group, us(95_600.0), &mut homes);
        let found = [0, 1].map(|port| group.member_counters(port).collided);
        assert_eq!(found, collided);
        assert_eq!(group.member_counters(0).attempts, 2);
        advance(&mut group, us(200_000.0), &mut homes);
        assert_eq!(homes.collectors[0].delivered.len(), 2);
    }
}

#[test]
fn a_lost_request_is_not_repeated_if_a_grant_has_asked_for_all_meanwhile() {
    // Vector 16.
    let mut group = group(&config(8), 1);
    let mut homes = Homes::new(1);
    arrive(&mut group, us(94_400.0), 0, 490, &mut homes);
    let flow = &mut group.modems[0].flows[0];
    flow.contention = Contention::Sent {
        map: 102,
        lost: true,
        asked: 500,
        tries: Tries { exponent: 3, repeated: 1, since: us(94_400.0), first: None },
    };
    flow.outstanding = 1_000; // the lost request and one in a grant
    let now = us(95_632.5);
    homes.at(0, &mut |context| group.on_answer(now, (0, 0), context));
    let flow = &group.modems[0].flows[0];
    assert_eq!((flow.contention, flow.outstanding), (Contention::Idle, 500));
}

#[test]
fn packets_over_bonded_channels_are_complete_with_their_last_segment_and_in_order() {
    // Vector 17: two packets of 1528 B in segments of 1512, 1512 and 68 B; both are complete 550 us into the interval.
    let mut config = config(6);
    config.form = Form::Docsis30;
    config.map_interval = Span::from_ms(2);
    config.scqam.count = 4;
    let mut group = group(&config, 1);
    let mut homes = Homes::new(1);
    homes.tell(0, 0, 4);
    for _ in 0..2 {
        arrive(&mut group, us(100_100.0), 0, 1_518, &mut homes);
    }
    advance(&mut group, us(103_400.0), &mut homes);
    let segments: Vec<_> = group.fills.iter().map(|fill| fill.segment).collect();
    let found: Vec<_> = segments.iter().map(|it| (it.channel, it.minislots, it.payload)).collect();
    assert_eq!(found, [(0, 40, 1_512), (1, 40, 1_512), (2, 2, 68)]);
    advance(&mut group, us(120_000.0), &mut homes);
    let arrivals: Vec<_> = homes.collectors[0].delivered.iter().map(|it| (it.0, it.2.arrives_at)).collect();
    assert_eq!(arrivals.len(), 2);
    assert_eq!(arrivals[0].1, us(104_000.0 + 550.0 + 1_000.0));
    assert_eq!(arrivals[1].1, arrivals[0].1);
    for (_, _, passage) in &homes.collectors[0].delivered {
        let whole = passage.arrives_at.saturating_since(passage.entered_at);
        assert_eq!(passage.delay.total(), whole);
    }
}

#[test]
fn a_packet_on_a_passive_optical_network_waits_for_its_poll_and_four_frames() {
    // A report of frame j counts for frame j + 4; the second unit is polled in frames 1, 9, 17, ...
    let mut config = GroupConfig::BASE;
    config.form = Form::Pon;
    let mut group = group(&config, 2);
    let mut homes = Homes::new(2);
    arrive(&mut group, us(100_010.0), 1, 1_000, &mut homes);
    advance(&mut group, us(200_000.0), &mut homes);
    // 100 ms is frame 800; 801 is 1 more than a multiple of eight, so it is polled there; granted in 805.
    let arrives_at = homes.collectors[1].delivered[0].2.arrives_at;
    let taken = arrives_at.saturating_since(us(805.0 * 125.0));
    // The frame's grants without request, overhead, report and packet are less than 1.5 us at 9.3 Gb/s; 100 us follow.
    let usual = Span::from_us(100)..Span::from_ns(101_500);
    assert!(usual.contains(&taken), "{taken}");
    assert_eq!(group.member_counters(1).collided, 0);
}
