//! Golden traces: load of a manager, and the trace of its actions.
//!
//! A course of six loads that every kind is led through, and the arrivals of a run of the simulator. Both meet a line
//! that sends one packet after the other.
//!
//! Source: none; loads are `chosen:`. Deviations: none known.

use crate::bench::{Draws, Host};
use sojourn_base::{BitRate, Bytes, Ecn, Instant, Limit, Meta, PacketHandle, Packets, Seed, ServiceQueue};
use sojourn_keys::{Configured, Visitor};
use sojourn_queue::trace::{Input, Recorder, Trace};
use sojourn_queue::{Backlog, ConfigProblem, Held, ManagerConfig, ManagerKind, QueueContext, QueueManager, Verdict};
use std::sync::{Arc, Mutex, PoisonError};

/// The line of the course. chosen: a full-size packet takes 3 ms, less than the target of any law.
pub const COURSE_RATE: BitRate = BitRate::from_mbps(4);

/// Arrivals, and the rate of the line.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// Times in ns, ascending, and packets.
    pub arrivals: Vec<(u64, Meta)>,
    /// Rates of the line from these times in ns on; the first is at 0.
    pub rates: Vec<(u64, BitRate)>,
}

const MS: u64 = 1_000_000;

impl Load {
    /// The arrivals of a run on a line of one rate.
    pub fn of_run(arrivals: &[(Instant, Meta)], rate: BitRate) -> Self {
        let in_ns = arrivals.iter().map(|(at, meta)| (at.as_ns(), *meta));
        Self { arrivals: in_ns.collect(), rates: vec![(0, rate)] }
    }

    /// Lone packets, a burst of 200 that drains, a queue that stands for 3 s, packets of all ECN fields and two code
    /// points, and a line that is ten times slower for a second.
    pub fn course() -> Self {
        const FIELDS: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        let mut load = Self {
            rates: vec![
                (0, COURSE_RATE),
                (8000 * MS, BitRate::from_bps(COURSE_RATE.as_bps() / 10)),
                (9000 * MS, COURSE_RATE),
            ],
            ..Self::default()
        };
        // Lone packets: each finds nothing.
        for (number, length) in (0_u64..).zip([64, 300, 576, 1000, 1500]) {
            load.push(number * 40 * MS, length, 1, Ecn::NotEct);
        }
        // 200 at once: 0.6 s at this rate.
        for number in 0..200 {
            load.push(400 * MS, 1500, number % 4, Ecn::NotEct);
        }
        // A tenth more than the line carries, of four flows, and small packets of a fifth that has its own queue.
        load.stream(1500..4500, 2_200_000, |number| {
            let length = [1500, 1500, 576][number % 3];
            (length, number % 4, Ecn::NotEct)
        });
        load.stream(1503..4500, 5_000_000, |_| (200, 7, Ecn::NotEct));
        // One and a half times as much, of all ECN fields.
        load.stream(5000..6500, 2_000_000, |number| (1500, 10 + number % 4, FIELDS[number % 4]));
        load.stream(5001..6500, 20_000_000, |_| (1200, 20, Ecn::Ect1));
        // Nine tenths of the line, which then is ten times slower.
        load.stream(7500..8300, 3_333_000, |number| (1500, 30 + number % 3, [Ecn::Ect0, Ecn::Ect1][number % 2]));
        load.arrivals.sort_by_key(|(at, _)| *at);
        load
    }

    fn push(&mut self, at: u64, length: u32, flow: usize, ecn: Ecn) {
        let number = u32::try_from(flow).expect("few flows");
        let meta = Meta {
            length,
            // Spread as hashes are.
            flow_hash: number.wrapping_add(1).wrapping_mul(2_654_435_761),
            ecn,
            // Non-queue-building, without ECN.
            dscp: if flow == 7 { 45 } else { 0 },
            pure_ack: length == 64,
            ..Meta::default()
        };
        self.arrivals.push((at, meta));
    }

    /// Adds packets from one millisecond to another, `gap` ns apart.
    fn stream(&mut self, ms: core::ops::Range<u64>, gap: u64, packet: impl Fn(usize) -> (u32, usize, Ecn)) {
        let mut at = ms.start * MS;
        for number in 0.. {
            if at >= ms.end * MS {
                return;
            }
            let (length, flow, ecn) = packet(number);
            self.push(at, length, flow, ecn);
            at += gap;
        }
    }

    fn rate_at(&self, now: u64) -> BitRate {
        let reached = self.rates.iter().take_while(|(from, _)| *from <= now);
        reached.last().map_or(BitRate::ZERO, |(_, rate)| *rate)
    }
}

/// Leads a manager through a load and returns the trace of it.
///
/// # Panics
/// If a limit is a time and the load has no rate.
pub fn record(config: &ManagerConfig, load: &Load) -> Trace {
    let mut recorder = Recorder::new(config, load.rates.first().map(|(_, rate)| *rate));
    let draws = Draws::Stream(Box::new(Seed(1).stream("golden/draws")));
    let mut host = Host::new(draws, BitRate::ZERO);
    let mut coming = (0_u64..).zip(&load.arrivals).peekable();
    // When the line is free again; `None` while it waits for a packet.
    let mut free: Option<u64> = None;
    loop {
        let arrival = coming.peek().map(|(_, (at, _))| *at);
        let now = match (free, arrival) {
            (Some(free), Some(at)) => free.min(at),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return recorder.finish(),
        };
        while let Some(at) = recorder.next_timer().filter(|due| *due <= now) {
            host.rate = load.rate_at(at);
            recorder.call(Input::Timer { at }, &mut host);
        }
        host.rate = load.rate_at(now);
        if free != Some(now) {
            let Some((item, (at, meta))) = coming.next() else {
                continue;
            };
            let arrival = Input::Arrival { at: *at, item: item + 1, meta: *meta };
            recorder.call(arrival, &mut host);
            if free.is_some() {
                continue;
            }
        }
        let chance = Input::Opportunity { at: now, queue: None };
        let sent = recorder.call(chance, &mut host);
        free = sent.map(|item| {
            let place = usize::try_from(item - 1).expect("it came");
            let length = Bytes(load.arrivals[place].1.length.into());
            now + host.rate.time_for(length).as_ps().div_ceil(1000)
        });
    }
}

/// The arrivals that a manager sees in a run.
pub type Arrivals = Arc<Mutex<Vec<(Instant, Meta)>>>;

/// A manager whose arrivals are written down; no file can ask for it.
#[derive(Clone, Debug)]
pub struct Observed {
    inner: ManagerConfig,
    arrivals: Arrivals,
}

impl Observed {
    /// A manager of these parameters, and where its arrivals are written.
    pub fn new(inner: ManagerConfig) -> (Self, Arrivals) {
        let arrivals = Arrivals::default();
        let observed = Self { inner, arrivals: Arc::clone(&arrivals) };
        (observed, arrivals)
    }
}

impl PartialEq for Observed {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner && Arc::ptr_eq(&self.arrivals, &other.arrivals)
    }
}

impl Configured for Observed {
    const KIND: &'static str = "observed";
    const ABOUT: &'static str = "another manager, whose arrivals are written down";

    fn base() -> Self {
        let inner = sojourn_queue::DropTailConfig {
            limit: Limit::Packets(Packets(1)),
            ..sojourn_queue::DropTailConfig::bytes(0)
        };
        Self::new(inner.into()).0
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        self.inner = self.inner.shown(visitor);
    }

    fn kind(&self) -> &'static str {
        self.inner.kind()
    }
}

impl ManagerKind for Observed {
    fn build(&self) -> Box<dyn QueueManager> {
        Box::new(ObservedQueue { inner: self.inner.build(), arrivals: Arc::clone(&self.arrivals) })
    }

    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn limit_mut(&mut self) -> Option<&mut Limit> {
        self.inner.limit_mut()
    }

    fn least_packets(&self) -> Packets {
        self.inner.least_packets()
    }

    fn estimates_delay(&self) -> bool {
        self.inner.estimates_delay()
    }

    fn has_service_queues(&self) -> bool {
        self.inner.has_service_queues()
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.inner.collect_problems(problems);
    }
}

#[derive(Debug)]
struct ObservedQueue {
    inner: Box<dyn QueueManager>,
    arrivals: Arrivals,
}

impl QueueManager for ObservedQueue {
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Verdict {
        let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        arrivals.push((now, meta));
        drop(arrivals);
        self.inner.enqueue(now, meta, item, context)
    }

    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        self.inner.dequeue(now, context)
    }

    fn dequeue_from(&mut self, now: Instant, queue: ServiceQueue, context: &mut dyn QueueContext) -> Option<Held> {
        self.inner.dequeue_from(now, queue, context)
    }

    fn notices_idling(&self) -> bool {
        self.inner.notices_idling()
    }

    fn backlog_of(&self, queue: ServiceQueue) -> Backlog {
        self.inner.backlog_of(queue)
    }

    fn head_length(&self) -> Option<u32> {
        self.inner.head_length()
    }

    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        self.inner.sub_flow(meta)
    }

    fn next_timer(&self) -> Option<Instant> {
        self.inner.next_timer()
    }

    fn on_timer(&mut self, now: Instant, context: &mut dyn QueueContext) {
        self.inner.on_timer(now, context);
    }
}
