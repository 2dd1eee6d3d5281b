//! CoDel signals a standing queue, and nothing else.
//!
//! Source: RFC 8289 section 4.1 (when), 4.2 and 5.6 (how often), 5.5 (where it resumes), 4.3 and 4.4 (5 ms, 100 ms).
//! Deviations: none known.

use crate::bench::{Bench, Draws, Event, packet, time_of};
use crate::row::{Finding, RATE, Row, Subject};
use sojourn_base::{BitRate, Ecn, Instant, Span};
use sojourn_queue::Reason;

pub(super) const CD1: Row = Row {
    id: "CD1",
    statement: "No signal while the delay is below 5 ms, while hardly a packet waits, or before an interval has passed.",
    source: "RFC 8289 §4.1",
    judge: no_signal,
};

pub(super) const CD2: Row = Row {
    id: "CD2",
    statement: "A standing queue is signalled first after 100 ms, and then each 100 ms over the root of the count.",
    source: "RFC 8289 §5.6",
    judge: control_law,
};

pub(super) const CD3: Row = Row {
    id: "CD3",
    statement: "Within 16 intervals an episode resumes at the count that the last one added, later ones at one.",
    source: "RFC 8289 §5.5",
    judge: resumption,
};

const FULL: u32 = 1500;
const TARGET: Span = Span::from_ms(5);
const INTERVAL: Span = Span::from_ms(100);

/// Returns true if an event signals congestion; a drop for lack of room is none.
fn is_signal(event: &Event) -> bool {
    match event {
        Event::Marked(_) => true,
        Event::Dropped(_, reason) => !matches!(reason, Reason::Overlimit | Reason::FatFlow),
        _ => false,
    }
}

fn signals(bench: &Bench<'_>) -> usize {
    let all = bench.log().iter();
    all.filter(|(_, event)| is_signal(event)).count()
}

fn bench<'a>(subject: &'a Subject<'a>, rate: BitRate) -> Bench<'a> {
    let mut bench = Bench::new(subject, rate, Draws::Constant(0.5));
    bench.wait(Instant::from_ms(1));
    bench
}

fn no_signal(subject: &Subject<'_>) -> Finding {
    let mut told = Vec::new();
    // 3.6 ms at 10 Mb/s stand for 3 s: three packets wait when one comes for each that leaves.
    let mut low = bench(subject, RATE);
    stand(&mut low, 3, 2500);
    told.push(("3.6 ms for 3 s", signals(&low)));
    // A packet a second at 16 kb/s: each waits for 750 ms of sending, and none behind it.
    let mut lone = bench(subject, BitRate::from_kbps(16));
    let arrivals: Vec<_> =
        (1..20).map(|second| (Instant::from_ms(1 + 700 * second), packet(FULL, 1, Ecn::NotEct))).collect();
    lone.drive(&arrivals[..2], Instant::from_s(30));
    told.push(("one packet behind another on 16 kb/s", signals(&lone)));
    // 200 packets at once drain in 24 ms at 100 Mb/s.
    let mut burst = bench(subject, BitRate::from_mbps(100));
    let arrivals = vec![(Instant::from_ms(2), packet(FULL, 1, Ecn::NotEct)); 200];
    burst.drive(&arrivals, Instant::from_s(1));
    told.push(("200 packets that drain in 24 ms", signals(&burst)));
    let found: Vec<String> = told.iter().map(|(what, signals)| format!("{what}: {signals}")).collect();
    Finding::of(told.iter().all(|(_, signals)| *signals == 0), "no signal in three cases", found.join("; "))
}

/// A packet comes for each that leaves, after some have come at once.
fn stand(bench: &mut Bench<'_>, first: u32, then: u32) {
    let service = time_of(RATE, FULL);
    let mut now = Instant::from_ms(1);
    for _ in 0..first {
        bench.offer(packet(FULL, 1, Ecn::NotEct));
    }
    for _ in 0..then {
        now += service;
        bench.wait(now);
        bench.offer(packet(FULL, 1, Ecn::NotEct));
        let _ = bench.take();
    }
}

fn control_law(subject: &Subject<'_>) -> Finding {
    /// V-5 of the specification, by hand: 100 over the roots of 1 to 4, summed.
    const SINCE_FIRST_MS: [f64; 5] = [0.0, 100.0, 170.711, 228.446, 278.446];
    const STANDING: u32 = 80;
    let mut bench = bench(subject, RATE);
    stand(&mut bench, STANDING, 500);
    let service_ms = time_of(RATE, FULL).as_ms_f64();
    let above = bench.log().iter().find_map(|(at, event)| match event {
        Event::Sent(number, ..) => {
            let place = usize::try_from(*number).ok()?;
            let waited = at.saturating_since(bench.arrivals.get(place)?.0);
            (waited >= TARGET).then_some(*at)
        }
        _ => None,
    });
    let signals: Vec<Instant> = bench
        .log()
        .iter()
        .filter(|(_, event)| is_signal(event))
        .map(|(at, _)| *at)
        .take(SINCE_FIRST_MS.len())
        .collect();
    let since = |from: Instant, at: &Instant| at.saturating_since(from).as_ms_f64();
    let expected = "100 ms after the delay reached 5 ms; then 0, 100, 170.7, 228.4, 278.4 ms; each within a packet";
    let (Some(above), Some(first)) = (above, signals.first()) else {
        return Finding::of(false, expected, "no signal");
    };
    let waited = since(above, first);
    let is_first = (waited - INTERVAL.as_ms_f64()).abs() <= service_ms + 1e-6;
    let gaps: Vec<f64> = signals.iter().map(|at| since(*first, at)).collect();
    let follow = gaps.len() == SINCE_FIRST_MS.len()
        && gaps.iter().zip(SINCE_FIRST_MS).all(|(found, law)| (-1e-6..=service_ms + 1e-3).contains(&(found - law)));
    let told: Vec<String> = gaps.iter().map(|gap| format!("{gap:.1}")).collect();
    Finding::of(is_first && follow, expected, format!("{waited:.1} ms; then {} ms", told.join(", ")))
}

/// The line of episodes. chosen: fast, so that gaps between signals are resolved to a tenth of a millisecond.
const FAST: BitRate = BitRate::from_mbps(100);

/// Returns the times of signals while 80 packets wait, until there are `signals` of them, and while the rest is sent.
fn episode(bench: &mut Bench<'_>, from: Instant, signals: usize) -> Vec<Instant> {
    /// chosen: 9.6 ms, more than the target.
    const STANDING: u32 = 80;
    /// chosen: a second and a half, three times what sixteen signals take.
    const MOST: u32 = 12_500;
    let (mut now, before) = (from, bench.signals());
    bench.wait(now);
    let first = bench.log().len();
    let mut services = 0;
    loop {
        let given = bench.signals() - before;
        if usize::try_from(given).is_ok_and(|given| given < signals) && services < MOST {
            let missing = STANDING.saturating_sub(bench.backlog().packets.0);
            for _ in 0..missing {
                bench.offer(packet(FULL, 1, Ecn::NotEct));
            }
        } else if bench.backlog().packets.0 == 0 || bench.is_over() {
            break;
        }
        services += 1;
        now += time_of(FAST, FULL);
        bench.wait(now);
        let _ = bench.take();
        if services > 2 * MOST {
            break;
        }
    }
    let _ = bench.take(); // which finds nothing
    bench.log()[first..].iter().filter(|(_, event)| is_signal(event)).map(|(at, _)| *at).collect()
}

fn resumption(subject: &Subject<'_>) -> Finding {
    /// Signals of the first episode, and of the others. chosen: far apart, so that the rules of other versions give other paces.
    const MANY: usize = 15;
    const FEW: usize = 5;
    /// Intervals from the last signal of an episode to the standing queue of the next. chosen: between the 8 of versions
    /// before the document and its 16, close, and beyond 16.
    const APART: [u64; 3] = [12, 3, 20];
    /// chosen: implementations compute the root in a few bits; the paces to distinguish differ by 40 % and more.
    const NEAR: f64 = 0.1;
    let expected = "the second signal after 100 ms over the root of what the episode before added: \
        at 12 and 3 intervals; after 100 ms at 20";
    let mut bench = bench(subject, FAST);
    let first = episode(&mut bench, Instant::from_ms(2), MANY);
    let (Some(mut last), mut added) = (first.last().copied(), first.len().saturating_sub(1)) else {
        return Finding::of(false, expected, "no signal");
    };
    let (mut told, mut laws, mut holds) = (Vec::new(), Vec::new(), added > FEW);
    for intervals in APART {
        let signals = episode(&mut bench, last + INTERVAL.saturating_mul(intervals), FEW);
        let [one, two, ..] = signals[..] else {
            return Finding::of(false, expected, format!("{} signals in an episode", signals.len()));
        };
        let count = if intervals < 16 { added.max(1) } else { 1 };
        let law = INTERVAL.as_ms_f64() / (count as f64).sqrt();
        let gap = two.saturating_since(one).as_ms_f64();
        holds &= (gap - law).abs() <= NEAR * law + time_of(FAST, FULL).as_ms_f64();
        told.push(format!("{gap:.1}"));
        laws.push(format!("{law:.1}"));
        added = signals.len() - 1;
        last = signals[signals.len() - 1];
    }
    Finding::of(holds, format!("{expected}: {} ms", laws.join(", ")), format!("{} ms", told.join(", ")))
}
