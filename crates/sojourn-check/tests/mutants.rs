//! Managers with one fault each: every fault fails exactly its rows.

use sojourn_base::{BitRate, Bytes, Ecn, Instant, Limit, Meta, PacketHandle, Packets, Span};
use sojourn_check::{Subject, Verdict, judge, rows};
use sojourn_queue::{
    Backlog, CodelConfig, CodelLaw, CodelQueue, DropTailConfig, DropTailQueue, DualPi2Config, FqCodelConfig, Held,
    ManagerConfig, QueueContext, QueueManager, Reason, Verdict as Fate,
};
use std::collections::VecDeque;
use std::time::SystemTime;

fn failing(config: &ManagerConfig, like: &str) -> Vec<&'static str> {
    let failed = judge(config, like).into_iter().filter(|(_, finding)| finding.verdict == Verdict::Fail);
    failed.map(|(row, _)| row.id).collect()
}

/// The rows that a queue fails which no file can ask for.
pub(crate) fn failing_made(make: &dyn Fn() -> Box<dyn QueueManager>, like: &str) -> Vec<&'static str> {
    let subject = Subject {
        like,
        make,
        limit: Some(Limit::Packets(Packets(1000))),
        has_service_queues: false,
        choose_draws: None,
        has_failed: &|| false,
        cost: None,
    };
    let failed = rows(like).into_iter().filter(|row| row.judge(&subject).verdict == Verdict::Fail);
    failed.map(|row| row.id).collect()
}

#[test]
fn codel_with_half_the_interval_breaks_its_control_law() {
    let law = CodelLaw { interval: Span::from_ms(50), ..CodelLaw::RFC8289 };
    let config = CodelConfig { law, ..CodelConfig::BASE };
    assert_eq!(failing(&config.into(), "codel"), ["CD2", "CD3"]);
}

#[test]
fn dualpi2_with_a_coupling_of_four_breaks_the_coupling() {
    let config = DualPi2Config { coupling: 4.0, ..DualPi2Config::RFC9332 };
    assert_eq!(failing(&config.into(), "dualpi2"), ["DQ1"]);
}

/// PIE without the table of scales.
#[derive(Debug)]
struct UnscaledPie {
    line: VecDeque<Held>,
    bytes: u64,
    probability: f64,
    delay: f64,
    old_delay: f64,
    burst: u32,
    next: Instant,
}

const UPDATE: Span = Span::from_ms(15);

impl UnscaledPie {
    fn new() -> Self {
        Self {
            line: VecDeque::new(),
            bytes: 0,
            probability: 0.0,
            delay: 0.0,
            old_delay: 0.0,
            burst: 10,
            next: Instant::ZERO + UPDATE,
        }
    }
}

impl QueueManager for UnscaledPie {
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Fate {
        let held = Held::new(now, meta, item);
        let low = self.old_delay < 0.0075 && self.probability < 0.2;
        let reason = if self.line.len() == 1000 {
            Some(Reason::Overlimit)
        } else if self.burst == 0 && !low && self.bytes > 2048 && context.unit() < self.probability {
            Some(Reason::Early)
        } else {
            None
        };
        if let Some(reason) = reason {
            context.dropped(held, reason);
            return Fate::Dropped(reason);
        }
        self.bytes += u64::from(meta.length);
        self.line.push_back(held);
        Fate::Accepted
    }

    fn dequeue(&mut self, now: Instant, _: &mut dyn QueueContext) -> Option<Held> {
        let held = self.line.pop_front()?;
        self.bytes -= u64::from(held.meta.length);
        let waited = now.saturating_since(held.enqueued_at).as_secs_f64();
        self.delay = if self.line.is_empty() { 0.0 } else { waited };
        Some(held)
    }

    fn backlog(&self) -> Backlog {
        Backlog { bytes: Bytes(self.bytes), packets: Packets(u32::try_from(self.line.len()).expect("a short queue")) }
    }

    fn next_timer(&self) -> Option<Instant> {
        Some(self.next)
    }

    fn on_timer(&mut self, _: Instant, _: &mut dyn QueueContext) {
        self.next += UPDATE;
        let change = 0.125 * (self.delay - 0.015) + 1.25 * (self.delay - self.old_delay);
        self.probability = if self.burst > 0 { 0.0 } else { (self.probability + change).clamp(0.0, 1.0) };
        self.burst = self.burst.saturating_sub(1);
        if self.probability <= 0.0 && self.delay < 0.0075 && self.old_delay < 0.0075 {
            self.burst = 10;
        }
        self.old_delay = self.delay;
    }
}

#[test]
fn pie_without_scales_breaks_its_probability() {
    assert_eq!(failing_made(&|| Box::new(UnscaledPie::new()), "pie"), ["PI1"]);
}

/// FQ-CoDel without a list of new flows: each flow waits for its turn.
#[derive(Debug)]
struct NoNewFlows {
    flows: Vec<(CodelQueue, i64)>,
    turns: VecDeque<usize>,
    waits: Backlog,
}

const QUANTUM: i64 = 1514;

impl NoNewFlows {
    /// A queue has changed.
    fn count(&mut self, place: usize, before: Backlog) {
        let after = self.flows[place].0.backlog();
        self.waits.bytes = self.waits.bytes + after.bytes - before.bytes;
        self.waits.packets = self.waits.packets + after.packets - before.packets;
    }

    fn new() -> Self {
        let one = CodelConfig { limit: Limit::Packets(Packets(1000)), ..CodelConfig::BASE };
        let flows = (0..1024).map(|_| (CodelQueue::new(one), 0)).collect();
        Self { flows, turns: VecDeque::new(), waits: Backlog::default() }
    }
}

impl QueueManager for NoNewFlows {
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Fate {
        /// Of the longest flow, the oldest packets, as the document wants it beyond the limit.
        const AT_ONCE: u32 = 64;
        let place = (meta.flow_hash >> 22) as usize;
        let (queue, deficit) = &mut self.flows[place];
        if queue.backlog().packets.0 == 0 && !self.turns.contains(&place) {
            *deficit = QUANTUM;
            self.turns.push_back(place);
        }
        let before = queue.backlog();
        let fate = queue.enqueue(now, meta, item, context);
        self.count(place, before);
        if self.waits.packets.0 > 1000 {
            let longest = (0..1024).max_by_key(|n| self.flows[*n].0.backlog().packets).expect("there are flows");
            let before = self.flows[longest].0.backlog();
            for _ in 0..AT_ONCE.min(before.packets.0 / 2) {
                let queue = &mut self.flows[longest].0;
                let held = queue.dequeue(now, context).expect("half of it waits");
                context.dropped(held, Reason::Overlimit);
            }
            self.count(longest, before);
        }
        fate
    }

    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        loop {
            let place = *self.turns.front()?;
            let (queue, deficit) = &mut self.flows[place];
            if *deficit <= 0 {
                *deficit += QUANTUM;
                self.turns.rotate_left(1);
                continue;
            }
            let before = queue.backlog();
            let sent = queue.dequeue(now, context);
            if let Some(held) = sent {
                *deficit -= i64::from(held.meta.length);
            } else {
                self.turns.pop_front();
            }
            self.count(place, before);
            if sent.is_some() {
                return sent;
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.waits
    }
}

#[test]
fn fq_codel_without_new_flows_lets_a_new_flow_wait() {
    assert_eq!(failing_made(&|| Box::new(NoNewFlows::new()), "fq-codel"), ["FQ1"]);
    assert_eq!(failing(&FqCodelConfig::BASE.into(), "fq-codel"), Vec::<&str>::new());
}

/// Fault of a drop-tail queue.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// One packet in 100,000 is gone.
    Loses,
    /// Now and then two packets of a flow change places.
    Reorders,
    /// Packets that cannot be marked are.
    MarksNotEct,
    /// The time of day decides.
    ReadsAClock,
    /// It says that more waits than does.
    Miscounts,
    /// It is asked twice before it sends.
    Hesitates,
}

/// A drop-tail queue with a fault.
#[derive(Debug)]
struct Faulty {
    inner: DropTailQueue,
    fault: Fault,
    calls: u64,
    kept_back: Option<Held>,
}

impl Faulty {
    fn new(fault: Fault) -> Self {
        let config = DropTailConfig { limit: Limit::Packets(Packets(1000)), ..DropTailConfig::bytes(0) };
        Self { inner: DropTailQueue::new(config), fault, calls: 0, kept_back: None }
    }
}

/// A fault: managers must not read the time of day.
#[expect(clippy::disallowed_methods, reason = "the fault that is to be found")]
fn is_odd_now() -> bool {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.expect("a clock").subsec_nanos() % 8 < 2
}

impl QueueManager for Faulty {
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Fate {
        self.calls += 1;
        match self.fault {
            Fault::Loses if self.calls.is_multiple_of(100_000) => Fate::Accepted,
            Fault::ReadsAClock if is_odd_now() => {
                context.dropped(Held::new(now, meta, item), Reason::Early);
                Fate::Dropped(Reason::Early)
            }
            _ => self.inner.enqueue(now, meta, item, context),
        }
    }

    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        if let Some(held) = self.kept_back.take() {
            return Some(held);
        }
        if matches!(self.fault, Fault::Hesitates) {
            self.calls += 1;
            if self.calls.is_multiple_of(1000) {
                return None;
            }
        }
        let mut held = self.inner.dequeue(now, context)?;
        match self.fault {
            Fault::Reorders if held.item.0 % 500 == 0 => {
                if let Some(next) = self.inner.dequeue(now, context) {
                    self.kept_back = Some(held);
                    return Some(next);
                }
            }
            Fault::MarksNotEct if held.item.0 % 500 == 0 && held.meta.ecn == Ecn::NotEct => {
                held.meta.ecn = Ecn::Ce;
                context.marked(&held, Reason::Early);
            }
            _ => {}
        }
        Some(held)
    }

    fn backlog(&self) -> Backlog {
        let mut backlog = self.inner.backlog();
        if let Some(held) = self.kept_back {
            backlog.packets += Packets(1);
            backlog.bytes += Bytes(held.meta.length.into());
        }
        if matches!(self.fault, Fault::Miscounts) && backlog.packets.0 == 13 {
            backlog.packets = Packets(14);
        }
        backlog
    }
}

#[test]
fn each_fault_of_a_drop_tail_queue_fails_its_rows_alone() {
    for (fault, rows) in [
        (Fault::Loses, &["X1"][..]),
        (Fault::Hesitates, &["X2"]),
        (Fault::Miscounts, &["X3"]),
        (Fault::Reorders, &["X4"]),
        (Fault::MarksNotEct, &["X5", "NQ1"]),
        (Fault::ReadsAClock, &["X6", "NQ1"]),
    ] {
        let failed = failing_made(&|| Box::new(Faulty::new(fault)), "drop-tail");
        assert_eq!(failed, rows, "{fault:?}");
    }
}

/// Two drop-tail queues: packets with a code point of their own go first.
#[derive(Debug)]
struct ByCodePoint([DropTailQueue; 2]);

impl QueueManager for ByCodePoint {
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Fate {
        self.0[usize::from(meta.dscp == 0)].enqueue(now, meta, item, context)
    }

    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        self.0.iter_mut().find_map(|queue| queue.dequeue(now, context))
    }

    fn backlog(&self) -> Backlog {
        let [first, second] = [0, 1].map(|place| self.0[place].backlog());
        Backlog { bytes: first.bytes + second.bytes, packets: first.packets + second.packets }
    }
}

#[test]
fn code_points_may_overtake_only_where_nothing_says_that_there_is_one_queue() {
    let make = || -> Box<dyn QueueManager> {
        let queue =
            || DropTailQueue::new(DropTailConfig { limit: Limit::Packets(Packets(500)), ..DropTailConfig::bytes(0) });
        Box::new(ByCodePoint([queue(), queue()]))
    };
    for (like, failed) in [("drop-tail", &["X4"][..]), ("", &[]), ("cake", &[])] {
        assert_eq!(failing_made(&make, like), failed, "as {like:?}");
    }
}

#[test]
fn what_does_not_fit_is_no_signal_of_codel() {
    let short = || -> Box<dyn QueueManager> {
        let limit = Limit::Packets(Packets(50));
        Box::new(DropTailQueue::new(DropTailConfig { limit, ..DropTailConfig::bytes(0) }))
    };
    assert_eq!(failing_made(&short, "codel"), ["CD2", "CD3"]);
}

#[test]
fn a_queue_beyond_its_limit_fails_that_row() {
    #[derive(Debug)]
    struct Endless(VecDeque<Held>, u64);
    impl QueueManager for Endless {
        fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, _: &mut dyn QueueContext) -> Fate {
            self.1 += u64::from(meta.length);
            self.0.push_back(Held::new(now, meta, item));
            Fate::Accepted
        }
        fn dequeue(&mut self, _: Instant, _: &mut dyn QueueContext) -> Option<Held> {
            let held = self.0.pop_front()?;
            self.1 -= u64::from(held.meta.length);
            Some(held)
        }
        fn backlog(&self) -> Backlog {
            Backlog { bytes: Bytes(self.1), packets: Packets(u32::try_from(self.0.len()).unwrap()) }
        }
    }
    assert_eq!(failing_made(&|| Box::new(Endless(VecDeque::new(), 0)), "drop-tail"), ["X7"]);
}

#[test]
fn a_limit_in_time_is_one_in_bytes() {
    let config = ManagerConfig::from(DualPi2Config::RFC9332).at(BitRate::from_mbps(10));
    assert_eq!(config.limit(), Some(Limit::Bytes(Bytes(312_500))));
}
