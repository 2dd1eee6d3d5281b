//! Records as text.

use super::{FIRST_LINE, Input, Output, Record, Trace, letter};
use core::fmt;
use sojourn_base::ServiceQueue;

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = &self.header;
        writeln!(f, "{FIRST_LINE}")?;
        writeln!(f, "= manager {}", header.manager)?;
        if !header.rfc.is_empty() {
            writeln!(f, "= rfc {}", header.rfc)?;
        }
        if let Some(rate) = header.rate {
            writeln!(f, "= rate {}", rate.as_bps())?;
        }
        if header.draws {
            f.write_str("= draws recorded\n")?;
        }
        if !header.made_by.is_empty() {
            writeln!(f, "= made-by {}", header.made_by)?;
        }
        for record in &self.records {
            writeln!(f, "{record}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(input) => write!(f, "> {input}"),
            Self::Output(output) => write!(f, "< {output}"),
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Arrival { at, item, meta } => {
                let (ecn, ack) = (meta.ecn.bits(), u8::from(meta.pure_ack));
                write!(f, "a {at} {item} {} {:x} {} {ecn} ", meta.length, meta.flow_hash, meta.dscp)?;
                match meta.queue {
                    ServiceQueue::Classic => write!(f, "- {ack}")?,
                    queue => write!(f, "{} {ack}", letter(queue))?,
                }
                match meta.host {
                    0 => Ok(()),
                    host => write!(f, " {host}"),
                }
            }
            Self::Opportunity { at, queue: None } => write!(f, "o {at}"),
            Self::Opportunity { at, queue: Some(queue) } => write!(f, "o {at} {}", letter(queue)),
            Self::Timer { at } => write!(f, "t {at}"),
            Self::Told { at, fact, value } => write!(f, "k {at} {} {value}", fact.as_str()),
            Self::Draw(unit) => {
                f.write_str("u ")?;
                hexadecimal(f, unit)
            }
        }
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Kept { item, queue, sanctioned } => {
                write!(f, "e {item}")?;
                if let Some(queue) = queue {
                    let mark = if sanctioned { "!" } else { "" };
                    write!(f, " {}{mark}", letter(queue))?;
                }
                Ok(())
            }
            Self::Dropped { item, reason } => write!(f, "d {item} {}", reason.as_str()),
            Self::Marked { item, reason } => write!(f, "m {item} {}", reason.as_str()),
            Self::Sent(Some(item)) => write!(f, "s {item}"),
            Self::Sent(None) => f.write_str("s -"),
            Self::NextTimer(Some(at)) => write!(f, "n {at}"),
            Self::NextTimer(None) => f.write_str("n -"),
            Self::Waiting(all, low_latency) => {
                write!(f, "q {} {}", all.bytes.0, all.packets.0)?;
                match low_latency {
                    Some(part) => write!(f, " {} {}", part.bytes.0, part.packets.0),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Bits of a number's fraction.
const FRACTION: u32 = 52;

/// A number in [0, 1) to its last bit, as `%a` of C prints it.
fn hexadecimal(f: &mut fmt::Formatter<'_>, unit: f64) -> fmt::Result {
    let bits = unit.to_bits();
    let exponent = i64::try_from(bits >> FRACTION).unwrap_or_default();
    let mut fraction = bits & ((1 << FRACTION) - 1);
    let mut digits = 13;
    while digits > 0 && fraction.trailing_zeros() >= 4 {
        fraction >>= 4;
        digits -= 1;
    }
    let (first, exponent) = match (exponent, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        _ => (1, exponent - 1023),
    };
    if digits == 0 {
        write!(f, "0x{first}p{exponent:+}")
    } else {
        write!(f, "0x{first}.{fraction:0digits$x}p{exponent:+}")
    }
}

/// The number that is written so, if it is one in [0, 1).
pub(super) fn from_hexadecimal(text: &str) -> Option<f64> {
    let (number, exponent) = text.strip_prefix("0x")?.split_once('p')?;
    let (first, digits) = number.split_once('.').unwrap_or((number, ""));
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if digits.len() > 13 || !is_hex(digits) {
        return None;
    }
    let exponent: i64 = exponent.parse().ok()?;
    let mut fraction = if digits.is_empty() { 0 } else { u64::from_str_radix(digits, 16).ok()? };
    fraction <<= 4 * (13 - digits.len());
    let bits = match (first, exponent) {
        ("0", 0) if fraction == 0 => 0,
        ("0", -1022) => fraction,
        ("1", -1022..=-1) => (u64::try_from(exponent + 1023).ok()? << FRACTION) | fraction,
        _ => return None,
    };
    Some(f64::from_bits(bits))
}
