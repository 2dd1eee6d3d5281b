//! Flow queues: vectors by hand, and the claims of White 2013 §2.2 and §4.1.1.

use super::{flow_and_place, handle, packet};
use sojourn_base::{BitRate, Bytes, Instant, Limit, Meta, PacketHandle, Packets, Serializer, Span};
use sojourn_queue::manager::sfq_ns2::ns2_bucket;
use sojourn_queue::{
    CobaltConfig, CobaltQueue, CodelConfig, FlowListsConfig, FqCobaltConfig, FqCobaltQueue, FqCodelConfig, FqPieConfig,
    ManagerConfig, PrioritisedConfig, QueueManager, Reason, SfqCodelConfig, SfqConfig, SfqNs2Config, SfqPieConfig,
    Verdict,
};
use sojourn_testkit::context::TestContext;

/// A manager whose items name their flow and their place in it.
type Manager = Box<dyn QueueManager>;

fn sfq_codel(quantum: u32, limit: Limit) -> Manager {
    let config = SfqCodelConfig::WHITE2013;
    let sub_flows = SfqConfig { quantum, limit, ..config.sub_flows };
    ManagerConfig::from(SfqCodelConfig { sub_flows, ..config }).build()
}

fn fill(manager: &mut Manager, flow: u32, lengths: &[u32], context: &mut TestContext) {
    for (place, &length) in (0..).zip(lengths) {
        let _ = manager.enqueue(Instant::ZERO, packet(length, flow), handle(flow, place), context);
    }
}

/// The flows served next, at most `most`.
fn flows(manager: &mut Manager, most: usize, now: Instant) -> Vec<u32> {
    let mut context = TestContext::without_draws();
    let served: Vec<u32> =
        std::iter::from_fn(|| manager.dequeue(now, &mut context).map(|packet| flow_and_place(packet.item).0))
            .take(most)
            .collect();
    assert_eq!(context.dropped.len(), 0);
    served
}

const ROOMY: Limit = Limit::Packets(Packets(1000));

#[test]
fn five_small_packets_for_each_large_one() {
    let mut context = TestContext::without_draws();
    let mut manager = sfq_codel(300, ROOMY);
    fill(&mut manager, 0, &[1500; 10], &mut context);
    fill(&mut manager, 1, &[300; 12], &mut context);
    assert_eq!(flows(&mut manager, 14, Instant::ZERO), [0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1]);
}

#[test]
fn without_a_quantum_packets_alternate() {
    let mut context = TestContext::without_draws();
    let mut manager = sfq_codel(0, ROOMY);
    fill(&mut manager, 0, &[1500; 4], &mut context);
    fill(&mut manager, 1, &[300; 4], &mut context);
    assert_eq!(flows(&mut manager, 9, Instant::ZERO), [0, 1, 0, 1, 0, 1, 0, 1]);
}

#[test]
fn a_flow_that_wakes_up_is_served_before_busy_ones() {
    for quantum in [300, 0] {
        let mut context = TestContext::without_draws();
        let mut manager = sfq_codel(quantum, ROOMY);
        fill(&mut manager, 0, &[1500; 6], &mut context);
        fill(&mut manager, 1, &[1500; 6], &mut context);
        assert_eq!(flows(&mut manager, 3, Instant::ZERO), [0, 1, 0]);
        fill(&mut manager, 2, &[200], &mut context);
        assert_eq!(flows(&mut manager, 4, Instant::ZERO), [2, 1, 0, 1]);
    }
}

#[test]
fn an_arrival_costs_the_largest_sub_flow_its_newest_packet() {
    let mut context = TestContext::without_draws();
    let mut manager = sfq_codel(300, Limit::Bytes(Bytes(6000)));
    fill(&mut manager, 0, &[1500; 3], &mut context);
    fill(&mut manager, 1, &[1000; 2], &mut context);
    let drops: Vec<_> = context.drops().collect();
    assert_eq!(drops, [(handle(0, 2), Reason::FatFlow)]);
    assert_eq!(manager.backlog().bytes, Bytes(5000));
    assert_eq!(flows(&mut manager, 9, Instant::ZERO).len(), 4);
}

#[test]
fn among_equals_the_later_sub_flow_pays() {
    let mut context = TestContext::without_draws();
    let mut manager = sfq_codel(300, Limit::Packets(Packets(4)));
    fill(&mut manager, 0, &[1500; 2], &mut context);
    fill(&mut manager, 1, &[1500; 2], &mut context);
    fill(&mut manager, 2, &[1500], &mut context);
    fill(&mut manager, 3, &[1500], &mut context);
    let drops: Vec<_> = context.drops().map(|(item, _)| flow_and_place(item)).collect();
    assert_eq!(drops, [(1, 1), (0, 1)]);
    let mut served = flows(&mut manager, 9, Instant::ZERO);
    served.sort_unstable();
    assert_eq!(served, [0, 1, 2, 3]);
}

#[test]
fn an_arrival_beyond_the_whole_limit_has_no_victims() {
    let mut context = TestContext::without_draws();
    let mut manager = sfq_codel(300, Limit::Bytes(Bytes(6000)));
    fill(&mut manager, 0, &[1500; 3], &mut context);
    fill(&mut manager, 1, &[6001], &mut context);
    let drops: Vec<_> = context.drops().collect();
    assert_eq!(drops, [(handle(1, 0), Reason::Overlimit)]);
    assert_eq!(manager.backlog().packets, Packets(3));
}

#[test]
fn background_traffic_shares_one_sub_flow_more() {
    // Two flows marked CS1 and two others, packet by packet: the background has two of four sub-flows,
    // or one of three: two rounds are eight or six packets.
    let turns = |background: bool, most: usize| {
        let config = SfqConfig { quantum: 0, background, ..SfqConfig::WHITE2013 };
        let mut manager: Manager = ManagerConfig::from(config).build();
        let mut context = TestContext::without_draws();
        for flow in 0..4 {
            for place in 0..3 {
                let meta = Meta { dscp: if flow < 2 { 8 } else { 0 }, ..packet(1000, flow) };
                let _ = manager.enqueue(Instant::ZERO, meta, handle(flow, place), &mut context);
            }
        }
        let first = flows(&mut manager, most, Instant::ZERO);
        first.iter().filter(|&&flow| flow < 2).count()
    };
    assert_eq!((turns(false, 8), turns(true, 6)), (4, 2), "two rounds each");
}

#[test]
fn the_last_sub_flow_is_served_while_no_other_has_packets() {
    // Flow 0 is marked CS1. By bytes and by packets the others go first, also if they come later.
    for quantum in [0, 300] {
        let config = SfqConfig { quantum, background: true, background_last: true, ..SfqConfig::WHITE2013 };
        let mut manager: Manager = ManagerConfig::from(config).build();
        let mut context = TestContext::without_draws();
        let mut put = |manager: &mut Manager, flow: u32, place: u32| {
            let meta = Meta { dscp: if flow == 0 { 8 } else { 0 }, ..packet(1000, flow) };
            let _ = manager.enqueue(Instant::ZERO, meta, handle(flow, place), &mut context);
        };
        for flow in 0..3 {
            for place in 0..2 {
                put(&mut manager, flow, place);
            }
        }
        let first = flows(&mut manager, 4, Instant::ZERO);
        assert!(!first.contains(&0), "{first:?}");
        assert_eq!(flows(&mut manager, 1, Instant::ZERO), [0]);
        put(&mut manager, 1, 2);
        assert_eq!(flows(&mut manager, 3, Instant::ZERO), [1, 0]);
    }
}

#[test]
fn sfq_codel_never_empties_a_sub_flow() {
    // One packet per sub-flow, all of them far beyond target: CoDel would signal, but keeps them.
    let mut context = TestContext::without_draws();
    let mut manager = sfq_codel(300, ROOMY);
    for round in 0..500_u64 {
        for flow in 0..5 {
            let now = Instant::from_ms(round * 1000);
            let _ = manager.enqueue(now, packet(1500, flow), handle(flow, 0), &mut context);
        }
        let later = Instant::from_ms(round * 1000 + 900);
        assert_eq!(flows(&mut manager, 9, later).len(), 5);
    }
}

#[test]
fn ns_2_tightens_its_limit_as_it_fills() {
    // A flow for each of the 16 buckets.
    let flow_of: Vec<u32> =
        (0..16).map(|bucket| (0..10_000).find(|flow| ns2_bucket(*flow, 16) == bucket).unwrap()).collect();
    for (buckets, accepted, used) in
        [(1, 13, vec![13]), (2, 20, vec![10, 10]), (16, 35, vec![3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2])]
    {
        let mut manager: Box<dyn QueueManager> = ManagerConfig::from(SfqNs2Config::NS2).build();
        let mut context = TestContext::without_draws();
        let mut held = vec![0; buckets];
        let mut count = 0;
        loop {
            let bucket = count % buckets;
            let meta = packet(1500, flow_of[bucket]);
            match manager.enqueue(Instant::ZERO, meta, PacketHandle(bucket as u64), &mut context) {
                Verdict::Accepted | Verdict::Placed(_) => held[bucket] += 1,
                Verdict::Dropped(reason) => {
                    assert_eq!(reason, Reason::Overlimit);
                    break;
                }
            }
            count += 1;
        }
        assert_eq!((count, held), (accepted, used));
        // Served in turns, packet by packet.
        let served: Vec<_> = (0..buckets).map(|_| manager.dequeue(Instant::ZERO, &mut context).unwrap().item).collect();
        assert!(served.into_iter().eq((0..buckets as u64).map(PacketHandle)));
    }
}

#[test]
fn without_codel_nothing_is_dropped_however_long_it_waits() {
    let late = Instant::from_ms(500);
    let mut context = TestContext::without_draws();
    let mut plain: Manager = ManagerConfig::from(SfqConfig { limit: ROOMY, ..SfqConfig::WHITE2013 }).build();
    fill(&mut plain, 0, &[1500; 10], &mut context);
    fill(&mut plain, 1, &[300; 12], &mut context);
    assert_eq!(flows(&mut plain, 14, late), [0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1]);
}

fn fq_codel(limit: u32) -> Manager {
    let config = FqCodelConfig::RFC8290;
    let mut flows = config.flows;
    flows.limit = Limit::Packets(Packets(limit));
    ManagerConfig::from(FqCodelConfig { flows, ..config }).build()
}

#[test]
fn the_fattest_queue_loses_half_from_its_head() {
    let mut context = TestContext::without_draws();
    let mut manager = fq_codel(4);
    fill(&mut manager, 0, &[1500; 3], &mut context);
    fill(&mut manager, 1, &[1500; 2], &mut context);
    let drops: Vec<_> = context.drops().collect();
    assert_eq!(drops, [(handle(0, 0), Reason::FatFlow), (handle(0, 1), Reason::FatFlow)]);
    assert_eq!(flows(&mut manager, 9, Instant::ZERO), [0, 1, 1]);
}

#[test]
fn an_arrival_can_be_its_own_victim() {
    let mut context = TestContext::without_draws();
    let config = FqCodelConfig::RFC8290;
    let mut lists = config.flows;
    lists.limit = Limit::Bytes(Bytes(1000));
    let mut manager: Manager = ManagerConfig::from(FqCodelConfig { flows: lists, ..config }).build();
    let verdict = manager.enqueue(Instant::ZERO, packet(1500, 0), handle(0, 0), &mut context);
    assert_eq!(verdict, Verdict::Dropped(Reason::FatFlow));
    assert_eq!(context.dropped.len(), 1);
    assert!(flows(&mut manager, 1, Instant::ZERO).is_empty());
}

/// Serves `manager` at `rate` from 0 to `until`, calling `refill` before each packet; returns what
/// was delivered, when, and after how long in the queue.
fn serve_at(
    manager: &mut Manager,
    rate: BitRate,
    until: Instant,
    context: &mut TestContext,
    mut refill: impl FnMut(&mut Manager, Instant, &mut TestContext),
) -> Vec<(Instant, u32, u32, Span)> {
    let mut line = Serializer::new(rate);
    let mut now = Instant::ZERO;
    let mut served = vec![];
    while now < until {
        refill(manager, now, context);
        let Some(packet) = manager.dequeue(now, context) else {
            now += Span::from_us(100);
            continue;
        };
        let waited = now.saturating_since(packet.enqueued_at);
        served.push((now, flow_and_place(packet.item).0, packet.meta.length, waited));
        now += line.send(Bytes(u64::from(packet.meta.length)));
    }
    served
}

#[test]
fn a_sparse_flow_waits_for_one_packet_at_most() {
    let rate = BitRate::from_mbps(10);
    let mut manager = fq_codel(10_240);
    let mut context = TestContext::without_draws();
    let mut next_sparse = Instant::from_ms(7);
    let served = serve_at(&mut manager, rate, Instant::from_s(5), &mut context, |manager, now, context| {
        // Two flows that always have five packets, and one packet each 20 ms.
        while manager.backlog().packets < Packets(10) {
            for flow in [0, 1] {
                let _ = manager.enqueue(now, packet(1514, flow), handle(flow, 0), context);
            }
        }
        while next_sparse <= now {
            let _ = manager.enqueue(next_sparse, packet(200, 2), handle(2, 0), context);
            next_sparse += Span::from_ms(20);
        }
    });
    let waits: Vec<Span> = served.iter().filter(|(_, flow, ..)| *flow == 2).map(|(.., waited)| *waited).collect();
    assert!(waits.len() > 240);
    // 1514 bytes at 10 Mb/s are 1211.2 us.
    assert!(waits.iter().all(|wait| *wait <= Span::from_ns(1_211_200)));
}

/// Bytes and packets per flow while four flows with packets of these lengths are always backlogged.
fn shares(mut manager: Manager, lengths: [u32; 4]) -> ([f64; 4], [f64; 4]) {
    let mut context = TestContext::without_draws();
    for (flow, length) in (0..).zip(lengths) {
        fill(&mut manager, flow, &vec![length; 9000], &mut context);
    }
    let (mut bytes, mut packets) = ([0.0; 4], [0.0; 4]);
    for _ in 0..9000 {
        let packet = manager.dequeue(Instant::ZERO, &mut context).expect("all are backlogged");
        bytes[flow_and_place(packet.item).0 as usize] += f64::from(packet.meta.length);
        packets[flow_and_place(packet.item).0 as usize] += 1.0;
    }
    (bytes, packets)
}

#[test]
fn backlogged_sub_flows_get_equal_shares_of_bytes_or_packets() {
    // Claim W13-36: within 1 %.
    let equal = |shares: [f64; 4]| {
        let mean = shares.iter().sum::<f64>() / 4.0;
        shares.iter().all(|share| (share - mean).abs() <= 0.01 * mean)
    };
    let lengths = [200, 500, 900, 1500];
    let deep = Limit::Packets(Packets(100_000));
    assert!(equal(shares(sfq_codel(300, deep), lengths).0));
    assert!(equal(shares(sfq_codel(0, deep), lengths).1));
    assert!(equal(shares(fq_codel(100_000), lengths).0));
}

#[test]
fn two_busy_sub_flows_are_never_further_apart_than_a_quantum_and_a_packet() {
    let largest = 1500_u64;
    for quantum in [300, 1514, 0] {
        let mut manager = sfq_codel(quantum, Limit::Packets(Packets(100_000)));
        let mut context = TestContext::without_draws();
        let lengths: Vec<u32> = (0..4000_u32).map(|n| 40 + n * 7919 % 1461).collect();
        fill(&mut manager, 0, &lengths, &mut context);
        fill(&mut manager, 1, &[1500; 4000], &mut context);
        let (mut bytes, mut packets) = ([0_u64; 2], [0_u64; 2]);
        for _ in 0..4000 {
            let packet = manager.dequeue(Instant::ZERO, &mut context).expect("both are backlogged");
            bytes[flow_and_place(packet.item).0 as usize] += u64::from(packet.meta.length);
            packets[flow_and_place(packet.item).0 as usize] += 1;
            if quantum == 0 {
                assert!(packets[0].abs_diff(packets[1]) <= 1);
            } else {
                assert!(bytes[0].abs_diff(bytes[1]) <= u64::from(quantum) + largest);
            }
        }
    }
}

#[test]
fn on_exhaustion_the_victim_is_always_the_longest_sub_flow() {
    // Claim W13-38.
    let mut context = TestContext::without_draws();
    let mut manager = sfq_codel(300, Limit::Packets(Packets(100)));
    let mut held = [0_u32; 4];
    for n in 0..5000_u32 {
        // Flow 0 sends half of all packets, flow 1 a quarter, and so on.
        let flow = n.trailing_ones().min(3);
        let _ = manager.enqueue(Instant::ZERO, packet(1500, flow), handle(flow, n), &mut context);
        for (victim, _) in context.dropped.drain(..) {
            let flow = flow_and_place(victim.item).0 as usize;
            assert!(held.iter().all(|other| *other <= held[flow]), "{held:?} lost {flow}");
            held[flow] -= 1;
        }
        held[flow as usize] += 1;
    }
    assert_eq!(held.iter().sum::<u32>(), 100);
}

/// Packets that an 87.2 kb/s flow (218 bytes each 20 ms) loses beside `others` backlogged flows at
/// 5 Mb/s in two minutes of byte round robin, if it starts with `stalled` packets waiting.
fn losses_beside(others: u32, stalled: u32) -> usize {
    const PACED: u32 = 1000;
    let mut manager: Manager = ManagerConfig::from(SfqConfig { bins: 1024, ..SfqConfig::WHITE2013 }).build();
    let mut context = TestContext::without_draws();
    let mut line = Serializer::new(BitRate::from_mbps(5));
    let (mut next_paced, mut next_growth) = (Instant::ZERO, Instant::ZERO);
    let (mut now, mut growth) = (Instant::ZERO, 0);
    fill(&mut manager, PACED, &vec![218; stalled as usize], &mut context);
    while now < Instant::from_s(120) {
        while next_paced <= now {
            let meta = packet(218, PACED);
            let _ = manager.enqueue(next_paced, meta, handle(PACED, 0), &mut context);
            next_paced += Span::from_ms(20);
        }
        // The others replace what leaves, and each sends one packet more per 100 ms, so that the
        // memory is full after a second and overflows from then on.
        if next_growth <= now {
            for flow in 0..others {
                // Sizes between 600 and 1499 keep the others' deficits from marching in step.
                growth = (growth * 7919 + 1) % 900;
                let meta = packet(600 + growth, flow);
                let _ = manager.enqueue(now, meta, handle(flow, 0), &mut context);
            }
            next_growth += Span::from_ms(100);
        }
        let sent = manager.dequeue(now, &mut context).expect("a deep queue");
        if flow_and_place(sent.item).0 != PACED {
            let _ = manager.enqueue(now, sent.meta, sent.item, &mut context);
        }
        now += line.send(Bytes(u64::from(sent.meta.length)));
    }
    let of = |paced: bool| context.drops().filter(move |(item, _)| (flow_and_place(*item).0 == PACED) == paced);
    assert!(of(false).count() > 1000, "the memory overflows");
    of(true).count()
}

#[test]
fn a_paced_flow_with_a_backlog_starves_beside_more_than_57_busy_ones() {
    // Claim W13-65: 5 Mb/s over 57.3 flows are 87.2 kb/s each. A backlog of three packets (a stall
    // of 60 ms) is needed for the flow to be one of the busy ones at all …
    assert_eq!(losses_beside(56, 3), 0);
    assert!(losses_beside(58, 3) > 0);
    // … because a bin that is emptied at each visit is new at each arrival, and goes first.
    assert_eq!(losses_beside(58, 0), 0);
}

#[test]
fn flows_take_turns_unless_they_are_said_to_share_a_sub_flow() {
    let sfq_codel = ManagerConfig::from(SfqCodelConfig::WHITE2013);
    for config in [
        ManagerConfig::from(SfqConfig::WHITE2013),
        ManagerConfig::from(SfqNs2Config::NS2),
        ManagerConfig::from(SfqPieConfig::WHITE2013),
        ManagerConfig::from(FqCodelConfig::RFC8290),
        ManagerConfig::from(FqPieConfig::NS3),
        ManagerConfig::from(FqCobaltConfig::NS3),
        ManagerConfig::from(PrioritisedConfig::before(sfq_codel.clone())),
        sfq_codel,
    ] {
        let (mut shared, mut apart) = (0, 0);
        for (one, other) in (0..8).flat_map(|one| (1000..1064).map(move |other| (one, other))) {
            let mut manager: Manager = config.build();
            let mut context = TestContext::always(1.0);
            fill(&mut manager, one, &[1514; 2], &mut context);
            fill(&mut manager, other, &[1514], &mut context);
            let of = |flow| manager.sub_flow(&packet(0, flow)).expect("there are some");
            let second = if of(one) == of(other) {
                shared += 1;
                one
            } else {
                apart += 1;
                other
            };
            assert_eq!(flows(&mut manager, 2, Instant::ZERO), [one, second], "{config:?}");
        }
        assert!(shared > 0 && apart > 0, "{config:?}: {shared} and {apart}");
    }
}

#[test]
fn a_lone_busy_flow_of_fq_cobalt_is_treated_as_by_cobalt() {
    let mut whole = CobaltQueue::new(CobaltConfig::BASE);
    let mut flows = FqCobaltQueue::new(FqCobaltConfig { law: CobaltConfig::BASE.law, ..FqCobaltConfig::CAKE });
    let (mut context, mut other) = (TestContext::without_draws(), TestContext::without_draws());
    let mut place = 0;
    for ms in (0..3000).map(Instant::from_ms) {
        while whole.backlog().packets < Packets(40) {
            let _ = whole.enqueue(ms, packet(1500, 3), PacketHandle(place), &mut context);
            let _ = flows.enqueue(ms, packet(1500, 3), PacketHandle(place), &mut other);
            place += 1;
        }
        let served = whole.dequeue(ms, &mut context).map(|packet| packet.item);
        assert_eq!(flows.dequeue(ms, &mut other).map(|packet| packet.item), served);
    }
    assert!(context.drops().count() > 20);
    assert!(context.drops().eq(other.drops()));
}

#[test]
fn the_cobalt_of_the_flow_that_pays_for_an_overflow_learns_of_it() {
    let mut manager = FqCobaltQueue::new(FqCobaltConfig {
        flows: FlowListsConfig { limit: Limit::Packets(Packets(8)), ..FlowListsConfig::BASE },
        ..FqCobaltConfig::NS3
    });
    let mut context = TestContext::without_draws();
    for (place, flow) in (0..).zip([1, 1, 1, 1, 1, 1, 2, 2]) {
        let _ = manager.enqueue(Instant::ZERO, packet(1500, flow), PacketHandle(place), &mut context);
    }
    let late = Instant::from_ms(6);
    let _ = manager.enqueue(late, packet(1500, 2), PacketHandle(8), &mut context);
    // Half of the fattest flow, from its head (RFC 8290 4.1); one step of BLUE, later than a target after its first packet.
    let lost: Vec<u64> = context.drops().map(|(place, _)| place.0).collect();
    assert_eq!(lost, [0, 1, 2]);
    assert!((manager.state(1).blue() - 1.0 / 256.0).abs() < 1e-15);
    assert_eq!(manager.state(2).blue().to_bits(), 0);
}

/// Returns true if a packet that waits for 6 ms gets through, four seconds after its flow was signalled for a second
/// and went silent; another flow keeps the line busy meanwhile.
fn is_forgiven(config: FqCobaltConfig) -> bool {
    let mut manager = FqCobaltQueue::new(config);
    let mut context = TestContext::without_draws();
    for ms in (0..1000).map(Instant::from_ms) {
        while manager.backlog().packets < Packets(40) {
            let _ = manager.enqueue(ms, packet(1500, 1), PacketHandle(1), &mut context);
        }
        let _ = manager.dequeue(ms, &mut context);
    }
    while manager.dequeue(Instant::from_ms(1000), &mut context).is_some() {}
    assert!(context.drops().count() > 3);
    for ms in (1000..5000).map(Instant::from_ms) {
        for _ in 0..2 {
            let _ = manager.enqueue(ms, packet(1500, 2), PacketHandle(2), &mut context);
            let _ = manager.dequeue(ms, &mut context);
        }
    }
    let _ = manager.enqueue(Instant::from_ms(5000), packet(1500, 1), PacketHandle(3), &mut context);
    let served = manager.dequeue(Instant::from_ms(5006), &mut context);
    served.is_some_and(|packet| packet.item == PacketHandle(3))
}

#[test]
fn what_cobalt_remembers_of_an_empty_queue_fades_in_cake_and_stands_still_in_ns3() {
    let forgets = FqCobaltConfig { decays: true, ..FqCobaltConfig::NS3 };
    assert!(is_forgiven(forgets));
    // The state of four seconds ago is due at once, so the only packet of a flow that starts again is dropped.
    assert!(!is_forgiven(FqCobaltConfig::NS3));
}

/// How many packets of two flows that send turn by turn are lost, if each waits for 6 ms and nothing waits behind it; once a
/// standing queue has set the pace.
fn lost_of_lone_packets(config: FqCobaltConfig) -> usize {
    let mut manager = FqCobaltQueue::new(config);
    let mut context = TestContext::without_draws();
    for ms in (0..1000).map(Instant::from_ms) {
        while manager.backlog().packets < Packets(40) {
            let _ = manager.enqueue(ms, packet(1500, 1), PacketHandle(1), &mut context);
            let _ = manager.enqueue(ms, packet(1500, 2), PacketHandle(2), &mut context);
        }
        let _ = manager.dequeue(ms, &mut context);
    }
    let end = Instant::from_ms(1000);
    while manager.dequeue(end, &mut context).is_some() {}
    context.dropped.clear();
    for round in 0..500 {
        let now = end + Span::from_ms(8) * round;
        for flow in [1, 2] {
            let _ = manager.enqueue(now, packet(1500, flow), PacketHandle(flow.into()), &mut context);
        }
        for _ in [1, 2] {
            let _ = manager.dequeue(now + Span::from_ms(6), &mut context);
        }
    }
    context.dropped.len()
}

#[test]
fn the_last_packet_of_a_flow_is_kept_in_cake_and_dropped_in_ns3() {
    assert_eq!(lost_of_lone_packets(FqCobaltConfig::CAKE), 0);
    assert!(lost_of_lone_packets(FqCobaltConfig::NS3) > 100);
}

#[test]
fn a_sub_flow_is_named_only_where_a_flow_has_one_to_keep() {
    let of = |config: ManagerConfig, meta: &Meta| config.build().sub_flow(meta);
    let sets = FlowListsConfig { ways: 8, ..FlowListsConfig::BASE };
    let in_sets = ManagerConfig::from(FqCodelConfig { flows: sets, ..FqCodelConfig::RFC8290 });
    assert_eq!(of(in_sets, &packet(0, 5)), None);
    assert_eq!(of(ManagerConfig::from(CodelConfig::WHITE2013), &packet(0, 5)), None);
    // Background traffic has the sub-flow behind the 32 others.
    let marked = Meta { dscp: 8, ..packet(0, 5) };
    let sfq = |background| ManagerConfig::from(SfqConfig { background, ..SfqConfig::WHITE2013 });
    assert_eq!(of(sfq(true), &marked), Some(32));
    assert_eq!(of(sfq(false), &marked), Some(5));
    assert_eq!(of(sfq(true), &packet(0, 37)), Some(5));
}
