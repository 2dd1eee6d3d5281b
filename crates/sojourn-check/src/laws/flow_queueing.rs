//! Flow queues take turns, and a new flow goes first.
//!
//! Source: RFC 8290 section 3 and 4.1 (new flows, fair shares), 4.1.3 (the fattest flow pays). Deviations: none known.

use crate::bench::{Bench, Draws, Event, packet};
use crate::row::{Finding, RATE, Row, Subject};
use sojourn_base::{Ecn, Instant, Limit};

pub(super) const FQ1: Row = Row {
    id: "FQ1",
    statement: "The first packet of a new flow goes before flows that have had their turn.",
    source: "RFC 8290 §4.2",
    judge: new_flow_first,
};

pub(super) const FQ2: Row = Row {
    id: "FQ2",
    statement: "Flows that never end share the line equally in bytes: Jain's index is at least 0.98.",
    source: "RFC 8290 §3.1",
    judge: equal_shares,
};

pub(super) const FQ3: Row = Row {
    id: "FQ3",
    statement: "Beyond the limit the longest flow pays at its head, by half of its packets and at most 64.",
    source: "RFC 8290 §4.1",
    judge: longest_pays,
};

pub(super) const FQ4: Row = Row {
    id: "FQ4",
    statement: "Flows seldom meet: with 1024 queues a new flow shares one with 64 that wait in 6 % of cases.",
    source: "RFC 8290 §4.1, §5.2.2",
    judge: many_queues,
};

const FULL: u32 = 1500;

fn hash(flow: u32) -> u32 {
    flow.wrapping_mul(2_654_435_761)
}

fn flow_of(bench: &Bench<'_>, number: u64) -> u32 {
    let place = usize::try_from(number).unwrap_or(usize::MAX);
    bench.arrivals.get(place).map_or(0, |(_, meta)| meta.flow_hash)
}

fn new_flow_first(subject: &Subject<'_>) -> Finding {
    const BACKLOGGED: u32 = 5;
    let mut bench = Bench::new(subject, RATE, Draws::Constant(0.5));
    let mut now = Instant::from_ms(1);
    bench.wait(now);
    for _ in 0..12 {
        for flow in 1..=BACKLOGGED {
            bench.offer(packet(FULL, hash(flow), Ecn::NotEct));
        }
    }
    // Each has sent two packets: none of them is new any more.
    let slot = crate::bench::time_of(RATE, FULL);
    for _ in 0..2 * BACKLOGGED {
        now += slot;
        bench.wait(now);
        let _ = bench.take();
    }
    let new = bench.offer(packet(200, hash(77), Ecn::NotEct));
    let mut before = 0;
    while let Some((number, _)) = bench.take() {
        if number == new {
            break;
        }
        before += 1;
        now += slot;
        bench.wait(now);
    }
    Finding::of(
        before == 0,
        "sent at the next opportunity, before five flows that wait",
        format!("{before} packets of others went before it"),
    )
}

fn equal_shares(subject: &Subject<'_>) -> Finding {
    const FLOWS: u32 = 8;
    let mut bench = Bench::new(subject, RATE, Draws::Constant(1.0 - f64::EPSILON));
    let mut now = Instant::from_ms(1);
    bench.wait(now);
    let length = |flow: u32| if flow.is_multiple_of(2) { FULL } else { 500 };
    // Each flow keeps ten packets waiting, some of them long and some short.
    for _ in 0..10 {
        for flow in 1..=FLOWS {
            bench.offer(packet(length(flow), hash(flow), Ecn::NotEct));
        }
    }
    let mut sent = vec![0.0; FLOWS as usize];
    for _ in 0..6000 {
        let Some((number, bytes)) = bench.take() else {
            break;
        };
        now += crate::bench::time_of(RATE, bytes);
        let own = flow_of(&bench, number);
        for flow in (1..=FLOWS).filter(|flow| hash(*flow) == own) {
            sent[flow as usize - 1] += f64::from(bytes);
            bench.wait(now);
            bench.offer(packet(length(flow), own, Ecn::NotEct));
        }
    }
    let (sum, squares) = sent.iter().fold((0.0, 0.0), |(sum, squares), x: &f64| (sum + x, squares + x * x));
    let jain = if squares > 0.0 { sum * sum / (f64::from(FLOWS) * squares) } else { 0.0 };
    Finding::of(jain >= 0.98, "at least 0.98 of eight flows, half of them with packets of 500 B", format!("{jain:.4}"))
}

fn longest_pays(subject: &Subject<'_>) -> Finding {
    const MOST_AT_ONCE: usize = 64;
    const SHORT: u32 = 5;
    let expected = "1 to 64 packets of the longest flow, the oldest first, and none of the other";
    let room = match subject.limit {
        Some(Limit::Packets(packets)) if packets.0 <= 60_000 => packets.0,
        _ => return Finding::not_judged(expected, "its limit is not in packets, or very large"),
    };
    let mut bench = Bench::new(subject, RATE, Draws::Constant(0.5));
    bench.wait(Instant::from_ms(1));
    for _ in 0..SHORT {
        bench.offer(packet(FULL, hash(1), Ecn::NotEct));
    }
    for _ in 0..=room - SHORT {
        bench.offer(packet(FULL, hash(2), Ecn::NotEct));
    }
    let dropped: Vec<u64> = bench
        .log()
        .iter()
        .filter_map(|(_, event)| match event {
            Event::Dropped(number, _) => Some(*number),
            _ => None,
        })
        .collect();
    let oldest_first = dropped.iter().zip(u64::from(SHORT)..).all(|(number, expected)| *number == expected);
    Finding::of(
        oldest_first && (1..=MOST_AT_ONCE).contains(&dropped.len()),
        expected,
        format!(
            "{} packets, {}",
            dropped.len(),
            if oldest_first { "the oldest of the longest flow" } else { "others than the oldest of the longest flow" }
        ),
    )
}

/// A hash of a flow that is spread as those of addresses are: neighbours fall anywhere (`fmix32` of `MurmurHash3`).
fn scattered(flow: u32) -> u32 {
    let mut hash = flow;
    for factor in [0x85EB_CA6B, 0xC2B2_AE35] {
        hash = (hash ^ (hash >> 15)).wrapping_mul(factor);
    }
    hash ^ (hash >> 16)
}

fn many_queues(subject: &Subject<'_>) -> Finding {
    const WAITING: u32 = 64;
    const NEW: u32 = 256;
    const EACH: u32 = 3;
    /// A packet that is alone in its queue leaves in one round, one behind three of another flow in three.
    const TURNS: u32 = WAITING * 3 / 2;
    /// chosen: 6.1 % by 1 - (1 - 1/1024)^64, and five standard deviations of 256 cases more.
    const MOST: u32 = 35;
    let mut bench = Bench::new(subject, RATE, Draws::Constant(1.0 - f64::EPSILON));
    let (slot, mut now) = (crate::bench::time_of(RATE, 200), Instant::from_ms(1));
    bench.wait(now);
    let flows: Vec<u32> = (0..WAITING).map(scattered).collect();
    let (mut waits, mut met) = (vec![0; flows.len()], 0);
    for new in WAITING..WAITING + NEW {
        for (waits, flow) in waits.iter_mut().zip(&flows) {
            for _ in *waits..EACH {
                bench.offer(packet(FULL, *flow, Ecn::NotEct));
                *waits += 1;
            }
        }
        let lone = bench.offer(packet(200, scattered(new), Ecn::NotEct));
        let mut turns = 0..TURNS;
        let is_alone = turns.any(|_| {
            now += slot;
            bench.wait(now);
            let sent = bench.take().map(|(number, _)| number);
            let own = sent.map(|number| flow_of(&bench, number));
            if let Some(place) = flows.iter().position(|flow| Some(*flow) == own) {
                waits[place] -= 1;
            }
            sent == Some(lone) || sent.is_none()
        });
        met += u32::from(!is_alone);
    }
    let share = |count: u32| 100.0 * f64::from(count) / f64::from(NEW);
    Finding::of(
        met <= MOST,
        format!("at most {:.0} % of {NEW} new flows meet one of {WAITING} that wait", share(MOST)),
        format!("{:.0} %", share(met)),
    )
}
