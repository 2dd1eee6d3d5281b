//! What a scenario changes in the course of a run.

use sojourn_base::{Instant, Seed};
use sojourn_engine::{Interrupt, Reached, Simulation, column_recorder, run};
use sojourn_record::{ColumnData, Table};
use sojourn_scenario::Scenario;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// An upload from 5 s on and a call on a line of 10 Mb/s with a queue of 64 KB.
const BASE: &str = include_str!("../../../scenarios/lesson-buffer.toml");

fn scenario(changes: &[(u32, &str)]) -> Scenario {
    let mut text = BASE.replace("60 s", "30 s").replace("start_jitter = \"1 s\"", "start_jitter = \"1 us\"");
    text.push_str("\n[record]\nseries = \"1 s\"\nconnections = \"1 s\"\n");
    for (at, set) in changes {
        let _ = write!(text, "\n[[change]]\nat = \"{at} s\"\nset = {{ {set} }}\n");
    }
    Scenario::parse(&text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn tables(scenario: &Scenario) -> Vec<Table> {
    let recorder = column_recorder(scenario, scenario.record);
    let outcome = run(scenario, Seed(1), recorder, &|| false).expect("not cancelled");
    outcome.recorder.into_records().tables()
}

fn table<'a>(tables: &'a [Table], name: &str) -> &'a Table {
    tables.iter().find(|table| table.name == name).expect(name)
}

fn numbers(table: &Table, name: &str) -> Vec<u64> {
    match table.column(name) {
        Some(ColumnData::U64(values)) => values.clone(),
        Some(ColumnData::U32(values)) => values.iter().copied().map(u64::from).collect(),
        other => panic!("{name}: {other:?}"),
    }
}

fn words(table: &Table, name: &str) -> Vec<String> {
    match table.column(name) {
        Some(ColumnData::Words { codes, dictionary }) => {
            codes.iter().map(|code| dictionary[usize::try_from(*code).expect("a place")].clone()).collect()
        }
        other => panic!("{name}: {other:?}"),
    }
}

/// Values of `column` in each second, of the rows whose words are these.
fn per_second(table: &Table, column: &str, is: &[(&str, &str)]) -> Vec<u64> {
    let mut seconds = vec![0; 30];
    let keys: Vec<Vec<String>> = is.iter().map(|(name, _)| words(table, name)).collect();
    let rows = numbers(table, "start_ns").into_iter().zip(numbers(table, column));
    for (row, (start, value)) in rows.enumerate() {
        if keys.iter().zip(is).all(|(words, (_, word))| words[row] == *word) {
            seconds[usize::try_from(start / 1_000_000_000).expect("small")] += value;
        }
    }
    seconds
}

fn sent(tables: &[Table]) -> Vec<u64> {
    per_second(table(tables, "series"), "forwarded_bytes", &[("link", "upstream")])
}

const RATE: &str = "\"access.upstream.link.rate\" = \"5 Mb/s\"";

#[test]
fn a_line_carries_what_its_rate_of_the_time_carries() {
    let sent = sent(&tables(&scenario(&[(20, RATE)])));
    // 10 Mb/s are 1.25 MB a second, 5 Mb/s half of that; a packet more or less.
    for second in [15, 18, 19] {
        assert!(sent[second].abs_diff(1_250_000) <= 1500, "{sent:?}");
    }
    for second in [21, 25, 29] {
        assert!(sent[second].abs_diff(625_000) <= 1500, "{sent:?}");
    }
}

#[test]
fn what_was_before_a_change_is_what_would_have_been_without_it() {
    let (base, changed) = (sent(&tables(&scenario(&[]))), sent(&tables(&scenario(&[(20, RATE)]))));
    assert_eq!(base[..20], changed[..20]);
    assert_ne!(base[20..], changed[20..]);
}

#[test]
fn a_change_to_what_holds_already_changes_nothing() {
    let same = scenario(&[(12, "\"access.upstream.queue.limit\" = \"64 KB\", \"traffic.call.paused\" = false")]);
    assert!(tables(&same) == tables(&scenario(&[])));
}

#[test]
fn a_limit_in_time_follows_the_rate() {
    let longest = |limit: &str| {
        let mut base = scenario(&[(20, RATE)]);
        let text = base.canonical().replace("limit = \"64000 B\"", &format!("limit = \"{limit}\""));
        base = Scenario::parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
        let tables = tables(&base);
        let most = per_second(table(&tables, "series"), "backlog_packets_max", &[("link", "upstream")]);
        (most[..20].iter().max().copied(), most[28].to_owned())
    };
    // 51.2 ms at 10 Mb/s are 64,000 B, and half of that at 5 Mb/s: what waited may stay, arrivals are refused.
    let (bytes, time) = (longest("64 KB"), longest("51.2 ms"));
    assert_eq!(bytes.0, time.0);
    assert!(time.1 < bytes.1 * 2 / 3, "{bytes:?} {time:?}");
}

#[test]
fn more_lanes_begin_and_the_youngest_end() {
    let lanes = |count| format!("\"traffic.upload.app.lanes\" = {count}");
    let (four, one) = (lanes(4), lanes(1));
    let tables = tables(&scenario(&[(10, &four), (20, &one)]));
    let table = table(&tables, "connection_series");
    let mut open = vec![BTreeSet::new(); 31];
    for (at, connection) in numbers(table, "at_ns").into_iter().zip(numbers(table, "connection")) {
        open[usize::try_from(at / 1_000_000_000).expect("small")].insert(connection);
    }
    let counts: Vec<usize> = [8, 9, 12, 19, 22, 28].map(|second: usize| open[second].len()).to_vec();
    assert_eq!(counts, [1, 1, 4, 4, 1, 1], "{open:?}");
    assert_eq!(open[8], open[28], "the oldest stays");
}

#[test]
fn a_call_that_is_paused_sends_nothing_until_it_goes_on() {
    let pause = |is: bool| format!("\"traffic.call.paused\" = {is}");
    let (stop, go) = (pause(true), pause(false));
    let tables = tables(&scenario(&[(10, &stop), (15, &go)]));
    let is = [("link", "upstream"), ("traffic", "call")];
    let sent = per_second(table(&tables, "traffic_series"), "forwarded_packets", &is);
    // A packet each 20 ms.
    assert!(sent[8].abs_diff(50) <= 1 && sent[18].abs_diff(50) <= 1, "{sent:?}");
    assert!(sent[10] <= 2 && sent[11..15].iter().all(|packets| *packets == 0), "{sent:?}");
}

#[test]
fn files_in_a_row_wait_while_they_are_paused() {
    let mut text = BASE.replace("kind = \"bulk\"", "kind = \"bulk\", file = \"100 KB\"");
    text.push_str("\n[[change]]\nat = \"10 s\"\nset = { \"traffic.upload.paused\" = true }\n");
    let scenario = Scenario::parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let tables = tables(&scenario);
    let objects = table(&tables, "traffic_series");
    let is = [("link", "upstream"), ("traffic", "upload")];
    let mut sent = vec![0; 60];
    let names = is.map(|(name, _)| words(objects, name));
    let rows = numbers(objects, "start_ns").into_iter().zip(numbers(objects, "forwarded_bytes"));
    for (row, (start, bytes)) in rows.enumerate() {
        if names.iter().zip(is).all(|(words, (_, word))| words[row] == word) {
            sent[usize::try_from(start / 1_000_000_000).expect("small")] += bytes;
        }
    }
    assert!(sent[9] > 400_000, "{sent:?}");
    // The file that was under way, and no other.
    assert!(sent[10] < 150_000 && sent[12..].iter().all(|bytes| *bytes == 0), "{sent:?}");
}

#[test]
fn however_time_is_cut_changes_come_at_their_time() {
    let scenario = scenario(&[(10, "\"access.upstream.queue.limit\" = \"8 KB\""), (20, RATE)]);
    let recorder = column_recorder(&scenario, scenario.record);
    let mut simulation = Simulation::open(&scenario, Seed(1), recorder, &Interrupt::default()).expect("goes on");
    // The times of the changes are among the cuts.
    let mut until = Instant::ZERO;
    while simulation.advance(until, 7_919) != Reached::End {
        until = simulation.now().max(until).saturating_add(sojourn_base::Span::from_ms(250));
    }
    let cut = simulation.finish().recorder.into_records().tables();
    assert!(cut == tables(&scenario));
}
