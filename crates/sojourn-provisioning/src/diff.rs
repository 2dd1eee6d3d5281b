//! Differences between two CM configuration files, setting by setting.
//!
//! Source: none. Deviations: service flows, aggregates and classifiers are the same if their references are,
//! wherever they stand; the order of settings and the MICs are not compared.

use serde::Serialize;

use crate::check::asf_reference;
use crate::file::{File, Tlv, Value};
use crate::integrity::{CM_MIC, CMTS_MIC};
use crate::text;
use crate::tlv;

/// A setting that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Path of types, with the reference of what is repeated: `24[1].8`.
    pub path: String,
    /// The setting by name.
    pub name: String,
    /// Its value in the first file, as text; `None` if it is not there.
    pub before: Option<String>,
    /// Its value in the second file.
    pub after: Option<String>,
}

struct Line {
    path: String,
    name: String,
    value: String,
}

/// Compares two files.
pub fn diff(before: &File, after: &File) -> Vec<Difference> {
    let (before, mut after) = (lines(before), lines(after));
    let mut differences = Vec::new();
    for line in before {
        let found = after.iter().position(|other| other.path == line.path);
        let other = found.map(|at| after.remove(at));
        if other.as_ref().is_none_or(|other| other.value != line.value) {
            differences.push(Difference {
                path: line.path,
                name: line.name,
                before: Some(line.value),
                after: other.map(|other| other.value),
            });
        }
    }
    differences.extend(after.into_iter().map(|line| Difference {
        path: line.path,
        name: line.name,
        before: None,
        after: Some(line.value),
    }));
    differences
}

fn lines(file: &File) -> Vec<Line> {
    let mut lines = Vec::new();
    let settings: Vec<Tlv> = file
        .tlvs
        .iter()
        .filter(|tlv| ![CM_MIC, CMTS_MIC].contains(&tlv.code) && tlv.value != Value::Pad)
        .cloned()
        .collect();
    collect(&settings, &mut Vec::new(), "", "", &mut lines);
    if !file.rest.is_empty() {
        lines.push(Line {
            path: "rest".to_owned(),
            name: "unreadable octets".to_owned(),
            value: text::hex(&file.rest),
        });
    }
    lines
}

fn collect(tlvs: &[Tlv], path: &mut Vec<u8>, label: &str, above: &str, lines: &mut Vec<Line>) {
    let mut counts = [0_usize; 256];
    for tlv in tlvs {
        let count = &mut counts[usize::from(tlv.code)];
        *count += 1;
        path.push(tlv.code);
        let entry = tlv::of(path);
        let which = match reference(tlv).filter(|_| path.len() == 1) {
            Some(number) => format!("[{number}]"),
            None if *count > 1 || entry.is_some_and(|entry| entry.many) => format!("[#{count}]"),
            None => String::new(),
        };
        let here = format!("{label}{}{}{which}", if label.is_empty() { "" } else { "." }, tlv.code);
        let name = entry.map_or_else(|| "unknown".to_owned(), |entry| entry.name.clone());
        let name = if above.is_empty() { name } else { format!("{above} {name}") };
        if tlv.inside().is_empty() {
            let (value, meaning) = text::spelt(tlv, path, text::scale_of(tlvs));
            let value = if meaning.contains("/s") { meaning } else { value };
            lines.push(Line { path: here, name, value });
        } else {
            collect(tlv.inside(), path, &here, &name, lines);
        }
        path.pop();
    }
}

/// Returns the reference of a service flow, an aggregate or a classifier.
fn reference(tlv: &Tlv) -> Option<u64> {
    match tlv.code {
        22..=25 => tlv.last(1).and_then(Tlv::number),
        70 | 71 => asf_reference(tlv),
        _ => None,
    }
}
