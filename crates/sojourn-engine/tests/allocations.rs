//! Steady state allocates nothing: counted by an allocator, not believed.

use sojourn_base::{Seed, Span};
use sojourn_engine::run;
use sojourn_record::NoRecords;
use sojourn_scenario::Scenario;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: hands its arguments unchanged to the system's allocator.
#[expect(unsafe_code, reason = "an allocator is an unsafe trait")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
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
    (
        ALLOCATIONS.with(Cell::get) - before,
        outcome.statistics.packet_hops,
    )
}

#[test]
fn a_longer_run_of_the_dumbbell_allocates_no_more() {
    let text = include_str!("../../../scenarios/dumbbell-codel.toml");
    let ((short, few), (long, many)) = (cost(text, 60), cost(text, 240));
    assert!(
        many > 3 * few,
        "the longer run does more: {few}, {many} packet-hops"
    );
    assert_eq!(
        short,
        long,
        "{} allocations in {} packet-hops",
        long - short,
        many - few
    );
}

#[test]
fn connections_that_come_and_go_reuse_what_others_left() {
    // Web pages open some 13 connections a second: their places, rings and events are all reused.
    let text = include_str!("../../../scenarios/white2012-c04.toml");
    let ((short, few), (long, many)) = (cost(text, 120), cost(text, 240));
    let per_hop = (long - short) as f64 / (many - few) as f64;
    assert!(per_hop < 1e-3, "{per_hop} allocations per packet-hop");
}
