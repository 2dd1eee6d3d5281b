//! A channel on which every modem always has something to ask for, against arithmetic, theory and what was printed.
//!
//! Source: Kwak, Song and Miller 2005 for the limit; Sdralia et al. 1999 and Cho, Kim and Park 2001 for what was printed; a Monte
//! Carlo of the rules alone for the rest (docs/models/service-group.md, "How it was checked").

use super::tests::{Homes, advance, arrive, config, group, us};
use super::{Form, Group, MemberConfig};
use crate::group::config::RequestUnit;
use crate::group::contention::deferral;
use crate::testing::packet;
use sojourn_base::{BitRate, Bytes, Instant, PacketHandle, Seed, Span};
use sojourn_queue::{DropTailConfig, ManagerConfig};
use std::vec;

/// Flows that always have something to ask for and are never granted anything, for so many seconds: successes for each
/// opportunity, and the share of attempts that collide.
fn saturated(flows: usize, opportunities: u32, seconds: u64) -> (f64, f64) {
    let mut member = MemberConfig::BASE;
    (member.shaper.sustained, member.shaper.burst) = (BitRate::from_bps(1), Bytes(0));
    let queue = ManagerConfig::from(DropTailConfig::bytes(1_000_000_000));
    let home = || (member, queue.clone().at(BitRate::ZERO).build());
    let homes = (0..flows).map(|_| home()).collect();
    let mut group = Group::new(&config(opportunities), homes);
    let mut homes = Homes::new(flows as u64);
    let mut seen = vec![0; flows];
    for port in 0..flows {
        arrive(&mut group, us(1_000.0 + port as f64), port, 40, &mut homes);
    }
    let end = Instant::from_s(seconds);
    while group.next_wakeup() < end {
        let at = group.next_wakeup();
        group.on_wakeup(at, &mut homes);
        for (port, seen) in seen.iter_mut().enumerate() {
            let attempts = group.modems[port].counters.attempts;
            if attempts > *seen {
                *seen = attempts;
                group.on_arrival(at, port, packet(40), PacketHandle(0), &mut homes);
            }
        }
    }
    let counters = group.counters(end);
    let attempts: u64 = (0..flows)
        .map(|port| group.member_counters(port).attempts)
        .sum();
    let collided: u64 = (0..flows)
        .map(|port| group.member_counters(port).collided)
        .sum();
    let successes = (counters.used - counters.collided) as f64;
    (
        successes / counters.opportunities as f64,
        collided as f64 / attempts as f64,
    )
}

#[test]
fn six_flows_that_draw_among_six_succeed_as_often_as_arithmetic_says() {
    // Vector 12, by the draws themselves: 6 (5/6)^5 = 2.4113 of six.
    let mut stream = Seed(5).stream("six");
    let mut alone = 0;
    for _ in 0..100_000 {
        let mut chosen = [0_u32; 8];
        for _ in 0..6 {
            // Among eight, those that draw 6 or 7 draw again.
            let place = loop {
                let place = usize::try_from(deferral(stream.unit(), 3)).unwrap();
                if place < 6 {
                    break place;
                }
            };
            chosen[place] += 1;
        }
        alone += chosen.iter().filter(|users| **users == 1).count();
    }
    assert!((alone as f64 / 1e5 - 2.4113).abs() < 0.015, "{alone}");
}

/// Successes for each opportunity in the mean field: modems that do not know of each other, with windows
/// 2..8, eight opportunities in an interval, and `between` opportunities from a request to its answer.
fn mean_field(flows: f64, between: f64) -> f64 {
    let attempts = |collided: f64| {
        let (mut attempts, mut opportunities, mut stage) = (0.0, 0.0, 1.0);
        for tries in 0..17 {
            let window = f64::from(1_u32 << (2 + tries).min(8));
            attempts += stage;
            opportunities += stage * ((window - 1.0) / 2.0 + 1.0 + between);
            stage *= collided;
        }
        attempts / opportunities
    };
    // More attempts, more collisions: the fixed point is where they meet.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let tau = f64::midpoint(low, high);
        let collided = 1.0 - sojourn_base::math::powf(1.0 - tau, flows - 1.0);
        if attempts(collided) > tau {
            low = tau;
        } else {
            high = tau;
        }
    }
    flows * low * sojourn_base::math::powf(1.0 - low, flows - 1.0)
}

#[test]
fn saturated_flows_succeed_as_often_as_the_reference_and_the_mean_field_say() {
    // Monte Carlo of the rules: successes for each opportunity and collided attempts, within 2 %. The mean field is up to 15 % high with
    // few flows, as those that collided hear of it together, and within 4 % from 50 on.
    for (flows, success, collided, between) in [
        (2, 0.1226, 0.130, 11.4),
        (5, 0.2236, 0.331, 11.2),
        (20, 0.3449, 0.605, 10.8),
        (50, 0.3462, 0.734, 10.6),
        (200, 0.2082, 0.916, 10.5),
    ] {
        let found = saturated(flows, 8, 30);
        assert!((found.0 / success - 1.0).abs() < 0.02, "{flows}: {found:?}");
        assert!(
            (found.1 / collided - 1.0).abs() < 0.02,
            "{flows}: {found:?}"
        );
        let theory = mean_field(flows as f64, between);
        let high = theory / found.0 - 1.0;
        let most = if flows < 50 { 0.16 } else { 0.04 };
        assert!((-0.04..most).contains(&high), "{flows}: {theory} {found:?}");
    }
}

#[test]
fn plain_exponential_backoff_tends_to_half_the_logarithm_of_two() {
    // KWA: ln 2 / 2 = 0.3466 successes for each opportunity, however many flows, if windows have no end that is felt.
    let found = saturated(50, 8, 30).0;
    assert!(
        (found / (core::f64::consts::LN_2 / 2.0) - 1.0).abs() < 0.02,
        "{found}"
    );
}

#[test]
fn saturated_docsis_1_carries_what_was_printed() {
    // SDR: 2560 kb/s carry 1965 kb/s of packets of 1500 B and 1550 kb/s of 100 B, with 24 B around each. Opportunities take
    // 34 of 160 minislots of 16 B, nearest to the share of 0.786 that is fitted to the first number; the second one follows.
    for (length, printed) in [(1_500, 1_965.0), (100, 1_550.0)] {
        let mut config = config(17);
        config.form = Form::Docsis30;
        config.map_interval = Span::from_ms(8);
        config.scqam.count = 1;
        (config.scqam.symbols, config.scqam.bits) = (1_280, 2.0);
        (config.scqam.code_rate, config.scqam.minislot) = (1.0, Span::from_us(50));
        config.requests.unit = RequestUnit::Packet;
        config.requests.contend_while_pending = false;
        config.scheduler.segment_header = 0;
        let (mut group, mut homes) = (group(&config, 100), Homes::new(100));
        for port in 0..100 {
            for _ in 0..200 {
                let at = us(1_000.0 + f64::from(port));
                let port = usize::try_from(port).unwrap();
                arrive(&mut group, at, port, length + 14, &mut homes);
            }
        }
        let delivered =
            |homes: &Homes| -> usize { homes.collectors.iter().map(|it| it.delivered.len()).sum() };
        advance(&mut group, us(1_000_000.0), &mut homes);
        let before = delivered(&homes);
        advance(&mut group, us(6_000_000.0), &mut homes);
        let packets = (delivered(&homes) - before) as f64;
        let kbps = packets * f64::from(length) * 8.0 / 5.0 / 1e3;
        assert!((kbps / printed - 1.0).abs() < 0.03, "{length}: {kbps}");
    }
}
