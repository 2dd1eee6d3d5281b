//! Contract of every manager, whatever its document: rows X1 to X8.
//!
//! Source: the contract in the documentation of `sojourn-queue`; X5 is RFC 3168 section 5. Deviations: none known.

use crate::bench::{Bench, Draws, Event, packet};
use crate::row::{Cost, Finding, RATE, Row, Subject};
use sojourn_base::{BitRate, Bytes, Ecn, Instant, Limit, Meta, RandomStream, Seed, Span};
use sojourn_queue::{Backlog, Reason};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The rows of every manager.
pub(crate) const ROWS: [Row; 8] = [
    Row {
        id: "X1",
        statement: "Each arrival leaves once, sent or dropped; nothing twice, nothing invented.",
        source: "contract",
        judge: conservation,
    },
    Row {
        id: "X2",
        statement: "Nothing is sent only if nothing waits; asking an empty queue changes nothing.",
        source: "contract",
        judge: emptiness,
    },
    Row {
        id: "X3",
        statement: "The backlog is the sum of the waiting packets, after each call.",
        source: "contract",
        judge: backlog,
    },
    Row {
        id: "X4",
        statement: "Packets of a flow leave in the order in which they came, in each of its queues.",
        source: "contract",
        judge: order,
    },
    Row {
        id: "X5",
        statement: "Only ECN-capable packets are marked; Not-ECT and CE stay as they are.",
        source: "RFC 3168 §5",
        judge: marks,
    },
    Row {
        id: "X6",
        statement: "The same input gives the same bits; two queues do not know of each other, and no clock is read.",
        source: "contract",
        judge: repetition,
    },
    Row {
        id: "X7",
        statement: "No more waits than the declared limit and one packet.",
        source: "contract",
        judge: limit,
    },
    Row {
        id: "X8",
        statement: "A call takes less than 1 ms of computing (P99.9), and memory does not grow at a constant backlog.",
        source: "contract",
        judge: cost,
    },
];

/// The row of every manager that follows a document.
pub(crate) const CALM: Row = Row {
    id: "NQ1",
    statement: "Where no queue stands, nothing is dropped or marked.",
    source: "RFC 7567 §2; the document of the kind",
    judge: calm,
};

/// Arrivals of the long mix. chosen: a fault of one packet in 100,000 happens twice.
const LONG: usize = 210_000;

/// Arrivals of a mix that is repeated. chosen: several changes of load.
const SHORT: usize = 20_000;

/// The line of the mix. chosen: the mix has queues of many delays there.
const MIX_RATE: BitRate = BitRate::from_mbps(20);

fn stream() -> Draws {
    Draws::Stream(Box::new(Seed(1).stream("check/draws")))
}

/// Two packets at most wait most of the time, of all sizes: no law has anything to say.
fn calm(subject: &Subject<'_>) -> Finding {
    /// chosen: at a third of the line's rate less than 2 ms wait, less than half of any target.
    const LOAD: f64 = 0.3;
    /// chosen: more than ever wait at this load.
    const ROOM: u64 = 20;
    let arrivals = traffic(LONG, &[LOAD], &[0], [Ecn::NotEct, Ecn::Ect0, Ecn::NotEct, Ecn::Ect0]);
    let mut bench = Bench::new(subject, MIX_RATE, stream());
    bench.drive(&arrivals, Instant::NEVER);
    bench.drain();
    let signals = bench.log().iter().filter_map(|(at, event)| match event {
        Event::Dropped(number, _) | Event::Marked(number) => Some((at, number)),
        _ => None,
    });
    let expected = format!("none of {LONG} packets on a line that is a third full");
    let few = match subject.limit.map(|limit| limit.at(MIX_RATE)) {
        Some(Limit::Packets(packets)) => u64::from(packets.0) < ROOM,
        Some(Limit::Bytes(bytes)) => bytes.0 < ROOM * 1514,
        _ => false,
    };
    if few {
        return Finding::not_judged(expected, format!("its limit is below {ROOM} packets, which may be full"));
    }
    match signals.clone().next() {
        None => Finding::of(true, expected, "none"),
        Some((at, first)) => {
            Finding::of(false, expected, format!("{}, first packet {first} at {}", signals.count(), seconds(*at)))
        }
    }
}

/// Packets of many flows, sizes and code points; the load changes from a tenth to two and a half times the line.
fn mix(count: usize) -> Vec<(Instant, Meta)> {
    /// chosen: idle, busy, full and overloaded, each longer than any interval of a law.
    const LOADS: [f64; 6] = [0.5, 0.95, 1.5, 0.1, 2.5, 0.8];
    const CODE_POINTS: [u8; 10] = [0, 0, 0, 0, 0, 0, 0, 45, 46, 10];
    traffic(count, &LOADS, &CODE_POINTS, [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce])
}

fn traffic(count: usize, loads: &[f64], code_points: &[u8], ecn: [Ecn; 4]) -> Vec<(Instant, Meta)> {
    const PHASE: Span = Span::from_ms(400);
    const LENGTHS: [u32; 4] = [64, 200, 576, 1514];
    const MEAN: f64 = 588.5;
    let mut random = Seed(1).stream("check/mix");
    let mut now = 0.0;
    let mean_gap = MEAN * 8.0 / MIX_RATE.as_bps() as f64;
    (0..count)
        .map(|_| {
            let phase = Span::from_secs_f64(now).as_ps() / PHASE.as_ps();
            let load = loads[usize::try_from(phase).expect("some hundred") % loads.len()];
            now += 2.0 * random.unit() * mean_gap / load;
            let length = LENGTHS[pick(&mut random, 4)];
            let meta = Meta {
                dscp: code_points[pick(&mut random, code_points.len())],
                pure_ack: length == 64 && random.unit() < 0.5,
                ..packet(length, flow(pick(&mut random, 40)), ecn[pick(&mut random, 4)])
            };
            (Instant::ZERO + Span::from_secs_f64(now), meta)
        })
        .collect()
}

fn pick(random: &mut RandomStream, of: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place below a small number")]
    let place = (random.unit() * of as f64) as usize;
    place
}

/// A hash of a flow: spread as a hash is.
fn flow(number: usize) -> u32 {
    u32::try_from(number).expect("few flows").wrapping_mul(2_654_435_761)
}

/// A bench after the mix, with an empty queue.
fn mixed<'a>(subject: &'a Subject<'a>, count: usize, vain_calls: u32) -> Bench<'a> {
    let mut bench = Bench::new(subject, MIX_RATE, stream());
    bench.vain_calls = vain_calls;
    bench.drive(&mix(count), Instant::NEVER);
    bench.drain();
    bench
}

/// Fate of one packet, by the log.
#[derive(Clone, Copy, Default)]
struct Fate {
    kept: bool,
    sent: u32,
    dropped: u32,
}

fn fates(bench: &Bench<'_>) -> Result<Vec<Fate>, String> {
    let mut fates = vec![Fate::default(); bench.arrivals.len()];
    for (at, event) in bench.log() {
        let (Event::Offered(number, _) | Event::Sent(number, ..) | Event::Dropped(number, _) | Event::Marked(number)) =
            *event
        else {
            continue;
        };
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(fate) = fates.get_mut(place) else {
            return Err(format!("packet {number} at {} never came", seconds(*at)));
        };
        match event {
            Event::Offered(_, kept) => fate.kept = *kept,
            Event::Sent(..) => fate.sent += 1,
            Event::Dropped(..) => fate.dropped += 1,
            _ => {}
        }
        if fate.sent + fate.dropped > 1 {
            return Err(format!("packet {number} left twice, at {}", seconds(*at)));
        }
    }
    Ok(fates)
}

fn seconds(at: Instant) -> String {
    format!("{:.6} s", at.as_secs_f64())
}

fn verdict(expected: &str, holds: &str, fault: Option<String>) -> Finding {
    match fault {
        None => Finding::of(true, expected, holds),
        Some(fault) => Finding::of(false, expected, fault),
    }
}

fn conservation(subject: &Subject<'_>) -> Finding {
    let bench = mixed(subject, LONG, 0);
    let expected = format!("{LONG} arrivals, each sent or dropped once");
    // Packets that it says it still holds are late and not lost: X2.
    let waiting = bench.backlog().packets.0 as usize;
    match fates(&bench) {
        Err(fault) => Finding::of(false, expected, fault),
        Ok(fates) => {
            let count = |wanted: fn(&Fate) -> bool| fates.iter().filter(|fate| wanted(fate)).count();
            let gone = |fate: &Fate| fate.sent + fate.dropped == 0;
            let lost = fates.iter().position(gone).filter(|_| count(gone) > waiting);
            let unsaid = fates.iter().position(|fate| !fate.kept && fate.dropped == 0);
            let found = format!("{} sent, {} dropped", count(|fate| fate.sent == 1), count(|fate| fate.dropped == 1));
            let fault = lost
                .map(|first| {
                    let all = count(gone) - waiting;
                    format!("{all} lost without a word, first packet {first}")
                })
                .or(unsaid.map(|first| format!("packet {first} was refused and not dropped")));
            verdict(&expected, &found, fault)
        }
    }
}

/// Those who neither left nor wait: what X1 tells of, and X3 must not tell again.
fn lost(bench: &Bench<'_>) -> Vec<bool> {
    let mut lost = vec![true; bench.arrivals.len()];
    for (_, event) in bench.log() {
        if let Event::Sent(number, ..) | Event::Dropped(number, _) = event
            && let Ok(place) = usize::try_from(*number)
            && let Some(one) = lost.get_mut(place)
        {
            *one = false;
        }
    }
    lost
}

fn emptiness(subject: &Subject<'_>) -> Finding {
    let (plain, vain) = (mixed(subject, SHORT, 0), mixed(subject, SHORT, 3));
    let expected = "no opportunity wasted; the same log with three vain calls more";
    let log = plain.log();
    let wasted = log.windows(2).find_map(|pair| match (pair[0], pair[1]) {
        ((at, Event::Nothing), (_, Event::Waits(all, _))) if all.packets.0 > 0 => {
            Some(format!("nothing was sent at {} while {} waited", seconds(at), all.packets))
        }
        _ => None,
    });
    // One that gives other bits each time fails X6, and tells nothing here.
    let repeats = || differs(log, mixed(subject, SHORT, 0).log()).is_none();
    let fault = wasted.or_else(|| differs(log, vain.log()).filter(|_| repeats()));
    verdict(expected, &format!("so over {SHORT} arrivals"), fault)
}

/// The first place at which two logs differ.
fn differs(one: &[(Instant, Event)], other: &[(Instant, Event)]) -> Option<String> {
    let place = one.iter().zip(other).position(|(a, b)| a != b);
    match place {
        Some(place) => {
            Some(format!("at {}: {:?} once and {:?} then", seconds(one[place].0), one[place].1, other[place].1))
        }
        None if one.len() != other.len() => Some("one log is longer".into()),
        None => None,
    }
}

fn backlog(subject: &Subject<'_>) -> Finding {
    let bench = mixed(subject, SHORT, 0);
    let lost = lost(&bench);
    let mut waits = Backlog::default();
    let mut fault = None;
    let (mut waiting, mut gone) = (vec![false; lost.len()], vec![false; lost.len()]);
    for (at, event) in bench.log() {
        let change = match *event {
            Event::Offered(number, true) => Some((number, true)),
            Event::Sent(number, ..) | Event::Dropped(number, _) => Some((number, false)),
            Event::Waits(told, _) if told != waits => {
                fault = Some(format!(
                    "{} in {} reported at {}, and {} in {} wait",
                    told.bytes,
                    told.packets,
                    seconds(*at),
                    waits.bytes,
                    waits.packets
                ));
                break;
            }
            _ => None,
        };
        let Some((number, comes)) = change else {
            continue;
        };
        let Some(place) = usize::try_from(number).ok().filter(|place| *place < lost.len()) else {
            continue;
        };
        let length = Bytes(bench.arrivals[place].1.length.into());
        // If an arrival evicts itself, its drop is recorded before its accept.
        if comes && !lost[place] && !gone[place] {
            waiting[place] = true;
            waits.bytes += length;
            waits.packets += sojourn_base::Packets(1);
        }
        gone[place] |= !comes;
        if !comes && waiting[place] {
            waiting[place] = false;
            waits.bytes -= length;
            waits.packets -= sojourn_base::Packets(1);
        }
    }
    verdict("bytes and packets as counted here", &format!("so after each of {} calls", bench.log().len()), fault)
}

/// The first packet that left after a later one of the same flow and queue; with `by_code_point`, of the same code point, too.
fn out_of_order(bench: &Bench<'_>, by_code_point: bool) -> Option<String> {
    let mut last = BTreeMap::new();
    bench.log().iter().find_map(|(at, event)| {
        let Event::Sent(number, _, queue) = *event else {
            return None;
        };
        let (_, meta) = bench.arrivals.get(usize::try_from(number).ok()?)?;
        let code_point = by_code_point.then_some(meta.dscp);
        let before = last.insert((meta.flow_hash, queue as usize, code_point), number);
        before
            .filter(|before| *before > number)
            .map(|before| format!("packet {number} left after {before} of its flow, at {}", seconds(*at)))
    })
}

fn order(subject: &Subject<'_>) -> Finding {
    let bench = mixed(subject, LONG, 0);
    let overtaken = out_of_order(&bench, false);
    // CAKE's tins, and perhaps a manager that follows no document known here, have queues by code point: packets with
    // different ones may be reordered (RFC 2474 §4.2.2.2).
    let (expected, fault, aside) = match subject.like {
        "" | "cake" if overtaken.is_some() => (
            "each flow in order, in each code point",
            out_of_order(&bench, true),
            "; packets with other code points overtake",
        ),
        _ => ("each flow in order", overtaken, ""),
    };
    verdict(expected, &format!("so over {LONG} arrivals of 40 flows{aside}"), fault)
}

fn marks(subject: &Subject<'_>) -> Finding {
    let bench = mixed(subject, SHORT, 0);
    let mut marked = vec![false; bench.arrivals.len()];
    let mut count = 0_u32;
    let fault = bench.log().iter().find_map(|(at, event)| {
        let arrived = |number: u64| {
            let place = usize::try_from(number).ok()?;
            bench.arrivals.get(place).map(|(_, meta)| (place, meta.ecn))
        };
        match *event {
            Event::Marked(number) => {
                let (place, ecn) = arrived(number)?;
                marked[place] = true;
                count += 1;
                (ecn == Ecn::NotEct).then(|| format!("packet {number} is Not-ECT and was marked, at {}", seconds(*at)))
            }
            Event::Sent(number, ecn, _) => {
                let (place, before) = arrived(number)?;
                let expected = if marked[place] { Ecn::Ce } else { before };
                (ecn != expected)
                    .then(|| format!("packet {number} came with {before:?} and left with {ecn:?} at {}", seconds(*at)))
            }
            _ => None,
        }
    });
    verdict("CE on marked packets, all others as they came", &format!("so, with {count} marks"), fault)
}

fn repetition(subject: &Subject<'_>) -> Finding {
    let arrivals = mix(SHORT);
    let (mut one, mut other) = (Bench::new(subject, MIX_RATE, stream()), Bench::new(subject, MIX_RATE, stream()));
    let (first, second) = arrivals.split_at(SHORT / 2);
    let middle = second[0].0 - Span::from_ps(1);
    one.drive(first, middle);
    other.drive(&arrivals, Instant::NEVER);
    one.drive(second, Instant::NEVER);
    one.drain();
    other.drain();
    let alone = mixed(subject, SHORT, 0);
    let fault = differs(one.log(), other.log()).or_else(|| differs(alone.log(), one.log()));
    verdict("three times the same log", &format!("so over {SHORT} arrivals"), fault)
}

fn limit(subject: &Subject<'_>) -> Finding {
    const FULL: u32 = 1514;
    /// chosen: enough to see that the limit is kept to, and few enough for any machine.
    const MOST: u64 = 60_000;
    let Some(limit) = subject.limit else {
        return Finding::not_judged("its limit", "it declares none");
    };
    let room = match limit.at(RATE) {
        Limit::Packets(packets) => u64::from(packets.0),
        Limit::Bytes(bytes) => bytes.0 / u64::from(FULL),
        Limit::Time(_) => unreachable!("a limit in time is one in bytes at a rate"),
    };
    if room > MOST {
        return Finding::not_judged(format!("{limit}"), format!("more than {MOST} packets"));
    }
    let mut bench = Bench::new(subject, RATE, Draws::Constant(1.0 - f64::EPSILON));
    bench.wait(Instant::from_ms(1));
    let (mut most, mut fault) = (Backlog::default(), None);
    for number in 0..room + 200 {
        bench.offer(packet(FULL, flow((number % 40) as usize), Ecn::NotEct));
        let Some((_, Event::Waits(all, classic))) = bench.log().last() else {
            continue;
        };
        let told = if subject.has_service_queues { *classic } else { *all };
        most.bytes = most.bytes.max(told.bytes);
        most.packets = most.packets.max(told.packets);
        let exceeds = match limit.at(RATE) {
            Limit::Packets(packets) => told.packets.0 > packets.0 + 1,
            Limit::Bytes(bytes) => told.bytes.0 > bytes.0 + u64::from(FULL),
            Limit::Time(_) => false,
        };
        if exceeds {
            fault = Some(format!("{} in {} waited", told.bytes, told.packets));
            break;
        }
        if bench.is_over() {
            break;
        }
    }
    verdict(&format!("at most {limit} and one packet"), &format!("at most {} in {}", most.bytes, most.packets), fault)
}

/// Packets that wait at once before one is dropped for want of room; `None` if their length matters, or if there are more than 60,000.
pub fn packets_held(subject: &Subject<'_>) -> Option<u32> {
    const MOST: u32 = 60_000;
    let held = |length: u32| {
        let mut bench = Bench::new(subject, RATE, Draws::Constant(1.0 - f64::EPSILON));
        bench.wait(Instant::from_ms(1));
        (0..=MOST).find(|number| {
            bench.offer(packet(length, flow(*number as usize % 40), Ecn::NotEct));
            let last = bench.log().iter().rev().take(4);
            last.into_iter().any(|(_, event)| matches!(event, Event::Dropped(_, Reason::Overlimit | Reason::FatFlow)))
                || bench.is_over()
        })
    };
    held(1500).filter(|packets| held(500) == Some(*packets))
}

/// Packets that are measured. chosen: P99.9 is of some hundred calls; a leak of 8 B a packet is 586 pages; a library is called
/// some 10 us a packet.
const MEASURED: usize = 300_000;

/// Most memory that may come on top over as many packets at a constant backlog. chosen: 2 B a packet, a quarter of the
/// least leak of a pointer; what a generator or a list of packets that wait takes is there before.
const GROWTH: u64 = 2 * MEASURED as u64;

fn cost(subject: &Subject<'_>) -> Finding {
    const LONGEST_NS: u64 = 1_000_000;
    /// Calls that may take longer.
    const BEYOND: usize = MEASURED / 1000;
    let expected = "P99.9 below 1 ms; at most 0.6 MB more after 300,000 packets";
    let Some(Cost { processor_ns, resident }) = subject.cost else {
        return Finding::not_judged(expected, "for libraries only: benchmarks measure built-in ones");
    };
    let mut bench = Bench::new(subject, RATE, stream()).without_log();
    let mut now = Instant::ZERO;
    let mut step = |bench: &mut Bench<'_>| {
        now += Span::from_us(1200);
        bench.wait(now);
        let before = processor_ns();
        bench.offer(packet(1500, 1, Ecn::NotEct));
        if bench.backlog().packets.0 > 8 {
            let _ = bench.take();
        }
        processor_ns() - before
    };
    for _ in 0..MEASURED / 3 {
        step(&mut bench);
        if bench.is_over() {
            return Finding::not_judged(expected, "it failed");
        }
    }
    // Only the longest are kept: a list of all would be memory that comes on top.
    let mut times = BinaryHeap::with_capacity(BEYOND + 2);
    let before = resident();
    for _ in 0..MEASURED {
        times.push(Reverse(step(&mut bench)));
        if times.len() > BEYOND + 1 {
            times.pop();
        }
        if bench.is_over() {
            return Finding::not_judged(expected, "it failed");
        }
    }
    let grown = resident().saturating_sub(before);
    let longest = times.peek().map_or(0, |Reverse(time)| *time);
    Finding::of(
        longest < LONGEST_NS && grown <= GROWTH,
        expected,
        format!("P99.9 {:.3} ms of computing a packet; {:.1} MB more", longest as f64 / 1e6, grown as f64 / 1e6),
    )
}
