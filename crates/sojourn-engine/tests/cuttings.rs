//! However a run's time is cut into pieces, it gives the same bits.

use crate::golden::{SCENARIOS, read_example};
use proptest::prelude::*;
use sojourn_base::{Instant, Seed, Span};
use sojourn_engine::{Interrupt, Reached, Simulation, column_recorder, run};
use sojourn_record::{ColumnRecorder, Table};
use sojourn_scenario::Scenario;

fn example(name: &str, duration: Span) -> Scenario {
    let text = read_example(name);
    let mut scenario = Scenario::parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
    scenario.duration = duration;
    scenario
}

fn open(scenario: &Scenario) -> Simulation<ColumnRecorder> {
    let recorder = column_recorder(scenario, scenario.record);
    Simulation::open(scenario, Seed(1), recorder, &Interrupt::default()).expect("not interrupted")
}

fn tables(simulation: Simulation<ColumnRecorder>) -> Vec<Table> {
    simulation.finish().recorder.into_records().tables()
}

fn whole(scenario: &Scenario) -> Vec<Table> {
    let recorder = column_recorder(scenario, scenario.record);
    let outcome = run(scenario, Seed(1), recorder, &|| false).expect("not cancelled");
    outcome.recorder.into_records().tables()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]
    /// In time, and in steps, which may end within a packet's way; times in the past and beyond the end included.
    #[test]
    fn any_cutting_gives_the_records_of_the_whole_run(
        number in 0..SCENARIOS.len(),
        cuts in prop::collection::vec((0_u64..4_000_000, 1_u64..20_000), 1..40),
    ) {
        let scenario = example(SCENARIOS[number], Span::from_s(3));
        let mut simulation = open(&scenario);
        for (until_us, steps) in cuts {
            let (until, before) = (Instant::from_us(until_us), simulation.now());
            let reached = simulation.advance(until, steps);
            prop_assert!(simulation.now() >= before);
            match reached {
                Reached::Until => prop_assert_eq!(simulation.now(), until.max(before)),
                Reached::Steps => prop_assert!(simulation.now() < until),
                Reached::End => prop_assert_eq!(simulation.now(), simulation.end()),
            }
        }
        while simulation.advance(Instant::NEVER, 5000) != Reached::End {}
        prop_assert!(tables(simulation) == whole(&scenario), "{} differs", SCENARIOS[number]);
    }
}

/// As a page plays it: sixty pictures a second.
#[test]
fn a_run_that_is_played_in_pictures_is_the_run() {
    for name in SCENARIOS {
        let scenario = example(name, Span::from_s(5));
        let mut simulation = open(&scenario);
        let mut until = Instant::ZERO;
        while simulation.advance(until, u64::MAX / 4) != Reached::End {
            until = until.saturating_add(Span::from_us(16_667));
        }
        assert!(tables(simulation) == whole(&scenario), "{name}");
    }
}

#[test]
fn a_run_that_is_ended_early_ends_where_it_stands() {
    let mut scenario = example(SCENARIOS[0], Span::from_s(5));
    let mut simulation = open(&scenario);
    assert_eq!(simulation.advance(Instant::from_ms(2000), u64::MAX / 4), Reached::Until);
    scenario.duration = Span::from_s(2);
    assert!(tables(simulation) == whole(&scenario));
}

#[test]
fn after_the_end_nothing_happens() {
    let scenario = example(SCENARIOS[0], Span::from_s(1));
    let mut simulation = open(&scenario);
    assert_eq!(simulation.advance(Instant::NEVER, u64::MAX / 4), Reached::End);
    let steps = simulation.steps();
    assert!(steps > 1000);
    assert_eq!(simulation.advance(Instant::NEVER, 1), Reached::End);
    assert_eq!((simulation.steps(), simulation.now()), (steps, simulation.end()));
}
