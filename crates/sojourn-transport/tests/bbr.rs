//! Promises of BBR: the rate of the path with little queue, by itself and through losses that are not congestion; a
//! probe of the round trip that empties the queue; and for version 3 respect of losses and of CUBIC beside it.
//!
//! Source: Cardwell et al. 2016 (figures 5, 6 and 8); draft-ietf-ccwg-bbr sections 2, 3.1 and 5.3.

use crate::dumbbell::{Dumbbell, Flow};
use crate::path::{End, Fate, Path, Shape};
use sojourn_base::{BitRate, Instant, Span};
use sojourn_transport::StackConfig;
use sojourn_transport::config::Pacing;

const RATE: BitRate = BitRate::from_mbps(12);
/// Packets of 1500 B that 12 Mb/s carry in 40 ms.
const PRODUCT: usize = 40;

fn flow(config: StackConfig, start_ms: u64) -> Flow {
    Flow { config, start: Instant::from_ms(start_ms), round_trip: Span::from_ms(40) }
}

/// Megabits per second of each flow with headers, and mean milliseconds in the queue, from 10 s to `end` seconds.
fn measure(buffer: usize, flows: &[Flow], end: u64) -> (Vec<f64>, f64) {
    let mut world = Dumbbell::new(RATE, buffer, flows);
    world.run(Instant::from_s(10));
    let before = world.delivered();
    world.take_mean_delay();
    world.run(Instant::from_s(end));
    let rates = world
        .delivered()
        .iter()
        .zip(before)
        .map(|(after, before)| (after - before) as f64 / 1448.0 * 1500.0 * 8e-6 / (end - 10) as f64)
        .collect();
    (rates, 1e3 * world.take_mean_delay())
}

#[test]
fn a_lone_flow_fills_the_link_with_a_small_part_of_the_queue_that_cubic_keeps() {
    for buffer in [PRODUCT, 4 * PRODUCT] {
        let (_, of_cubic) = measure(buffer, &[flow(StackConfig::LINUX_CUBIC, 0)], 70);
        for config in [StackConfig::BBR1, StackConfig::BBR3] {
            let (rates, delay) = measure(buffer, &[flow(config, 0)], 70);
            assert!(rates[0] >= 0.96 * 12.0, "{rates:?}");
            assert!(delay < 0.4 * of_cubic && delay < 12.0, "{delay:.1} ms");
        }
    }
}

/// Part of the rate of the path that arrives from 5 to 35 s if segments are lost with this likelihood.
fn through_losses(config: &StackConfig, per_mille: u64) -> f64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let judge = move |end, segment: &sojourn_transport::Segment| {
        if end == End::Server || segment.payload == 0 {
            return Fate::Pass;
        }
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if state % 1000 < per_mille { Fate::Drop } else { Fate::Pass }
    };
    let mut path = Path::new(config, Shape::P1, Box::new(judge));
    path.keep_rows = false;
    path.keep_events = false;
    path.run(u64::MAX, Instant::from_s(5));
    let before = path.server().snapshot().delivered;
    path.go_on(Instant::from_s(35));
    (path.server().snapshot().delivered - before) as f64 / (30_000.0 * 1448.0)
}

#[test]
fn losses_at_random_hardly_slow_version_1_and_version_3_less_than_cubic() {
    // Cardwell et al., figure 8: BBR carries nearly the whole rate up to 5 % of losses, CUBIC a tenth at 0.1 %.
    for (per_mille, of_one, of_three) in [(1, 0.95, 0.9), (10, 0.95, 0.3), (50, 0.9, 0.06), (150, 0.7, 0.02)] {
        let [one, three, cubic] = [StackConfig::BBR1, StackConfig::BBR3, StackConfig::LINUX_CUBIC]
            .map(|config| through_losses(&config, per_mille));
        assert!(one >= of_one, "{per_mille}: {one:.3}");
        assert!(three >= of_three && three >= 1.5 * cubic, "{per_mille}: {three:.3}, {cubic:.3}");
    }
}

/// Share of a flow beside one of CUBIC.
fn share_beside_cubic(config: StackConfig, buffer: usize) -> f64 {
    let flows = [flow(config, 0), flow(StackConfig::LINUX_CUBIC, 137)];
    let (rates, _) = measure(buffer, &flows, 190);
    assert!(rates[0] + rates[1] >= 0.97 * 12.0, "{rates:?}");
    rates[0] / (rates[0] + rates[1])
}

#[test]
fn beside_cubic_version_1_takes_most_of_a_short_buffer_and_version_3_its_share() {
    for buffer in [PRODUCT / 2, PRODUCT] {
        let share = share_beside_cubic(StackConfig::BBR1, buffer);
        assert!(share > 0.75, "{buffer}: {share:.3}");
        let share = share_beside_cubic(StackConfig::BBR3, buffer);
        assert!((0.35..0.55).contains(&share), "{buffer}: {share:.3}");
    }
    // A long buffer is filled by CUBIC; two products in the network are then the smaller part of it.
    for config in [StackConfig::BBR1, StackConfig::BBR3] {
        for buffer in [4 * PRODUCT, 8 * PRODUCT] {
            let share = share_beside_cubic(config, buffer);
            assert!((0.25..0.5).contains(&share), "{buffer}: {share:.3}");
        }
    }
}

#[test]
fn flows_that_begin_one_after_the_other_come_to_share_equally() {
    for config in [StackConfig::BBR1, StackConfig::BBR3] {
        let flows = [flow(config, 0), flow(config, 2000), flow(config, 4000)];
        let (rates, _) = measure(4 * PRODUCT, &flows, 190);
        for rate in &rates {
            assert!((3.6..4.4).contains(rate), "{rates:?}");
        }
    }
}

#[test]
fn data_that_arrive_just_when_the_pace_lets_the_last_byte_go_do_not_keep_it_back() {
    // Both ends pace alike, so what one sends arrives at the very instant at which the other may send.
    for config in [StackConfig::BBR1, StackConfig::BBR3] {
        let config = StackConfig { receive_window: 1, pacing: Pacing::Off, nagle: false, ..config };
        let shape = Shape { service: Span::ZERO, propagation: Span::from_ms(1) };
        let mut path = Path::new(&config, shape, Box::new(|_, _| Fate::Pass));
        path.close = true;
        path.to_answer = 5 * 1448 + 1;
        path.run(6 * 1448 + 1, Instant::from_s(100));
        assert!(path.ends.iter().all(sojourn_transport::Endpoint::is_closed));
    }
}
