//! A session shows the same values as the records of its run.

use proptest::prelude::*;
use sojourn_base::{Direction, Instant, Seed, Span};
use sojourn_engine::{Reached, column_recorder, run};
use sojourn_live::frame::Frame;
use sojourn_live::packets::Packets;
use sojourn_live::{Options, Session, Subject, Watch};
use sojourn_record::{ColumnData, Table};
use sojourn_scenario::Scenario;
use std::path::Path;

const ALL: u64 = u64::MAX / 4;

fn example(name: &str, duration: Span) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.toml"));
    let text = std::fs::read_to_string(&file).expect("the example exists");
    let mut scenario = Scenario::parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
    scenario.duration = duration;
    scenario
}

fn open(scenario: &Scenario, watch: Watch) -> Session {
    let options = Options { seed: Seed(1), least_bin: Span::ZERO, watch };
    Session::open(scenario.clone(), options)
}

fn column<'a>(tables: &'a [Table], table: &str, column: &str) -> &'a ColumnData {
    let table = tables.iter().find(|known| known.name == table).expect("recorded");
    &table.columns.iter().find(|known| known.name == column).expect("declared").data
}

fn numbers(data: &ColumnData) -> Vec<f64> {
    match data {
        ColumnData::U32(values) => values.iter().map(|value| f64::from(*value)).collect(),
        ColumnData::U64(values) => values.iter().map(|value| *value as f64).collect(),
        ColumnData::F64(values) | ColumnData::OptionalF64 { values, .. } => values.clone(),
        ColumnData::OptionalU64 { values, .. } => values.iter().map(|value| *value as f64).collect(),
        ColumnData::Words { .. } => panic!("words are no numbers"),
    }
}

fn words(data: &ColumnData) -> Vec<String> {
    let ColumnData::Words { codes, dictionary } = data else { panic!("no words") };
    codes.iter().map(|code| dictionary[usize::try_from(*code).expect("none is missing")].clone()).collect()
}

/// Sum, or for `most` the largest, of a column of the series of a link in bins of 100 ms.
fn binned(session: &Session, kind: &str, link: &str, name: &str, most: bool) -> Vec<f64> {
    let tap = session.tap().expect("opened");
    let is_it = |subject: &Subject| matches!(subject, Subject::Link(name) if name == link);
    let series = tap.series().iter().find(|series| series.kind == kind && is_it(&series.subject));
    let series = series.expect("each link has one");
    let place = series.columns().iter().position(|column| column.name == name).expect("declared");
    let per_bin = usize::try_from(100_000_000 / series.width_ns(0)).expect("few");
    let cells: Vec<f64> = (0..series.rows(0)).map(|row| f64::from(series.row(0, row)[place])).collect();
    let fold = |cells: &[f64]| {
        let known = cells.iter().copied().filter(|cell| !cell.is_nan());
        if most { known.fold(0.0, f64::max) } else { known.sum() }
    };
    cells.chunks(per_bin).map(fold).collect()
}

#[test]
fn series_have_the_bytes_drops_marks_and_delays_of_the_tables() {
    for name in ["lesson-buffer", "l4s-and-bbr", "lld-home", "home-docsis-back-pressure"] {
        let scenario = example(name, Span::from_s(8));
        let mut session = open(&scenario, Watch::Records);
        while session.advance(Instant::NEVER, 50_000) != Reached::End {}
        let recorder = column_recorder(&scenario, scenario.record);
        let outcome = run(&scenario, Seed(1), recorder, &|| false).expect("not cancelled");
        let tables = outcome.recorder.into_records().tables();
        let links = words(column(&tables, "series", "link"));
        for link in ["upstream", "downstream"] {
            for (kind, series, table, most) in [
                ("passages", "bytes", "forwarded_bytes", false),
                ("passages", "packets", "forwarded_packets", false),
                ("passages", "sojourn_most_ms", "sojourn_max_ns", true),
                ("signals", "drops", "dropped_packets", false),
                ("signals", "marks", "marked_packets", false),
            ] {
                let expected = numbers(column(&tables, "series", table));
                let expected: Vec<f64> = expected
                    .iter()
                    .zip(&links)
                    .filter(|(_, known)| *known == link)
                    .map(|(value, _)| if most { *value / 1e6 } else { *value })
                    .collect();
                let found = binned(&session, kind, link, series, most);
                assert_eq!(found.len(), expected.len(), "{name} {link} {table}");
                for (bin, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    // Tables have whole nanoseconds.
                    let near = (found - expected).abs() <= 1e-5 * expected.abs() + 1e-6;
                    assert!(near, "{name} {link} {table} {bin}: {found}, not {expected}");
                }
            }
        }
        // Causes: sums over the run.
        let of = |name| words(column(&tables, "delays", name));
        let (subjects, directions, causes) = (of("traffic"), of("direction"), of("cause"));
        let totals = numbers(column(&tables, "delays", "total_ns"));
        let tap = session.tap().expect("opened");
        let mut compared = 0;
        for (row, expected) in totals.iter().enumerate() {
            let (subject, cause) = (&subjects[row], &causes[row]);
            let kind = if directions[row] == "upstream" { "causes_up" } else { "causes_down" };
            let is_it = |known: &Subject| matches!(known, Subject::Traffic(name) if name == subject);
            let series = tap.series().iter();
            let series = series.filter(|known| known.kind == kind && is_it(&known.subject));
            let mut sum = 0.0;
            for series in series {
                let mut columns = series.columns().iter();
                let place = columns.position(|column| column.name == cause).expect("a column each");
                sum += (0..series.rows(0)).map(|row| f64::from(series.row(0, row)[place])).sum::<f64>();
            }
            let mut expected = expected / 1e6;
            // Pictures of datagrams end with the line; tables go on to the server, on a wire that only propagates (and has 1 Gb/s).
            let far = beyond(&scenario, subject).filter(|_| cause == "wire");
            if let Some(far) = far {
                let all = tap.series().iter().filter(|known| known.kind == kind && is_it(&known.subject));
                let packets = all.flat_map(|series| {
                    let place = series.columns().iter().position(|column| column.name == "packets").expect("declared");
                    (0..series.rows(0)).map(move |row| f64::from(series.row(0, row)[place]))
                });
                expected -= packets.sum::<f64>() * far.as_ms_f64();
            }
            let near = (sum - expected).abs() <= 1e-4 * expected + 1e-6 + if far.is_some() { 0.01 } else { 0.0 };
            assert!(near, "{name} {subject} {cause}: {sum}, not {expected}");
            compared += usize::from(expected > 0.0);
        }
        assert!(compared > 0, "{name}");
        let records = session.tables().expect("it has ended");
        assert!(records == tables, "{name}: a tap changes no records");
    }
}

/// Returns the one-way delay between the line and the only server of an entry of datagrams.
fn beyond(scenario: &Scenario, subject: &str) -> Option<Span> {
    let topology = scenario.topology();
    let placed = topology.traffic.iter().find(|placed| placed.subject == *subject)?;
    placed.entry.application.datagrams()?;
    let [server] = placed.entry.servers.as_slice() else { return None };
    Some(server.rtt.saturating_sub(topology.propagation(placed)) / 2)
}

#[test]
fn pictures_and_single_packets_have_the_delay_of_the_metrics() {
    let mut compared = 0;
    for (name, traffic) in [("lesson-buffer", "call"), ("lld-home", "game"), ("home-docsis-game", "game")] {
        let mut scenario = example(name, Span::from_s(8));
        scenario.measured_from = Span::ZERO;
        let mut session = open(&scenario, Watch::Pictures);
        session.advance(Instant::NEVER, ALL);
        let tap = session.tap().expect("opened");
        let mut shown = Vec::new();
        for (number, flow) in tap.packets().iter().enumerate() {
            if tap.entry(flow.traffic).name != traffic {
                continue;
            }
            let frame = session.packets(number, 0).expect("a flow");
            let rows = frame.rows as usize;
            let delays: Vec<f32> =
                frame.values[rows..2 * rows].iter().copied().filter(|delay| delay.is_finite()).collect();
            let (kind, prefix) = match flow.direction {
                Direction::Upstream => ("causes_up", "delay_up"),
                Direction::Downstream => ("causes_down", "delay_down"),
            };
            let is_it = |known: &Subject| matches!(known, Subject::Traffic(name) if name == traffic);
            let series = tap.series().iter().find(|known| known.kind == kind && is_it(&known.subject)).expect("drawn");
            let causes = series.columns().len() - 1;
            let rows = (0..series.rows(0)).map(|row| series.row(0, row));
            let (sum, packets) = rows.fold((0.0, 0.0), |(sum, packets), row| {
                (sum + row[..causes].iter().map(|part| f64::from(*part)).sum::<f64>(), packets + f64::from(row[causes]))
            });
            let most = delays.iter().copied().fold(0.0, f32::max);
            shown.push((prefix, f64::from(most), sum / packets));
        }
        let metrics = session.metrics().expect("it has ended");
        let metric = |name: &str| metrics.iter().find(|row| row.0 == traffic && row.1 == name).expect("measured").2;
        for (prefix, most, mean) in shown {
            // A histogram knows the longest to 1 %; packets that are still under way have left the line or not.
            for (name, shown) in [("max", most), ("mean", mean)] {
                let expected = metric(&format!("{prefix}_{name}"));
                let near = (shown - expected).abs() <= 0.012 * expected + 0.02;
                assert!(near, "{name} of {traffic}, {prefix}: {shown}, not {expected}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 8, "{compared}");
}

#[test]
fn no_second_receives_more_than_the_line_carries() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/lesson-buffer.toml"));
    // The buffer overflows, and a loss holds back for seconds what has arrived.
    let settings = [("access.upstream.queue.limit", "1 MB"), ("traffic.upload.stack", "linux-reno")];
    let scenario = Scenario::parse_with(&text.expect("it exists"), &settings).expect("valid");
    let mut session = open(&scenario, Watch::Pictures);
    session.advance(Instant::NEVER, ALL);
    let tap = session.tap().expect("opened");
    let is_upload = |known: &Subject| matches!(known, Subject::Traffic(name) if name == "upload");
    let series = tap.series().iter().find(|known| known.kind == "received_up" && is_upload(&known.subject));
    let series = series.expect("drawn");
    let bins = usize::try_from(1_000_000_000 / series.width_ns(0)).expect("few");
    let cells: Vec<f64> = (0..series.rows(0)).map(|row| f64::from(series.row(0, row)[0])).collect();
    let most = cells.windows(bins).map(|second| second.iter().sum::<f64>()).fold(0.0, f64::max) * 8.0;
    assert!(most <= 10e6 && most > 9e6, "{most}");
}

#[test]
fn without_records_the_metrics_that_are_shown_are_the_same() {
    let scenario = example("lesson-buffer", Span::from_s(20));
    let [all, few] = [Watch::Records, Watch::Pictures].map(|watch| {
        let mut session = open(&scenario, watch);
        assert_eq!(session.advance(Instant::NEVER, ALL), Reached::End);
        session.metrics().expect("it has ended")
    });
    let shown = ["mos", "loss_total", "goodput", "delay_up_p50", "delay_up_p99", "utilisation"];
    let mut compared = 0;
    for row in all.iter().filter(|row| shown.contains(&row.1)) {
        assert!(few.contains(row), "{row:?}");
        compared += 1;
    }
    assert!(compared >= 6, "{compared}");
}

fn pictures(session: &mut Session) -> Vec<Vec<u8>> {
    let (from, until) = (Instant::ZERO, session.end());
    let series = session.look().expect("opened").series().len();
    let views = (0..series).filter_map(|series| session.view(series, (from, until), 500));
    let frames: Vec<Frame> = views.chain(session.ticks(0)).chain(session.packets(0, 0)).collect();
    let bytes = |frame: Frame| {
        let mut bytes = Vec::new();
        frame.write(&mut bytes);
        bytes
    };
    frames.into_iter().map(bytes).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn looking_often_shows_the_same_as_looking_once(
        cuts in prop::collection::vec((0_u64..4_000_000, 1_u64..20_000), 1..20),
        number in 0_usize..3,
    ) {
        looks_often(["lesson-buffer", "lld-home", "dumbbell-codel"][number], &cuts);
    }
}

#[test]
fn a_look_within_a_bin_leaves_the_bin_as_it_is() {
    looks_often("lld-home", &[(221_318, 1_175), (3_448_073, 8_093)]);
}

/// Runs a scenario at once, and by cuts (until us, steps) with a look after each; both show the same.
fn looks_often(name: &str, cuts: &[(u64, u64)]) {
    let scenario = example(name, Span::from_s(3));
    let mut once = open(&scenario, Watch::Pictures);
    once.advance(Instant::NEVER, ALL);
    let mut often = open(&scenario, Watch::Pictures);
    for (until, steps) in cuts {
        often.advance(Instant::from_us(*until), *steps);
        assert!(often.now() <= often.end());
        pictures(&mut often);
    }
    often.advance(Instant::NEVER, ALL);
    assert!(pictures(&mut once) == pictures(&mut often));
    assert_eq!(once.catalogue(), often.catalogue());
}

#[test]
fn a_call_is_scored_by_its_last_ten_seconds() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/lesson-buffer.toml"));
    let settings = [("access.upstream.queue.limit", "1 MB")];
    let scenario = Scenario::parse_with(&text.expect("it exists"), &settings).expect("valid");
    let mut session = open(&scenario, Watch::Pictures);
    session.advance(Instant::NEVER, ALL);
    let tap = session.tap().expect("opened");
    let is_up = |flow: &Packets| flow.direction == Direction::Upstream;
    let flow = tap.packets().iter().position(is_up).expect("a call");
    let series = tap.experience(flow, session.end()).expect("its series");
    // There is no other traffic during the first 5 s; at 40 s the upload keeps 0.7 s of data waiting.
    assert!(series.row(0, 40)[0] > 4.3, "{:?}", series.row(0, 40));
    assert!(series.row(0, 40)[1] < 21.0);
    assert!(series.row(0, 400)[0] < 1.5, "{:?}", series.row(0, 400));
    assert!(series.row(0, 400)[1] > 300.0);
    let metrics = session.metrics().expect("it has ended");
    let mos = metrics.iter().find(|row| row.0 == "call" && row.1 == "mos").expect("a metric");
    assert!(mos.2 < 1.5, "{mos:?}");
}
