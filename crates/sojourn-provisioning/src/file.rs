//! The octets of a CM configuration file as a tree of TLVs, and back without losing one.
//!
//! Source: DOCSIS MULPI annex D as the public encoder `docsis` writes it: type, length and value, one octet each for
//! type and length; types 0 (pad) and 255 (end of data) are single octets; zero octets after the end fill the file up
//! to a multiple of four.
//! Deviations: any octets are a file. Unreadable octets are kept as they are ([`File::rest`], [`Value::Octets`]), so a
//! file is always written back byte for byte, and [`crate::examine`] reports its errors.

use core::fmt;

use crate::tlv::{self, Kind};

/// Type of a pad octet.
pub(crate) const PAD: u8 = 0;
/// Type of the end-of-data marker.
pub(crate) const END: u8 = 255;
/// TLVs nest no deeper than this when read; what is deeper stays octets.
///
/// chosen: the deepest known TLV of annex C stands at depth six.
pub(crate) const DEPTH: usize = 8;
/// Types whose length has two octets in files for DOCSIS 4.0.
const WIDE: [u8; 2] = [103, 104];

/// Which rules of length hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Every length is one octet.
    #[default]
    Docsis31,
    /// The lengths of types 103 and 104 have two octets.
    Docsis40,
}

/// A CM configuration file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// The settings, in the order of the file.
    pub tlvs: Vec<Tlv>,
    /// Octets at the place of the next TLV that cannot be one: it runs past the end of the file.
    pub rest: Vec<u8>,
    /// True if the end-of-data marker is there.
    pub end: bool,
    /// Octets behind the marker.
    pub tail: Vec<u8>,
}

/// A setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tlv {
    /// Its type.
    pub code: u8,
    /// Its value.
    pub value: Value,
    /// Offset of its type in the octets that were read; 0 if it was not read.
    pub offset: usize,
}

/// Value of a TLV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing, not even a length: a pad octet between settings.
    Pad,
    /// Octets.
    Octets(Vec<u8>),
    /// Octets behind a length of two octets (DOCSIS 4.0).
    Wide(Vec<u8>),
    /// Other TLVs.
    Tlvs(Vec<Tlv>),
}

/// A value that does not fit behind its length: more than 255 octets, or 65535 behind a wide one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// Type of the TLV at the top level.
    pub code: u8,
    /// Octets that its value, or one inside it, would have.
    pub octets: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value in TLV {} has {} octets, more than its length can say", self.code, self.octets)
    }
}

impl File {
    /// Reads octets; there are none that this refuses.
    pub fn read(octets: &[u8], format: Format) -> Self {
        let mut file = Self::default();
        if is_mta(octets) {
            file.rest = octets.to_vec();
            return file;
        }
        let mut at = 0;
        while let Some(&code) = octets.get(at) {
            if code == END {
                file.end = true;
                file.tail = octets[at + 1..].to_vec();
                break;
            }
            let Some((tlv, next)) = read_tlv(octets, at, 0, &mut Vec::new(), format) else {
                file.rest = octets[at..].to_vec();
                break;
            };
            file.tlvs.push(tlv);
            at = next;
        }
        file
    }

    /// The octets of the file.
    ///
    /// # Errors
    /// If a value is too long for its length, which no value that was read is.
    pub fn octets(&self) -> Result<Vec<u8>, TooLong> {
        let mut octets = Vec::new();
        for tlv in &self.tlvs {
            tlv.write(&mut octets).map_err(|length| TooLong { code: tlv.code, octets: length })?;
        }
        octets.extend_from_slice(&self.rest);
        if self.end {
            octets.push(END);
            octets.extend_from_slice(&self.tail);
        }
        Ok(octets)
    }

    /// Ends it as a whole file ends: with the marker, and zero octets up to a multiple of four.
    pub(crate) fn complete(&mut self) {
        self.rest.clear();
        self.end = true;
        self.tail.clear();
        let length = self.octets().map_or(0, |octets| octets.len());
        self.tail = vec![0; length.next_multiple_of(4) - length];
    }

    /// Returns true for a configuration file of a PacketCable telephone adapter, which has other rules.
    pub fn is_mta(&self) -> bool {
        self.tlvs.is_empty() && is_mta(&self.rest)
    }

    /// The settings of a type, in the order of the file.
    pub fn all(&self, code: u8) -> impl Iterator<Item = &Tlv> {
        self.tlvs.iter().filter(move |tlv| tlv.code == code)
    }
}

impl Tlv {
    /// A TLV of octets.
    pub fn octets(code: u8, octets: impl Into<Vec<u8>>) -> Self {
        Self { code, value: Value::Octets(octets.into()), offset: 0 }
    }

    /// A TLV of TLVs.
    pub fn of(code: u8, tlvs: Vec<Self>) -> Self {
        Self { code, value: Value::Tlvs(tlvs), offset: 0 }
    }

    /// The TLVs inside it; none if it holds octets.
    pub fn inside(&self) -> &[Self] {
        match &self.value {
            Value::Tlvs(tlvs) => tlvs,
            _ => &[],
        }
    }

    /// The octets of a value that is no list of TLVs.
    pub fn value_octets(&self) -> Option<&[u8]> {
        match &self.value {
            Value::Octets(octets) | Value::Wide(octets) => Some(octets),
            Value::Pad | Value::Tlvs(_) => None,
        }
    }

    /// The value as a whole number; `None` if it has no octets, or more than eight.
    pub fn number(&self) -> Option<u64> {
        let octets = self.value_octets()?;
        let is_number = (1..=8).contains(&octets.len());
        is_number.then(|| octets.iter().fold(0, |number, octet| number << 8 | u64::from(*octet)))
    }

    /// The value as a text, without the zero octets at its end; `None` if it is none.
    pub fn as_text(&self) -> Option<&str> {
        let octets = self.value_octets()?;
        let end = octets.iter().rposition(|octet| *octet != 0).map_or(0, |last| last + 1);
        core::str::from_utf8(&octets[..end]).ok()
    }

    /// The last TLV of a type inside it; of repeated ones the last counts.
    pub fn last(&self, code: u8) -> Option<&Self> {
        self.inside().iter().rev().find(|tlv| tlv.code == code)
    }

    /// Appends type, length and value; the error is the number of octets that do not fit.
    pub(crate) fn write(&self, to: &mut Vec<u8>) -> Result<(), usize> {
        to.push(self.code);
        match &self.value {
            Value::Pad => Ok(()),
            Value::Octets(octets) => {
                to.push(u8::try_from(octets.len()).map_err(|_| octets.len())?);
                to.extend_from_slice(octets);
                Ok(())
            }
            Value::Wide(octets) => {
                let length = u16::try_from(octets.len()).map_err(|_| octets.len())?;
                to.extend_from_slice(&length.to_be_bytes());
                to.extend_from_slice(octets);
                Ok(())
            }
            Value::Tlvs(tlvs) => {
                let at = to.len();
                to.push(0);
                for tlv in tlvs {
                    tlv.write(to)?;
                }
                let length = to.len() - at - 1;
                to[at] = u8::try_from(length).map_err(|_| length)?;
                Ok(())
            }
        }
    }

    /// Type, length and value; nothing if the value is too long.
    pub(crate) fn whole(&self) -> Vec<u8> {
        let mut octets = Vec::new();
        if self.write(&mut octets).is_err() {
            octets.clear();
        }
        octets
    }
}

/// PacketCable files begin with TLV 254 of value 1 (the encoder `docsis` and public descriptions agree).
fn is_mta(octets: &[u8]) -> bool {
    octets.starts_with(&[254, 1, 1])
}

/// The TLV at `at` and where the next one begins; `None` if it runs past the end.
fn read_tlv(octets: &[u8], at: usize, base: usize, path: &mut Vec<u8>, format: Format) -> Option<(Tlv, usize)> {
    let code = *octets.get(at)?;
    let offset = base + at;
    let is_top = path.is_empty();
    if is_top && code == PAD {
        return Some((Tlv { code, value: Value::Pad, offset }, at + 1));
    }
    let is_wide = is_top && format == Format::Docsis40 && WIDE.contains(&code);
    let start = at + if is_wide { 3 } else { 2 };
    let length = octets.get(at + 1..start)?.iter().fold(0, |sum, octet| sum << 8 | usize::from(*octet));
    let end = start + length;
    let value = octets.get(start..end)?;
    if is_wide {
        return Some((Tlv { code, value: Value::Wide(value.to_vec()), offset }, end));
    }
    path.push(code);
    let value = read_value(value, base + start, path, format);
    path.pop();
    Some((Tlv { code, value, offset }, end))
}

fn read_value(octets: &[u8], base: usize, path: &mut Vec<u8>, format: Format) -> Value {
    let is_aggregate = tlv::of(path).is_some_and(|entry| entry.kind == Kind::Aggregate);
    if !is_aggregate || path.len() >= DEPTH || is_foreign(path, octets) {
        return Value::Octets(octets.to_vec());
    }
    let mut tlvs = Vec::new();
    let mut at = 0;
    while at < octets.len() {
        let Some((tlv, next)) = read_tlv(octets, at, base, path, format) else {
            return Value::Octets(octets.to_vec());
        };
        tlvs.push(tlv);
        at = next;
    }
    Value::Tlvs(tlvs)
}

/// TLV 43 is a list of known TLVs only if it begins with the vendor FFFFFF, the general extension.
fn is_foreign(path: &[u8], octets: &[u8]) -> bool {
    path == [43] && !octets.starts_with(&[8, 3, 0xff, 0xff, 0xff])
}
