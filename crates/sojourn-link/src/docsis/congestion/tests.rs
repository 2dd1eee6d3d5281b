use super::*;
use crate::testing::{Collector, steady};
use std::vec::Vec;

fn limits(config: CongestionConfig, maps: impl Iterator<Item = u64>) -> Vec<u64> {
    let interval = Span::from_ms(2);
    let mut limit = GrantLimit::new(config, interval, BitRate::from_kbps(98_304));
    let mut context = Collector::default();
    maps.map(|map| limit.at(map, Instant::ZERO + interval * map, &mut context).0).collect()
}

#[test]
fn borderline_grants_are_uniform_around_the_sustained_rate() {
    // W12-21: mean 1250 ± 5 B over 10^5 grants, all in 1000..1500 B.
    let grants = limits(CongestionConfig::WHITE2012_BORDERLINE, 0..100_000);
    assert!(grants.iter().all(|grant| (1000..=1500).contains(grant)));
    let mean = grants.iter().sum::<u64>() as f64 / 1e5;
    assert!((mean - 1250.0).abs() < 5.0, "mean {mean}");
    // Uniform: each tenth of the range holds a tenth of the grants within 4 standard deviations (380).
    for tenth in 0..10 {
        let range: core::ops::Range<u64> = 1000 + 50 * tenth..1050 + 50 * tenth;
        let count = grants.iter().filter(|grant| range.contains(*grant)).count();
        assert!(count.abs_diff(9_980) < 380, "{count} in {range:?}");
    }
}

#[test]
fn the_ends_of_the_range_are_drawn_as_often_as_the_rest() {
    let ends = |unit| uniform(Bytes(1250), 0.2, unit).0;
    assert_eq!(ends(0.0), 1000);
    assert_eq!(ends(0.5), 1250);
    assert_eq!(ends(1.0 - 1e-12), 1500);
}

#[test]
fn an_uncongested_grant_is_limited_by_the_channel() {
    // 98.304 Mb/s × 2 ms / 8.
    assert_eq!(limits(CongestionConfig::None, 0..1), [24_576]);
}

#[test]
fn levels_hold_for_ten_seconds_in_the_stated_order() {
    // docsis30-single, RF schedule: level in Mb/s at the start of each dwell, and in bytes per MAP.
    let every_ten_seconds = || (0..13).map(|dwell| dwell * 5_000);
    assert_eq!(
        limits(CongestionConfig::white2013_light(), every_ten_seconds()),
        [5000, 1250, 625, 1250, 3125, 625, 3125, 1250, 5000, 625, 5000, 3125, 5000]
    );
    assert_eq!(
        limits(CongestionConfig::white2013_moderate(), every_ten_seconds()),
        [3125, 825, 425, 825, 1250, 425, 1250, 825, 3125, 425, 3125, 1250, 3125]
    );
    // The last MAP of a dwell still has its level.
    assert_eq!(limits(CongestionConfig::white2013_light(), [4_999, 5_000].into_iter()), [5000, 1250]);
}

#[test]
fn what_a_level_gives_beyond_whole_bytes_is_granted_by_a_later_map() {
    // 0.945 ms of 0.2 Mb/s are 23.625 B; 22.5 us of 0.3, 1 and 1.7 Mb/s 0.84375, 2.8125 and 4.78125 B. Every MAP has the
    // whole number of bytes below that or the one above.
    for (kbps, interval_ns, all) in [
        (200, 945_000, 2_362_500),
        (300, 22_500, 84_375),
        (1_000, 22_500, 281_250),
        (1_700, 22_500, 478_125),
        (5_000, 2_000_000, 125_000_000),
    ] {
        let interval = Span::from_ns(interval_ns);
        let level = steady(BitRate::from_kbps(kbps));
        let mut limit = GrantLimit::new(level, interval, BitRate::from_mbps(600));
        let mut context = Collector::default();
        let mut sum = 0;
        for map in 0..100_000 {
            let at = Instant::ZERO + interval * map;
            let grant = limit.at(map, at, &mut context);
            assert_eq!(limit.at(map, at, &mut context), grant, "asked again");
            assert!((grant.0 * 100_000).abs_diff(all) < 100_000);
            sum += grant.0;
        }
        assert_eq!(sum, all, "{kbps} kb/s");
    }
}

fn cycle(config: CongestionConfig) -> RateCycle {
    match config {
        CongestionConfig::Schedule(cycle) => cycle,
        other => panic!("{} is no cycle", other.kind()),
    }
}

#[test]
fn a_cycle_visits_all_twelve_changes_and_its_levels_equally_often() {
    // W13-44: means of exactly 10 and 5.625 Mb/s, 12 distinct ordered pairs, 120 s.
    // W13-45: below the sustained rate of 5 Mb/s for a quarter and for half of the time.
    for (config, mean_kbps, dwells_below) in
        [(CongestionConfig::white2013_light(), 10_000, 3), (CongestionConfig::white2013_moderate(), 5_625, 6)]
    {
        let cycle = cycle(config);
        assert_eq!(cycle.period(), Span::from_s(120));
        assert!(cycle.visits_each_ordered_pair_once());
        let rates: Vec<u64> = (0..12).map(|dwell| cycle.level(dwell).as_bps()).collect();
        assert_eq!(rates.iter().sum::<u64>(), 12_000 * mean_kbps);
        let below = rates.iter().filter(|rate| **rate < 5_000_000).count();
        assert_eq!(below, dwells_below);
    }
}

#[test]
fn a_phase_rotates_the_cycle() {
    // Phase 1 is the order of the ns-2 script: 1 0 1 2 0 2 1 3 0 3 2 3.
    let mut cycle = cycle(CongestionConfig::white2013_light());
    cycle.phase = 1;
    let order: Vec<BitRate> = [1, 0, 1, 2, 0, 2, 1, 3, 0, 3, 2, 3].map(|level| cycle.levels[level]).to_vec();
    let levels: Vec<BitRate> = (0..12).map(|dwell| cycle.level(dwell)).collect();
    assert_eq!(levels, order);
    assert_eq!(cycle.level(12), cycle.level(0));
}

#[test]
fn only_a_closed_tour_of_all_changes_may_call_itself_exhaustive() {
    let fields = |cycle: &RateCycle| {
        let mut problems = Vec::new();
        cycle.collect_problems(&mut problems);
        problems.iter().map(|p| p.field).collect::<Vec<_>>()
    };
    let good = cycle(CongestionConfig::white2013_light());
    assert_eq!(fields(&good), Vec::<&str>::new());
    let mut twice = good.clone();
    twice.order.swap(1, 2); // 3 0 1 1 …: no change between the third and fourth dwell
    assert_eq!(fields(&twice), ["congestion.exhaustive"]);
    twice.exhaustive = false;
    assert_eq!(fields(&twice), Vec::<&str>::new());
    let mut short = good.clone();
    short.order.pop();
    assert_eq!(fields(&short), ["congestion.exhaustive"]);
    let mut beyond = good;
    beyond.order[5] = 4;
    assert_eq!(fields(&beyond), ["congestion.order"]);
}

#[test]
fn every_problem_of_a_cycle_is_listed() {
    let mut problems = Vec::new();
    CongestionConfig::Schedule(RateCycle {
        levels: Vec::new(),
        order: Vec::new(),
        dwell: Span::ZERO,
        phase: 0,
        variation: 2.0,
        exhaustive: false,
    })
    .collect_problems(&mut problems);
    let fields: Vec<&str> = problems.iter().map(|p| p.field).collect();
    assert_eq!(fields, ["congestion.variation", "congestion.dwell", "congestion.order", "congestion.levels"]);
    problems.clear();
    CongestionConfig::GrantSize { mean: Bytes::ZERO, variation: f64::NAN }.collect_problems(&mut problems);
    assert_eq!(problems.len(), 2);
}

#[test]
fn the_levels_of_docsis_ns3_hold_for_five_seconds_in_the_order_of_its_program() {
    // In Mb/s, sorted: 8.25, 10, 11.25, 12.5; order 1 0 1 2 0 2 1 3 0 3 2 3. Bytes in two MAPs of 2 ms: Mb/s · 500.
    let twice_in_five_seconds = (0..13).flat_map(|dwell| [dwell * 2_500, dwell * 2_500 + 1]);
    let [low, second, third, high] = [4_125, 5_000, 5_625, 6_250];
    let found = limits(CongestionConfig::ns3_1(), twice_in_five_seconds);
    let pairs: Vec<u64> = found.chunks(2).map(|pair| pair.iter().sum()).collect();
    assert_eq!(pairs, [second, low, second, third, low, third, second, high, low, high, third, high, second]);
    for (config, first_two) in [
        // 9.25 Mb/s are 2312.5 B.
        (CongestionConfig::ns3_2(), [2_375, 2_312]),
        (CongestionConfig::ns3_3(), [1_500, 1_250]),
    ] {
        let mut problems = Vec::new();
        config.collect_problems(&mut problems);
        assert_eq!(problems, [], "an exhaustive cycle");
        assert_eq!(limits(config, [0, 2_500].into_iter()), first_two);
    }
}
