//! Text as records. Whatever the text is, it is read or refused with its line.

use super::write::from_hexadecimal;
use super::{FIRST_LINE, Fact, Header, Input, Output, Record, Trace};
use crate::{Backlog, LineProblem, Reason};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;
use sojourn_base::{BitRate, Bytes, Ecn, Meta, Packets, ServiceQueue};

/// Bytes of a trace. chosen: an hour of ten packets a millisecond would have more, and is not kept as text.
pub const LARGEST_TRACE: usize = 64 << 20;

/// Last time in ns: the engine's picoseconds have 64 bits.
const LAST: u64 = u64::MAX / 1000;

/// Longest packet. chosen: the largest that an offload builds is 512 KiB.
const LONGEST_PACKET: u32 = 1 << 20;

/// Longest line of a header. chosen: as a manager line.
const LONGEST_TEXT: usize = crate::line::LONGEST_LINE + 32;

/// Why a text is no trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceProblem {
    /// The line, from 1; 0 for the whole.
    pub line: u32,
    /// The error.
    pub message: String,
}

impl TraceProblem {
    pub(super) fn new(line: u32, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

impl From<LineProblem> for TraceProblem {
    fn from(problem: LineProblem) -> Self {
        Self::new(0, format!("the manager: {problem}"))
    }
}

impl fmt::Display for TraceProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

impl core::error::Error for TraceProblem {}

impl Trace {
    /// Reads a trace.
    ///
    /// # Errors
    /// The first line that is none of a trace.
    pub fn read(text: &str) -> Result<Self, TraceProblem> {
        if text.len() > LARGEST_TRACE {
            let message = format!("more than {} MiB", LARGEST_TRACE >> 20);
            return Err(TraceProblem::new(0, message));
        }
        let mut trace = Self::default();
        let mut now = 0;
        for (place, line) in text.split('\n').enumerate() {
            let number = u32::try_from(place + 1).unwrap_or(u32::MAX);
            let wrong = |message| TraceProblem::new(number, message);
            if place == 0 {
                if line != FIRST_LINE {
                    return Err(wrong(format!("a trace begins with \"{FIRST_LINE}\"")));
                }
            } else if let Some(rest) = line.strip_prefix("= ") {
                if !trace.records.is_empty() {
                    return Err(wrong("the header stands before all inputs and outputs".to_owned()));
                }
                header(&mut trace.header, rest).map_err(wrong)?;
            } else if let Some(rest) = line.strip_prefix("> ") {
                let input = input(rest).map_err(wrong)?;
                if let Some(at) = input.at() {
                    if at < now {
                        return Err(wrong(format!("time goes back from {now} to {at}")));
                    }
                    now = at;
                }
                trace.push(number, Record::Input(input));
            } else if line.starts_with("< p ") {
                // Inner values are for people.
            } else if let Some(rest) = line.strip_prefix("< ") {
                trace.push(number, Record::Output(output(rest).map_err(wrong)?));
            } else if !line.is_empty() && !line.starts_with('#') {
                let message = "a line begins with \"= \", \"> \", \"< \" or \"#\"";
                return Err(wrong(message.to_owned()));
            }
        }
        if trace.header.manager.is_empty() {
            return Err(TraceProblem::new(0, "the header names no manager"));
        }
        Ok(trace)
    }

    fn push(&mut self, line: u32, record: Record) {
        self.records.push(record);
        self.lines.push(line);
    }
}

impl Input {
    /// Returns its time; a draw has none.
    pub const fn at(&self) -> Option<u64> {
        match *self {
            Self::Arrival { at, .. } | Self::Opportunity { at, .. } | Self::Timer { at } | Self::Told { at, .. } => {
                Some(at)
            }
            Self::Draw(_) => None,
        }
    }

    /// Returns true if it happens at this time or later.
    pub(super) fn is_at_or_after(&self, time: u64) -> bool {
        self.at().is_some_and(|at| at >= time)
    }
}

fn header(header: &mut Header, line: &str) -> Result<(), String> {
    let (key, value) = line.split_once(' ').unwrap_or((line, ""));
    if value.is_empty() || value.len() > LONGEST_TEXT || value.chars().any(char::is_control) {
        return Err(format!("\"= {}\" has no value of one line", shortened(key)));
    }
    match key {
        "manager" => value.clone_into(&mut header.manager),
        "rfc" => value.clone_into(&mut header.rfc),
        "made-by" => value.clone_into(&mut header.made_by),
        "rate" => {
            let rate = BitRate::from_bps(number(value, "a rate in b/s")?);
            if rate > BitRate::from_mbps(1_000_000) {
                return Err(format!("{value} b/s are more than 1 Tb/s"));
            }
            header.rate = Some(rate);
        }
        "unit" if value == "ns" => {}
        "draws" if matches!(value, "none" | "recorded") => header.draws = value == "recorded",
        "unit" | "draws" => return Err(format!("{key} is not {}", shortened(value))),
        _ => {
            let known = "manager, rfc, rate, unit, draws, made-by";
            return Err(format!("no key \"{}\"; known are {known}", shortened(key)));
        }
    }
    Ok(())
}

/// Returns the part of a text that a message repeats.
fn shortened(text: &str) -> String {
    text.chars().take(40).filter(|c| !c.is_control()).collect()
}

fn number<N: FromStr>(text: &str, what: &str) -> Result<N, String> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let found = is_plain.then(|| text.parse().ok()).flatten();
    found.ok_or_else(|| format!("\"{}\" is not {what}", shortened(text)))
}

fn time(text: &str) -> Result<u64, String> {
    let at = number(text, "a time in ns")?;
    if at > LAST {
        return Err(format!("{at} ns are later than {LAST}"));
    }
    Ok(at)
}

fn item(text: &str) -> Result<u64, String> {
    number(text, "the number of a packet")
}

fn queue(text: &str) -> Result<ServiceQueue, String> {
    match text {
        "c" => Ok(ServiceQueue::Classic),
        "l" => Ok(ServiceQueue::LowLatency),
        "a" => Ok(ServiceQueue::AckPriority),
        _ => Err(format!("\"{}\" is no queue: c, l or a", shortened(text))),
    }
}

fn reason(text: &str) -> Result<Reason, String> {
    let found = Reason::ALL.into_iter().find(|one| one.as_str() == text);
    found.ok_or_else(|| format!("\"{}\" is no reason", shortened(text)))
}

fn absent_or<T>(text: &str, read: fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    match text {
        "-" => Ok(None),
        text => read(text).map(Some),
    }
}

/// The fields of a line, which are no more than the longest kind of line has.
struct Fields<'a>([&'a str; 10], usize);

impl<'a> Fields<'a> {
    fn of(line: &'a str) -> Result<Self, String> {
        let mut fields = Self([""; 10], 0);
        for field in line.split(' ') {
            if fields.1 == fields.0.len() {
                return Err("too many fields".to_owned());
            }
            fields.0[fields.1] = field;
            fields.1 += 1;
        }
        Ok(fields)
    }

    fn as_slice(&self) -> &[&'a str] {
        &self.0[..self.1]
    }
}

fn input(line: &str) -> Result<Input, String> {
    let fields = Fields::of(line)?;
    Ok(match fields.as_slice() {
        ["a", at, number, length, flow, dscp, ecn, queue, ack, host @ ..] if host.len() < 2 => {
            let host = host.first().map_or(Ok(0), |host| self::number(host, "a host"))?;
            let known = meta([length, flow, dscp, ecn, queue, ack])?;
            Input::Arrival { at: time(at)?, item: item(number)?, meta: Meta { host, ..known } }
        }
        ["o", at] => Input::Opportunity { at: time(at)?, queue: None },
        ["o", at, of] => Input::Opportunity { at: time(at)?, queue: Some(queue(of)?) },
        ["t", at] => Input::Timer { at: time(at)? },
        ["k", at, name, value] => {
            let found = Fact::ALL.iter().find(|(_, word)| word == name);
            let (fact, _) = found.ok_or_else(|| format!("\"{}\" is nothing known", shortened(name)))?;
            let value = number(value, "a number")?;
            if value > LAST {
                return Err(format!("{value} is more than {LAST}"));
            }
            Input::Told { at: time(at)?, fact: *fact, value }
        }
        ["u", unit] => {
            let found = from_hexadecimal(unit);
            let told = || format!("\"{}\" is no number such as 0x1.8p-1", shortened(unit));
            Input::Draw(found.ok_or_else(told)?)
        }
        _ => return Err("no input: a with 8 or 9 fields, o, t, k or u with theirs".to_owned()),
    })
}

fn meta([length, flow, dscp, ecn, of, ack]: [&str; 6]) -> Result<Meta, String> {
    let length_of = number(length, "a length in bytes")?;
    if length_of == 0 || length_of > LONGEST_PACKET {
        return Err(format!("a packet of {length_of} B"));
    }
    let is_hex = flow.len() <= 8 && flow.bytes().all(|byte| byte.is_ascii_hexdigit());
    let flow_hash = is_hex.then(|| u32::from_str_radix(flow, 16).ok()).flatten();
    let code_point = number(dscp, "a code point")?;
    if code_point > 63 {
        return Err(format!("code point {code_point} has more than 6 bits"));
    }
    let field: u8 = number(ecn, "an ECN field")?;
    if field > 3 {
        return Err(format!("ECN field {field}: 0 to 3"));
    }
    Ok(Meta {
        length: length_of,
        flow_hash: flow_hash.ok_or_else(|| format!("\"{}\" is no flow", shortened(flow)))?,
        dscp: code_point,
        ecn: Ecn::from_bits(field),
        queue: absent_or(of, queue)?.unwrap_or_default(),
        pure_ack: match ack {
            "0" => false,
            "1" => true,
            _ => return Err("whether it only acknowledges is 0 or 1".to_owned()),
        },
        ..Meta::default()
    })
}

fn output(line: &str) -> Result<Output, String> {
    let fields = Fields::of(line)?;
    Ok(match fields.as_slice() {
        ["e", number] => Output::Kept { item: item(number)?, queue: None, sanctioned: false },
        ["e", number, of] => Output::Kept {
            item: item(number)?,
            queue: Some(queue(of.strip_suffix('!').unwrap_or(of))?),
            sanctioned: of.ends_with('!'),
        },
        ["d", number, why] => Output::Dropped { item: item(number)?, reason: reason(why)? },
        ["m", number, why] => Output::Marked { item: item(number)?, reason: reason(why)? },
        ["s", number] => Output::Sent(absent_or(number, item)?),
        ["n", at] => Output::NextTimer(absent_or(at, time)?),
        ["q", bytes, packets] => Output::Waiting(backlog(bytes, packets)?, None),
        ["q", bytes, packets, bytes_l, packets_l] => {
            Output::Waiting(backlog(bytes, packets)?, Some(backlog(bytes_l, packets_l)?))
        }
        _ => return Err("no output: e, d, m, s, n or q with its fields".to_owned()),
    })
}

fn backlog(bytes: &str, packets: &str) -> Result<Backlog, String> {
    Ok(Backlog {
        bytes: Bytes(number(bytes, "a number of bytes")?),
        packets: Packets(number(packets, "a number of packets")?),
    })
}
