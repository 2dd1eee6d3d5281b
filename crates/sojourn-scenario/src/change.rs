//! Changes of a file during a run: checks that the keys may change, and returns the scenario after each change.
//!
//! Source: none; which keys may change is what links, managers and applications say. Deviations: none known.

use sojourn_base::Span;
use sojourn_keys::value::Mismatch;

use crate::keys::change::ChangeDraft;
use crate::keys::scenario::Draft;
use crate::model::{DirectedLink, Scenario};
use crate::problem::Problem;
use crate::reader::{Notes, join};
use crate::tree;

/// Most changes times traffic entries, homes and parallel flows. chosen: a scenario for each change then takes some
/// hundred megabytes.
const MOST_KEPT: u64 = 200_000;

/// Sets values at key paths of the file as earlier changes have left it, and reads it; keeps them if the flag is set.
pub(crate) type Read<'a> = dyn FnMut(&[(String, String)], bool) -> Result<Scenario, Vec<Problem>> + 'a;

/// Works out the scenario from each change on, and notes what cannot change.
pub(crate) fn follow(read: &mut Read<'_>, draft: &mut Draft, notes: &mut Notes) {
    let mut changes = core::mem::take(&mut draft.changes);
    let kept: u64 = draft
        .entries()
        .map(|entry| u64::from(entry.copies()) * (1 + entry.traffic.application.flows()))
        .fold(1, u64::saturating_add);
    if kept.saturating_mul(changes.len() as u64) > MOST_KEPT {
        let message = format!("{} changes of {kept} traffic entries and flows", changes.len());
        let hint = format!("at most {MOST_KEPT} changes times entries and flows");
        notes.problem("change", Mismatch::new(message, hint));
    }
    let mut before = draft.clone().into_scenario();
    let mut last = Span::ZERO;
    for (index, change) in changes.iter_mut().enumerate() {
        if !notes.problems.is_empty() {
            break;
        }
        let place = format!("change[{index}]");
        if change.at <= last {
            let message = format!("{} is not after {last}", change.at);
            let hint = "changes in the order of time, all of one time together";
            notes.problem(&join(&place, "at"), Mismatch::new(message, hint));
        } else if change.at >= draft.duration {
            let message = format!("the run ends at {}", draft.duration);
            notes.problem(&join(&place, "at"), Mismatch::new(message, "an earlier time"));
        }
        last = change.at;
        let told = make(read, &before, change);
        if let Some(then) = &change.then {
            before = then.clone();
        }
        for (path, mismatch) in told {
            let path = join(&join(&place, "set"), &path);
            notes.problem(&path, mismatch);
        }
    }
    draft.changes = changes;
}

/// Makes a change, and tells what is wrong with it, by the paths of keys.
fn make(read: &mut Read<'_>, before: &Scenario, change: &mut ChangeDraft) -> Vec<(String, Mismatch)> {
    let set = &change.set.0;
    let mut paths = set.iter().map(|(path, _)| path);
    if let Some(path) = paths.find(|path| !may_change(path)) {
        return vec![(path.clone(), fixed())];
    }
    match read(set, false) {
        Err(problems) => {
            problems.into_iter().map(|problem| (problem.path, Mismatch::new(problem.message, problem.hint))).collect()
        }
        Ok(then) if is_reached(before, &then) => {
            change.then = read(set, true).ok();
            Vec::new()
        }
        Ok(_) => {
            let mut is_guilty = |alone: &&(String, String)| {
                let then = read(core::slice::from_ref(*alone), false);
                then.is_ok_and(|then| !is_reached(before, &then))
            };
            let guilty: Vec<_> = set.iter().filter(|alone| is_guilty(alone)).collect();
            // If each may change alone, and not together, the first is as good as any.
            let told = if guilty.is_empty() { &set[..1] } else { &[] };
            let told = guilty.into_iter().chain(told);
            told.map(|(path, _)| (path.clone(), fixed())).collect()
        }
    }
}

fn fixed() -> Mismatch {
    Mismatch::new(
        "is fixed during a run; from the start it can be changed",
        "during a run change: link.rate of kind serial, rates and bursts of kind shaped, queue.limit and parameters of a manager's decisions, app.lanes of bulk, paused, latency_histogram.counting",
    )
}

/// Returns true if keys of this path may change during a run.
fn may_change(path: &str) -> bool {
    let parts = tree::parse_path(path).unwrap_or_default();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let is_key = |key: &str| !["kind", "profile"].contains(&key);
    match parts.as_slice() {
        ["access", _, "link" | "queue", key, ..]
        | ["link", _, _, "link" | "queue", key, ..]
        | ["home", _, "access", _, "link" | "queue", key, ..]
        | ["traffic", _, "app", key]
        | ["home", _, "traffic", _, "app", key] => is_key(key),
        ["traffic", _, "paused"]
        | ["home", _, "traffic", _, "paused"]
        | ["access", _, "latency_histogram", "counting"]
        | ["link", _, _, "latency_histogram", "counting"]
        | ["home", _, "access", _, "latency_histogram", "counting"] => true,
        _ => false,
    }
}

/// Returns true if a run of `before` can continue as `then`.
fn is_reached(before: &Scenario, then: &Scenario) -> bool {
    let was = Draft::of(before);
    let mut is = Draft::of(then);
    let mut links = Vec::new();
    was.links(|_, link| links.push(link.clone()));
    let mut links = links.into_iter();
    is.links_mut(|_, link| {
        let Some(from) = links.next() else { return };
        if let (Some(is), Some(was)) = (&mut link.latency_histogram, &from.latency_histogram) {
            is.counting = was.counting;
        }
        if !has_rules(&from) && from.link.may_become(&link.link, &from.conditions) {
            link.link = from.link;
        }
    });
    let homes = |draft: &Draft| draft.homes.iter().flat_map(|home| home.traffic.clone()).collect::<Vec<_>>();
    let from = was.traffic.iter().cloned().chain(homes(&was));
    let to = is.homes.iter_mut().flat_map(|home| &mut home.traffic);
    for (from, to) in from.zip(is.traffic.iter_mut().chain(to)) {
        to.paused = from.paused;
        // A window that follows the rate of a link is that of the start.
        to.stack = from.stack;
        if from.application.may_become(&to.application) {
            to.application = from.application;
        }
    }
    is.into_scenario() == *before
}

/// Returns true if rules sort packets in front of a link. Such a link keeps its parameters: a change would have to name
/// one of its service flows.
fn has_rules(link: &DirectedLink) -> bool {
    !link.flows.is_empty()
}
