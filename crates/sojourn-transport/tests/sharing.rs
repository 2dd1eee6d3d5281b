//! How flows share a tail-drop queue: LEDBAT alone and beside Reno, and equal flows with each other.
//!
//! Source: values of an independent reference model; RFC 6817 section 4.4 for the promises of LEDBAT and their limits.

use crate::dumbbell::{Dumbbell, Flow};
use sojourn_base::{BitRate, Instant, Span};
use sojourn_transport::StackConfig;
use sojourn_transport::config::{
    Avoidance, CompoundConfig, ControllerConfig, GrowthGate, LedbatConfig, RenoConfig, SlowStart,
};

const RATE: BitRate = BitRate::from_mbps(5);
/// Packets of 1500 B that leave in one second.
const ONE_SECOND: usize = 417;

fn flow(config: StackConfig, start_ms: u64, round_trip_ms: u64) -> Flow {
    Flow { config, start: Instant::from_ms(start_ms), round_trip: Span::from_ms(round_trip_ms) }
}

/// Bytes of each flow, and mean delay in the queue in seconds, from `settle` to `end` seconds.
fn measure(world: &mut Dumbbell, settle: u64, end: u64) -> (Vec<f64>, f64) {
    world.run(Instant::from_s(settle));
    let before = world.delivered();
    world.take_mean_delay();
    world.run(Instant::from_s(end));
    let after = world.delivered();
    let bytes = after.iter().zip(before).map(|(after, before)| (after - before) as f64);
    (bytes.collect(), world.take_mean_delay())
}

/// Part of the time for which the link carries data; packets are 1500 B.
fn utilisation(bytes: &[f64], config: &StackConfig, rate: BitRate, seconds: f64) -> f64 {
    let segments = bytes.iter().sum::<f64>() / f64::from(config.maximum_segment_size);
    segments * 12_000.0 / (rate.as_bps() as f64 * seconds)
}

#[test]
fn a_lone_ledbat_flow_holds_its_target_and_fills_the_link() {
    for (config, target, tolerance) in [
        (StackConfig::NS2_LEDBAT, 0.102, 0.005),
        (StackConfig::NS2_LEDBAT_25MS, 0.027, 0.003),
        (StackConfig::LEDBAT, 0.102, 0.005),
    ] {
        for round_trip in [20, 100] {
            let mut world = Dumbbell::new(RATE, ONE_SECOND, &[flow(config, 0, round_trip)]);
            let (bytes, delay) = measure(&mut world, 60, 240);
            let used = utilisation(&bytes, &config, RATE, 180.0);
            assert!((delay - target).abs() <= tolerance, "{delay:.4} s, not {target}");
            assert!(used >= 0.99, "utilisation {used:.4}");
        }
    }
}

/// Share of a flow of `ledbat` beside one of `reno` that starts 4 s later, from 120 s to 600 s.
fn share(ledbat: StackConfig, reno: StackConfig, buffer: usize, round_trip: u64) -> f64 {
    let flows = [flow(ledbat, 1_000, round_trip), flow(reno, 5_000, round_trip)];
    let mut world = Dumbbell::new(RATE, buffer, &flows);
    let (bytes, _) = measure(&mut world, 120, 600);
    bytes[0] / (bytes[0] + bytes[1])
}

#[test]
fn ledbat_yields_to_reno_if_the_buffer_is_longer_than_its_target() {
    // The reference measured 0.7 %.
    for round_trip in [20, 100] {
        for (ledbat, reno) in
            [(StackConfig::NS2_LEDBAT, StackConfig::NS2_RENO), (StackConfig::LEDBAT, StackConfig::LINUX_RENO)]
        {
            let share = share(ledbat, reno, ONE_SECOND, round_trip);
            assert!(share < 0.02, "share {share:.4} at {round_trip} ms");
        }
    }
}

#[test]
fn ledbat_competes_like_reno_if_the_buffer_is_shorter_than_its_target() {
    // The reference measured 0.44, both flows with the same repair of losses.
    let reno = StackConfig {
        controller: ControllerConfig::from(RenoConfig { avoidance: Avoidance::PerAck }),
        slow_start: SlowStart::PerAck,
        acknowledge: StackConfig::NS2_LINUX_CUBIC.acknowledge,
        growth_gate: GrowthGate::Near,
        ..StackConfig::BSD_RENO
    };
    let ledbat = StackConfig { controller: ControllerConfig::from(LedbatConfig::BASE), ..reno };
    let at_20_ms = share(ledbat, reno, 21, 20);
    assert!((0.35..=0.50).contains(&at_20_ms), "share {at_20_ms:.3}");
    // At 100 ms two deterministic flows lock into one of two cycles, 0.46 or 0.54.
    let at_100_ms = share(ledbat, reno, 21, 100);
    assert!((0.35..=0.55).contains(&at_100_ms), "share {at_100_ms:.3}");
    // The stacks of White 2013: Reno without SACK loses time to timeouts.
    for round_trip in [20, 100] {
        let share = share(StackConfig::NS2_LEDBAT, StackConfig::NS2_RENO, 21, round_trip);
        assert!((0.35..=0.60).contains(&share), "share {share:.3}");
    }
}

#[test]
fn compound_fills_a_long_fast_path_that_reno_does_not() {
    // 50 Mb/s over 100 ms hold 417 packets; the buffer a quarter of that, so Reno's saw-tooth leaves room.
    let rate = BitRate::from_mbps(50);
    let used = |config: StackConfig| {
        let mut world = Dumbbell::new(rate, 120, &[flow(config, 0, 100)]);
        let (bytes, _) = measure(&mut world, 20, 80);
        utilisation(&bytes, &config, rate, 60.0)
    };
    let compound = StackConfig { controller: ControllerConfig::from(CompoundConfig::BASE), ..StackConfig::LINUX_RENO };
    let (reno, compound) = (used(StackConfig::LINUX_RENO), used(compound));
    assert!(compound > reno + 0.05, "{compound:.3}, Reno {reno:.3}");
}

#[test]
fn late_ledbat_flows_take_the_standing_queue_for_the_path() {
    // 32 flows, one every two seconds; recorded by the reference as 0.54 to 0.60 s and 0.2 to 0.25.
    let flows: Vec<Flow> = (0..32).map(|number| flow(StackConfig::NS2_LEDBAT, number * 2000, 20)).collect();
    let mut world = Dumbbell::new(RATE, ONE_SECOND, &flows);
    let (bytes, delay) = measure(&mut world, 80, 280);
    let fairness = jain(&bytes);
    assert!(delay > 0.3, "{delay:.3} s is no more than one target");
    assert!(fairness < 0.5, "Jain's index {fairness:.3}");
}

fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    sum * sum / (values.len() as f64 * squares)
}

#[test]
fn equal_flows_share_equally() {
    // 12 Mb/s, 100 ms, a buffer of one bandwidth-delay product.
    for config in [StackConfig::LINUX_RENO, StackConfig::LINUX_CUBIC] {
        for count in [2_u64, 5] {
            let flows: Vec<Flow> = (0..count).map(|number| flow(config, number * 137, 100)).collect();
            let mut world = Dumbbell::new(BitRate::from_mbps(12), 100, &flows);
            let (bytes, _) = measure(&mut world, 60, 900);
            let fairness = jain(&bytes);
            let used = utilisation(&bytes, &config, BitRate::from_mbps(12), 840.0);
            assert!(used >= 0.99, "utilisation {used:.4}");
            assert!(fairness >= 0.95, "Jain's index {fairness:.3}");
        }
    }
}
