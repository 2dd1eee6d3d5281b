//! What single values cannot show: whether the parts of a scenario fit together.
//!
//! Source: RFC 8289 §5.3 (target well below interval), White 2012 §2.3 (servers behind the access
//! link). Deviations: none known.

use std::collections::BTreeSet;

use sojourn_base::{Bytes, Direction};

use crate::keys::application;
use crate::keys::scenario::{Draft, TrafficDraft};
use crate::reader::{Notes, join};
use sojourn_keys::value::{Mismatch, quoted};

/// Notes everything that does not fit. What is wrong in itself already is not judged again.
pub(crate) fn check(draft: &Draft, notes: &mut Notes) {
    for direction in Direction::BOTH {
        check_access(draft, direction, notes);
    }
    check_names(draft, notes);
    check_series(draft, notes);
    let mut flows = 0_u64;
    let mut servers = 0_usize;
    for traffic in &draft.traffic {
        let path = join("traffic", &traffic.name);
        check_stack(traffic, &path, notes);
        check_servers(draft, traffic, &path, notes);
        check_lengths(draft, traffic, &path, notes);
        flows = flows.saturating_add(traffic.application.flows());
        servers = servers.saturating_add(traffic.application.servers());
    }
    let most = sojourn_apps::keys::MOST_FLOWS.parse().unwrap_or(u64::MAX);
    if flows > most && !notes.is_doubtful("traffic") {
        notes.problem(
            "traffic",
            Mismatch::new(
                format!("{flows} parallel flows in all"),
                format!("at most {most}: fewer lanes, users or connections"),
            ),
        );
    }
    if servers > MOST_SERVERS && !notes.is_doubtful("traffic") {
        notes.problem(
            "traffic",
            Mismatch::new(
                format!("{servers} servers in all"),
                format!("at most {MOST_SERVERS}"),
            ),
        );
    }
}

/// Most servers of a scenario. Source: the engine numbers links in 16 bits, two for each server.
const MOST_SERVERS: usize = 10_000;

fn note(notes: &mut Notes, path: &str, mismatch: Mismatch) {
    let table = path.rsplit_once('.').map_or("", |(table, _)| table);
    if !notes.is_doubtful(path) && !notes.is_unreadable(table) {
        notes.problem(path, mismatch);
    }
}

fn check_access(draft: &Draft, direction: Direction, notes: &mut Notes) {
    let config = &draft.access[direction];
    let link_path = format!("access.{}.link", direction.as_str());
    if !notes.is_unreadable(&link_path) {
        for problem in config.problems() {
            let mismatch = Mismatch::new(problem.message, problem.hint);
            note(notes, &format!("{link_path}.{}", problem.field), mismatch);
        }
    }
    let queue_path = format!("access.{}.queue", direction.as_str());
    if !notes.is_unreadable(&queue_path) {
        // A rate that is wrong says nothing about a limit in time.
        let rate = (!notes.is_doubtful(&link_path)).then(|| config.drain_rate());
        for (key, mismatch) in config.queue().problems_on(rate) {
            note(notes, &format!("{queue_path}.{key}"), mismatch);
        }
    }
}

/// Most bins of a time series. chosen: some hundred megabytes.
const MOST_BINS: u64 = 10_000_000;

fn check_series(draft: &Draft, notes: &mut Notes) {
    for (place, width) in [
        ("record.series", draft.record.series),
        ("record.connections", draft.record.connections),
    ] {
        let Some(width) = width.filter(|width| !width.is_zero()) else {
            continue;
        };
        let bins = draft.duration.as_ps() / width.as_ps();
        if bins > MOST_BINS && !notes.is_doubtful("duration") {
            note(
                notes,
                place,
                Mismatch::new(
                    format!("{} in bins of {width} make {bins} rows", draft.duration),
                    format!("at most {MOST_BINS}: wider bins, or \"off\""),
                ),
            );
        }
    }
}

fn check_names(draft: &Draft, notes: &mut Notes) {
    let mut names = BTreeSet::new();
    for traffic in &draft.traffic {
        if !traffic.name.is_empty() && !names.insert(traffic.name.as_str()) {
            notes.problem(
                &join(&join("traffic", &traffic.name), "name"),
                Mismatch::new(
                    format!(
                        "{} is the name of another traffic entry too",
                        quoted(&traffic.name)
                    ),
                    "records are told apart by these names",
                ),
            );
        }
    }
}

fn check_stack(traffic: &TrafficDraft, path: &str, notes: &mut Notes) {
    if notes.is_doubtful(&format!("{path}.app")) {
        return;
    }
    if traffic.has_stack && !application::needs_stack(&traffic.application) {
        note(
            notes,
            &format!("{path}.stack"),
            Mismatch::new(
                "this application sends datagrams and opens no connections",
                "leave the stack out",
            ),
        );
    }
}

fn check_servers(draft: &Draft, traffic: &TrafficDraft, path: &str, notes: &mut Notes) {
    if notes.is_doubtful(&format!("{path}.app")) {
        return;
    }
    let count = traffic.application.servers();
    for (key, given) in [
        ("rtt", traffic.round_trips.len()),
        ("line_rate", traffic.line_rates.len()),
    ] {
        if given > 1 && given != count {
            let (servers, wanted) = match count {
                1 => ("one server".to_owned(), "one value".to_owned()),
                count => (
                    format!("{count} servers"),
                    format!("one value for all, or a list of {count}"),
                ),
            };
            note(
                notes,
                &format!("{path}.{key}"),
                Mismatch::new(format!("{given} values for {servers}"), wanted),
            );
        }
    }
    if notes.is_doubtful("access") {
        return;
    }
    let nearest = draft.round_trip();
    if let Some(rtt) = traffic.round_trips.iter().find(|rtt| **rtt < nearest) {
        note(
            notes,
            &format!("{path}.rtt"),
            Mismatch::new(
                format!("{rtt} is shorter than the access link's own propagation ({nearest})"),
                format!("at least \"{nearest}\", or shorter delays of the access links"),
            ),
        );
    }
}

/// A token bucket cannot hold back a packet that is longer than the bucket is deep, as the rate says.
fn check_lengths(draft: &Draft, traffic: &TrafficDraft, path: &str, notes: &mut Notes) {
    for direction in Direction::BOTH {
        let link = &draft.access[direction];
        let link_path = format!("access.{}.link", direction.as_str());
        let (key, length) = longest_packet(traffic);
        if let Some((name, depth)) = link.bucket()
            && length > depth
            && !notes.is_doubtful(&link_path)
            && !notes.is_doubtful(path)
        {
            notes.problem(
                &format!("{path}.{key}"),
                Mismatch::new(
                    format!(
                        "packets of {length} are longer than {link_path}.{name} is deep ({depth})"
                    ),
                    format!("packets of at most \"{depth}\", or a larger {name}"),
                ),
            );
            return;
        }
    }
}

/// The longest packet, and the key that decides about it.
fn longest_packet(traffic: &TrafficDraft) -> (String, Bytes) {
    if let Some((key, length)) = traffic.application.datagrams() {
        return (format!("app.{key}"), length);
    }
    let stack = &traffic.stack.config;
    let payload = u64::from(stack.maximum_segment_size);
    (
        "stack".to_owned(),
        Bytes(payload + u64::from(stack.wire.data_header)),
    )
}
