//! The published vectors of the control law, driven packet by packet without a queue.

use super::*;
use std::vec;
use std::vec::Vec;

/// A call that dropped: its time in ms, how many packets, and the state after it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Drops {
    call_ms: u64,
    packets: u32,
    count: u32,
    next_us: u64,
    entered: bool,
}

/// One call per millisecond from 1 ms on, over a backlog that never ends; `sojourn` gives each call's
/// delay in ms.
fn drops(law: &CodelLaw, calls_ms: u64, sojourn: impl Fn(u64) -> u64) -> Vec<Drops> {
    let mut codel = Codel::default();
    let mut found = vec![];
    for ms in 1..=calls_ms {
        let now = Instant::from_ms(ms);
        let head = Head { sojourn: Span::from_ms(sojourn(ms)), above_floor: true };
        let was_dropping = codel.is_dropping();
        let mut packets = 0;
        let mut judgement = codel.on_head(law, head, now);
        while judgement == Judgement::Signal {
            packets += 1;
            judgement = codel.on_dropped(law, Some(head), now);
        }
        if packets > 0 {
            found.push(Drops {
                call_ms: ms,
                packets,
                count: codel.count(),
                next_us: codel.next_signal().as_ns() / 1000,
                entered: !was_dropping,
            });
        }
    }
    found
}

fn with_variant(variant: CodelVariant) -> CodelLaw {
    CodelLaw { variant, ..CodelLaw::RFC8289 }
}

const VARIANTS: [CodelVariant; 4] =
    [CodelVariant::Original2012, CodelVariant::Nichols2013, CodelVariant::Sfq2013, CodelVariant::Rfc8289];

#[test]
fn a_standing_queue_is_signalled_faster_and_faster() {
    for variant in VARIANTS {
        let drops = drops(&with_variant(variant), 572, |_| 20);
        let calls: Vec<_> = drops.iter().map(|drop| drop.call_ms).collect();
        assert_eq!(calls, [101, 201, 272, 330, 380, 425, 465, 503, 539, 572], "{variant:?}");
        let next: Vec<_> = drops.iter().map(|drop| drop.next_us).take(9).collect();
        assert_eq!(
            next,
            [201_000, 271_710, 329_445, 379_445, 424_167, 464_991, 502_788, 538_143, 571_477],
            "{variant:?}"
        );
    }
}

#[test]
fn variants_differ_in_how_they_resume() {
    let dips = |ms| {
        if (600..700).contains(&ms) || (900..1000).contains(&ms) { 1 } else { 20 }
    };
    let entry = |call_ms, count, next_us| (call_ms, count, next_us);
    for (variant, second, third, before_900, total, last_count) in [
        (CodelVariant::Original2012, entry(800, 9, 833_333), entry(1100, 11, 1_130_151), 14, 22, 18),
        (CodelVariant::Nichols2013, entry(732, 8, 767_355), entry(1028, 11, 1_058_151), 16, 27, 21),
        (CodelVariant::Rfc8289, entry(800, 9, 833_333), entry(1100, 3, 1_157_735), 14, 19, 7),
    ] {
        let drops = drops(&with_variant(variant), 1300, dips);
        let entries: Vec<_> =
            drops.iter().filter(|drop| drop.entered).map(|drop| (drop.call_ms, drop.count, drop.next_us)).collect();
        assert_eq!(entries[1..], [second, third], "{variant:?}");
        let packets =
            |until| -> u32 { drops.iter().filter(|drop| drop.call_ms < until).map(|drop| drop.packets).sum() };
        assert_eq!(packets(900), before_900, "{variant:?}");
        assert_eq!(packets(u64::MAX), total, "{variant:?}");
        assert_eq!(drops.last().unwrap().count, last_count, "{variant:?}");
    }
}

/// RFC 8289 section 5.5: `delta > 1` resumes. ns-2 of 2012: at one less than the count, if that was more than one; of 2013: at two
/// less than it.
#[test]
fn an_episode_resumes_from_the_least_count_that_its_version_has() {
    for (variant, count, last_count, resumed) in [
        (CodelVariant::Rfc8289, 2, 1, 1),
        (CodelVariant::Rfc8289, 3, 1, 2),
        (CodelVariant::Rfc8289, 4, 2, 2),
        (CodelVariant::Original2012, 2, 1, 1),
        (CodelVariant::Original2012, 3, 1, 2),
        (CodelVariant::Sfq2013, 3, 1, 1),
        (CodelVariant::Sfq2013, 4, 1, 2),
        (CodelVariant::Nichols2013, 128, 1, 126),
        (CodelVariant::Nichols2013, 129, 1, 126),
        (CodelVariant::Nichols2013, 200, 1, 196),
        (CodelVariant::Sfq2013, 200, 1, 198),
    ] {
        let codel = Codel { count, last_count, drop_next: Instant::from_s(1), ..Codel::default() };
        assert_eq!(codel.resumed_count(&with_variant(variant), Instant::from_s(1)), resumed, "{variant:?} {count}");
    }
}

#[test]
fn the_values_of_white_2013() {
    let drops = drops(&CodelLaw::WHITE2013, 993, |_| 20);
    let calls: Vec<_> = drops.iter().map(|drop| drop.call_ms).collect();
    assert_eq!(calls, [151, 301, 408, 494, 569, 636, 697, 754, 807, 857, 905, 950, 993]);
}

#[test]
fn the_first_drop_waits_one_interval_and_gaps_never_grow() {
    // Claim W12-09: target 5 ms, interval 100 ms, the delay forced to 20 ms.
    let mut due = vec![];
    let mut codel = Codel::default();
    let law = CodelLaw::WHITE2012;
    for ms in 1..20_000 {
        let now = Instant::from_ms(ms);
        let head = Head { sojourn: Span::from_ms(20), above_floor: true };
        let mut judgement = codel.on_head(&law, head, now);
        while judgement == Judgement::Signal {
            judgement = codel.on_dropped(&law, Some(head), now);
            due.push(codel.next_signal());
        }
    }
    assert_eq!(due[0], Instant::from_ms(101 + 100));
    let gaps: Vec<_> = due.windows(2).map(|pair| pair[1].since(pair[0]).unwrap()).collect();
    assert!(gaps.windows(2).all(|pair| pair[1] <= pair[0]));
}

#[test]
fn in_linux_one_step_of_newton_makes_the_second_wait_half_an_interval() {
    // Worked out with the arithmetic of `codel_impl.h`, late from 5 ms on, before which no packet can be so old: waits of
    // 1, 0.5, 0.5625, 0.488, 0.442 and so on of the interval, 1/√n at last.
    let drops = drops(&with_variant(CodelVariant::Linux), 572, |_| 20);
    let calls: Vec<_> = drops.iter().map(|drop| drop.call_ms).collect();
    assert_eq!(calls, [105, 205, 255, 312, 361, 405, 445, 483, 518, 551]);
}

#[test]
fn the_drop_rate_grows_linearly_in_time() {
    // Claim W13-29: the number of drops due by t after the first is about (t/(2·interval))², so the
    // rate over time is a line; R² of rate against time is at least 0.99.
    let drops = drops(&with_variant(CodelVariant::Rfc8289), 10_000, |_| 20);
    let rate: Vec<(f64, f64)> = (1..20_u32)
        .map(|bin| {
            let (from, to) = (bin * 500, bin * 500 + 500);
            let in_bin = drops.iter().filter(|drop| (u64::from(from)..u64::from(to)).contains(&drop.call_ms));
            let packets: u32 = in_bin.map(|drop| drop.packets).sum();
            (f64::from(from), f64::from(packets))
        })
        .map(|(time, rate)| (time / 1000.0, rate))
        .collect();
    let n = rate.len() as f64;
    let (sum_x, sum_y) = rate.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let (mean_x, mean_y) = (sum_x / n, sum_y / n);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in &rate {
        xy += (x - mean_x) * (y - mean_y);
        xx += (x - mean_x) * (x - mean_x);
        yy += (y - mean_y) * (y - mean_y);
    }
    assert!(xy * xy / (xx * yy) >= 0.99, "R² {}", xy * xy / (xx * yy));
}

#[test]
fn one_dip_below_target_per_interval_clears_the_pending_drop() {
    // Claim W13-30.
    for variant in VARIANTS {
        let law = with_variant(variant);
        let found = drops(&law, 5_000, |ms| if ms % 99 == 0 { 4 } else { 500 });
        assert_eq!(found, [], "{variant:?}");
    }
}

#[test]
fn a_delay_of_exactly_the_target_counts_as_above_it() {
    let at_target = drops(&CodelLaw::RFC8289, 101, |_| 5);
    assert_eq!(at_target.len(), 1);
    assert_eq!(at_target[0].call_ms, 101);
    assert_eq!(drops(&CodelLaw::RFC8289, 5000, |_| 4), []);
}

#[test]
fn long_episodes_of_2013_resume_at_98_percent_of_their_count() {
    let law = CodelLaw::AKHTAR2013;
    let mut codel = Codel {
        first_above: Some(Instant::from_ms(1)),
        drop_next: Instant::from_ms(900),
        count: 200,
        ..Codel::default()
    };
    let late = Head { sojourn: Span::from_ms(20), above_floor: true };
    let now = Instant::from_ms(1000);
    assert_eq!(codel.on_head(&law, late, now), Judgement::Signal);
    let _ = codel.on_dropped(&law, Some(late), now);
    // 0.9844 × 200 = 196.88.
    assert_eq!(codel.count(), 196);
}

#[test]
fn spacing_follows_the_inverse_square_root() {
    // 100 ms / √2 = 70.710 678 118 654 75… ms.
    for (count, ps) in
        [(0, 100_000_000_000), (1, 100_000_000_000), (2, 70_710_678_119), (4, 50_000_000_000), (9, 33_333_333_333)]
    {
        assert_eq!(spacing(Span::from_ms(100), count), Span::from_ps(ps), "{count}");
    }
}

#[test]
fn the_floor_follows_the_largest_packet_or_stays() {
    let mut following = Floor::new(CodelFloor::LargestSeen);
    assert!(!following.on_leaving(40, 256));
    assert!(following.on_leaving(40, 257));
    assert!(!following.on_leaving(1500, 1500));
    assert!(!following.on_leaving(40, 1500));
    let mut fixed = Floor::new(CodelFloor::Fixed(1000));
    assert!(fixed.on_leaving(9000, 1001));
    assert!(!fixed.on_leaving(40, 1000));
}

/// RFC 8289 section 5.5, `dodequeue`: an empty queue ends the episode, and the next late packet waits for an interval again.
#[test]
fn an_empty_queue_ends_the_episode_and_the_wait() {
    let (mut codel, law) = (Codel::default(), CodelLaw::RFC8289);
    let late = Head { sojourn: Span::from_ms(20), above_floor: true };
    assert_eq!(codel.on_head(&law, late, Instant::from_ms(1)), Judgement::Pass);
    codel.on_empty();
    assert_eq!(codel.on_head(&law, late, Instant::from_ms(101)), Judgement::Pass, "the wait began anew");
    assert_eq!(codel.on_head(&law, late, Instant::from_ms(201)), Judgement::Signal);
    assert_eq!(codel.on_dropped(&law, Some(late), Instant::from_ms(201)), Judgement::Pass);
    assert!(codel.is_dropping());
    codel.on_empty();
    assert!(!codel.is_dropping());
}

/// Linux `fq_codel_drop`: packets that pay for an overflow set the pace as signals do; no document has that.
#[test]
fn only_linux_counts_what_pays_for_an_overflow() {
    for variant in [CodelVariant::Linux, CodelVariant::Rfc8289] {
        let mut codel = Codel::default();
        codel.on_paid(&with_variant(variant), 64);
        assert_eq!(codel.count(), if variant == CodelVariant::Linux { 64 } else { 0 }, "{variant:?}");
    }
}
