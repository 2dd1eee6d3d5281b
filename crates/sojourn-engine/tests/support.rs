//! Shared parts of tests of whole runs.

use sojourn_base::Seed;
use sojourn_engine::{column_recorder, run};
use sojourn_record::{ColumnData, RecordConfig, Records, Table};
use sojourn_scenario::Scenario;

/// A scenario from its text, which has no mistakes.
pub(crate) fn scenario(text: &str) -> Scenario {
    Scenario::parse(text).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Returns the records of a run, with objects of pages and flows.
pub(crate) fn records(scenario: &Scenario, seed: u64) -> Records {
    let config = RecordConfig { objects: true, flows: true, ..RecordConfig::BASE };
    let recorder = column_recorder(scenario, config);
    run(scenario, Seed(seed), recorder, &|| false).expect("not cancelled").recorder.into_records()
}

/// Values of a column, as far as they are there.
pub(crate) fn optional(table: &Table, name: &str) -> Vec<Option<u64>> {
    let Some(ColumnData::OptionalU64 { values, valid }) = table.column(name) else {
        panic!("{name} is a column of optional numbers");
    };
    std::iter::zip(values, valid).map(|(value, valid)| valid.then_some(*value)).collect()
}

/// Records of a run of seed 1, and its table of flows.
pub(crate) fn flow_table(text: &str) -> (Records, Table) {
    let records = records(&scenario(text), 1);
    let mut tables = records.tables();
    let place = tables.iter().position(|table| table.name == "flows").expect("a recorded table");
    let table = tables.swap_remove(place);
    (records, table)
}
