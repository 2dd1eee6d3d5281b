//! Changes of a scenario during a run.

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

/// `app` of every kind, with pauses of its own that are shorter than those of the test.
const RESTING: &[(&str, &str)] = &[
    ("bulk", ""),
    ("constant-rate", ", packet = \"200 B\", interval = \"20 ms\""),
    ("voice", ""),
    ("game", ""),
    ("online-game", ""),
    ("probe", ""),
    ("web", ", users = 5"),
    ("has", ", sessions = 3"),
    ("has-ll", ""),
    ("web-3gpp", ", users = 20"),
    ("pd", ", gap = \"5 s\", size = \"1 MB\", start_jitter = \"0 s\""),
    ("web-akhtar", ", users = 10"),
    ("cloud-game", ""),
    ("video-call", ""),
    ("adaptive-video", ""),
    ("capture", ", packets = \"0 1200; +20000000 1200\", repeat = true"),
];

/// Transfers that are under way at the pause end within twenty seconds on this line; then nothing is sent.
#[test]
fn every_kind_of_application_rests_while_it_is_paused_and_goes_on() {
    let mut wrong = String::new();
    let mut known: Vec<&str> = sojourn_apps::ApplicationConfig::kinds().iter().map(|kind| kind.info().name).collect();
    let mut listed: Vec<&str> = RESTING.iter().map(|(kind, _)| *kind).collect();
    known.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, known);
    for (kind, keys) in RESTING {
        let stacks = if needs_stack(kind) { "stack = \"linux-cubic\"\n" } else { "" };
        let text = format!(
            r#"
schema = 1
name = "rest"
duration = "100 s"
access.upstream = {{ link = {{ kind = "serial", rate = "20 Mb/s" }}, queue = {{ kind = "drop-tail", limit = "50 ms" }} }}
access.downstream = {{ link = {{ kind = "serial", rate = "20 Mb/s" }}, queue = {{ kind = "drop-tail", limit = "50 ms" }} }}
traffic = [{{ name = "it", app = {{ kind = "{kind}"{keys} }}, rtt = "20 ms"{} }}]
record.series = "1 s"
change = [{{ at = "30 s", set = {{ "traffic.it.paused" = true }} }}, {{ at = "70 s", set = {{ "traffic.it.paused" = false }} }}]
"#,
            stacks.trim_end().replace("stack", ", stack")
        );
        let scenario = Scenario::parse(&text).unwrap_or_else(|problems| panic!("{kind}: {problems}"));
        let tables = tables(&scenario);
        let series = table(&tables, "traffic_series");
        let mut sent = vec![0; 100];
        for (start, bytes) in numbers(series, "start_ns").into_iter().zip(numbers(series, "forwarded_bytes")) {
            sent[usize::try_from(start / 1_000_000_000).expect("small")] += bytes;
        }
        let [before, rest, after] = [&sent[5..30], &sent[50..70], &sent[70..]].map(|part| part.iter().sum::<u64>());
        if before == 0 || rest > 0 || after == 0 {
            let _ = writeln!(wrong, "{kind}: {before} B before, {rest} B in the pause, {after} B after: {sent:?}");
        }
    }
    assert_eq!(wrong, "");
}

fn needs_stack(kind: &str) -> bool {
    let kinds = sojourn_apps::ApplicationConfig::kinds();
    let kind = kinds.iter().find(|known| known.info().name == kind).expect("listed");
    kind.values(None).datagrams().is_none()
}

/// An endless upload keeps its connection, and its window after the pause is that of its idle restart.
#[test]
fn an_endless_upload_goes_on_over_its_connection_with_the_window_that_its_stack_leaves() {
    let window_after = |restart: &str| {
        let mut text = BASE.replace("60 s", "30 s").replace("linux-cubic", "LINUX");
        text = text.replace("\"LINUX\"", &format!("{{ kind = \"linux-cubic\", idle_restart = {restart} }}"));
        text.push_str("\n[record]\nseries = \"1 s\"\nconnections = \"100 ms\"\n");
        for (at, is) in [(12, true), (22, false)] {
            let _ = write!(text, "\n[[change]]\nat = \"{at} s\"\nset = {{ \"traffic.upload.paused\" = {is} }}\n");
        }
        let scenario = Scenario::parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
        let tables = tables(&scenario);
        let series = table(&tables, "connection_series");
        assert_eq!(numbers(series, "connection").into_iter().collect::<BTreeSet<_>>().len(), 1);
        let Some(ColumnData::F64(windows)) = series.column("window_segments") else { panic!("no column of windows") };
        let at = |wanted: u64| {
            let place = numbers(series, "at_ns").iter().position(|at| *at == wanted * 1_000_000).expect("a sample");
            windows[place]
        };
        (at(11_900), at(21_900), at(22_000))
    };
    let (before, idle, kept) = window_after("\"none\"");
    assert!(before > 20.0 && (idle - kept).abs() < 1e-9, "{before} {idle} {kept}");
    let (_, idle, cut) = window_after("{ kind = \"rfc5681\" }");
    assert!(idle > 20.0 && cut <= 10.0, "{idle} {cut}");
}
