//! Whole runs: conservation, the split of delay, determinism, cancellation.

use sojourn_base::{Bytes, Direction, PerDirection, Seed};
use sojourn_engine::run;
use sojourn_record::{
    Cause, ColumnRecorder, Datagram, Fate, LinkDrop, LinkPassage, NoRecords, RecordConfig,
    Recorder, Records, SegmentArrival, Table, TrafficId,
};
use sojourn_scenario::Scenario;

const MODEM: &str = r#"
schema = 1
name = "household"
duration = "20 s"

[access.upstream]
link = { kind = "docsis30-cascade", rate = "5 Mb/s", peak = "20 Mb/s", burst = "2 MB" }
queue = { kind = "codel", profile = "white2012" }

[access.downstream]
link = { kind = "shaped", rate = "20 Mb/s", peak = "50 Mb/s", burst = "20 MB" }
queue = { kind = "drop-tail", limit = "1 s" }

[[traffic]]
name = "bulk"
app = { kind = "bulk", lanes = 3, file = "500 kB" }
stack = "ns2-linux-cubic"
rtt = "20 ms"

[[traffic]]
name = "page"
app = { kind = "web", page = "white2012" }
stack = "ns2-bsd-sack"
rtt = ["20 ms", "30 ms", "50 ms", "100 ms"]

[[traffic]]
name = "call"
app = { kind = "voice" }
"#;

fn scenario(text: &str) -> Scenario {
    Scenario::parse(text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn records(scenario: &Scenario, seed: u64) -> Records {
    let names = scenario
        .traffic
        .iter()
        .map(|entry| entry.name.clone())
        .collect();
    let config = RecordConfig {
        objects: true,
        ..RecordConfig::default()
    };
    let recorder = ColumnRecorder::new(config, names);
    run(scenario, Seed(seed), recorder, &|| false)
        .expect("not cancelled")
        .recorder
        .into_records()
}

/// Counts packets on their way through the network, apart from the column recorder.
#[derive(Default)]
struct Census {
    sent: PerDirection<u64>,
    arrived: PerDirection<u64>,
    lost: PerDirection<u64>,
}

impl Recorder for Census {
    fn wants_delays(&self) -> bool {
        true
    }
    fn on_sent(&mut self, _: TrafficId, direction: Direction, _: Bytes) {
        self.sent[direction] += 1;
    }
    fn on_drop(&mut self, drop: &LinkDrop) {
        self.lost[drop.direction] += 1;
    }
    fn on_segment(&mut self, arrival: &SegmentArrival) {
        self.arrived[arrival.direction] += 1;
    }
    fn on_datagram(&mut self, datagram: &Datagram) {
        if let Fate::Arrived(at) = datagram.fate {
            self.arrived[datagram.direction] += 1;
            assert_eq!(
                datagram.split.total(),
                at.saturating_since(datagram.sent_at),
                "the parts of the delay sum to the whole"
            );
            assert_eq!(
                datagram.split.get(Cause::Sender).as_ps(),
                0,
                "datagrams do not wait"
            );
        }
    }
    fn on_passage(&mut self, _: Direction, passage: &LinkPassage) {
        assert!(passage.entered_at <= passage.dequeued_at, "causality");
        assert!(passage.dequeued_at <= passage.arrives_at, "causality");
    }
}

#[test]
fn every_packet_arrives_is_lost_or_is_still_on_its_way() {
    let outcome = run(&scenario(MODEM), Seed(3), Census::default(), &|| false).unwrap();
    let census = outcome.recorder;
    let count = |what: &PerDirection<u64>| what.upstream + what.downstream;
    assert_eq!(
        count(&census.sent),
        count(&census.arrived) + count(&census.lost) + outcome.statistics.in_flight as u64
    );
    assert!(
        census.sent.upstream > 5_000 && census.sent.downstream > 5_000,
        "the run did something"
    );
    assert!(census.lost.upstream > 0, "CoDel dropped something");
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_seed_does_not() {
    let scenario = scenario(&MODEM.replace(
        "file = \"500 kB\"",
        "file = \"500 kB\", start_jitter = \"1 s\"",
    ));
    let tables = |seed| records(&scenario, seed).tables();
    let (first, again, other) = (tables(1), tables(1), tables(2));
    assert_eq!(first, again);
    assert_ne!(first, other, "the seed moves the starts of the transfers");
}

#[test]
fn what_is_recorded_does_not_change_what_happens() {
    let scenario = scenario(MODEM);
    let silent = run(&scenario, Seed(1), NoRecords, &|| false)
        .unwrap()
        .statistics;
    let census = run(&scenario, Seed(1), Census::default(), &|| false)
        .unwrap()
        .statistics;
    assert_eq!(silent, census);
}

#[test]
fn a_cancelled_run_ends_without_a_result() {
    assert!(run(&scenario(MODEM), Seed(1), NoRecords, &|| true).is_err());
}

#[test]
fn tables_count_what_the_counters_count() {
    let records = records(&scenario(MODEM), 1);
    let tables = records.tables();
    let table = |name: &str| -> &Table {
        tables
            .iter()
            .find(|table| table.name == name)
            .expect("a recorded table")
    };
    let calls = records
        .traffic_names()
        .iter()
        .position(|name| name == "call")
        .unwrap();
    let sent = records
        .counters(TrafficId(u16::try_from(calls).unwrap()))
        .upstream
        .sent_packets;
    assert_eq!(sent, 1_000, "20 s of one packet each 20 ms");
    let rows = table("datagrams").rows() as u64;
    assert!(
        sent - rows <= 60,
        "all but those on their way have met their fate: {rows} of {sent}"
    );
    // 20 s in bins of 100 ms for two links.
    assert_eq!(table("series").rows(), 400);
    assert!(
        records.pages().iter().any(|page| page.objects == 101),
        "a page was loaded"
    );
}
