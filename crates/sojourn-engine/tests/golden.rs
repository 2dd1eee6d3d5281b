//! Same input, same bits: hashes of all record tables of small worlds.
//!
//! A hash that moves means that results move. If that is meant, run
//! `ACCEPT=1 cargo test -p sojourn-engine --test golden` and say in CHANGELOG.md, under "Changed
//! results", what moved and why.

use sojourn_base::{Seed, Span};
use sojourn_engine::run;
use sojourn_record::{ColumnData, ColumnRecorder, Table};
use sojourn_scenario::Scenario;
use std::fmt::Write as _;
use std::path::Path;

/// The examples of the repository, shortened to what a debug build runs in a moment.
const SCENARIOS: [&str; 5] = [
    "dumbbell-codel",
    "white2012-c04",
    "white2012-d02-bufferbloat",
    "home-docsis-back-pressure",
    "docsis-borderline-congestion",
];

fn tables(text: &str) -> Vec<Table> {
    let mut scenario = Scenario::parse(text).unwrap_or_else(|problems| panic!("{problems}"));
    scenario.duration = Span::from_s(20);
    let names = scenario
        .traffic
        .iter()
        .map(|entry| entry.name.clone())
        .collect();
    let recorder = ColumnRecorder::new(scenario.record, names);
    let outcome = run(&scenario, Seed(1), recorder, &|| false).expect("not cancelled");
    outcome.recorder.into_records().tables()
}

fn bytes_of<T, const N: usize>(values: &[T], bytes: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(bytes).collect()
}

fn hash(tables: &[Table]) -> String {
    let mut hasher = blake3::Hasher::new();
    for table in tables {
        hasher.update(table.name.as_bytes());
        for column in &table.columns {
            hasher.update(column.name.as_bytes());
            let mut put = |bytes: &[u8]| {
                hasher.update(bytes);
            };
            match &column.data {
                ColumnData::U32(values) => put(&bytes_of(values, |v| v.to_le_bytes())),
                ColumnData::U64(values) => put(&bytes_of(values, |v| v.to_le_bytes())),
                ColumnData::F64(values) => put(&bytes_of(values, |v| v.to_le_bytes())),
                ColumnData::OptionalU64 { values, valid } => {
                    put(&bytes_of(values, |v| v.to_le_bytes()));
                    put(&bytes_of(valid, |v| [u8::from(*v)]));
                }
                ColumnData::OptionalF64 { values, valid } => {
                    put(&bytes_of(values, |v| v.to_le_bytes()));
                    put(&bytes_of(valid, |v| [u8::from(*v)]));
                }
                ColumnData::Words { codes, dictionary } => {
                    put(&bytes_of(codes, |v| v.to_le_bytes()));
                    put(dictionary.concat().as_bytes());
                }
            }
        }
    }
    hasher.finalize().to_hex().to_string()
}

#[test]
fn results_have_not_moved() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = String::new();
    for name in SCENARIOS {
        let file = root.join(format!("../../scenarios/{name}.toml"));
        let text = std::fs::read_to_string(&file).expect("the example exists");
        let tables = tables(&text);
        let rows: usize = tables.iter().map(Table::rows).sum();
        assert!(rows > 500, "{name} recorded {rows} rows: that is no run");
        writeln!(found, "{} {name}", hash(&tables)).expect("a string takes everything");
    }
    let golden = root.join("tests/golden/hashes.txt");
    if std::env::var_os("ACCEPT").is_some() {
        std::fs::write(&golden, &found).expect("the folder of this test is writable");
    }
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    assert_eq!(found, expected, "results moved: see the head of this test");
}
