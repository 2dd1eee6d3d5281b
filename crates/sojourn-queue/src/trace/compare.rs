//! Compares what was done with what the trace says: to the letter, by law, with slack.
//!
//! Source: Holm 1979 for the bins of the law; levels are `chosen:`. Deviations: none known.

use super::{Done, Input, Output, Record, Trace};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use sojourn_base::{ServiceQueue, Span, math};

/// First difference between a replay and the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The line of the trace, from 1; 0 if it is not about one line.
    pub line: u32,
    /// Expected and actual output.
    pub message: String,
}

/// An output of the trace, with the number of its call and its place among the records.
type Expected = (u64, usize, Output);

impl Trace {
    fn expected(&self) -> Vec<Expected> {
        let mut call = 0;
        let mut expected = Vec::new();
        for (place, record) in self.records.iter().enumerate() {
            match record {
                Record::Input(Input::Told { .. } | Input::Draw(_)) => {}
                Record::Input(_) => call += 1,
                Record::Output(output) => expected.push((call, place, *output)),
            }
        }
        expected
    }

    /// The place of a call among the records.
    fn place_of(&self, call: u64) -> usize {
        self.calls().nth(usize::try_from(call.saturating_sub(1)).unwrap_or(usize::MAX)).map_or(0, |(place, _)| place)
    }

    fn calls(&self) -> impl Iterator<Item = (usize, Input)> {
        let inputs = self.records.iter().enumerate();
        inputs.filter_map(|(place, record)| match record {
            Record::Input(Input::Told { .. } | Input::Draw(_)) | Record::Output(_) => None,
            Record::Input(input) => Some((place, *input)),
        })
    }

    fn astray(&self, done: &Done) -> Option<Difference> {
        done.astray.map(|(place, message)| Difference { line: self.line(place), message: message.to_string() })
    }

    /// The first line that says anything else than was done; `None` if there is none. Timers and backlogs that the trace
    /// leaves out are not compared.
    pub fn difference(&self, done: &Done) -> Option<Difference> {
        let mut expected = self.expected();
        expected.retain(|(_, _, output)| !(done.own_timers && matches!(output, Output::NextTimer(_))));
        let optional = expected.iter().filter(|(_, _, output)| is_optional(*output));
        let told: BTreeSet<(u64, bool)> = optional.map(|(call, _, output)| (*call, is_timer(*output))).collect();
        let found = done
            .outputs
            .iter()
            .copied()
            .filter(|(call, output)| !is_optional(*output) || told.contains(&(*call, is_timer(*output))));
        let found: Vec<(u64, Output)> = found.collect();
        let first = expected.iter().map(|(call, _, output)| (*call, *output)).zip(found.iter().copied());
        let same = first.take_while(|(wanted, got)| wanted == got).count();
        let (place, message) = match (expected.get(same), found.get(same)) {
            (Some((call, place, wanted)), Some((at, got))) if call == at => {
                (*place, format!("the trace says \"< {wanted}\", and it is \"< {got}\""))
            }
            (Some((call, place, wanted)), got) if got.is_none_or(|(at, _)| call < at) => {
                (*place, format!("the trace says \"< {wanted}\", and nothing came"))
            }
            (_, Some((at, got))) => {
                let place = self.place_of(*at);
                (place, format!("\"< {got}\" came of it, which is not in the trace"))
            }
            (_, None) => return self.astray(done),
        };
        // A stray call ends a replay: later differences have other reasons.
        if done.astray.is_some_and(|(astray, _)| astray <= place) {
            return self.astray(done);
        }
        let line = self.line(place);
        Some(Difference { line, message })
    }

    /// Returns the difference of a manager with draws of its own from the same law: packets of each flow in order, none
    /// lost or doubled, and as many drops and marks in each second as chance allows.
    pub fn difference_by_law(&self, done: &Done) -> Option<Difference> {
        /// Level of the test over all bins. chosen: one replay in a thousand is refused by chance.
        const LEVEL: f64 = 0.001;
        if let Some(difference) = self.unlawful(done) {
            return Some(difference);
        }
        let times = self.times();
        let expected = self.expected().into_iter();
        let wanted = by_second(&times, expected.map(|(call, _, output)| (call, output)));
        let got = by_second(&times, done.outputs.iter().copied());
        let mut bins: Vec<(u64, bool)> = wanted.keys().chain(got.keys()).copied().collect();
        bins.sort_unstable();
        bins.dedup();
        let count = |counts: &BTreeMap<_, u64>, bin| counts.get(bin).copied().unwrap_or_default();
        let tested = bins.iter().map(|bin| {
            let (one, other) = (count(&wanted, bin), count(&got, bin));
            (two_sided(one, other), bin, one, other)
        });
        // Holm: the least of all is compared with the level over their number; if that holds, all do.
        let (p, (second, is_mark), one, other) = tested.min_by(|one, other| one.0.total_cmp(&other.0))?;
        let corrected = (p * bins.len() as f64).min(1.0);
        let what = if *is_mark { "marks" } else { "drops" };
        (corrected < LEVEL).then(|| Difference {
            line: 0,
            message: format!(
                "from {second} s on the trace has {one} {what} in a second, and there were {other}: p = {corrected:.1e} \
                 over {} bins",
                bins.len()
            ),
        })
    }

    /// Returns the difference of an implementation with a coarser clock: the same drops and marks in number and order,
    /// each at most `slack` and one service time from its time in the trace, and one more or less at the end.
    pub fn difference_with_slack(&self, done: &Done, slack: Span) -> Option<Difference> {
        if let Some(difference) = self.unlawful(done) {
            return Some(difference);
        }
        let (times, expected) = (self.times(), self.expected());
        let opportunities: Vec<u64> = self
            .calls()
            .filter_map(|(_, input)| match input {
                Input::Opportunity { at, .. } => Some(at),
                _ => None,
            })
            .collect();
        for is_mark in [false, true] {
            let wanted: Vec<(u64, usize)> = expected
                .iter()
                .filter(|(_, _, output)| signal(*output) == Some(is_mark))
                .map(|(call, place, _)| (at(&times, *call), *place))
                .collect();
            let got = done.outputs.iter();
            let got: Vec<u64> =
                got.filter(|(_, output)| signal(*output) == Some(is_mark)).map(|(call, _)| at(&times, *call)).collect();
            let what = if is_mark { "mark" } else { "drop" };
            for (number, ((one, place), other)) in wanted.iter().zip(&got).enumerate() {
                let allowed = slack.as_ns().saturating_add(service_time(&opportunities, *one));
                if one.abs_diff(*other) > allowed {
                    return Some(Difference {
                        line: self.line(*place),
                        message: format!(
                            "{what} {} is at {one} ns in the trace and was at {other} ns, more than {allowed} ns away",
                            number + 1
                        ),
                    });
                }
            }
            if wanted.len().abs_diff(got.len()) > 1 {
                return Some(Difference {
                    line: 0,
                    message: format!("the trace has {} {what}s, and there were {}", wanted.len(), got.len()),
                });
            }
        }
        None
    }

    /// The time of each call.
    fn times(&self) -> Vec<u64> {
        let calls = self.calls();
        calls.filter_map(|(_, input)| input.at()).collect()
    }

    /// A packet that was lost or doubled, or that has overtaken one of its flow in its queue.
    pub(super) fn unlawful(&self, done: &Done) -> Option<Difference> {
        let about = |line, message| Some(Difference { line, message });
        if let Some(difference) = self.astray(done) {
            return Some(difference);
        }
        let mut offered = BTreeMap::new();
        for (place, input) in self.calls() {
            if let Input::Arrival { item, meta, .. } = input
                && offered.insert(item, (place, meta.flow_hash, None)).is_some()
            {
                let message = format!("packet {item} comes twice in the trace");
                return about(self.line(place), message);
            }
        }
        let mut left = BTreeSet::new();
        let mut newest: BTreeMap<(u32, Option<ServiceQueue>), (usize, u64)> = BTreeMap::new();
        let mut waits = 0;
        for (call, output) in &done.outputs {
            let line = || self.line(self.place_of(*call));
            match *output {
                Output::Kept { item, queue, .. } => {
                    if let Some(packet) = offered.get_mut(&item) {
                        packet.2 = queue;
                    }
                }
                Output::Sent(Some(item)) | Output::Dropped { item, .. } => {
                    let Some((place, flow, queue)) = offered.get(&item).copied() else {
                        return about(line(), format!("packet {item} never came"));
                    };
                    if !left.insert(item) {
                        return about(line(), format!("packet {item} left twice"));
                    }
                    if matches!(output, Output::Sent(_)) {
                        let last = newest.insert((flow, queue), (place, item));
                        if let Some((before, other)) = last
                            && before > place
                        {
                            let message = format!("packet {item} left after {other}, which came later");
                            return about(line(), message);
                        }
                    }
                }
                Output::Waiting(all, _) => waits = u64::from(all.packets.0),
                _ => {}
            }
        }
        let gone = u64::try_from(left.len()).unwrap_or(u64::MAX);
        let came = u64::try_from(offered.len()).unwrap_or(u64::MAX);
        (gone + waits != came)
            .then(|| Difference { line: 0, message: format!("of {came} packets {gone} left and {waits} wait") })
    }
}

fn at(times: &[u64], call: u64) -> u64 {
    let place = usize::try_from(call.saturating_sub(1)).unwrap_or(usize::MAX);
    times.get(place).copied().unwrap_or_default()
}

/// The longer of the two times between opportunities around `now`, in ns: from the last but one to the last by then, and on to
/// the next.
fn service_time(opportunities: &[u64], now: u64) -> u64 {
    let next = opportunities.partition_point(|at| *at <= now);
    let around = &opportunities[next.saturating_sub(2)..opportunities.len().min(next + 1)];
    let gaps = around.windows(2).map(|pair| pair[1] - pair[0]);
    gaps.max().unwrap_or_default()
}

/// Returns true if a trace may leave such a line out.
const fn is_optional(output: Output) -> bool {
    matches!(output, Output::NextTimer(_) | Output::Waiting(..))
}

const fn is_timer(output: Output) -> bool {
    matches!(output, Output::NextTimer(_))
}

/// Returns false for a drop, true for a mark, `None` for other outputs.
const fn signal(output: Output) -> Option<bool> {
    match output {
        Output::Dropped { .. } => Some(false),
        Output::Marked { .. } => Some(true),
        _ => None,
    }
}

/// Drops and marks in each second.
fn by_second(times: &[u64], outputs: impl Iterator<Item = (u64, Output)>) -> BTreeMap<(u64, bool), u64> {
    const SECOND: u64 = 1_000_000_000;
    let mut counts = BTreeMap::new();
    for (call, output) in outputs {
        if let Some(is_mark) = signal(output) {
            *counts.entry((at(times, call) / SECOND, is_mark)).or_default() += 1;
        }
    }
    counts
}

/// How likely two counts of the same rate differ by at least so much: the exact test of a binomial with one half.
pub(super) fn two_sided(one: u64, other: u64) -> f64 {
    let (least, all) = (one.min(other), one + other);
    let count = all as f64;
    let mut log = -count * core::f64::consts::LN_2;
    let mut sum = math::exp(log);
    for k in 0..least {
        log += math::ln((count - k as f64) / (k as f64 + 1.0));
        sum += math::exp(log);
    }
    (2.0 * sum).min(1.0)
}
