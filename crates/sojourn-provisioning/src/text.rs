//! The text form of a CM configuration file: TOML in the order of the file, and back without losing an octet.
//!
//! A file is a list of blocks `[[tlv]]`; the keys of a block are TLVs in the order of the text. Lists of TLVs are
//! tables, `[tlv.upstream_service_flow]`, and inside them inline tables. A type without a name is `tlv-199`, and a
//! second key of one name in a table is `service_flow_reference--2`. Values in a form that their type does not
//! have, and all of unknown types, are octets, `"0x00a1"`. Quantities may be written as texts, `"20 Mb/s"`.
//!
//! Source: none. Deviations: none.

use core::net::{Ipv4Addr, Ipv6Addr};
use core::ops::Range;
use core::str::FromStr;
use std::fmt::Write as _;

use sojourn_base::{BitRate, Bytes, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::docsis_text;
use crate::file::{DEPTH, END, File, Format, PAD, Tlv, Value};
use crate::hex::unhex;
use crate::issue::Issue;
use crate::tlv::{self, Entry, Kind};

/// Stands between a name and a number that keeps equal keys apart.
const AGAIN: &str = "--";
/// Stands before the number of a type without a name.
const NAMELESS: &str = "tlv-";
/// Sub-TLV that says what rates beside it are counted in.
const DATA_RATE_UNIT: u8 = 41;
/// Largest file in octets that a text may stand for. chosen: far above the 8192 that a modem has to take.
const LARGEST: usize = 1 << 20;

/// Bits per second that one count of a rate stands for, by data rate unit.
pub(crate) fn rate_scale(unit: u64) -> Option<u64> {
    [1, 1_000, 1_000_000, 1_000_000_000].get(usize::try_from(unit).ok()?).copied()
}

/// Octets as text: `0x` and two digits each.
pub(crate) fn hex(octets: &[u8]) -> String {
    octets.iter().fold(String::from("0x"), |mut text, octet| {
        let _ = write!(text, "{octet:02x}");
        text
    })
}

/// Writes a file as text.
pub fn write(file: &File) -> String {
    let mut text = String::from("# CM configuration file; the order of lines is the order of octets.\nschema = 1\n");
    let mut block: Vec<String> = Vec::new();
    let mut pads = 0;
    for tlv in &file.tlvs {
        if tlv.value == Value::Pad {
            pads += 1;
            continue;
        }
        end_pads(&mut text, &mut block, &mut pads);
        let name = name_of(&[tlv.code]);
        if let Value::Tlvs(inside) = &tlv.value {
            end_block(&mut text, &mut block);
            let _ = write!(text, "\n[[tlv]]\n[tlv.{name}]{}\n", comment(&format!("[tlv.{name}]"), &[tlv.code], ""));
            text.push_str(&lines(inside, &mut vec![tlv.code]));
            continue;
        }
        if block.contains(&name) {
            end_block(&mut text, &mut block);
        }
        begin_block(&mut text, &mut block, &name);
        text.push_str(&line(&name, tlv, &mut Vec::new(), 1));
    }
    end_pads(&mut text, &mut block, &mut pads);
    write_end(file, &mut text);
    text
}

fn begin_block(text: &mut String, block: &mut Vec<String>, name: &str) {
    if block.is_empty() {
        text.push_str("\n[[tlv]]\n");
    }
    block.push(name.to_owned());
}

fn end_block(_: &mut String, block: &mut Vec<String>) {
    block.clear();
}

fn end_pads(text: &mut String, block: &mut Vec<String>, pads: &mut usize) {
    if *pads > 0 {
        if block.iter().any(|name| name == "pad") {
            end_block(text, block);
        }
        begin_block(text, block, "pad");
        let _ = writeln!(text, "pad = {pads}");
        *pads = 0;
    }
}

/// Writes differences from a sealed file: no end, octets that cannot be read, octets behind the end.
fn write_end(file: &File, text: &mut String) {
    let mut usual = file.clone();
    usual.complete();
    if *file == usual {
        return;
    }
    text.push_str("\n[file]\n");
    if !file.rest.is_empty() {
        let _ = writeln!(text, "rest = \"{}\"  # cannot be read as a TLV", hex(&file.rest));
    }
    let _ = writeln!(text, "end = {}", file.end);
    if !file.tail.is_empty() {
        let _ = writeln!(text, "tail = \"{}\"", hex(&file.tail));
    }
}

fn name_of(path: &[u8]) -> String {
    tlv::of(path)
        .map_or_else(|| format!("{NAMELESS}{}", path.last().copied().unwrap_or(PAD)), |entry| entry.name.clone())
}

/// The lines of a table, in order.
fn lines(tlvs: &[Tlv], path: &mut Vec<u8>) -> String {
    let mut text = String::new();
    for (key, tlv) in keyed(tlvs, path) {
        text.push_str(&line(&key, tlv, path, scale_of(tlvs)));
    }
    text
}

/// Each TLV with a key that no earlier one has.
fn keyed<'a>(tlvs: &'a [Tlv], path: &[u8]) -> Vec<(String, &'a Tlv)> {
    let mut counts = std::collections::BTreeMap::<u8, usize>::new();
    tlvs.iter()
        .map(|tlv| {
            let mut inner = path.to_vec();
            inner.push(tlv.code);
            let name = name_of(&inner);
            let count = counts.entry(tlv.code).or_default();
            *count += 1;
            let key = if *count == 1 { name } else { format!("{name}{AGAIN}{count}") };
            (key, tlv)
        })
        .collect()
}

pub(crate) fn scale_of(tlvs: &[Tlv]) -> u64 {
    let unit = tlvs.iter().rev().find(|tlv| tlv.code == DATA_RATE_UNIT).and_then(Tlv::number);
    unit.and_then(rate_scale).unwrap_or(1)
}

fn line(key: &str, tlv: &Tlv, path: &mut Vec<u8>, scale: u64) -> String {
    path.push(tlv.code);
    let (value, meaning) = spelt(tlv, path, scale);
    let line = format!("{key} = {value}");
    let comment = comment(&line, path, &meaning);
    path.pop();
    format!("{line}{comment}\n")
}

/// Column where comments begin.
const COMMENT: usize = 44;

fn comment(line: &str, path: &[u8], meaning: &str) -> String {
    let separator = if meaning.is_empty() { "" } else { ": " };
    let space = " ".repeat(COMMENT.saturating_sub(line.chars().count()).max(2));
    format!("{space}# {}{separator}{meaning}", tlv::dotted(path))
}

/// Returns a value as TOML, and its meaning if that says more.
pub(crate) fn spelt(tlv: &Tlv, path: &mut Vec<u8>, scale: u64) -> (String, String) {
    let octets = match &tlv.value {
        Value::Pad => return ("1".to_owned(), String::new()),
        Value::Wide(octets) => return (format!("{{ wide = \"{}\" }}", hex(octets)), String::new()),
        Value::Tlvs(inside) => {
            let parts: Vec<String> = keyed(inside, path)
                .iter()
                .map(|(key, tlv)| {
                    path.push(tlv.code);
                    let (value, _) = spelt(tlv, path, scale_of(inside));
                    path.pop();
                    format!("{key} = {value}")
                })
                .collect();
            let list = if parts.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", parts.join(", ")) };
            return (list, String::new());
        }
        Value::Octets(octets) => octets,
    };
    let plain = || (format!("\"{}\"", hex(octets)), String::new());
    let Some(entry) = tlv::of(path) else {
        return plain();
    };
    match entry.kind {
        Kind::Number(length) if length == octets.len() => {
            let number = tlv.number().unwrap_or_default();
            (number.to_string(), meaning(entry, number, scale))
        }
        Kind::Text if is_printable(octets) => (quoted(octets), String::new()),
        Kind::TextZ => match octets.split_last() {
            Some((0, text)) if is_printable(text) => (quoted(text), String::new()),
            _ => plain(),
        },
        Kind::NumberList if !octets.is_empty() && octets.len().is_multiple_of(2) => {
            let numbers: Vec<String> =
                octets.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]).to_string()).collect();
            (format!("[{}]", numbers.join(", ")), String::new())
        }
        Kind::Ipv4 => match <[u8; 4]>::try_from(octets.as_slice()) {
            Ok(address) => (format!("\"{}\"", Ipv4Addr::from(address)), String::new()),
            Err(_) => plain(),
        },
        Kind::Ipv6 => match <[u8; 16]>::try_from(octets.as_slice()) {
            Ok(address) => (format!("\"{}\"", Ipv6Addr::from(address)), String::new()),
            Err(_) => plain(),
        },
        Kind::Mac if octets.len() == 6 => {
            let parts: Vec<String> = octets.iter().map(|octet| format!("{octet:02x}")).collect();
            (format!("\"{}\"", parts.join(":")), String::new())
        }
        _ => plain(),
    }
}

fn meaning(entry: &Entry, number: u64, scale: u64) -> String {
    let scale = if entry.scaled { scale } else { 1 };
    match entry.unit.as_str() {
        "" => String::new(),
        "b/s" if number == 0 => "no limit".to_owned(),
        "b/s" => BitRate::from_bps(number * scale).to_string(),
        unit => unit.to_owned(),
    }
}

fn is_printable(octets: &[u8]) -> bool {
    core::str::from_utf8(octets)
        .is_ok_and(|text| !text.starts_with("0x") && text.chars().all(|character| !character.is_control()))
}

fn quoted(octets: &[u8]) -> String {
    let text = String::from_utf8_lossy(octets);
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Reads a text, of the docsis tool as well, which begins with `Main`.
///
/// # Errors
/// Everything that is wrong with it, each with line and column.
pub fn read(text: &str) -> Result<File, Vec<Issue>> {
    if docsis_text::is_one(text) {
        return docsis_text::read(text);
    }
    let mut reader = Reader { text, issues: Vec::new(), octets: 0 };
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors.iter().take(20) {
        let message = format!("not valid TOML: {}", error.message().replace('\n', ", "));
        reader.refuse(&error.span().unwrap_or_default(), "", message, "");
    }
    let file = if errors.is_empty() { reader.document(document.get_ref()) } else { File::default() };
    if reader.issues.is_empty() {
        // As the octets are read, so that texts and octets of one file are one file.
        let octets = file.octets().map_err(|long| vec![Issue::new("E-TOO-LONG", long.to_string())])?;
        let format = if file.tlvs.iter().any(|tlv| matches!(tlv.value, Value::Wide(_))) {
            Format::Docsis40
        } else {
            Format::Docsis31
        };
        return Ok(File::read(&octets, format));
    }
    Err(reader.issues)
}

struct Reader<'a> {
    text: &'a str,
    issues: Vec<Issue>,
    octets: usize,
}

type Node<'a> = Spanned<DeValue<'a>>;

impl Reader<'_> {
    fn refuse(&mut self, at: &Range<usize>, path: &str, message: impl Into<String>, hint: &str) {
        let before = self.text.get(..at.start).unwrap_or(self.text);
        let mut issue = Issue::new("E-TEXT", message).about(path).hint(hint);
        issue.line = before.matches('\n').count() + 1;
        issue.column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        self.issues.push(issue);
    }

    fn document(&mut self, root: &DeTable<'_>) -> File {
        let mut file = File::default();
        let mut explicit = false;
        for (key, value) in root {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("schema", DeValue::Integer(number)) if number.as_str() == "1" => {}
                ("schema", _) => {
                    self.refuse(&value.span(), "schema", "this is version 1", "schema = 1");
                }
                ("tlv", DeValue::Array(blocks)) => {
                    for block in blocks {
                        self.block(block, &mut file.tlvs);
                    }
                }
                ("tlv", _) => self.refuse(&value.span(), "tlv", "has to be a list of tables", "write [[tlv]]"),
                ("file", DeValue::Table(table)) => {
                    self.ending(table, &mut file);
                    explicit = true;
                }
                (other, _) => {
                    let hint = nearest(other, &["schema", "tlv", "file"]);
                    self.refuse(&key.span(), other, "no such key", &hint);
                }
            }
        }
        if !explicit {
            file.complete();
        }
        file
    }

    fn ending(&mut self, table: &DeTable<'_>, file: &mut File) {
        for (key, value) in table {
            let octets = value.get_ref().as_str().and_then(unhex);
            match (key.get_ref().as_ref(), value.get_ref(), octets) {
                ("end", DeValue::Boolean(end), _) => file.end = *end,
                ("rest", _, Some(octets)) => file.rest = octets,
                ("tail", _, Some(octets)) => file.tail = octets,
                (other, ..) => self.refuse(
                    &key.span(),
                    &format!("file.{other}"),
                    "not a key of [file], or not its value",
                    "end = true, rest = \"0x…\", tail = \"0x…\"",
                ),
            }
        }
    }

    fn block(&mut self, block: &Node<'_>, to: &mut Vec<Tlv>) {
        let DeValue::Table(table) = block.get_ref() else {
            return self.refuse(&block.span(), "tlv", "has to be a table", "write [[tlv]]");
        };
        for (key, value) in in_order(table) {
            if key.get_ref() == "pad" {
                self.pads(value, to);
            } else if let Some(tlv) = self.tlv(key, value, &mut Vec::new(), 1) {
                to.push(tlv);
            }
        }
    }

    fn pads(&mut self, value: &Node<'_>, to: &mut Vec<Tlv>) {
        let count = integer(value.get_ref()).and_then(|count| usize::try_from(count).ok());
        match count {
            Some(count) if self.octets + count <= LARGEST => {
                self.octets += count;
                to.extend((0..count).map(|_| Tlv { code: PAD, value: Value::Pad, offset: 0 }));
            }
            _ => self.refuse(&value.span(), "pad", "has to be a small number of octets", ""),
        }
    }

    fn tlv(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Node<'_>,
        path: &mut Vec<u8>,
        scale: u64,
    ) -> Option<Tlv> {
        let name = key.get_ref().as_ref();
        let Some(code) = code_of(path, name) else {
            let known = tlv::names(path);
            let hint = nearest(without_number(name), &known);
            self.refuse(&key.span(), name, "no such TLV", &hint);
            return None;
        };
        if path.is_empty() && [PAD, END].contains(&code) {
            let hint = "write pad = 1; the end is written by itself";
            self.refuse(&key.span(), name, "has no value", hint);
            return None;
        }
        path.push(code);
        let value = if path.len() > DEPTH {
            self.refuse(&key.span(), name, "stands too deep", "");
            None
        } else {
            self.value(value, path, scale)
        };
        path.pop();
        Some(Tlv { code, value: value?, offset: 0 })
    }

    fn value(&mut self, node: &Node<'_>, path: &mut Vec<u8>, scale: u64) -> Option<Value> {
        let entry = tlv::of(path);
        if let DeValue::Table(table) = node.get_ref() {
            if let Some(wide) = table.get("wide").and_then(|wide| wide.get_ref().as_str()).and_then(unhex) {
                return Some(Value::Wide(wide));
            }
            if entry.is_some_and(|entry| entry.kind == Kind::Aggregate) {
                return self.table(table, path).map(Value::Tlvs);
            }
        }
        let found = octets(node.get_ref(), entry, scale);
        match found {
            Ok(octets) if octets.len() > 255 => {
                let message = format!("{} octets are more than the 255 that a length can say", octets.len());
                self.refuse(&node.span(), &tlv::dotted(path), message, "");
                None
            }
            Ok(octets) => Some(Value::Octets(octets)),
            Err(hint) => {
                let name = format!("{} ({})", name_of(path), tlv::dotted(path));
                self.refuse(&node.span(), &name, "not a value of this TLV", &hint);
                None
            }
        }
    }

    fn table(&mut self, table: &DeTable<'_>, path: &mut Vec<u8>) -> Option<Vec<Tlv>> {
        let unit = table
            .iter()
            .filter(|(key, _)| code_of(path, key.get_ref()) == Some(DATA_RATE_UNIT))
            .max_by_key(|(key, _)| key.span().start)
            .and_then(|(_, value)| integer(value.get_ref()))
            .filter(|_| matches!(path[..], [24 | 25 | 70 | 71]));
        let scale = unit.and_then(rate_scale).unwrap_or(1);
        let known = self.issues.len();
        let tlvs: Vec<Tlv> =
            in_order(table).into_iter().filter_map(|(key, value)| self.tlv(key, value, path, scale)).collect();
        (self.issues.len() == known).then_some(tlvs)
    }
}

/// The entries of a table as they stand in the text.
fn in_order<'a, 'b>(table: &'a DeTable<'b>) -> Vec<(&'a Spanned<std::borrow::Cow<'b, str>>, &'a Node<'b>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn without_number(name: &str) -> &str {
    match name.rsplit_once(AGAIN) {
        Some((name, number)) if number.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => name,
    }
}

fn code_of(path: &[u8], key: &str) -> Option<u8> {
    let name = without_number(key);
    match name.strip_prefix(NAMELESS) {
        Some(number) => number.parse().ok(),
        None => tlv::code_of(path, name),
    }
}

fn nearest(word: &str, known: &[&str]) -> String {
    sojourn_keys::nearest(word, known.iter().copied()).map_or_else(String::new, |word| format!("did you mean {word}?"))
}

fn integer(value: &DeValue<'_>) -> Option<u64> {
    let number = value.as_integer()?;
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// The octets of a value, or what would be right.
fn octets(value: &DeValue<'_>, entry: Option<&Entry>, scale: u64) -> Result<Vec<u8>, String> {
    let kind = entry.map_or(Kind::Hex, |entry| entry.kind);
    if let DeValue::String(text) = value {
        if text.starts_with("0x") {
            return unhex(text).ok_or_else(|| "octets are pairs of digits after 0x".to_owned());
        }
        return match kind {
            Kind::Text => Ok(text.as_bytes().to_vec()),
            Kind::TextZ => Ok([text.as_bytes(), &[0]].concat()),
            Kind::Number(length) => {
                let entry = entry.ok_or_else(String::new)?;
                quantity(text, entry, scale).and_then(|number| fit(number, length)).ok_or_else(|| hint(entry))
            }
            Kind::Ipv4 => {
                Ipv4Addr::from_str(text).map(|a| a.octets().to_vec()).map_err(|_| "such as \"192.0.2.1\"".into())
            }
            Kind::Ipv6 => {
                Ipv6Addr::from_str(text).map(|a| a.octets().to_vec()).map_err(|_| "such as \"2001:db8::1\"".into())
            }
            Kind::Mac => unhex(text).filter(|mac| mac.len() == 6).ok_or_else(|| "such as \"02:00:00:00:00:01\"".into()),
            Kind::Hex => unhex(text).ok_or_else(|| "such as \"0x00a1\"".to_owned()),
            Kind::NumberList | Kind::Aggregate => Err("a list or a table, or octets such as \"0x00a1\"".to_owned()),
        };
    }
    match (kind, value) {
        (Kind::Number(length), DeValue::Integer(_)) => integer(value)
            .and_then(|number| fit(number, length))
            .ok_or_else(|| format!("a whole number that fits into {length} octets")),
        (Kind::NumberList, DeValue::Array(numbers)) => numbers
            .iter()
            .map(|number| integer(number.get_ref()).and_then(|number| u16::try_from(number).ok()))
            .collect::<Option<Vec<u16>>>()
            .map(|numbers| numbers.into_iter().flat_map(u16::to_be_bytes).collect())
            .ok_or_else(|| "numbers up to 65535".to_owned()),
        _ => Err(entry.map_or_else(|| "octets such as \"0x00a1\"".to_owned(), hint)),
    }
}

fn hint(entry: &Entry) -> String {
    match (entry.kind, entry.unit.as_str()) {
        (Kind::Number(_), "b/s") => "such as 20000000 or \"20 Mb/s\", a multiple of the data rate unit".to_owned(),
        (Kind::Number(_), "B") => "such as 31250 or \"31250 B\"".to_owned(),
        (Kind::Number(_), "us" | "ms" | "s") => format!("such as 10 or \"10 {}\"", entry.unit),
        (Kind::Number(_), _) => "a whole number".to_owned(),
        (Kind::Aggregate, _) => "a table, or octets such as \"0x00a1\"".to_owned(),
        (Kind::NumberList, _) => "a list such as [5, 10]".to_owned(),
        _ => "a text, or octets such as \"0x00a1\"".to_owned(),
    }
}

/// A quantity with a unit as the number that the file has for it, if that is exact.
fn quantity(text: &str, entry: &Entry, scale: u64) -> Option<u64> {
    let scale = if entry.scaled { scale } else { 1 };
    let exactly = |value: u64, step: u64| value.is_multiple_of(step).then_some(value / step);
    match entry.unit.as_str() {
        "b/s" => exactly(BitRate::from_str(text).ok()?.as_bps(), scale),
        "B" => Some(Bytes::from_str(text).ok()?.0),
        "us" => exactly(Span::from_str(text).ok()?.as_ps(), 1_000_000),
        "ms" => exactly(Span::from_str(text).ok()?.as_ps(), 1_000_000_000),
        "s" => exactly(Span::from_str(text).ok()?.as_ps(), 1_000_000_000_000),
        _ => None,
    }
}

fn fit(number: u64, length: usize) -> Option<Vec<u8>> {
    let octets = number.to_be_bytes();
    let (above, octets) = octets.split_at(octets.len() - length);
    above.iter().all(|octet| *octet == 0).then(|| octets.to_vec())
}
