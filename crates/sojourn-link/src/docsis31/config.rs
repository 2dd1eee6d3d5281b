//! Parameters of the DOCSIS 3.1 links.
//!
//! Source: docsis-ns3 1.2 `model/docsis-net-device.cc` and `model/docsis-configuration.h` for names, defaults and
//! ranges; White 2019 §4 and appendix B for the profiles. Values that the paper does not print come from the experiment
//! script of docsis-ns3 (`experiments/residential/residential.sh`), and say so.
//! Deviations: none known.

mod checks;

pub(crate) use checks::check_channels;

use super::channel::{MapOverhead, NS3, OfdmChannel, OfdmSymbols, OfdmaChannel, PHY, plant_round_trip};
use super::proactive::{Guarantee, PROACTIVE, ProactiveConfig, period};
use super::timeline::Timeline;
use crate::config::keys::HIGHEST_RATE;
use crate::docsis::congestion::{CONGESTION, CongestionConfig};
use sojourn_base::{BitRate, Bytes, Span};
use sojourn_keys::{Key, key, origin, parameters, rate_or, words};
use sojourn_queue::ProactiveGrants;

words! {
    /// How many service flows a modem has upstream.
    pub enum Service {
        /// one, for everything
        Single = "single",
        /// a classic and a low-latency one, for the two queues of the manager
        LowLatency = "low-latency",
    }
}

words! {
    /// Which grants to come a request leaves out.
    pub enum RequestSubtracts {
        /// the next one
        ///
        /// So that a flow with several grants to come asks for more than it has.
        Next = "next",
        /// all that are known
        All = "all",
    }
}

/// Rate shaping of both flows of an aggregate is off.
const NONE: &str = "White 2019 §2.1: none";

const RATE: Key = key(
    "rate",
    "maximum sustained traffic rate of the service flow, or of the aggregate",
    "no default: it is the tier",
)
.required("\"50 Mb/s\"")
.least("1 b/s")
.most(HIGHEST_RATE);

const BURST: Key = key(
    "burst",
    "maximum traffic burst: depth of the bucket of the sustained rate; if neither file nor profile says it, 100 ms at the rate and at least 3044 B",
    "DOCSIS MULPI annex C; docsis-ns3 1.2 residential-example.cc",
)
.least("1 B")
.most("1000 GB");

/// A rate that may be unlimited.
const fn limit(source: &'static str) -> Key {
    origin(source).or("unlimited").least("1 b/s").most(HIGHEST_RATE)
}

const PEAK: Key = limit("DOCSIS MULPI annex C: none").called("peak", "peak traffic rate");

const PLANT: Key = key(
    "plant_km",
    "length of the plant in kilometres: 5 us each, one way",
    "docsis-ns3 1.2 and White 2019 appendix B: 8 km; at most 80 km (DOCSIS 3.1 PHY)",
);

const SWITCHING: Key = key(
    "switching",
    "what modem or CMTS needs to decide where to forward a packet, after its last byte",
    "White 2019 §1: \"a very minor impact on overall latency\"; chosen: none, as in docsis-ns3",
)
.most("10 ms");

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

/// Service of White 2019 §4 (50 Mb/s and 200 Mb/s); peak and burst are those of docsis-ns3 `residential-example.cc`:
/// twice the rate, and 100 ms at it.
const WHITE2019_UPSTREAM: BitRate = BitRate::from_mbps(50);
const WHITE2019_DOWNSTREAM: BitRate = BitRate::from_mbps(200);

parameters! {
    /// A DOCSIS 3.1 upstream; the defaults are those of docsis-ns3, without a rate. A rate of zero means unlimited.
    pub struct UpstreamConfig:
        "docsis31-upstream",
        "a DOCSIS 3.1 upstream: OFDMA, requests and grants, one service flow or a classic and a low-latency one"
    {
        rate: BitRate = BitRate::ZERO, RATE;
        burst: Bytes = Bytes(3_044), BURST;
        peak: BitRate = BitRate::ZERO, PEAK => rate_or;
        /// the bucket of the peak rate holds what that rate sends in this time
        peak_interval: Span = Span::from_ms(2),
            origin("docsis-ns3 1.2, PeakRateTokenInterval").least("1 us").most("1 s");
        /// service flows of the modem
        service: Service = Service::Single, origin("White 2019 §2.1");
        /// maximum sustained rate of the classic flow of an aggregate alone; its burst is `burst`
        classic_rate: BitRate = BitRate::ZERO, limit(NONE) => rate_or;
        /// the same of the low-latency flow
        low_latency_rate: BitRate = BitRate::ZERO, limit(NONE) => rate_or;
        /// share of the low-latency flow while both want more than there is, of 256
        weight: u32 = 230, origin("docsis-ns3 1.2; White 2019 §2.3").least("1").most("255");
        proactive: ProactiveConfig = ProactiveConfig::None, PROACTIVE;
        map_interval: Span = Span::from_ms(2), MAP_INTERVAL;
        /// what the CMTS needs to make a MAP
        map_processing: Span = Span::from_us(200), origin(PHY).most("400 us");
        plant_km: f64 = 8.0, PLANT;
        switching: Span = Span::ZERO, SWITCHING, if |it| !it.switching.is_zero();
        /// the channel
        channel: OfdmaChannel = OfdmaChannel::BASE;
        /// the channel that MAPs come by
        downstream as "downstream_channel": OfdmSymbols = OfdmSymbols::BASE, origin(NS3);
        mac_header: u16 = 10, MAC_HEADER;
        /// mean packet without header, for what MAC headers add to a guaranteed grant rate
        mean_packet: Bytes = Bytes(200), origin("docsis-ns3 1.2, MeanPacketSize").least("1 B").most("64 KiB");
        /// which grants to come a request leaves out
        request_subtracts: RequestSubtracts = RequestSubtracts::Next, origin("docsis-ns3 1.2");
        congestion: CongestionConfig = CongestionConfig::None, CONGESTION;
    }
    profiles {
        /// White 2019 §4: 50 Mb/s, one service flow, MAPs 2 ms apart
        ///
        /// Systems 1 and 2.
        WHITE2019 "white2019" {
            rate = WHITE2019_UPSTREAM;
            burst = Bytes(625_000);
            peak = BitRate::from_mbps(100);
        }
        /// White 2019 §4: two service flows, MAPs 1 ms apart
        ///
        /// System 3.
        WHITE2019_LLD "white2019-lld" from WHITE2019 {
            service = Service::LowLatency;
            map_interval = Span::from_ms(1);
        }
        /// White 2019 §4: two service flows and proactive grants of 5 Mb/s
        ///
        /// System 4. A grant in each frame `[inf]`: the printed P99 of 0.9 ms is met with intervals of one or two
        /// frames, and not with one MAP interval.
        WHITE2019_PGS "white2019-pgs" from WHITE2019_LLD {
            proactive = ProactiveConfig::Basic(Guarantee {
                rate: BitRate::from_mbps(5),
                interval: Some(Span::from_us(135)),
            });
        }
    }
}

impl UpstreamConfig {
    /// Maximum sustained rates of the classic and of the low-latency flow of an aggregate alone.
    pub const fn own_rates(&self) -> [BitRate; 2] {
        [self.classic_rate, self.low_latency_rate]
    }

    /// One way over the plant.
    pub fn plant(&self) -> Span {
        plant_round_trip(self.plant_km) / 2
    }

    /// The grid of the channel.
    pub fn timeline(&self) -> Timeline {
        Timeline::new(&self.channel, &self.downstream, self.map_interval, self.map_processing, self.plant_km)
    }

    /// The guarantee as queue managers see it.
    pub(super) fn proactive_grants(&self, timeline: &Timeline) -> ProactiveGrants {
        let grants = |guarantee: &Guarantee| ProactiveGrants {
            rate: guarantee.rate,
            interval: timeline.frame * period(guarantee, timeline),
        };
        self.proactive.guarantee().map(grants).unwrap_or_default()
    }
}

parameters! {
    /// A DOCSIS 3.1 downstream; the defaults are those of docsis-ns3, without a rate. A rate of zero means unlimited.
    pub struct DownstreamConfig:
        "docsis31-downstream", "a DOCSIS 3.1 downstream: a rate shaper on the symbols of an OFDM channel"
    {
        rate: BitRate = BitRate::ZERO, RATE;
        burst: Bytes = Bytes(3_044), BURST;
        peak: BitRate = BitRate::ZERO, PEAK => rate_or;
        /// least depth of the bucket of the peak rate; what that rate sends in a symbol fits anyhow
        peak_burst: Bytes = Bytes(1_532), origin("docsis-ns3 1.2, MaxPdu").least("1 B").most("1 GB");
        plant_km: f64 = 8.0, PLANT;
        switching: Span = Span::ZERO, SWITCHING, if |it| !it.switching.is_zero();
        /// the channel
        channel: OfdmChannel = OfdmChannel::BASE;
        mac_header: u16 = 10, MAC_HEADER;
        /// what MAPs take of the channel
        maps: MapOverhead = MapOverhead::BASE;
        map_interval: Span = Span::from_ms(2), MAP_INTERVAL;
        /// the channel that MAPs are for
        upstream as "upstream_channel": OfdmaChannel = OfdmaChannel::BASE, origin(NS3);
        congestion: CongestionConfig = CongestionConfig::None, CONGESTION;
    }
    profiles {
        /// White 2019 §4: 200 Mb/s
        WHITE2019 "white2019" {
            rate = WHITE2019_DOWNSTREAM;
            burst = Bytes(2_500_000);
            peak = BitRate::from_mbps(400);
        }
    }
}

impl DownstreamConfig {
    /// One way over the plant.
    pub fn plant(&self) -> Span {
        plant_round_trip(self.plant_km) / 2
    }

    /// Bytes that a symbol carries beside MAPs.
    pub fn symbol_bytes(&self) -> u64 {
        let interval = self.upstream.frame() * self.upstream.frames_per_map(self.map_interval);
        let maps = self.maps.per_symbol(&self.upstream, interval, self.channel.symbols.length());
        self.channel.symbol_bytes(maps)
    }

    /// Returns the rate of the channel without MAPs.
    pub fn capacity(&self) -> BitRate {
        let bits = u128::from(self.symbol_bytes() * 8) * 1_000_000_000_000;
        let rate = bits / u128::from(self.channel.symbols.length().as_ps().max(1));
        BitRate::from_bps(u64::try_from(rate).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests;
