//! Queue managers as data: one value per kind of manager, from which a running one is built.
//!
//! Source: the parameter tables named in each `*Config`. Deviations: none known.

use crate::{
    AckPriorityConfig, CodelConfig, DocsisPieConfig, DropTailConfig, FqCodelConfig, FqPieConfig,
    PieConfig, SfqCodelConfig, SfqConfig, SfqNs2Config, SfqPieConfig,
};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Limit, Span};

/// Any queue manager's parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum ManagerConfig {
    /// First in, first out, with a limit.
    DropTail(DropTailConfig),
    /// CoDel over one queue.
    Codel(CodelConfig),
    /// Hashed sub-flows in turns, without a policy.
    Sfq(SfqConfig),
    /// Stochastic fair queueing of ns-2.
    SfqNs2(SfqNs2Config),
    /// SFQ-CoDel of 2013.
    SfqCodel(SfqCodelConfig),
    /// FQ-CoDel.
    FqCodel(FqCodelConfig),
    /// PIE over one queue.
    Pie(PieConfig),
    /// PIE over hashed sub-flows in turns.
    SfqPie(SfqPieConfig),
    /// FQ-PIE.
    FqPie(FqPieConfig),
    /// DOCSIS-PIE over one service flow's queue.
    DocsisPie(DocsisPieConfig),
    /// A fast lane for pure acknowledgements before any other manager.
    AckPriority(AckPriorityConfig, Box<Self>),
}

/// Something wrong with a manager's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The parameter as it is named in the config, for instance `target`.
    pub field: &'static str,
    /// What is wrong, with the value that is.
    pub message: String,
    /// What would be right; may be empty.
    pub hint: &'static str,
}

impl ManagerConfig {
    /// The word for this kind of manager in files and records.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::DropTail(_) => "drop-tail",
            Self::Codel(_) => "codel",
            Self::Sfq(_) => "sfq",
            Self::SfqNs2(_) => "sfq-ns2",
            Self::SfqCodel(_) => "sfq-codel",
            Self::FqCodel(_) => "fq-codel",
            Self::Pie(_) => "pie",
            Self::SfqPie(_) => "sfq-pie",
            Self::FqPie(_) => "fq-pie",
            Self::DocsisPie(_) => "docsis-pie",
            Self::AckPriority(..) => "ack-priority",
        }
    }

    /// The same parameters with every limit in time turned into the bytes that `rate` sends in it.
    #[must_use]
    pub fn at(mut self, rate: BitRate) -> Self {
        if let Some(limit) = self.limit_mut() {
            *limit = limit.at(rate);
        }
        self
    }

    /// The limit, if it may be anything but packets.
    pub fn limit(&self) -> Option<Limit> {
        self.clone().limit_mut().copied()
    }

    /// The limit, if it may be anything but packets.
    fn limit_mut(&mut self) -> Option<&mut Limit> {
        Some(match self {
            Self::DropTail(config) => &mut config.limit,
            Self::Codel(config) => &mut config.limit,
            Self::Sfq(config) => &mut config.limit,
            Self::SfqNs2(_) => return None,
            Self::SfqCodel(config) => &mut config.sub_flows.limit,
            Self::FqCodel(config) => &mut config.flows.limit,
            Self::Pie(config) => &mut config.limit,
            Self::SfqPie(config) => &mut config.sub_flows.limit,
            Self::FqPie(config) => &mut config.flows.limit,
            Self::DocsisPie(config) => &mut config.limit,
            Self::AckPriority(_, inner) => return inner.limit_mut(),
        })
    }

    /// Everything that is wrong with these parameters; empty if a manager can be built from them
    /// (after [`ManagerConfig::at`], should a limit be a time).
    pub fn problems(&self) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        match self {
            Self::DropTail(config) => config.collect_problems(&mut problems),
            Self::Codel(config) => config.collect_problems(&mut problems),
            Self::Sfq(config) => config.collect_problems(&mut problems),
            Self::SfqNs2(config) => config.collect_problems(&mut problems),
            Self::SfqCodel(config) => config.collect_problems(&mut problems),
            Self::FqCodel(config) => config.collect_problems(&mut problems),
            Self::Pie(config) => config.collect_problems(&mut problems),
            Self::SfqPie(config) => config.collect_problems(&mut problems),
            Self::FqPie(config) => config.collect_problems(&mut problems),
            Self::DocsisPie(config) => config.collect_problems(&mut problems),
            Self::AckPriority(config, inner) => {
                config.collect_problems(&mut problems);
                problems.extend(inner.problems());
            }
        }
        problems
    }
}

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
