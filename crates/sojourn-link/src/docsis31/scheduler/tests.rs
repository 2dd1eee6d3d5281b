use super::*;
use crate::docsis31::config::Service;
use crate::docsis31::proactive::{Guarantee, ProactiveConfig};
use crate::testing::{Collector, steady};
use proptest::prelude::*;
use sojourn_base::Span;

#[test]
fn the_two_flows_share_as_the_notes_work_out() {
    // docsis-mac notes 4.7: minislots of 48 B, no proactive grants, 100 available, weight 230.
    for (bytes, proactive, expected) in [
        ([5_000, 2_400], 0, [50, 50]),
        ([5_000, 9_600], 0, [11, 89]),
        ([5_000, 0], 13, [87, 13]),
        ([480, 0], 13, [10, 13]),
        ([0, 0], 13, [0, 13]),
        ([0, 9_600], 0, [0, 100]),
        ([9_600, 0], 0, [100, 0]),
        ([240, 240], 0, [5, 5]),
    ] {
        let wanted = bytes.map(|bytes: u64| bytes.div_ceil(48));
        assert_eq!(allocate(230, 100, wanted, proactive), expected, "{bytes:?}");
    }
}

#[test]
fn a_share_of_less_than_a_minislot_is_one() {
    assert_eq!(allocate(230, 1, [10, 10], 0), [0, 1]);
    assert_eq!(allocate(1, 100, [200, 10], 0), [99, 1]);
    assert_eq!(allocate(230, 0, [10, 10], 0), [0, 0]);
}

#[test]
fn headers_add_their_share_to_a_rate_and_a_draw_picks_any_place() {
    let rate = with_headers(BitRate::from_mbps(5), Bytes(200), 10);
    assert_eq!(rate, BitRate::from_kbps(5_250));
    assert_eq!([0.0, 0.5, 0.99].map(|unit| pick(9, unit)), [0, 5, 9]);
}

proptest! {
    /// Invariants 8, 12 and 15 of the notes, as far as the sum goes.
    #[test]
    fn nothing_is_granted_twice_or_in_vain(
        weight in 1_u64..256,
        available in 0_u64..2_000,
        wanted in prop::array::uniform2(0_u64..2_000),
        proactive in 0_u64..100,
    ) {
        let [classic, low_latency] = allocate(weight, available, wanted, proactive);
        prop_assert!(classic <= wanted[CLASSIC]);
        prop_assert!(low_latency <= wanted[LOW_LATENCY].max(proactive));
        prop_assert!(low_latency >= proactive);
        prop_assert!(classic + low_latency <= available.max(proactive));
        // Both leave the same remainder.
        let all = wanted[CLASSIC] + wanted[LOW_LATENCY].max(proactive);
        prop_assert!(classic + low_latency >= available.min(all));
        // Both want more: the weight decides.
        if proactive == 0 && wanted[CLASSIC] >= available && wanted[LOW_LATENCY] >= available {
            prop_assert!(low_latency.abs_diff(available * weight / 256) <= 1);
        }
    }
}

fn scheduler(config: &UpstreamConfig) -> Scheduler {
    Scheduler::new(config, config.timeline())
}

fn slots(grants: &[Grant], flow: usize) -> u64 {
    let of = grants.iter().filter(|grant| grant.flow == flow);
    of.map(|grant| grant.length).sum()
}

proptest! {
    /// Grants are disjoint, in order, and within the interval; with proactive ones and without.
    #[test]
    fn grants_of_a_map_lie_side_by_side(
        classic in 0_u64..100_000,
        low_latency in 0_u64..100_000,
        kbps in 0_u64..40_000,
        interval_us in 135_u64..4_000,
        weight in 1_u32..256,
        seed in any::<u64>(),
    ) {
        let proactive = match kbps {
            0..10_000 => ProactiveConfig::None,
            kbps => ProactiveConfig::Basic(Guarantee {
                rate: BitRate::from_kbps(kbps),
                interval: Some(Span::from_us(interval_us)),
            }),
        };
        let config = UpstreamConfig { weight, proactive, ..UpstreamConfig::WHITE2019_LLD };
        let mut scheduler = scheduler(&config);
        let mut context: Collector = Collector::seeded(seed);
        scheduler.request(Instant::ZERO, CLASSIC, classic);
        scheduler.request(Instant::ZERO, LOW_LATENCY, low_latency);
        let mut grants = Vec::new();
        for map in 2..60 {
            scheduler.make(map, &mut grants, &mut context);
            let mut at = 0;
            for grant in &grants {
                prop_assert!(grant.length > 0);
                prop_assert!(grant.start >= at);
                at = grant.start + grant.length;
            }
            prop_assert!(at <= scheduler.timeline.minislots());
        }
        prop_assert_eq!(scheduler.backlog, [0, 0]);
    }
}

#[test]
fn buckets_accrue_and_a_backlog_gets_the_rate_to_the_byte() {
    // 50 and 100 Mb/s are 5906.25 and 11,812.5 B in 0.945 ms; the peak bucket of 2 ms starts empty.
    let mut scheduler = scheduler(&UpstreamConfig::WHITE2019_LLD);
    let at = |map| scheduler.timeline.starts_at(map);
    let peak = scheduler.peak.expect("there is a peak rate");
    assert_eq!(peak.tokens(at(2)), Bytes(11_812));
    assert_eq!(peak.tokens(at(20)), Bytes(25_000));
    let sustained = scheduler.sustained.expect("there is a rate");
    assert_eq!(sustained.tokens(at(2)), Bytes(625_000));

    // A backlog without end: the peak rate first, then the sustained one. The excess of rounding up to minislots of 48
    // B in one MAP is missing in the next.
    let mut context: Collector = Collector::default();
    scheduler.request(Instant::ZERO, CLASSIC, 10_000_000_000);
    let mut grants = Vec::new();
    let mut sum = 0;
    for map in 2..100_002 {
        scheduler.make(map, &mut grants, &mut context);
        sum += slots(&grants, CLASSIC) * 48;
        let maps = map - 1;
        let by_peak = 11_812.5 * maps as f64;
        let by_rate = 625_000.0 + 5_906.25 * (maps - 1) as f64;
        let over = sum as f64 - by_peak.min(by_rate);
        // Less than a byte is no token.
        assert!(over > -1.0 && over < 48.0, "{over} B after {maps} MAPs");
    }
}

#[test]
fn headers_come_back_to_both_buckets_and_what_was_not_used_to_one() {
    let mut scheduler = scheduler(&UpstreamConfig {
        rate: BitRate::from_mbps(1),
        peak: BitRate::from_mbps(2),
        peak_interval: Span::from_ms(20),
        burst: Bytes(10_000),
        ..UpstreamConfig::WHITE2019_LLD
    });
    let mut context: Collector = Collector::default();
    scheduler.request(Instant::ZERO, LOW_LATENCY, 4_800);
    let mut grants = Vec::new();
    // In the 18.9 ms from MAP 1, where it is empty, to MAP 21 the peak bucket gets 4725 B. 99 minislots are 4752 B.
    scheduler.make(21, &mut grants, &mut context);
    assert_eq!(slots(&grants, LOW_LATENCY), 99);
    let tokens = |scheduler: &Scheduler, map| {
        let at = scheduler.timeline.starts_at(map);
        [scheduler.sustained, scheduler.peak].map(|bucket| bucket.expect("a rate").tokens(at).0)
    };
    // 10,000 - 4752 B, and a debt of 27.
    assert_eq!(tokens(&scheduler, 21), [5_248, 0]);
    let outcome = Outcome { unused: 1_000, headers: 30 };
    scheduler.learn(scheduler.timeline.starts_at(22), LOW_LATENCY, outcome);
    scheduler.backlog = [0; 2];
    scheduler.make(24, &mut grants, &mut context);
    // Three intervals give 354.375 and 708.75 B.
    assert_eq!(tokens(&scheduler, 24), [5_248 + 354 + 1_030, 708 - 27 + 30]);
}

#[test]
fn a_scheduler_is_idle_until_a_request_is_on_its_way_and_wants_what_has_arrived() {
    let mut scheduler = scheduler(&UpstreamConfig { peak: BitRate::ZERO, ..UpstreamConfig::WHITE2019_LLD });
    assert!(scheduler.is_idle());
    scheduler.request(scheduler.timeline.made_at(5), CLASSIC, 1_000_000);
    assert!(!scheduler.is_idle());
    assert_eq!([4, 5].map(|map| scheduler.wanted(map)), [0, 1_000_000]);
    // A MAP has 1645 minislots of 48 B.
    scheduler.make(5, &mut Vec::new(), &mut Collector::default());
    assert!(!scheduler.is_idle());
    scheduler.request(scheduler.timeline.made_at(6), LOW_LATENCY, 50);
    assert_eq!(scheduler.wanted(6), 1_000_000 - 1_645 * 48 + 50);
    let now = Instant::from_ms(7);
    let (bucket, at) = scheduler.bucket(now);
    assert_eq!((bucket.is_some(), at), (true, now + scheduler.timeline.lead));
    assert!(!self::scheduler(&UpstreamConfig::WHITE2019_PGS).is_idle(), "guarantees need no request");
}

#[test]
fn an_only_flow_with_a_guarantee_is_the_classic_one_and_pays_with_its_own_bucket() {
    let mut scheduler = scheduler(&UpstreamConfig { service: Service::Single, ..UpstreamConfig::WHITE2019_PGS });
    let own = TokenBucket::new(BitRate::from_bps(8), Bytes(10_000));
    scheduler.limit_classic(own);
    let mut grants = Vec::new();
    let mut tokens_after = |scheduler: &mut Scheduler, map| {
        scheduler.make(map, &mut grants, &mut Collector::default());
        assert!(grants.iter().all(|grant| grant.flow == CLASSIC));
        scheduler.own[1].expect("it was given").tokens(scheduler.timeline.starts_at(map)).0
    };
    // Seven grants of 96 B a MAP.
    scheduler.request(Instant::ZERO, CLASSIC, 960);
    assert_eq!(tokens_after(&mut scheduler, 2), 10_000 - 960);
    scheduler.learn(Instant::ZERO, CLASSIC, Outcome { unused: 600, headers: 10 });
    assert_eq!(tokens_after(&mut scheduler, 3), 10_000 - 960 + 610 - 672);
}

#[test]
fn without_a_rate_the_channel_is_the_limit() {
    let config = UpstreamConfig { rate: BitRate::ZERO, peak: BitRate::ZERO, ..UpstreamConfig::WHITE2019_LLD };
    let mut scheduler = scheduler(&config);
    let mut context: Collector = Collector::default();
    scheduler.request(Instant::ZERO, CLASSIC, 10_000_000);
    let mut grants = Vec::new();
    scheduler.make(2, &mut grants, &mut context);
    assert_eq!(slots(&grants, CLASSIC), 1_645);
}

#[test]
fn congestion_limits_what_is_asked_for_and_not_what_is_guaranteed() {
    let config = UpstreamConfig {
        congestion: crate::CongestionConfig::GrantSize { mean: Bytes(480), variation: 0.0 },
        ..UpstreamConfig::WHITE2019_PGS
    };
    let mut scheduler = scheduler(&config);
    let mut context: Collector = Collector::default();
    scheduler.request(Instant::ZERO, CLASSIC, 100_000);
    let mut grants = Vec::new();
    scheduler.make(2, &mut grants, &mut context);
    // Seven proactive grants of two minislots; nothing is left of ten.
    assert_eq!((slots(&grants, CLASSIC), slots(&grants, LOW_LATENCY)), (0, 14));
}

#[test]
fn what_others_leave_beyond_whole_minislots_is_left_in_a_later_map() {
    // 0.2 Mb/s are 23.625 B in 0.945 ms, less than half a minislot of 48 B; 60 B are a minislot and a quarter.
    let levels = [
        (steady(BitRate::from_kbps(200)), 2_362_500),
        (crate::CongestionConfig::GrantSize { mean: Bytes(60), variation: 0.0 }, 6_000_000),
    ];
    for (congestion, bytes) in levels {
        let config =
            UpstreamConfig { congestion, rate: BitRate::ZERO, peak: BitRate::ZERO, ..UpstreamConfig::WHITE2019_LLD };
        let mut scheduler = scheduler(&config);
        let mut context: Collector = Collector::default();
        scheduler.request(Instant::ZERO, CLASSIC, 1_000_000_000);
        let (mut grants, mut granted) = (Vec::new(), 0);
        for map in 2..100_002 {
            scheduler.make(map, &mut grants, &mut context);
            assert!(slots(&grants, CLASSIC) <= 2);
            granted += slots(&grants, CLASSIC);
        }
        assert_eq!(granted, bytes / 48);
    }
}

#[test]
fn what_was_not_used_comes_back_once_it_is_known() {
    let config = UpstreamConfig {
        rate: BitRate::from_mbps(1),
        burst: Bytes(10_000),
        peak: BitRate::ZERO,
        ..UpstreamConfig::WHITE2019_LLD
    };
    let mut scheduler = scheduler(&config);
    let mut context: Collector = Collector::default();
    scheduler.request(Instant::ZERO, CLASSIC, 4_800);
    let mut grants = Vec::new();
    let mut tokens_after = |scheduler: &mut Scheduler, map| {
        scheduler.make(map, &mut grants, &mut context);
        let bucket = scheduler.sustained.expect("a rate");
        bucket.tokens(scheduler.timeline.starts_at(map)).0
    };
    assert_eq!(tokens_after(&mut scheduler, 2), 5_200);
    let unused = Outcome { unused: 4_800, headers: 0 };
    scheduler.learn(scheduler.timeline.starts_at(3), CLASSIC, unused);
    // The MAP of interval 4 is made after that, as 1 Mb/s has given 118.125 B for each interval; that of 3 before.
    assert_eq!(tokens_after(&mut scheduler, 3), 5_318);
    assert_eq!(tokens_after(&mut scheduler, 4), 5_436);
    assert_eq!(tokens_after(&mut scheduler, 5), 10_000);
}

#[test]
fn proactive_grants_come_in_every_frame_and_grow_with_requests() {
    let mut scheduler = scheduler(&UpstreamConfig::WHITE2019_PGS);
    assert_eq!(UpstreamConfig::WHITE2019_PGS.service, Service::LowLatency);
    let mut context: Collector = Collector::default();
    let mut grants = Vec::new();
    scheduler.make(2, &mut grants, &mut context);
    let starts: Vec<(u64, u64)> = grants.iter().map(|g| (g.start, g.length)).collect();
    let every_frame: Vec<(u64, u64)> = (0..7).map(|frame| (frame * 235, 2)).collect();
    assert_eq!(starts, every_frame);
    // 4800 B are 100 minislots, 86 beyond the proactive ones: the first grant grows. The classic flow follows it.
    scheduler.request(Instant::ZERO, LOW_LATENCY, 4_800);
    scheduler.request(Instant::ZERO, CLASSIC, 480);
    scheduler.make(3, &mut grants, &mut context);
    assert_eq!((grants[0].flow, grants[0].start, grants[0].length), (LOW_LATENCY, 0, 88));
    assert_eq!((grants[1].flow, grants[1].start, grants[1].length), (CLASSIC, 88, 10));
    assert_eq!(slots(&grants, LOW_LATENCY), 100);
}
