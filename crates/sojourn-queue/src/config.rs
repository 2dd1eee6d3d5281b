//! Queue managers as data: one value per kind of manager, from which a running one is built.
//!
//! Source: the parameter tables named in each `*Config`. Deviations: none known.

use crate::QueueManager;
use crate::store::fields::FlowFields;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Deref;
use sojourn_base::{BitRate, Bytes, Direction, Limit, Packets, Span};
use sojourn_keys::{Key, Mismatch, Values, family, key};

/// Something wrong with a manager's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The parameter as it is named in the config, for instance `target`.
    pub field: &'static str,
    /// The error, with the wrong value.
    pub message: String,
    /// The remedy; may be empty.
    pub hint: &'static str,
}

family! {
    /// Any queue manager's parameters.
    pub struct ManagerConfig(dyn ManagerKind);
}

/// A kind of queue manager: parameters, and how a running one is built from them. A line in `kinds.rs` adds a built-in
/// one, [`add_manager`](crate::add_manager) one of another crate.
pub trait ManagerKind: Values<ManagerConfig> {
    /// A running manager with these parameters, empty.
    ///
    /// # Panics
    /// If a limit is still a time; see [`ManagerConfig::at`].
    fn build(&self) -> Box<dyn QueueManager>;

    /// Bytes of its sub-queues, buckets and the like before a packet waits; what is less than a page does not count.
    fn bytes(&self) -> u64 {
        0
    }

    /// The limit, if it may be anything but packets.
    fn limit_mut(&mut self) -> Option<&mut Limit> {
        None
    }

    /// The least limit in packets that lets one wait.
    fn least_packets(&self) -> Packets {
        Packets(1)
    }

    /// The manager behind this one, and the key that holds it.
    fn behind(&self) -> Option<(&'static str, &ManagerConfig)> {
        None
    }

    /// Returns true if the manager estimates the delay of each packet that it accepts; see
    /// [`crate::QueueContext::estimated`].
    fn estimates_delay(&self) -> bool {
        false
    }

    /// Fields of a header that make a flow, if the manager tells flows apart.
    fn flow_fields(&self) -> Option<FlowFields> {
        None
    }

    /// Returns true if the manager has several service queues, which packets are labelled with.
    fn has_service_queues(&self) -> bool {
        false
    }

    /// Returns true if a running manager goes on with other parameters of its kind; see [`QueueManager::retune`].
    fn retunes(&self) -> bool {
        false
    }

    /// Returns true if a link's classifiers can choose a packet's queue: a classic or a low-latency one.
    fn obeys_classifiers(&self) -> bool {
        false
    }

    /// Returns an error of these parameters on a link of this direction.
    fn problem_in(&self, direction: Direction) -> Option<ConfigProblem> {
        let _ = direction;
        None
    }

    /// Adds what is wrong with these parameters, apart from the bounds of single keys.
    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        let _ = problems;
    }
}

/// How much may wait.
pub const LIMIT: Key = key(
    "limit",
    "how much may wait: packets, bytes, or the time it takes to drain at the link's rate",
    "White 2012 §3.1.2 counts packets, White 2013 §3.2 bytes",
);

/// Largest quantum. chosen: the largest packet.
const LARGEST_QUANTUM: &str = "64 KiB";

pub(crate) const fn quantum(about: &'static str, origin: &'static str) -> Key {
    key("quantum", about, origin).most(LARGEST_QUANTUM)
}

impl ManagerConfig {
    /// The same parameters with every limit in time turned into the bytes that `rate` sends in it, at least a full-size packet.
    #[must_use]
    pub fn at(mut self, rate: BitRate) -> Self {
        if let Some(limit) = self.limit_mut() {
            let is_time = matches!(limit, Limit::Time(_));
            *limit = limit.at(rate);
            if let (true, Limit::Bytes(bytes)) = (is_time, limit) {
                *bytes = (*bytes).max(FULL_SIZE);
            }
        }
        self
    }

    /// The limit, if it may be anything but packets.
    pub fn limit(&self) -> Option<Limit> {
        self.clone().limit_mut().copied()
    }

    /// Everything that is wrong with these parameters; empty if a manager can be built from them
    /// (after [`ManagerConfig::at`], should a limit be a time).
    pub fn problems(&self) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        self.deref().collect_problems(&mut problems);
        if let Some((_, inner)) = self.behind() {
            problems.extend(inner.problems());
        }
        problems
    }

    /// Bytes of sub-queues, buckets and the like before a packet waits.
    pub fn bytes(&self) -> u64 {
        let behind = self.behind().map_or(0, |(_, inner)| inner.bytes());
        behind + self.deref().bytes()
    }

    /// Returns true if the manager estimates the delay of each packet that it accepts.
    pub fn estimates_delay(&self) -> bool {
        match self.behind() {
            Some((_, inner)) => inner.estimates_delay(),
            None => self.deref().estimates_delay(),
        }
    }

    /// Fields of a header that make a flow, if the manager tells flows apart.
    pub fn flow_fields(&self) -> Option<FlowFields> {
        match self.behind() {
            Some((_, inner)) => inner.flow_fields(),
            None => self.deref().flow_fields(),
        }
    }

    /// Returns errors of a manager on a link that drains at `rate` (if that is known): path below the queue's table,
    /// and message.
    pub fn problems_on(&self, rate: Option<BitRate>) -> Vec<(String, Mismatch)> {
        let mut found = Vec::new();
        if let Some((key, inner)) = self.behind() {
            let inner = inner.problems_on(rate).into_iter();
            found.extend(inner.map(|(below, mismatch)| (format!("{key}.{below}"), mismatch)));
        } else if let Some(mismatch) = self.limit_problem(rate) {
            found.push(("limit".to_owned(), mismatch));
        }
        let mut own = Vec::new();
        self.deref().collect_problems(&mut own);
        found.extend(own.into_iter().map(|problem| {
            let mismatch = Mismatch::new(problem.message, problem.hint);
            (problem.field.to_owned(), mismatch)
        }));
        found
    }

    /// Returns an error of a manager on a link of this direction: path below the queue's table, and message.
    pub fn problem_in(&self, direction: Direction) -> Option<(String, Mismatch)> {
        if let Some((key, inner)) = self.behind() {
            return inner.problem_in(direction).map(|(below, mismatch)| (format!("{key}.{below}"), mismatch));
        }
        let problem = self.deref().problem_in(direction)?;
        Some((problem.field.to_owned(), Mismatch::new(problem.message, problem.hint)))
    }

    /// Returns an error for a limit that is too small.
    fn limit_problem(&self, rate: Option<BitRate>) -> Option<Mismatch> {
        let least = self.deref().least_packets();
        let hint = format!("at least \"{FULL_SIZE}\", one full-size packet");
        match (self.limit()?, rate) {
            (Limit::Packets(packets), _) if packets < least => Some(Mismatch::new(
                format!("{packets} leave no room for a packet under this admission rule"),
                format!("at least \"{least}\""),
            )),
            (Limit::Time(span), Some(rate)) if rate.bytes_in(span) < FULL_SIZE && !self.is_limit_of_kind(span) => {
                let bytes = rate.bytes_in(span);
                Some(Mismatch::new(format!("{span} at {rate} are {bytes}, less than one full-size packet"), hint))
            }
            (Limit::Bytes(bytes), _) if bytes < FULL_SIZE => {
                Some(Mismatch::new(format!("{bytes} are less than one full-size packet"), hint))
            }
            _ => None,
        }
    }
}

impl ManagerConfig {
    /// Returns true if the kind, or one of its profiles, has this limit: a file need not know that a slow line sends less in it than a
    /// packet.
    fn is_limit_of_kind(&self, span: Span) -> bool {
        let kinds = Self::kinds().into_iter();
        let own = kinds.filter(|kind| kind.info().name == self.kind());
        own.flat_map(|kind| {
            let profiles = kind.info().profiles.into_iter().map(|profile| Some(profile.0));
            let all = profiles.chain([None]);
            all.map(|profile| kind.values(profile).limit()).collect::<Vec<_>>()
        })
        .any(|limit| limit == Some(Limit::Time(span)))
    }
}

/// The full-size packet of the ns-2 studies (White 2012 §3.1.2): a buffer must hold one.
const FULL_SIZE: Bytes = Bytes(1500);

/// Adds a problem if a control law's two times are out of order.
pub(crate) fn require_shorter(
    (short_name, short): (&'static str, Span),
    (long_name, long): (&'static str, Span),
    hint: &'static str,
    problems: &mut Vec<ConfigProblem>,
) {
    if short >= long {
        problems.push(ConfigProblem {
            field: short_name,
            message: alloc::format!("{short} is not shorter than {long_name} ({long})"),
            hint,
        });
    }
}

/// Adds a problem if a limit holds nothing.
pub(crate) fn require_room(limit: Limit, problems: &mut Vec<ConfigProblem>) {
    let empty = match limit {
        Limit::Bytes(bytes) => bytes.0 == 0,
        Limit::Packets(packets) => packets.0 == 0,
        Limit::Time(span) => span.is_zero(),
    };
    if empty {
        problems.push(ConfigProblem {
            field: "limit",
            message: alloc::format!("{limit} holds nothing"),
            hint: "a limit of at least two full-size packets",
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_no_file_says_holds_a_packet_on_any_line() {
        let slow = BitRate::from_bps(8_000);
        let mut times = 0;
        for kind in ManagerConfig::kinds() {
            let profiles = kind.info().profiles.into_iter().map(|profile| Some(profile.0));
            for config in profiles.chain([None]).map(|profile| kind.values(profile)) {
                let Some(Limit::Time(span)) = config.limit() else { continue };
                times += 1;
                assert_eq!(config.problems_on(Some(slow)), [], "{}", config.kind());
                assert_eq!(config.clone().at(slow).limit(), Some(Limit::Bytes(FULL_SIZE)));
                // One that a file says is refused where it holds none.
                let mut said = config.clone();
                if let Some(limit) = said.limit_mut() {
                    *limit = Limit::Time(span + Span::from_us(1));
                }
                let told = said.problems_on(Some(slow));
                assert!(told.iter().any(|(key, _)| key.ends_with("limit")), "{}", config.kind());
            }
        }
        assert!(times > 2, "{times} limits in time");
    }
}
