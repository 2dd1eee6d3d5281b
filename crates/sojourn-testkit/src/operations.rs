//! Random operation lists for queue managers, and the run that writes down what each one did.

use crate::context::{TestContext, number_of};
use proptest::prelude::*;
use sojourn_base::{BitRate, Bytes, Ecn, Instant, Meta, PacketHandle, ServiceQueue, Span};
use sojourn_queue::{Backlog, Held, QueueManager, Reason, Shaper, Verdict};

/// Something that happens to a queue.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// A packet arrives; packets are numbered from 0 in order of arrival.
    Arrive(Meta),
    /// A transmission opportunity starts.
    Serve,
    /// Time passes; timers that are due run.
    Wait(Span),
}

/// Effect of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Packet so-and-so was accepted.
    Accepted(u32),
    /// An arrival was refused, or dropped in the same call.
    Refused(u32, Reason),
    /// A packet that had been accepted was given up.
    Dropped(u32, Reason),
    /// A packet was marked.
    Marked(u32),
    /// A packet was sent, with its ECN field and mark as they were then, from this queue.
    Delivered(u32, Ecn, ServiceQueue),
    /// An opportunity found nothing to send.
    Nothing,
}

/// One arrival or opportunity in a run's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Time since the start of the run.
    pub at: Span,
    /// Effects: marks first, then drops, then the fate of the arrival or opportunity.
    pub effects: Vec<Effect>,
    /// Packets that waited after it.
    pub backlog: Backlog,
}

/// A log of everything, and the packets in order of their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// The log.
    pub lines: Vec<Logged>,
    /// The arrivals.
    pub arrivals: Vec<Meta>,
}

impl Log {
    /// Everything that happened, in order.
    pub fn effects(&self) -> impl Iterator<Item = Effect> {
        self.lines.iter().flat_map(|line| line.effects.iter().copied())
    }

    /// The packet with this number, as it arrived.
    pub fn arrival(&self, number: u32) -> &Meta {
        &self.arrivals[number as usize]
    }
}

/// Runs `operations` from `start` on; timers due before that run first. The packets' handles are
/// their numbers. Draws come from `seed`; the shaper is a fixed one.
pub fn run(manager: &mut dyn QueueManager, operations: &[Operation], start: Instant, seed: u64) -> Log {
    let mut context = TestContext::random(seed);
    context.shaper = Shaper { tokens: Bytes(2000), sustained: BitRate::from_mbps(5), peak: BitRate::from_mbps(20) };
    let mut log = Log { lines: Vec::new(), arrivals: Vec::new() };
    let mut now = start;
    run_timers(manager, now, &mut context);
    for operation in operations {
        let mut effects = Vec::new();
        match *operation {
            Operation::Wait(span) => {
                now += span;
                run_timers(manager, now, &mut context);
                assert!(context.dropped.is_empty(), "a timer dropped a packet");
                continue;
            }
            Operation::Arrive(meta) => {
                let arrival = u32::try_from(log.arrivals.len()).expect("a short test");
                log.arrivals.push(meta);
                let verdict = manager.enqueue(now, meta, PacketHandle(arrival.into()), &mut context);
                check_sub_flows(manager, &context, None);
                effects.extend(give_ups(&mut context).into_iter().map(|(packet, reason)| {
                    if packet == arrival { Effect::Refused(packet, reason) } else { Effect::Dropped(packet, reason) }
                }));
                match verdict {
                    Verdict::Accepted | Verdict::Placed(_) => {
                        effects.push(Effect::Accepted(arrival));
                    }
                    Verdict::Dropped(reason) => assert!(
                        effects.contains(&Effect::Refused(arrival, reason)),
                        "packet {arrival} was refused for {reason:?} but not given back"
                    ),
                }
            }
            Operation::Serve => {
                let packet = manager.dequeue(now, &mut context);
                check_sub_flows(manager, &context, packet.as_ref());
                effects
                    .extend(give_ups(&mut context).into_iter().map(|(packet, reason)| Effect::Dropped(packet, reason)));
                effects.push(packet.map_or(Effect::Nothing, |packet| {
                    let Meta { ecn, queue, .. } = packet.meta;
                    Effect::Delivered(number_of(packet.item), ecn, queue)
                }));
            }
        }
        for (packet, _) in context.marked.drain(..) {
            effects.insert(0, Effect::Marked(number_of(packet.item)));
        }
        let of_queues = ServiceQueue::ALL.map(|queue| manager.backlog_of(queue).bytes.0);
        assert_eq!(of_queues.iter().sum::<u64>(), manager.backlog().bytes.0, "the queues make up the whole");
        let at = now.saturating_since(start);
        log.lines.push(Logged { at, effects, backlog: manager.backlog() });
    }
    log
}

/// Checks that a sent or marked packet names the sub-flow that the manager says its flow belongs to.
fn check_sub_flows(manager: &dyn QueueManager, context: &TestContext, sent: Option<&Held>) {
    let signalled = context.dropped.iter().chain(&context.marked);
    for packet in signalled.map(|(packet, _)| packet).chain(sent) {
        let (named, known) = (packet.sub_flow.get(), manager.sub_flow(&packet.meta));
        // Acknowledgements pass in a lane without sub-flows.
        let in_lane = packet.meta.queue == ServiceQueue::AckPriority && named.is_none();
        assert!(in_lane || known.is_none() || named == known, "sub-flow {named:?} where the manager says {known:?}");
    }
}

fn give_ups(context: &mut TestContext) -> Vec<(u32, Reason)> {
    context.dropped.drain(..).map(|(packet, reason)| (number_of(packet.item), reason)).collect()
}

fn run_timers(manager: &mut dyn QueueManager, now: Instant, context: &mut TestContext) {
    while let Some(due) = manager.next_timer()
        && due <= now
    {
        manager.on_timer(due, context);
        assert!(manager.next_timer().is_none_or(|next| next > due), "a timer must move on");
    }
}

/// Up to `most` operations on a handful of flows: bursts, gaps, all ECN fields, small and large
/// packets, now and then one far beyond an Ethernet frame.
pub fn operations(most: usize) -> impl Strategy<Value = Vec<Operation>> {
    prop::collection::vec(operation(), 0..most)
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        5 => packet().prop_map(Operation::Arrive),
        4 => Just(Operation::Serve),
        2 => (0..4_000_u64).prop_map(|us| Operation::Wait(Span::from_us(us))),
        1 => (0..200_u64).prop_map(|ms| Operation::Wait(Span::from_ms(ms))),
    ]
}

fn packet() -> impl Strategy<Value = Meta> {
    let length = prop_oneof![4 => 40..=1518_u32, 3 => Just(1500), 2 => Just(40), 1 => 1..=65_535_u32];
    let ecn = prop_oneof![
        3 => Just(Ecn::NotEct),
        2 => Just(Ecn::Ect0),
        2 => Just(Ecn::Ect1),
        1 => Just(Ecn::Ce),
    ];
    let dscp = prop_oneof![6 => Just(0), 1 => Just(45), 1 => Just(10)];
    (length, ecn, dscp, 0..6_u32, any::<bool>()).prop_map(|(length, ecn, dscp, flow, small)| Meta {
        length,
        flow_hash: flow,
        ecn,
        dscp,
        pure_ack: small && length <= 128,
        ..Meta::default()
    })
}
