//! Times in these tests follow from docs/models/service-group.md, "Downstream". With a server of 80 Mb/s a byte takes 100 ns; symbols take
//! 22.5 us; pipelines, interleaver and plant take 2 x 22.5 + 45 + 40 = 130 us. A MAC header has 10 B.

use super::*;
use crate::testing::{Collector, packet};
use proptest::prelude::*;
use sojourn_base::BitRate;
use sojourn_queue::{DropTailConfig, ManagerConfig};

struct Homes(Vec<Collector>);

impl Members for Homes {
    fn at(&mut self, port: usize, act: &mut dyn FnMut(&mut dyn LinkContext)) {
        act(&mut self.0[port]);
    }
}

/// A server of 80 Mb/s.
fn channels() -> GroupConfig {
    let mut config = GroupConfig::BASE;
    config.bonded.rate = BitRate::from_mbps(80);
    config
}

fn tier(mbps: u64, burst: u64) -> DownstreamMemberConfig {
    let mut member = DownstreamMemberConfig::BASE;
    (member.shaper.sustained, member.shaper.burst) = (BitRate::from_mbps(mbps), Bytes(burst));
    member
}

fn group(config: &GroupConfig, members: &[DownstreamMemberConfig]) -> (SharedDownstream, Homes) {
    let queue = ManagerConfig::from(DropTailConfig::bytes(10_000_000));
    let homes = members.iter();
    let homes = homes.map(|member| (*member, queue.clone().at(BitRate::ZERO).build()));
    let collectors = members.iter().map(|_| Collector::default());
    (SharedDownstream::new(config, homes.collect()), Homes(collectors.collect()))
}

/// Serves packets `(microsecond, port, bytes)` in order of time, until none waits; returns the group and its passages.
fn served(
    config: &GroupConfig,
    members: &[DownstreamMemberConfig],
    packets: impl IntoIterator<Item = (u64, usize, u32)>,
) -> (SharedDownstream, Homes) {
    let (mut group, mut homes) = group(config, members);
    for (number, (at, port, length)) in (0..).zip(packets) {
        let at = Instant::from_us(at);
        while group.next_wakeup() <= at {
            let due = group.next_wakeup();
            group.on_wakeup(due, &mut homes);
        }
        let item = PacketHandle(number);
        group.on_arrival(at, port, packet(length), item, &mut homes);
    }
    while group.next_wakeup() < Instant::NEVER {
        let due = group.next_wakeup();
        group.on_wakeup(due, &mut homes);
    }
    (group, homes)
}

/// All packets in the order in which they left: instant in nanoseconds, port, number.
fn order(homes: &Homes) -> Vec<(u64, usize, u32)> {
    let of = |(port, home): (usize, &Collector)| {
        let left = home.delivered.iter();
        let left = left.map(move |(number, _, passage)| (passage.dequeued_at, port, *number));
        left.collect::<Vec<_>>()
    };
    let mut all: Vec<_> = homes.0.iter().enumerate().flat_map(of).collect();
    all.sort_by_key(|left| left.0);
    let ns = |(at, port, number): (Instant, usize, u32)| (at.as_ps() / 1_000, port, number);
    all.into_iter().map(ns).collect()
}

#[test]
fn a_lone_packet_arrives_with_its_symbol_behind_pipelines_and_plant() {
    // 1018 B and 10 B at 1712 Mb/s from 100.001 ms on: sent at 100.00580 ms, with the symbol that ends at 100.0125 ms.
    let (group, homes) = served(&GroupConfig::BASE, &[tier(300, 3_044)], [(100_001, 0, 1_018)]);
    let passage = &homes.0[0].delivered[0].2;
    assert_eq!(passage.arrives_at, Instant::from_ns(100_142_500));
    assert_eq!(passage.delay.total(), Span::from_ns(141_500));
    assert_eq!(passage.delay.queue, Span::ZERO);
    // 8224 bits at 1.712 Gb/s, rounded up.
    assert_eq!(passage.delay.serialisation, Span::from_ps(4_803_739));
    let waits = group.member_counters(0);
    assert_eq!((waits.own_rate, waits.neighbours), Default::default());
    assert_eq!(waits.line, passage.delay.total());
}

#[test]
fn homes_take_turns_of_a_quantum() {
    // 51 us each. The first packet meets a free server. In a turn, three packets are less than 1518 B and the fourth takes it
    // below zero; the next one is shorter by that.
    let packets = (0..12).map(|number| (0, usize::from(number >= 6), 500));
    let (_, homes) = served(&channels(), &[tier(1_000, 100_000); 2], packets);
    let ports: Vec<usize> = order(&homes).iter().map(|left| left.1).collect();
    assert_eq!(ports, [0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1]);
    let at: Vec<u64> = order(&homes).iter().map(|left| left.0).collect();
    assert_eq!(at, (0..12).map(|k| k * 51_000).collect::<Vec<_>>());
}

#[test]
fn a_home_of_higher_priority_comes_first_and_weights_divide_the_rest() {
    let mut first = tier(1_000, 1_000_000);
    first.priority = 1;
    let mut double = tier(1_000, 1_000_000);
    double.weight = 2;
    let members = [tier(1_000, 1_000_000), double, first];
    let packets = (0..3000).map(|number| (0, number % 3, 1_500));
    let (_, homes) = served(&channels(), &members, packets);
    let order = order(&homes);
    // All of the first but the packet that met a free server.
    assert!(order[1..1001].iter().all(|left| left.1 == 2));
    let twice = order[1001..1601].iter().filter(|left| left.1 == 1).count();
    // Turns of 1518 and 3036 B, exact within a packet or two of each.
    assert!((397..=403).contains(&twice), "{twice} of 600");
}

#[test]
fn bytes_of_a_home_with_poor_modulation_take_longer() {
    // 6 bits for 12: 1000 B and the header take 202 us.
    let mut far = tier(1_000, 100_000);
    far.modulation = Some(6.0);
    let (mut group, homes) = served(&channels(), &[far], [(0, 0, 1_000), (0, 0, 1_000)]);
    assert_eq!(order(&homes)[1].0, 202_000);
    assert_eq!(group.counters(Instant::from_us(404)).granted, 404_000_000);
    assert_eq!(group.counters(Instant::from_us(303)).granted, 303_000_000);
}

#[test]
fn the_wait_for_tokens_is_the_homes_own_and_the_rest_its_neighbours() {
    // 8 Mb/s, 1 us a byte: after the first packet each waits 1 ms for 1000 B, on a free channel.
    let alone = |extra: u64| {
        let mine = (0..4).map(|_| (10, 0, 1_000));
        let theirs = (0..extra).map(|_| (0, 1, 1_000));
        let packets: Vec<_> = theirs.chain(mine).collect();
        served(&channels(), &[tier(8, 1_000), tier(1_000, 1_000_000)], packets)
    };
    let (group, homes) = alone(0);
    let waits = group.member_counters(0);
    let ms: Vec<u64> = order(&homes).iter().map(|left| left.0 / 1_000).collect();
    assert_eq!(ms, [10, 1_010, 2_010, 3_010]);
    assert_eq!(waits.own_rate, Span::from_ms(6));
    assert_eq!(waits.neighbours, Span::ZERO);
    // Behind packets of another home, 101 us each, in turns of two of them.
    let (group, homes) = alone(200);
    let waits = group.member_counters(0);
    assert_eq!(waits.own_rate, Span::from_ms(6));
    let all: Span = homes.0[0].delivered.iter().fold(Span::ZERO, |sum, it| sum + it.2.delay.queue);
    assert_eq!(waits.own_rate + waits.neighbours, all);
    assert!(waits.neighbours > Span::from_us(100), "{waits:?}");
}

#[test]
fn the_rate_is_exact_where_a_byte_takes_no_whole_picosecond() {
    // 7 Mb/s: 1010 B take 1154 us and 2/7; 700 of them 808 ms.
    let mut config = channels();
    config.bonded.rate = BitRate::from_mbps(7);
    let packets = (0..701).map(|_| (0, 0, 1_000));
    let (_, homes) = served(&config, &[tier(1_000, 1_000_000)], packets);
    assert_eq!(order(&homes)[700].0, 808_000_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nobody_waits_while_the_server_is_idle_and_everything_adds_up(
        packets in prop::collection::vec((0_u64..3_000, 0_usize..4, 40_u32..1_519), 1..200),
        rates in prop::array::uniform4(1_u64..200),
        priorities in prop::array::uniform4(0_u32..3),
    ) {
        let mut packets = packets;
        packets.sort_by_key(|packet| packet.0);
        let members: Vec<_> = rates.iter().zip(priorities).map(|(rate, priority)| {
            DownstreamMemberConfig { priority, ..tier(*rate, 3_044) }
        }).collect();
        let (group, homes) = served(&channels(), &members, packets.iter().copied());
        let mut sent = Vec::new();
        for (port, home) in homes.0.iter().enumerate() {
            let mut waits = Span::ZERO;
            let mut before = Instant::ZERO;
            for (number, meta, passage) in &home.delivered {
                let whole = passage.arrives_at.saturating_since(passage.entered_at);
                prop_assert_eq!(whole, passage.delay.total());
                prop_assert!(passage.arrives_at >= before);
                before = passage.arrives_at;
                waits += passage.delay.total();
                let length = u64::from(meta.length) + 10;
                sent.push((passage.dequeued_at, length, port, *number, passage.entered_at));
            }
            let counters = group.member_counters(port);
            prop_assert_eq!(counters.own_rate + counters.neighbours + counters.line, waits);
        }
        prop_assert_eq!(sent.len(), packets.len());
        sent.sort();
        for pair in sent.windows(2) {
            let free_at = pair[0].0 + Span::from_ns(100 * pair[0].1);
            prop_assert!(pair[1].0 >= free_at, "one at a time");
        }
        // Alone, each home would have sent each packet no later.
        for port in 0..4 {
            let own = packets.iter().copied().filter(|packet| packet.1 == port);
            let (_, alone) = served(&channels(), &members, own);
            for (shared, alone) in homes.0[port].delivered.iter().zip(&alone.0[port].delivered) {
                prop_assert!(alone.2.dequeued_at <= shared.2.dequeued_at);
            }
        }
    }
}
