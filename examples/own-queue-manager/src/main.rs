//! Runs a scenario file that may ask for a queue manager of our own.

mod drop_fiftieth;

use drop_fiftieth::DropFiftiethConfig;
use sojourn_engine::run;
use sojourn_record::ColumnRecorder;
use sojourn_scenario::Scenario;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    sojourn_queue::add_manager::<DropFiftiethConfig>()?;
    let path = std::env::args().nth(1).ok_or("usage: own-queue-manager SCENARIO.toml")?;
    let scenario = Scenario::parse(&std::fs::read_to_string(path)?)?;
    let names = scenario.traffic.iter().map(|entry| entry.name.clone());
    let recorder = ColumnRecorder::new(scenario.record, names.collect());
    let outcome = run(&scenario, scenario.seed, recorder, &|| false)?;
    println!("packet-hops: {}", outcome.statistics.packet_hops);
    for table in outcome.recorder.into_records().tables() {
        println!("{}: {} rows", table.name, table.rows());
    }
    Ok(())
}
