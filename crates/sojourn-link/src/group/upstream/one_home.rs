//! A group of one home, in which every request is heard, is the modem of the models of one modem.
//!
//! Source: White 2013 section 3.3 and White 2019 section 3, as docs/models/docsis30-single.md and docsis31.md have them.

use super::tests::{Homes, advance, config};
use super::{Form, Group};
use crate::docsis30::single_queue::SingleQueue;
use crate::docsis31::config::{Service, UpstreamConfig};
use crate::docsis31::proactive::{Guarantee, ProactiveConfig};
use crate::docsis31::upstream::Upstream;
use crate::group::MemberConfig;
use crate::group::config::{Contending, GroupConfig, Placement};
use crate::testing::{Collector, TwoQueues, drive_packets};
use crate::{Passage, SingleQueueConfig, Transmit};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Instant, Meta, PacketHandle, RandomStream, Seed, ServiceQueue, Span};

/// Packets one after the other, each 33 ms behind the one before, at any phase.
fn arrivals(count: u64, length: u32) -> Vec<(Instant, Meta)> {
    let mut random: RandomStream = Seed(7).stream("arrivals");
    let mut one = |number: u64| {
        let at = Instant::from_ms(20 + 33 * number) + Span::from_secs_f64(0.004 * random.unit());
        let meta = Meta { length: length + 18, queue: ServiceQueue::LowLatency, ..Meta::default() };
        (at, meta)
    };
    (0..count).map(&mut one).collect()
}

fn sorted(collector: &Collector) -> Vec<f64> {
    let taken = |(_, _, passage): &(u32, Meta, Passage)| {
        let whole = passage.arrives_at.saturating_since(passage.entered_at);
        assert_eq!(passage.delay.total(), whole);
        whole.as_ms_f64()
    };
    let mut found: Vec<f64> = collector.delivered.iter().map(taken).collect();
    found.sort_by(f64::total_cmp);
    found
}

/// Delays in ms on a group of one home.
fn of_group(group: &GroupConfig, member: MemberConfig, arrivals: &[(Instant, Meta)]) -> Vec<f64> {
    let mut group = Group::new(group, vec![(member, Box::new(TwoQueues::default()))]);
    let mut homes = Homes::new(1);
    for (number, (at, meta)) in (0..).zip(arrivals) {
        advance(&mut group, *at, &mut homes);
        group.on_arrival(*at, 0, *meta, PacketHandle(number), &mut homes);
    }
    advance(&mut group, Instant::from_s(10_000), &mut homes);
    sorted(&homes.collectors[0])
}

/// The same on a link of one modem.
fn of_link(mut link: impl Transmit<Collector>, arrivals: &[(Instant, Meta)]) -> Vec<f64> {
    let mut context = Collector::default();
    let end = Instant::from_s(10_000);
    drive_packets(&mut link, arrivals.iter().copied(), end, &mut context);
    sorted(&context)
}

/// Every percentile from the first to the 99th, and the mean, differ by less.
fn assert_alike(group: &[f64], link: &[f64], most: f64, what: &str) {
    assert_eq!(group.len(), link.len(), "{what}");
    for percent in 1..100 {
        let at = (group.len() - 1) * percent / 100;
        let (one, other) = (group[at], link[at]);
        assert!((one - other).abs() < most, "{what}, P{percent}: {one} {other}");
    }
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let (one, other) = (mean(group), mean(link));
    assert!((one - other).abs() < most / 2.0, "{what}: {one} {other}");
}

/// One home alone, as the models of one modem have it.
fn ideal(interval: Span) -> GroupConfig {
    let mut config = config(1);
    config.map_interval = interval;
    config.requests.contention = Contending::Ideal;
    config.scheduler.placement = Placement::Random;
    config.scheduler.segment_header = 0;
    config
}

#[test]
fn one_home_is_the_modem_of_white_2019() {
    let arrivals = arrivals(6_000, 110);
    let guaranteed =
        |us| ProactiveConfig::Basic(Guarantee { rate: BitRate::from_mbps(5), interval: Some(Span::from_us(us)) });
    for (service, proactive, interval) in [
        (Service::Single, ProactiveConfig::None, Span::from_ms(2)),
        (Service::LowLatency, ProactiveConfig::None, Span::from_ms(1)),
        (Service::LowLatency, guaranteed(135), Span::from_ms(1)),
        (Service::LowLatency, guaranteed(270), Span::from_ms(1)),
    ] {
        let link = UpstreamConfig { service, proactive, map_interval: interval, ..UpstreamConfig::WHITE2019 };
        let member = MemberConfig { service, proactive, ..MemberConfig::BASE };
        let what = std::format!("{service:?} {proactive:?} {interval}");
        let of_link = of_link(Upstream::new(&link, Box::new(TwoQueues::default())), &arrivals);
        let of_group = of_group(&ideal(interval), member, &arrivals);
        assert_alike(&of_group, &of_link, 0.1, &what);
    }
}

#[test]
fn one_home_is_the_modem_of_white_2013() {
    let arrivals = arrivals(4_000, 1_000);
    // On one channel of its four, as a packet of a group is on one.
    let config = SingleQueueConfig { channel_rate: BitRate::from_kbps(24_576), ..SingleQueueConfig::WHITE2013 };
    let link = SingleQueue::new(&config, Box::new(TwoQueues::default()));
    let mut config = ideal(Span::from_ms(2));
    config.form = Form::Docsis30;
    config.scqam.count = 1;
    let of_group = of_group(&config, MemberConfig::BASE, &arrivals);
    assert_alike(&of_group, &of_link(link, &arrivals), 0.1, "White 2013");
}

#[test]
fn with_real_contention_an_idle_channel_is_faster_than_the_models_of_one_modem() {
    // 2.40 ms and what the request waits for, less than the 3.33 + 0.16 ms of White 2019, whose modem lets a
    // random part of a whole interval pass before it asks.
    let arrivals = arrivals(4_000, 110);
    let mut config = ideal(Span::from_ms(1));
    config.requests = GroupConfig::BASE.requests;
    config.scheduler = GroupConfig::BASE.scheduler;
    let found = of_group(&config, MemberConfig::BASE, &arrivals);
    let mean = found.iter().sum::<f64>() / found.len() as f64;
    assert!((2.40..2.40 + 0.32).contains(&mean), "{mean}");
}
