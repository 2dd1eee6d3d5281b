//! Checks that the parts of a scenario fit together.
//!
//! Source: RFC 8289 §5.3 (target well below interval), White 2012 §2.3 (servers behind the access
//! link). Deviations: none known.

use std::collections::BTreeSet;

use sojourn_base::native::IN_TAB;
use sojourn_base::{Bytes, Direction, Instant, PerDirection, Span};

use crate::keys::application;
use crate::keys::network::{HomeDraft, MOST_HOMES};
use crate::keys::scenario::{Draft, Entry};
use crate::keys::traffic::{MOST_TRAFFIC, TrafficDraft};
use crate::model::{DirectedLink, SharedLink};
use crate::problem::Problem;
use crate::reader::{Notes, join};
use crate::topology::ACCESS;
use sojourn_keys::nearest;
use sojourn_keys::value::{Mismatch, quoted};
use sojourn_link::SerialConfig;
use sojourn_link::conditions::{condition_problems, stalls};
use sojourn_queue::FlowFields;
use sojourn_record::HistogramValue;

mod libraries;
mod wifi;

/// Notes parts that do not fit together. Values that are invalid by themselves are not judged again.
pub(crate) fn check(draft: &Draft, notes: &mut Notes) {
    check_access("access", &draft.access, notes);
    for shared in &draft.links {
        check_shared(shared, notes);
    }
    for home in &draft.homes {
        check_home(home, notes);
    }
    check_group(draft, notes);
    wifi::check_wifi(draft, notes);
    check_either(draft, notes);
    check_names(draft, notes);
    check_series(draft, notes);
    check_measured(draft, notes);
    check_ends(draft, notes);
    check_flow_fields(draft, notes);
    libraries::check_one_kernel(draft, notes);
    let mut flows = 0_u64;
    let mut servers = 0_u64;
    let mut entries = 0_u64;
    for entry in draft.entries() {
        let (traffic, path) = (entry.traffic, entry.place());
        check_stack(traffic, &path, notes);
        libraries::check_library(traffic, &path, notes);
        check_path(draft, &entry, &path, notes);
        check_servers(&entry, &path, notes);
        check_lengths(&entry, &path, notes);
        check_jitter(&entry, &path, notes);
        check_stalls(draft, &entry, notes);
        check_application(draft, traffic, &path, notes);
        let copies = u64::from(entry.copies());
        flows = flows.saturating_add(traffic.application.flows().saturating_mul(copies));
        servers = servers.saturating_add((traffic.application.servers() as u64).saturating_mul(copies));
        entries += copies;
    }
    let place = if draft.homes.is_empty() { "traffic" } else { "home" };
    let homes = draft.homes.iter().map(|home| u64::from(home.count)).sum();
    let most = |bound: &str| bound.parse().unwrap_or(u64::MAX);
    for (number, most, what, less) in [
        (flows, most(sojourn_apps::keys::MOST_FLOWS), "parallel flows", ": fewer lanes, users or connections"),
        (servers, MOST_SERVERS, "servers", ""),
        (entries, most(MOST_TRAFFIC), "traffic entries", ""),
        (homes, most(MOST_HOMES), "homes", ""),
    ] {
        if number > most && !notes.is_doubtful(place) {
            notes.problem(place, Mismatch::new(format!("{number} {what} in all"), format!("at most {most}{less}")));
        }
    }
}

/// Returns contradictions that keep links from their rates, at the parameter at fault.
pub(crate) fn contradictions(draft: &Draft, notes: &Notes) -> Vec<Problem> {
    let mut told = Vec::new();
    draft.links(|place, config| {
        for shortfall in config.link.shortfalls() {
            let path = join(&join(place, "link"), shortfall.field);
            told.push(notes.told_at(&path, Mismatch::new(shortfall.message, shortfall.hint)));
        }
    });
    told.extend(wifi::cautions(draft).into_iter().map(|(place, mismatch)| notes.told_at(&place, mismatch)));
    for index in idle_changes(draft) {
        let path = join(&format!("change[{index}]"), "set");
        let hint = "leave it out, or other values";
        told.push(notes.told_at(&path, Mismatch::new("changes nothing: all keys have these values already", hint)));
    }
    told
}

/// Numbers of the changes after which everything is as before.
fn idle_changes(draft: &Draft) -> Vec<usize> {
    if draft.changes.is_empty() {
        return Vec::new();
    }
    let mut first = draft.clone();
    let changes = core::mem::take(&mut first.changes);
    let mut before = first.into_scenario();
    let mut idle = Vec::new();
    for (index, change) in changes.into_iter().enumerate() {
        let Some(then) = change.then else { break };
        if then == before {
            idle.push(index);
        }
        before = then;
    }
    idle
}

/// Most servers of a scenario. chosen: as many as traffic entries.
const MOST_SERVERS: u64 = 10_000;

fn note(notes: &mut Notes, path: &str, mismatch: Mismatch) {
    let table = path.rsplit_once('.').map_or("", |(table, _)| table);
    if !notes.is_doubtful(path) && !notes.is_unreadable(table) {
        notes.problem(path, mismatch);
    }
}

/// A run must outlast its warm-up.
fn check_measured(draft: &Draft, notes: &mut Notes) {
    let (from, duration) = (draft.measured_from, draft.duration);
    if from >= duration && from > Span::ZERO && !notes.is_doubtful("duration") {
        let message = format!("the run of {duration} is over before measuring begins");
        let hint = "a longer duration, or an earlier measure.from";
        note(notes, "measure.from", Mismatch::new(message, hint));
    }
}

fn check_access(place: &str, access: &PerDirection<DirectedLink>, notes: &mut Notes) {
    for direction in Direction::BOTH {
        let place = join(place, direction.as_str());
        check_link(&place, &access[direction], notes);
    }
}

fn check_shared(shared: &SharedLink, notes: &mut Notes) {
    let place = join("link", &shared.name);
    for direction in Direction::BOTH {
        if let Some(link) = &shared.directions[direction] {
            check_link(&join(&place, direction.as_str()), link, notes);
        }
    }
    let directions = &shared.directions;
    if directions.upstream.is_none() && directions.downstream.is_none() {
        let hint = "a heading [link.upstream] or [link.downstream], or both, each with link and queue";
        notes.problem(&place, Mismatch::new("has no direction", hint));
    }
    check_name(&place, &shared.name, notes);
}

fn check_home(home: &HomeDraft, notes: &mut Notes) {
    let place = join("home", &home.name);
    if let Some(access) = &home.access {
        check_access(&join(&place, ACCESS), access, notes);
    }
    check_name(&place, &home.name, notes);
}

/// Subjects of records are made of names with slashes between them.
fn check_name(place: &str, name: &str, notes: &mut Notes) {
    let is_direction = Direction::BOTH.iter().any(|known| known.as_str() == name);
    if name.contains('/') || name == ACCESS || is_direction {
        notes.problem(
            &join(place, "name"),
            Mismatch::new(
                format!("{} cannot be a name here", quoted(name)),
                "no slash, and none of access, upstream and downstream, which have a meaning already",
            ),
        );
    }
}

/// The channels of a service group, and whether its homes fit on them.
fn check_group(draft: &Draft, notes: &mut Notes) {
    if notes.is_doubtful("group") || !sojourn_link::group::KNOWN {
        return;
    }
    let lone = (!draft.traffic.is_empty()).then_some(("access".to_owned(), &draft.access, 1));
    let homes = draft.homes.iter().map(|home| match &home.access {
        Some(access) => (join(&join("home", &home.name), ACCESS), access, home.count),
        None => (ACCESS.to_owned(), &draft.access, home.count),
    });
    let mut modems = Vec::new();
    for (place, access, count) in lone.into_iter().chain(homes) {
        for direction in Direction::BOTH {
            let directed = &access[direction];
            let place = join(&place, direction.as_str());
            if directed.is_modem(direction) && !directed.conditions.is_empty() {
                let hint = "conditions on another link of the path, or a link of another kind";
                let message = "a modem of a service group has no conditions of its own";
                let mismatch = Mismatch::new(message, hint);
                note(notes, &join(&place, "conditions"), mismatch);
            }
        }
        let link = join(&join(&place, Direction::Upstream.as_str()), "link");
        if let Some(modem) = access.upstream.modem()
            && !notes.is_doubtful(&link)
        {
            modems.push((link, modem, u64::from(count)));
        }
    }
    let wrong = draft.group.problems();
    let problems = if wrong.is_empty() {
        for (link, modem, _) in &modems {
            if let Some(problem) = draft.group.bonding_problem(modem) {
                let mismatch = Mismatch::new(problem.message, problem.hint);
                note(notes, &join(link, problem.field), mismatch);
            }
        }
        let homes: Vec<_> = modems.iter().map(|(_, modem, count)| (*modem, *count)).collect();
        draft.group.problems_with(&homes)
    } else {
        wrong
    };
    for problem in problems {
        let mismatch = Mismatch::new(problem.message, problem.hint);
        note(notes, &format!("group.{}", problem.field), mismatch);
    }
}

/// One subscriber, or several.
fn check_either(draft: &Draft, notes: &mut Notes) {
    if !draft.homes.is_empty() && !draft.traffic.is_empty() {
        notes.problem(
            "traffic",
            Mismatch::new(
                "a scenario has homes or traffic, not both",
                "[[home.traffic]] below the home whose traffic it is",
            ),
        );
    }
}

/// Most edges of a latency histogram. Source: DOCSIS 3.1 latency histogram reporting, at most 16 bins.
const MOST_EDGES: usize = 15;

fn check_histogram(place: &str, config: &DirectedLink, notes: &mut Notes) {
    let Some(histogram) = &config.latency_histogram else {
        return;
    };
    let edges = &histogram.edges;
    let path = join(place, "edges");
    if edges.len() > MOST_EDGES {
        note(
            notes,
            &path,
            Mismatch::new(
                format!("{} edges make {} bins", edges.len(), edges.len() + 1),
                "2 to 16 bins, which are 1 to 15 edges (DOCSIS 3.1 latency histogram reporting)",
            ),
        );
    } else if let Some((before, edge)) = edges.iter().zip(edges.iter().skip(1)).find(|(before, edge)| before >= edge) {
        note(
            notes,
            &path,
            Mismatch::new(
                format!("bins are out of order: {edge} comes after {before}"),
                "each edge longer than the one before it, for instance [\"1 ms\", \"5 ms\"] (White 2019 §5.4)",
            ),
        );
    }
    let queue = &config.link.queue;
    if histogram.value == HistogramValue::Estimate && !queue.estimates_delay() {
        note(
            notes,
            &join(place, "value"),
            Mismatch::new(
                format!("a queue of kind {} estimates no delay", queue.kind()),
                "value = \"sojourn\", or a queue of kind docsis-pie or docsis-dual-queue",
            ),
        );
    }
}

fn check_link(place: &str, config: &DirectedLink, notes: &mut Notes) {
    let queue_is_read = !notes.is_unreadable(&join(place, "queue"));
    if queue_is_read {
        check_histogram(&join(place, "latency_histogram"), config, notes);
    }
    check_conditions(place, config, notes);
    check_flows(place, config, notes);
    let config = &config.link;
    let link_path = join(place, "link");
    if !notes.is_unreadable(&link_path) {
        for problem in config.problems() {
            let mismatch = Mismatch::new(problem.message, problem.hint);
            note(notes, &format!("{link_path}.{}", problem.field), mismatch);
        }
    }
    let queue_path = join(place, "queue");
    if !notes.is_unreadable(&queue_path) {
        // A rate that is wrong says nothing about a limit in time.
        let rate = (!notes.is_doubtful(&link_path)).then(|| config.drain_rate());
        let of_direction = config.queue.problem_in(direction_of(place));
        for (key, mismatch) in config.queue.problems_on(rate).into_iter().chain(of_direction) {
            note(notes, &format!("{queue_path}.{key}"), mismatch);
        }
    }
}

/// The direction of the link at `place`.
fn direction_of(place: &str) -> Direction {
    if place.ends_with(Direction::Upstream.as_str()) { Direction::Upstream } else { Direction::Downstream }
}

/// Rules and further service flows go with their link.
fn check_flows(place: &str, config: &DirectedLink, notes: &mut Notes) {
    let doubtful = ["link", "queue", "service_flow", "aggregate", "classifier", "marking"];
    if config.flows.is_empty() || doubtful.iter().any(|key| notes.is_doubtful(&join(place, key))) {
        return;
    }
    for (path, mismatch) in config.flows.problems(&config.link) {
        note(notes, &join(place, &path), mismatch);
    }
}

/// Conditions go together, and with their link.
fn check_conditions(place: &str, config: &DirectedLink, notes: &mut Notes) {
    let path = join(place, "conditions");
    if notes.is_doubtful(&path) {
        return;
    }
    let is_serial = config.link.link.get::<SerialConfig>().is_some();
    let rate_may_change = is_serial || notes.is_unreadable(&join(place, "link"));
    for problem in condition_problems(&config.conditions, rate_may_change) {
        note(
            notes,
            &format!("{path}[{}].{}", problem.index, problem.field),
            Mismatch::new(problem.message, problem.hint),
        );
    }
}

/// No link ends before the run.
fn check_ends(draft: &Draft, notes: &mut Notes) {
    let mut found = Vec::new();
    draft.links(|place, config| {
        if let Some(end) = config.link.ends_after().filter(|end| *end < draft.duration) {
            found.push((join(&join(place, "link"), "repeat"), end));
        }
    });
    for (path, end) in found {
        let message = format!("the link carries nothing after {end}, and the run lasts {}", draft.duration);
        note(notes, &path, Mismatch::new(message, "repeat = true, or a shorter duration"));
    }
}

/// A packet carries one number of its flow, so all queues of a direction make it of the same fields.
fn check_flow_fields(draft: &Draft, notes: &mut Notes) {
    if IN_TAB {
        return; // there is no such key
    }
    for direction in Direction::BOTH {
        let (mut three, mut five) = (None, None);
        draft.links(|place, config| {
            if place.ends_with(direction.as_str()) {
                let queue = &config.link.queue;
                let of_its_kind = match queue.flow_fields() {
                    Some(FlowFields::Three) => &mut three,
                    Some(FlowFields::Five) => &mut five,
                    None => return,
                };
                of_its_kind.get_or_insert_with(|| (place.to_owned(), queue.kind()));
            }
        });
        if let Some(((place, _), (other, kind))) = three.zip(five) {
            let message = format!("\"three\", and the {kind} of {other} tells flows apart by five");
            note(
                notes,
                &join(&place, "queue.fields"),
                Mismatch::new(message, "the same for all queues of a direction"),
            );
        }
    }
}

/// Refuses an application that has to end, over a link that stands still for ever.
fn check_stalls(draft: &Draft, entry: &Entry<'_>, notes: &mut Notes) {
    let app = join(&entry.place(), "app");
    if notes.is_doubtful(&app) || !entry.traffic.application.must_end() {
        return;
    }
    for (place, _, link) in entry.links() {
        let path = join(&place, "conditions");
        let Some(since) = stalls(&link.conditions).filter(|_| !notes.is_doubtful(&path)) else {
            continue;
        };
        let since = since.saturating_since(Instant::ZERO);
        if since < draft.duration {
            note(
                notes,
                &path,
                Mismatch::new(
                    format!(
                        "the rate is zero from {since} on, and {} has transfers that must end",
                        quoted(&entry.traffic.name)
                    ),
                    "from and for instead of at, or a later condition with a rate",
                ),
            );
        }
    }
}

/// A path names links of the file, each once.
fn check_path(draft: &Draft, entry: &Entry<'_>, place: &str, notes: &mut Notes) {
    let path = entry.path();
    // The nearest path that is given, so that each is judged at its own place.
    let said = if entry.traffic.path.is_some() {
        join(place, "path")
    } else {
        match entry.home {
            Some(home) if home.path.is_some() => join(&join("home", &home.name), "path"),
            _ => "path".to_owned(),
        }
    };
    if notes.is_doubtful(&said) {
        return;
    }
    if path.is_empty() {
        notes.problem(&said, Mismatch::new("a path without links", "for instance [\"access\"]"));
    }
    for (index, name) in path.iter().enumerate() {
        let known = || [ACCESS].into_iter().chain(draft.links.iter().map(|link| link.name.as_str()));
        if !known().any(|link| link == *name) {
            let links: Vec<&str> = known().collect();
            let hint = match nearest(name, known()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("links are {}", links.join(", ")),
            };
            notes.problem(&said, Mismatch::new(format!("there is no link {}", quoted(name)), hint));
            return;
        }
        if path[..index].contains(name) {
            notes.problem(
                &said,
                Mismatch::new(
                    format!("passes {} twice", quoted(name)),
                    "each link once; two equal links need two names",
                ),
            );
            return;
        }
    }
}

/// Homes that are alike must not do the same at the same time. chosen: no street does.
fn check_jitter(entry: &Entry<'_>, place: &str, notes: &mut Notes) {
    let app = join(place, "app");
    if entry.copies() > 1 && entry.traffic.application.is_in_step() && !notes.is_doubtful(&app) {
        notes.problem(
            &app,
            Mismatch::new(
                format!("{} homes would start it at the same instant", entry.copies()),
                "a start_jitter above zero, for instance \"1 s\"",
            ),
        );
    }
}

/// Parts of an application fit together, and with the run.
fn check_application(draft: &Draft, traffic: &TrafficDraft, place: &str, notes: &mut Notes) {
    let app = join(place, "app");
    if notes.is_unreadable(&app) || notes.is_doubtful("duration") {
        return;
    }
    let over_quic = traffic.stack.stack.config.loss_detection.is_quic();
    let of_stack = over_quic.then(|| traffic.application.problem_over_quic()).flatten();
    for (key, mismatch) in traffic.application.problems(draft.duration).into_iter().chain(of_stack) {
        note(notes, &format!("{app}.{key}"), mismatch);
    }
}

/// Most bins of a time series. chosen: some hundred megabytes.
const MOST_BINS: u64 = 10_000_000;

fn check_series(draft: &Draft, notes: &mut Notes) {
    for (place, width) in [("record.series", draft.record.series), ("record.connections", draft.record.connections)] {
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
    let links = draft.links.iter().map(|link| ("link", &link.name));
    let homes = draft.homes.iter().map(|home| ("home", &home.name));
    let named: Vec<(&str, &String)> = links.chain(homes).collect();
    unique("", &named, "link or home", notes);
    let lone: Vec<(&str, &String)> = draft.traffic.iter().map(|traffic| ("traffic", &traffic.name)).collect();
    unique("", &lone, "traffic entry", notes);
    check_subjects(draft, &lone, notes);
    for home in &draft.homes {
        let traffic: Vec<(&str, &String)> = home.traffic.iter().map(|traffic| ("traffic", &traffic.name)).collect();
        let place = join("home", &home.name);
        unique(&place, &traffic, "traffic entry", notes);
        for (_, name) in traffic {
            check_name(&join(&join(&place, "traffic"), name), name, notes);
        }
    }
}

/// A lone subscriber's traffic entries are subjects of records by their bare names, beside the links.
fn check_subjects(draft: &Draft, traffic: &[(&str, &String)], notes: &mut Notes) {
    let directions = || Direction::BOTH.iter().map(|direction| direction.as_str());
    let shared = draft.links.iter();
    let links: BTreeSet<String> = shared
        .flat_map(|link| directions().map(|direction| format!("{}/{direction}", link.name)))
        .chain(directions().map(str::to_owned))
        .collect();
    for (list, name) in traffic {
        if links.contains(name.as_str()) {
            notes.problem(
                &join(&join(list, name), "name"),
                Mismatch::new(format!("{} is the name of a link", quoted(name)), "records need distinct names"),
            );
        }
    }
}

/// Names of things in lists, which records tell apart.
fn unique(place: &str, things: &[(&str, &String)], what: &str, notes: &mut Notes) {
    let mut names = BTreeSet::new();
    for (list, name) in things {
        if !name.is_empty() && !names.insert(name.as_str()) {
            notes.problem(
                &join(&join(&join_outer(place, list), name), "name"),
                Mismatch::new(
                    format!("{} is the name of another {what} too", quoted(name)),
                    "records need distinct names",
                ),
            );
        }
    }
}

/// `list` below `place`, which may be the file.
fn join_outer(place: &str, list: &str) -> String {
    if place.is_empty() { list.to_owned() } else { format!("{place}.{list}") }
}

fn check_stack(traffic: &TrafficDraft, path: &str, notes: &mut Notes) {
    if notes.is_doubtful(&format!("{path}.app")) {
        return;
    }
    if traffic.stack.is_said && !application::needs_stack(&traffic.application) {
        note(
            notes,
            &format!("{path}.stack"),
            Mismatch::new("this application sends datagrams and opens no connections", "leave the stack out"),
        );
    }
}

fn check_servers(entry: &Entry<'_>, path: &str, notes: &mut Notes) {
    let traffic = entry.traffic;
    if notes.is_doubtful(&format!("{path}.app")) {
        return;
    }
    let count = traffic.application.servers();
    for (key, given) in [("rtt", traffic.round_trips.len()), ("line_rate", traffic.line_rates.len())] {
        if given > 1 && given != count {
            let (servers, wanted) = match count {
                1 => ("one server".to_owned(), "one value".to_owned()),
                count => (format!("{count} servers"), format!("one value for all, or a list of {count}")),
            };
            note(notes, &format!("{path}.{key}"), Mismatch::new(format!("{given} values for {servers}"), wanted));
        }
    }
    let links = entry.links();
    if links.iter().any(|(place, ..)| notes.is_doubtful(place)) {
        return;
    }
    let nearest = entry.propagation();
    if let Some(rtt) = traffic.round_trips.iter().find(|rtt| **rtt < nearest) {
        let (whose, shorter) = if entry.path() == [ACCESS] {
            ("the access link's own propagation", "access links")
        } else {
            ("the propagation of its links", "links on its path")
        };
        note(
            notes,
            &format!("{path}.rtt"),
            Mismatch::new(
                format!("{rtt} is shorter than {whose} ({nearest})"),
                format!("at least \"{nearest}\", or shorter delays of the {shorter}"),
            ),
        );
    }
}

/// A token bucket cannot hold back a packet that is longer than the bucket is deep, as the rate says.
fn check_lengths(entry: &Entry<'_>, path: &str, notes: &mut Notes) {
    let (key, length) = longest_packet(entry.traffic);
    for (place, _, link) in entry.links() {
        let link_path = join(&place, "link");
        let packet = u32::try_from(length.0).unwrap_or(u32::MAX / 2);
        let charged = Bytes(link.framing.charged(packet).into());
        if let Some((name, depth)) = link.link.bucket()
            && charged > depth
            && !notes.is_doubtful(&link_path)
            && !notes.is_doubtful(path)
        {
            let framed = if charged == length { String::new() } else { format!(", {charged} with their framing,") };
            notes.problem(
                &format!("{path}.{key}"),
                Mismatch::new(
                    format!("packets of {length}{framed} are longer than {link_path}.{name} is deep ({depth})"),
                    if framed.is_empty() {
                        format!("packets of at most \"{depth}\", or a larger {name}")
                    } else {
                        format!("shorter packets, or a {name} of at least \"{charged}\"")
                    },
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
    let stack = &traffic.stack.stack.config;
    let payload = u64::from(stack.maximum_segment_size);
    ("stack".to_owned(), Bytes(payload + u64::from(stack.wire.data_header)))
}
