//! Descriptions of the scenario file, made from the declaration of its keys: a JSON schema for
//! editors and other programs, and the reference page for people.
//!
//! Source: JSON Schema draft 7, which editors of TOML understand. Deviations: what a schema cannot
//! say (bounds of quantities, references between keys) only validation finds.

mod catalogue;
mod listing;
mod parameters;
mod reference;
mod schema;

use catalogue::Catalogue;

use crate::keys::scenario::Draft;

/// The JSON schema of the scenario file.
pub fn json_schema() -> String {
    schema::schema(&entries())
}

/// The reference page of the scenario file, as Markdown.
pub fn reference_page() -> String {
    reference::page(&entries())
}

/// Name, as `queue/codel`, and table of the parameters of each queue manager, link, congestion controller and application, as
/// Markdown.
pub fn parameter_tables() -> Vec<(String, String)> {
    parameters::tables()
}

/// One key of the scenario file, or one kind or profile of a table; texts for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyRow {
    /// Path of the key, such as `access.DIRECTION.queue.target`.
    pub path: String,
    /// The kinds of the table above that have it; empty if all do.
    pub kind: String,
    /// Type of a value; of a kind or profile, its spelling.
    pub value: String,
    /// The default, `required`, or nothing.
    pub default: String,
    /// Bounds.
    pub allowed: String,
    /// Meaning of the key.
    pub about: String,
    /// Origin of default and meaning.
    pub origin: String,
}

/// All keys, kinds and profiles in the order of the reference page.
pub fn key_rows() -> Vec<KeyRow> {
    listing::rows(&entries())
}

fn entries() -> Vec<catalogue::Entry> {
    let mut catalogue = Catalogue::default();
    Draft::default().keys(&mut catalogue, true);
    catalogue.entries
}

#[cfg(test)]
mod tests;
