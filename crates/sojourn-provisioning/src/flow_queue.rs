//! The queue of a service flow: how large its buffer is, and what manages it.
//!
//! Source: `docs/models/provisioning.md` has the table of defaults with theirs.
//! Deviations: none known beyond those of [`crate::expand()`].

use crate::file::File;
use crate::parameter::{Leaf, Origin, Parameter, Parameters, Setting};
use crate::role::Role;
use crate::tables::{Docsis, Tables, Way};

/// Least default buffer of a low-latency service flow, in bytes (ns-3 model of DOCSIS).
const LOW_LATENCY_BUFFER: u64 = 40_000;
/// Milliseconds of its rate that the default buffer of a low-latency service flow holds (ns-3 model of DOCSIS).
const LOW_LATENCY_MS: u64 = 10;
/// Milliseconds of its rate that the default buffer of any other holds (ns-3 model of DOCSIS).
const CLASSIC_MS: u64 = 100;
/// The size of its buffer: target, else maximum, else TLV 68, else the default; between minimum and maximum.
pub(crate) fn buffer(file: &File, role: Role, parameters: &Parameters, way: Way, rate: Option<u64>) -> Option<Leaf> {
    let said = |parameter| parameters.get(&parameter).cloned();
    let own = number_of(parameters, Parameter::MaxSustainedRate).filter(|rate| *rate > 0);
    let rate = own.or(rate).filter(|rate| *rate > 0);
    let peak = number_of(parameters, Parameter::PeakTrafficRate).unwrap_or(0);
    let modem = file.all(68).last().filter(|_| way == Way::Up && role != Role::LowLatency);
    let for_ms = |rate: u64, ms: u64| {
        let bytes = u128::from(rate / 8) * u128::from(ms) / 1000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    };
    let leaf = |bytes, origin| Leaf { value: Setting::Number(bytes), unit: "B", origin };
    let buffer = said(Parameter::BufferTarget).or_else(|| said(Parameter::BufferMaximum)).or_else(|| {
        let rate = rate?;
        if let Some((tlv, ms)) = modem.and_then(|tlv| Some((tlv, tlv.number()?))) {
            let origin = Origin::File { offset: tlv.offset, path: "68".to_owned() };
            return Some(leaf(for_ms(rate, ms), origin));
        }
        Some(if role == Role::LowLatency {
            let bytes = for_ms(rate, LOW_LATENCY_MS).max(LOW_LATENCY_BUFFER);
            leaf(bytes, Origin::default_of("10 ms at the rate, at least 40000 B (ns-3 model of DOCSIS)"))
        } else {
            let bytes = for_ms(rate.max(peak), CLASSIC_MS);
            leaf(bytes, Origin::default_of("100 ms at the rate, or the peak rate (ns-3 model of DOCSIS)"))
        })
    })?;
    let Setting::Number(bytes) = buffer.value else {
        return Some(buffer);
    };
    // A limit that holds the size is where the size is from; a minimum above the maximum counts.
    let limit = |parameter| Some((number_of(parameters, parameter)?, said(parameter)?));
    let least = limit(Parameter::BufferMinimum);
    let most = limit(Parameter::BufferMaximum).filter(|(most, _)| bytes > *most);
    let held = most.as_ref().map_or(bytes, |(most, _)| *most);
    let least = least.filter(|(least, _)| held < *least);
    Some(least.or(most).map_or(buffer, |(_, leaf)| leaf))
}

/// Its queue management in a word.
pub(crate) fn aqm(file: &File, tables: &Tables, role: Role, parameters: &Parameters, way: Way) -> Leaf {
    let word = |word: &str, origin| Leaf { value: Setting::Text(word.to_owned()), unit: "", origin };
    let off = |why: &str| word("none", Origin::default_of(why));
    let modem = file.all(76).last().filter(|tlv| tlv.number() == Some(1));
    match way {
        Way::Up if tables.cm_docsis == Docsis::D30 => {
            return off("a DOCSIS 3.0 modem has no AQM");
        }
        Way::Up => {
            if let Some(tlv) = modem {
                return word("none", Origin::File { offset: tlv.offset, path: "76".to_owned() });
            }
        }
        Way::Down if !tables.cmts_aqm => return off("this CMTS has no AQM"),
        Way::Down => {}
    }
    if number_of(parameters, Parameter::AqmDisable) == Some(1) {
        let leaf = &parameters[&Parameter::AqmDisable];
        return word("none", leaf.origin.clone());
    }
    let algorithm = parameters.get(&Parameter::AqmAlgorithm);
    match (number_of(parameters, Parameter::AqmAlgorithm), algorithm) {
        (Some(1), Some(leaf)) => word("docsis-pie", leaf.origin.clone()),
        (Some(2), Some(leaf)) => word("immediate", leaf.origin.clone()),
        _ if role == Role::LowLatency => word("immediate", Origin::default_of("White 2019 §2.3")),
        _ if way == Way::Up => word("docsis-pie", Origin::default_of("RFC 8034; White 2019 §2.3")),
        _ => word("docsis-pie", Origin::default_of("chosen: vendor specific downstream (White 2019 §2.3)")),
    }
}

/// Returns the value of a parameter, if it is a number.
pub(crate) fn number_of(parameters: &Parameters, parameter: Parameter) -> Option<u64> {
    match parameters.get(&parameter)?.value {
        Setting::Number(number) => Some(number),
        _ => None,
    }
}
