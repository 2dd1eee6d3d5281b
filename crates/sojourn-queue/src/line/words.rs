//! A line as a kind and a table of keys with their values.

use super::LineProblem;
use alloc::borrow::ToOwned;
use alloc::format;
use sojourn_keys::content::{Content, Node, Position, Table};

/// Deepest nesting of keys. chosen: a manager behind a lane, and its parts.
const DEEPEST: usize = 6;

/// The kind of a line, and its keys.
pub(super) fn split(line: &str) -> Result<(&str, Table), LineProblem> {
    let line = line.trim_start();
    let (kind, rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
    if kind.is_empty() {
        return Err(LineProblem::new("", "no queue manager is named", "for instance codel target=10ms"));
    }
    let mut rest = Rest(rest);
    let mut table = Table::default();
    while let Some((key, content)) = rest.entry()? {
        insert(&mut table, key, content)
            .map_err(|message| LineProblem::new(key, message, "a name, or names with dots between them"))?;
    }
    Ok((kind, table))
}

/// Rest of a line.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    /// The next key with its value.
    fn entry(&mut self) -> Result<Option<(&'a str, Content)>, LineProblem> {
        self.0 = self.0.trim_start();
        if self.0.is_empty() {
            return Ok(None);
        }
        let end = self.0.find(['=', ' ']).unwrap_or(self.0.len());
        let (key, rest) = self.0.split_at(end);
        let Some(rest) = rest.strip_prefix('=') else {
            return Err(LineProblem::new(key, "has no value", format!("{key}=VALUE, without spaces")));
        };
        self.0 = rest;
        let wrong = |message| LineProblem::new(key, message, "quotes around a text with spaces");
        Ok(Some((key, self.value().map_err(wrong)?)))
    }

    fn value(&mut self) -> Result<Content, &'static str> {
        if let Some(text) = self.enclosed('"', '"')? {
            return Ok(Content::Text(text.to_owned()));
        }
        if let Some(list) = self.enclosed('[', ']')? {
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

    /// Returns the text between these signs, if it begins here.
    fn enclosed(&mut self, open: char, close: char) -> Result<Option<&'a str>, &'static str> {
        let Some(rest) = self.0.strip_prefix(open) else {
            return Ok(None);
        };
        let Some((inside, rest)) = rest.split_once(close) else {
            return Err(if open == '[' { "a bracket is never closed" } else { "a quote is never closed" });
        };
        if !rest.is_empty() && !rest.starts_with(' ') {
            return Err("has something behind its end");
        }
        self.0 = rest;
        Ok(Some(inside))
    }
}

/// A value without quotes.
fn bare(text: &str) -> Content {
    match text {
        "true" => return Content::Boolean(true),
        "false" => return Content::Boolean(false),
        _ => {}
    }
    let digits = text.trim_start_matches(['+', '-']);
    if digits.starts_with(|c: char| c.is_ascii_digit()) {
        if digits.bytes().all(|b| b.is_ascii_digit()) {
            return Content::Integer(text.to_owned(), text.parse().ok());
        }
        if let Ok(number) = text.parse() {
            return Content::Float(text.to_owned(), number);
        }
    }
    Content::Text(text.to_owned())
}

/// A value without a place: a line has none to tell.
pub(super) fn node(content: Content) -> Node {
    Node { content, key_at: Position::default(), at: Position::default() }
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
            Some(Node { content: Content::Text(word), .. }) => {
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
