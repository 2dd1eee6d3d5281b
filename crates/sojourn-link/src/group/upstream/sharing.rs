//! Transfers of many homes on one channel, each limited by its tier: processor sharing.
//!
//! Source: T. Bonald and J. Virtamo, "A recursive formula for multirate systems with elastic traffic", IEEE Communications
//! Letters 9(8), 2005: with tiers of 1/m of the channel and A tiers of load, a transfer takes 1 + C/(m - A) times as long as alone, C being
//! Erlang's delay formula for m servers, whatever the sizes are.

use super::tests::{Homes, advance, config, group, us};
use super::{Group, MemberConfig};
use crate::testing::packet;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Instant, PacketHandle, Seed, Span};
use sojourn_queue::{DropTailConfig, ManagerConfig};

/// Packets of a transfer, and the length of each.
const PACKETS: usize = 80;
const LENGTH: u32 = 1_514;
const HOMES: usize = 60;

/// Erlang's delay formula.
fn waits(servers: u32, load: f64) -> f64 {
    let mut blocked = 1.0;
    for number in 1..=servers {
        blocked = load * blocked / (f64::from(number) + load * blocked);
    }
    let free = 1.0 - load / f64::from(servers);
    blocked / (free + (1.0 - free) * blocked)
}

/// Returns the total rate of homes that always send, kb/s.
fn capacity() -> u64 {
    let (mut group, mut homes) = (group(&channel(), 20), Homes::new(20));
    for port in 0..20 {
        for _ in 0..400 {
            group.on_arrival(us(1_000.0), port, packet(LENGTH), PacketHandle(0), &mut homes);
        }
    }
    let delivered = |homes: &Homes| {
        let of_each = homes.collectors.iter().map(|it| it.delivered.len() as u64);
        of_each.sum::<u64>()
    };
    advance(&mut group, us(500_000.0), &mut homes);
    let before = delivered(&homes);
    advance(&mut group, us(1_500_000.0), &mut homes);
    (delivered(&homes) - before) * 8 * u64::from(LENGTH) / 1_000
}

/// Twenty minislots in a frame, 57 Mb/s. MAPs each 4 ms, so that what grants are rounded up by is little beside what they carry.
fn channel() -> crate::group::GroupConfig {
    let mut config = config(4);
    config.channel.subcarriers = 160;
    config.map_interval = Span::from_ms(4);
    config
}

/// Mean time of `count` transfers that come by chance, ms: each at a home that has nothing else to send.
fn mean_time(seed: u64, tier: u64, every_ms: f64, count: usize) -> f64 {
    let mut member = MemberConfig::BASE;
    member.shaper.sustained = BitRate::from_kbps(tier);
    let queue = ManagerConfig::from(DropTailConfig::bytes(10_000_000));
    let home = || (member, queue.clone().at(BitRate::ZERO).build());
    let mut group = Group::new(&channel(), (0..HOMES).map(|_| home()).collect());
    let mut homes = Homes::new(HOMES as u64);
    let mut stream = Seed(seed).stream("transfers");
    let mut began: Vec<Vec<Instant>> = alloc::vec![Vec::new(); HOMES];
    let mut at = 10_000.0;
    for _ in 0..count {
        at -= 1e3 * every_ms * sojourn_base::math::ln(1.0 - stream.unit());
        let now = us(at);
        advance(&mut group, now, &mut homes);
        let idle = |port: &usize| homes.collectors[*port].delivered.len() == PACKETS * began[*port].len();
        let port = (0..HOMES).find(idle).expect("fewer transfers than homes");
        began[port].push(now);
        for _ in 0..PACKETS {
            group.on_arrival(now, port, packet(LENGTH), PacketHandle(0), &mut homes);
        }
    }
    advance(&mut group, us(at + 60e6), &mut homes);
    let mut sum = 0.0;
    for (began, home) in began.iter().zip(&homes.collectors) {
        for (began, sent) in began.iter().zip(home.delivered.chunks(PACKETS)) {
            let last = sent[PACKETS - 1].2;
            sum += last.arrives_at.saturating_since(*began).as_ms_f64();
        }
    }
    sum / count as f64
}

#[test]
fn transfers_share_the_channel_as_erlang_and_processor_sharing_say() {
    // Printed with five tiers in the channel: 1.052, 1.252, 1.554 times as long as alone at 50, 70 and 80 % use.
    let tier = capacity() / 5;
    let alone = mean_time(1, tier, 1_000.0, 20);
    let sent = PACKETS as f64 * 8.0 * f64::from(LENGTH) / tier as f64;
    for (use_, printed) in [(0.5, 1.052), (0.7, 1.252), (0.8, 1.554)] {
        let load = 5.0 * use_;
        let factor = 1.0 + waits(5, load) / (5.0 - load);
        assert!((factor - printed).abs() < 0.001, "{factor}");
        let found = mean_time(1, tier, sent / load, 2_500);
        // Alone a transfer takes a few milliseconds more than its bytes at the tier.
        let expected = alone + (factor - 1.0) * sent;
        assert!((found / expected - 1.0).abs() < 0.06, "{use_}: {found} ms for {expected}");
    }
}
