//! CoDel with its queue: vectors by hand.

use super::packet;
use sojourn_base::{Bytes, Ecn, Instant, Limit, Meta, PacketHandle, Packets, Span};
use sojourn_queue::{CodelConfig, CodelLaw, CodelVariant, ManagerConfig, Reason};
use sojourn_testkit::context::TestContext;

const DEEP: Limit = Limit::Packets(Packets(100_000));

fn codel(law: CodelLaw) -> ManagerConfig {
    ManagerConfig::from(CodelConfig { law, limit: DEEP })
}

/// Serves one packet per millisecond from a deep queue whose packets have waited for 20 ms or more;
/// gives the calls (counted in ms) that dropped and those that delivered a marked packet.
fn standing_queue(law: CodelLaw, meta: Meta, calls: u64) -> (Vec<u64>, Vec<u64>) {
    let mut manager = codel(law).build();
    let mut context = TestContext::without_draws();
    for item in 0..2 * calls {
        let _ = manager.enqueue(Instant::ZERO, meta, PacketHandle(item), &mut context);
    }
    let (mut dropping, mut marking) = (vec![], vec![]);
    for ms in 1..=calls {
        let before = context.dropped.len();
        let sent = manager.dequeue(Instant::from_ms(20 + ms), &mut context).expect("a deep queue");
        if context.dropped.len() > before {
            dropping.push(ms);
        }
        if sent.meta.ecn == Ecn::Ce {
            marking.push(ms);
        }
    }
    (dropping, marking)
}

#[test]
fn a_burst_that_drains_within_an_interval_loses_nothing() {
    for (packets, drop_calls, last) in [(200, vec![105], 199), (100, vec![], 100)] {
        let mut manager = codel(CodelLaw::RFC8289).build();
        let mut context = TestContext::without_draws();
        for item in 0..packets {
            let _ = manager.enqueue(Instant::ZERO, packet(1500, 0), PacketHandle(item), &mut context);
        }
        let (mut calls, mut deliveries, mut last_delivery) = (vec![], 0, 0);
        for ms in 1..=300 {
            let before = context.dropped.len();
            if manager.dequeue(Instant::from_ms(ms), &mut context).is_some() {
                deliveries += 1;
                last_delivery = ms;
            }
            if context.dropped.len() > before {
                calls.push(ms);
            }
        }
        assert_eq!(calls, drop_calls);
        assert_eq!(context.dropped.len(), drop_calls.len());
        assert_eq!(deliveries + drop_calls.len() as u64, packets);
        assert_eq!(last_delivery, last);
    }
}

#[test]
fn bursts_that_drain_by_themselves_cause_no_drop() {
    // Claim W12-10: 100 ms of packets at a time, with pauses, for every version of the law.
    for law in [
        CodelLaw { variant: CodelVariant::Original2012, ..CodelLaw::WHITE2012 },
        CodelLaw::WHITE2013,
        CodelLaw::AKHTAR2013,
        CodelLaw::RFC8289,
    ] {
        let mut manager = codel(law).build();
        let mut context = TestContext::without_draws();
        for burst in 0..50 {
            let start = burst * 150;
            for item in 0..100 {
                let now = Instant::from_ms(start);
                let _ = manager.enqueue(now, packet(1500, 0), PacketHandle(item), &mut context);
            }
            for ms in 1..=101 {
                let _ = manager.dequeue(Instant::from_ms(start + ms), &mut context);
            }
        }
        assert_eq!(context.dropped.len(), 0);
    }
}

/// Serves one packet per millisecond, 40 ms after its arrival, and lets exactly `behind` bytes wait
/// behind each; gives the calls that dropped.
fn calls_that_drop(behind: u32, calls: u64) -> Vec<u64> {
    let mut manager = codel(CodelLaw::RFC8289).build();
    let mut context = TestContext::without_draws();
    let ahead = u64::from(behind / 1500);
    for _ in 0..ahead {
        let _ = manager.enqueue(Instant::ZERO, packet(1500, 0), PacketHandle::default(), &mut context);
    }
    let mut dropping = vec![];
    for ms in 1..=calls {
        let arrival = Instant::from_ms(ms);
        let _ = manager.enqueue(arrival, packet(1500, 0), PacketHandle::default(), &mut context);
        let before = context.dropped.len();
        let _ = manager.dequeue(arrival + Span::from_ms(40), &mut context);
        if context.dropped.len() > before {
            dropping.push(ms);
        }
    }
    dropping
}

#[test]
fn a_single_packet_behind_protects_the_one_in_front() {
    assert!(calls_that_drop(1500, 2000).is_empty());
    // With two packets behind: the first pop is at call 1, so the first drop is 100 calls later.
    assert_eq!(calls_that_drop(3000, 150)[0], 101);
}

#[test]
fn bytes_that_the_link_has_staged_count_as_waiting() {
    // White 2012 §2.2, sojourn over both queues: one packet at a time in this queue, a deep one behind.
    let served = |staged| {
        let mut manager = codel(CodelLaw::WHITE2012).build();
        let mut context = TestContext::without_draws();
        context.staged = Bytes(staged);
        let mut delivered = 0;
        for ms in 1..=150 {
            let arrival = Instant::from_ms(ms);
            let _ = manager.enqueue(arrival, packet(1500, 0), PacketHandle::default(), &mut context);
            let now = arrival + Span::from_ms(40);
            delivered += u32::from(manager.dequeue(now, &mut context).is_some());
        }
        (context.dropped.len(), delivered)
    };
    assert_eq!(served(1500), (0, 150));
    // The first drop, one interval after the first packet, leaves nothing to send in that call.
    assert_eq!(served(1501), (1, 149));
}

#[test]
fn marks_come_at_the_times_of_drops() {
    let times = vec![101, 201, 272, 330, 380, 425, 465, 503, 539, 572];
    let (drops, marks) = standing_queue(CodelLaw::RFC8289, packet(1500, 0), 572);
    assert_eq!((drops, marks), (times.clone(), vec![]));
    let capable = Meta { ecn: Ecn::Ect0, ..packet(1500, 0) };
    let with_ecn = CodelLaw { ecn: true, ..CodelLaw::RFC8289 };
    assert_eq!(standing_queue(with_ecn, capable, 572), (vec![], times));
}

#[test]
fn l4s_packets_see_only_their_threshold() {
    let law = CodelLaw { ecn: true, ce_threshold: Some(Span::from_ms(1)), l4s: true, ..CodelLaw::RFC8289 };
    let mut manager = codel(law).build();
    let mut context = TestContext::without_draws();
    for (ecn, waited_us, marked) in [(Ecn::Ect1, 1_000, false), (Ecn::Ect1, 1_001, true), (Ecn::Ect0, 50_000, false)] {
        let meta = Meta { ecn, ..packet(1500, 0) };
        let at = Instant::from_s(1);
        let _ = manager.enqueue(at, meta, PacketHandle::default(), &mut context);
        let sent = manager.dequeue(at + Span::from_us(waited_us), &mut context).expect("one packet");
        assert_eq!(sent.meta.ecn == Ecn::Ce, marked, "{ecn:?} after {waited_us} us");
    }
    // Without the L4S rule the threshold is for every capable packet.
    let mut manager = codel(CodelLaw { l4s: false, ..law }).build();
    let meta = Meta { ecn: Ecn::Ect0, ..packet(1500, 0) };
    let _ = manager.enqueue(Instant::from_s(1), meta, PacketHandle::default(), &mut context);
    let sent = manager.dequeue(Instant::from_ms(1002), &mut context);
    assert_eq!(sent.expect("one packet").meta.ecn, Ecn::Ce);
    assert_eq!(context.marked.last().expect("a mark").1, Reason::Target);
}

#[test]
fn the_limit_in_packets_is_held_exactly() {
    let config = ManagerConfig::from(CodelConfig::WHITE2012);
    let lengths = [1500; 418];
    assert_eq!(super::verdicts(&config, &lengths), ["A".repeat(417).as_str(), "D"].concat());
}

#[test]
fn a_target_above_the_interval_is_a_problem() {
    let law = CodelLaw { target: Span::from_s(5), ..CodelLaw::RFC8289 };
    let problems = codel(law).problems();
    assert_eq!(problems[0].field, "target");
    assert_eq!(problems[0].message, "5 s is not shorter than interval (100 ms)");
}
