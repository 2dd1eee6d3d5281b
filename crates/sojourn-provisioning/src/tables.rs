//! Tables of a CMTS that a configuration file refers to: service classes, Aggregate QoS Profiles, capabilities.
//!
//! Source: White 2019 §5.1 (what needs support where), §5.3.1 (Aggregate QoS Profiles). Deviations: the file form,
//! TOML, is our own.

use core::str::FromStr;

use sojourn_base::{BitRate, Bytes};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::classifier::{Classifier, NQB};
use crate::hex::unhex;
use crate::issue::Issue;
use crate::parameter::{About, Form, Leaf, OF_AGGREGATES, OF_FLOWS, Origin, Parameters, Setting};

/// Generation of a modem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Docsis {
    /// No queue management in the modem.
    D30,
    /// DOCSIS-PIE in the modem.
    D31,
}

/// Direction of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Up,
    Down,
}

/// A service class or an Aggregate QoS Profile.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) way: Way,
    pub(crate) parameters: Parameters,
    pub(crate) low_latency: bool,
    /// In place of the default ones.
    pub(crate) classifiers: Option<Vec<Classifier>>,
}

/// Tables and capabilities of a CMTS, and capabilities of the modem, which it announces itself.
#[derive(Clone, Debug)]
pub struct Tables {
    /// True if the modem supports low-latency DOCSIS.
    pub cm_lld: bool,
    /// Generation of the modem.
    pub cm_docsis: Docsis,
    /// True if the CMTS supports it.
    pub cmts_lld: bool,
    /// True if the CMTS manages queues downstream.
    pub cmts_aqm: bool,
    /// Time between MAPs in microseconds; `None` leaves it to the generation.
    pub map_interval_us: Option<u64>,
    /// DiffServ values that default classifiers take for non-queue-building.
    pub nqb_dscp: Vec<u8>,
    pub(crate) service_classes: Vec<Entry>,
    pub(crate) aqps: Vec<Entry>,
}

impl Default for Tables {
    /// No entries; modem and CMTS support low-latency DOCSIS.
    fn default() -> Self {
        Self {
            cm_lld: true,
            cm_docsis: Docsis::D31,
            cmts_lld: true,
            cmts_aqm: true,
            map_interval_us: None,
            nqb_dscp: vec![NQB],
            service_classes: Vec::new(),
            aqps: Vec::new(),
        }
    }
}

impl Tables {
    /// Reads tables from TOML.
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn read(text: &str) -> Result<Self, Vec<Issue>> {
        let mut reader = Reader { text, issues: Vec::new() };
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in errors.iter().take(20) {
            let at = error.span().map_or(0, |span| span.start);
            reader.refuse(at, "", &format!("not valid TOML: {}", error.message().replace('\n', ", ")), "");
        }
        let tables = reader.tables(document.get_ref());
        if reader.issues.is_empty() { Ok(tables) } else { Err(reader.issues) }
    }

    /// The same tables without the Aggregate QoS Profiles: as before a migration.
    #[must_use]
    pub fn without_profiles(&self) -> Self {
        Self { aqps: Vec::new(), ..self.clone() }
    }

    pub(crate) fn class(&self, name: &str, way: Way) -> Option<&Entry> {
        self.service_classes.iter().find(|entry| entry.name == name && entry.way == way)
    }

    pub(crate) fn aqp(&self, name: &str, way: Way) -> Option<&Entry> {
        self.aqps.iter().find(|entry| entry.name == name && entry.way == way)
    }
}

struct Reader<'a> {
    text: &'a str,
    issues: Vec<Issue>,
}

type Node<'a> = Spanned<DeValue<'a>>;

impl Reader<'_> {
    fn refuse(&mut self, at: usize, path: &str, message: &str, hint: &str) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let mut issue = Issue::new("E-TABLE", message).about(path).hint(hint);
        issue.line = before.matches('\n').count() + 1;
        issue.column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        self.issues.push(issue);
    }

    fn unknown(&mut self, key: &Spanned<std::borrow::Cow<'_, str>>, path: &str, known: &[&str]) {
        let hint = sojourn_keys::nearest(key.get_ref(), known.iter().copied())
            .map_or_else(|| format!("known: {}", known.join(", ")), |word| format!("did you mean {word}?"));
        let path = if path.is_empty() { key.get_ref().to_string() } else { format!("{path}.{}", key.get_ref()) };
        self.refuse(key.span().start, &path, "no such key", &hint);
    }

    fn tables(&mut self, root: &DeTable<'_>) -> Tables {
        let mut tables = Tables::default();
        for (key, value) in root {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("schema", _) => {}
                ("cm" | "cmts", DeValue::Table(table)) => {
                    self.capabilities(key.get_ref(), table, &mut tables);
                }
                ("service_class", DeValue::Array(entries)) => {
                    tables.service_classes = self.entries(entries, "service_class", &OF_FLOWS);
                }
                ("aqp", DeValue::Array(entries)) => {
                    tables.aqps = self.entries(entries, "aqp", &OF_AGGREGATES);
                }
                _ => self.unknown(key, "", &["cm", "cmts", "service_class", "aqp", "schema"]),
            }
        }
        tables
    }

    fn capabilities(&mut self, of: &str, table: &DeTable<'_>, tables: &mut Tables) {
        for (key, value) in table {
            let name = format!("{of}.{}", key.get_ref());
            let right = match (name.as_str(), value.get_ref()) {
                ("cm.lld", DeValue::Boolean(lld)) => {
                    tables.cm_lld = *lld;
                    true
                }
                ("cm.docsis", DeValue::String(version)) => match version.as_ref() {
                    "3.0" => {
                        tables.cm_docsis = Docsis::D30;
                        tables.cm_lld = false;
                        true
                    }
                    "3.1" => true,
                    _ => false,
                },
                ("cmts.lld", DeValue::Boolean(lld)) => {
                    tables.cmts_lld = *lld;
                    true
                }
                ("cmts.downstream_aqm", DeValue::Boolean(aqm)) => {
                    tables.cmts_aqm = *aqm;
                    true
                }
                ("cmts.map_interval_us", value) => {
                    tables.map_interval_us = integer(value).filter(|interval| *interval > 0);
                    tables.map_interval_us.is_some()
                }
                ("cmts.nqb_dscp", DeValue::Array(values)) => {
                    let dscps: Option<Vec<u8>> = values
                        .iter()
                        .map(|value| integer(value.get_ref()).and_then(|n| u8::try_from(n).ok()).filter(|n| *n < 64))
                        .collect();
                    let right = dscps.is_some();
                    tables.nqb_dscp = dscps.unwrap_or_default();
                    right
                }
                ("cm.lld" | "cm.docsis" | "cmts.lld" | "cmts.downstream_aqm" | "cmts.nqb_dscp", _) => false,
                _ => {
                    let known: &[&str] = if of == "cm" {
                        &["lld", "docsis"]
                    } else {
                        &["lld", "downstream_aqm", "map_interval_us", "nqb_dscp"]
                    };
                    self.unknown(key, of, known);
                    true
                }
            };
            if !right {
                let hint = "cm.docsis is \"3.0\" or \"3.1\", nqb_dscp a list of numbers below 64, others true or false";
                self.refuse(value.span().start, &name, "not a value of this key", hint);
            }
        }
        if tables.cm_docsis == Docsis::D30 {
            tables.cm_lld = false;
        }
    }

    fn entries(&mut self, list: &[Node<'_>], table: &'static str, about: &[About]) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        for node in list {
            let DeValue::Table(row) = node.get_ref() else {
                self.refuse(node.span().start, table, "has to be a table", "");
                continue;
            };
            if let Some(entry) = self.entry(node.span().start, row, table, about) {
                if entries.iter().any(|other| other.name == entry.name && other.way == entry.way) {
                    let path = format!("{table}.{}", entry.name);
                    self.refuse(node.span().start, &path, "there already for this direction", "");
                }
                entries.push(entry);
            }
        }
        entries
    }

    fn entry(&mut self, at: usize, row: &DeTable<'_>, table: &'static str, about: &[About]) -> Option<Entry> {
        let text = |key: &str| row.get(key).and_then(|value| value.get_ref().as_str());
        let name = text("name").unwrap_or_default().to_owned();
        let path = format!("{table}.{name}");
        if !(1..=15).contains(&name.len()) || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            self.refuse(at, &path, "a name has 1 to 15 visible characters", "name = \"gold-us\"");
            return None;
        }
        let way = match text("direction") {
            Some("upstream") => Way::Up,
            Some("downstream") => Way::Down,
            _ => {
                self.refuse(at, &path, "has no direction", "direction = \"upstream\" or \"downstream\"");
                return None;
            }
        };
        let mut entry = Entry { name, way, parameters: Parameters::new(), low_latency: true, classifiers: None };
        for (key, value) in row {
            let word = key.get_ref().as_ref();
            match (word, value.get_ref(), about.iter().find(|about| about.key == word)) {
                ("name" | "direction", ..) => {}
                ("low_latency", DeValue::Boolean(low_latency), _) if table == "aqp" => {
                    entry.low_latency = *low_latency;
                }
                ("classifier", DeValue::Array(rules), _) if table == "aqp" => {
                    entry.classifiers = Some(self.classifiers(rules, &path, &entry.name));
                }
                (_, found, Some(about)) => match setting(found, about) {
                    Some(value) => {
                        let origin = Origin::Table { table, name: entry.name.clone(), key: word.to_owned() };
                        entry.parameters.insert(about.parameter, Leaf { value, unit: about.unit, origin });
                    }
                    None => self.refuse(
                        value.span().start,
                        &format!("{path}.{word}"),
                        "not a value of this key",
                        example(about),
                    ),
                },
                _ => {
                    let mut known: Vec<&str> = about.iter().map(|about| about.key).collect();
                    known.extend(["name", "direction"]);
                    if table == "aqp" {
                        known.extend(["low_latency", "classifier"]);
                    }
                    self.unknown(key, &path, &known);
                }
            }
        }
        Some(entry)
    }

    fn classifiers(&mut self, rules: &[Node<'_>], path: &str, name: &str) -> Vec<Classifier> {
        let mut classifiers = Vec::new();
        for rule in rules {
            let tos = rule
                .get_ref()
                .as_table()
                .filter(|table| table.len() == 1)
                .and_then(|table| table.get("tos"))
                .and_then(|tos| tos.get_ref().as_str())
                .and_then(unhex)
                .and_then(|octets| <[u8; 3]>::try_from(octets).ok());
            match tos {
                Some(tos) => classifiers.push(Classifier::of_tos(
                    tos,
                    Origin::Table { table: "aqp", name: name.to_owned(), key: "classifier".to_owned() },
                )),
                None => self.refuse(
                    rule.span().start,
                    &format!("{path}.classifier"),
                    "not a classifier",
                    "tos = \"01 01 01\": low, high, mask",
                ),
            }
        }
        classifiers
    }
}

fn integer(value: &DeValue<'_>) -> Option<u64> {
    let number = value.as_integer()?;
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

fn setting(value: &DeValue<'_>, about: &About) -> Option<Setting> {
    let text = value.as_str();
    let number = match (about.form, value) {
        (Form::Rate, DeValue::String(text)) => Some(BitRate::from_str(text).ok()?.as_bps()),
        (Form::Bytes, DeValue::String(text)) => Some(Bytes::from_str(text).ok()?.0),
        (Form::Text, _) => return text.map(|text| Setting::Text(text.to_owned())),
        (Form::Octets, _) => {
            let octets = text.and_then(unhex)?;
            return Some(Setting::List(octets.into_iter().map(u16::from).collect()));
        }
        (Form::Edges, DeValue::Array(edges)) => {
            let edges = edges.iter().map(|edge| integer(edge.get_ref()).and_then(|n| u16::try_from(n).ok()));
            return edges.collect::<Option<_>>().map(Setting::List);
        }
        (Form::Number, DeValue::Boolean(flag)) => Some(u64::from(*flag)),
        (Form::Number, DeValue::String(word)) if about.key == "scheduling" => match word.as_ref() {
            "best-effort" => Some(2),
            "pgs" => Some(crate::check::PGS),
            _ => None,
        },
        (_, value) => integer(value),
    };
    number.map(Setting::Number)
}

fn example(about: &About) -> &'static str {
    match about.form {
        Form::Rate => "such as \"20 Mb/s\"",
        Form::Bytes => "such as 625000 or \"625 kB\"",
        Form::Microseconds => "a number of microseconds",
        Form::Number if about.key == "scheduling" => "\"best-effort\" or \"pgs\"",
        Form::Number => "a whole number, or true or false",
        Form::Octets => "octets such as \"0x0300\"",
        Form::Edges => "a list of numbers, in steps of 0.01 ms",
        Form::Text => "a text",
    }
}
