use super::*;
use crate::testing::Collector;
use crate::wifi::config::{DeviceProfile, Standard, StationRate, WidthWord, signal};
use proptest::prelude::*;
use sojourn_base::{BitRate, Limit, Packets, Seed};
use std::vec::Vec;

struct Ports(Vec<Collector>);

impl Members for Ports {
    fn at(&mut self, port: usize, act: &mut dyn FnMut(&mut dyn LinkContext)) {
        act(&mut self.0[port]);
    }
}

fn device(profile: DeviceProfile) -> DeviceSpec {
    let (config, queue) = profile.parts();
    DeviceSpec { config, queue }
}

/// Both directions of stations with these rates; port 2 n is upstream of station n, port 2 n + 1 its downstream.
fn channel(
    radio: &RadioConfig,
    access_point: DeviceProfile,
    rates: &[RateControl],
    neighbours: &[Neighbour],
    hidden: &[(usize, usize)],
) -> Channel {
    channel_of(radio, &device(access_point), &device(DeviceProfile::LinuxStation), rates, neighbours, hidden)
}

fn channel_of(
    radio: &RadioConfig,
    access_point: &DeviceSpec,
    own: &DeviceSpec,
    rates: &[RateControl],
    neighbours: &[Neighbour],
    hidden: &[(usize, usize)],
) -> Channel {
    let ports = (0..rates.len()).flat_map(|station| {
        [(Direction::Upstream, &own.queue), (Direction::Downstream, &access_point.queue)]
            .map(|(direction, queue)| PortSpec { station, direction, queue })
    });
    let spec = ChannelSpec {
        radio,
        access_point: access_point.clone(),
        stations: rates
            .iter()
            .map(|rate| (own.clone(), PerDirection { upstream: rate.clone(), downstream: rate.clone() }))
            .collect(),
        neighbours: neighbours.to_vec(),
        hidden: hidden.to_vec(),
        ports: ports.collect(),
    };
    Channel::new(&spec, Seed(1).stream("wifi/test"))
}

/// Offers packets of these times, ports, lengths and code points, and runs until all have gone.
fn drive(channel: &mut Channel, packets: &[(Instant, usize, u32, u8)], ports: &mut Ports) {
    let run = |channel: &mut Channel, until: Instant, ports: &mut Ports| {
        while channel.next_wakeup() <= until {
            let at = channel.next_wakeup();
            channel.on_wakeup(at, ports);
        }
    };
    for (number, (at, port, length, dscp)) in (0..).zip(packets) {
        run(channel, *at, ports);
        let flow_hash = u32::try_from(*port).expect("few ports");
        let meta = Meta { length: *length, dscp: *dscp, flow_hash, ..Meta::default() };
        channel.on_arrival(*at, *port, meta, PacketHandle(number), ports);
    }
    run(channel, Instant::from_s(60), ports);
}

fn profile() -> impl Strategy<Value = DeviceProfile> {
    prop::sample::select(DeviceProfile::ALL)
}

fn rate() -> impl Strategy<Value = (StationRate, Option<super::super::config::Decibels>)> {
    let decibels = (0_i32..40).prop_map(|db| Some(super::super::config::Decibels(db)));
    prop_oneof![
        (0_u8..8).prop_map(|mcs| (StationRate::Mcs(mcs), None)),
        decibels.clone().prop_map(|snr| (StationRate::Ideal, snr)),
        decibels.prop_map(|snr| (StationRate::Minstrel, snr)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Conservation, causality, order and the sum of causes, whatever the devices.
    #[test]
    fn laws_of_a_channel(
        access_point in profile(),
        standard in prop::sample::select(&[Standard::G, Standard::N, Standard::Ac, Standard::Ax][..]),
        rates in prop::collection::vec(rate(), 1..4),
        neighbours in 0_u32..3,
        hides in any::<bool>(),
        rts in any::<bool>(),
        amsdu in prop::option::of(500_u64..11_454),
        asks in any::<bool>(),
        packets in prop::collection::vec((0_u64..200_000, 0_usize..8, 40_u32..1500, prop::sample::select(&[0_u8, 8, 46, 48][..])), 1..300),
    ) {
        let radio = RadioConfig {
            standard,
            width: WidthWord::Mhz20,
            streams: 1,
            rts: rts.then_some(Bytes(3000)),
            ..RadioConfig::BASE
        };
        let controls: Vec<RateControl> = rates.iter().map(|(rate, snr)| rate.control(&radio, signal(*snr, *snr, &[]))).collect();
        let neighbour = Neighbour { load: BitRate::from_mbps(3), mode: radio.mode(4), stations: neighbours.max(1) };
        let near = if neighbours > 0 { &[neighbour][..] } else { &[] };
        let hidden = if hides && rates.len() > 1 { &[(1, 2)][..] } else { &[] };
        let devices = [access_point, DeviceProfile::LinuxStation].map(|profile| {
            let mut device = device(profile);
            (device.config.amsdu, device.config.asks) = (amsdu.map(Bytes), asks);
            device
        });
        let mut channel = channel_of(&radio, &devices[0], &devices[1], &controls, near, hidden);
        let all = 2 * rates.len();
        let mut packets: Vec<(Instant, usize, u32, u8)> =
            packets.into_iter().map(|(us, port, length, dscp)| (Instant::from_us(us), port % all, length, dscp)).collect();
        packets.sort_by_key(|packet| packet.0);
        let mut ports = Ports((0..all).map(|port| Collector::seeded(port as u64)).collect());
        drive(&mut channel, &packets, &mut ports);
        let mut seen = std::collections::BTreeSet::new();
        for (port, context) in ports.0.iter().enumerate() {
            let mut last = Instant::ZERO;
            let mut numbers = std::collections::BTreeMap::new();
            for (number, meta, passage) in &context.delivered {
                let (at, of_port, length, dscp) = packets[*number as usize];
                prop_assert!(seen.insert(*number), "packet {number} came twice");
                prop_assert_eq!((of_port, length, passage.entered_at), (port, meta.length, at));
                prop_assert_eq!(passage.entered_at + passage.delay.total(), passage.arrives_at, "causes sum to the whole");
                prop_assert!(passage.dequeued_at >= at && passage.arrives_at > passage.dequeued_at);
                prop_assert!(passage.arrives_at >= last, "announced in order of arrival");
                last = passage.arrives_at;
                // One flow of one category is in one queue: first in, first out.
                let before = numbers.insert(category_of(dscp), *number);
                prop_assert!(before.is_none_or(|before| before < *number), "{before:?} before {number}");
            }
            for (number, ..) in &context.dropped {
                prop_assert!(seen.insert(*number), "packet {number} was lost, too");
            }
            let counters = channel.member_counters(port);
            prop_assert_eq!(counters.packets, context.delivered.len() as u64);
            let member = channel.member(port);
            prop_assert_eq!((member.backlog(), member.staged()), (Backlog::default(), Backlog::default()));
        }
        prop_assert_eq!(seen.len(), packets.len(), "all have come or are lost");
    }
}

/// Packets that come to all downstream ports faster than the channel carries them, and what of them has arrived by the end.
fn saturated(channel: &mut Channel, stations: usize, span: Instant) -> Vec<f64> {
    let mut ports = Ports((0..2 * stations).map(|port| Collector::seeded(port as u64)).collect());
    let mut at = Instant::ZERO;
    let mut number = 0;
    while at < span {
        while channel.next_wakeup() <= at {
            let due = channel.next_wakeup();
            channel.on_wakeup(due, &mut ports);
        }
        for station in 0..stations {
            let flow_hash = u32::try_from(station).expect("few stations");
            let meta = Meta { length: 1500, flow_hash, ..Meta::default() };
            channel.on_arrival(at, 2 * station + 1, meta, PacketHandle(number), &mut ports);
            number += 1;
        }
        at += Span::from_us(60);
    }
    let mbps = |context: &Collector| {
        let arrived = context.delivered.iter().filter(|(_, _, passage)| passage.arrives_at <= span).count();
        arrived as f64 * 12_000.0 / span.saturating_since(Instant::ZERO).as_secs_f64() / 1e6
    };
    (0..stations).map(|station| mbps(&ports.0[2 * station + 1])).collect()
}

/// One saturated station gets what full aggregates carry: AIFS, the mean backoff, the aggregate and its answer. The bounds of ns-3 are judged by
/// the study `wifi` (WF-11, WF-12). An aggregate more or less within the 300 ms, and the luck of backoffs, are 2 % at most.
#[test]
fn one_station_gets_what_its_mode_carries() {
    let n = RadioConfig {
        standard: Standard::N,
        width: WidthWord::Mhz40,
        streams: 1,
        short_guard: true,
        ..RadioConfig::BASE
    };
    let ac = RadioConfig {
        standard: Standard::Ac,
        width: WidthWord::Mhz160,
        streams: 1,
        short_guard: true,
        ..RadioConfig::BASE
    };
    let ax = RadioConfig { width: WidthWord::Mhz160, streams: 1, ..RadioConfig::BASE };
    let ax_64 = RadioConfig { block_ack: Some(64), ..ax };
    for (radio, mcs) in [(n, 7), (ac, 9), (ax_64, 11), (ax, 11)] {
        let rate = StationRate::Mcs(mcs);
        let control = rate.control(&radio, signal(None, None, &[]));
        let mut channel = channel(&radio, DeviceProfile::LinuxStation, &[control], &[], &[]);
        let share = saturated_by_burst(&mut channel) / (radio.capacity(rate).as_bps() as f64 / 1e6);
        assert!((0.9..1.02).contains(&share), "{radio:?}: {share}");
    }
}

/// Linux, `ieee80211_txq_airtime_check`: the limits of airtime are of a station and category, so that voice does not wait behind
/// what best effort has in the firmware.
#[test]
fn a_category_does_not_wait_behind_what_another_has_in_the_firmware() {
    let radio = RadioConfig { standard: Standard::N, width: WidthWord::Mhz20, streams: 1, ..RadioConfig::BASE };
    let control = StationRate::Mcs(0).control(&radio, signal(None, None, &[]));
    let mut channel = channel(&radio, DeviceProfile::LinuxStation, &[control], &[], &[]);
    // Two seconds of best effort at twice the rate; a packet of voice each 100 ms.
    let mut packets: Vec<_> = (0..2_000).map(|ms| (Instant::from_ms(ms), 1, 1500, 0)).collect();
    packets.extend((1..20).map(|tenth| (Instant::from_ms(100 * tenth), 1, 200, 48)));
    packets.sort_by_key(|packet| packet.0);
    let mut ports = Ports((0..2).map(Collector::seeded).collect());
    drive(&mut channel, &packets, &mut ports);
    let voice = ports.0[1].delivered.iter().filter(|(_, meta, _)| meta.length == 200);
    let delays: Vec<Span> = voice.map(|(_, _, passage)| passage.delay.total()).collect();
    assert_eq!(delays.len(), 19);
    // One exchange of best effort may be on the air: two packets of 1.9 ms each.
    assert!(delays.iter().all(|delay| *delay < Span::from_ms(8)), "{delays:?}");
}

/// Two saturated stations that do not hear each other: the receiver stays with the frame that began first and decodes the frames
/// of the aggregate that the other did not meet. With ns-3's requests both stations together carry most of the channel; when all
/// frames are sent again at once, next to nothing.
#[test]
fn hidden_stations_lose_what_overlaps() {
    let radio = RadioConfig { standard: Standard::N, width: WidthWord::Mhz20, streams: 1, ..RadioConfig::BASE };
    let controls = [7, 7].map(|mcs| StationRate::Mcs(mcs).control(&radio, signal(None, None, &[])));
    let carried = |asks: bool| {
        let mut own = device(DeviceProfile::LinuxStation);
        (own.config.asks, own.config.frames) = (asks, 32);
        let mut channel = channel_of(&radio, &device(DeviceProfile::LinuxStation), &own, &controls, &[], &[(1, 2)]);
        let packets: Vec<_> =
            (0..20_000).flat_map(|number| [0, 2].map(|port| (Instant::from_us(100 * number), port, 1500, 0))).collect();
        let mut ports = Ports((0..4).map(Collector::seeded).collect());
        drive(&mut channel, &packets, &mut ports);
        let end = Instant::from_s(2);
        let arrived = |port: usize| {
            let delivered = ports.0[port].delivered.iter();
            delivered.filter(|(_, _, passage)| passage.arrives_at < end).count() as f64 * 12_000.0 / 2e6
        };
        let partly = channel.member_counters(0).failed + channel.member_counters(2).failed;
        (arrived(0) + arrived(2), partly)
    };
    let ((asked, partly), (at_once, _)) = (carried(true), carried(false));
    assert!(partly > 0, "frames of aggregates that were answered are lost");
    assert!(asked > 5.0 * at_once && asked > 30.0, "{asked} and {at_once} Mb/s");
}

/// 802.11ac with windows of 64 frames: packets that are put together carry more.
#[test]
fn packets_put_together_in_frames_carry_more() {
    let radio = RadioConfig { standard: Standard::Ac, streams: 2, short_guard: true, ..RadioConfig::BASE };
    let control = StationRate::Mcs(9).control(&radio, signal(None, None, &[]));
    let carried = |amsdu: Option<Bytes>| {
        let mut access_point = device(DeviceProfile::LinuxStation);
        access_point.config.amsdu = amsdu;
        let own = device(DeviceProfile::LinuxStation);
        let mut channel = channel_of(&radio, &access_point, &own, core::slice::from_ref(&control), &[], &[]);
        saturated_by_burst(&mut channel)
    };
    let (alone, together) = (carried(None), carried(Some(Bytes(7_935))));
    // Rate of the mode: 866.7 Mb/s.
    assert!(together > 1.1 * alone && together < 866.0, "{together} and {alone} Mb/s");
}

/// 802.11g beside 802.11n: frames of OFDM go alone, also where the access point puts packets together for stations of 802.11n. `aggregate`: five
/// frames of 1500 B and 54 B around them, with delimiters, are 7800 B.
#[test]
fn aggregates_are_those_that_a_station_knows_and_as_long_as_the_device_allows() {
    let radio = RadioConfig { standard: Standard::N, width: WidthWord::Mhz40, ..RadioConfig::BASE };
    let frames = |standard: Option<Standard>, amsdu: Option<Bytes>, aggregate: Option<Bytes>| {
        let control = StationRate::Mcs(7).control(&radio.of(standard), signal(None, None, &[]));
        let mut access_point = device(DeviceProfile::LinuxStation);
        (access_point.config.amsdu, access_point.config.aggregate) = (amsdu, aggregate);
        let own = device(DeviceProfile::LinuxStation);
        let mut channel = channel_of(&radio, &access_point, &own, core::slice::from_ref(&control), &[], &[]);
        let carried = saturated_by_burst(&mut channel);
        let counters = channel.member_counters(1);
        (carried, counters.frames as f64 / counters.exchanges as f64)
    };
    let (g, alone) = frames(Some(Standard::G), Some(Bytes(7_935)), None);
    assert!((0.99..=1.0).contains(&alone), "{alone}");
    // 54 Mb/s: AIFS 43, backoff 67.5, 1554 B in 58 symbols behind 20 µs, SIFS 16, ACK 28: 406.5 µs for 12 kbit.
    assert!((g / 29.5 - 1.0).abs() < 0.02, "{g} Mb/s");
    let (_, five) = frames(None, None, Some(Bytes(8_000)));
    assert!((4.9..=5.0).contains(&five), "{five}");
    let (_, more) = frames(None, None, None);
    assert!(more > 20.0, "{more}");
}

#[test]
fn a_station_of_an_older_standard_is_as_wide_as_that_and_no_newer_one_is_let_in() {
    let radio = RadioConfig::BASE; // 802.11ax, 80 MHz
    let width = |standard| radio.of(Some(standard)).mode(0).width.mhz();
    assert_eq!(width(Standard::Ac), 80);
    assert_eq!(width(Standard::N), 40);
    assert_eq!(width(Standard::G), 20);
    assert_eq!(radio.of(None), radio);
    assert_eq!(radio.refuses(Some(Standard::N)), None);
    let message = "a station of 802.11ax is newer than its channel of 802.11n";
    assert_eq!(radio.of(Some(Standard::N)).refuses(Some(Standard::Ax)).as_deref(), Some(message));
    // 802.11b is not defined at 5 GHz.
    assert!(radio.refuses(Some(Standard::B)).is_some());
    let without = RadioConfig { qos: false, ..radio };
    assert_eq!(without.problem().map(|problem| problem.field), Some("qos"));
}

/// Acknowledgements that come while the access point sends: a chip that builds its aggregate when the air is won sends all of them together; a
/// driver that has two aggregates ready has two with one packet each in front of the rest.
#[test]
fn what_comes_while_the_air_is_busy_is_sent_together_by_a_chip_that_builds_late() {
    let radio = RadioConfig { standard: Standard::N, width: WidthWord::Mhz20, streams: 1, ..RadioConfig::BASE };
    let controls = [0, 0].map(|mcs| StationRate::Mcs(mcs).control(&radio, signal(None, None, &[])));
    let exchanges = |ahead: u32| {
        let mut own = device(DeviceProfile::LinuxStation);
        own.config.ahead = ahead;
        let mut channel = channel_of(&radio, &device(DeviceProfile::Ath9k2016), &own, &controls, &[], &[]);
        let mut packets = std::vec![(Instant::ZERO, 1, 1500, 0)];
        packets.extend((0..6).map(|number| (Instant::from_us(500 + number), 0, 52, 0)));
        drive(&mut channel, &packets, &mut Ports((0..4).map(Collector::seeded).collect()));
        assert_eq!(channel.member_counters(0).packets, 6);
        channel.member_counters(0).exchanges
    };
    assert_eq!([0, 1, 2].map(exchanges), [1, 2, 3]);
    // To ask who has something takes no turn away: both stations get the same.
    let mut both = channel(&radio, DeviceProfile::LinuxStation, &controls, &[], &[]);
    let rates = saturated(&mut both, 2, Instant::from_s(3));
    assert!((rates[0] / rates[1] - 1.0).abs() < 0.05, "{rates:?}");
}

/// RFC 8033, 4.2: PIE updates its probability each 15 ms, in a queue that stations share as in any other.
#[test]
fn a_law_with_a_timer_keeps_a_queue_short_that_stations_share() {
    let radio = RadioConfig { standard: Standard::N, width: WidthWord::Mhz20, streams: 1, ..RadioConfig::BASE };
    let control = StationRate::Mcs(0).control(&radio, signal(None, None, &[]));
    let mut shared = device(DeviceProfile::Pfifo4_4);
    (shared.queue, shared.config.firmware) = (sojourn_queue::PieConfig::BASE.into(), Some(Limit::Packets(Packets(2))));
    let own = device(DeviceProfile::LinuxStation);
    let mut channel = channel_of(&radio, &shared, &own, &[control], &[], &[]);
    // Ten seconds of 12 Mb/s for a link of 6.
    let packets: Vec<_> = (0..10_000).map(|ms| (Instant::from_ms(ms), 1, 1500, 0)).collect();
    let mut ports = Ports((0..2).map(Collector::seeded).collect());
    drive(&mut channel, &packets, &mut ports);
    let late = ports.0[1].delivered.iter().filter(|(_, _, passage)| passage.entered_at > Instant::from_s(5));
    let waits: Vec<f64> = late.map(|(_, _, passage)| passage.delay.queue.as_secs_f64() * 1e3).collect();
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    assert!((5.0..60.0).contains(&mean), "{mean} ms in the queue; without drops it would be seconds");
}

/// Linux, `sta_update_codel_params`: 50 ms in 300 ms, without marks, below 6 Mb/s for each station.
#[test]
fn slow_stations_get_a_patient_codel() {
    let DeviceSpec { config, queue } = device(DeviceProfile::LinuxStation);
    let target = |mbps, stations| {
        let queue = config.queue_of(&queue, BitRate::from_mbps(mbps), stations);
        let law = queue.get::<sojourn_queue::FqCodelConfig>().expect("mac80211 has it").law;
        (law.target, law.interval, law.ecn)
    };
    let (slow, usual) = ((Span::from_ms(50), Span::from_ms(300), false), (Span::from_ms(20), Span::from_ms(100), true));
    assert_eq!((target(5, 1), target(6, 1)), (slow, usual));
    assert_eq!((target(11, 2), target(12, 2)), (slow, usual));
}

/// Returns the rate of one station whose queue never runs empty, Mb/s.
fn saturated_by_burst(channel: &mut Channel) -> f64 {
    let mut ports = Ports((0..2).map(Collector::seeded).collect());
    let span = Instant::from_ms(400);
    let mut at = Instant::ZERO;
    let mut number = 0;
    while at < span {
        while channel.next_wakeup() <= at {
            let due = channel.next_wakeup();
            channel.on_wakeup(due, &mut ports);
        }
        let meta = Meta { length: 1500, ..Meta::default() };
        channel.on_arrival(at, 1, meta, PacketHandle(number), &mut ports);
        number += 1;
        at += Span::from_us(9);
    }
    let delivered = &ports.0[1].delivered;
    let from = Instant::from_ms(100);
    let arrived = delivered.iter().filter(|(_, _, passage)| passage.arrives_at > from && passage.arrives_at <= span);
    arrived.count() as f64 * 12_000.0 / span.saturating_since(from).as_secs_f64() / 1e6
}

/// "Ending the Anomaly" (2017): a slow station takes most of the air where stations take turns by aggregates, and a third of it by airtime.
#[test]
fn a_slow_station_takes_a_third_of_the_air_by_airtime() {
    let radio = RadioConfig {
        standard: Standard::N,
        width: WidthWord::Mhz20,
        streams: 2,
        short_guard: true,
        ..RadioConfig::BASE
    };
    let controls = [15, 15, 0].map(|mcs| StationRate::Mcs(mcs).control(&radio, signal(None, None, &[])));
    let shares = |profile| {
        let mut channel = channel(&radio, profile, &controls, &[], &[]);
        let rates = saturated(&mut channel, 3, Instant::from_s(3));
        let air: Vec<f64> =
            (0..3).map(|station| channel.member_counters(2 * station + 1).airtime.as_secs_f64()).collect();
        (rates, air[2] / air.iter().sum::<f64>())
    };
    let (fifo, slow_fifo) = shares(DeviceProfile::Stock4_4);
    let (fair, slow_fair) = shares(DeviceProfile::Ath9k2016);
    assert!((0.70..0.90).contains(&slow_fifo), "{slow_fifo}, {fifo:?}");
    assert!((slow_fair - 1.0 / 3.0).abs() < 0.03, "{slow_fair}, {fair:?}");
    assert!((4.0..8.0).contains(&(fair[0] / fifo[0])), "{fair:?} against {fifo:?}");
}
