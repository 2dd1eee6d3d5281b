//! Text of the docsis tool: `Main { NetworkAccess 1; UsServiceFlow { … } }`, as far as its TLVs are known here.
//!
//! Source: the language and the names of the public encoder `docsis` (its README, `docsis_symtable.h`).
//! Deviations: what needs SNMP or vendor tables (`SnmpMibObject`, `VendorSpecific`) and names that are not listed here are refused;
//! `GenericTLV TlvCode … TlvLength … TlvValue …` says any TLV. Digests are made anew, as the tool itself does.

use core::net::{Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

use crate::file::{DEPTH, File, Tlv, Value};
use crate::hex::unhex;
use crate::issue::Issue;
use crate::tlv::{self, Kind};

/// Octets of a file at most. chosen: as of the other text form.
const LARGEST: usize = 1 << 20;

/// Names of the tool below a path of types, with the type.
fn code_of(path: &[u8], name: &str) -> Option<u8> {
    let names: &[(&str, u8)] = match path {
        [] => &[
            ("DownstreamFrequency", 1),
            ("UpstreamChannelId", 2),
            ("NetworkAccess", 3),
            ("ClassOfService", 4),
            ("SwUpgradeFilename", 9),
            ("ModemIPAddress", 12),
            ("CpeMacAddress", 14),
            ("BaselinePrivacy", 17),
            ("MaxCPE", 18),
            ("TftpTimestamp", 19),
            ("TftpModemAddress", 20),
            ("SwUpgradeServer", 21),
            ("UsPacketClass", 22),
            ("DsPacketClass", 23),
            ("UsServiceFlow", 24),
            ("DsServiceFlow", 25),
            ("MaxClassifiers", 28),
            ("GlobalPrivacyEnable", 29),
        ],
        [4] => &[
            ("ClassID", 1),
            ("MaxRateDown", 2),
            ("MaxRateUp", 3),
            ("PriorityUp", 4),
            ("GuaranteedUp", 5),
            ("MaxBurstUp", 6),
            ("PrivacyEnable", 7),
        ],
        [17] => &[
            ("AuthTimeout", 1),
            ("ReAuthTimeout", 2),
            ("AuthGraceTime", 3),
            ("OperTimeout", 4),
            ("ReKeyTimeout", 5),
            ("TEKGraceTime", 6),
            ("AuthRejectTimeout", 7),
            ("SAMapWaitTimeout", 8),
            ("SAMapMaxRetries", 9),
        ],
        [22 | 23] => &[
            ("ClassifierRef", 1),
            ("ClassifierId", 2),
            ("ServiceFlowRef", 3),
            ("ServiceFlowId", 4),
            ("RulePriority", 5),
            ("ActivationState", 6),
            ("DscAction", 7),
            ("IpPacketClassifier", 9),
        ],
        [22 | 23, 9] => &[
            ("IpTos", 1),
            ("IpProto", 2),
            ("IpSrcAddr", 3),
            ("IpSrcMask", 4),
            ("IpDstAddr", 5),
            ("IpDstMask", 6),
            ("SrcPortStart", 7),
            ("SrcPortEnd", 8),
            ("DstPortStart", 9),
            ("DstPortEnd", 10),
        ],
        [24 | 25] => &[
            ("ServiceClassName", 4),
            ("QosParamSetType", 6),
            ("TrafficPriority", 7),
            ("MaxRateSustained", 8),
            ("MaxTrafficBurst", 9),
            ("MinReservedRate", 10),
            ("MinResPacketSize", 11),
            ("ActQosParamsTimeout", 12),
            ("AdmQosParamsTimeout", 13),
            ("IpTosOverwrite", 23),
        ],
        _ => &[],
    };
    let own: &[(&str, u8)] = match path {
        [24] => &[
            ("UsServiceFlowRef", 1),
            ("UsServiceFlowId", 2),
            ("MaxConcatenatedBurst", 14),
            ("SchedulingType", 15),
            ("RequestOrTxPolicy", 16),
            ("NominalPollInterval", 17),
            ("ToleratedPollJitter", 18),
            ("UnsolicitedGrantSize", 19),
            ("NominalGrantInterval", 20),
            ("ToleratedGrantJitter", 21),
            ("GrantsPerInterval", 22),
        ],
        [25] => &[("DsServiceFlowRef", 1), ("DsServiceFlowId", 2), ("MaxDsLatency", 14)],
        _ => &[],
    };
    names.iter().chain(own).find(|(known, _)| *known == name).map(|(_, code)| *code)
}

/// Returns true if a text is of this language, which begins with `Main`.
pub(crate) fn is_one(text: &str) -> bool {
    let mut words = Words { text, at: 0 };
    words.next() == Some("Main")
}

/// Reads a text.
///
/// # Errors
/// The first thing that is wrong with it, with line and column.
pub(crate) fn read(text: &str) -> Result<File, Vec<Issue>> {
    let mut reader = Reader { words: Words { text, at: 0 }, octets: 0 };
    reader.file().map_err(|issue| vec![*issue])
}

/// The words of a text: names, numbers, strings in quotes, and the signs `{`, `}` and `;`.
struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.skip();
        let rest = &self.text[self.at..];
        let first = rest.chars().next()?;
        let length = match first {
            '{' | '}' | ';' => 1,
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            _ => rest
                .find(|sign: char| sign.is_whitespace() || ['{', '}', ';', '"'].contains(&sign))
                .unwrap_or(rest.len()),
        };
        let word = &rest[..length];
        self.at += length;
        Some(word)
    }
}

impl Words<'_> {
    /// Skips what is between words, comments among it.
    fn skip(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            let end = if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else if trimmed.starts_with("//") || trimmed.starts_with('#') {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else {
                return;
            };
            self.at += end;
        }
    }
}

struct Reader<'a> {
    words: Words<'a>,
    octets: usize,
}

impl<'a> Reader<'a> {
    #[expect(clippy::unnecessary_box_returns, reason = "it is the error of every other function here")]
    fn wrong(&self, word: &str, message: impl Into<String>, hint: impl Into<String>) -> Box<Issue> {
        let before = &self.words.text[..self.words.at.saturating_sub(word.len())];
        let mut issue = Issue::new("E-TEXT", message).hint(hint);
        issue.line = before.matches('\n').count() + 1;
        issue.column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        Box::new(issue)
    }

    fn next(&mut self, what: &str) -> Result<&'a str, Box<Issue>> {
        match self.words.next() {
            Some(word) => Ok(word),
            None => Err(self.wrong("", format!("the text ends where {what} should be"), "Main { … }")),
        }
    }

    fn expect(&mut self, sign: &str, behind: &str) -> Result<(), Box<Issue>> {
        let what = format!("{sign:?}");
        let word = self.next(&what)?;
        if word == sign {
            return Ok(());
        }
        Err(self.wrong(word, format!("{} where {what} should be, behind {behind}", shown(word)), ""))
    }

    fn file(&mut self) -> Result<File, Box<Issue>> {
        self.expect("Main", "the beginning")?;
        self.expect("{", "Main")?;
        let mut file = File { tlvs: self.block(&mut Vec::new())?, ..File::default() };
        if let Some(word) = self.words.next() {
            return Err(self.wrong(word, format!("{} behind the end of Main", shown(word)), "one Main { … }"));
        }
        file.complete();
        let octets = file.octets().map_err(|long| Box::new(Issue::new("E-TOO-LONG", long.to_string())))?;
        Ok(File::read(&octets, crate::file::Format::Docsis31))
    }

    /// Reads up to the brace that ends a list.
    fn block(&mut self, path: &mut Vec<u8>) -> Result<Vec<Tlv>, Box<Issue>> {
        let mut tlvs = Vec::new();
        loop {
            let name = self.next("a name or }")?;
            if name == "}" {
                return Ok(tlvs);
            }
            let tlv = if name == "GenericTLV" { self.generic()? } else { self.setting(name, path)? };
            self.octets += 2 + tlv.value_octets().map_or(0, <[u8]>::len);
            if self.octets > LARGEST {
                return Err(self.wrong(name, format!("more than {LARGEST} octets"), "a modem takes 8192"));
            }
            tlvs.push(tlv);
        }
    }

    fn setting(&mut self, name: &str, path: &mut Vec<u8>) -> Result<Tlv, Box<Issue>> {
        let Some(code) = code_of(path, name) else {
            let hint =
                "GenericTLV TlvCode N TlvLength N TlvValue 0x…; or `docsis -e`, whose binary file is read as well";
            return Err(self.wrong(name, format!("{} of the docsis tool is not known here", shown(name)), hint));
        };
        path.push(code);
        let entry = tlv::of(path);
        let value = if entry.is_some_and(|entry| entry.kind == Kind::Aggregate) {
            self.expect("{", name)?;
            if path.len() >= DEPTH {
                return Err(self.wrong(name, "lists are nested too deeply", ""));
            }
            Value::Tlvs(self.block(path)?)
        } else {
            let word = self.next("a value")?;
            let kind = entry.map_or(Kind::Hex, |entry| entry.kind);
            let Some(octets) = value_of(word, kind) else {
                return Err(self.wrong(word, format!("{} is no value of {name}", shown(word)), hint_of(kind)));
            };
            self.expect(";", name)?;
            Value::Octets(octets)
        };
        path.pop();
        Ok(Tlv { code, value, offset: 0 })
    }

    /// Any TLV: `TlvCode 217 TlvLength 2 TlvValue 0x00a1;`.
    fn generic(&mut self) -> Result<Tlv, Box<Issue>> {
        let mut parts = [""; 3];
        for (part, name) in parts.iter_mut().zip(["TlvCode", "TlvLength", "TlvValue"]) {
            self.expect(name, "GenericTLV")?;
            *part = self.next("a value")?;
        }
        self.expect(";", "GenericTLV")?;
        let (code, length) = (parts[0].parse::<u8>().ok(), parts[1].parse::<usize>().ok());
        let value = parts[2].strip_prefix("0x").and_then(unhex);
        match (code, length, value) {
            (Some(code @ 1..=254), Some(length), Some(octets)) if octets.len() == length => {
                Ok(Tlv::octets(code, octets))
            }
            _ => Err(self.wrong(parts[2], "a GenericTLV whose length is not that of its value", "TlvValue 0x…")),
        }
    }
}

/// A word as messages show it.
fn shown(word: &str) -> String {
    let short: String = word.chars().take(40).collect();
    format!("{short:?}")
}

fn hint_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Number(_) => "a whole number that fits",
        Kind::Text | Kind::TextZ => "a text in quotes",
        Kind::Ipv4 => "such as 192.0.2.1",
        Kind::Ipv6 => "such as 2001:db8::1",
        Kind::Mac => "such as 02:00:00:00:00:01",
        Kind::Hex | Kind::NumberList | Kind::Aggregate => "octets such as 0x00a1",
    }
}

/// The octets of a word as a value of a form; `None` if it is none.
fn value_of(word: &str, kind: Kind) -> Option<Vec<u8>> {
    let text = word.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match kind {
        Kind::Number(length) => {
            let number = match word.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok()?,
                None => word.parse::<u64>().ok()?,
            };
            let octets = number.to_be_bytes();
            let (above, octets) = octets.split_at(octets.len() - length);
            above.iter().all(|octet| *octet == 0).then(|| octets.to_vec())
        }
        Kind::Text => text.map(|text| text.as_bytes().to_vec()),
        Kind::TextZ => text.map(|text| [text.as_bytes(), &[0]].concat()),
        Kind::Ipv4 => Ipv4Addr::from_str(word).ok().map(|address| address.octets().to_vec()),
        Kind::Ipv6 => Ipv6Addr::from_str(word).ok().map(|address| address.octets().to_vec()),
        Kind::Mac => unhex(word).filter(|mac| mac.len() == 6),
        Kind::Hex | Kind::NumberList | Kind::Aggregate => word.strip_prefix("0x").and_then(unhex),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINE: &str = "/* a line */ Main {\n NetworkAccess 1; // yes\n UsServiceFlow {\n UsServiceFlowRef 7;\n \
        ServiceClassName \"up\";\n MaxRateSustained 24000000; }\n GenericTLV TlvCode 217 TlvLength 2 TlvValue 0x00a1;\n}\n";

    #[test]
    fn a_text_is_the_octets_that_the_tool_makes_of_it() {
        let file = read(LINE).unwrap();
        let mut octets = vec![3, 1, 1, 24, 15, 1, 2, 0, 7, 4, 3];
        octets.extend(*b"up\0");
        octets.extend([8, 4]);
        octets.extend(24_000_000_u32.to_be_bytes());
        octets.extend([217, 2, 0, 0xa1, 255]);
        octets.resize(octets.len().next_multiple_of(4), 0);
        assert_eq!(file.octets().unwrap(), octets);
        assert!(is_one(LINE) && !is_one("schema = 1"));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let told = |text: &str| {
            let issue = read(text).unwrap_err().remove(0);
            format!("{}:{} {}", issue.line, issue.column, issue.message)
        };
        assert_eq!(told("Main {\n  SnmpMibObject 1;\n}"), "2:3 \"SnmpMibObject\" of the docsis tool is not known here");
        assert_eq!(told("Main {\n NetworkAccess 256;\n}"), "2:16 \"256\" is no value of NetworkAccess");
        assert_eq!(told("Main {\n NetworkAccess 1\n}"), "3:1 \"}\" where \";\" should be, behind NetworkAccess");
        assert_eq!(told("Main {"), "1:7 the text ends where a name or } should be");
        assert_eq!(told("Main { } Main"), "1:10 \"Main\" behind the end of Main");
    }

    /// Every name stands for a type that the table of TLVs knows.
    #[test]
    fn names_are_of_types_that_are_known() {
        for (path, name) in [(&[24_u8][..], "MaxDsLatency"), (&[25], "SchedulingType"), (&[9], "ClassID")] {
            assert_eq!(code_of(path, name), None);
        }
        for (path, name) in [(&[25_u8][..], "MaxDsLatency"), (&[22, 9], "DstPortEnd"), (&[17], "SAMapMaxRetries")] {
            let path = [path, &[code_of(path, name).unwrap()]].concat();
            assert!(tlv::of(&path).is_some(), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fail(text in "(Main|[{};\" \n]|/\\*|\\*/|UsServiceFlow|MaxRateSustained|0x[0-9a-f]{0,6}|\\PC){0,40}") {
            let _ = read(&text);
        }
    }
}
