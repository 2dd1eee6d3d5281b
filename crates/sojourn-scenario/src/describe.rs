//! Descriptions of the scenario file, made from the declaration of its keys: a JSON schema for
//! editors and other programs, and the reference page for people.
//!
//! Source: JSON Schema draft 7, which editors of TOML understand. Deviations: what a schema cannot
//! say (bounds of quantities, references between keys) only validation finds.

mod catalogue;
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

fn entries() -> Vec<catalogue::Entry> {
    let mut catalogue = Catalogue::default();
    Draft::default().keys(&mut catalogue, true);
    catalogue.entries
}

#[cfg(test)]
mod tests;
