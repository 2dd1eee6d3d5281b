//! PIE's probability of a drop, found from outside: of the same calls with other draws at one arrival, those below it drop.
//!
//! Source: RFC 8033 section 4.1 (random dropping), 4.2 (probability), 4.4 (burst), 5.1 (values). Deviations: none known.

use crate::bench::{Bench, Draws, Event, packet, time_of};
use crate::row::{Finding, RATE, Row, Subject, Verdict};
use sojourn_base::{Ecn, Instant, Span};
use sojourn_queue::Reason;

pub(super) const PI1: Row = Row {
    id: "PI1",
    statement: "The probability follows 15 ms by gains of 0.125 and 1.25 each 15 ms, scaled from /2048 to /2 while it is small.",
    source: "RFC 8033 §4.2, §5.1",
    judge: probability,
};

pub(super) const PI2: Row = Row {
    id: "PI2",
    statement: "No early drop in the first 150 ms of a burst, and none while the delay is low or two packets wait.",
    source: "RFC 8033 §4.1, §4.4",
    judge: leniency,
};

const FULL: u32 = 1500;
const REFERENCE_S: f64 = 0.015;
const UPDATE: Span = Span::from_ms(15);
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;

/// No draw is as high as any probability here.
const HIGHEST: f64 = 1.0 - f64::EPSILON;

const BURST: Span = Span::from_ms(150);

/// The probability as the document has it, from the delays that a queue had.
struct Document {
    probability: f64,
    old_delay: f64,
    burst: Span,
}

impl Document {
    fn update(&mut self, delay: f64) {
        /// RFC 8033 section 4.2: below each, the change is divided by so much.
        const SCALES: [(f64, f64); 6] =
            [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
        const MOST_CHANGE: f64 = 0.02;
        const DECAY: f64 = 0.98;
        let scale = SCALES.iter().find(|(below, _)| self.probability < *below).map_or(1.0, |(_, scale)| *scale);
        let change = (ALPHA * (delay - REFERENCE_S) + BETA * (delay - self.old_delay)) / scale;
        self.probability = if self.burst > Span::ZERO {
            0.0
        } else if self.probability >= 0.1 {
            self.probability + change.min(MOST_CHANGE)
        } else {
            self.probability + change
        };
        if delay <= 0.0 && self.old_delay <= 0.0 {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst = self.burst.saturating_sub(UPDATE);
        let is_low = |delay: f64| delay < 0.5 * REFERENCE_S;
        if self.probability <= 0.0 && is_low(delay) && is_low(self.old_delay) {
            self.burst = BURST;
        }
        self.old_delay = delay;
    }
}

/// A queue that grows by one packet in ten: a bench after `slots` services, and the document's probability then.
fn grown<'a>(subject: &'a Subject<'a>, slots: u32) -> (Bench<'a>, f64) {
    let mut bench = Bench::new(subject, RATE, Draws::Constant(HIGHEST));
    let mut document = Document { probability: 0.0, old_delay: 0.0, burst: BURST };
    let (service, mut now) = (time_of(RATE, FULL), Instant::ZERO);
    let (mut update, mut delay) = (Instant::ZERO + UPDATE, 0.0);
    bench.offer(packet(FULL, 1, Ecn::NotEct));
    for slot in 0..slots {
        now += service;
        while update <= now {
            document.update(delay);
            update += UPDATE;
        }
        bench.wait(now);
        bench.offer(packet(FULL, 1, Ecn::NotEct));
        if slot % 10 == 0 {
            bench.offer(packet(FULL, 1, Ecn::NotEct));
        }
        if let Some((number, _)) = bench.take() {
            let came = usize::try_from(number).ok().and_then(|place| bench.arrivals.get(place));
            delay = came.map_or(0.0, |(at, _)| now.saturating_since(*at).as_secs_f64());
        }
    }
    (bench, document.probability)
}

/// Returns the probability of a drop of the next arrival after `slots` services.
fn found(subject: &Subject<'_>, slots: u32) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..24 {
        let middle = 0.5 * (low + high);
        let (mut bench, _) = grown(subject, slots);
        bench.draw(middle);
        let before = bench.signals();
        bench.offer(packet(FULL, 1, Ecn::NotEct));
        if bench.signals() > before {
            low = middle;
        } else {
            high = middle;
        }
        if bench.is_over() {
            break;
        }
    }
    0.5 * (low + high)
}

fn probability(subject: &Subject<'_>) -> Finding {
    /// After the burst allowance, while the scale is 32, 8, 2 and 1.
    const AT: [u32; 4] = [300, 450, 700, 1100];
    let (mut told, mut laws, mut holds, mut has_drawn) = (Vec::new(), Vec::new(), true, false);
    for slots in AT {
        let law = grown(subject, slots).1;
        subject.choose(None);
        let found = found(subject, slots);
        has_drawn |= subject.choose(None);
        holds &= (found - law).abs() <= 1e-6 + 1e-3 * law;
        told.push(format!("{found:.6}"));
        laws.push(format!("{law:.6}"));
    }
    let expected = format!("{} at 0.36, 0.54, 0.84, 1.32 s", laws.join(", "));
    if has_drawn {
        Finding::of(holds, expected, told.join(", "))
    } else {
        Finding::not_judged(expected, "it takes no number that it is handed, so none of its draws can be chosen")
    }
}

fn early_drops(bench: &Bench<'_>) -> Option<Instant> {
    let mut drops = bench.log().iter().filter_map(|(at, event)| match event {
        Event::Dropped(_, Reason::Early) | Event::Marked(_) => Some(*at),
        _ => None,
    });
    drops.next()
}

fn leniency(subject: &Subject<'_>) -> Finding {
    // Every draw is 0: whatever the probability, what may be dropped is.
    let service = time_of(RATE, FULL);
    let mut burst = Bench::new(subject, RATE, Draws::Constant(0.0));
    let mut now = Instant::from_ms(1);
    burst.wait(now);
    for _ in 0..40 {
        burst.offer(packet(FULL, 1, Ecn::NotEct));
    }
    for _ in 0..400 {
        now += service;
        burst.wait(now);
        burst.offer(packet(FULL, 1, Ecn::NotEct));
        let _ = burst.take();
    }
    let first = early_drops(&burst).map(|at| at.saturating_since(Instant::from_ms(1)).as_ms_f64());
    // A queue of 3.6 ms has less than half the reference: nothing is dropped even after the burst allowance.
    let mut low = Bench::new(subject, RATE, Draws::Constant(0.0));
    let mut now = Instant::from_ms(1);
    low.wait(now);
    for slot in 0..3000_u32 {
        now += service;
        low.wait(now);
        for _ in 0..if slot == 0 { 4 } else { 1 } {
            low.offer(packet(FULL, 1, Ecn::NotEct));
        }
        let _ = low.take();
    }
    let quiet = early_drops(&low).is_none();
    let has_drawn = subject.choose(None);
    let told = first.map_or("none".to_owned(), |first| format!("the first after {first:.1} ms"));
    let finding = Finding::of(
        quiet && first.is_some_and(|first| first >= (BURST - UPDATE).as_ms_f64()),
        "none before 150 ms, counted in updates of 15 ms; then drops; none at 3.6 ms",
        format!("{told}; {} at 3.6 ms", if quiet { "none" } else { "some" }),
    );
    if has_drawn || finding.verdict == Verdict::Pass {
        finding
    } else {
        Finding::not_judged(finding.expected, "it takes no number that it is handed")
    }
}
