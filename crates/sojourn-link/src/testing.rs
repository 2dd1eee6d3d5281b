//! Shared parts of the unit tests of links: a context that keeps everything, and a driver.

use crate::{CongestionConfig, DelayParts, Draw, LinkContext, Loss, Mark, Passage, RateCycle, Stage, Transmit};
use sojourn_base::{
    BitRate, Bytes, FlowKey, Instant, Meta, PacketHandle, Packets, RandomStream, Seed, ServiceQueue, Span,
};
use sojourn_queue::{Backlog, Held, QueueContext, QueueManager, Reason, Score, SubFlow, Verdict};
use std::vec;
use std::vec::Vec;

/// Keeps what a link puts out; draws come from a stream per purpose.
#[derive(Clone, Debug)]
pub(crate) struct Collector {
    pub(crate) delivered: Vec<(u32, Meta, Passage)>,
    pub(crate) dropped: Vec<(u32, Meta, Loss)>,
    pub(crate) marked: Vec<(u32, Meta, Mark)>,
    streams: [RandomStream; Draw::ALL.len()],
    pub(crate) draws: [u64; Draw::ALL.len()],
    /// Work that may be done until the run is given up.
    pub(crate) work: u64,
}

impl Default for Collector {
    fn default() -> Self {
        Self::seeded(1)
    }
}

impl Collector {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self {
            delivered: Vec::new(),
            dropped: Vec::new(),
            marked: Vec::new(),
            streams: Draw::ALL.map(|purpose| Seed(seed).stream(purpose.as_str())),
            draws: [0; Draw::ALL.len()],
            work: u64::MAX,
        }
    }
}

impl LinkContext for Collector {
    fn inner(&mut self) -> Option<&mut (dyn LinkContext + '_)> {
        None
    }

    fn deliver(&mut self, item: PacketHandle, meta: &Meta, passage: &Passage) {
        self.delivered.push((number(item), *meta, *passage));
    }

    fn dropped(&mut self, item: PacketHandle, meta: &Meta, loss: &Loss) {
        self.dropped.push((number(item), *meta, *loss));
    }

    fn marked(&mut self, item: PacketHandle, meta: &Meta, mark: &Mark) {
        self.marked.push((number(item), *meta, *mark));
    }

    /// The copy of a packet has its number and a thousand.
    fn copy(&mut self, item: PacketHandle) -> Option<PacketHandle> {
        Some(PacketHandle(item.0 + 1000))
    }

    fn work(&mut self, units: u64) -> bool {
        let left = self.work.checked_sub(units);
        self.work = left.unwrap_or(0);
        left.is_some()
    }

    fn unit_at(&mut self, purpose: Draw, number: u64) -> f64 {
        self.streams[purpose as usize].unit_at((0, number))
    }

    fn luck(&mut self, flow: u32, number: u64, lot: u32) -> f64 {
        let stream = u64::from(lot) << 32 | u64::from(flow);
        self.streams[Draw::Conditions as usize].unit_at((stream, number))
    }

    fn unit(&mut self, purpose: Draw) -> f64 {
        self.draws[purpose as usize] += 1;
        self.streams[purpose as usize].unit()
    }
}

/// Notes which methods of a context were called.
#[derive(Debug, Default)]
pub(crate) struct Noted(Vec<&'static str>);

impl LinkContext for Noted {
    fn inner(&mut self) -> Option<&mut (dyn LinkContext + '_)> {
        None
    }

    fn deliver(&mut self, _: PacketHandle, _: &Meta, _: &Passage) {
        self.0.push("deliver");
    }

    fn dropped(&mut self, _: PacketHandle, _: &Meta, _: &Loss) {
        self.0.push("dropped");
    }

    fn marked(&mut self, _: PacketHandle, _: &Meta, _: &Mark) {
        self.0.push("marked");
    }

    fn scored(&mut self, _: PacketHandle, _: &Meta, _: &Score) {
        self.0.push("scored");
    }

    fn estimated(&mut self, _: &Meta, _: Span) {
        self.0.push("estimated");
    }

    fn unit(&mut self, _: Draw) -> f64 {
        self.0.push("unit");
        0.0
    }

    fn unit_at(&mut self, _: Draw, _: u64) -> f64 {
        self.0.push("unit_at");
        0.0
    }

    fn luck(&mut self, _: u32, _: u64, _: u32) -> f64 {
        self.0.push("luck");
        0.0
    }

    fn copy(&mut self, _: PacketHandle) -> Option<PacketHandle> {
        self.0.push("copy");
        None
    }

    fn flow(&mut self, _: PacketHandle) -> Option<FlowKey> {
        self.0.push("flow");
        None
    }

    fn remark(&mut self, _: PacketHandle, _: u8) {
        self.0.push("remark");
    }

    fn wants_delay(&mut self) -> bool {
        self.0.push("wants_delay");
        true
    }

    fn work(&mut self, _: u64) -> bool {
        self.0.push("work");
        true
    }
}

/// The calls that reach a context when every method is called of one that `around` puts around it.
pub(crate) fn calls_through(
    around: impl FnOnce(&mut Noted, &mut dyn FnMut(&mut dyn LinkContext)),
) -> Vec<&'static str> {
    let mut noted = Noted::default();
    around(&mut noted, &mut |context| {
        let (item, meta, at) = (PacketHandle(1), packet(1500), Instant::ZERO);
        let delay = DelayParts::default();
        let passage = Passage { entered_at: at, dequeued_at: at, arrives_at: at, delay, sub_flow: SubFlow::NONE };
        let loss = Loss { entered_at: at, stage: Stage::Queue, reason: Reason::Overlimit, sub_flow: SubFlow::NONE };
        context.deliver(item, &meta, &passage);
        context.dropped(item, &meta, &loss);
        context.marked(item, &meta, &Mark { entered_at: at, reason: Reason::Early, sub_flow: SubFlow::NONE });
        context.scored(item, &meta, &Score { bucket: 0, score: Span::ZERO, late: false, sanctioned: false });
        context.estimated(&meta, Span::ZERO);
        context.unit(Draw::QueueManager);
        context.unit_at(Draw::Backoff, 1);
        context.luck(1, 1, 1);
        context.copy(item);
        context.flow(item);
        context.remark(item, 1);
        context.wants_delay();
        context.work(1);
    });
    noted.0
}

/// A channel on which others leave `level` all the time.
pub(crate) fn steady(level: BitRate) -> CongestionConfig {
    CongestionConfig::Schedule(RateCycle {
        levels: vec![level],
        order: vec![0],
        dwell: Span::from_s(10),
        phase: 0,
        variation: 0.0,
        exhaustive: false,
    })
}

fn number(PacketHandle(number): PacketHandle) -> u32 {
    u32::try_from(number).expect("a short test")
}

/// A packet of `length` bytes.
pub(crate) fn packet(length: u32) -> Meta {
    Meta { length, ..Meta::default() }
}

/// Runs a link over arrivals `(time, length)` in order of time, numbered from 0, until it wants nothing
/// more or `until`; returns the number of wake-ups.
pub(crate) fn drive<L: Transmit<Collector>>(
    link: &mut L,
    arrivals: impl IntoIterator<Item = (Instant, u32)>,
    until: Instant,
    context: &mut Collector,
) -> u64 {
    let mut arrivals = arrivals.into_iter().peekable();
    let (mut wakeups, mut number) = (0, 0);
    loop {
        let wakeup = link.next_wakeup();
        let arrival = arrivals.peek().map_or(Instant::NEVER, |(at, _)| *at);
        if wakeup.min(arrival) > until || wakeup.min(arrival) == Instant::NEVER {
            return wakeups;
        }
        if arrival <= wakeup {
            let (at, length) = arrivals.next().expect("it was peeked at");
            link.on_arrival(at, packet(length), PacketHandle(number), context);
            number += 1;
        } else {
            link.on_wakeup(wakeup, context);
            wakeups += 1;
        }
    }
}

/// A queue manager that drops heads shorter than 100 B and tells (or does not tell) the length of the
/// head.
#[derive(Debug, Default)]
pub(crate) struct Picky {
    pub(crate) held: Vec<Held>,
    pub(crate) tells: bool,
}

impl QueueManager for Picky {
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, _: &mut dyn QueueContext) -> Verdict {
        self.held.push(Held::new(now, meta, item));
        Verdict::Accepted
    }

    fn dequeue(&mut self, _: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        while !self.held.is_empty() {
            let packet = self.held.remove(0);
            if packet.meta.length >= 100 {
                return Some(packet);
            }
            context.dropped(packet, Reason::Target);
        }
        None
    }

    fn head_length(&self) -> Option<u32> {
        self.held.first().map(|p| p.meta.length).filter(|_| self.tells)
    }

    fn backlog(&self) -> Backlog {
        Backlog {
            bytes: Bytes(self.held.iter().map(|p| u64::from(p.meta.length)).sum()),
            packets: Packets(u32::try_from(self.held.len()).expect("a short queue")),
        }
    }
}

/// A call of a manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Enqueue,
    Dequeue,
    Timer,
}

/// A first-in, first-out queue that records its calls and their times.
#[derive(Debug, Default)]
pub(crate) struct Diary {
    held: Vec<Held>,
    /// Time of the next timer, and its period.
    timer: Option<(Instant, Span)>,
    pub(crate) calls: Vec<(Call, Instant)>,
}

impl Diary {
    pub(crate) fn with_timer(period: Span) -> Self {
        Self { timer: Some((Instant::ZERO + period, period)), ..Self::default() }
    }

    /// Returns the times of `call`, in milliseconds rounded down.
    pub(crate) fn times_in_ms(&self, call: Call) -> Vec<u64> {
        let of = |(_, at): &(Call, Instant)| at.as_ns() / 1_000_000;
        self.calls.iter().filter(|c| c.0 == call).map(of).collect()
    }
}

impl QueueManager for Diary {
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, _: &mut dyn QueueContext) -> Verdict {
        self.calls.push((Call::Enqueue, now));
        self.held.push(Held::new(now, meta, item));
        Verdict::Accepted
    }

    fn dequeue(&mut self, now: Instant, _: &mut dyn QueueContext) -> Option<Held> {
        self.calls.push((Call::Dequeue, now));
        (!self.held.is_empty()).then(|| self.held.remove(0))
    }

    fn head_length(&self) -> Option<u32> {
        self.held.first().map(|packet| packet.meta.length)
    }

    fn backlog(&self) -> Backlog {
        Backlog {
            bytes: Bytes(self.held.iter().map(|p| u64::from(p.meta.length)).sum()),
            packets: Packets(u32::try_from(self.held.len()).expect("a short queue")),
        }
    }

    fn next_timer(&self) -> Option<Instant> {
        self.timer.map(|(at, _)| at)
    }

    fn on_timer(&mut self, now: Instant, _: &mut dyn QueueContext) {
        self.calls.push((Call::Timer, now));
        let (_, period) = self.timer.expect("it was due");
        self.timer = Some((now + period, period));
    }
}

/// Two first-in, first-out queues without limits, chosen by the `queue` of the packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct TwoQueues {
    queues: [std::collections::VecDeque<Held>; 2],
    bytes: [u64; 2],
}

impl TwoQueues {
    fn take(&mut self, queue: usize) -> Option<Held> {
        let packet = self.queues[queue].pop_front()?;
        self.bytes[queue] -= u64::from(packet.meta.length);
        Some(packet)
    }

    fn backlog_in(&self, queue: usize) -> Backlog {
        Backlog {
            bytes: Bytes(self.bytes[queue]),
            packets: Packets(u32::try_from(self.queues[queue].len()).expect("a short queue")),
        }
    }
}

impl QueueManager for TwoQueues {
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, _: &mut dyn QueueContext) -> Verdict {
        let queue = usize::from(meta.queue == ServiceQueue::LowLatency);
        self.bytes[queue] += u64::from(meta.length);
        self.queues[queue].push_back(Held::new(now, meta, item));
        Verdict::Placed(meta.queue)
    }

    /// The low-latency queue first.
    fn dequeue(&mut self, _: Instant, _: &mut dyn QueueContext) -> Option<Held> {
        self.take(1).or_else(|| self.take(0))
    }

    fn dequeue_from(&mut self, _: Instant, queue: ServiceQueue, _: &mut dyn QueueContext) -> Option<Held> {
        self.take(usize::from(queue == ServiceQueue::LowLatency))
    }

    fn backlog_of(&self, queue: ServiceQueue) -> Backlog {
        match queue {
            ServiceQueue::Classic => self.backlog_in(0),
            ServiceQueue::LowLatency => self.backlog_in(1),
            ServiceQueue::AckPriority => Backlog::default(),
        }
    }

    fn backlog(&self) -> Backlog {
        let (classic, low_latency) = (self.backlog_in(0), self.backlog_in(1));
        Backlog {
            bytes: classic.bytes + low_latency.bytes,
            packets: Packets(classic.packets.0 + low_latency.packets.0),
        }
    }
}

/// Runs a link over arrivals in order of time until it wants nothing more or `until`.
pub(crate) fn drive_packets<L: Transmit<C>, C: LinkContext>(
    link: &mut L,
    arrivals: impl IntoIterator<Item = (Instant, Meta)>,
    until: Instant,
    context: &mut C,
) {
    let mut arrivals = arrivals.into_iter().peekable();
    let mut number = 0;
    loop {
        let wakeup = link.next_wakeup();
        let arrival = arrivals.peek().map_or(Instant::NEVER, |(at, _)| *at);
        if wakeup.min(arrival) > until || wakeup.min(arrival) == Instant::NEVER {
            return;
        }
        if arrival <= wakeup {
            let (at, meta) = arrivals.next().expect("it was peeked at");
            link.on_arrival(at, meta, PacketHandle(number), context);
            number += 1;
        } else {
            link.on_wakeup(wakeup, context);
        }
    }
}
