//! Queue Protection: how many packets at once are too many, and that a smooth flow never is.
//!
//! Source: RFC 9957 section 4 with its default values; DOCSIS 3.1 MULPI annex P. Deviations: none known.

use crate::bench::{Bench, Draws, Event, packet};
use crate::row::{Finding, Row, Subject};
use sojourn_base::{BitRate, Ecn, Instant, ServiceQueue, Span};

pub(super) const QP1: Row = Row {
    id: "QP1",
    statement: "Of packets at once on an idle line, the first that is sent to the classic queue is the one of the document's arithmetic.",
    source: "RFC 9957 §4",
    judge: bursts,
};

pub(super) const QP2: Row = Row {
    id: "QP2",
    statement: "A flow that never builds a queue is never sanctioned.",
    source: "RFC 9957 §4",
    judge: smooth,
};

/// A marked packet of a flow: DSCP 45, not ECN-capable.
fn marked(length: u32) -> sojourn_base::Meta {
    sojourn_base::Meta { dscp: 45, ..packet(length, 7, Ecn::NotEct) }
}

/// The first packet, counted from one, that is not in the low-latency queue after all came at once.
fn first_sanctioned(subject: &Subject<'_>, rate: BitRate, length: u32) -> Option<u64> {
    let mut bench = Bench::new(subject, rate, Draws::Constant(0.5));
    bench.wait(Instant::from_ms(1));
    for _ in 0..100 {
        bench.offer(marked(length));
    }
    while bench.take().is_some() {}
    let sanctioned = bench.log().iter().filter_map(|(_, event)| match event {
        Event::Sent(number, _, ServiceQueue::Classic) | Event::Dropped(number, _) => Some(*number + 1),
        _ => None,
    });
    sanctioned.min()
}

fn bursts(subject: &Subject<'_>) -> Finding {
    /// Rate in Mb/s, length with 18 B of Ethernet, the packet: V-9 of the specification, by a script of the document's
    /// formulas with its values: 4 ms of score, 2^19 B/s of ageing.
    const CASES: [(u64, u32, u64); 8] = [
        (10, 1218, 5),
        (10, 318, 19),
        (20, 1218, 5),
        (20, 318, 20),
        (50, 1218, 6),
        (50, 318, 24),
        (200, 1218, 21),
        (200, 318, 79),
    ];
    let found: Vec<Option<u64>> =
        CASES.iter().map(|(rate, length, _)| first_sanctioned(subject, BitRate::from_mbps(*rate), *length)).collect();
    let told: Vec<String> = found.iter().map(|first| first.map_or("none".into(), |first| first.to_string())).collect();
    Finding::of(
        found.iter().zip(CASES).all(|(found, (_, _, law))| *found == Some(law)),
        "5, 19; 5, 20; 6, 24; 21, 79: of 1218 and 318 B at 10, 20, 50, 200 Mb/s",
        told.join(", "),
    )
}

fn smooth(subject: &Subject<'_>) -> Finding {
    let mut bench = Bench::new(subject, BitRate::from_mbps(10), Draws::Constant(0.5));
    let arrivals: Vec<_> = (1..3000).map(|n| (Instant::ZERO + Span::from_ms(20) * n, marked(218))).collect();
    bench.drive(&arrivals, Instant::NEVER);
    let sanctioned = bench
        .log()
        .iter()
        .filter(|(_, event)| matches!(event, Event::Sent(_, _, ServiceQueue::Classic) | Event::Dropped(..)))
        .count();
    Finding::of(sanctioned == 0, "0 of 2999 packets of a call, one each 20 ms", sanctioned.to_string())
}
