//! Videos over a slow line: their load does not depend on the queue manager, their results do.

use sojourn_base::Seed;
use sojourn_engine::{column_recorder, run};
use sojourn_record::{ColumnData, RecordConfig, Records, Table};
use sojourn_scenario::Scenario;

/// The line of Akhtar 2013 with its three videos, and a greedy download.
const LINE: &str = r#"
schema = 1
name = "line"
duration = "120 s"

[access.upstream]
link = { kind = "serial", rate = "1 Mb/s" }
queue = { kind = "drop-tail", limit = "100 packets" }

[access.downstream]
link = { kind = "serial", rate = "8 Mb/s" }
queue = { kind = "drop-tail", limit = "120 packets" }

[[traffic]]
name = "videos"
app = { kind = "has", sessions = 3 }
stack = "akhtar2013"
rtt = "20 ms"

[[traffic]]
name = "download"
app = { kind = "bulk", direction = "downstream", lanes = 2 }
stack = "akhtar2013"
rtt = "60 ms"
"#;

fn records(text: &str, settings: &[(&str, &str)], seed: u64) -> Records {
    let scenario = Scenario::parse_with(text, settings).unwrap_or_else(|e| panic!("{e}"));
    let config = RecordConfig { chunks: true, ..RecordConfig::BASE };
    let recorder = column_recorder(&scenario, config);
    run(&scenario, Seed(seed), recorder, &|| false).expect("not cancelled").recorder.into_records()
}

fn table(records: &Records, name: &str) -> Table {
    let found = records.tables().into_iter().find(|table| table.name == name);
    found.unwrap_or_else(|| panic!("no table {name}"))
}

fn u64s(table: &Table, column: &str) -> Vec<u64> {
    match table.column(column) {
        Some(ColumnData::U64(values) | ColumnData::OptionalU64 { values, .. }) => values.clone(),
        Some(ColumnData::U32(values)) => values.iter().copied().map(u64::from).collect(),
        other => panic!("{column}: {other:?}"),
    }
}

#[test]
fn three_videos_on_a_slow_line_are_played_from_chunks_of_one_clip() {
    let drop_tail = records(LINE, &[], 1);
    let codel = records(LINE, &[("access.downstream.queue", "codel")], 1);
    let mut clip = std::collections::BTreeMap::new();
    for records in [&drop_tail, &codel] {
        let sessions = table(records, "has_sessions");
        assert_eq!(u64s(&sessions, "started_ns"), [0, 10_000_000_000, 20_000_000_000]);
        for (played, chunks) in u64s(&sessions, "played_ns").iter().zip(u64s(&sessions, "chunks")) {
            assert!(*played > 30_000_000_000 && *played <= 2_000_000_000 * chunks);
        }
        let chunks = table(records, "has_chunks");
        let rows = u64s(&chunks, "chunk").into_iter().zip(u64s(&chunks, "level"));
        for (which, bytes) in rows.zip(u64s(&chunks, "bytes")) {
            assert_eq!(*clip.entry(which).or_insert(bytes), bytes, "{which:?}");
        }
        let after = u64s(&chunks, "buffer_after_ns");
        assert!(after.iter().all(|ns| *ns <= 30_000_000_000));
    }
    let of = |records: &Records| u64s(&table(records, "has_chunks"), "ended_ns");
    assert_ne!(of(&drop_tail), of(&codel), "the queue manager matters");
    assert_eq!(of(&drop_tail), of(&records(LINE, &[], 1)), "the seed decides");
}

#[test]
fn downloads_are_the_same_requests_behind_every_queue_manager() {
    let downloads = [(
        "traffic.download.app",
        "{ kind = \"pd\", sources = 8, gap = \"30 s\", size = \"3 MB\", start_jitter = \"15 s\" }",
    )];
    let with = |queue: &'static str| {
        let settings = [downloads[0], ("access.downstream.queue", queue)];
        table(&records(LINE, &settings, 2), "pd_sessions")
    };
    let sorted = |table: &Table| {
        let mut rows: Vec<_> =
            u64s(table, "started_ns").into_iter().zip(u64s(table, "source")).zip(u64s(table, "bytes")).collect();
        rows.sort_unstable();
        rows
    };
    let (drop_tail, codel) = (with("{ kind = \"drop-tail\", limit = \"120 packets\" }"), with("codel"));
    assert!(drop_tail.rows() > 20);
    assert_eq!(sorted(&drop_tail), sorted(&codel));
    assert_ne!(u64s(&drop_tail, "ended_ns"), u64s(&codel, "ended_ns"));
}

#[test]
fn a_live_stream_alone_on_its_line_is_as_far_behind_as_its_player_wants() {
    let live = [
        ("traffic.videos.app", "has-ll"),
        ("traffic.download.app", "{ kind = \"bulk\", direction = \"downstream\", lanes = 1, start = \"110 s\" }"),
    ];
    let records = records(LINE, &live, 1);
    let sessions = table(&records, "has_sessions");
    assert_eq!(u64s(&sessions, "stalls"), [0]);
    let live = table(&records, "live_sessions");
    let latency = u64s(&live, "latency_mean_ns")[0];
    // Three seconds and the way of a part, and less than that while the buffer was filled from two seconds on.
    assert!((2_000_000_000..3_500_000_000).contains(&latency), "{latency}");
    assert_eq!(u64s(&live, "skips"), [0]);
    let seconds = table(&records, "live_seconds");
    let before = |column: &str| u64s(&seconds, column)[100];
    // 5 Mb/s is what 8 Mb/s carry; the next level is as fast as the line.
    assert_eq!(before("level"), 3);
    let (latency, buffer) = (before("latency_ns"), before("buffer_ns"));
    assert!(latency > buffer && latency < buffer + 600_000_000, "{latency} {buffer}");
}
