//! From a service back to a configuration file that stands for it.
//!
//! Source: White 2019 §5.3.3 for aggregates that a file defines, §5.3.2 for names alone; DOCSIS MULPI annex C by the
//! table of TLVs for where each parameter stands. Deviations: a rule of a service is written for IPv4 and for IPv6,
//! since a service does not say which of them it was; what never matches is left out.

use core::fmt;
use core::str::FromStr;

use crate::classifier::{Classifier, Criteria};
use crate::file::{File, Tlv};
use crate::issue::Issue;
use crate::parameter::{About, Form, Leaf, OF_AGGREGATES, OF_FLOWS, Origin, Parameter, Parameters, Setting};
use crate::role::Role;
use crate::service::{AggregateServiceFlow, Beside, FurtherFlow, Service, ServiceConfig, ServiceFlow};
use crate::text::rate_scale;
use crate::tlv::{self, Kind};

/// QoS parameter set type of all service flows of a file: provisioned, admitted and active.
const ALL_SETS: u8 = 7;
/// Parameters that are written otherwise: buffers by their size, queue management by being off or by its algorithm,
/// names by the profile or class.
const SAID_OTHERWISE: [Parameter; 6] = [
    Parameter::BufferMinimum,
    Parameter::BufferTarget,
    Parameter::BufferMaximum,
    Parameter::AqmDisable,
    Parameter::ClassicServiceClassName,
    Parameter::LowLatencyServiceClassName,
];

/// How a file says a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Every value, aggregates too; nothing hangs on the tables of a CMTS.
    Explicit,
    /// Names of service classes or Aggregate QoS Profiles, nothing else.
    Names,
    /// Every value of one service flow each way, as a file before aggregates were.
    Legacy,
}

impl Style {
    /// All styles.
    pub const ALL: [Self; 3] = [Self::Explicit, Self::Names, Self::Legacy];

    /// The style in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Names => "names",
            Self::Legacy => "legacy",
        }
    }
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Style {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|style| style.word() == word)
            .ok_or_else(|| format!("no such style: {word}; there are explicit, names, legacy"))
    }
}

/// The file, still without digests ([`crate::seal`]), that stands for a service.
///
/// A modem gets from it what `service` says ([`ServiceConfig::simulates_as`]) if it has the capabilities, and for
/// names the tables, that the service came from.
///
/// # Errors
/// `E-STYLE` for everything that the style cannot say, `E-TOO-LONG` for what no file can.
pub fn from_service(service: &ServiceConfig, style: Style) -> Result<File, Vec<Issue>> {
    let mut writer = Writer { style, references: 0, issues: Vec::new() };
    let mut tlvs = vec![Tlv::octets(3, [1])];
    if service.low_latency_disabled {
        tlvs.push(Tlv::octets(91, [1]));
    }
    tlvs.extend(writer.direction(&service.upstream, &service.beside_upstream, UP));
    tlvs.extend(writer.direction(&service.downstream, &service.beside_downstream, DOWN));
    let mut file = File { tlvs, ..File::default() };
    if let Err(error) = file.octets() {
        writer.issues.push(Issue::new("E-TOO-LONG", error.to_string()));
    }
    file.complete();
    if writer.issues.is_empty() { Ok(file) } else { Err(writer.issues) }
}

/// Types of TLVs of one direction.
#[derive(Clone, Copy)]
struct Codes {
    flow: u8,
    aggregate: u8,
    classifier: u8,
}

const UP: Codes = Codes { flow: 24, aggregate: 70, classifier: 22 };
const DOWN: Codes = Codes { flow: 25, aggregate: 71, classifier: 23 };

struct Writer {
    style: Style,
    /// References of service flows that are taken.
    references: u16,
    issues: Vec<Issue>,
}

impl Writer {
    fn refuse(&mut self, about: impl Into<String>, message: impl Into<String>) {
        self.issues.push(Issue::new("E-STYLE", message).about(about));
    }

    fn direction(&mut self, service: &Service, beside: &Beside, codes: Codes) -> Vec<Tlv> {
        if !beside.is_empty() && self.style != Style::Explicit {
            let message = "service flows beside the first one need the style explicit";
            self.refuse(codes.flow.to_string(), message);
        }
        if !beside.aggregates.is_empty() {
            self.refuse(codes.aggregate.to_string(), "aggregates beside the first one are not written");
        }
        match (self.style, service) {
            (Style::Names, _) => self.name(service, codes),
            (_, Service::Single(flow)) if beside.flows.iter().any(|flow| flow.member) => {
                let message = "a plain aggregate is not written";
                self.refuse(codes.aggregate.to_string(), message);
                let reference = self.reference();
                vec![self.flow(codes, reference, Vec::new(), flow)]
            }
            (_, Service::Single(flow)) => {
                let reference = self.reference();
                let mut tlvs = vec![self.flow(codes, reference, Vec::new(), flow)];
                let mut known = self.beside(beside, None, codes, &mut tlvs);
                known.push((flow.reference, reference));
                let can_match = |rule: &&Classifier| rule.can_match();
                let rules: Vec<&Classifier> = beside.classifiers.iter().filter(can_match).collect();
                self.rules(&rules, |rule| reference_of(&known, rule), codes, &mut tlvs);
                tlvs
            }
            (Style::Explicit, Service::Aggregate(aggregate)) => self.aggregate(aggregate, beside, codes),
            (Style::Legacy, Service::Aggregate(_)) => {
                let message = "two service flows that share a rate need an aggregate";
                self.refuse(codes.aggregate.to_string(), message);
                Vec::new()
            }
        }
    }

    /// A service flow that is a name.
    fn name(&mut self, service: &Service, codes: Codes) -> Vec<Tlv> {
        let (table, whole, members, rules) = match service {
            Service::Single(flow) => ("service_class", &flow.parameters, vec![flow.as_ref()], &[][..]),
            Service::Aggregate(aggregate) => (
                "aqp",
                &aggregate.parameters,
                vec![&aggregate.classic, &aggregate.low_latency],
                &aggregate.classifiers[..],
            ),
        };
        let of_members = members.iter().flat_map(|flow| {
            let parameters = flow.parameters.values();
            parameters.chain(&flow.buffer).chain([&flow.aqm])
        });
        let mut origins =
            whole.values().chain(of_members).map(|leaf| &leaf.origin).chain(rules.iter().map(|rule| &rule.origin));
        if let Some(Origin::File { path, .. }) = origins.find(|origin| matches!(origin, Origin::File { .. })) {
            self.refuse(path, "a service class name cannot replace values that the file gives itself");
            return Vec::new();
        }
        let name = whole.values().find_map(|leaf| match &leaf.origin {
            Origin::Table { table: of, name, .. } if *of == table => Some(name),
            _ => None,
        });
        let Some(name) = name else {
            self.refuse(codes.flow.to_string(), "nothing in it comes from a name");
            return Vec::new();
        };
        let parts = vec![
            Tlv::octets(1, self.reference()),
            Tlv::octets(6, [ALL_SETS]),
            Tlv::octets(4, [name.as_bytes(), &[0]].concat()),
        ];
        vec![Tlv::of(codes.flow, parts)]
    }

    /// The next reference of a service flow.
    fn reference(&mut self) -> [u8; 2] {
        self.references += 1;
        self.references.to_be_bytes()
    }

    /// Further service flows, and the references that they get for those of the file.
    fn beside(
        &mut self,
        beside: &Beside,
        aggregate: Option<&Tlv>,
        codes: Codes,
        tlvs: &mut Vec<Tlv>,
    ) -> Vec<(Option<u64>, [u8; 2])> {
        let mut known = Vec::new();
        for further in &beside.flows {
            let reference = self.reference();
            known.push((further.flow.reference, reference));
            let parts = aggregate.filter(|_| further.member).cloned();
            tlvs.push(self.flow(codes, reference, parts.into_iter().collect(), &further.flow));
        }
        known
    }

    /// Rules in their order; `target` says the reference of the service flow that one leads to.
    fn rules(
        &mut self,
        rules: &[&Classifier],
        target: impl Fn(&Classifier) -> Option<[u8; 2]>,
        codes: Codes,
        tlvs: &mut Vec<Tlv>,
    ) {
        let mut number = 0_u16;
        for (place, rule) in rules.iter().enumerate() {
            // The order is what counts; a higher priority comes first.
            let Ok(priority) = u8::try_from(rules.len() - 1 - place) else {
                let message = format!("{} rules, and at most 256 have an order", rules.len());
                self.refuse(codes.classifier.to_string(), message);
                break;
            };
            let Some(to) = target(rule) else { continue };
            let of_tos = |family| {
                let tos = rule.criteria.tos.unwrap_or_default();
                vec![Tlv::of(family, vec![Tlv::octets(1, tos)])]
            };
            let criteria = if rule.tlvs.is_empty() { vec![of_tos(9), of_tos(12)] } else { vec![rule.tlvs.clone()] };
            for criteria in criteria {
                number += 1;
                let mut parts =
                    vec![Tlv::octets(1, number.to_be_bytes()), Tlv::octets(3, to), Tlv::octets(5, [priority])];
                parts.extend(criteria);
                tlvs.push(Tlv::of(codes.classifier, parts));
            }
        }
    }

    /// An aggregate, its members and its rules.
    fn aggregate(&mut self, aggregate: &AggregateServiceFlow, beside: &Beside, codes: Codes) -> Vec<Tlv> {
        let (classic, low_latency) = (self.reference(), self.reference());
        let reference = Tlv::octets(36, classic);
        let mark = Tlv::of(42, vec![Tlv::octets(1, low_latency)]);
        let mut parts = vec![reference.clone(), mark];
        self.parameters(codes.aggregate, &mut parts, &aggregate.parameters, &OF_AGGREGATES);
        let mut tlvs = vec![Tlv::of(codes.aggregate, parts)];
        tlvs.push(self.flow(codes, classic, vec![reference.clone()], &aggregate.classic));
        tlvs.push(self.flow(codes, low_latency, vec![reference.clone()], &aggregate.low_latency));
        let known = self.beside(beside, Some(&reference), codes, &mut tlvs);
        let rules: Vec<&Classifier> = aggregate.classifiers.iter().filter(|rule| rule.can_match()).collect();
        if !rules.iter().any(|rule| rule.to == Role::LowLatency) {
            let message = "a CMTS adds its own rules where none leads to the low-latency queue";
            self.refuse(codes.classifier.to_string(), message);
        }
        let target = |rule: &Classifier| match rule.to {
            Role::LowLatency => Some(low_latency),
            Role::Further => reference_of(&known, rule),
            _ => Some(classic),
        };
        self.rules(&rules, target, codes, &mut tlvs);
        tlvs
    }

    /// A service flow; `parts` stand behind its reference.
    fn flow(&mut self, codes: Codes, reference: [u8; 2], parts: Vec<Tlv>, flow: &ServiceFlow) -> Tlv {
        let mut all = vec![Tlv::octets(1, reference), Tlv::octets(6, [ALL_SETS])];
        all.extend(parts);
        let mut parameters: Parameters = flow
            .parameters
            .iter()
            .filter(|(parameter, _)| !SAID_OTHERWISE.contains(parameter))
            .map(|(parameter, leaf)| (*parameter, leaf.clone()))
            .collect();
        if let Some(buffer) = &flow.buffer
            && !matches!(buffer.origin, Origin::Default { .. })
        {
            parameters.insert(Parameter::BufferTarget, buffer.clone());
        }
        let is_off = flow.aqm_word() == "none" && matches!(flow.aqm.origin, Origin::File { .. } | Origin::Table { .. });
        if is_off {
            let off = Leaf { value: Setting::Number(1), ..flow.aqm.clone() };
            parameters.insert(Parameter::AqmDisable, off);
        }
        self.parameters(codes.flow, &mut all, &parameters, &OF_FLOWS);
        Tlv::of(codes.flow, all)
    }

    /// Adds the parameters that are not what holds by default.
    fn parameters(&mut self, code: u8, parts: &mut Vec<Tlv>, parameters: &Parameters, about: &[About]) {
        let said: Vec<(&About, &Leaf)> = about
            .iter()
            .filter_map(|about| Some((about, parameters.get(&about.parameter)?)))
            .filter(|(about, leaf)| {
                let default = about.default.map(|(value, _)| Setting::Number(value));
                default.as_ref() != Some(&leaf.value)
                    && !matches!(
                        about.parameter,
                        Parameter::ClassicServiceClassName | Parameter::LowLatencyServiceClassName
                    )
            })
            .collect();
        let rates =
            said.iter().filter(|(about, _)| about.form == Form::Rate).filter_map(|(_, leaf)| match leaf.value {
                Setting::Number(rate) => Some(rate),
                _ => None,
            });
        let rates: Vec<u64> = rates.collect();
        let unit = (0..4_u8).find(|unit| {
            let scale = rate_scale(u64::from(*unit)).unwrap_or(1);
            rates.iter().all(|rate| rate % scale == 0 && u32::try_from(rate / scale).is_ok())
        });
        let Some(unit) = unit else {
            let message = "its rates have no common unit in which four octets hold each";
            self.refuse(format!("{code}.41"), message);
            return;
        };
        let scale = rate_scale(u64::from(unit)).unwrap_or(1);
        if unit > 0 {
            parts.push(Tlv::octets(41, [unit]));
        }
        for (about, leaf) in said {
            let path = [&[code], about.path].concat();
            let octets = match &leaf.value {
                Setting::Number(number) => {
                    let scale = if about.form == Form::Rate { scale } else { 1 };
                    octets_of(&path, number / scale)
                }
                Setting::List(list) if about.form == Form::Octets => {
                    list.iter().map(|octet| u8::try_from(*octet).ok()).collect()
                }
                Setting::List(list) => Some(list.iter().flat_map(|edge| edge.to_be_bytes()).collect()),
                Setting::Text(text) => Some(text.clone().into_bytes()),
            };
            let Some(octets) = octets else {
                self.refuse(tlv::dotted(&path), "the value does not fit into its octets");
                continue;
            };
            put(parts, about.path, octets);
        }
    }
}

/// The reference of the service flow that a rule leads to.
fn reference_of(known: &[(Option<u64>, [u8; 2])], rule: &Classifier) -> Option<[u8; 2]> {
    let found = known.iter().find(|(flow, _)| *flow == rule.flow)?;
    Some(found.1)
}

/// A number in as many octets as its row of the table says.
fn octets_of(path: &[u8], number: u64) -> Option<Vec<u8>> {
    let Kind::Number(octets) = tlv::of(path)?.kind else {
        return None;
    };
    let all = number.to_be_bytes();
    let (above, own) = all.split_at_checked(all.len().checked_sub(octets)?)?;
    above.iter().all(|octet| *octet == 0).then(|| own.to_vec())
}

/// Puts octets at a path; parts of one aggregate stay together.
fn put(parts: &mut Vec<Tlv>, path: &[u8], octets: Vec<u8>) {
    match path {
        [] => {}
        [code] => parts.push(Tlv::octets(*code, octets)),
        [code, below @ ..] => {
            let place = parts.iter().position(|tlv| tlv.code == *code);
            let place = place.unwrap_or_else(|| {
                parts.push(Tlv::of(*code, Vec::new()));
                parts.len() - 1
            });
            if let crate::file::Value::Tlvs(inside) = &mut parts[place].value {
                put(inside, below, octets);
            }
        }
    }
}

impl ServiceConfig {
    /// Returns true if both give the same simulation: equal values, sizes of buffers, queue management and order of
    /// rules; references and origins may differ.
    pub fn simulates_as(&self, other: &Self) -> bool {
        self.upstream.simulates_as(&other.upstream)
            && self.downstream.simulates_as(&other.downstream)
            && self.beside_upstream.simulates_as(&other.beside_upstream)
            && self.beside_downstream.simulates_as(&other.beside_downstream)
    }
}

impl Beside {
    fn simulates_as(&self, other: &Self) -> bool {
        let same = |(one, other): (&FurtherFlow, &FurtherFlow)| {
            (one.member, one.aggregate.is_some()) == (other.member, other.aggregate.is_some())
                && one.flow.simulates_as(&other.flow)
        };
        let pairs = self.aggregates.iter().zip(&other.aggregates);
        self.flows.len() == other.flows.len()
            && self.flows.iter().zip(&other.flows).all(same)
            && self.aggregates.len() == other.aggregates.len()
            && pairs.into_iter().all(|(one, other)| one.service.simulates_as(&other.service))
            && rules(&self.classifiers) == rules(&other.classifiers)
    }
}

impl Service {
    fn simulates_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Single(one), Self::Single(other)) => one.simulates_as(other),
            (Self::Aggregate(one), Self::Aggregate(other)) => {
                values(&one.parameters) == values(&other.parameters)
                    && one.classic.simulates_as(&other.classic)
                    && one.low_latency.simulates_as(&other.low_latency)
                    && rules(&one.classifiers) == rules(&other.classifiers)
            }
            _ => false,
        }
    }
}

impl ServiceFlow {
    fn simulates_as(&self, other: &Self) -> bool {
        let size = |flow: &Self| flow.buffer.as_ref().map(|leaf| leaf.value.clone());
        self.role == other.role
            && values(&self.parameters) == values(&other.parameters)
            && size(self) == size(other)
            && self.aqm_word() == other.aqm_word()
    }
}

fn values(parameters: &Parameters) -> Vec<(Parameter, &Setting)> {
    parameters
        .iter()
        .filter(|(parameter, _)| !SAID_OTHERWISE.contains(parameter))
        .map(|(parameter, leaf)| (*parameter, &leaf.value))
        .collect()
}

fn rules(classifiers: &[Classifier]) -> Vec<(Role, &Criteria)> {
    let mut rules: Vec<(Role, &Criteria)> =
        classifiers.iter().filter(|rule| rule.can_match()).map(|rule| (rule.to, &rule.criteria)).collect();
    rules.dedup();
    rules
}
