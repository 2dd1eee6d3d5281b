//! DT-1 to DT-6, and the buffers of White 2012 and 2013 in time.

use super::{name, named, packet, verdicts};
use sojourn_base::{BitRate, Bytes, Instant, Limit, PacketHandle, Packets, Span};
use sojourn_queue::{Admission, DropTailConfig, ManagerConfig, Reason, Verdict};
use sojourn_testkit::context::TestContext;

fn drop_tail(limit: Limit, admission: Admission) -> ManagerConfig {
    ManagerConfig::from(DropTailConfig { limit, admission, head_drop: false })
}

#[test]
fn three_packets_fit_and_ns_2_holds_one_less() {
    let limit = Limit::Packets(Packets(3));
    assert_eq!(verdicts(&drop_tail(limit, Admission::Fit), &[1500; 5]), "AAADD");
    assert_eq!(verdicts(&drop_tail(limit, Admission::Ns2Packets), &[1500; 5]), "AADDD");
}

#[test]
fn bytes_are_filled_to_the_last() {
    let config = ManagerConfig::from(DropTailConfig::WHITE2013_BUFFER_CONTROL);
    let lengths = [[1500; 20].as_slice(), &[1500, 1000, 218, 50, 32, 1]].concat();
    assert_eq!(verdicts(&config, &lengths), ["A".repeat(20).as_str(), "DAADAD"].concat());
}

#[test]
fn a_threshold_may_be_overshot_by_one_packet() {
    let config = drop_tail(Limit::Bytes(Bytes(31_250)), Admission::Threshold);
    let lengths = [[1500; 21].as_slice(), &[40]].concat();
    assert_eq!(verdicts(&config, &lengths), ["A".repeat(21).as_str(), "D"].concat());
}

#[test]
fn ns_2_in_byte_mode_stays_below_the_product() {
    // 4 packets of 500 bytes: 2000 bytes are never reached.
    let config = drop_tail(Limit::Packets(Packets(4)), Admission::Ns2Bytes { mean_packet: 500 });
    assert_eq!(verdicts(&config, &[1500, 500, 499, 1]), "ADAD");
}

#[test]
fn a_packet_larger_than_the_limit_never_fits() {
    let config = drop_tail(Limit::Bytes(Bytes(1000)), Admission::Fit);
    assert_eq!(verdicts(&config, &[1500, 1000]), "DA");
}

#[test]
fn head_drop_gives_up_the_oldest() {
    let config = ManagerConfig::from(DropTailConfig {
        limit: Limit::Packets(Packets(2)),
        admission: Admission::Fit,
        head_drop: true,
    });
    let mut manager = config.build();
    let mut context = TestContext::without_draws();
    for item in ["a", "b", "c"] {
        let verdict = manager.enqueue(Instant::ZERO, packet(100, 0), named(item), &mut context);
        assert_eq!(verdict, Verdict::Accepted);
    }
    let drops: Vec<_> = context.drops().collect();
    assert_eq!(drops, [(named("a"), Reason::Overlimit)]);
    for item in [Some("b"), Some("c"), None] {
        let sent = manager.dequeue(Instant::ZERO, &mut context);
        assert_eq!(sent.map(|packet| name(packet.item)).as_deref(), item);
    }
}

#[test]
fn the_wait_is_the_limit_over_the_actual_rate() {
    for (bytes, rate, us) in [
        (625_000, BitRate::from_mbps(20), 250_000),
        (625_000, BitRate::from_mbps(5), 1_000_000),
        (31_250, BitRate::from_kbps(2_500), 100_000),
        (31_250, BitRate::from_kbps(1_700), 147_059),
    ] {
        let config = ManagerConfig::from(DropTailConfig::bytes(bytes));
        let mut manager = config.build();
        let mut context = TestContext::without_draws();
        while manager.enqueue(Instant::ZERO, packet(50, 0), PacketHandle::default(), &mut context) == Verdict::Accepted
        {
        }
        let wait = rate.time_for(manager.backlog().bytes);
        assert_eq!((wait.as_ns() + 500) / 1000, us, "{bytes} bytes at {rate}");
    }
}

#[test]
fn the_queues_of_white_2012_are_as_long_as_printed() {
    // Claim W12-24: 417 packets are 1000.8 ms at 5 Mb/s and 250.2 ms at 20 Mb/s; 21 are 50.4 ms.
    let (sustained, peak) = (BitRate::from_mbps(5), BitRate::from_mbps(20));
    for (config, rate, us) in [
        (DropTailConfig::WHITE2012_BUFFERBLOAT, sustained, 1_000_800),
        (DropTailConfig::WHITE2012_BUFFERBLOAT, peak, 250_200),
        (DropTailConfig::WHITE2012_BUFFER_CONTROL, sustained, 50_400),
    ] {
        let Limit::Packets(packets) = config.limit else {
            panic!("White 2012 counts packets");
        };
        let full = rate.time_for(Bytes(u64::from(packets.0) * 1500));
        assert_eq!(full, Span::from_us(us));
    }
    // And the sizes follow from one second and 50 ms at the sustained rate, rounded up.
    for (span, packets) in [(Span::from_s(1), 417), (Span::from_ms(50), 21)] {
        assert_eq!(sustained.bytes_in(span).0.div_ceil(1500), packets);
    }
}

#[test]
fn a_limit_in_time_becomes_bytes_at_a_rate() {
    let by_time = |span| drop_tail(Limit::Time(span), Admission::Fit).at(BitRate::from_mbps(5));
    assert_eq!(by_time(Span::from_s(1)), ManagerConfig::from(DropTailConfig::WHITE2013_BUFFERBLOAT));
    assert_eq!(by_time(Span::from_ms(50)), ManagerConfig::from(DropTailConfig::WHITE2013_BUFFER_CONTROL));
}

#[test]
fn an_admission_rule_that_cannot_read_the_limit_is_a_problem() {
    let config = drop_tail(Limit::Bytes(Bytes(5000)), Admission::Ns2Packets);
    let problems = config.problems();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].field, "admission");
    let empty = drop_tail(Limit::Packets(Packets(0)), Admission::Fit);
    assert_eq!(empty.problems()[0].field, "limit");
}
