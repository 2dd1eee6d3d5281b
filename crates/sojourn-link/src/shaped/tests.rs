use super::*;
use crate::config::{Pull, Rule, ShaperConfig};
use crate::testing::{Collector, Picky, drive, drive_packets};
use sojourn_base::{BitRate, Packets};
use sojourn_queue::{CodelConfig, CodelQueue, DropTailConfig, DropTailQueue, FqCodelConfig, FqCodelQueue, Reason};
use std::vec::Vec;

/// 1 Mb/s with a bucket of `burst` bytes and no peak rate: a byte takes 8 µs.
fn config(burst: u64) -> ShapedConfig {
    ShapedConfig {
        shaper: ShaperConfig {
            sustained: BitRate::from_mbps(1),
            burst: Bytes(burst),
            peak: BitRate::ZERO,
            peak_burst: Bytes::ZERO,
        },
        rule: Rule::Bucket,
        pull: Pull::WithTokens,
        delay: Span::from_ms(1),
    }
}

fn arrivals_in_us(context: &Collector) -> Vec<u64> {
    context.delivered.iter().map(|(_, _, passage)| passage.arrives_at.as_ns() / 1000).collect()
}

#[test]
fn packets_leave_when_the_bucket_holds_them() {
    let queue = DropTailQueue::new(DropTailConfig::bytes(100_000));
    let (mut link, mut context) = (Shaped::new(config(3000), Box::new(queue)), Collector::default());
    // 3000 B of tokens pass two packets; the third waits 12 ms, and the short one 1.6 ms more.
    let lengths = [1500, 1500, 1500, 200];
    let wakeups = drive(&mut link, lengths.map(|length| (Instant::ZERO, length)), Instant::NEVER, &mut context);
    assert_eq!(arrivals_in_us(&context), [1_000, 1_000, 13_000, 14_600]);
    assert_eq!(wakeups, 2);
    assert_eq!(context.delivered[3].2.delay.queue, Span::from_us(13_600));
}

/// Returns the times at which packets leave a shaper of 18 Mb/s: three of 1518 B at once, one of 74 B at 1400 µs, one
/// of 1518 B at 10 ms.
fn leave_at_ns(rule: Rule) -> Vec<u64> {
    let mut config = ShapedConfig { rule, delay: Span::ZERO, ..config(1518) };
    config.shaper.sustained = BitRate::from_mbps(18);
    let queue = DropTailQueue::new(DropTailConfig::bytes(100_000));
    let (mut link, mut context) = (Shaped::new(config, Box::new(queue)), Collector::default());
    let arrivals = [(0, 1518), (0, 1518), (0, 1518), (1400, 74), (10_000, 1518)];
    drive(&mut link, arrivals.map(|(us, length)| (Instant::from_us(us), length)), Instant::NEVER, &mut context);
    let left = context.delivered.iter();
    left.map(|(_, _, passage)| passage.arrives_at.as_ns()).collect()
}

#[test]
fn by_the_deficit_rule_a_packet_is_paid_for_after_it_has_left() {
    // 1518 B take 674.67 µs: the small one waits until all three are paid for.
    let deficit = [0, 674_667, 1_349_333, 2_024_000, 10_000_000];
    assert_eq!(
        leave_at_ns(Rule::Deficit).iter().map(|ns| ns.div_ceil(1000)).collect::<Vec<_>>(),
        deficit.map(|ns: u64| ns.div_ceil(1000))
    );
    // A bucket of one packet has 50.67 µs worth of tokens by then, which are 114 B.
    assert_eq!(leave_at_ns(Rule::Bucket)[3], 1_400_000);
}

#[test]
fn by_the_deficit_rule_flow_queues_choose_when_the_shaper_is_free() {
    // A manager that cannot tell what comes next is asked when the packet before is paid for: the second flow's packet
    // that came meanwhile goes before the first flow's last.
    let order = |rule| {
        let config = ShapedConfig { rule, ..config(1500) };
        let mut link = Shaped::new(config, Box::new(FqCodelQueue::new(FqCodelConfig::BASE)));
        let mut context = Collector::default();
        let mut arrivals = [(0, 1, 1500); 5];
        arrivals[4] = (25, 2, 100);
        drive_packets(
            &mut link,
            arrivals.map(|(ms, flow_hash, length)| {
                let meta = Meta { flow_hash, length, ..Meta::default() };
                (Instant::from_ms(ms), meta)
            }),
            Instant::NEVER,
            &mut context,
        );
        let delivered = context.delivered.iter();
        delivered.map(|(_, meta, _)| meta.length).collect::<Vec<_>>()
    };
    // At 24 ms the third leaves; the fourth's turn is at 36 ms, when its flow has had its quantum.
    assert_eq!(order(Rule::Deficit), [1500, 1500, 1500, 100, 1500]);
    assert_eq!(order(Rule::Bucket), [1500, 1500, 1500, 1500, 100]);
}

#[test]
fn a_packet_taken_ahead_leaves_its_place_and_not_earlier() {
    // The bucket passes one packet; the second has its tokens after 12 ms. Room for one: the second keeps
    // the third out, unless the shaper has taken it.
    let arrived = |pull| {
        let queue = DropTailQueue::new(DropTailConfig {
            limit: sojourn_base::Limit::Packets(Packets(1)),
            ..DropTailConfig::bytes(0)
        });
        let config = ShapedConfig { pull, ..config(1500) };
        let (mut link, mut context) = (Shaped::new(config, Box::new(queue)), Collector::default());
        let arrivals = [0, 1, 2].map(|ms| (Instant::from_ms(ms), 1500));
        drive(&mut link, arrivals, Instant::NEVER, &mut context);
        arrivals_in_us(&context)
    };
    assert_eq!(arrived(Pull::WithTokens), [1_000, 13_000]);
    assert_eq!(arrived(Pull::Ahead), [1_000, 13_000, 25_000]);
}

#[test]
fn a_shaper_that_takes_packets_ahead_lets_codel_drop_small_ones_like_large_ones() {
    // A third more than the line carries, every eighth packet a small one. A packet is judged when the
    // shaper takes it. With the tokens: right behind the packet before if it is small, so that nearly all
    // drops fall due while a large one waits. Ahead: whenever the packet before has left.
    let lost = |pull| {
        let config = ShapedConfig { pull, ..config(1500) };
        let queue = CodelQueue::new(CodelConfig {
            limit: sojourn_base::Limit::Packets(Packets(100_000)),
            ..CodelConfig::WHITE2012
        });
        let (mut link, mut context) = (Shaped::new(config, Box::new(queue)), Collector::default());
        let arrivals = (0..40_000).map(|n| {
            let length = if n % 8 == 0 { 100 } else { 1500 };
            (Instant::from_us(7_956 * n), length)
        });
        drive(&mut link, arrivals, Instant::NEVER, &mut context);
        let share = |length| {
            let drops = context.dropped.iter().filter(|d| d.1.length == length);
            let sent = context.delivered.iter().filter(|d| d.1.length == length);
            drops.count() as f64 / (sent.count() as f64).max(1.0)
        };
        share(100) / share(1500)
    };
    let (with_tokens, ahead) = (lost(Pull::WithTokens), lost(Pull::Ahead));
    assert!(with_tokens < 0.3, "{with_tokens}");
    assert!((0.7..1.4).contains(&ahead), "{ahead}");
}

#[test]
fn the_downstream_of_2012_obeys_both_buckets() {
    // Peak 50 Mb/s: 1500 B take 240 µs; the first leaves at once and leaves 22 B.
    let queue = DropTailQueue::new(DropTailConfig::bytes(100_000));
    let (mut link, mut context) =
        (Shaped::new(ShapedConfig::WHITE2012_DOWNSTREAM, Box::new(queue)), Collector::default());
    let arrivals = [1500; 3].map(|length| (Instant::ZERO, length));
    drive(&mut link, arrivals, Instant::NEVER, &mut context);
    let ns: Vec<u64> = context.delivered.iter().map(|d| d.2.arrives_at.as_ns()).collect();
    assert_eq!(ns, [1_000_000, 1_236_480, 1_476_480]);
}

#[test]
fn full_buffers_drain_in_the_printed_times() {
    // W12-24 and A4: 417 packets of 1500 B take 1000.8 ms at 5 Mb/s and 250.2 ms at 20 Mb/s, 21 take
    // 50.4 ms. The bucket holds no more than the packet that leaves first.
    for (packets, mbps, us) in [(417, 5, 1_000_800), (417, 20, 250_200), (21, 5, 50_400)] {
        let mut config = config(1500);
        config.shaper.sustained = BitRate::from_mbps(mbps);
        config.delay = Span::ZERO;
        let queue = DropTailQueue::new(DropTailConfig {
            limit: sojourn_base::Limit::Packets(Packets(packets)),
            ..DropTailConfig::bytes(0)
        });
        let (mut link, mut context) = (Shaped::new(config, Box::new(queue)), Collector::default());
        let arrivals = (0..600).map(|_| (Instant::ZERO, 1500));
        drive(&mut link, arrivals, Instant::NEVER, &mut context);
        // One packet left at once and made room.
        assert_eq!(context.delivered.len() as u64, u64::from(packets) + 1);
        assert_eq!(arrivals_in_us(&context).last(), Some(&us));
    }
}

#[test]
fn head_drops_cost_no_tokens() {
    // W12-90. The bucket is never full after the first packet, so what has left it is the initial
    // depth plus what accrued less what is in it; that must be what was delivered.
    let queue = CodelQueue::new(CodelConfig::WHITE2012);
    let (mut link, mut context) = (Shaped::new(config(3000), Box::new(queue)), Collector::default());
    let arrivals = (0..2_000).map(|n| (Instant::from_us(10_000 * n), 1400));
    drive(&mut link, arrivals, Instant::from_s(19), &mut context);
    let late = context.dropped.iter().filter(|d| d.2.reason == Reason::Target).count();
    assert!(late > 20, "{late} head drops");
    let now = Instant::from_s(19);
    let delivered: u64 = context.delivered.iter().map(|d| u64::from(d.1.length)).sum();
    let accrued = 19 * 1_000_000 / 8;
    assert_eq!(3000 + accrued - link.tokens(now).0, delivered);
}

#[test]
fn unused_time_is_paid_back_up_to_the_depth() {
    // W13-103: after t idle seconds with an empty bucket, min(R t, B) leaves at once.
    for (idle_ms, at_once) in [(0, 0), (12, 1), (24, 2), (60, 5), (500, 5)] {
        let queue = DropTailQueue::new(DropTailConfig::bytes(1_000_000));
        let (mut link, mut context) = (Shaped::new(config(7500), Box::new(queue)), Collector::default());
        let start = Instant::from_ms(idle_ms);
        let burst = |at| (0..20).map(move |_| (at, 1500));
        // The first five empty the bucket; the burst comes after the pause.
        drive(&mut link, burst(Instant::ZERO).take(5), start, &mut context);
        context.delivered.clear();
        drive(&mut link, burst(start), start, &mut context);
        assert_eq!(context.delivered.len(), at_once, "after {idle_ms} ms");
    }
}

#[test]
fn a_longer_packet_behind_a_dropped_head_waits_for_its_own_tokens() {
    for tells in [true, false] {
        let manager = Picky { held: Vec::new(), tells };
        let (mut link, mut context) = (Shaped::new(config(1500), Box::new(manager)), Collector::default());
        // 1500 B empty the bucket. The 50 B head would have its tokens at 0.4 ms; it is dropped, and
        // the packet behind it leaves at 8 ms, the next one 8 ms later.
        let lengths = [1500, 50, 1000, 1000];
        drive(&mut link, lengths.map(|length| (Instant::ZERO, length)), Instant::from_ms(5), &mut context);
        assert_eq!(context.dropped.len(), 1);
        assert_eq!(link.backlog().packets, Packets(2));
        drive(&mut link, [], Instant::NEVER, &mut context);
        assert_eq!(arrivals_in_us(&context), [1_000, 9_000, 17_000]);
        assert_eq!(link.next_wakeup(), Instant::NEVER);
    }
}

#[test]
fn two_flows_of_their_own_carry_twice_the_sustained_rate_in_sum() {
    // W13-28: each service flow of a modem has a shaper of its own, and nothing limits their sum.
    let sent_in = |flows: u32| -> u64 {
        (0..flows)
            .map(|_| {
                let queue = DropTailQueue::new(DropTailConfig::bytes(1_000_000));
                let mut config = config(1500);
                config.shaper.sustained = BitRate::from_mbps(5);
                let (mut link, mut context) = (Shaped::new(config, Box::new(queue)), Collector::default());
                // 8 Mb/s are offered for 12 s.
                let offer = (0..8_000_u64).map(|n| (Instant::from_us(1_500 * n), 1500));
                drive(&mut link, offer, Instant::from_s(12), &mut context);
                // From 1 s on, when the bucket is long empty, for 10 s.
                let judged = Instant::from_ms(1_001)..Instant::from_ms(11_001);
                let delivered = context.delivered.iter();
                delivered
                    .filter(|(_, _, passage)| judged.contains(&passage.arrives_at))
                    .map(|(_, meta, _)| u64::from(meta.length))
                    .sum::<u64>()
            })
            .sum()
    };
    // 10 s at 5 Mb/s are 6.25 MB; a packet more or less may fall into the window.
    assert!(sent_in(1).abs_diff(6_250_000) <= 1500, "{}", sent_in(1));
    assert!(sent_in(2).abs_diff(12_500_000) <= 3000, "{}", sent_in(2));
}
