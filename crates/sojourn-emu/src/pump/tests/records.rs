//! Records of an emulation.

use super::{datagram, emulation, plan, run};
use crate::Plan;
use sojourn_base::{Direction, Instant, Seed};
use sojourn_queue::DropTailConfig;
use sojourn_record::{ColumnData, Records, Table};

#[test]
fn packets_are_recorded_as_of_the_entry_whose_they_are() {
    let voice = datagram(Direction::Upstream, 200, 5004, 0);
    let other = datagram(Direction::Downstream, 300, 7, 0);
    let units = [
        (Instant::from_ms(1), Direction::Upstream, voice.clone()),
        (Instant::from_ms(2), Direction::Downstream, other),
        (Instant::from_ms(3), Direction::Upstream, voice),
    ];
    let (script, mut pump) = emulation(&plan(DropTailConfig::bytes(100_000)), units);
    run(&script, &mut pump);
    let finished = pump.finish();
    let records = finished.records;
    assert_eq!(records.traffic_names(), ["voice", "tcp", "udp", "other"]);
    let rows: Vec<_> = records
        .datagrams()
        .iter()
        .map(|row| (row.traffic.0, row.flow, row.sequence, row.direction, row.length.0))
        .collect();
    let (up, down) = (Direction::Upstream, Direction::Downstream);
    assert_eq!(rows, [(0, 0, 0, up, 200), (2, 0, 0, down, 300), (0, 0, 1, up, 200)]);
    // The parts of the delay sum to the whole.
    for row in records.datagrams() {
        let sojourn_record::Fate::Arrived(at) = row.fate else { panic!("{row:?}") };
        assert_eq!(row.split.total(), at.saturating_since(row.sent_at));
    }
    let names: Vec<&str> = finished.tables.iter().map(|table| table.name).collect();
    assert_eq!(names, ["emulation", "emulation_lateness"]);
    // A row for each second, and one bin for each direction: nothing was late.
    assert_eq!(finished.tables[0].columns[0].data.len(), 3);
    assert_eq!(finished.tables[1].columns[0].data.len(), 2);
    assert_eq!(finished.summary.grade, crate::Grade::Good);
    assert_eq!(finished.summary.lateness.upstream.packets, 2);
}

/// Words as they are spelled: the dictionary of an emulation has more entries.
fn spelled(data: &ColumnData) -> Vec<String> {
    match data {
        ColumnData::Words { codes, dictionary } => {
            let word = |code: &i32| Some(dictionary.get(usize::try_from(*code).ok()?)?.clone());
            codes.iter().map(|code| word(code).unwrap_or_default()).collect()
        }
        other => vec![format!("{other:?}")],
    }
}

/// The same datagrams over the same link, in a simulation and in an emulation, give the same tables.
#[test]
fn records_are_those_of_a_simulation() {
    let text = r#"
schema = 1
name = "both"
duration = "4 s"
[emulate]
rtt = "20 ms"
[access.upstream]
link = { kind = "docsis30-single", rate = "5 Mb/s" }
queue = { kind = "docsis-pie", limit = "60000 B" }
[access.downstream]
link = { kind = "serial", rate = "10 Mb/s", delay = "1 ms" }
queue = { kind = "codel", ecn = true }
[[traffic]]
name = "up"
app = { kind = "constant-rate", direction = "upstream", packet = "1200 B", interval = "1600 us" }
match = { port = 1 }
rtt = "20 ms"
[[traffic]]
name = "down"
app = { kind = "constant-rate", direction = "downstream", packet = "900 B", interval = "600 us" }
match = { port = 2 }
rtt = "20 ms"
"#;
    let mut scenario = sojourn_scenario::Scenario::parse(text).unwrap_or_else(|it| panic!("{it}"));
    let simulate = |scenario: &sojourn_scenario::Scenario| {
        let recorder = sojourn_engine::column_recorder(scenario, scenario.record);
        let outcome = sojourn_engine::run(scenario, Seed(1), recorder, &|| false);
        outcome.unwrap().recorder.into_records()
    };
    let simulated = simulate(&scenario);
    let mut units: Vec<_> = simulated
        .datagrams()
        .iter()
        .map(|row| {
            let length = u16::try_from(row.length.0).unwrap();
            let unit = datagram(row.direction, length, row.traffic.0 + 1, 0);
            (row.sent_at, row.direction, unit)
        })
        .collect();
    units.sort_by_key(|(at, ..)| *at);
    assert!(units.len() > 2000);
    let (plan, _) = Plan::of(&scenario, &crate::Options::default()).unwrap();
    let (script, mut pump) = emulation(&plan, units);
    run(&script, &mut pump);
    let emulated = pump.finish();
    scenario.duration = emulated.summary.duration;
    let simulated = simulate(&scenario);
    assert_eq!(emulated.summary.hidden_losses, 0);
    let dropped = |records: &Records| records.signals().map(|(_, count)| count.packets).sum::<u64>();
    assert!(dropped(&simulated) > 50, "{}", dropped(&simulated));
    let (simulated, emulated) = (simulated.tables(), emulated.records.tables());
    let names = |tables: &[Table]| tables.iter().map(|it| it.name).collect::<Vec<_>>();
    assert_eq!(names(&emulated), names(&simulated));
    for (emulated, simulated) in emulated.iter().zip(&simulated) {
        // Entries for what matches no other have rows of nothing in an emulation.
        if ["traffic", "delays", "delay_histogram"].contains(&simulated.name) {
            continue;
        }
        for (ours, theirs) in emulated.columns.iter().zip(&simulated.columns) {
            let same = spelled(&ours.data) == spelled(&theirs.data);
            assert!(same, "{}.{}", simulated.name, ours.name);
        }
    }
}
