//! Parameters of the DOCSIS 3.1 links.
//!
//! Source: docsis-ns3 1.2 `model/docsis-net-device.cc` and `model/docsis-configuration.h` for names, defaults and ranges;
//! White 2019 §4 and appendix B for the profiles. What the paper does not print comes from the experiment script of
//! docsis-ns3 (`experiments/residential/residential.sh`), and says so.
//! Deviations: none known.

mod keys;

use super::channel::{MapOverhead, OfdmChannel, OfdmaChannel, plant_round_trip};
use super::proactive::{Guarantee, ProactiveConfig, minislots, period};
use super::scheduler::with_headers;
use super::timeline::Timeline;
use crate::docsis::congestion::CongestionConfig;
use crate::problems::problem;
use alloc::format;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Span};
use sojourn_queue::{ConfigProblem, ProactiveGrants};

/// How many service flows a modem has upstream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Service {
    /// One, for everything.
    #[default]
    Single,
    /// An aggregate of a classic and a low-latency one, as in Low Latency DOCSIS.
    LowLatency,
}

/// Which grants to come a request leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestSubtracts {
    /// The next one only, so that a flow with several asks for more than it has.
    #[default]
    Next,
    /// All that are known.
    All,
}

/// A DOCSIS 3.1 upstream.
#[derive(Clone, Debug, PartialEq)]
pub struct UpstreamConfig {
    /// Maximum sustained traffic rate of the service flow or of the aggregate; zero means unlimited.
    pub rate: BitRate,
    /// Maximum traffic burst.
    pub burst: Bytes,
    /// Peak traffic rate; zero means unlimited.
    pub peak: BitRate,
    /// The bucket of the peak rate holds this span at that rate (`PeakRateTokenInterval`).
    pub peak_interval: Span,
    /// Service flows.
    pub service: Service,
    /// Maximum sustained rates of the classic and of the low-latency flow of an aggregate alone; zero means none of its
    /// own. Their bursts are that of the aggregate.
    pub own_rates: [BitRate; 2],
    /// Share of the low-latency flow while both want more than there is, in parts of 256.
    pub weight: u32,
    /// Grants without requests.
    pub proactive: ProactiveConfig,
    /// Wished time from one MAP to the next; whole frames are made of it.
    pub map_interval: Span,
    /// What the CMTS needs to make a MAP.
    pub map_processing: Span,
    /// Length of the plant in kilometres.
    pub plant_km: f64,
    /// The channel.
    pub channel: OfdmaChannel,
    /// The channel that MAPs come by.
    pub downstream: OfdmChannel,
    /// Bytes of a MAC header.
    pub mac_header: u16,
    /// Mean packet, for what MAC headers add to a guaranteed grant rate.
    pub mean_packet: Bytes,
    /// Which grants to come a request leaves out.
    pub request_subtracts: RequestSubtracts,
    /// How much of the channel others leave.
    pub congestion: CongestionConfig,
}

/// Service of White 2019 §4 (50 Mb/s and 200 Mb/s); peak and burst are those of docsis-ns3 `residential-example.cc`:
/// twice the rate, and 100 ms at it.
const WHITE2019_UPSTREAM: BitRate = BitRate::from_mbps(50);
const WHITE2019_DOWNSTREAM: BitRate = BitRate::from_mbps(200);

impl UpstreamConfig {
    /// The defaults of docsis-ns3, without a rate.
    pub const DOCSIS_NS3: Self = Self {
        rate: BitRate::ZERO,
        burst: Bytes(3_044),
        peak: BitRate::ZERO,
        peak_interval: Span::from_ms(2),
        service: Service::Single,
        own_rates: [BitRate::ZERO; 2],
        weight: 230,
        proactive: ProactiveConfig::None,
        map_interval: Span::from_ms(2),
        map_processing: Span::from_us(200),
        plant_km: 8.0,
        channel: OfdmaChannel::DOCSIS_NS3,
        downstream: OfdmChannel::DOCSIS_NS3,
        mac_header: 10,
        mean_packet: Bytes(200),
        request_subtracts: RequestSubtracts::Next,
        congestion: CongestionConfig::None,
    };
    /// Systems 1 and 2 of White 2019: one service flow, MAPs 2 ms apart.
    pub const WHITE2019: Self = Self {
        rate: WHITE2019_UPSTREAM,
        burst: Bytes(625_000),
        peak: BitRate::from_mbps(100),
        ..Self::DOCSIS_NS3
    };
    /// System 3: two service flows, MAPs 1 ms apart.
    pub const WHITE2019_LLD: Self = Self {
        service: Service::LowLatency,
        map_interval: Span::from_ms(1),
        ..Self::WHITE2019
    };
    /// System 4: proactive grants of 5 Mb/s as well, one in each frame `[inf]`: the printed P99 of 0.9 ms is met with
    /// intervals of one or two frames, and not with one MAP interval.
    pub const WHITE2019_PGS: Self = Self {
        proactive: ProactiveConfig::Basic(Guarantee {
            rate: BitRate::from_mbps(5),
            interval: Some(Span::from_us(135)),
        }),
        ..Self::WHITE2019_LLD
    };

    /// One way over the plant.
    pub fn plant(&self) -> Span {
        plant_round_trip(self.plant_km) / 2
    }

    /// The grid of the channel.
    pub fn timeline(&self) -> Timeline {
        Timeline::new(
            &self.channel,
            &self.downstream,
            self.map_interval,
            self.map_processing,
            self.plant_km,
        )
    }

    /// The guarantee as queue managers see it.
    pub(super) fn proactive_grants(&self, timeline: &Timeline) -> ProactiveGrants {
        let grants = |guarantee: &Guarantee| ProactiveGrants {
            rate: guarantee.rate,
            interval: timeline.frame * period(guarantee, timeline),
        };
        self.proactive.guarantee().map(grants).unwrap_or_default()
    }

    fn problems(&self, problems: &mut Vec<ConfigProblem>) {
        check_rates(self.rate, self.peak, problems);
        if self.service == Service::Single {
            for (key, own) in ["classic_rate", "low_latency_rate"]
                .into_iter()
                .zip(self.own_rates)
            {
                if own > BitRate::ZERO {
                    problems.push(problem(
                        key,
                        format!("one service flow has `rate`, and no flow in it a rate of its own ({own})"),
                        "service = \"low-latency\", or leave it out",
                    ));
                }
            }
        }
        check_plant(self.plant_km, problems);
        check_upstream_channel("", &self.channel, problems);
        check_downstream_channel("downstream_channel.", &self.downstream, problems);
        self.congestion.collect_problems(problems);
        if !problems.is_empty() {
            return;
        }
        let frame = self.channel.frame();
        if self.map_interval < frame {
            problems.push(problem(
                "map_interval",
                format!(
                    "a MAP interval of {} is shorter than a frame of this channel ({frame})",
                    self.map_interval
                ),
                "DOCSIS 3.1 MULPI: whole frames; \"1 ms\" or \"2 ms\" are usual",
            ));
            return;
        }
        self.check_proactive(problems);
    }

    fn check_proactive(&self, problems: &mut Vec<ConfigProblem>) {
        let Some(guarantee) = self.proactive.guarantee() else {
            return;
        };
        if self.service == Service::Single {
            problems.push(problem(
                "proactive",
                "only a low-latency service flow has proactive grants".into(),
                "service = \"low-latency\", or proactive = \"none\" (White 2019 §3.2)",
            ));
        }
        if self.rate > BitRate::ZERO && guarantee.rate > self.rate {
            problems.push(problem(
                "proactive.rate",
                format!(
                    "the guaranteed grant rate ({}) is above the service rate ({})",
                    guarantee.rate, self.rate
                ),
                "at most `rate`, the maximum sustained rate of the aggregate (DOCSIS 3.1 MULPI, annex C)",
            ));
        }
        let [_, own] = self.own_rates;
        if own > BitRate::ZERO && guarantee.rate > own {
            problems.push(problem(
                "proactive.rate",
                format!(
                    "the guaranteed grant rate ({}) is above the low-latency flow's own rate ({own})",
                    guarantee.rate
                ),
                "at most `low_latency_rate`",
            ));
        }
        let frame = self.channel.frame();
        if let Some(interval) = guarantee.interval.filter(|interval| *interval < frame) {
            problems.push(problem(
                "proactive.interval",
                format!("a grant interval of {interval} is shorter than a frame ({frame})"),
                "at least a frame: grants begin with frames (docsis-ns3 cmts-upstream-scheduler.cc)",
            ));
            return;
        }
        let timeline = self.timeline();
        let frames = period(guarantee, &timeline);
        let rate = with_headers(guarantee.rate, self.mean_packet, self.mac_header.into());
        let wanted = minislots(rate, frames, &timeline);
        let most = frames.min(timeline.frames) * timeline.minislots_per_frame;
        if wanted > most {
            problems.push(problem(
                "proactive.rate",
                format!(
                    "a grant of {wanted} minislots each {} does not fit: the channel has {most} there",
                    timeline.frame * frames
                ),
                "a lower rate, a shorter interval or a wider channel",
            ));
            return;
        }
        // Grants are paid for MAP by MAP: what the buckets hold must be more than what is guaranteed.
        let each_map = timeline.frames.div_ceil(frames) * wanted * timeline.minislot_bytes;
        for (field, rate, depth) in [
            ("burst", self.rate, self.burst),
            (
                "peak_interval",
                self.peak,
                self.peak.bytes_in(self.peak_interval),
            ),
        ] {
            if rate > BitRate::ZERO && depth.0 <= each_map {
                problems.push(problem(
                    field,
                    format!(
                        "a bucket of {depth} is spent by the proactive grants of a MAP interval ({})",
                        Bytes(each_map)
                    ),
                    "a deeper bucket, a lower guaranteed rate or a shorter MAP interval",
                ));
            }
        }
    }
}

/// A DOCSIS 3.1 downstream.
#[derive(Clone, Debug, PartialEq)]
pub struct DownstreamConfig {
    /// Maximum sustained traffic rate; zero means unlimited.
    pub rate: BitRate,
    /// Maximum traffic burst.
    pub burst: Bytes,
    /// Peak traffic rate; zero means unlimited.
    pub peak: BitRate,
    /// Least depth of the bucket of the peak rate (`MaxPdu`); a symbol's worth of that rate fits anyhow.
    pub peak_burst: Bytes,
    /// Length of the plant in kilometres.
    pub plant_km: f64,
    /// The channel.
    pub channel: OfdmChannel,
    /// Bytes of a MAC header.
    pub mac_header: u16,
    /// What MAPs take of the channel.
    pub maps: MapOverhead,
    /// Time from one MAP to the next, for their overhead.
    pub map_interval: Span,
    /// The channel that MAPs are for.
    pub upstream: OfdmaChannel,
    /// How much of the channel others leave.
    pub congestion: CongestionConfig,
}

impl DownstreamConfig {
    /// The defaults of docsis-ns3, without a rate.
    pub const DOCSIS_NS3: Self = Self {
        rate: BitRate::ZERO,
        burst: Bytes(3_044),
        peak: BitRate::ZERO,
        peak_burst: Bytes(1_532),
        plant_km: 8.0,
        channel: OfdmChannel::DOCSIS_NS3,
        mac_header: 10,
        maps: MapOverhead::DOCSIS_NS3,
        map_interval: Span::from_ms(2),
        upstream: OfdmaChannel::DOCSIS_NS3,
        congestion: CongestionConfig::None,
    };
    /// White 2019 §4.
    pub const WHITE2019: Self = Self {
        rate: WHITE2019_DOWNSTREAM,
        burst: Bytes(2_500_000),
        peak: BitRate::from_mbps(400),
        ..Self::DOCSIS_NS3
    };

    /// One way over the plant.
    pub fn plant(&self) -> Span {
        plant_round_trip(self.plant_km) / 2
    }

    /// Bytes that a symbol carries beside MAPs.
    pub fn symbol_bytes(&self) -> u64 {
        let interval = self.upstream.frame() * self.upstream.frames_per_map(self.map_interval);
        let maps = self
            .maps
            .per_symbol(&self.upstream, interval, self.channel.symbol());
        self.channel.symbol_bytes(maps)
    }

    /// What the channel carries beside MAPs.
    pub fn capacity(&self) -> BitRate {
        let bits = u128::from(self.symbol_bytes() * 8) * 1_000_000_000_000;
        let rate = bits / u128::from(self.channel.symbol().as_ps().max(1));
        BitRate::from_bps(u64::try_from(rate).unwrap_or(u64::MAX))
    }

    fn problems(&self, problems: &mut Vec<ConfigProblem>) {
        check_rates(self.rate, self.peak, problems);
        check_plant(self.plant_km, problems);
        check_downstream_channel("", &self.channel, problems);
        check_upstream_channel("upstream_channel.", &self.upstream, problems);
        self.congestion.collect_problems(problems);
        if !problems.is_empty() {
            return;
        }
        if self.symbol_bytes() == 0 {
            problems.push(problem(
                "subcarriers",
                "MAPs leave no room in a symbol of this channel".into(),
                "more subcarriers, or less overhead by MAPs",
            ));
        }
    }
}

fn check_rates(rate: BitRate, peak: BitRate, problems: &mut Vec<ConfigProblem>) {
    if peak > BitRate::ZERO && peak < rate {
        problems.push(problem(
            "peak",
            format!("the peak rate ({peak}) is below the sustained rate ({rate})"),
            "a peak rate of at least the sustained rate, or \"unlimited\"",
        ));
    }
}

/// Longest plant. Source: DOCSIS 3.1 PHY: 80 km from CMTS to modem.
const LONGEST_PLANT: f64 = 80.0;

fn check_plant(kilometres: f64, problems: &mut Vec<ConfigProblem>) {
    if !(0.0..=LONGEST_PLANT).contains(&kilometres) {
        problems.push(problem(
            "plant_km",
            format!("a plant of {kilometres} km is out of reach"),
            "0 to 80 (DOCSIS 3.1 PHY)",
        ));
    }
}

/// The path of `key` in the table that `place` names.
fn below(place: &'static str, key: &'static str) -> &'static str {
    match (place, key) {
        ("", key) => key,
        ("downstream_channel.", "cyclic_prefix") => "downstream_channel.cyclic_prefix",
        ("downstream_channel.", "subcarriers") => "downstream_channel.subcarriers",
        ("downstream_channel.", _) => "downstream_channel.interleaver",
        (_, "cyclic_prefix") => "upstream_channel.cyclic_prefix",
        (_, "efficiency") => "upstream_channel.efficiency",
        (_, _) => "upstream_channel.subcarriers",
    }
}

fn check_upstream_channel(
    place: &'static str,
    channel: &OfdmaChannel,
    problems: &mut Vec<ConfigProblem>,
) {
    if !OfdmaChannel::CYCLIC_PREFIXES.contains(&channel.cyclic_prefix) {
        problems.push(problem(
            below(place, "cyclic_prefix"),
            format!("{} samples are no cyclic prefix", channel.cyclic_prefix),
            "96, 128, 160, 192, 224, 256, 288, 320, 384, 512 or 640 at 102.4 MHz (DOCSIS 3.1 PHY)",
        ));
    }
    let most = channel.most_subcarriers();
    if channel.subcarriers > most {
        problems.push(problem(
            below(place, "subcarriers"),
            format!(
                "{} active subcarriers of {}: a channel of 95 MHz has {most}",
                channel.subcarriers,
                channel.spacing.as_str()
            ),
            "1 to 1900 at 50 kHz, 1 to 3800 at 25 kHz (DOCSIS 3.1 PHY)",
        ));
    } else if channel.minislots_per_frame() == 0 {
        problems.push(problem(
            below(place, "subcarriers"),
            format!("{} subcarriers make no minislot", channel.subcarriers),
            "at least 400 kHz: 8 at 50 kHz, 16 at 25 kHz (DOCSIS 3.1 PHY)",
        ));
    } else if channel.minislot_bytes() == 0 {
        problems.push(problem(
            below(place, "efficiency"),
            format!("a minislot of {} b/s/Hz has no byte", channel.efficiency),
            "1 to 12 (DOCSIS 3.1 PHY)",
        ));
    }
}

fn check_downstream_channel(
    place: &'static str,
    channel: &OfdmChannel,
    problems: &mut Vec<ConfigProblem>,
) {
    if !OfdmChannel::CYCLIC_PREFIXES.contains(&channel.cyclic_prefix) {
        problems.push(problem(
            below(place, "cyclic_prefix"),
            format!("{} samples are no cyclic prefix", channel.cyclic_prefix),
            "192, 256, 512, 768 or 1024 at 204.8 MHz (DOCSIS 3.1 PHY)",
        ));
    }
    let most = channel.most_subcarriers();
    if channel.subcarriers > most {
        problems.push(problem(
            below(place, "subcarriers"),
            format!(
                "{} active subcarriers of {}: a channel has {most}",
                channel.subcarriers,
                channel.spacing.as_str()
            ),
            "1 to 3745 at 50 kHz, 1 to 7537 at 25 kHz (DOCSIS 3.1 PHY, docsis-ns3)",
        ));
    }
    let deepest = channel.deepest_interleaver();
    if channel.interleaver > deepest {
        problems.push(problem(
            below(place, "interleaver"),
            format!(
                "an interleaver of {} symbols is deeper than {deepest}",
                channel.interleaver
            ),
            "1 to 32 at 50 kHz, 1 to 16 at 25 kHz (DOCSIS 3.1 PHY)",
        ));
    }
}

#[cfg(test)]
mod tests;
