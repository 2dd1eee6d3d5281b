//! Checks parameters of the DOCSIS 3.1 links beyond the bounds of single keys.
//!
//! Source: as of the parameters. Deviations: none known.

use super::{DownstreamConfig, Service, UpstreamConfig};
use crate::docsis31::channel::{OfdmChannel, OfdmSymbols, OfdmaChannel};
use crate::docsis31::proactive::{minislots, period};
use crate::docsis31::scheduler::with_headers;
use crate::problems::problem;
use alloc::format;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes};
use sojourn_queue::ConfigProblem;

impl UpstreamConfig {
    pub(crate) fn problems(&self, problems: &mut Vec<ConfigProblem>) {
        check_rates(self.rate, self.peak, problems);
        if self.service == Service::Single {
            for (key, own) in ["classic_rate", "low_latency_rate"].into_iter().zip(self.own_rates()) {
                if own > BitRate::ZERO {
                    problems.push(problem(
                        key,
                        format!("one service flow has `rate`, and no flow in it a rate of its own ({own})"),
                        "service = \"low-latency\", or leave it out",
                    ));
                }
            }
        }
        check_channels(&self.channel, &self.downstream, self.plant_km, problems);
        self.congestion.collect_problems(problems);
        if !problems.is_empty() {
            return;
        }
        let frame = self.channel.frame();
        if self.map_interval < frame {
            problems.push(problem(
                "map_interval",
                format!("a MAP interval of {} is shorter than a frame of this channel ({frame})", self.map_interval),
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
        if self.rate > BitRate::ZERO && guarantee.rate > self.rate {
            problems.push(problem(
                "proactive.rate",
                format!("the guaranteed grant rate ({}) is above the service rate ({})", guarantee.rate, self.rate),
                "at most `rate`, the maximum sustained rate of the aggregate (DOCSIS 3.1 MULPI, annex C)",
            ));
        }
        let own = self.low_latency_rate;
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
        for (field, rate, depth) in
            [("burst", self.rate, self.burst), ("peak_interval", self.peak, self.peak.bytes_in(self.peak_interval))]
        {
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

impl DownstreamConfig {
    pub(crate) fn problems(&self, problems: &mut Vec<ConfigProblem>) {
        check_rates(self.rate, self.peak, problems);
        check_plant(self.plant_km, problems);
        check_symbols(["cyclic_prefix", "interleaver"], &self.channel.symbols, problems);
        check_downstream_channel(&self.channel, problems);
        check_upstream_channel(BELOW, &self.upstream, problems);
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

/// Checks a channel that several modems share, and the one that its MAPs come by.
pub(crate) fn check_channels(
    channel: &OfdmaChannel,
    downstream: &OfdmSymbols,
    kilometres: f64,
    problems: &mut Vec<ConfigProblem>,
) {
    check_plant(kilometres, problems);
    check_upstream_channel(HERE, channel, problems);
    let keys = ["downstream_channel.cyclic_prefix", "downstream_channel.interleaver"];
    check_symbols(keys, downstream, problems);
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

/// Keys of an OFDMA channel, in the table of its link and in that of a downstream.
const HERE: [&str; 3] = ["cyclic_prefix", "subcarriers", "efficiency"];
const BELOW: [&str; 3] =
    ["upstream_channel.cyclic_prefix", "upstream_channel.subcarriers", "upstream_channel.efficiency"];

fn check_upstream_channel(
    [cyclic_prefix, subcarriers, efficiency]: [&'static str; 3],
    channel: &OfdmaChannel,
    problems: &mut Vec<ConfigProblem>,
) {
    if !OfdmaChannel::CYCLIC_PREFIXES.contains(&channel.cyclic_prefix) {
        problems.push(problem(
            cyclic_prefix,
            format!("{} samples are no cyclic prefix", channel.cyclic_prefix),
            "96, 128, 160, 192, 224, 256, 288, 320, 384, 512 or 640 at 102.4 MHz (DOCSIS 3.1 PHY)",
        ));
    }
    let most = channel.most_subcarriers();
    if channel.subcarriers > most {
        problems.push(problem(
            subcarriers,
            format!(
                "{} active subcarriers of {}: a channel of 95 MHz has {most}",
                channel.subcarriers,
                channel.spacing.as_str()
            ),
            "1 to 1900 at 50 kHz, 1 to 3800 at 25 kHz (DOCSIS 3.1 PHY)",
        ));
    } else if channel.minislots_per_frame() == 0 {
        problems.push(problem(
            subcarriers,
            format!("{} subcarriers make no minislot", channel.subcarriers),
            "at least 400 kHz: 8 at 50 kHz, 16 at 25 kHz (DOCSIS 3.1 PHY)",
        ));
    } else if channel.minislot_bytes() == 0 {
        problems.push(problem(
            efficiency,
            format!("a minislot of {} b/s/Hz has no byte", channel.efficiency),
            "1 to 12 (DOCSIS 3.1 PHY)",
        ));
    }
}

fn check_downstream_channel(channel: &OfdmChannel, problems: &mut Vec<ConfigProblem>) {
    let most = channel.most_subcarriers();
    if channel.subcarriers > most {
        problems.push(problem(
            "subcarriers",
            format!(
                "{} active subcarriers of {}: a channel has {most}",
                channel.subcarriers,
                channel.symbols.spacing.as_str()
            ),
            "1 to 3745 at 50 kHz, 1 to 7537 at 25 kHz (DOCSIS 3.1 PHY, docsis-ns3)",
        ));
    }
}

fn check_symbols(
    [cyclic_prefix, interleaver]: [&'static str; 2],
    symbols: &OfdmSymbols,
    problems: &mut Vec<ConfigProblem>,
) {
    if !OfdmSymbols::CYCLIC_PREFIXES.contains(&symbols.cyclic_prefix) {
        problems.push(problem(
            cyclic_prefix,
            format!("{} samples are no cyclic prefix", symbols.cyclic_prefix),
            "192, 256, 512, 768 or 1024 at 204.8 MHz (DOCSIS 3.1 PHY)",
        ));
    }
    let deepest = symbols.deepest_interleaver();
    if symbols.interleaver > deepest {
        problems.push(problem(
            interleaver,
            format!("an interleaver of {} symbols is deeper than {deepest}", symbols.interleaver),
            "1 to 32 at 50 kHz, 1 to 16 at 25 kHz (DOCSIS 3.1 PHY)",
        ));
    }
}
