//! Metrics of a service group: of its channels in a direction, and of each modem on them.
//!
//! Source: DOCS-IF-MIB docsIfCmtsUpChannelCounter for opportunities and
//! minislots. A share of nothing has no row.

use super::{Datagrams, Rows, RunFacts, Shared};
use crate::quantile;
use sojourn_base::{ChannelCounters, Direction, ModemCounters, Span};
use sojourn_record::{Records, TrafficId};

/// True if runs may have groups; see `sojourn_link::group::KNOWN`.
pub(super) const KNOWN: bool = !sojourn_base::native::IN_TAB;

/// The subject of what all modems of a group share in a direction.
const fn subject_of(direction: Direction) -> &'static str {
    match direction {
        Direction::Upstream => "group",
        Direction::Downstream => "group/downstream",
    }
}

/// The rows of the channels, of all modems together, and of the homes' calls.
pub(super) fn channel_metrics(
    rows: &mut Rows,
    facts: &RunFacts,
    (direction, channel): (Direction, &ChannelCounters),
    records: &Records,
) {
    let group = subject_of(direction);
    let percent = |part: u64, whole: u64| (whole > 0).then(|| 100.0 * part as f64 / whole as f64);
    for (metric, part, whole) in [
        ("channel_use", channel.granted, channel.minislots),
        ("full_maps", channel.full_maps, channel.maps),
        ("opportunity_use", channel.used, channel.opportunities),
        ("opportunity_collided", channel.collided, channel.opportunities),
    ] {
        rows.add_some(group, metric, percent(part, whole));
    }
    let modems = records.links().filter_map(|(id, _)| records.modem(id));
    let modems = modems.filter(|modem| modem.0 == direction);
    let all = modems.fold(ModemCounters::default(), |sum, (_, one)| sum + one);
    if let Some(upstream) = facts.shared.filter(|_| direction == Direction::Upstream) {
        rows.add_some(group, "quality_k", quality_k(upstream, facts, records));
    }
    modem_metrics(rows, group, direction, &all);
    call_metrics(rows, facts, direction, records);
}

/// The K of Cloonan's rule that the channels have: what the mean load leaves of them, in tiers of the fastest home.
fn quality_k(shared: Shared, facts: &RunFacts, records: &Records) -> Option<f64> {
    let modems = records.links().filter(|(id, _)| {
        let modem = records.modem(*id);
        modem.is_some_and(|(direction, _)| direction == Direction::Upstream)
    });
    let bytes: u64 = modems.map(|(id, _)| records.link_totals(id).forwarded_bytes().0).sum();
    let load = bytes as f64 * 8.0 / facts.measured().as_secs_f64();
    let tier = shared.fastest.as_bps() as f64;
    (tier > 0.0).then(|| ((shared.capacity.as_bps() as f64 - load) / tier).max(0.0))
}

/// How the homes' calls fare in a direction, each by the 99th percentile of its delay.
fn call_metrics(rows: &mut Rows, facts: &RunFacts, direction: Direction, records: &Records) {
    let group = subject_of(direction);
    let calls = (0..).zip(&facts.datagrams);
    let calls = calls.filter(|(_, what)| **what == Datagrams::Call);
    let mut p99: Vec<f64> = calls
        .filter_map(|(id, _)| records.access_delay(TrafficId(id), direction))
        .filter_map(|histogram| histogram.quantile_ns(0.99))
        .map(|ns| ns as f64 / 1e6)
        .collect();
    p99.sort_by(f64::total_cmp);
    let Some(worst) = p99.last() else {
        return;
    };
    rows.add(group, "calls_p99_worst", *worst);
    for (metric, share) in [("calls_p99_median", 0.5), ("calls_p99_worst_decile", 0.9)] {
        rows.add_some(group, metric, quantile::linear(&p99, share));
    }
    for (metric, limit) in
        [("calls_over_10ms", 10.0), ("calls_over_20ms", 20.0), ("calls_over_50ms", 50.0), ("calls_over_100ms", 100.0)]
    {
        let over = p99.iter().filter(|p99| **p99 > limit).count();
        rows.add(group, metric, 100.0 * over as f64 / p99.len() as f64);
    }
}

/// Adds the rows of a modem. Downstream has no requests.
pub(super) fn modem_metrics(rows: &mut Rows, subject: &str, direction: Direction, modem: &ModemCounters) {
    let asks = direction == Direction::Upstream;
    let mean = |sum: Span, count: u64| (count > 0).then(|| sum.as_secs_f64() * 1e3 / count as f64);
    if asks {
        rows.add(subject, "request_attempts", modem.attempts as f64);
        let collided = 100.0 * modem.collided as f64 / modem.attempts as f64;
        rows.add_some(subject, "collision_rate", (modem.attempts > 0).then_some(collided));
        rows.add(subject, "requests_given_up", modem.given_up as f64);
        let request = mean(modem.request_delay, modem.heard);
        rows.add_some(subject, "request_delay_mean", request);
    }
    let tier_seconds = 100.0 * modem.tier_seconds as f64 / modem.busy_seconds as f64;
    let tier_seconds = (modem.busy_seconds > 0).then_some(tier_seconds);
    rows.add_some(subject, "tier_seconds", tier_seconds);
    for (metric, sum, is_there) in [
        ("wait_own_rate", modem.own_rate, true),
        ("wait_contention", modem.contention, asks),
        ("wait_neighbours", modem.neighbours, true),
        ("wait_request_loop", modem.request_loop, asks),
        ("wait_line", modem.line, true),
    ] {
        rows.add_some(subject, metric, mean(sum, modem.packets).filter(|_| is_there));
    }
}
