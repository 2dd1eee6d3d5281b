use super::*;
use crate::config::ShaperConfig;
use crate::group::channels::Form;
use crate::group::config::Share;
use sojourn_base::{BitRate, Span};

/// A home that nothing limits; its segments have no header, as in the vectors.
fn greedy() -> MemberConfig {
    MemberConfig::BASE
}

fn scheduler(group: &GroupConfig, members: &[MemberConfig]) -> Scheduler {
    let mut scheduler = Scheduler::new(group, members, &group.grid());
    scheduler.header = 0;
    scheduler
}

/// Returns the grant of each home in MAP `map`, in minislots.
fn allocate(scheduler: &mut Scheduler, map: u64, free: u64) -> Vec<u64> {
    let at = Instant::ZERO + Span::from_us(945) * map;
    let mut segments = Vec::new();
    scheduler.allocate((at, at), &[free], &mut segments);
    let mut found = alloc::vec![0; scheduler.ports.len()];
    for segment in segments {
        found[segment.port] += segment.minislots;
    }
    found
}

#[test]
fn homes_take_turns_and_the_interrupted_one_goes_on() {
    // Vector 9: wants of 100, 40 and 10 minislots of 48 B, 120 free: 32 32 10 32 8 6.
    let mut scheduler = scheduler(&GroupConfig::BASE, &[greedy(); 3]);
    for (port, minislots) in [(0, 100), (1, 40), (2, 10)] {
        scheduler.request((port, 0), minislots * 48);
    }
    assert_eq!(allocate(&mut scheduler, 1, 120), [70, 40, 10]);
    assert_eq!(scheduler.rings[0].front(), Some(&0));
    assert_eq!(scheduler.ports[0].deficit, 26 * 48);
    assert!(scheduler.ports[0].visited);
    assert_eq!(allocate(&mut scheduler, 2, 100), [30, 0, 0]);
    assert!(scheduler.is_idle());
}

#[test]
fn a_rate_holds_exactly_in_the_long_run() {
    // Vector 10: 10.5 Mb/s accrue 1240.3125 B in a MAP: six grants of 26 minislots, then 25, and a debt
    // of less than a minislot.
    let member = MemberConfig {
        shaper: ShaperConfig { sustained: BitRate::from_kbps(10_500), ..ShaperConfig::BASE },
        ..greedy()
    };
    let mut scheduler = scheduler(&GroupConfig::BASE, &[member]);
    scheduler.request((0, 0), 1_000_000);
    let price = scheduler.ports[0].buckets.price(Bytes(3044));
    scheduler.ports[0].buckets.debit(Instant::ZERO, price);
    let found: Vec<u64> = (1..=14).map(|map| allocate(&mut scheduler, map, 1_629)[0]).collect();
    assert_eq!(found, [26, 26, 26, 26, 26, 26, 25, 26, 26, 26, 26, 26, 25, 26]);
}

#[test]
fn a_home_with_poor_modulation_gets_the_bytes_or_the_minislots_of_another() {
    // Vector 11: 48 B and 28 B in a minislot, 1629 of them in a MAP.
    let far = MemberConfig { modulation: Some(6.0), ..greedy() };
    for (share, near) in [(Share::Bytes, 600.0), (Share::Minislots, 814.5)] {
        let mut group = GroupConfig::BASE;
        group.scheduler.share = share;
        let mut scheduler = scheduler(&group, &[greedy(), far]);
        let mut sum = [0; 2];
        for map in 1..=1_000 {
            for port in [0, 1] {
                scheduler.request((port, 0), 200_000);
            }
            let found = allocate(&mut scheduler, map, 1_629);
            assert_eq!(found[0] + found[1], 1_629);
            sum = [sum[0] + found[0], sum[1] + found[1]];
        }
        let mean = sum[0] as f64 / 1_000.0;
        assert!((mean - near).abs() < 0.2, "{share:?}: {mean}");
    }
}

#[test]
fn a_reserved_rate_is_kept_beside_homes_of_the_highest_priority_and_gives_no_more() {
    // Vector 20: 2 Mb/s within a minislot for each MAP.
    let reserved = MemberConfig { reserved: BitRate::from_mbps(2), ..greedy() };
    let first = MemberConfig { priority: 7, ..greedy() };
    let mut scheduler = scheduler(&GroupConfig::BASE, &[reserved, first, first]);
    let mut bytes = 0;
    for map in 1..=1_000 {
        for port in 0..3 {
            scheduler.request((port, 0), 100_000);
        }
        bytes += allocate(&mut scheduler, map, 1_629)[0] * 48;
    }
    let due = 2e6 * 0.945e-3 / 8.0 * 1_000.0;
    // Bytes that the bucket held at first beside a minislot.
    let first = 2e6 * 0.945e-3 / 8.0 * 2.0 + 2.0 * 48.0;
    let more = bytes as f64 - due;
    assert!((-48.0..=first).contains(&more), "{more}");
}

#[test]
fn a_higher_priority_takes_what_it_wants_and_the_others_the_rest() {
    // Vector 21.
    let first = MemberConfig { priority: 1, ..greedy() };
    let mut scheduler = scheduler(&GroupConfig::BASE, &[greedy(), first, greedy()]);
    scheduler.request((1, 0), 500 * 48);
    for port in [0, 2] {
        scheduler.request((port, 0), 2_500 * 48);
    }
    let found = allocate(&mut scheduler, 1, 1_629);
    assert_eq!((found[1], found[0] + found[2]), (500, 1_129));
}

#[test]
fn a_request_is_granted_whole_minislots_with_a_header() {
    // Vector 8: 1028 B and 8 B are 22 minislots, which carry 1048 B; nothing stays.
    let group = GroupConfig::BASE;
    let mut scheduler = Scheduler::new(&group, &[greedy()], &group.grid());
    assert_eq!(scheduler.request((0, 0), 1_028), 1_028);
    let mut segments = Vec::new();
    let at = Instant::from_ms(1);
    scheduler.allocate((at, at), &[1_629], &mut segments);
    assert_eq!(segments.len(), 1);
    let segment = segments[0];
    assert_eq!((segment.minislots, segment.payload, segment.requested), (22, 1_048, 1_028));
    assert!(scheduler.is_idle());
}

/// A passive optical network without correction.
fn pon(kbps: u64, overhead: u64) -> GroupConfig {
    let mut group = GroupConfig::BASE;
    group.form = Form::Pon;
    (group.pon.rate, group.pon.code_rate) = (BitRate::from_kbps(kbps), 1.0);
    group.pon.overhead = Bytes(overhead);
    group.scheduler.quantum = Bytes(96);
    group
}

#[test]
fn greedy_units_of_a_passive_optical_network_share_what_bursts_leave() {
    // Vector 22: 4860 words a frame, 4 words a burst: 147.875 words of data each, 37.86 Mb/s, 97.4 % of the line.
    let group = pon(1_244_160, 12);
    assert_eq!(group.pon.words(), 4_860);
    let mut scheduler = Scheduler::new(&group, &[greedy(); 32], &group.grid());
    let mut sum = [0; 32];
    for frame in 1..=800 {
        for port in 0..32 {
            scheduler.request((port, 0), 10_000);
        }
        let at = Instant::ZERO + Span::from_us(125) * frame;
        let mut segments = Vec::new();
        scheduler.allocate((at, at), &[4_860], &mut segments);
        assert_eq!(segments.iter().map(|it| it.minislots).sum::<u64>(), 4_860);
        for segment in segments {
            sum[segment.port] += segment.payload;
        }
    }
    for bytes in sum {
        let words = bytes as f64 / 4.0 / 800.0;
        assert!((words - 147.875).abs() < 0.2, "{words}");
    }
    let share = sum.iter().sum::<u64>() as f64 / 800.0 / 4.0 / 4_860.0;
    assert!((share - 0.974).abs() < 0.001, "{share}");
}

#[test]
fn an_assured_rate_is_exact_over_eight_frames_of_a_passive_optical_network() {
    // Vector 23: 100 Mb/s are 390.625 words a frame, 390 and 391 in turn, 3125 in eight.
    let group = pon(9_953_280, 128);
    assert_eq!(group.pon.words(), 38_880);
    let assured = MemberConfig { reserved: BitRate::from_mbps(100), ..greedy() };
    let first = MemberConfig { priority: 7, ..greedy() };
    let mut scheduler = Scheduler::new(&group, &[assured, first], &group.grid());
    scheduler.header = 0;
    let mut words = Vec::new();
    for frame in 1..=88_u64 {
        for port in 0..2 {
            scheduler.request((port, 0), 200_000);
        }
        let at = Instant::ZERO + Span::from_us(125) * frame;
        let mut segments = Vec::new();
        scheduler.allocate((at, at), &[38_880], &mut segments);
        let own = segments.iter().find(|it| it.port == 0);
        words.push(own.map_or(0, |it| it.minislots));
    }
    // Behind what the bucket held at first.
    let later = &words[8..];
    assert!(later.iter().all(|it| [390, 391].contains(it)), "{later:?}");
    let sum: u64 = later.iter().sum();
    assert!(sum.abs_diff(31_250) <= 1, "{sum}");
}

#[test]
fn three_maps_of_others_are_the_neighbours_and_three_of_an_empty_bucket_the_homes_own() {
    // Vector 25: what was requested for MAP 1 is granted in MAP 4.
    let first = MemberConfig { priority: 7, ..greedy() };
    let starts_at = |map: u64| Instant::ZERO + Span::from_us(945) * map;
    let mut full = scheduler(&GroupConfig::BASE, &[greedy(), first]);
    full.request((0, 0), 480);
    full.request((1, 0), 3 * 1_629 * 48);
    let found: Vec<u64> = (1..=4).map(|map| allocate(&mut full, map, 1_629)[0]).collect();
    assert_eq!(found, [0, 0, 0, 10]);
    // Within its buckets from the start: it waited for its neighbours.
    assert_eq!(full.eligible_at((0, 0), 480), Some(starts_at(1)));

    let slow = MemberConfig {
        shaper: ShaperConfig { sustained: BitRate::from_kbps(10_500), ..ShaperConfig::BASE },
        ..greedy()
    };
    let mut own = scheduler(&GroupConfig::BASE, &[slow]);
    // Three MAPs of 1240.3125 B less than nothing.
    let price = own.ports[0].buckets.price(Bytes(3_044 + 3_721));
    own.ports[0].buckets.debit(Instant::ZERO, price);
    own.request((0, 0), 480);
    let found: Vec<u64> = (1..=4).map(|map| allocate(&mut own, map, 1_629)[0]).collect();
    assert_eq!(found, [0, 0, 0, 10]);
    assert_eq!(own.eligible_at((0, 0), 480), Some(starts_at(4)));
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No minislot is given twice, none is left while a home requests it, and homes that always want more are
        /// served alike within two turns and two minislots.
        #[test]
        fn nothing_is_wasted_and_greedy_homes_are_served_alike(
            homes in 2_usize..12,
            free in prop::collection::vec(0_u64..400, 1..60),
        ) {
            let mut scheduler = scheduler(&GroupConfig::BASE, &alloc::vec![greedy(); homes]);
            let mut sum = alloc::vec![0; homes];
            for (map, free) in (1..).zip(free) {
                for port in 0..homes {
                    scheduler.request((port, 0), 100_000);
                }
                let found = allocate(&mut scheduler, map, free);
                prop_assert_eq!(found.iter().sum::<u64>(), free);
                for (sum, found) in sum.iter_mut().zip(found) {
                    *sum += found * 48;
                }
            }
            let (least, most) = (sum.iter().min().unwrap(), sum.iter().max().unwrap());
            prop_assert!(most - least <= 2 * (1_536 + 48), "{sum:?}");
        }
    }
}

/// Mean of what is left after each MAP, Q' = max(0, Q + A - c) with Poisson arrivals A of mean `load` x `room`, from its
/// distribution.
fn leftover(room: usize, load: f64) -> f64 {
    const LONGEST: usize = 400;
    let mean = load * room as f64;
    let mut arrive = alloc::vec![sojourn_base::math::exp(-mean)];
    while arrive.len() < 4 * room {
        arrive.push(arrive[arrive.len() - 1] * mean / arrive.len() as f64);
    }
    let mut waiting = alloc::vec![0.0; LONGEST];
    waiting[0] = 1.0;
    loop {
        let mut next = alloc::vec![0.0; LONGEST];
        for (held, chance) in waiting.iter().enumerate() {
            for (come, its) in arrive.iter().enumerate() {
                next[(held + come).saturating_sub(room).min(LONGEST - 1)] += chance * its;
            }
        }
        let moved: f64 = waiting.iter().zip(&next).map(|(a, b)| (a - b).abs()).sum();
        waiting = next;
        if moved < 1e-7 {
            break;
        }
    }
    let mean_of = |(held, chance): (usize, &f64)| held as f64 * chance;
    waiting.iter().enumerate().map(mean_of).sum()
}

#[test]
fn what_a_map_leaves_for_the_next_one_is_the_queue_of_theory() {
    // Packets of 32 minislots, requests in the order of their arrival, room for 16 or 50 packets in a MAP.
    for (room, load, printed) in [(16, 0.8, 0.673), (16, 0.9, 2.772), (16, 0.95, 7.550), (50, 0.9, 1.779)] {
        let mean = leftover(room, load);
        assert!((mean / printed - 1.0).abs() < 0.01, "{mean} for {printed}");
    }
    // The CMTS leaves the recursion's backlog, MAP by MAP, for packets of any home.
    let mut config = GroupConfig::BASE;
    config.scheduler.order = Order::FirstCome;
    let mut scheduler = scheduler(&config, &[greedy(); 40]);
    let mut stream = sojourn_base::Seed(7).stream("packets");
    let (mut held, mut sum) = (0_u64, 0_u64);
    for map in 1..5_000 {
        // Twenty homes with a chance each, and twenty with another: 14.4 packets a MAP in the mean, 16 have room.
        for port in 0..40 {
            let chance = if port < 20 { 0.62 } else { 0.1 };
            if stream.unit() < chance {
                scheduler.request((port, 0), 32 * 48);
                held += 1;
            }
        }
        let given: u64 = allocate(&mut scheduler, map, 16 * 32).iter().sum();
        assert_eq!(given, 32 * held.min(16));
        held = held.saturating_sub(16);
        sum += held;
    }
    assert!(sum > 0);
}
