use super::*;
use crate::docsis31::channel::Spacing;
use std::string::String;
use std::vec::Vec;

fn fields(config: &UpstreamConfig) -> Vec<(&'static str, String)> {
    let mut problems = Vec::new();
    config.problems(&mut problems);
    problems.into_iter().map(|p| (p.field, p.message)).collect()
}

#[test]
fn profiles_have_nothing_wrong_with_them() {
    for config in [UpstreamConfig::WHITE2019, UpstreamConfig::WHITE2019_LLD, UpstreamConfig::WHITE2019_PGS] {
        assert_eq!(fields(&config), Vec::new());
    }
    let mut problems = Vec::new();
    DownstreamConfig::WHITE2019.problems(&mut problems);
    assert_eq!(problems, Vec::new());
}

#[test]
fn what_a_cmts_would_refuse_is_named_with_its_limit() {
    let lld = UpstreamConfig::WHITE2019_LLD;
    let granted = |kbps, us: Option<u64>| {
        ProactiveConfig::Basic(Guarantee { rate: BitRate::from_kbps(kbps), interval: us.map(Span::from_us) })
    };
    let channel = OfdmaChannel::BASE;
    for (config, field, words) in [
        (
            UpstreamConfig { proactive: granted(60_000, Some(135)), ..lld.clone() },
            "proactive.rate",
            "the guaranteed grant rate (60 Mb/s) is above the service rate (50 Mb/s)",
        ),
        (
            UpstreamConfig { proactive: granted(5_000, Some(100)), ..lld.clone() },
            "proactive.interval",
            "a grant interval of 100 us is shorter than a frame (135 us)",
        ),
        (
            UpstreamConfig { map_interval: Span::from_us(134), ..lld.clone() },
            "map_interval",
            "a MAP interval of 134 us is shorter than a frame of this channel (135 us)",
        ),
        (UpstreamConfig { plant_km: 81.0, ..lld.clone() }, "plant_km", "a plant of 81 km is out of reach"),
        (
            UpstreamConfig { channel: OfdmaChannel { subcarriers: 1_901, ..channel }, ..lld.clone() },
            "subcarriers",
            "1901 active subcarriers of 50 kHz: a channel of 95 MHz has 1900",
        ),
        (
            UpstreamConfig { channel: OfdmaChannel { cyclic_prefix: 100, ..channel }, ..lld.clone() },
            "cyclic_prefix",
            "100 samples are no cyclic prefix",
        ),
        (
            UpstreamConfig {
                downstream: OfdmSymbols { spacing: Spacing::Khz25, interleaver: 17, ..OfdmSymbols::BASE },
                ..lld.clone()
            },
            "downstream_channel.interleaver",
            "an interleaver of 17 symbols is deeper than 16",
        ),
    ] {
        assert_eq!(fields(&config), [(field, String::from(words))]);
    }
}

#[test]
fn a_rate_of_one_flow_wants_an_aggregate_and_room_for_its_guarantee() {
    let with = |own: [u64; 2], config: UpstreamConfig| UpstreamConfig {
        classic_rate: BitRate::from_mbps(own[0]),
        low_latency_rate: BitRate::from_mbps(own[1]),
        ..config
    };
    for (config, field, words) in [
        (
            with([0, 4], UpstreamConfig::WHITE2019_PGS),
            "proactive.rate",
            "the guaranteed grant rate (5 Mb/s) is above the low-latency flow's own rate (4 Mb/s)",
        ),
        (
            with([30, 0], UpstreamConfig::WHITE2019),
            "classic_rate",
            "one service flow has `rate`, and no flow in it a rate of its own (30 Mb/s)",
        ),
    ] {
        assert_eq!(fields(&config), [(field, String::from(words))]);
    }
}
