//! A file as a list of lines, one for each TLV, as people read it.
//!
//! Source: none. Deviations: none.

use serde::Serialize;

use crate::file::{File, Tlv, Value};
use crate::text;
use crate::tlv;

/// A TLV in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Offset in the file.
    pub offset: usize,
    /// Path of types, such as `24.8`.
    pub path: String,
    /// Its name; empty if it has none.
    pub name: &'static str,
    /// Its value as in the text form; empty if it holds TLVs, which follow.
    pub value: String,
    /// The value with its unit, where that says more.
    pub meaning: String,
    /// Mark of the row's origin; empty if there is no row.
    pub mark: &'static str,
}

/// Lists all TLVs of a file.
pub fn list(file: &File) -> Vec<Line> {
    let mut lines = Vec::new();
    collect(&file.tlvs, &mut Vec::new(), &mut lines);
    lines
}

fn collect(tlvs: &[Tlv], path: &mut Vec<u8>, lines: &mut Vec<Line>) {
    for tlv in tlvs.iter().filter(|tlv| tlv.value != Value::Pad) {
        path.push(tlv.code);
        let entry = tlv::of(path);
        let is_list = !tlv.inside().is_empty();
        let (value, meaning) = if is_list { Default::default() } else { text::spelt(tlv, path, text::scale_of(tlvs)) };
        lines.push(Line {
            offset: tlv.offset,
            path: tlv::dotted(path),
            name: entry.map_or("", |entry| entry.name.as_str()),
            value,
            meaning,
            mark: entry.map_or("", |entry| entry.mark.as_str()),
        });
        collect(tlv.inside(), path, lines);
        path.pop();
    }
}
