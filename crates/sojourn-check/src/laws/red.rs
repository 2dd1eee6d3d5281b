//! RED signals an average queue, and none below its lower threshold.
//!
//! Source: Floyd and Jacobson 1993, section 4. Deviations: none known.

use crate::bench::{Bench, Draws, Event, packet, time_of};
use crate::row::{Finding, RATE, Row, Subject};
use sojourn_base::{Ecn, Instant, Limit};
use sojourn_queue::Reason;

pub(super) const RD1: Row = Row {
    id: "RD1",
    statement: "No early drop while the average is below the lower threshold; early drops above it.",
    source: "Floyd and Jacobson 1993 §4",
    judge: threshold,
};

const FULL: u32 = 1500;

/// Returns the early drops in 5 s of a queue of `packets` packets, when every draw is 0.
fn early(subject: &Subject<'_>, packets: u32) -> usize {
    let mut bench = Bench::new(subject, RATE, Draws::Constant(0.0));
    let mut now = Instant::from_ms(1);
    bench.wait(now);
    for _ in 0..4000 {
        while bench.backlog().packets.0 < packets {
            let before = bench.signals();
            bench.offer(packet(FULL, 1, Ecn::NotEct));
            if bench.signals() > before {
                break;
            }
        }
        now += time_of(RATE, FULL);
        bench.wait(now);
        let _ = bench.take();
    }
    let dropped = bench.log().iter().filter(|(_, event)| matches!(event, Event::Dropped(_, Reason::Early)));
    dropped.count()
}

fn threshold(subject: &Subject<'_>) -> Finding {
    /// Lower threshold of the configuration that is judged: a sixth of the limit.
    const SIXTH: u32 = 6;
    let expected = "none at half of a sixth of the limit, some at half of the limit";
    let Some(Limit::Packets(limit)) = subject.limit else {
        return Finding::not_judged(expected, "its limit is not in packets");
    };
    let (below, above) = (early(subject, limit.0 / SIXTH / 2), early(subject, limit.0 / 2));
    Finding::of(below == 0 && above > 0, expected, format!("{below}, {above} in 4.8 s, at draws of 0"))
}
