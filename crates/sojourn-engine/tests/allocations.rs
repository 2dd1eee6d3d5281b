//! Steady state allocates nothing, and records without rows do not grow: counted by an allocator, not
//! believed.

use sojourn_base::report::Page;
use sojourn_base::{Direction, Seed, Span};
use sojourn_engine::{column_recorder, run};
use sojourn_record::{ColumnData, NoRecords, RecordConfig, Records, TrafficId};
use sojourn_scenario::Scenario;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static LIVE_BYTES: Cell<i64> = const { Cell::new(0) };
}

/// Counts what a call of the allocator did to the bytes in use.
fn count_bytes(more: usize, less: usize) {
    let signed = |bytes| i64::try_from(bytes).expect("an address space is below 2^63 bytes");
    let _ = LIVE_BYTES.try_with(|live| live.set(live.get() + signed(more) - signed(less)));
}

struct Counting;

// SAFETY: hands its arguments unchanged to the system's allocator.
#[expect(unsafe_code, reason = "an allocator is an unsafe trait")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        count_bytes(layout.size(), 0);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count_bytes(0, layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        count_bytes(size, layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations and packet-hops of the first `seconds` of a scenario.
fn cost(text: &str, seconds: u64) -> (u64, u64) {
    let mut scenario = Scenario::parse(text).unwrap_or_else(|problems| panic!("{problems}"));
    scenario.duration = Span::from_s(seconds);
    let before = ALLOCATIONS.with(Cell::get);
    let outcome = run(&scenario, Seed(1), NoRecords, &|| false).expect("not cancelled");
    (ALLOCATIONS.with(Cell::get) - before, outcome.statistics.packet_hops)
}

#[test]
fn a_longer_run_of_the_dumbbell_allocates_no_more() {
    let text = include_str!("../../../scenarios/dumbbell-codel.toml");
    let ((short, few), (long, many)) = (cost(text, 60), cost(text, 240));
    assert!(many > 3 * few, "the longer run does more: {few}, {many} packet-hops");
    assert_eq!(short, long, "{} allocations in {} packet-hops", long - short, many - few);
}

#[test]
fn connections_that_come_and_go_reuse_what_others_left() {
    // Web pages open some 13 connections a second: their places, rings and events are all reused.
    let text = include_str!("../../../scenarios/white2012-c04.toml");
    let ((short, few), (long, many)) = (cost(text, 120), cost(text, 240));
    let per_hop = (long - short) as f64 / (many - few) as f64;
    assert!(per_hop < 1e-3, "{per_hop} allocations per packet-hop");
}

/// Calls both ways beside uploads that end and one that does not: everything but pages, whose rows are
/// kept. Short queues, so that the longest one is seen early.
const HOUSEHOLD: &str = r#"
schema = 1
name = "household without pages"
duration = "1 s"

[access.upstream]
link = { kind = "serial", rate = "5 Mb/s" }
queue = { kind = "drop-tail", limit = "20 packets" }

[access.downstream]
link = { kind = "serial", rate = "20 Mb/s" }
queue = { kind = "drop-tail", limit = "20 packets" }

[[traffic]]
name = "files"
app = { kind = "bulk", lanes = 2, file = "100 kB" }
stack = "linux-cubic"
rtt = "20 ms"

[[traffic]]
name = "backup"
app = { kind = "bulk" }
stack = "linux-cubic"
rtt = "50 ms"

[[traffic]]
name = "call"
app = { kind = "voice" }

[[traffic]]
name = "answer"
app = { kind = "voice", direction = "downstream" }
"#;

/// Records of the first `seconds` of the household, and the bytes that they occupy.
fn records(config: RecordConfig, seconds: u64) -> (Records, i64) {
    let scenario = Scenario::parse(HOUSEHOLD).unwrap_or_else(|problems| panic!("{problems}"));
    records_of(scenario, config, seconds)
}

fn records_of(mut scenario: Scenario, config: RecordConfig, seconds: u64) -> (Records, i64) {
    scenario.duration = Span::from_s(seconds);
    let before = LIVE_BYTES.with(Cell::get);
    let recorder = column_recorder(&scenario, config);
    let outcome = run(&scenario, Seed(1), recorder, &|| false).expect("not cancelled");
    let records = outcome.recorder.into_records();
    (records, LIVE_BYTES.with(Cell::get) - before)
}

/// Everything that is needed for metrics, and no rows that grow with the run.
fn without_rows() -> RecordConfig {
    RecordConfig { datagrams: false, objects: false, transfers: false, series: None, ..RecordConfig::BASE }
}

#[test]
fn records_without_rows_need_the_same_memory_for_any_duration() {
    let ((short, few), (long, many)) = (records(without_rows(), 60), records(without_rows(), 240));
    let counts = |records: &Records, id| {
        let datagrams: u64 = records.datagram_tallies(TrafficId(id)).map(|(_, _, tally)| tally.sent()).sum();
        datagrams + records.transfer_tally(TrafficId(id)).recorded()
    };
    for id in [0, 2, 3] {
        let (short, long) = (counts(&short, id), counts(&long, id));
        assert!(long > 3 * short && short > 50, "entry {id} goes on: {short}, {long}");
    }
    assert_eq!(few, many, "bytes after 60 s and after 240 s");
    // Rows grow, which shows that the bytes of records are what is counted here.
    let rows = |seconds| records(RecordConfig::BASE, seconds).1 - few;
    let (few_rows, many_rows) = (rows(60), rows(240));
    assert!(many_rows > 2 * few_rows && few_rows > 500_000, "bytes of rows: {few_rows}, {many_rows}");
}

#[test]
fn a_quiet_household_needs_memory_for_its_pages_only() {
    let text = include_str!("../../../scenarios/quiet-household-day.toml");
    let scenario = Scenario::parse(text).unwrap_or_else(|problems| panic!("{problems}"));
    let after = |seconds| records_of(scenario.clone(), scenario.record, seconds);
    let ((short, few), (long, many)) = (after(1200), after(4800));
    let (short, long) = (short.pages().len(), long.pages().len());
    assert!(short >= 5 && long > 3 * short, "{short} and {long} pages");
    // A vector has room for up to twice its rows, and four at first.
    let rows = i64::try_from(2 * long * size_of::<(TrafficId, Page)>()).expect("a few pages");
    assert!(many - few <= rows, "{few} and {many} bytes");
}

#[test]
fn histograms_of_delay_cover_every_entry_without_rows() {
    let (records, _) = records(without_rows(), 60);
    let tables = records.tables();
    let table = tables.iter().find(|table| table.name == "delay_histogram").expect("histograms are on");
    let (
        Some(ColumnData::Words { codes: traffic, .. }),
        Some(ColumnData::Words { codes: direction, .. }),
        Some(ColumnData::U64(packets)),
    ) = (table.column("traffic"), table.column("direction"), table.column("packets"))
    else {
        panic!("columns as in the schema");
    };
    for (id, name) in (0..).zip(records.traffic_names()) {
        for way in Direction::BOTH {
            let bins = (0..table.rows()).filter(|row| traffic[*row] == i32::from(id) && direction[*row] == way as i32);
            let counted: u64 = bins.map(|row| packets[row]).sum();
            let forwarded = records.counters(TrafficId(id))[way].forwarded_packets;
            assert_eq!(counted, forwarded, "{name} {}", way.as_str());
        }
        let counters = records.counters(TrafficId(id));
        let both = counters.upstream.forwarded_packets + counters.downstream.forwarded_packets;
        assert!(both > 1000, "{name} sends");
    }
}
