//! A dual queue: coupled marks, a controller, and a classic queue that is not starved.
//!
//! Source: RFC 9332 section 2.1 (coupling), 2.5.1 (overload, starvation), appendix A.1 (values). Deviations: none known.

use crate::bench::{Bench, Draws, Event, packet, time_of};
use crate::row::{Finding, Row, Subject};
use sojourn_base::{BitRate, Ecn, Instant};

pub(super) const DQ1: Row = Row {
    id: "DQ1",
    statement: "Low-latency marks are twice the root of classic signals: k = 2.",
    source: "RFC 9332 §2.1, A.1",
    judge: coupling,
};

pub(super) const DQ2: Row = Row {
    id: "DQ2",
    statement: "Classic signals are the square of a likelihood that follows 15 ms by gains for round trips up to 100 ms.",
    source: "RFC 9332 A.1",
    judge: controller,
};

pub(super) const DQ3: Row = Row {
    id: "DQ3",
    statement: "A low-latency packet goes next, and many of them leave the classic queue a sixteenth or more.",
    source: "RFC 9332 §2.5.1, A.1",
    judge: scheduler,
};

const FULL: u32 = 1500;
const LINE: BitRate = BitRate::from_mbps(100);
const CLASSIC: u32 = 1;
const LOW_LATENCY: u32 = 2;
/// In every eighth service a low-latency packet comes, and is sent at once.
const EIGHTH: u64 = 8;

/// A queue whose classic delay is held by hand, and which low-latency packets pass.
struct Held<'a> {
    bench: Bench<'a>,
    now: Instant,
    slot: u64,
    /// Places in the log where phases begin.
    marks: Vec<usize>,
}

impl<'a> Held<'a> {
    /// `classic` packets wait.
    fn new(subject: &'a Subject<'a>, classic: u32) -> Self {
        let mut bench = Bench::new(subject, LINE, Draws::Constant(1.0 - f64::EPSILON));
        for _ in 0..classic {
            bench.offer(packet(FULL, CLASSIC, Ecn::Ect0));
        }
        Self { bench, now: Instant::ZERO, slot: 0, marks: vec![0] }
    }

    /// Runs `services` services; classic packets come as they leave, or not at all.
    fn run(&mut self, services: u64, refills: bool) {
        for _ in 0..services {
            self.now += time_of(LINE, FULL);
            self.bench.wait(self.now);
            self.slot += 1;
            if self.slot.is_multiple_of(EIGHTH) {
                self.bench.offer(packet(FULL, LOW_LATENCY, Ecn::Ect1));
            } else if refills {
                self.bench.offer(packet(FULL, CLASSIC, Ecn::Ect0));
            }
            let _ = self.bench.take();
        }
        self.marks.push(self.bench.log().len());
    }

    /// Packets that left and signals of a flow since a phase began.
    fn counts(&self, phase: usize, flow: u32) -> (u32, u32) {
        let (mut left, mut signals) = (0, 0);
        for (_, event) in &self.bench.log()[self.marks[phase]..] {
            let (number, is_signal) = match event {
                Event::Sent(number, ..) => (*number, false),
                Event::Dropped(number, _) | Event::Marked(number) => (*number, true),
                _ => continue,
            };
            let place = usize::try_from(number).unwrap_or(usize::MAX);
            if self.bench.arrivals.get(place).is_some_and(|(_, meta)| meta.flow_hash == flow) {
                left += u32::from(!is_signal);
                signals += u32::from(is_signal);
            }
        }
        (left, signals)
    }
}

/// Services in a time, in ms.
fn services(ms: u64) -> u64 {
    Instant::from_ms(ms).as_ps() / time_of(LINE, FULL).as_ps()
}

/// Classic packets that wait so long, in ms, when seven of eight services are theirs.
fn waiting(ms: u64) -> u32 {
    u32::try_from(services(ms) * (EIGHTH - 1) / EIGHTH).expect("some hundred")
}

fn coupling(subject: &Subject<'_>) -> Finding {
    // 25 ms raise the likelihood; then the delay is held at the target, where it stays as it is.
    let mut held = Held::new(subject, waiting(25));
    held.run(services(800), true);
    held.run(services(10), false);
    held.run(services(100), true);
    held.run(services(10_000), true);
    let share = |(left, signals): (u32, u32)| f64::from(signals) / f64::from(left.max(1));
    let low_latency = share(held.counts(3, LOW_LATENCY));
    let classic = share(held.counts(3, CLASSIC));
    let factor = low_latency / classic.sqrt();
    Finding::of(
        (factor / 2.0 - 1.0).abs() <= 0.05,
        "k = 2 within 5 %",
        format!(
            "k = {factor:.2}: {:.2} % of low-latency packets, {:.3} % of classic ones",
            100.0 * low_latency,
            100.0 * classic
        ),
    )
}

fn controller(subject: &Subject<'_>) -> Finding {
    const TARGET_S: f64 = 0.015;
    const LONGEST_ROUND_TRIP_S: f64 = 0.1;
    let mut held = Held::new(subject, waiting(25));
    let Some(period) = held.bench.next_timer().map(Instant::as_secs_f64) else {
        return Finding::of(false, "updates", "no timer");
    };
    held.run(services(1000), true);
    let (_, signals) = held.counts(0, CLASSIC);
    // The same from the document, with the delays that the queue had.
    let alpha = 0.1 * period / (LONGEST_ROUND_TRIP_S * LONGEST_ROUND_TRIP_S);
    let beta = 0.3 / LONGEST_ROUND_TRIP_S;
    let (mut likelihood, mut old, mut due, mut sum) = (0.0_f64, 0.0, period, 0.0);
    let (mut oldest, mut came) = (0_usize, Vec::new());
    for (at, event) in held.bench.log() {
        let now = at.as_secs_f64();
        while due <= now {
            let delay = came.get(oldest).map_or(0.0, |came| due - came);
            likelihood = (likelihood + alpha * (delay - TARGET_S) + beta * (delay - old)).clamp(0.0, 1.0);
            old = delay;
            due += period;
        }
        let classic = |number: u64| {
            let place = usize::try_from(number).unwrap_or(usize::MAX);
            held.bench.arrivals.get(place).is_some_and(|(_, meta)| meta.flow_hash == CLASSIC)
        };
        match *event {
            Event::Offered(number, true) if classic(number) => came.push(now),
            Event::Sent(number, ..) if classic(number) => {
                oldest += 1;
                sum += likelihood * likelihood;
            }
            _ => {}
        }
    }
    let found = f64::from(signals);
    Finding::of(
        (found - sum).abs() <= 2.0 + 0.1 * sum,
        format!("{sum:.0} signals within 10 % at 25 ms for 1 s"),
        format!("{signals}"),
    )
}

fn scheduler(subject: &Subject<'_>) -> Finding {
    /// Less than an update of the controller, 15 ms.
    const SERVICES: u32 = 96;
    let mut bench = Bench::new(subject, LINE, Draws::Constant(1.0 - f64::EPSILON));
    let mut now = Instant::from_ms(1);
    bench.wait(now);
    for _ in 0..50 {
        bench.offer(packet(FULL, CLASSIC, Ecn::NotEct));
    }
    let _ = bench.take();
    let lone = bench.offer(packet(FULL, LOW_LATENCY, Ecn::Ect1));
    let is_next = bench.take().is_some_and(|(number, _)| number == lone);
    // Two services worth of low-latency packets wait for each that is given, before any update: the scheduler alone decides.
    for flow in 0..2 * SERVICES {
        bench.offer(packet(FULL, LOW_LATENCY + flow, Ecn::Ect1));
    }
    let (mut classic, mut all) = (0_u32, 0_u32);
    for _ in 0..SERVICES {
        now += time_of(LINE, FULL);
        bench.wait(now);
        if let Some((number, _)) = bench.take() {
            let place = usize::try_from(number).unwrap_or(usize::MAX);
            let came = bench.arrivals.get(place);
            all += 1;
            classic += u32::from(came.is_some_and(|(_, meta)| meta.flow_hash == CLASSIC));
        }
    }
    let share = f64::from(classic) / f64::from(all.max(1));
    Finding::of(
        is_next && share >= 0.8 / 16.0,
        "the next one; of 96 services a sixteenth, less a fifth of it",
        format!("{}; {:.1} %", if is_next { "the next one" } else { "not the next one" }, 100.0 * share),
    )
}
