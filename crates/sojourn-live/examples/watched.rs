//! Runs the first seconds of a scenario, watched or not; `tools/bench-page` counts its instructions.
//!
//! usage: `watched FILE SECONDS records|tap|page`: default records; these and the tap with all series; what a page keeps.
#![expect(clippy::print_stdout, reason = "a program whose output is a number")]

use sojourn_base::{Instant, Seed, Span};
use sojourn_engine::{Reached, column_recorder, run};
use sojourn_live::{Options, Session, Watch};
use sojourn_scenario::Scenario;
use std::process::ExitCode;

/// Pixels of a page's picture.
const PIXELS: u64 = 650;

/// Steps at a time, as in the worker of the page.
const STEPS: u64 = 50_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, seconds, mode] = arguments.as_slice() else {
        eprintln!("usage: watched FILE SECONDS records|tap|page");
        return ExitCode::from(2);
    };
    let text = std::fs::read_to_string(file).expect("a scenario file");
    let mut scenario = Scenario::parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
    scenario.duration = Span::from_s(seconds.parse().expect("a number of seconds"));
    let packet_hops = match mode.as_str() {
        "tap" => watched(scenario, Watch::Records, Span::ZERO),
        "page" => {
            let bin = Span::from_ns(scenario.duration.as_ns() / PIXELS);
            watched(scenario, Watch::Pictures, bin)
        }
        _ => {
            let recorder = column_recorder(&scenario, scenario.record);
            let outcome = run(&scenario, Seed(1), recorder, &|| false).expect("it is never cancelled");
            outcome.statistics.packet_hops
        }
    };
    println!("{packet_hops}");
    ExitCode::SUCCESS
}

/// Packet-hops of a run that is watched.
fn watched(scenario: Scenario, watch: Watch, least_bin: Span) -> u64 {
    let options = Options { seed: Seed(1), least_bin, watch };
    let mut session = Session::open(scenario, options);
    while session.advance(Instant::NEVER, STEPS) != Reached::End {}
    session.packet_hops().expect("it has ended")
}
