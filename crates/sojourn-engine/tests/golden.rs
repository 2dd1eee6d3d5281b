//! Same input, same bits: hashes of all columns of the record tables of small worlds.
//!
//! A line is a hash, the number of rows, the scenario and the column. A new column is a new line. A
//! line that changes or goes means that results move. If that is meant, run
//! `ACCEPT=1 cargo test -p sojourn-engine --test main golden` and say in CHANGELOG.md, under "Changed
//! results", what moved and why.

#[path = "../../sojourn-web/src/digest.rs"]
mod digest;

use digest::hash_column;
use sojourn_base::{Seed, Span};
use sojourn_engine::{column_recorder, run};
use sojourn_record::Table;
use sojourn_scenario::Scenario;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// The examples of the repository, shortened to what a debug build runs in a moment.
pub(crate) const SCENARIOS: [&str; 7] = [
    "dumbbell-codel",
    "white2012-c04",
    "white2012-d02-bufferbloat",
    "home-docsis-back-pressure",
    "docsis-borderline-congestion",
    "lld-home",
    "l4s-and-bbr",
];

/// Studies whose base stands beside the examples, because only it has pages by statistics and progressive downloads.
const STUDIES: [&str; 1] = ["akhtar2013"];

/// Rows that a study, which runs for hours, does not record.
const MORE: [(&str, &str); 2] = [("record.objects", "true"), ("record.series", "100 ms")];

/// The text of an example of the repository.
pub(crate) fn read_example(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.toml"));
    std::fs::read_to_string(&file).expect("the example exists")
}

fn tables(text: &str, settings: &[(&str, &str)]) -> Vec<Table> {
    let mut scenario = Scenario::parse_with(text, settings).unwrap_or_else(|problems| panic!("{problems}"));
    scenario.duration = Span::from_s(20);
    let recorder = column_recorder(&scenario, scenario.record);
    let outcome = run(&scenario, Seed(1), recorder, &|| false).expect("not cancelled");
    outcome.recorder.into_records().tables()
}

/// One line per table and column of a run.
fn lines(scenario: &str, tables: &[Table], found: &mut String) {
    for table in tables {
        for column in &table.columns {
            let (hash, rows) = (hash_column(&column.data), column.data.len());
            let (table, column) = (table.name, column.name);
            writeln!(found, "{hash} {rows:5} {scenario} {table}.{column}").expect("a string takes everything");
        }
    }
}

/// The lines of `these` that `those` have not.
fn missing<'a>(these: &'a str, those: &str) -> Vec<&'a str> {
    let those: BTreeSet<&str> = those.lines().collect();
    these.lines().filter(|line| !those.contains(line)).collect()
}

#[test]
fn results_have_not_moved() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = String::new();
    let examples = SCENARIOS.map(|name| (name, format!("scenarios/{name}.toml"), &[][..]));
    let studies = STUDIES.map(|name| {
        let file = format!("python/sojourn/published/{name}/scenarios/base.toml");
        (name, file, &MORE[..])
    });
    for (name, file, settings) in examples.into_iter().chain(studies) {
        let file = root.join("../..").join(file);
        let text = std::fs::read_to_string(&file).expect("the example exists");
        let tables = tables(&text, settings);
        let rows: usize = tables.iter().map(Table::rows).sum();
        assert!(rows > 500, "{name} recorded {rows} rows: that is no run");
        lines(name, &tables, &mut found);
    }
    let golden = root.join("tests/golden/columns.txt");
    if std::env::var_os("ACCEPT").is_some() {
        std::fs::write(&golden, &found).expect("the folder of this test is writable");
    }
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    let (gone, new) = (missing(&expected, &found), missing(&found, &expected));
    assert!(
        gone.is_empty() && new.is_empty(),
        "results moved: see the head of this test\nexpected and not found:\n{}\nfound and not expected:\n{}",
        gone.join("\n"),
        new.join("\n")
    );
}
