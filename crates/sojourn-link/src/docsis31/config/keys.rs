//! Keys of the DOCSIS 3.1 links, beside what else makes kinds of link of their parameters.
//!
//! Source: as of the parameters. Deviations: none known.

use super::super::channel::{MapOverhead, OfdmChannel, OfdmaChannel, Spacing};
use super::super::downstream::Downstream;
use super::super::proactive::{Guarantee, ProactiveConfig};
use super::super::upstream::Upstream;
use super::{DownstreamConfig, RequestSubtracts, Service, UpstreamConfig};
use crate::any::AnyLink;
use crate::config::keys::HIGHEST_RATE;
use crate::docsis::congestion::CONGESTION;
use crate::framing::Framing;
use crate::kind::LinkKind;
use alloc::boxed::Box;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Span};
use sojourn_keys::{
    Configured, Key, Kind, OneOf, Or, Parameter, Profile, Visitor, Word, Words, key,
};
use sojourn_queue::{ConfigProblem, QueueManager};

const PHY: &str = "docsis-ns3 1.2; range of DOCSIS 3.1 PHY";
const NS3: &str = "docsis-ns3 1.2";
/// Rate shaping of both flows of an aggregate is off.
const NONE: &str = "White 2019 §2.1: none";

/// Maximum sustained traffic rate, burst and peak rate.
fn rate_keys(rate: &mut BitRate, burst: &mut Bytes, peak: &mut BitRate, visitor: &mut dyn Visitor) {
    visitor.value(
        key(
            "rate",
            "maximum sustained traffic rate of the service flow, or of the aggregate",
            "no default: it is the tier",
        )
        .required("\"50 Mb/s\"")
        .least("1 b/s")
        .most(HIGHEST_RATE),
        rate,
    );
    visitor.value(
        key(
            "burst",
            "maximum traffic burst: depth of the bucket of the sustained rate; if neither file nor profile says it, 100 ms at the rate and at least 3044 B",
            "DOCSIS MULPI annex C; docsis-ns3 1.2 residential-example.cc",
        )
        .least("1 B")
        .most("1000 GB"),
        burst,
    );
    let key = key("peak", "peak traffic rate", "DOCSIS MULPI annex C: none");
    limit_key(key, peak, visitor);
}

/// A rate that may be unlimited, which is zero.
fn limit_key(key: Key, rate: &mut BitRate, visitor: &mut dyn Visitor) {
    let mut said = (*rate > BitRate::ZERO).then_some(*rate);
    visitor.value(
        key.least("1 b/s").most(HIGHEST_RATE),
        &mut Or {
            value: &mut said,
            word: "unlimited",
        },
    );
    *rate = said.unwrap_or(BitRate::ZERO);
}

const PLANT: Key = key(
    "plant_km",
    "length of the plant in kilometres: 5 us each, one way",
    "docsis-ns3 1.2 and White 2019 appendix B: 8 km; at most 80 km (DOCSIS 3.1 PHY)",
);

const MAC_HEADER: Key = key(
    "mac_header",
    "bytes of the MAC header with its extensions, on top of what the framing charges",
    "docsis-ns3 1.2: 10, unbonded",
)
.least("6")
.most("246");

const MAP_INTERVAL: Key = key(
    "map_interval",
    "wished time from one MAP to the next; the nearest number of whole frames is used",
    "docsis-ns3 1.2: 2 ms; White 2019 §3.1: 1 ms for low latency",
)
.least("1 us")
// chosen: a thousand times the usual.
.most("2 s");

const SPACINGS: [Word<Spacing>; 2] = [
    Word {
        name: Spacing::Khz50.as_str(),
        value: Spacing::Khz50,
        about: "symbols of 20 us",
    },
    Word {
        name: Spacing::Khz25.as_str(),
        value: Spacing::Khz25,
        about: "symbols of 40 us",
    },
];

fn spacing_key(spacing: &mut Spacing, visitor: &mut dyn Visitor) {
    visitor.value(
        key("spacing", "distance between subcarriers", PHY),
        &mut Words {
            value: spacing,
            words: &SPACINGS,
        },
    );
}

impl OfdmaChannel {
    fn keys(&mut self, visitor: &mut dyn Visitor) {
        let channel = self;
        spacing_key(&mut channel.spacing, visitor);
        visitor.value(
            key("subcarriers", "active subcarriers", PHY)
                .least("1")
                .most("3800"),
            &mut channel.subcarriers,
        );
        visitor.value(
            key("symbols_per_frame", "symbols in an OFDMA frame", PHY)
                .least("6")
                .most("36"),
            &mut channel.symbols_per_frame,
        );
        visitor.value(
            key(
                "efficiency",
                "bits per second and hertz, mean over all subcarriers",
                PHY,
            )
            .least("1")
            .most("12"),
            &mut channel.efficiency,
        );
        visitor.value(
            key(
                "cyclic_prefix",
                "cyclic prefix in samples at 102.4 MHz",
                PHY,
            ),
            &mut channel.cyclic_prefix,
        );
        visitor.value(
            key("modem_pipeline", "frames that the modem works ahead", NS3).most("32"),
            &mut channel.modem_pipeline,
        );
        visitor.value(
            key("cmts_pipeline", "frames that the CMTS works behind", NS3).most("32"),
            &mut channel.cmts_pipeline,
        );
    }
}

impl OfdmChannel {
    /// Those that decide when something arrives.
    fn time_keys(&mut self, visitor: &mut dyn Visitor) {
        let channel = self;
        spacing_key(&mut channel.spacing, visitor);
        visitor.value(
            key(
                "interleaver",
                "depth of the time interleaver in symbols; 1 is none",
                PHY,
            )
            .least("1")
            .most("32"),
            &mut channel.interleaver,
        );
        visitor.value(
            key(
                "cyclic_prefix",
                "cyclic prefix in samples at 204.8 MHz",
                PHY,
            ),
            &mut channel.cyclic_prefix,
        );
        visitor.value(
            key("cmts_pipeline", "symbols that the CMTS works ahead", NS3).most("256"),
            &mut channel.cmts_pipeline,
        );
        visitor.value(
            key("modem_pipeline", "symbols that the modem works behind", NS3).most("256"),
            &mut channel.modem_pipeline,
        );
    }

    /// Those that decide how much.
    fn capacity_keys(&mut self, visitor: &mut dyn Visitor) {
        let channel = self;
        visitor.value(
            key("subcarriers", "active subcarriers", PHY)
                .least("1")
                .most("7537"),
            &mut channel.subcarriers,
        );
        visitor.value(
            key(
                "efficiency",
                "bits per second and hertz, mean over all subcarriers",
                PHY,
            )
            .least("4")
            .most("14"),
            &mut channel.efficiency,
        );
        visitor.value(
            key("codeword_fill", "how full codewords are", NS3)
                .least("0")
                .most("1"),
            &mut channel.codeword_fill,
        );
        visitor.value(
            key(
                "pointer_bits",
                "bits per subcarrier of the pointer to the next codeword: 2, 4 or 6",
                PHY,
            )
            .least("2")
            .most("6"),
            &mut channel.pointer_bits,
        );
    }
}

impl Configured for UpstreamConfig {
    const KIND: &'static str = "docsis31-upstream";
    const ABOUT: &'static str = "a DOCSIS 3.1 upstream: OFDMA, requests and grants, one service flow or a classic and a \
                low-latency one";
    const PROFILES: &'static [Profile<Self>] = &[
        Profile {
            name: "white2019",
            about: "White 2019 §4: 50 Mb/s, one service flow, MAPs 2 ms apart",
            values: || Self::WHITE2019,
        },
        Profile {
            name: "white2019-lld",
            about: "White 2019 §4: two service flows, MAPs 1 ms apart",
            values: || Self::WHITE2019_LLD,
        },
        Profile {
            name: "white2019-pgs",
            about: "White 2019 §4: two service flows and proactive grants of 5 Mb/s",
            values: || Self::WHITE2019_PGS,
        },
    ];

    fn base() -> Self {
        Self::DOCSIS_NS3
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        let link = self;
        rate_keys(&mut link.rate, &mut link.burst, &mut link.peak, visitor);
        visitor.value(
            key(
                "peak_interval",
                "the bucket of the peak rate holds what that rate sends in this time",
                "docsis-ns3 1.2, PeakRateTokenInterval",
            )
            .least("1 us")
            .most("1 s"),
            &mut link.peak_interval,
        );
        visitor.value(
            key("service", "service flows of the modem", "White 2019 §2.1"),
            &mut Words {
                value: &mut link.service,
                words: &SERVICES,
            },
        );
        let [classic, low_latency] = &mut link.own_rates;
        let about = "maximum sustained rate of the classic flow of an aggregate alone; its burst is `burst`";
        limit_key(key("classic_rate", about, NONE), classic, visitor);
        let about = "the same of the low-latency flow";
        limit_key(key("low_latency_rate", about, NONE), low_latency, visitor);
        visitor.value(
            key(
                "weight",
                "share of the low-latency flow while both want more than there is, of 256",
                "docsis-ns3 1.2; White 2019 §2.3",
            )
            .least("1")
            .most("255"),
            &mut link.weight,
        );
        visitor.choice(
            PROACTIVE,
            &mut OneOf::new(&mut link.proactive, &PROACTIVE_KINDS, ProactiveConfig::kind),
        );
        visitor.value(MAP_INTERVAL, &mut link.map_interval);
        visitor.value(
            key("map_processing", "what the CMTS needs to make a MAP", PHY).most("400 us"),
            &mut link.map_processing,
        );
        visitor.value(PLANT, &mut link.plant_km);
        link.channel.keys(visitor);
        visitor.table(
            key("downstream_channel", "the channel that MAPs come by", NS3),
            &mut |visitor| link.downstream.time_keys(visitor),
        );
        visitor.value(MAC_HEADER, &mut link.mac_header);
        visitor.value(
            key(
                "mean_packet",
                "mean packet without header, for what MAC headers add to a guaranteed grant rate",
                "docsis-ns3 1.2, MeanPacketSize",
            )
            .least("1 B")
            .most("64 KiB"),
            &mut link.mean_packet,
        );
        visitor.value(
            key(
                "request_subtracts",
                "which grants to come a request leaves out",
                "docsis-ns3 1.2",
            ),
            &mut Words {
                value: &mut link.request_subtracts,
                words: &SUBTRACTS,
            },
        );
        Parameter::show(&mut link.congestion, CONGESTION, visitor);
    }
}

const SERVICES: [Word<Service>; 2] = [
    Word {
        name: "single",
        value: Service::Single,
        about: "one, for everything",
    },
    Word {
        name: "low-latency",
        value: Service::LowLatency,
        about: "a classic and a low-latency one, for the two queues of the manager",
    },
];

const SUBTRACTS: [Word<RequestSubtracts>; 2] = [
    Word {
        name: "next",
        value: RequestSubtracts::Next,
        about: "the next one",
    },
    Word {
        name: "all",
        value: RequestSubtracts::All,
        about: "all that are known",
    },
];

const PROACTIVE: Key = key(
    "proactive",
    "grants that the low-latency flow has not asked for",
    "White 2019 §3.2",
);

/// What is guaranteed if nothing is said. The interval is inferred, see [`UpstreamConfig::WHITE2019_PGS`].
const GUARANTEE: Guarantee = Guarantee {
    rate: BitRate::ZERO,
    interval: None,
};

const PROACTIVE_KINDS: [Kind<ProactiveConfig>; 3] = [
    Kind {
        name: "none",
        about: "every grant is asked for",
        base: || ProactiveConfig::None,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "basic",
        about: "the guaranteed rate for ever, used or not",
        base: || ProactiveConfig::Basic(GUARANTEE),
        profiles: &[],
        keys: |config, visitor| {
            if let ProactiveConfig::Basic(guarantee) = config {
                guarantee.keys(visitor);
            }
        },
    },
    Kind {
        name: "adaptive",
        about: "the guaranteed rate while the flow is likely to send: less is wasted",
        base: || ProactiveConfig::Adaptive {
            guarantee: GUARANTEE,
            quiet: 0.8,
            idle_after: None,
            request_interval: Span::from_ms(1),
        },
        profiles: &[],
        keys: |config, visitor| {
            if let ProactiveConfig::Adaptive {
                guarantee,
                quiet,
                idle_after,
                request_interval,
            } = config
            {
                guarantee.keys(visitor);
                visitor.value(
                    key(
                        "quiet",
                        "part of the shortest gap between bursts in which nothing is granted after a burst",
                        "chosen: games send every 33 ms give or take a few; 0.8 leaves grants for all of them",
                    )
                    .least("0")
                    .most("1"),
                    quiet,
                );
                visitor.value(
                    key(
                        "idle_after",
                        "without a byte for so long, the flow is only asked now and then",
                        "White 2019 §3.2; never, as in its study",
                    )
                    .least("1 us")
                    .most("1 h"),
                    &mut Or {
                        value: idle_after,
                        word: "never",
                    },
                );
                visitor.value(
                    key(
                        "request_interval",
                        "how often an idle flow is asked (GRI)",
                        "White 2019 §3.2; chosen: 1 ms",
                    )
                    .least("1 us")
                    .most("1 s"),
                    request_interval,
                );
            }
        },
    },
];

impl Guarantee {
    fn keys(&mut self, visitor: &mut dyn Visitor) {
        let guarantee = self;
        visitor.value(
            key(
                "rate",
                "guaranteed grant rate (GGR), MAC headers not counted",
                "no default",
            )
            .required("\"5 Mb/s\"")
            .least("1 b/s")
            .most(HIGHEST_RATE),
            &mut guarantee.rate,
        );
        visitor.value(
            key(
                "interval",
                "guaranteed grant interval (GGI), rounded down to whole frames",
                "docsis-ns3 1.2: one MAP interval",
            )
            .least("1 us")
            .most("1 s"),
            &mut Or {
                value: &mut guarantee.interval,
                word: "map",
            },
        );
    }
}

impl LinkKind for UpstreamConfig {
    fn build(&self, manager: Box<dyn QueueManager>) -> AnyLink {
        Upstream::new(self, manager).into()
    }

    fn drain_rate(&self) -> BitRate {
        drain_rate(self.rate, self.peak, self.channel.capacity())
    }

    fn delay(&self) -> Span {
        self.plant()
    }

    fn burst(&self) -> Bytes {
        self.burst
    }

    fn framing(&self) -> Framing {
        Framing::Ethernet
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.problems(problems);
    }
}

/// The rate of buckets in front of a channel.
fn drain_rate(sustained: BitRate, peak: BitRate, channel: BitRate) -> BitRate {
    let rates = [sustained, peak, channel];
    let said = rates.into_iter().filter(|rate| *rate > BitRate::ZERO);
    said.min().unwrap_or(BitRate::ZERO)
}

impl Configured for DownstreamConfig {
    const KIND: &'static str = "docsis31-downstream";
    const ABOUT: &'static str =
        "a DOCSIS 3.1 downstream: a rate shaper on the symbols of an OFDM channel";
    const PROFILES: &'static [Profile<Self>] = &[Profile {
        name: "white2019",
        about: "White 2019 §4: 200 Mb/s",
        values: || Self::WHITE2019,
    }];

    fn base() -> Self {
        Self::DOCSIS_NS3
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        let link = self;
        rate_keys(&mut link.rate, &mut link.burst, &mut link.peak, visitor);
        visitor.value(
            key(
                "peak_burst",
                "least depth of the bucket of the peak rate; what that rate sends in a symbol fits anyhow",
                "docsis-ns3 1.2, MaxPdu",
            )
            .least("1 B")
            .most("1 GB"),
            &mut link.peak_burst,
        );
        visitor.value(PLANT, &mut link.plant_km);
        link.channel.time_keys(visitor);
        link.channel.capacity_keys(visitor);
        visitor.value(MAC_HEADER, &mut link.mac_header);
        link.maps.keys(visitor);
        visitor.value(MAP_INTERVAL, &mut link.map_interval);
        visitor.table(
            key("upstream_channel", "the channel that MAPs are for", NS3),
            &mut |visitor| link.upstream.keys(visitor),
        );
        Parameter::show(&mut link.congestion, CONGESTION, visitor);
    }
}

impl MapOverhead {
    fn keys(&mut self, visitor: &mut dyn Visitor) {
        let maps = self;
        visitor.value(
            key(
                "upstream_channels",
                "upstream channels whose MAPs the channel carries",
                NS3,
            )
            .most("64"),
            &mut maps.channels,
        );
        visitor.value(
            key(
                "upstream_burst",
                "bytes of a mean burst upstream, for the size of MAPs",
                NS3,
            )
            .least("1")
            .most("1000000"),
            &mut maps.burst,
        );
        visitor.value(
            key(
                "upstream_utilisation",
                "mean utilisation upstream, for the size of MAPs",
                NS3,
            )
            .least("0")
            .most("1"),
            &mut maps.utilisation,
        );
    }
}

impl LinkKind for DownstreamConfig {
    fn build(&self, manager: Box<dyn QueueManager>) -> AnyLink {
        Downstream::new(self, manager).into()
    }

    fn drain_rate(&self) -> BitRate {
        drain_rate(self.rate, self.peak, self.capacity())
    }

    fn delay(&self) -> Span {
        self.plant()
    }

    fn burst(&self) -> Bytes {
        self.burst
    }

    fn framing(&self) -> Framing {
        Framing::Ethernet
    }

    fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.problems(problems);
    }
}
