//! A warm-up is not measured, and changes nothing else: the counts of a run are the sums of those before and after a
//! moment.

use sojourn_base::{Direction, Instant, Seed, Span};
use sojourn_engine::{Interrupt, Reached, Simulation, column_recorder, run};
use sojourn_record::{DelayHistogram, LinkId, Records, TrafficId};
use sojourn_scenario::Scenario;

const FROM: Span = Span::from_ms(3_700);

/// Long enough for loads that start at 5 s.
const DURATION: Span = Span::from_s(8);

/// Links and applications of all kinds that count by themselves.
const SCENARIOS: [&str; 3] = [
    include_str!("../../../scenarios/lld-gaming.toml"),
    include_str!("../../../scenarios/household-video.toml"),
    include_str!("../../../scenarios/white2012-c04.toml"),
];

fn records(text: &str, from: Span, duration: Span) -> Records {
    let scenario = Scenario {
        duration,
        measured_from: from,
        ..Scenario::parse(text).unwrap_or_else(|problems| panic!("{problems}"))
    };
    let recorder = column_recorder(&scenario, scenario.record);
    let outcome = run(&scenario, Seed(3), recorder, &|| false).expect("the run is never cancelled");
    outcome.recorder.into_records()
}

/// Returns all additive counts, with their names.
fn sums(records: &Records) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for (id, name) in (0..).map(TrafficId).zip(records.traffic_names()) {
        for direction in Direction::BOTH {
            let counters = &records.counters(id)[direction];
            for (what, value) in [
                ("sent", counters.sent_packets),
                ("forwarded", counters.forwarded_bytes),
                ("dropped", counters.dropped_queue),
                ("goodput", counters.goodput_bytes),
                ("marks", counters.marks_received),
                ("retransmissions", counters.retransmissions),
                ("timeouts", counters.timeouts),
                ("connect retries", counters.connect_retries),
                ("judged", records.protection(id)[direction].judged),
            ] {
                found.push((format!("{name} {} {what}", direction.as_str()), value));
            }
            let delays = records.access_delay(id, direction);
            let packets = delays.map_or(0, DelayHistogram::packets);
            found.push((format!("{name} {} delays", direction.as_str()), packets));
        }
        let fates = records.datagram_tallies(id);
        let fates = fates.map(|(_, _, tally)| tally.sent()).sum();
        found.push((format!("{name} datagrams"), fates));
    }
    for (id, link) in (0..).map(LinkId).zip(records.links()) {
        let name = &link.1.name;
        let totals = records.link_totals(id);
        found.push((format!("{name} bytes"), totals.forwarded_bytes().0));
        found.push((format!("{name} drops"), totals.dropped_packets));
        if let Some(mac) = records.mac(id) {
            found.push((format!("{name} requested"), mac.requested.0));
            found.push((format!("{name} granted"), mac.granted.0));
            found.push((format!("{name} unused"), mac.unused.0));
        }
    }
    let signals = records.signals().map(|(_, count)| count.packets).sum();
    found.push(("signals".to_owned(), signals));
    found
}

#[test]
fn what_is_counted_after_a_moment_and_before_it_is_the_whole() {
    for text in SCENARIOS {
        let before = sums(&records(text, Span::ZERO, FROM));
        let after = sums(&records(text, FROM, DURATION));
        let whole = sums(&records(text, Span::ZERO, DURATION));
        assert!(before.iter().any(|(_, value)| *value > 0));
        assert_eq!(before.len(), whole.len());
        for (((what, before), (_, after)), (_, whole)) in before.iter().zip(&after).zip(&whole) {
            assert_eq!(before + after, *whole, "{what}");
        }
    }
}

#[test]
fn rows_are_those_of_the_run_without_a_warm_up() {
    for text in SCENARIOS {
        let [all, some] = [Span::ZERO, FROM].map(|from| records(text, from, DURATION));
        let rows = |records: &Records| format!("{:?}", records.datagrams());
        assert_eq!(rows(&all), rows(&some));
        assert_eq!(all.transfers().len(), some.transfers().len());
        assert_eq!(all.pages().len(), some.pages().len());
    }
}

#[test]
fn the_length_of_a_queue_is_weighted_over_the_measured_time() {
    let text = SCENARIOS[2];
    let occupied = |records: &Records| {
        let tables = records.tables();
        let table = tables.iter().find(|table| table.name == "occupancy");
        let column = table.and_then(|table| table.column("time_ns"));
        match column {
            Some(sojourn_record::ColumnData::U64(times)) => times.iter().sum::<u64>(),
            other => panic!("no times: {other:?}"),
        }
    };
    let both_links = 2 * DURATION.saturating_sub(FROM).as_ns();
    assert_eq!(occupied(&records(text, FROM, DURATION)), both_links);
}

#[test]
fn a_run_in_pieces_ends_its_warm_up_at_the_same_moment() {
    for text in SCENARIOS {
        let scenario = Scenario {
            duration: DURATION,
            measured_from: FROM,
            ..Scenario::parse(text).unwrap_or_else(|problems| panic!("{problems}"))
        };
        let recorder = column_recorder(&scenario, scenario.record);
        let mut pieces = Simulation::open(&scenario, Seed(3), recorder, &Interrupt::default()).expect("not cancelled");
        for until in [1_000, 3_699, 3_700, 3_701, 60_000].map(Instant::from_ms) {
            while pieces.advance(until, 10_000) == Reached::Steps {}
        }
        let pieces = pieces.finish().recorder.into_records();
        assert_eq!(sums(&pieces), sums(&records(text, FROM, DURATION)));
    }
}
