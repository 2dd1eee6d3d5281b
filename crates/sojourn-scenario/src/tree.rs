//! The text of a scenario as a tree of tables, lists and values that know where they stand.
//!
//! Source: TOML 1.0. Deviations: none known; dates are read and refused later, because no key of a
//! scenario is a date.

use toml::de::{DeTable, DeValue};

use sojourn_keys::content::{Content, Node, Position, Table};

use crate::problem::{Problem, ScenarioProblems};

/// Most syntax errors that are reported of one text; what follows is usually noise.
const SYNTAX_ERRORS: usize = 20;

/// Reads the text.
pub(crate) fn parse(text: &str) -> Result<Table, ScenarioProblems> {
    let lines = Lines::new(text);
    let (document, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(convert_table(document.get_ref(), &lines));
    }
    let problems = errors
        .iter()
        .take(SYNTAX_ERRORS)
        .enumerate()
        .map(|(number, error)| {
            let at = error.span().map_or_else(Position::default, |span| lines.position(span.start));
            let message = error.message().replace('\n', ", ");
            let message = message.trim_end_matches(", expected nothing");
            // Once is enough.
            let hint = match number {
                0 => {
                    "a scenario is made of lines like duration = \"600 s\" and headings like \
                     [access.upstream.link]"
                }
                _ => "",
            };
            Problem {
                path: String::new(),
                message: format!("not valid TOML: {message}"),
                hint: hint.to_owned(),
                line: at.line,
                column: at.column,
            }
        })
        .collect();
    Err(ScenarioProblems::new(problems))
}

/// Reads a dotted key such as `access.upstream.queue.limit` or `traffic."my call".stack`.
pub(crate) fn parse_path(path: &str) -> Option<Vec<String>> {
    if path.starts_with('[') || path.contains(char::is_control) {
        return None;
    }
    let text = format!("{path} = {END_OF_PATH}");
    let document = DeTable::parse(&text).ok()?;
    let mut parts = Vec::new();
    let mut table = document.get_ref();
    loop {
        let mut entries = table.iter();
        let (key, value) = entries.next()?;
        if entries.next().is_some() {
            return None;
        }
        parts.push(key.get_ref().to_string());
        match value.get_ref() {
            DeValue::Table(next) => table = next,
            // Any other value was part of the path.
            DeValue::Integer(end) if end.as_str() == END_OF_PATH => return Some(parts),
            _ => return None,
        }
    }
}

/// Marks the end of a path. chosen: a number that no path contains.
const END_OF_PATH: &str = "700100200300";

/// Reads a value as a setting gives it: TOML if it is TOML, otherwise a text.
pub(crate) fn parse_value(value: &str) -> Node {
    let trimmed = value.trim();
    let content = match DeValue::parse(trimmed) {
        Ok(parsed) if !trimmed.is_empty() => convert(parsed.get_ref(), &Lines::nowhere()),
        _ => Content::Text(trimmed.to_owned()),
    };
    // The parser takes a bare "0x" for a number without digits.
    let content = match content {
        Content::Integer(_, None) => Content::Text(trimmed.to_owned()),
        content => content,
    };
    Node { content, key_at: Position::default(), at: Position::default() }
}

fn convert_table(table: &DeTable<'_>, lines: &Lines) -> Table {
    table
        .iter()
        .map(|(key, value)| {
            let node = Node {
                content: convert(value.get_ref(), lines),
                key_at: lines.position(key.span().start),
                at: lines.position(value.span().start),
            };
            (key.get_ref().to_string(), node)
        })
        .collect()
}

fn convert(value: &DeValue<'_>, lines: &Lines) -> Content {
    match value {
        DeValue::String(text) => Content::Text(text.to_string()),
        DeValue::Integer(integer) => {
            let digits = integer.as_str();
            let value = i128::from_str_radix(digits, integer.radix()).ok();
            let written = match integer.radix() {
                16 => format!("0x{digits}"),
                8 => format!("0o{digits}"),
                2 => format!("0b{digits}"),
                _ => digits.to_owned(),
            };
            Content::Integer(written, value)
        }
        DeValue::Float(float) => Content::Float(float.as_str().to_owned(), float.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(value) => Content::Boolean(*value),
        DeValue::Datetime(_) => Content::Date,
        DeValue::Array(items) => Content::List(
            items
                .iter()
                .map(|item| {
                    let at = lines.position(item.span().start);
                    Node { content: convert(item.get_ref(), lines), key_at: at, at }
                })
                .collect(),
        ),
        DeValue::Table(table) => Content::Table(convert_table(table, lines)),
    }
}

/// Turns byte offsets into lines and columns.
struct Lines {
    starts: Vec<usize>,
    /// Offsets of bytes that continue a character: counting the characters of a line for each of its keys would
    /// take quadratic time.
    continuations: Vec<usize>,
}

impl Lines {
    fn new(text: &str) -> Self {
        let starts = core::iter::once(0).chain(text.match_indices('\n').map(|(offset, _)| offset + 1)).collect();
        let bytes = text.bytes().enumerate();
        let continuations = bytes.filter(|(_, byte)| byte & 0xc0 == 0x80).map(|(offset, _)| offset).collect();
        Self { starts, continuations }
    }

    /// For values that stand in no text.
    fn nowhere() -> Self {
        Self { starts: Vec::new(), continuations: Vec::new() }
    }

    fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset);
        let Some(start) = line.checked_sub(1).map(|index| self.starts[index]) else {
            return Position::default();
        };
        let before = |end: usize| self.continuations.partition_point(|place| *place < end);
        let inside = before(offset) - before(start);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Position { line: count(line), column: count(offset - start - inside + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_wherever_in_a_long_line_they_are() {
        let keys: Vec<String> = (0..2_000).map(|n| format!("\"\u{b5}{n}\" = 1")).collect();
        let text = format!("first = 1\na = {{{}}}\n", keys.join(", "));
        let table = parse(&text).unwrap();
        let Content::Table(a) = &table.get("a").unwrap().content else {
            panic!("a is a table");
        };
        for (name, node) in a.iter() {
            let offset = text.find(&format!("\"{name}\"")).unwrap();
            let start = text[..offset].rfind('\n').unwrap() + 1;
            let column = text[start..offset].chars().count() + 1;
            assert_eq!((node.key_at.line, node.key_at.column as usize), (2, column));
        }
    }

    #[test]
    fn keys_and_values_know_their_line_and_column() {
        let table = parse("a = 1\n\n[b]\n  \u{b5} = { c = \"x\" }\n").unwrap_err();
        // A key outside ASCII must be quoted.
        assert_eq!(table.as_slice()[0].line, 4);
        let table = parse("a = 1\n\n[b]\n  \"\u{b5}\" = { c = \"x\" }\n").unwrap();
        let Content::Table(b) = &table.get("b").unwrap().content else {
            panic!("b is a table");
        };
        let inner = b.get("\u{b5}").unwrap();
        assert_eq!(inner.key_at, Position { line: 4, column: 3 });
        let Content::Table(inner) = &inner.content else {
            panic!("an inline table");
        };
        assert_eq!(inner.get("c").unwrap().at, Position { line: 4, column: 15 });
    }

    #[test]
    fn all_syntax_errors_are_reported_with_their_lines() {
        let problems = parse("a = = 1\nb = 2\nc = \n").unwrap_err();
        let lines: Vec<u32> = problems.as_slice().iter().map(|p| p.line).collect();
        assert!(lines.contains(&1) && lines.contains(&3), "{lines:?}");
    }

    #[test]
    fn paths_are_dotted_keys_and_nothing_else() {
        assert_eq!(parse_path("a.b-c.d").unwrap(), ["a", "b-c", "d"]);
        assert_eq!(parse_path("traffic.\"my call\".rtt").unwrap(), ["traffic", "my call", "rtt"]);
        for wrong in ["", "a.", "a b", "a = 1\nb", "[a]\nb", "a.b = 1 #"] {
            assert_eq!(parse_path(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_setting_is_toml_if_it_can_be_and_text_otherwise() {
        assert!(matches!(parse_value("5").content, Content::Integer(_, Some(5))));
        assert!(matches!(parse_value("true").content, Content::Boolean(true)));
        assert!(matches!(parse_value("[\"1 ms\", \"2 ms\"]").content, Content::List(_)));
        for (value, text) in [("21 packets", "21 packets"), ("\"5 s\"", "5 s"), ("0x", "0x"), ("", "")] {
            match parse_value(value).content {
                Content::Text(t) => assert_eq!(t, text),
                other => panic!("{value}: {other:?}"),
            }
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_crash() {
        assert!(parse(&format!("a = {}", "[".repeat(100_000))).is_err());
        assert!(parse(&format!("{}a = 1", "a.".repeat(100_000))).is_err());
        assert!(parse(&format!("[{}a]", "a.".repeat(100_000))).is_err());
    }
}
