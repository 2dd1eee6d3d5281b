//! Everything that is wrong with a CM configuration file, octet by octet and as a whole.
//!
//! Source: the table of TLVs; DOCSIS MULPI annex C and D as public sources give them (required settings, least
//! burst of 1522 octets, 8192 octets that each modem takes); RFC 3168 for the bits that a ToS overwrite must keep.
//! Deviations: rules about peak rates, buffers and histograms that contradict themselves are our own.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::file::{File, Tlv, Value};
use crate::integrity::{CM_MIC, CMTS_MIC, Digest, Integrity, Secret, check_integrity, extended_covers};
use crate::issue::{Issue, Issues};
use crate::tlv::{self, Entry, Kind};

/// Octets of a file that every modem takes.
const SIZE: usize = 8192;
/// Maximum traffic burst of a flow that does not say it. Source: DOCS-IETF-QOS-MIB.
const DEFAULT_BURST: u64 = 3_044;

/// Usual time between MAPs. Source: White 2012 §2.2.2.
const MAP_INTERVAL_US: u64 = 2_000;

/// Least maximum traffic burst in bytes: one Ethernet frame.
const BURST: u64 = 1522;
/// The two bits of the ToS octet that are ECN (RFC 3168 §5).
const ECN: u8 = 0x03;
/// Warnings that are errors in strict mode.
pub(crate) const STRICT: [&str; 6] = ["W-NESTED", "W-TRAILING", "W-LEN", "W-RANGE", "W-DUP", "W-MANDATORY"];
/// Proactive grant service, a scheduling type.
pub(crate) const PGS: u64 = 7;

/// Results of an examination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Examination {
    /// All that is wrong.
    pub issues: Vec<Issue>,
    /// Results of the digests.
    pub integrity: Integrity,
}

impl Examination {
    /// Returns true if an issue is an error.
    pub fn has_errors(&self) -> bool {
        self.issues.iter().any(Issue::is_error)
    }
}

/// Examines a file; with the secret also its CMTS MIC. In strict mode some warnings are errors.
pub fn examine(file: &File, secret: Option<&Secret>, strict: bool) -> Examination {
    let mut issues = Issues::default();
    let integrity = check_integrity(file, secret);
    if file.is_mta() {
        issues.add(
            Issue::new("E-MTA", "this is a configuration file of a PacketCable telephone adapter")
                .at(0, "254")
                .hint("its rules differ; only files of cable modems are read"),
        );
    } else {
        container(file, &mut issues);
        let mut path = Vec::new();
        each(&file.tlvs, &mut path, &mut issues);
        if file.rest.is_empty() && !file.tlvs.is_empty() {
            required(file, &mut issues);
            digests(file, integrity, &mut issues);
        }
        references(file, &mut issues);
        for (flow, below) in [(24, 70), (25, 71)] {
            file.all(flow).for_each(|tlv| service_flow(tlv, &mut issues));
            file.all(below).for_each(|tlv| rates(tlv, &mut issues));
        }
    }
    Examination { issues: issues.finish(if strict { &STRICT } else { &[] }), integrity }
}

fn container(file: &File, issues: &mut Issues) {
    let before: usize = file.tlvs.iter().map(|tlv| tlv.whole().len()).sum();
    let size = before + file.rest.len() + usize::from(file.end) + file.tail.len();
    if size == 0 {
        issues.add(Issue::new("E-EMPTY", "the file has no octets").at(0, ""));
        return;
    }
    if let Some(code) = file.rest.first() {
        let message = match file.rest.get(1) {
            Some(length) => format!("says {length} octets, and {} are left", file.rest.len().saturating_sub(2)),
            None => "has no length".to_owned(),
        };
        let hint = "the file was cut, or a length before this is wrong";
        issues.add(Issue::new("E-TRUNCATED", message).at(before, code.to_string()).hint(hint));
    } else if !file.end {
        let message = "the end-of-data marker (255) is missing";
        issues.add(Issue::new("E-NO-END", message).at(size, "255"));
    }
    if let Some(at) = file.tail.iter().position(|octet| *octet != 0) {
        let message = "octets other than zero follow the end of data";
        issues.add(Issue::new("W-TRAILING", message).at(before + 1 + at, "255"));
    }
    if !size.is_multiple_of(4) && file.rest.is_empty() {
        let message = format!("{size} octets are no multiple of four");
        issues.add(Issue::new("W-PAD", message).at(size, "255"));
    }
    if size > SIZE {
        let message = format!("{size} octets; modems need not take more than {SIZE}");
        issues.add(Issue::new("W-SIZE", message).at(SIZE, ""));
    }
}

/// Looks at each TLV of a list by itself.
fn each(tlvs: &[Tlv], path: &mut Vec<u8>, issues: &mut Issues) {
    let mut seen = [false; 256];
    for tlv in tlvs {
        if tlv.value == Value::Pad {
            continue;
        }
        path.push(tlv.code);
        let place = |issue: Issue| issue.at(tlv.offset, tlv::dotted(path));
        match tlv::of(path) {
            None => {
                let message = "this type is not known; its octets are kept";
                issues.add(place(Issue::new("W-UNKNOWN", message)));
            }
            Some(entry) => {
                if core::mem::replace(&mut seen[usize::from(tlv.code)], true) && !entry.many {
                    let message = format!("{} is given twice; the last one counts", entry.name);
                    issues.add(place(Issue::new("W-DUP", message)));
                }
                if let Some(issue) = form(tlv, entry) {
                    issues.add(place(issue));
                }
            }
        }
        each(tlv.inside(), path, issues);
        path.pop();
    }
}

/// Returns an issue with the form of a value.
fn form(tlv: &Tlv, entry: &Entry) -> Option<Issue> {
    let name = &entry.name;
    let octets = match &tlv.value {
        Value::Octets(octets) => octets,
        Value::Tlvs(inside) if inside.is_empty() => {
            return Some(Issue::new("W-LEN", format!("{name} is empty")));
        }
        _ => return None,
    };
    let length = octets.len();
    if entry.kind == Kind::Aggregate && tlv.code != 43 {
        let message = format!("{name} is no list of TLVs; its {length} octets are kept");
        return Some(Issue::new("W-NESTED", message));
    }
    if length == 255 {
        return Some(Issue::new("W-LEN", format!("{name} has 255 octets, one more than there may be")));
    }
    let also = entry.octets;
    let is_right = match entry.kind {
        Kind::Number(octets) => length == octets || also == Some(length),
        Kind::Hex => also.is_none_or(|octets| length == octets) && length > 0,
        Kind::Text | Kind::TextZ => length > 0,
        Kind::NumberList => length > 0 && length.is_multiple_of(2),
        Kind::Ipv4 => length == 4,
        Kind::Ipv6 => length == 16,
        Kind::Mac => length == 6,
        Kind::Aggregate => true,
    };
    if !is_right {
        return Some(Issue::new("W-LEN", format!("{name} has {length} octets")).hint(lengths(entry)));
    }
    let (least, most) = entry.range?;
    let (value, what) = match entry.kind {
        Kind::Number(_) => (tlv.number()?, "is"),
        Kind::TextZ => {
            let Some(text) = tlv.as_text() else {
                return Some(Issue::new("W-RANGE", format!("{name} is not a text")));
            };
            if octets.last() != Some(&0) {
                let message = format!("{name} does not end with a zero octet");
                return Some(Issue::new("W-LEN", message));
            }
            (u64::try_from(text.chars().count()).unwrap_or(u64::MAX), "has as many characters as")
        }
        _ => return None,
    };
    (!(least..=most).contains(&value)).then(|| {
        let message = format!("{name} {what} {value}, which is not between {least} and {most}");
        Issue::new("W-RANGE", message)
    })
}

fn lengths(entry: &Entry) -> String {
    match (entry.kind, entry.octets) {
        (Kind::Number(octets), _) | (Kind::Hex, Some(octets)) => format!("{octets} octets"),
        (Kind::NumberList, _) => "two octets for each number".to_owned(),
        (Kind::Ipv4, _) => "4 octets".to_owned(),
        (Kind::Ipv6, _) => "16 octets".to_owned(),
        (Kind::Mac, _) => "6 octets".to_owned(),
        _ => "at least one octet".to_owned(),
    }
}

fn required(file: &File, issues: &mut Issues) {
    let has = |code| file.all(code).next().is_some();
    let mut missing = |message: &str, path: &str| {
        issues.add(Issue::new("W-MANDATORY", message).about(path));
    };
    if !has(3) {
        missing("network access is not said", "3");
    }
    let (up, down) = (has(24), has(25));
    match (has(4), up || has(70), down || has(71)) {
        (true, true, _) | (true, _, true) => {
            missing("a class of service stands beside service flows, which exclude it", "4");
        }
        (false, false, _) => missing("no upstream service flow and no class of service", "24"),
        (false, _, false) => missing("no downstream service flow and no class of service", "25"),
        _ => {}
    }
    let allowed = file.all(28).last().and_then(Tlv::number).unwrap_or(0);
    let classifiers = file.all(22).chain(file.all(23)).count() as u64;
    if allowed > 0 && classifiers > allowed {
        let message = format!("{classifiers} classifiers are more than the {allowed} allowed");
        issues.add(Issue::new("W-CLASSIFIERS", message).about("28"));
    }
    for code in [70, 71] {
        if let Some(tlv) = file.all(code).next().filter(|_| !extended_covers(file, code)) {
            issues.add(
                Issue::new(
                    "W-ASF-UNPROTECTED",
                    "no integrity check that a CMTS makes covers this aggregate service flow, so it may be ignored",
                )
                .at(tlv.offset, code.to_string())
                .hint("an extended CMTS MIC (43.6) with a bit map that has this type"),
            );
        }
    }
}

fn digests(file: &File, integrity: Integrity, issues: &mut Issues) {
    let place = |code: u8, issue: Issue| match file.all(code).last() {
        Some(tlv) => issue.at(tlv.offset, code.to_string()),
        None => issue.about(code.to_string()),
    };
    let cm = match integrity.cm_mic {
        Digest::Absent => Some(Issue::new("W-CM-MIC-ABSENT", "there is no CM MIC; a modem would refuse the file")),
        Digest::Bad => Some(
            Issue::new("E-CM-MIC", "the CM MIC does not belong to this content")
                .hint("the file was changed after it was sealed, or a modem got it damaged"),
        ),
        _ => None,
    };
    let cmts = match integrity.cmts_mic {
        Digest::Absent => Some(Issue::new("W-MANDATORY", "there is no CMTS MIC; a CMTS would refuse the modem")),
        Digest::Unchecked => Some(
            Issue::new("W-CMTS-MIC-UNCHECKED", "the CMTS MIC was not checked without its secret")
                .hint("name a file that holds the shared secret"),
        ),
        Digest::Bad => Some(
            Issue::new("E-CMTS-MIC", "the CMTS MIC does not belong to this content and secret")
                .hint("the file was changed after it was sealed, or the secret is another"),
        ),
        Digest::Good => None,
    };
    let extended = match integrity.extended {
        Digest::Bad => Some("the extended CMTS MIC differs from ours, whose order of bits is unconfirmed"),
        Digest::Unchecked => Some("the extended CMTS MIC was not checked: no secret, or an algorithm not known here"),
        _ => None,
    };
    for issue in [
        cm.map(|issue| place(CM_MIC, issue)),
        cmts.map(|issue| place(CMTS_MIC, issue)),
        extended.map(|message| place(43, Issue::new("W-EMIC", message))),
    ]
    .into_iter()
    .flatten()
    {
        issues.add(issue);
    }
}

/// The reference of an aggregate service flow: sub-TLV 36, or 1 where that is absent.
pub(crate) fn asf_reference(tlv: &Tlv) -> Option<u64> {
    tlv.last(36).or_else(|| tlv.last(1)).and_then(Tlv::number)
}

/// Checks that each reference leads to one place.
fn references(file: &File, issues: &mut Issues) {
    for (flow, aggregate, classifier) in [(24, 70, 22), (25, 71, 23)] {
        let flows = unique(file.all(flow), |tlv| tlv.last(1).and_then(Tlv::number), issues);
        let aggregates = unique(file.all(aggregate), asf_reference, issues);
        unique(file.all(classifier), |tlv| tlv.last(1).and_then(Tlv::number), issues);
        let mut follow = |tlv: &Tlv, part: &[u8], known: &BTreeMap<u64, usize>, what: &str| {
            let Some(reference) = part
                .iter()
                .try_fold(tlv, |tlv, code| tlv.last(*code))
                .filter(|reference| reference.inside().is_empty())
            else {
                return;
            };
            let path = tlv::dotted(&[&[tlv.code], part].concat());
            match reference.number().filter(|_| reference.value_octets().is_some_and(|o| o.len() <= 4)) {
                Some(number) if known.contains_key(&number) => {}
                Some(number) => {
                    issues.add(Issue::new("E-REF", format!("there is no {what} {number}")).at(reference.offset, path));
                }
                None => {}
            }
        };
        for tlv in file.all(classifier) {
            follow(tlv, &[3], &flows, "service flow");
        }
        for tlv in file.all(flow) {
            // Older files have TLVs in this place.
            if tlv.last(36).and_then(Tlv::value_octets).is_some_and(|octets| octets.len() == 2) {
                follow(tlv, &[36], &aggregates, "aggregate service flow");
            }
        }
        for tlv in file.all(aggregate) {
            follow(tlv, &[42, 1], &flows, "service flow");
        }
    }
}

fn unique<'a>(
    tlvs: impl Iterator<Item = &'a Tlv>,
    reference: impl Fn(&Tlv) -> Option<u64>,
    issues: &mut Issues,
) -> BTreeMap<u64, usize> {
    let mut known = BTreeMap::new();
    for tlv in tlvs.filter(|tlv| matches!(tlv.value, Value::Tlvs(_))) {
        let Some(number) = reference(tlv) else {
            let message = "it has no reference, so nothing can refer to it";
            issues.add(Issue::new("W-MANDATORY", message).at(tlv.offset, tlv.code.to_string()));
            continue;
        };
        if let Some(first) = known.insert(number, tlv.offset) {
            let message = format!("reference {number} is used at octet {first} already");
            issues.add(Issue::new("E-REF", message).at(tlv.offset, tlv.code.to_string()));
        }
    }
    known
}

/// Reports contradictions in the parameters of a service flow.
fn service_flow(flow: &Tlv, issues: &mut Issues) {
    rates(flow, issues);
    let mut report = |code, part: &[u8], tlv: &Tlv, message: String| {
        let path = tlv::dotted(&[&[flow.code], part].concat());
        issues.add(Issue::new(code, message).at(tlv.offset, path));
    };
    let number = |code| flow.last(code).and_then(Tlv::number);
    if let Some(buffer) = flow.last(35) {
        let size = |code| buffer.last(code).and_then(Tlv::number);
        let (least, target, most) = (size(1), size(2), size(3));
        let above = |a: Option<u64>, b: Option<u64>| matches!((a, b), (Some(a), Some(b)) if a > b);
        if above(least, most) || above(least, target) || above(target, most) {
            let message = "minimum, target and maximum buffer do not increase in this order".to_owned();
            report("W-BUFFER", &[35], buffer, message);
        }
        if let Some(zero) = buffer.inside().iter().find(|tlv| tlv.number() == Some(0)) {
            report("W-BUFFER", &[35, zero.code], zero, "a buffer of no octets".to_owned());
        }
    }
    if let Some(tlv) = flow.last(23)
        && let Some([and, or]) = tlv.value_octets()
        && (and & ECN != ECN || or & ECN != 0)
    {
        let message = format!("new ToS = (ToS and {and:#04x}) or {or:#04x} destroys the ECN bits");
        report("W-TOS-ECN", &[23], tlv, message);
    }
    if flow.code == 24
        && number(15) == Some(PGS)
        && number(45).unwrap_or(0) == 0
        && let Some(tlv) = flow.last(15)
    {
        let message = "proactive grants without a guaranteed grant rate (24.45)".to_owned();
        report("E-PGS-RATE", &[15], tlv, message);
    }
    if let Some(tlv) = flow.last(40).and_then(|aqm| aqm.last(6)) {
        let edges = edges(tlv.value_octets().unwrap_or_default());
        if edges.len() > 15 || !edges.is_sorted_by(|a, b| a < b) {
            let message = "the edges of a histogram have to rise, and are 15 at most".to_owned();
            report("W-HISTOGRAM", &[40, 6], tlv, message);
        }
    }
}

/// The numbers of two octets each.
pub(crate) fn edges(octets: &[u8]) -> Vec<u16> {
    octets.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect()
}

/// Reports contradictions in rates and bursts of a service flow or an aggregate one.
fn rates(flow: &Tlv, issues: &mut Issues) {
    let mut report = |code: &'static str, tlv: &Tlv, message: String| {
        issues.add(Issue::new(code, message).at(tlv.offset, format!("{}.{}", flow.code, tlv.code)));
    };
    let number = |code| flow.last(code).and_then(Tlv::number);
    let sustained = number(8).unwrap_or(0);
    if let Some(tlv) = flow.last(8).filter(|tlv| tlv.number() == Some(0)) {
        let message = "a maximum sustained rate of zero is no limit".to_owned();
        report("W-RATE-ZERO", tlv, message);
    }
    if let (Some(tlv), Some(burst)) = (flow.last(9), number(9))
        && burst < BURST
    {
        report("W-BURST", tlv, format!("a burst of {burst} octets does not hold a frame of {BURST}"));
    }
    // A name (type 4) may bring a burst along, and the flow of an aggregate (24.36) has that of the aggregate.
    let elsewhere: &[u8] = match flow.code {
        24 => &[4, 9, 36],
        _ => &[4, 9],
    };
    if matches!(flow.code, 24 | 70)
        && let Some(tlv) = flow.last(8)
        && elsewhere.iter().all(|code| flow.last(*code).is_none())
        && sustained > DEFAULT_BURST * 8 * 1_000_000 / MAP_INTERVAL_US
    {
        let carried = DEFAULT_BURST as f64 * 8.0 / MAP_INTERVAL_US as f64;
        let message = format!(
            "no maximum traffic burst: with the default of {DEFAULT_BURST} octets and MAPs 2 ms apart, {carried:.1} of {} Mb/s",
            sustained as f64 / 1e6
        );
        report("W-BURST", tlv, message);
    }
    if let (Some(tlv), Some(peak)) = (flow.last(27), number(27))
        && peak > 0
        && (peak < sustained || sustained == 0)
    {
        let message = "the peak rate is below the maximum sustained rate".to_owned();
        report("W-PEAK", tlv, message);
    }
    if let (Some(tlv), Some(reserved)) = (flow.last(10), number(10))
        && sustained > 0
        && reserved > sustained
    {
        let message = "the minimum reserved rate is above the maximum sustained rate".to_owned();
        report("W-RESERVED", tlv, message);
    }
}
