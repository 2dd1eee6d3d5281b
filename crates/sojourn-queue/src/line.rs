//! A queue manager in one line of text: its kind, and the keys that differ from its defaults.
//!
//! ```
//! use sojourn_base::BitRate;
//! use sojourn_queue::ManagerConfig;
//!
//! let config = ManagerConfig::from_line("codel target=10ms limit=\"84 packets\"", BitRate::ZERO)?;
//! assert_eq!(config.kind(), "codel");
//! assert_eq!(ManagerConfig::from_line(&config.to_line(), BitRate::ZERO)?, config);
//! # Ok::<(), sojourn_queue::LineProblem>(())
//! ```
//!
//! Keys and values are those of scenario files. A text with spaces stands in quotes, a list in brackets without spaces
//! (`dscp=[45,46]`). A key inside a manager behind another has both names: `ack-priority manager=pie
//! manager.reference=20ms`; of entries in a list, the entry's number: `red classes.0.dscp=[10]`.
//!
//! Source: none; the spelling is the project's own. Deviations: none known.

use crate::config::ManagerConfig;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use sojourn_base::{BitRate, Limit};
use sojourn_keys::content::{Content, Node, Position, Table};
use sojourn_keys::value::{Mismatch, Value, quoted, shown};
use sojourn_keys::{AnyKind, Choice, Items, Key, Visitor, nearest};

/// Longest line. chosen: the longest that is printed, that of the DOCSIS dual queue, has some 700 bytes.
pub const LONGEST_LINE: usize = 8192;

/// Most bytes of sub-queues and buckets before a packet waits. chosen: a million of them.
const MOST_BYTES: u64 = 256 << 20;

/// Deepest nesting of keys. chosen: a manager behind a lane, and its parts.
const DEEPEST: usize = 6;

/// What is wrong with a manager line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProblem {
    /// The key, with dots; empty for the line itself.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What would be right; may be empty.
    pub hint: String,
}

impl LineProblem {
    fn new(key: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            key: key.to_owned(),
            message: message.into(),
            hint: hint.into(),
        }
    }

    fn of(key: &str, mismatch: Mismatch) -> Self {
        Self::new(key, mismatch.message, mismatch.hint)
    }
}

impl fmt::Display for LineProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)?;
        if self.hint.is_empty() {
            return Ok(());
        }
        write!(f, " ({})", self.hint)
    }
}

impl core::error::Error for LineProblem {}

impl ManagerConfig {
    /// Reads a manager line. Limits in time become the bytes that `rate` sends in it, so a manager can be built from what
    /// is returned; a rate of zero stands for none, and a limit in time is refused then.
    ///
    /// # Errors
    /// The first thing that is wrong with the line.
    pub fn from_line(line: &str, rate: BitRate) -> Result<Self, LineProblem> {
        if line.len() > LONGEST_LINE || line.chars().any(char::is_control) {
            return Err(LineProblem::new(
                "",
                "the line is too long or contains control characters",
                format!("one line of at most {LONGEST_LINE} bytes"),
            ));
        }
        let mut words = Words(line.trim_start());
        let name = words.kind()?;
        let kinds = Self::kinds();
        let kind = one_of(&kinds, name).map_err(|mismatch| LineProblem::of("", mismatch))?;
        let table = words.table()?;
        let profile = profile_of(&table, &kind.info().profiles)
            .map_err(|mismatch| LineProblem::of("profile", mismatch))?;
        let mut config = kind.values(profile);
        let mut problem = None;
        let mut reader = Reader::new(&table, "", profile.is_some(), &mut problem);
        reader.known.push("profile");
        kind.keys(&mut config, &mut reader);
        reader.finish();
        match problem {
            Some(problem) => Err(problem),
            None => config.ready(rate),
        }
    }

    /// The same parameters, if a manager can be built from them on a link of `rate`.
    fn ready(self, rate: BitRate) -> Result<Self, LineProblem> {
        let has_rate = rate > BitRate::ZERO;
        if let Some(Limit::Time(span)) = self.limit()
            && !has_rate
        {
            return Err(LineProblem::new(
                "limit",
                format!("{span} are a number of bytes only at a rate, and none is known"),
                "a limit in bytes or packets, or a rate",
            ));
        }
        let problems = self.problems_on(has_rate.then_some(rate));
        if let Some((key, mismatch)) = problems.into_iter().next() {
            return Err(LineProblem::of(&key, mismatch));
        }
        if self.bytes() > MOST_BYTES {
            return Err(LineProblem::new(
                "",
                format!("{} bytes before a packet waits", self.bytes()),
                "fewer queues or buckets",
            ));
        }
        Ok(self.at(rate))
    }

    /// The manager line of these parameters, with every key.
    pub fn to_line(&self) -> String {
        let mut printer = Printer {
            line: self.kind().to_owned(),
            path: String::new(),
        };
        let _ = self.shown(&mut printer);
        printer.line
    }
}

/// The kind of that name.
fn one_of(
    kinds: &[&'static dyn AnyKind<ManagerConfig>],
    name: &str,
) -> Result<&'static dyn AnyKind<ManagerConfig>, Mismatch> {
    let found = kinds.iter().find(|kind| kind.info().name == name);
    found.copied().ok_or_else(|| {
        let known: Vec<&str> = kinds.iter().map(|kind| kind.info().name).collect();
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("known are {}", known.join(", ")),
        };
        Mismatch::new(format!("{} is no queue manager", shown(name)), hint)
    })
}

/// The profile that the table names.
fn profile_of(
    table: &Table,
    profiles: &[(&'static str, &'static str)],
) -> Result<Option<&'static str>, Mismatch> {
    let Some(node) = table.get("profile") else {
        return Ok(None);
    };
    let known: Vec<&'static str> = profiles.iter().map(|(name, _)| *name).collect();
    let hint = format!("one of {}", known.join(", "));
    match &node.content {
        Content::Text(text) => match known.iter().find(|name| *name == text) {
            Some(name) => Ok(Some(name)),
            None => Err(Mismatch::new(
                format!("no profile {}", shown(text)),
                if known.is_empty() {
                    "it has none".to_owned()
                } else {
                    hint
                },
            )),
        },
        other => Err(Mismatch::new(
            format!("{} where a word belongs", other.kind()),
            hint,
        )),
    }
}

/// What is left of a line.
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn kind(&mut self) -> Result<&'a str, LineProblem> {
        let end = self.0.find(' ').unwrap_or(self.0.len());
        let (kind, rest) = self.0.split_at(end);
        self.0 = rest;
        if kind.is_empty() {
            return Err(LineProblem::new(
                "",
                "no queue manager is named",
                "for instance codel target=10ms",
            ));
        }
        Ok(kind)
    }

    /// All keys with their values.
    fn table(&mut self) -> Result<Table, LineProblem> {
        let mut table = Table::default();
        loop {
            self.0 = self.0.trim_start();
            if self.0.is_empty() {
                return Ok(table);
            }
            let end = self.0.find(['=', ' ']).unwrap_or(self.0.len());
            let (key, rest) = self.0.split_at(end);
            let Some(rest) = rest.strip_prefix('=') else {
                return Err(LineProblem::new(
                    key,
                    "has no value",
                    format!("{key}=VALUE, without spaces"),
                ));
            };
            self.0 = rest;
            let content = self.value().map_err(|message| {
                LineProblem::new(key, message, "quotes around a text with spaces")
            })?;
            insert(&mut table, key, content).map_err(|message| {
                LineProblem::new(key, message, "a name, or names with dots between them")
            })?;
        }
    }

    fn value(&mut self) -> Result<Content, &'static str> {
        if let Some(rest) = self.0.strip_prefix('"') {
            let end = rest.find('"').ok_or("a quote is never closed")?;
            let (text, rest) = (&rest[..end], &rest[end + 1..]);
            if !rest.is_empty() && !rest.starts_with(' ') {
                return Err("something stands behind the closing quote");
            }
            self.0 = rest;
            return Ok(Content::Text(text.to_owned()));
        }
        if let Some(rest) = self.0.strip_prefix('[') {
            let end = rest.find(']').ok_or("a bracket is never closed")?;
            let (list, rest) = (&rest[..end], &rest[end + 1..]);
            if !rest.is_empty() && !rest.starts_with(' ') {
                return Err("something stands behind the closing bracket");
            }
            self.0 = rest;
            let parts = list.split(',').map(str::trim);
            let items = parts.filter(|part| !part.is_empty()).map(|part| {
                let text = part.strip_prefix('"').and_then(|p| p.strip_suffix('"'));
                node(text.map_or_else(|| bare(part), |text| Content::Text(text.to_owned())))
            });
            return Ok(Content::List(items.collect()));
        }
        let end = self.0.find(' ').unwrap_or(self.0.len());
        let (text, rest) = self.0.split_at(end);
        self.0 = rest;
        if text.is_empty() {
            return Err("has no value");
        }
        Ok(bare(text))
    }
}

/// A value without quotes.
fn bare(text: &str) -> Content {
    match text {
        "true" => return Content::Boolean(true),
        "false" => return Content::Boolean(false),
        _ => {}
    }
    if text
        .trim_start_matches(['+', '-'])
        .starts_with(|c: char| c.is_ascii_digit())
    {
        if text
            .trim_start_matches(['+', '-'])
            .bytes()
            .all(|b| b.is_ascii_digit())
        {
            return Content::Integer(text.to_owned(), text.parse().ok());
        }
        if let Ok(number) = text.parse() {
            return Content::Float(text.to_owned(), number);
        }
    }
    Content::Text(text.to_owned())
}

fn node(content: Content) -> Node {
    Node {
        content,
        key_at: Position::default(),
        at: Position::default(),
    }
}

/// Puts a value where `path` says, into tables within `table`.
fn insert(table: &mut Table, path: &str, content: Content) -> Result<(), &'static str> {
    if path.split('.').count() > DEEPEST {
        return Err("is nested too deep");
    }
    let mut table = table;
    let mut path = path;
    while let Some((outer, rest)) = path.split_once('.') {
        if outer.is_empty() {
            return Err("is no name");
        }
        match table.get_mut(outer) {
            None => table.insert(outer, node(Content::Table(Table::default()))),
            // A manager behind another is named by a word, and has keys as well.
            Some(Node {
                content: Content::Text(word),
                ..
            }) => {
                let mut inner = Table::default();
                inner.insert("kind", node(Content::Text(word.clone())));
                table.insert(outer, node(Content::Table(inner)));
            }
            Some(_) => {}
        }
        match table.get_mut(outer).map(|node| &mut node.content) {
            Some(Content::Table(inner)) => table = inner,
            _ => return Err("is a value, and has keys as well"),
        }
        path = rest;
    }
    if path.is_empty() {
        return Err("is no name");
    }
    if table.get(path).is_some() {
        return Err("stands twice");
    }
    table.insert(path, node(content));
    Ok(())
}

/// Takes values from a table; keeps the first thing that is wrong.
struct Reader<'a> {
    table: &'a Table,
    path: &'a str,
    /// Whether a profile has a value for each key.
    has_profile: bool,
    problem: &'a mut Option<LineProblem>,
    known: Vec<&'static str>,
}

impl<'a> Reader<'a> {
    fn new(
        table: &'a Table,
        path: &'a str,
        has_profile: bool,
        problem: &'a mut Option<LineProblem>,
    ) -> Self {
        Self {
            table,
            path,
            has_profile,
            problem,
            known: Vec::new(),
        }
    }

    fn below(&self, name: &str) -> String {
        join(self.path, name)
    }

    fn fail(&mut self, name: &str, mismatch: Mismatch) {
        let problem = LineProblem::of(&self.below(name), mismatch);
        self.problem.get_or_insert(problem);
    }

    fn find(&mut self, key: &Key) -> Option<&'a Content> {
        self.known.push(key.name);
        let node = self.table.get(key.name);
        if node.is_none() && key.required && !self.has_profile {
            let hint = format!("for instance {}={}", self.below(key.name), key.example);
            self.fail(key.name, Mismatch::new("is missing", hint));
        }
        node.map(|node| &node.content)
    }

    /// Keys that nobody has asked for are wrong.
    fn finish(mut self) {
        let unknown = self
            .table
            .iter()
            .find(|(name, _)| !self.known.contains(name));
        if let Some((name, _)) = unknown {
            let hint = match nearest(name, self.known.iter().copied()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("known are {}", self.known.join(", ")),
            };
            self.fail(name, Mismatch::new("unknown key", hint));
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

impl Visitor for Reader<'_> {
    fn has(&self, name: &str) -> bool {
        self.table.get(name).is_some()
    }

    fn value(&mut self, key: Key, value: &mut dyn Value) {
        let Some(content) = self.find(&key) else {
            return;
        };
        let read = value.read(content, &key).and_then(|()| value.check(&key));
        if let Err(mismatch) = read {
            self.fail(key.name, mismatch);
        }
    }

    fn table(&mut self, key: Key, keys: &mut dyn FnMut(&mut dyn Visitor)) {
        let optional = Key {
            required: false,
            ..key
        };
        let empty = Table::default();
        let table = match self.find(&optional) {
            Some(Content::Table(table)) => table,
            None => &empty,
            Some(_) => {
                let hint = format!("{}.KEY=VALUE", self.below(key.name));
                self.fail(key.name, Mismatch::new("is a table", hint));
                return;
            }
        };
        let path = self.below(key.name);
        let mut reader = Reader::new(table, &path, self.has_profile, self.problem);
        keys(&mut reader);
        reader.finish();
    }

    fn choice(&mut self, key: Key, choice: &mut dyn Choice) {
        let mut word = Table::default();
        let table = match self.find(&key) {
            Some(Content::Table(table)) => table,
            Some(content @ Content::Text(_)) => {
                word.insert("kind", node(content.clone()));
                &word
            }
            Some(_) => {
                self.fail(key.name, Mismatch::new("is no word", ""));
                return;
            }
            None if key.required && !self.has_profile => return,
            None => &word,
        };
        let path = self.below(key.name);
        let mut has_profile = self.has_profile;
        if let Some(named) = table.get("kind") {
            let kinds = choice.kinds();
            let known = kinds.iter().map(|kind| kind.name);
            let found = match &named.content {
                Content::Text(text) => kinds.iter().find(|kind| kind.name == text),
                _ => None,
            };
            let Some(info) = found else {
                let known: Vec<&str> = known.collect();
                let near = match &named.content {
                    Content::Text(text) => nearest(text, known.iter().copied()),
                    _ => None,
                };
                let hint = match near {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("one of {}", known.join(", ")),
                };
                self.fail(key.name, Mismatch::new("is none of the known words", hint));
                return;
            };
            match profile_of(table, &info.profiles) {
                Ok(profile) => {
                    choice.select(info.name, profile);
                    has_profile = profile.is_some();
                }
                Err(mismatch) => {
                    self.fail(&join(key.name, "profile"), mismatch);
                    return;
                }
            }
        }
        let mut reader = Reader::new(table, &path, has_profile, self.problem);
        reader.known.extend(["kind", "profile"]);
        choice.keys(&mut reader);
        reader.finish();
    }

    fn items(&mut self, key: Key, items: &mut dyn Items) {
        /// chosen: one for each code point.
        const MOST: usize = 64;
        let content = self.find(&key);
        let table = match content {
            None => {
                items.resize(0);
                return;
            }
            Some(Content::Table(table)) if table.iter().count() <= MOST => table,
            Some(_) => {
                let hint = format!("{}.0.KEY=VALUE, at most {MOST}", self.below(key.name));
                self.fail(key.name, Mismatch::new("is a list of entries", hint));
                return;
            }
        };
        items.resize(table.iter().count());
        for index in 0..items.count() {
            let name = index.to_string();
            let Some(Content::Table(entry)) = table.get(&name).map(|node| &node.content) else {
                let hint = format!("{}.{index}.KEY=VALUE", self.below(key.name));
                self.fail(
                    key.name,
                    Mismatch::new(format!("entry {index} is missing"), hint),
                );
                return;
            };
            let path = format!("{}.{index}", self.below(key.name));
            let mut reader = Reader::new(entry, &path, false, self.problem);
            items.keys(index, &mut reader);
            reader.finish();
        }
    }
}

/// Writes keys behind a kind.
struct Printer {
    line: String,
    path: String,
}

impl Printer {
    fn within(&mut self, name: &str, keys: &mut dyn FnMut(&mut dyn Visitor)) {
        let outer = core::mem::take(&mut self.path);
        self.path = join(&outer, name);
        keys(self);
        self.path = outer;
    }

    fn write(&mut self, name: &str, value: &str) {
        self.line.push(' ');
        self.line.push_str(&join(&self.path, name));
        self.line.push('=');
        self.line.push_str(value);
    }
}

impl Visitor for Printer {
    fn value(&mut self, key: Key, value: &mut dyn Value) {
        let print = value.print();
        let is_list = print.starts_with('[');
        self.write(
            key.name,
            &if is_list {
                print.replace(' ', "")
            } else {
                print
            },
        );
    }

    fn table(&mut self, key: Key, keys: &mut dyn FnMut(&mut dyn Visitor)) {
        self.within(key.name, keys);
    }

    fn choice(&mut self, key: Key, choice: &mut dyn Choice) {
        self.write(key.name, &quoted(choice.selected()));
        self.within(key.name, &mut |visitor| choice.keys(visitor));
    }

    fn items(&mut self, key: Key, items: &mut dyn Items) {
        for index in 0..items.count() {
            self.within(&format!("{}.{index}", key.name), &mut |visitor| {
                items.keys(index, visitor);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CodelConfig, DropTailConfig, PrioritisedConfig, RedConfig};
    use sojourn_base::{Packets, Span};

    const RATE: BitRate = BitRate::from_mbps(10);

    fn problem(line: &str) -> String {
        ManagerConfig::from_line(line, RATE)
            .expect_err(line)
            .to_string()
    }

    #[test]
    fn a_line_has_a_kind_and_keys() {
        let found =
            ManagerConfig::from_line("codel target=10ms limit=\"84 packets\"", BitRate::ZERO);
        let mut expected = CodelConfig::BASE;
        expected.law.target = Span::from_ms(10);
        expected.limit = Limit::Packets(Packets(84));
        assert_eq!(found, Ok(expected.into()));
        let found = ManagerConfig::from_line("codel profile=white2012 ", BitRate::ZERO);
        assert_eq!(found, Ok(CodelConfig::WHITE2012.into()));
    }

    #[test]
    fn limits_in_time_need_a_rate() {
        let found = ManagerConfig::from_line("drop-tail limit=\"100 ms\"", RATE);
        assert_eq!(found, Ok(DropTailConfig::bytes(125_000).into()));
        let refused = ManagerConfig::from_line("drop-tail limit=100ms", BitRate::ZERO);
        assert_eq!(
            refused.expect_err("no rate").to_string(),
            "limit: 100 ms are a number of bytes only at a rate, and none is known (a limit in bytes or packets, or a rate)"
        );
    }

    #[test]
    fn a_manager_behind_another_has_its_keys_behind_dots() {
        let line = "ack-priority burst=4 manager=codel manager.target=7ms";
        let found = ManagerConfig::from_line(line, RATE).expect("a line");
        let prioritised: &PrioritisedConfig = found.get().expect("of that kind");
        let inner: &CodelConfig = prioritised.manager.get().expect("of that kind");
        assert_eq!(
            (prioritised.lane.burst, inner.law.target),
            (4, Span::from_ms(7))
        );
    }

    #[test]
    fn entries_have_numbers() {
        let line = "red classes.0.dscp=[10,12] classes.1.dscp=[8] classes.1.max_probability=0.5";
        let found = ManagerConfig::from_line(line, RATE).expect("a line");
        let red: &RedConfig = found.get().expect("of that kind");
        assert_eq!(red.classes.len(), 2);
        assert!(red.classes[0].dscp.contains(12) && red.classes[1].dscp.contains(8));
    }

    #[test]
    fn every_kind_and_profile_reads_back_from_its_line() {
        for kind in ManagerConfig::kinds() {
            let info = kind.info();
            if matches!(info.name, "drop-tail" | "ack-priority") {
                continue; // have no defaults
            }
            let profiles = info.profiles.iter().map(|(name, _)| Some(*name));
            for profile in profiles.chain([None]) {
                let config = kind.values(profile).at(RATE);
                let line = config.to_line();
                assert!(line.len() < LONGEST_LINE);
                assert_eq!(ManagerConfig::from_line(&line, RATE), Ok(config), "{line}");
            }
        }
        let behind = ManagerConfig::from(PrioritisedConfig::before(CodelConfig::BASE.into()));
        assert_eq!(
            ManagerConfig::from_line(&behind.to_line(), RATE),
            Ok(behind)
        );
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (line, told) in [
            (
                "",
                "no queue manager is named (for instance codel target=10ms)",
            ),
            (
                "codle",
                "\"codle\" is no queue manager (did you mean codel?)",
            ),
            (
                "codel traget=10ms",
                "traget: unknown key (did you mean target?)",
            ),
            (
                "codel target",
                "target: has no value (target=VALUE, without spaces)",
            ),
            (
                "codel target=\"10 ms",
                "target: a quote is never closed (quotes around a text with spaces)",
            ),
            (
                "codel target=5ms target=6ms",
                "target: stands twice (a name, or names with dots between them)",
            ),
            (
                "codel target=200ms",
                "target: 200 ms is not shorter than interval (100 ms) (CoDel expects a target well below the interval, for instance 5 ms in 100 ms)",
            ),
            (
                "drop-tail",
                "limit: is missing (for instance limit=\"1 s\")",
            ),
            (
                "ack-priority",
                "manager: is missing (for instance manager={ kind = \"codel\", profile = \"rfc8289\" })",
            ),
            (
                "ack-priority manager=codle",
                "manager: is none of the known words (did you mean codel?)",
            ),
            (
                "codel profile=nobody",
                "profile: no profile \"nobody\" (one of rfc8289, white2012, white2013, akhtar2013)",
            ),
            (
                "red classes.1.dscp=[8]",
                "classes: entry 0 is missing (classes.0.KEY=VALUE)",
            ),
            (
                "codel a.b.c.d.e.f.g=1",
                "a.b.c.d.e.f.g: is nested too deep (a name, or names with dots between them)",
            ),
        ] {
            assert_eq!(problem(line), told);
        }
        assert!(ManagerConfig::from_line(&"x".repeat(LONGEST_LINE + 1), RATE).is_err());
    }

    #[test]
    fn millions_of_queues_are_refused_before_they_are_made() {
        let told = problem("fq-codel queues=4000000000");
        assert!(told.contains("queues"), "{told}");
    }
}
