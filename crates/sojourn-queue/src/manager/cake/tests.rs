use super::*;
use crate::Shaper;
use alloc::vec::Vec;
use proptest::prelude::*;

/// A link of a rate that keeps what is dropped.
#[derive(Default)]
struct Link {
    rate: BitRate,
    dropped: Vec<(u32, u32)>,
}

impl QueueContext for Link {
    fn dropped(&mut self, packet: Held, _: Reason) {
        let meta = packet.meta;
        self.dropped.push((meta.flow_hash, meta.length));
    }

    fn marked(&mut self, _: &Held, _: Reason) {}

    fn unit(&mut self) -> f64 {
        0.5
    }

    fn shaper(&self) -> Shaper {
        Shaper::of(self.rate)
    }
}

fn link(mbps: u64) -> Link {
    Link { rate: BitRate::from_mbps(mbps), ..Link::default() }
}

fn meta(flow_hash: u32, dscp: u8, host: u16, length: u32) -> Meta {
    Meta { flow_hash, dscp, host, length, ..Meta::default() }
}

#[test]
fn target_interval_quantum_and_memory_are_those_of_the_rate() {
    // Vector D2: a packet and a half of 1514 B at 1 and 2 Mb/s is above 5 ms.
    for (mbps, target_us, interval_us, quantum, memory) in [
        (1, 18_168, 113_168, 300, 4 << 20),
        (2, 9_084, 104_084, 300, 4 << 20),
        (5, 5_000, 100_000, 300, 4 << 20),
        (20, 5_000, 100_000, 610, 4 << 20),
        (100, 5_000, 100_000, 1514, 5_000_000),
    ] {
        let mut queue = CakeQueue::new(CakeConfig::BEST_EFFORT);
        queue.look(&link(mbps));
        let law = queue.tins[0].at.law();
        assert_eq!(law.target, Span::from_us(target_us), "{mbps} Mb/s");
        assert_eq!(law.interval, Span::from_us(interval_us), "{mbps} Mb/s");
        assert_eq!(super::quantum(queue.tins[0].rate), quantum, "{mbps} Mb/s");
        assert_eq!(queue.memory, Bytes(memory), "{mbps} Mb/s");
    }
}

#[test]
fn tins_are_those_of_the_tables() {
    for (tins, shares, expected) in [
        (Tins::BestEffort, 1, [0, 0, 0, 0, 0, 0]),
        (Tins::Diffserv3, 3, [0, 1, 0, 0, 2, 2]),
        (Tins::Diffserv4, 4, [0, 1, 2, 3, 3, 3]),
    ] {
        assert_eq!(tins.shares().len(), shares);
        // CS0, CS1, AF21, CS4, EF, CS6.
        assert_eq!([0, 8, 18, 32, 46, 48].map(|dscp| tins.of(dscp)), expected);
    }
}

/// Returns the number of packets of the first DSCP that leave a link of 8 Mb/s, of one packet of 1000 B each
/// millisecond, while packets of both wait.
fn served(dscps: [u8; 2]) -> usize {
    let mut queue = CakeQueue::new(CakeConfig::DIFFSERV4);
    let mut context = link(8);
    let mut first = 0;
    for ms in 0..800 {
        let now = Instant::from_ms(ms);
        for (flow, dscp) in (1..).zip(dscps) {
            while queue.tins[Tins::Diffserv4.of(dscp)].flows.bins.backlog().packets < Packets(3) {
                let _ = queue.enqueue(now, meta(flow, dscp, 0, 1000), PacketHandle(0), &mut context);
            }
        }
        let packet = queue.dequeue(now, &mut context).expect("packets wait");
        first += usize::from(packet.meta.flow_hash == 1);
    }
    first
}

#[test]
fn a_tin_goes_first_up_to_its_threshold_and_not_beyond() {
    // Voice may have a quarter of the rate before best effort; what is beyond goes to whose time comes first, which is best
    // effort's: its threshold is the whole rate.
    let voice = served([46, 0]);
    assert!((195..=215).contains(&voice), "{voice} of 800");
    // Bulk has a sixteenth.
    let bulk = served([8, 0]);
    assert!((45..=60).contains(&bulk), "{bulk} of 800");
    let streams = served([34, 0]);
    assert!((390..=415).contains(&streams), "{streams} of 800");
}

#[test]
fn hosts_share_alike_however_many_flows_they_have() {
    let alike = [Isolation::Triple, Isolation::DualSource, Isolation::DualDestination].map(|hosts| (hosts, 0.45, 0.55));
    for (hosts, low, high) in alike.into_iter().chain([(Isolation::Flows, 0.18, 0.22)]) {
        let mut queue = CakeQueue::new(CakeConfig { hosts, ..CakeConfig::BEST_EFFORT });
        let mut context = link(100);
        let mut bytes = [0_u32; 2];
        // Four flows of host 7, and one of host 9.
        let flows = [(1, 7), (2, 7), (3, 7), (4, 7), (5, 9)];
        for (flow, host) in flows {
            for _ in 0..3 {
                let _ = queue.enqueue(Instant::ZERO, meta(flow, 0, host, 1500), PacketHandle(0), &mut context);
            }
        }
        for us in 0..10_000 {
            let now = Instant::from_us(120 * us);
            let packet = queue.dequeue(now, &mut context).expect("packets wait");
            bytes[usize::from(packet.meta.host == 9)] += packet.meta.length;
            let again = packet.meta;
            let _ = queue.enqueue(now, again, PacketHandle(0), &mut context);
        }
        assert!(context.dropped.is_empty());
        let share = f64::from(bytes[1]) / f64::from(bytes[0] + bytes[1]);
        assert!((low..high).contains(&share), "{hosts:?}: {share}");
    }
}

#[test]
fn the_longest_queue_of_all_tins_pays_when_memory_is_full() {
    let mut queue = CakeQueue::new(CakeConfig { memory: Some(Bytes(10_000)), ..CakeConfig::DIFFSERV4 });
    let mut context = link(8);
    let mut offer = |flow, dscp| queue.enqueue(Instant::ZERO, meta(flow, dscp, 0, 1000), PacketHandle(0), &mut context);
    for _ in 0..10 {
        assert_eq!(offer(1, 0), Verdict::Accepted);
    }
    // Two of voice push out two of the long queue; a queue of its own in another tin is not touched.
    assert_eq!(offer(2, 46), Verdict::Accepted);
    assert_eq!(offer(2, 46), Verdict::Accepted);
    assert_eq!(context.dropped, [(1, 1000), (1, 1000)]);
    assert_eq!(queue.backlog().bytes, Bytes(10_000));
    assert_eq!(queue.backlog().packets, Packets(10));
}

#[test]
fn without_a_rate_tins_take_turns() {
    let mut queue = CakeQueue::new(CakeConfig::DIFFSERV3);
    let mut context = Link::default();
    let mut voice = 0;
    for turn in 0..1_000 {
        let now = Instant::from_ms(turn);
        for (flow, dscp) in [(1, 46), (2, 0)] {
            let _ = queue.enqueue(now, meta(flow, dscp, 0, 256), PacketHandle(0), &mut context);
        }
        let packet = queue.dequeue(now, &mut context).expect("packets wait");
        voice += u32::from(packet.meta.dscp == 46);
    }
    // Quanta of 256 and 1024 bytes.
    assert!((180..=220).contains(&voice), "{voice} of 1000");
}

#[test]
fn a_tin_that_has_just_run_empty_lets_its_queues_decay() {
    // `cake_dequeue` looks at `decaying_flows` of each tin that it chooses, and chooses this one for a queue that is empty by now.
    let mut queue = CakeQueue::new(CakeConfig::DIFFSERV3);
    let mut context = Link::default();
    let counts = |queue: &CakeQueue| queue.tins[0].cobalts.iter().map(Cobalt::count).sum::<u32>();
    let mut pass = |queue: &mut CakeQueue, flow, dscp, arrives_ms, leaves_ms| {
        let packet = meta(flow, dscp, 0, 100);
        let _ = queue.enqueue(Instant::from_ms(arrives_ms), packet, PacketHandle(0), &mut context);
        let left = queue.dequeue(Instant::from_ms(leaves_ms), &mut context).expect("one waits");
        assert_eq!(left.meta.flow_hash, flow);
    };
    pass(&mut queue, 1, 0, 0, 0);
    // Late: its queue counts an episode, due at 110 ms, and decays from the next call on.
    pass(&mut queue, 1, 0, 0, 10);
    pass(&mut queue, 2, 0, 10, 10);
    assert_eq!(counts(&queue), 1);
    pass(&mut queue, 3, 8, 300, 300);
    assert_eq!(counts(&queue), 0);
}

#[test]
fn hosts_are_those_of_the_home() {
    let wrong = |hosts, direction| CakeConfig { hosts, ..CakeConfig::BEST_EFFORT }.problem_in(direction).is_some();
    let of = |hosts| [wrong(hosts, Direction::Upstream), wrong(hosts, Direction::Downstream)];
    assert_eq!(of(Isolation::Triple), [false, false]);
    assert_eq!(of(Isolation::Flows), [false, false]);
    assert_eq!(of(Isolation::DualSource), [false, true]);
    assert_eq!(of(Isolation::DualDestination), [true, false]);
}

/// The turns of one tin as Linux has them: `cake_enqueue` from "flowchain" on, and `cake_dequeue` from "service this class" on.
/// Queues that decay stand for none: no packet leaves them.
#[derive(Default)]
struct Turns {
    flows: std::collections::BTreeMap<u32, Flow>,
    new: std::collections::VecDeque<u32>,
    old: std::collections::VecDeque<u32>,
    bulk: std::collections::BTreeMap<u16, i64>,
    quantum: i64,
}

#[derive(Default)]
struct Flow {
    packets: std::collections::VecDeque<u32>,
    set: Set,
    deficit: i64,
    host: u16,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Set {
    #[default]
    None,
    Sparse,
    SparseWait,
    Bulk,
}

impl Turns {
    /// Returns a host's quantum: `host_load` without the random bit.
    fn share(&self, host: u16) -> i64 {
        self.quantum / self.bulk.get(&host).copied().unwrap_or(0).max(1)
    }

    fn enqueue(&mut self, flow: u32, host: u16, length: u32) {
        let share = self.share(host);
        let state = self.flows.entry(flow).or_default();
        state.packets.push_back(length);
        match state.set {
            Set::None => {
                (state.set, state.host, state.deficit) = (Set::Sparse, host, share);
                self.new.push_back(flow);
            }
            Set::SparseWait => {
                state.set = Set::Bulk;
                *self.bulk.entry(host).or_default() += 1;
            }
            Set::Sparse | Set::Bulk => {}
        }
    }

    fn dequeue(&mut self) -> Option<(u32, u32)> {
        if self.flows.values().all(|flow| flow.packets.is_empty()) {
            return None;
        }
        loop {
            let (list, flow) = match (self.new.front(), self.old.front()) {
                (Some(&flow), _) => (&mut self.new, flow),
                (None, Some(&flow)) => (&mut self.old, flow),
                (None, None) => return None,
            };
            let state = self.flows.get_mut(&flow).unwrap();
            let host = state.host;
            if state.deficit <= 0 {
                list.pop_front();
                self.old.push_back(flow);
                if state.set == Set::Sparse {
                    state.set = if state.packets.is_empty() { Set::SparseWait } else { Set::Bulk };
                    *self.bulk.entry(host).or_default() += i64::from(state.set == Set::Bulk);
                }
                let share = self.share(host);
                self.flows.get_mut(&flow).unwrap().deficit += share;
                continue;
            }
            if let Some(length) = state.packets.pop_front() {
                state.deficit -= i64::from(length);
                return Some((flow, length));
            }
            list.pop_front();
            *self.bulk.entry(host).or_default() -= i64::from(state.set == Set::Bulk);
            state.set = Set::None;
        }
    }
}

proptest! {
    #[test]
    fn turns_are_those_of_linux(steps in proptest::collection::vec((0_u32..8, 64_u32..1515, 0_u32..3), 1..600)) {
        // Eight flows of three hosts, of five, one and two; a COBALT that never signals.
        let law = CobaltLaw { target: Span::from_s(1000), interval: Span::from_s(1000), ..CakeConfig::BEST_EFFORT.law };
        let mut queue = CakeQueue::new(CakeConfig { law, ..CakeConfig::BEST_EFFORT });
        let mut context = link(30);
        let mut turns = Turns { quantum: i64::from(quantum(BitRate::from_mbps(30))), ..Turns::default() };
        for (at, (flow, length, served)) in (0..).zip(steps) {
            let (now, host) = (Instant::from_us(10 * at), [1, 1, 1, 1, 1, 2, 3, 3][flow as usize]);
            let packet = Meta { flow_hash: 8 * flow, ..meta(0, 0, host, length) };
            let _ = queue.enqueue(now, packet, PacketHandle(0), &mut context);
            turns.enqueue(flow, host, length);
            for _ in 0..served {
                let found = queue.dequeue(now, &mut context).map(|it| (it.meta.flow_hash / 8, it.meta.length));
                prop_assert_eq!(found, turns.dequeue());
            }
        }
    }
}
