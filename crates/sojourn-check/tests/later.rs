//! Managers whose fault does not show in the first episode, the first packets or the first flows.

use crate::mutants::failing_made;
use sojourn_base::{BitRate, Bytes, Ecn, Instant, Limit, Meta, PacketHandle, Packets, Span};
use sojourn_check::{Subject, Verdict, rows};
use sojourn_queue::{
    Backlog, DropTailConfig, DropTailQueue, Held, ManagerConfig, QueueContext, QueueManager, Reason, Verdict as Fate,
};
use std::collections::VecDeque;

type Make<'a> = dyn Fn() -> Box<dyn QueueManager> + 'a;

/// The laws of its document that a manager breaks, and rows of the contract that take little time.
fn broken(make: &Make<'_>, like: &str) -> Vec<&'static str> {
    let limit = Some(Limit::Packets(Packets(1000)));
    let subject =
        Subject { like, make, limit, has_service_queues: false, choose_draws: None, has_failed: &|| false, cost: None };
    let short = rows(like).into_iter().filter(|row| !["X1", "X4", "NQ1"].contains(&row.id));
    short.filter(|row| row.judge(&subject).verdict == Verdict::Fail).map(|row| row.id).collect()
}

fn broken_by_line(line: &str, like: &str) -> Vec<&'static str> {
    let config = ManagerConfig::from_line(line, BitRate::from_mbps(10)).expect(line);
    broken(&|| config.build(), like)
}

/// Returns the count at which an episode resumes: by the count, the count with which the last one began, and intervals
/// since its last signal was due.
type Resumes = fn(u32, u32, f64) -> u32;

/// CoDel over one queue, as RFC 8289 section 5 spells it, with another rule of resumption.
#[derive(Debug)]
struct Resuming {
    line: VecDeque<Held>,
    bytes: u64,
    first_above: Option<Instant>,
    drop_next: Instant,
    count: u32,
    last_count: u32,
    dropping: bool,
    resumes: Resumes,
}

const TARGET: Span = Span::from_ms(5);
const INTERVAL: Span = Span::from_ms(100);

impl Resuming {
    fn new(resumes: Resumes) -> Self {
        Self {
            line: VecDeque::new(),
            bytes: 0,
            first_above: None,
            drop_next: Instant::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
            resumes,
        }
    }

    fn pull(&mut self, now: Instant) -> Option<(Held, bool)> {
        let Some(held) = self.line.pop_front() else {
            self.first_above = None;
            return None;
        };
        self.bytes -= u64::from(held.meta.length);
        if now.saturating_since(held.enqueued_at) < TARGET || self.bytes <= 1514 {
            self.first_above = None;
            return Some((held, false));
        }
        let due = *self.first_above.get_or_insert(now + INTERVAL);
        Some((held, now >= due))
    }

    fn law(&self, from: Instant) -> Instant {
        from + Span::from_secs_f64(0.1 / f64::from(self.count).sqrt())
    }
}

impl QueueManager for Resuming {
    fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Fate {
        let held = Held::new(now, meta, item);
        if self.line.len() == 1000 {
            context.dropped(held, Reason::Overlimit);
            return Fate::Dropped(Reason::Overlimit);
        }
        self.bytes += u64::from(meta.length);
        self.line.push_back(held);
        Fate::Accepted
    }

    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        let mut next = self.pull(now);
        if self.dropping {
            self.dropping = next.is_some_and(|(_, late)| late);
            while self.dropping && now >= self.drop_next {
                context.dropped(next?.0, Reason::Target);
                self.count += 1;
                next = self.pull(now);
                self.dropping = next.is_some_and(|(_, late)| late);
                if self.dropping {
                    self.drop_next = self.law(self.drop_next);
                }
            }
        } else if let Some((held, true)) = next {
            context.dropped(held, Reason::Target);
            next = self.pull(now);
            self.dropping = true;
            let since = now.saturating_since(self.drop_next).as_secs_f64() / 0.1;
            self.count = (self.resumes)(self.count, self.last_count, since);
            self.drop_next = self.law(now);
            self.last_count = self.count;
        }
        next.map(|(held, _)| held)
    }

    fn backlog(&self) -> Backlog {
        Backlog { bytes: Bytes(self.bytes), packets: Packets(u32::try_from(self.line.len()).expect("a short queue")) }
    }
}

/// The rule of the document, with another memory in intervals.
fn within(memory: f64, count: u32, last: u32, since: f64) -> u32 {
    let delta = count.saturating_sub(last);
    if delta > 1 && since < memory { delta } else { 1 }
}

#[test]
fn codel_that_resumes_elsewhere_breaks_resumption_alone() {
    let mutants: [(&str, Resumes, &[&str]); 6] = [
        ("as the document", |count, last, since| within(16.0, count, last, since), &[]),
        ("never", |_, _, _| 1, &["CD3"]),
        ("within 8 intervals", |count, last, since| within(8.0, count, last, since), &["CD3"]),
        ("for ever", |count, last, since| within(1e9, count, last, since), &["CD3"]),
        ("at the count less two", |count, _, since| if count > 2 && since < 16.0 { count - 2 } else { 1 }, &["CD3"]),
        ("at the count", |count, _, since| if since < 16.0 { count.max(1) } else { 1 }, &["CD3"]),
    ];
    for (what, resumes, rows) in mutants {
        assert_eq!(broken(&|| Box::new(Resuming::new(resumes)), "codel"), rows, "{what}");
    }
}

#[test]
fn versions_of_codel_before_the_document_break_resumption() {
    for variant in ["original2012", "nichols2013", "sfq2013"] {
        assert_eq!(broken_by_line(&format!("codel variant={variant}"), "codel"), ["CD3"], "{variant}");
    }
}

#[test]
fn few_queues_let_flows_meet() {
    for (queues, rows) in [(1024, &[][..]), (64, &["FQ4"]), (16, &["FQ4"])] {
        let line = format!("fq-codel queues={queues} limit=\"1000 packets\"");
        assert_eq!(broken_by_line(&line, "fq-codel"), rows, "{queues}");
    }
}

#[test]
fn pie_with_another_pace_or_other_gains_breaks_its_probability() {
    for line in
        ["pie update_interval=16ms", "pie reference=16ms", "pie alpha=0.25 beta=2.5", "pie alpha=0.25", "pie beta=2.5"]
    {
        assert_eq!(broken_by_line(line, "pie"), ["PI1"], "{line}");
    }
}

/// Fault of a queue before another.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// A packet that finds nothing waits for 30 ms.
    HoldsWhenIdle,
    /// One packet of 100,000 is dropped early.
    DropsOne,
    /// Ports of flows are not looked at.
    HashesAddresses,
}

#[derive(Debug)]
struct Faulty {
    inner: Box<dyn QueueManager>,
    fault: Fault,
    arrivals: u64,
    until: Instant,
}

impl QueueManager for Faulty {
    fn enqueue(&mut self, now: Instant, mut meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Fate {
        self.arrivals += 1;
        match self.fault {
            Fault::HoldsWhenIdle if self.inner.backlog().packets.0 == 0 => self.until = now + Span::from_ms(30),
            Fault::DropsOne if self.arrivals.is_multiple_of(100_000) => {
                context.dropped(Held::new(now, meta, item), Reason::Early);
                return Fate::Dropped(Reason::Early);
            }
            Fault::HashesAddresses => meta.flow_hash = 1,
            _ => {}
        }
        self.inner.enqueue(now, meta, item, context)
    }

    fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
        if matches!(self.fault, Fault::HoldsWhenIdle) && now < self.until {
            return None;
        }
        self.inner.dequeue(now, context)
    }

    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }
}

#[test]
fn rare_faults_and_faults_of_an_idle_line_fail_their_rows() {
    let drop_tail = || -> Box<dyn QueueManager> {
        let limit = Limit::Packets(Packets(1000));
        Box::new(DropTailQueue::new(DropTailConfig { limit, ..DropTailConfig::bytes(0) }))
    };
    let line = "fq-codel limit=\"1000 packets\"";
    let fq_codel = || ManagerConfig::from_line(line, BitRate::from_mbps(10)).expect("a line").build();
    let cases: [(Fault, &str, &Make<'_>, &[&str]); 3] = [
        (Fault::HoldsWhenIdle, "drop-tail", &drop_tail, &["X2"]),
        (Fault::DropsOne, "drop-tail", &drop_tail, &["NQ1"]),
        (Fault::HashesAddresses, "fq-codel", &fq_codel, &["FQ1", "FQ2", "FQ3", "FQ4"]),
    ];
    for (fault, like, inner, rows) in cases {
        let make = || -> Box<dyn QueueManager> {
            Box::new(Faulty { inner: inner(), fault, arrivals: 0, until: Instant::ZERO })
        };
        assert_eq!(failing_made(&make, like), rows, "{fault:?}");
    }
}

#[test]
fn a_marked_packet_is_a_signal_where_no_queue_stands() {
    /// Marks each hundredth packet that can be marked.
    #[derive(Debug)]
    struct Marks(DropTailQueue);
    impl QueueManager for Marks {
        fn enqueue(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut dyn QueueContext) -> Fate {
            self.0.enqueue(now, meta, item, context)
        }
        fn dequeue(&mut self, now: Instant, context: &mut dyn QueueContext) -> Option<Held> {
            let mut held = self.0.dequeue(now, context)?;
            if held.item.0 % 100 == 0 && matches!(held.meta.ecn, Ecn::Ect0 | Ecn::Ect1) {
                held.meta.ecn = Ecn::Ce;
                context.marked(&held, Reason::Early);
            }
            Some(held)
        }
        fn backlog(&self) -> Backlog {
            self.0.backlog()
        }
    }
    let limit = Limit::Packets(Packets(1000));
    let make = || -> Box<dyn QueueManager> {
        Box::new(Marks(DropTailQueue::new(DropTailConfig { limit, ..DropTailConfig::bytes(0) })))
    };
    assert_eq!(failing_made(&make, "drop-tail"), ["NQ1"]);
    assert_eq!(failing_made(&make, ""), Vec::<&str>::new());
}
