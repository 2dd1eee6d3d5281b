//! DOCSIS-PIE leaves a first burst alone and spreads its drops.
//!
//! Source: RFC 8034 section 4.1 to 4.5 and appendix A. Deviations: none known.

use crate::bench::{Bench, Draws, Event, packet, time_of};
use crate::row::{Finding, RATE, Row, Subject};
use sojourn_base::{Ecn, Instant};
use sojourn_queue::Reason;

pub(super) const DP1: Row = Row {
    id: "DP1",
    statement: "No early drop in the first 142 ms of a burst; drops are derandomised, so two never follow each other at once.",
    source: "RFC 8034 §4.2, §4.5, A.1.2",
    judge: spread,
};

const FULL: u32 = 1500;

/// Early drops of a standing queue, as times and arrivals since the run began, when every draw is `unit`.
fn drops(subject: &Subject<'_>, unit: f64) -> Vec<(f64, u64)> {
    let mut bench = Bench::new(subject, RATE, Draws::Constant(unit));
    let (service, mut now) = (time_of(RATE, FULL), Instant::from_ms(1));
    bench.wait(now);
    for _ in 0..40 {
        bench.offer(packet(FULL, 1, Ecn::NotEct));
    }
    for _ in 0..3000 {
        now += service;
        bench.wait(now);
        bench.offer(packet(FULL, 1, Ecn::NotEct));
        let _ = bench.take();
    }
    let dropped = bench.log().iter().filter_map(|(at, event)| match event {
        Event::Dropped(number, Reason::Early) => Some((at.saturating_since(Instant::from_ms(1)).as_ms_f64(), *number)),
        _ => None,
    });
    dropped.collect()
}

fn spread(subject: &Subject<'_>) -> Finding {
    /// RFC 8034 A.1.2: MAX_BURST, less an update.
    const BURST_MS: f64 = 142.0 - 16.0;
    // Every draw is 0: a drop as soon as the sum of probabilities allows one.
    let found = drops(subject, 0.0);
    let closest = found.windows(2).map(|pair| pair[1].1 - pair[0].1).min();
    let first = found.first().map(|(ms, _)| *ms);
    Finding::of(
        first.is_some_and(|first| first >= BURST_MS) && closest.is_some_and(|gap| gap > 1),
        "none in 142 ms, counted in updates of 16 ms; then drops with packets between them, at draws of 0",
        match (first, closest) {
            (Some(first), Some(gap)) => {
                format!("the first after {first:.1} ms, at least {gap} arrivals apart")
            }
            (Some(first), None) => format!("one, after {first:.1} ms"),
            _ => "no early drop".into(),
        },
    )
}
