//! Quality of Outcome of traffic that gets answers, for each use of [`crate::outcome::USES`]: streams by their own packets, probes
//! by their questions.
//!
//! Source: draft-ietf-ippm-qoo; round trips of packets as of White 2019 4.2: each packet up with the first one down of
//! the same flow that was sent at or after its arrival, from sending to arrival.
//! Units and ranges: ms, Mb/s, scores from 0 to 100; lost packets count as infinite.
//! Deviations: throughput is the rate that other entries leave; on a full line the entry's share is unknown, and
//! throughput is not judged. Percentiles with few samples beyond them count.

use super::{Rows, RunFacts, Watched};
use crate::outcome::USES;
use crate::responsiveness::RAMP_NS;
use sojourn_base::{Direction, Instant, PerDirection, Span};
use sojourn_record::{Datagram, Fate, Records, TrafficId};

/// True if runs may record them; lessons never do.
pub(super) const KNOWN: bool = !sojourn_base::native::IN_TAB;

/// Uses in homes, in the order of [`USES`].
const NAMES: [&str; 5] = ["qoo_call", "qoo_video_call", "qoo_game", "qoo_cloud_game", "qoo_web"];

/// Round trips below which there is no score. chosen: fewer than ten say nothing of any tail.
const FEWEST: usize = 10;

/// Share of a line from which it is called full. chosen: what framing and grants leave unused.
const FULL: f64 = 0.95;

pub(super) fn outcome_metrics(rows: &mut Rows, facts: &RunFacts, records: &Records, id: TrafficId, name: &str) {
    let trips = match facts.probes[usize::from(id.0)] {
        Some(watched) => asked(facts, records, id, watched),
        None => answered(facts, records, id),
    };
    if trips.len() < FEWEST {
        return;
    }
    let mut came: Vec<f64> = trips.iter().copied().filter(|ms| ms.is_finite()).collect();
    came.sort_unstable_by(f64::total_cmp);
    let lost = (trips.len() - came.len()) as f64 / trips.len() as f64;
    let left = PerDirection {
        upstream: left_over(facts, records, id, Direction::Upstream),
        downstream: left_over(facts, records, id, Direction::Downstream),
    };
    for (metric, needs) in NAMES.into_iter().zip(USES) {
        rows.add(name, metric, needs.judge(&came, lost, left).overall());
    }
}

/// Round trips of a probe's datagrams or handshakes under load.
fn asked(facts: &RunFacts, records: &Records, id: TrafficId, watched: Watched) -> Vec<f64> {
    let samples: Vec<(u64, f64)> = records
        .transfers()
        .iter()
        .filter(|(whose, sample)| *whose == id && sample.lane == 0)
        .map(|(_, sample)| {
            let took = (sample.ended_at).map(|ended| ended.saturating_since(sample.started_at));
            (sample.started_at.as_ns(), milliseconds(took))
        })
        .collect();
    let finite = samples.iter().map(|(_, ms)| *ms).filter(|ms| ms.is_finite());
    // Questions from shortly before the end may still be in flight.
    let longest_ns = finite.fold(0.0, f64::max) * 1e6;
    let (from, until) = (watched.from.as_ns() + RAMP_NS, watched.until.as_ns());
    let is_decided = |at: u64| (at as f64) < facts.duration.as_ns() as f64 - longest_ns;
    samples
        .into_iter()
        .filter(|(at, ms)| (from..until).contains(at) && (ms.is_finite() || is_decided(*at)))
        .map(|(_, ms)| ms)
        .collect()
}

/// Round trips of an entry's datagrams.
fn answered(facts: &RunFacts, records: &Records, id: TrafficId) -> Vec<f64> {
    let from = Instant::ZERO.saturating_add(facts.from);
    let ours = records.datagrams().iter();
    let ours = ours.filter(|one| one.traffic == id && one.sent_at >= from);
    let (mut up, mut down): (Vec<&Datagram>, Vec<&Datagram>) =
        ours.partition(|one| one.direction == Direction::Upstream);
    let order = |one: &&Datagram| (one.flow, one.sent_at);
    up.sort_by_key(order);
    down.sort_by_key(order);
    up.into_iter()
        .filter_map(|asks| {
            let there = took(asks);
            let arrives = asks.sent_at.saturating_add(there.unwrap_or(Span::ZERO));
            let place = down.partition_point(|one| order(one) < (asks.flow, arrives));
            let answer = down.get(place).filter(|one| one.flow == asks.flow)?;
            Some(milliseconds(there) + milliseconds(took(answer)))
        })
        .collect()
}

fn took(datagram: &Datagram) -> Option<Span> {
    match datagram.fate {
        Fate::Arrived(at) => Some(at.saturating_since(datagram.sent_at)),
        _ => None,
    }
}

fn milliseconds(span: Option<Span>) -> f64 {
    span.map_or(f64::INFINITY, |span| span.as_ns() as f64 / 1e6)
}

/// Returns the rate of the access line that the other entries leave in a direction, Mb/s; `None` if it was full, or
/// there is no such line.
fn left_over(facts: &RunFacts, records: &Records, id: TrafficId, direction: Direction) -> Option<f64> {
    let (link, _) = records.links().find(|(_, link)| link.name == direction.as_str())?;
    let allowance = facts.allowance.get(usize::from(link.0)).copied()??.0 as f64;
    let forwarded = records.link_totals(link).forwarded_bytes().0 as f64;
    if forwarded >= FULL * allowance {
        return None;
    }
    let own = records.counters(id)[direction].forwarded_bytes as f64;
    let left = allowance - (forwarded - own);
    Some(left * 8.0 / 1e6 / facts.measured().as_secs_f64())
}
