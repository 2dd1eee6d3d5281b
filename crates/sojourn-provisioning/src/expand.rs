//! From a configuration file and the tables of a CMTS to the service that a modem gets.
//!
//! Source: White 2019 §5.1, §5.3.1 to §5.3.3: a service class name is looked up among Aggregate QoS Profiles first, if
//! modem and CMTS support low-latency DOCSIS; explicit values override; an aggregate may also be explicit.
//! Deviations: the source leaves open which explicit parameters of an expanded service flow go where. Rate, burst, peak rate, reserved rate and priority go to the aggregate, all
//! others to the classic service flow. An explicit aggregate without support becomes one classic service flow with its
//! rates, which is unconfirmed.

use serde::Serialize;

use crate::check::{self, PGS, asf_reference, examine};
use crate::classifier::Classifier;
use crate::file::{File, Tlv};
use crate::flow_queue::{self, number_of};
use crate::integrity::{Digest, Secret};
use crate::issue::Issue;
use crate::parameter::{
    About, Form, Leaf, OF_AGGREGATES, OF_FLOWS, Origin, Parameter, Parameters, Setting, fill, fill_defaults,
};
use crate::role::Role;
use crate::service::{
    AggregateServiceFlow, Beside, FurtherAggregate, FurtherFlow, Service, ServiceConfig, ServiceFlow,
};
use crate::tables::{Entry, Tables, Way};
use crate::text::rate_scale;
use crate::tlv;

/// Parameters of an expanded service flow that belong to the aggregate.
const OF_THE_WHOLE: [Parameter; 5] = [
    Parameter::MaxSustainedRate,
    Parameter::MaxTrafficBurst,
    Parameter::PeakTrafficRate,
    Parameter::MinReservedRate,
    Parameter::TrafficPriority,
];

/// Choices where sources leave one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// Expand files whose digests are wrong.
    pub allow_bad_mic: bool,
    /// Give modems without low-latency support two queues downstream, which needs only the CMTS (White 2019 §5.1).
    pub downstream_without_modem: bool,
    /// Take doubtful warnings as errors.
    pub strict: bool,
}

/// Result of a file's expansion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Expansion {
    /// The service; `None` if something is an error.
    pub service: Option<ServiceConfig>,
    /// Issues of the file and of the service.
    pub issues: Vec<Issue>,
}

/// Expands a file.
pub fn expand(file: &File, tables: &Tables, secret: Option<&Secret>, choices: Choices) -> Expansion {
    let examination = examine(file, secret, choices.strict);
    let integrity = examination.integrity;
    let bad_mic = [integrity.cm_mic, integrity.cmts_mic].contains(&Digest::Bad);
    let mut expander = Expander {
        file,
        tables,
        choices,
        issues: examination.issues,
        others: Vec::new(),
        beside: Beside::default(),
        further: Vec::new(),
    };
    for issue in &mut expander.issues {
        if choices.allow_bad_mic && ["E-CM-MIC", "E-CMTS-MIC"].contains(&issue.code) {
            issue.severity = crate::issue::Severity::Warning;
        }
    }
    let service = if expander.issues.iter().any(Issue::is_error) { None } else { expander.service(bad_mic) };
    let failed = expander.issues.iter().any(Issue::is_error);
    Expansion { service: service.filter(|_| !failed), issues: expander.issues }
}

/// Types of TLVs of one direction.
#[derive(Clone, Copy)]
struct Codes {
    way: Way,
    flow: u8,
    aggregate: u8,
    classifier: u8,
}

const UP: Codes = Codes { way: Way::Up, flow: 24, aggregate: 70, classifier: 22 };
const DOWN: Codes = Codes { way: Way::Down, flow: 25, aggregate: 71, classifier: 23 };

struct Expander<'a> {
    file: &'a File,
    tables: &'a Tables,
    choices: Choices,
    issues: Vec<Issue>,
    others: Vec<usize>,
    /// Further service flows of the present direction.
    beside: Beside,
    /// References of these service flows.
    further: Vec<u64>,
}

impl<'a> Expander<'a> {
    fn service(&mut self, bad_mic: bool) -> Option<ServiceConfig> {
        let access = self.file.all(3).last().and_then(Tlv::number);
        if access == Some(0) {
            self.issues.push(Issue::new("E-NO-ACCESS", "the file forbids the subscriber any traffic").about("3"));
        }
        let upstream = self.direction(UP);
        let beside_upstream = core::mem::take(&mut self.beside);
        let downstream = self.direction(DOWN);
        let beside_downstream = core::mem::take(&mut self.beside);
        let others = core::mem::take(&mut self.others);
        Some(ServiceConfig {
            upstream: upstream?,
            downstream: downstream?,
            beside_upstream,
            beside_downstream,
            low_latency_disabled: self.low_latency_disabled(),
            bad_mic,
            others,
        })
    }

    fn low_latency_disabled(&self) -> bool {
        let said = self.file.all(91).last().and_then(Tlv::number);
        said.is_some_and(|value| value > 0)
    }

    /// Returns true if a direction may have two queues.
    fn has_dual_queue(&self, way: Way) -> bool {
        let modem = self.tables.cm_lld || (way == Way::Down && self.choices.downstream_without_modem);
        modem && self.tables.cmts_lld && !self.low_latency_disabled()
    }

    fn direction(&mut self, codes: Codes) -> Option<Service> {
        self.further.clear();
        let file = self.file;
        if let Some(class) = file.all(4).next() {
            return Some(self.class_of_service(class, codes));
        }
        let aggregates: Vec<&'a Tlv> = file.all(codes.aggregate).collect();
        let mut flows: Vec<&'a Tlv> = file.all(codes.flow).collect();
        // One that is left out is not the first, where there is another.
        flows.sort_by_key(|flow| codes.way == Way::Up && is_unsolicited(self.scheduling(flow, codes)));
        let member_of = |flow: &Tlv| flow.last(36).and_then(Tlv::number);
        if let Some((aggregate, rest)) = aggregates.split_first() {
            let reference = asf_reference(aggregate);
            let (members, others): (Vec<&Tlv>, Vec<&Tlv>) =
                flows.into_iter().partition(|flow| reference.is_some() && member_of(flow) == reference);
            let (mut of_others, alone): (Vec<&Tlv>, Vec<&Tlv>) =
                others.into_iter().partition(|flow| member_of(flow).is_some());
            self.beside(&alone, false, None, codes);
            for aggregate in rest {
                let reference = asf_reference(aggregate);
                let members: Vec<&Tlv> =
                    of_others.extract_if(.., |flow| reference.is_some() && member_of(flow) == reference).collect();
                let service = self.explicit(aggregate, &members, false, codes)?;
                let flows = match &service {
                    Service::Single(flow) => [flow.reference, None],
                    Service::Aggregate(pair) => [pair.classic.reference, pair.low_latency.reference],
                };
                self.further.extend(flows.into_iter().flatten());
                self.beside.aggregates.push(FurtherAggregate { aggregate: reference, service });
            }
            self.leave_out(&of_others, "member of an aggregate that is not there", codes.flow);
            return self.explicit(aggregate, &members, true, codes);
        }
        let Some((flow, rest)) = flows.split_first() else {
            let message = "nothing is defined for this direction";
            self.issues.push(Issue::new("E-NO-SERVICE", message).about(codes.flow.to_string()));
            return None;
        };
        self.beside(rest, false, None, codes);
        let service = self.flow(flow, codes)?;
        if let Service::Single(only) = &service {
            self.rules_of_one(only.reference, codes);
        }
        Some(service)
    }

    /// The scheduling type of a service flow, its own or that of its class.
    fn scheduling(&self, flow: &Tlv, codes: Codes) -> Option<u64> {
        flow.last(15).and_then(Tlv::number).or_else(|| {
            let class = self.tables.class(flow.last(4)?.as_text()?, codes.way)?;
            number_of(&class.parameters, Parameter::Scheduling)
        })
    }

    /// Service flows beside the first one or its aggregate, or further members of it or of another `aggregate`.
    fn beside(&mut self, flows: &[&Tlv], member: bool, aggregate: Option<u64>, codes: Codes) {
        for tlv in flows {
            let name = tlv.last(4).and_then(Tlv::as_text);
            let profile = name.and_then(|name| self.tables.aqp(name, codes.way));
            if let Some(profile) = profile.filter(|_| !member && self.has_dual_queue(codes.way)) {
                let reference = tlv.last(1).and_then(Tlv::number);
                let parameters = Self::parameters(tlv, &OF_FLOWS);
                if let Some(service) = self.migrate(parameters, reference, profile, false, codes) {
                    self.further.extend(reference);
                    self.beside.aggregates.push(FurtherAggregate { aggregate: reference, service });
                }
                continue;
            }
            let parameters = self.named(tlv, codes);
            let scheduling = number_of(&parameters, Parameter::Scheduling);
            if codes.way == Way::Up && is_unsolicited(scheduling) && !says_its_grants(&parameters) {
                self.leave_out(&[*tlv], "service flow with grants or polls of unknown size or interval", codes.flow);
                continue;
            }
            let reference = tlv.last(1).and_then(Tlv::number);
            let rate = number_of(&parameters, Parameter::MaxSustainedRate);
            let flow = self.finish(Role::Further, reference, parameters, codes.way, rate);
            self.further.extend(reference);
            self.beside.flows.push(FurtherFlow { flow, member, aggregate });
        }
    }

    /// Rules of a direction with one service flow, and others beside it.
    fn rules_of_one(&mut self, only: Option<u64>, codes: Codes) {
        if self.beside.is_empty() {
            return;
        }
        self.beside.classifiers = self.rules(codes, |target| match target {
            Some(_) if target == only => Role::Only,
            _ => Role::Other,
        });
    }

    /// Remembers and tells what does not become part of the service.
    fn leave_out(&mut self, tlvs: &[&Tlv], what: &str, code: u8) {
        for tlv in tlvs {
            let message = format!("a further {what} of this direction is left out");
            self.issues.push(Issue::new("W-LEFT-OUT", message).at(tlv.offset, code.to_string()));
            self.others.push(tlv.offset);
        }
    }

    /// A class of service of DOCSIS 1.0: one service flow each way.
    fn class_of_service(&mut self, class: &Tlv, codes: Codes) -> Service {
        let mut parameters = Parameters::new();
        let upstream = [
            (Parameter::MaxSustainedRate, 3, "b/s"),
            (Parameter::TrafficPriority, 4, ""),
            (Parameter::MinReservedRate, 5, "b/s"),
            (Parameter::MaxTrafficBurst, 6, "B"),
        ];
        let downstream = [(Parameter::MaxSustainedRate, 2, "b/s")];
        let parts = if codes.way == Way::Up { &upstream[..] } else { &downstream[..] };
        for (parameter, code, unit) in parts {
            let Some(tlv) = class.last(*code) else {
                continue;
            };
            let Some(number) = tlv.number() else { continue };
            let origin = Origin::File { offset: tlv.offset, path: format!("4.{code}") };
            parameters.insert(*parameter, Leaf { value: Setting::Number(number), unit, origin });
        }
        let rate = number_of(&parameters, Parameter::MaxSustainedRate);
        Service::Single(Box::new(self.finish(Role::Only, None, parameters, codes.way, rate)))
    }

    /// A service flow that belongs to no aggregate.
    fn flow(&mut self, flow: &Tlv, codes: Codes) -> Option<Service> {
        let mut parameters = Self::parameters(flow, &OF_FLOWS);
        let reference = flow.last(1).and_then(Tlv::number);
        let name = flow.last(4).and_then(Tlv::as_text);
        if let Some(name) = name {
            let profile = self.tables.aqp(name, codes.way).filter(|_| self.has_dual_queue(codes.way));
            if let Some(profile) = profile {
                return self.migrate(parameters, reference, profile, true, codes);
            }
            let Some(class) = self.tables.class(name, codes.way) else {
                let message = format!("no service class {name} for this direction");
                let path = format!("{}.4", codes.flow);
                self.issues
                    .push(Issue::new("E-SCN-UNKNOWN", message).at(flow.offset, path).hint(self.known(codes.way)));
                return None;
            };
            fill(&mut parameters, &class.parameters);
        }
        let rate = number_of(&parameters, Parameter::MaxSustainedRate);
        Some(Service::Single(Box::new(self.finish(Role::Only, reference, parameters, codes.way, rate))))
    }

    /// A service flow whose class name is that of an Aggregate QoS Profile (White 2019 §5.3.2).
    fn migrate(
        &mut self,
        parameters: Parameters,
        reference: Option<u64>,
        profile: &Entry,
        is_first: bool,
        codes: Codes,
    ) -> Option<Service> {
        let (mut whole, classic): (Parameters, Parameters) =
            parameters.into_iter().partition(|(parameter, _)| OF_THE_WHOLE.contains(parameter));
        fill(&mut whole, &profile.parameters);
        let rules = if is_first {
            self.rules(codes, |target| match target {
                Some(target) if Some(target) == reference => Role::Classic,
                _ => Role::Other,
            })
        } else {
            Vec::new()
        };
        self.aggregate(reference, whole, Some(profile), Some((None, classic)), None, rules, codes)
    }

    /// An aggregate that the file defines (White 2019 §5.3.3), the first of its direction or a further one, to which rules lead
    /// alone.
    fn explicit(&mut self, tlv: &Tlv, members: &[&Tlv], is_first: bool, codes: Codes) -> Option<Service> {
        let mut whole = Self::parameters(tlv, &OF_AGGREGATES);
        let mut profile = None;
        if let Some(name) = tlv.last(4).and_then(Tlv::as_text) {
            profile = self.tables.aqp(name, codes.way);
            let Some(profile) = profile else {
                let message = format!("no Aggregate QoS Profile {name} for this direction");
                let path = format!("{}.4", codes.aggregate);
                self.issues.push(Issue::new("E-AQP-UNKNOWN", message).at(tlv.offset, path));
                return None;
            };
            fill(&mut whole, &profile.parameters);
        }
        let flow_of = |flow: &Tlv| flow.last(1).and_then(Tlv::number);
        let marked = tlv.last(42).and_then(|encodings| encodings.last(1)).and_then(Tlv::number);
        let low_latency = members.iter().copied().find(|flow| marked.is_some() && flow_of(flow) == marked);
        let classic = members.iter().copied().find(|flow| marked.is_none() || flow_of(flow) != marked);
        let is_low_latency = tlv.last(42).is_some() || profile.is_some_and(|profile| profile.low_latency);
        if is_low_latency && members.len() > 2 {
            let code = if self.choices.strict { "E-ASF-MEMBERS" } else { "W-ASF-MEMBERS" };
            let message = format!(
                "{} members of a low-latency aggregate; all but the first classic and the low-latency one stand beside them",
                members.len()
            );
            self.issues.push(Issue::new(code, message).at(tlv.offset, codes.aggregate.to_string()));
        }
        let is_pair = is_low_latency && self.has_dual_queue(codes.way);
        let further: Vec<&Tlv> = members
            .iter()
            .copied()
            .filter(|flow| Some(flow.offset) != classic.map(|tlv| tlv.offset))
            .filter(|flow| !is_low_latency || Some(flow.offset) != low_latency.map(|tlv| tlv.offset))
            .collect();
        self.beside(&further, true, asf_reference(tlv).filter(|_| !is_first), codes);
        let member =
            |expander: &mut Self, flow: Option<&Tlv>| flow.map(|flow| (flow_of(flow), expander.named(flow, codes)));
        let (classic_reference, low_reference) = (classic.and_then(flow_of), low_latency.and_then(flow_of));
        let classic = member(self, classic);
        let low_latency = member(self, low_latency);
        if !is_pair {
            if is_low_latency {
                let message = "modem or CMTS does not support low-latency DOCSIS: one classic service flow";
                let issue = Issue::new("W-ASF-COLLAPSED", message);
                self.issues.push(issue.at(tlv.offset, codes.aggregate.to_string()));
            }
            let (reference, mut parameters) = classic.unwrap_or_default();
            for parameter in OF_THE_WHOLE {
                if let Some(leaf) = whole.get(&parameter) {
                    parameters.insert(parameter, leaf.clone());
                }
            }
            let rate = number_of(&parameters, Parameter::MaxSustainedRate);
            let only = self.finish(Role::Only, reference, parameters, codes.way, rate);
            if is_first {
                self.rules_of_one(reference, codes);
            }
            return Some(Service::Single(Box::new(only)));
        }
        let rules = if is_first {
            self.rules(codes, |target| match target {
                Some(target) if Some(target) == low_reference => Role::LowLatency,
                Some(target) if Some(target) == classic_reference => Role::Classic,
                _ => Role::Other,
            })
        } else {
            Vec::new()
        };
        self.aggregate(asf_reference(tlv), whole, profile, classic, low_latency, rules, codes)
    }

    /// Puts an aggregate together; members that are missing are made.
    #[expect(clippy::too_many_arguments, reason = "the parts of an aggregate")]
    fn aggregate(
        &mut self,
        reference: Option<u64>,
        mut whole: Parameters,
        profile: Option<&Entry>,
        classic: Option<(Option<u64>, Parameters)>,
        low_latency: Option<(Option<u64>, Parameters)>,
        rules: Vec<Classifier>,
        codes: Codes,
    ) -> Option<Service> {
        let (classic_reference, mut classic) = classic.unwrap_or_default();
        let (low_reference, mut low_latency) = low_latency.unwrap_or_default();
        for (parameter, member) in [
            (Parameter::ClassicServiceClassName, &mut classic),
            (Parameter::LowLatencyServiceClassName, &mut low_latency),
        ] {
            let Some(Leaf { value: Setting::Text(name), .. }) = whole.get(&parameter) else {
                continue;
            };
            let Some(class) = self.tables.class(name, codes.way) else {
                let message = format!("no service class {name} for this direction");
                let issue = Issue::new("E-SCN-UNKNOWN", message).about(format!("{}.42", codes.aggregate));
                self.issues.push(issue.hint(self.known(codes.way)));
                return None;
            };
            fill(member, &class.parameters);
        }
        fill_defaults(&mut whole, &OF_AGGREGATES);
        let rate = number_of(&whole, Parameter::MaxSustainedRate);
        let threshold = number_of(&low_latency, Parameter::ImmediateMaxThreshold).unwrap_or(1000);
        whole.entry(Parameter::QueueProtectionLatencyThreshold).or_insert_with(|| Leaf {
            value: Setting::Number(threshold),
            unit: "us",
            origin: Origin::default_of("maximum threshold of the immediate AQM"),
        });
        self.grants(&low_latency, &whole, codes);
        let classic = self.finish(Role::Classic, classic_reference, classic, codes.way, rate);
        let low_latency = self.finish(Role::LowLatency, low_reference, low_latency, codes.way, rate);
        let has_own = rules.iter().any(|rule| rule.to == Role::LowLatency);
        let mut classifiers = match profile.and_then(|profile| profile.classifiers.clone()) {
            _ if has_own => Vec::new(),
            Some(rules) => rules,
            None => Classifier::defaults(&self.tables.nqb_dscp),
        };
        classifiers.extend(rules);
        if low_latency.aqm_word() == "none" {
            let coupling = Leaf {
                value: Setting::Number(0),
                unit: "tenths",
                origin: Origin::default_of("no AQM, nothing to couple"),
            };
            whole.insert(Parameter::CouplingFactor, coupling);
        }
        let aggregate = AggregateServiceFlow { reference, parameters: whole, classic, low_latency, classifiers };
        Some(Service::Aggregate(Box::new(aggregate)))
    }

    /// Checks the rate and the share of proactive grants.
    fn grants(&mut self, low_latency: &Parameters, whole: &Parameters, codes: Codes) {
        if codes.way == Way::Down || number_of(low_latency, Parameter::Scheduling) != Some(PGS) {
            return;
        }
        let granted = number_of(low_latency, Parameter::GuaranteedGrantRate).unwrap_or(0);
        let path = format!("{}.45", codes.flow);
        if granted == 0 {
            let message = "proactive grants without a guaranteed grant rate";
            self.issues.push(Issue::new("E-PGS-RATE", message).about(path));
            return;
        }
        let rate = number_of(whole, Parameter::MaxSustainedRate).unwrap_or(0);
        let weight = number_of(whole, Parameter::SchedulingWeight).unwrap_or(0);
        if rate > 0 && u128::from(granted) * 256 > u128::from(rate) * u128::from(weight) {
            let message = "the guaranteed grant rate is above the low-latency share of the rate";
            self.issues.push(Issue::new("W-GGR-HIGH", message).about(path));
        }
    }

    /// The parameters that a member says, and those of its class.
    fn named(&mut self, flow: &Tlv, codes: Codes) -> Parameters {
        let mut parameters = Self::parameters(flow, &OF_FLOWS);
        if let Some(name) = flow.last(4).and_then(Tlv::as_text) {
            if let Some(class) = self.tables.class(name, codes.way) {
                fill(&mut parameters, &class.parameters);
            } else {
                let message = format!("no service class {name} for this direction");
                let path = format!("{}.4", codes.flow);
                self.issues.push(Issue::new("E-SCN-UNKNOWN", message).at(flow.offset, path));
            }
        }
        parameters
    }

    fn known(&self, way: Way) -> String {
        let names: Vec<&str> = self
            .tables
            .service_classes
            .iter()
            .filter(|entry| entry.way == way)
            .map(|entry| entry.name.as_str())
            .collect();
        if names.is_empty() { "the table has none".to_owned() } else { format!("known: {}", names.join(", ")) }
    }

    /// Classifiers of the file by where they lead, higher priority first.
    fn rules(&mut self, codes: Codes, role: impl Fn(Option<u64>) -> Role) -> Vec<Classifier> {
        let mut rules: Vec<Classifier> = Vec::new();
        for tlv in self.file.all(codes.classifier) {
            if tlv.last(6).and_then(Tlv::number) == Some(0) {
                continue;
            }
            let target = tlv.last(3).and_then(Tlv::number);
            let to = match target {
                Some(flow) if self.further.contains(&flow) => Role::Further,
                target => role(target),
            };
            let rule = Classifier::read(tlv, to);
            if to != Role::Other && !rule.others.is_empty() {
                let message = format!("criteria {} are not looked at, so it never matches", rule.others.join(", "));
                self.issues.push(Issue::new("W-CRITERIA", message).at(tlv.offset, codes.classifier.to_string()));
            }
            if rule.to != Role::Other {
                rules.push(rule);
            }
        }
        rules.sort_by_key(|rule| core::cmp::Reverse(rule.priority));
        rules
    }

    /// The parameters that a TLV says.
    fn parameters(flow: &Tlv, about: &[About]) -> Parameters {
        let unit = flow.last(41).and_then(Tlv::number).unwrap_or(0);
        let scale = rate_scale(unit).unwrap_or(1);
        let mut parameters = Parameters::new();
        for entry in about {
            let Some(tlv) = entry.path.iter().try_fold(flow, |tlv, code| tlv.last(*code)) else {
                continue;
            };
            let Some(octets) = tlv.value_octets() else {
                continue;
            };
            let value = match entry.form {
                Form::Rate => tlv.number().map(|rate| Setting::Number(rate.saturating_mul(scale))),
                Form::Bytes | Form::Microseconds | Form::Number => tlv.number().map(Setting::Number),
                Form::Octets => Some(Setting::List(octets.iter().copied().map(u16::from).collect())),
                Form::Edges => Some(Setting::List(check::edges(octets))),
                Form::Text => tlv.as_text().map(|text| Setting::Text(text.to_owned())),
            };
            let path = tlv::dotted(&[&[flow.code], entry.path].concat());
            let Some(value) = value else { continue };
            // Zero leaves the default of this one (ns-3 model of DOCSIS).
            if entry.parameter == Parameter::ClassicLatencyTarget && value == Setting::Number(0) {
                continue;
            }
            let origin = Origin::File { offset: tlv.offset, path };
            parameters.insert(entry.parameter, Leaf { value, unit: entry.unit, origin });
        }
        parameters
    }

    /// Fills defaults, and says what queue it has.
    fn finish(
        &mut self,
        role: Role,
        reference: Option<u64>,
        mut parameters: Parameters,
        way: Way,
        rate: Option<u64>,
    ) -> ServiceFlow {
        fill_defaults(&mut parameters, &OF_FLOWS);
        let scheduling = number_of(&parameters, Parameter::Scheduling);
        if way == Way::Up && is_unsolicited(scheduling) && !says_its_grants(&parameters) {
            let message = "grants or polls of unknown size or interval are left out: the service flow asks for its grants, as best effort";
            self.issues.push(Issue::new("W-LEFT-OUT", message).about("24.15"));
            if let Some(leaf) = parameters.get_mut(&Parameter::Scheduling) {
                leaf.value = Setting::Number(BEST_EFFORT);
            }
        }
        let buffer = flow_queue::buffer(self.file, role, &parameters, way, rate);
        let aqm = flow_queue::aqm(self.file, self.tables, role, &parameters, way);
        ServiceFlow { role, reference, parameters, buffer, aqm }
    }
}

/// Scheduling type of best effort. Source: MULPI annex C.2.2.8.2.
const BEST_EFFORT: u64 = 2;

/// Scheduling types of polls (rtPS), and of unsolicited grants with activity detection (UGS/AD) and without (UGS). Source: MULPI annex
/// C.2.2.8.2.
const RTPS: u64 = 4;
const UGS_AD: u64 = 5;
const UGS: u64 = 6;

/// Returns true if the parameters of a service flow say what its grants or polls are like.
fn says_its_grants(parameters: &Parameters) -> bool {
    let says = |parameter| number_of(parameters, parameter).is_some_and(|number| number > 0);
    match number_of(parameters, Parameter::Scheduling) {
        Some(RTPS) => says(Parameter::NominalPollingInterval),
        Some(UGS_AD | UGS) => says(Parameter::UnsolicitedGrantSize) && says(Parameter::NominalGrantInterval),
        _ => false,
    }
}

/// Returns true if a service flow gets grants or polls without a request, other than proactive ones.
const fn is_unsolicited(scheduling: Option<u64>) -> bool {
    !matches!(scheduling, None | Some(BEST_EFFORT | PGS))
}
