//! The table of known TLVs: their names, forms, ranges, and where each row is from.
//!
//! Source: `tlv.toml` beside this file. Deviations: marked there.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use toml::de::{DeTable, DeValue};

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number in this many octets, the most significant first.
    Number(usize),
    /// Text.
    Text,
    /// Text with a zero octet behind it.
    TextZ,
    /// Octets.
    Hex,
    /// Whole numbers of two octets each.
    NumberList,
    /// An IPv4 address.
    Ipv4,
    /// An IPv6 address.
    Ipv6,
    /// A MAC address.
    Mac,
    /// Other TLVs.
    Aggregate,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name in the text form.
    pub name: String,
    /// Form of the value.
    pub kind: Kind,
    /// Length of octets that is fixed, or another length that occurs for a number.
    pub octets: Option<usize>,
    /// Unit of the number; empty without one.
    pub unit: String,
    /// True if the data rate unit beside it (sub-TLV 41) multiplies it.
    pub scaled: bool,
    /// Least and greatest number; for texts of characters.
    pub range: Option<(u64, u64)>,
    /// True if it may occur more than once.
    pub many: bool,
    /// Origin of the row: S, M, N, T, U as the table explains.
    pub mark: String,
}

type Table = BTreeMap<Vec<u8>, Entry>;

static TABLE: LazyLock<Table> = LazyLock::new(|| read(include_str!("tlv.toml")));

/// Types by name, below each path.
static CODES: LazyLock<BTreeMap<(Vec<u8>, &'static str), u8>> = LazyLock::new(|| {
    TABLE
        .iter()
        .filter_map(|(path, entry)| {
            let (code, parent) = path.split_last()?;
            Some(((parent.to_vec(), entry.name.as_str()), *code))
        })
        .collect()
});

/// The row of a path of types.
pub fn of(path: &[u8]) -> Option<&'static Entry> {
    TABLE.get(path)
}

/// All rows in the order of their paths.
pub fn all() -> impl Iterator<Item = (&'static [u8], &'static Entry)> {
    TABLE.iter().map(|(path, entry)| (path.as_slice(), entry))
}

/// The type with a name below a path.
pub fn code_of(parent: &[u8], name: &str) -> Option<u8> {
    CODES.get(&(parent.to_vec(), name) as &(Vec<u8>, &str)).copied()
}

/// The names below a path.
pub fn names(parent: &[u8]) -> Vec<&'static str> {
    TABLE
        .iter()
        .filter(|(path, _)| path.split_last().is_some_and(|(_, above)| above == parent))
        .map(|(_, entry)| entry.name.as_str())
        .collect()
}

/// A path as people write it, such as `24.8`.
pub fn dotted(path: &[u8]) -> String {
    let parts: Vec<String> = path.iter().map(ToString::to_string).collect();
    parts.join(".")
}

/// Reads the table; its tests hold it to what this expects.
fn read(text: &'static str) -> Table {
    let document = DeTable::parse(text).expect("the table is valid TOML");
    let rows = document.get_ref().get("tlv").and_then(|rows| rows.get_ref().as_table());
    let mut table = Table::new();
    for (key, row) in rows.expect("a table of rows") {
        let row = row.get_ref().as_table().expect("a row");
        for path in paths(key.get_ref()) {
            let earlier = table.insert(path, entry(row));
            assert!(earlier.is_none(), "{}: a path occurs once", key.get_ref());
        }
    }
    table
}

/// `"24|25.8"` is 24.8 and 25.8.
fn paths(key: &str) -> Vec<Vec<u8>> {
    let number = |text: &str| -> u8 { text.parse().expect("a type") };
    let mut parts = key.split('.');
    let first = parts.next().expect("a path");
    let rest: Vec<u8> = parts.map(number).collect();
    first.split('|').map(|top| core::iter::once(number(top)).chain(rest.iter().copied()).collect()).collect()
}

fn entry(row: &DeTable<'_>) -> Entry {
    let get = |key: &str| row.get(key).map(toml::Spanned::get_ref);
    let text = |key| get(key).and_then(DeValue::as_str).unwrap_or_default().to_owned();
    let flag = |key| get(key).and_then(DeValue::as_bool).unwrap_or_default();
    let number = |value: &DeValue<'_>| value.as_integer().and_then(|n| n.as_str().parse().ok());
    let range = get("range").and_then(DeValue::as_array).map(|bounds| {
        let bound = |at: usize| number(bounds[at].get_ref()).expect("a bound");
        (bound(0), bound(1))
    });
    Entry {
        name: text("name"),
        kind: match text("kind").as_str() {
            "u8" => Kind::Number(1),
            "u16" => Kind::Number(2),
            "u32" => Kind::Number(4),
            "text" => Kind::Text,
            "textz" => Kind::TextZ,
            "hex" => Kind::Hex,
            "u16-list" => Kind::NumberList,
            "ipv4" => Kind::Ipv4,
            "ipv6" => Kind::Ipv6,
            "mac" => Kind::Mac,
            "tlvs" => Kind::Aggregate,
            other => panic!("no kind of value: {other}"),
        },
        octets: get("octets").and_then(number).and_then(|n| usize::try_from(n).ok()),
        unit: text("unit"),
        scaled: flag("scaled"),
        range,
        many: flag("many"),
        mark: text("mark"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_each_row_holds_tlvs() {
        for (path, entry) in all() {
            let parent = &path[..path.len() - 1];
            assert!(!entry.name.is_empty() && !entry.mark.is_empty(), "{}", dotted(path));
            if !parent.is_empty() {
                assert_eq!(of(parent).map(|row| row.kind), Some(Kind::Aggregate), "{}", dotted(path));
            }
        }
    }

    #[test]
    fn names_below_a_path_differ_and_lead_back() {
        for (path, entry) in all() {
            let (code, parent) = path.split_last().unwrap();
            assert_eq!(code_of(parent, &entry.name), Some(*code), "{}", dotted(path));
        }
    }

    #[test]
    fn rates_scale_and_bytes_do_not() {
        for (path, entry) in all().filter(|(path, _)| [24, 25, 70, 71].contains(&path[0])) {
            assert_eq!(entry.scaled, entry.unit == "b/s", "{}", dotted(path));
        }
    }
}
