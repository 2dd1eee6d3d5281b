//! The service that a modem gets: a service flow each way, or an aggregate of a classic and a low-latency one.
//!
//! Source: White 2019 §2.1 to §2.4 for aggregates; DOCSIS MULPI annex C for buffers; RFC 8034 and White 2019 §2.3
//! for what queue management is where. Deviations: downstream AQM is vendor specific and taken as DOCSIS-PIE.

use serde::Serialize;

use crate::classifier::Classifier;
use crate::parameter::{Leaf, Parameter, Parameters, Setting};
use crate::role::Role;

/// A service flow with all that holds for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServiceFlow {
    /// Its role.
    pub role: Role,
    /// Its reference in the file; `None` if the CMTS made it.
    pub reference: Option<u64>,
    /// Its parameters; what has no default may be missing.
    pub parameters: Parameters,
    /// Bytes that it may queue; `None` if neither a size nor a rate is known.
    pub buffer: Option<Leaf>,
    /// Its queue management: `none`, `docsis-pie` or `immediate`.
    pub aqm: Leaf,
}

/// An aggregate of two service flows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AggregateServiceFlow {
    /// Its reference in the file; `None` if the CMTS made it.
    pub reference: Option<u64>,
    /// Its parameters.
    pub parameters: Parameters,
    /// For what builds queues.
    pub classic: ServiceFlow,
    /// For what builds none.
    pub low_latency: ServiceFlow,
    /// Rules in the order in which they are tried; without a match a packet is classic.
    pub classifiers: Vec<Classifier>,
}

/// A service flow beside the first one, or a further member of its aggregate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FurtherFlow {
    /// The service flow.
    #[serde(flatten)]
    pub flow: ServiceFlow,
    /// It shares the rate of an aggregate.
    pub member: bool,
    /// The reference of its aggregate, if that is not the first of its direction.
    pub aggregate: Option<u64>,
}

/// An aggregate beside the first service flow or aggregate of a direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FurtherAggregate {
    /// Its reference in the file.
    pub aggregate: Option<u64>,
    /// Its service flow, or pair of them; others of it stand among the further flows.
    #[serde(flatten)]
    pub service: Service,
}

/// Further service flows of a direction, beside its first service flow or aggregate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Beside {
    /// Service flows, in the order of the file.
    pub flows: Vec<FurtherFlow>,
    /// Aggregates, in the order of the file.
    pub aggregates: Vec<FurtherAggregate>,
    /// Rules of a direction without a low-latency aggregate, in the order in which they are tried; without a match a
    /// packet goes to the first service flow.
    pub classifiers: Vec<Classifier>,
}

/// Service of a modem in one direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Service {
    /// One service flow carries everything.
    Single(Box<ServiceFlow>),
    /// Two service flows share a rate.
    Aggregate(Box<AggregateServiceFlow>),
}

/// Service of a modem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServiceConfig {
    /// From the subscriber.
    pub upstream: Service,
    /// To the subscriber.
    pub downstream: Service,
    /// Further service flows from the subscriber.
    pub beside_upstream: Beside,
    /// Further service flows to the subscriber.
    pub beside_downstream: Beside,
    /// True if the file forbids low-latency DOCSIS to a modem that could have it.
    pub low_latency_disabled: bool,
    /// True if the file was expanded although its digests are wrong.
    pub bad_mic: bool,
    /// Octets of service flows and aggregates of the file that are left out.
    pub others: Vec<usize>,
}

fn number(parameters: &Parameters, parameter: Parameter) -> Option<u64> {
    match parameters.get(&parameter)?.value {
        Setting::Number(number) => Some(number),
        _ => None,
    }
}

impl ServiceFlow {
    /// A parameter that is a number.
    pub fn number(&self, parameter: Parameter) -> Option<u64> {
        number(&self.parameters, parameter)
    }

    /// The queue management in a word.
    pub fn aqm_word(&self) -> &str {
        match &self.aqm.value {
            Setting::Text(word) => word,
            _ => "none",
        }
    }
}

impl AggregateServiceFlow {
    /// A parameter that is a number.
    pub fn number(&self, parameter: Parameter) -> Option<u64> {
        number(&self.parameters, parameter)
    }
}

impl Beside {
    /// Returns true if there is nothing beside the first service flow or aggregate.
    pub const fn is_empty(&self) -> bool {
        self.flows.is_empty() && self.aggregates.is_empty()
    }

    /// Returns the further service flows and aggregates as words that follow those of the service: ` + 1 SF beside it`.
    pub fn summary(&self) -> String {
        let words = |number: usize, what: &str| match number {
            0 => String::new(),
            number => format!(" + {number} {what} beside it"),
        };
        words(self.flows.len(), "SF") + &words(self.aggregates.len(), "ASF")
    }
}

impl Service {
    /// Maximum sustained rate in bits per second; 0 is no limit.
    pub fn rate(&self) -> u64 {
        let parameters = match self {
            Self::Single(flow) => &flow.parameters,
            Self::Aggregate(aggregate) => &aggregate.parameters,
        };
        number(parameters, Parameter::MaxSustainedRate).unwrap_or(0)
    }

    /// The service in a few words, such as `1 SF, docsis-pie, 20 Mb/s`.
    pub fn summary(&self) -> String {
        let rate = match self.rate() {
            0 => "no limit".to_owned(),
            rate => sojourn_base::BitRate::from_bps(rate).to_string(),
        };
        match self {
            Self::Single(flow) => format!("1 SF, {}, {rate}", flow.aqm_word()),
            Self::Aggregate(aggregate) => {
                let grants = match aggregate.low_latency.number(Parameter::Scheduling) {
                    Some(crate::check::PGS) => " + proactive grants",
                    _ => "",
                };
                format!(
                    "ASF of classic ({}) and low-latency ({}{grants}) SF, {rate}",
                    aggregate.classic.aqm_word(),
                    aggregate.low_latency.aqm_word()
                )
            }
        }
    }
}
