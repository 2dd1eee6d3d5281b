//! Parameters of a service group: the channel that all share, and the service of one home.
//!
//! Source: the specification of service groups, sections 2 to 4, with the sources it names at the rows; docsis-ns3 1.2
//! for the channel.
//! Deviations: those of [`crate::group`].

use super::channels::{ChannelSet, Form, ScqamConfig};
use super::grid::{Grid, Unrepeatable};
use crate::config::ShaperConfig;
use crate::docsis31::channel::{OfdmSymbols, OfdmaChannel};
use crate::docsis31::config::Service;
use crate::docsis31::proactive::{Guarantee, PROACTIVE, ProactiveConfig};
use crate::problems::problem;
use alloc::format;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Span};
use sojourn_keys::{origin, parameters, rate_or, words};
use sojourn_queue::ConfigProblem;

words! {
    /// How many opportunities a modem may wait for before its first try.
    pub enum Backoff {
        /// as many as a frame has, at least what `backoff_start` says
        ///
        /// Packets that come within a frame start from the same opportunity: a smaller window leaves others empty.
        Auto = "auto",
        /// what `backoff_start` says
        Fixed = "fixed",
    }
}

words! {
    /// What homes share equally when the channel is full.
    pub enum Share {
        /// bytes, so that a home with poor modulation takes more minislots
        Bytes = "bytes",
        /// minislots, so that a home with poor modulation has a lower rate
        Minislots = "minislots",
    }
}

words! {
    /// Whether requests can be lost.
    pub enum Contending {
        /// two modems in one opportunity lose both requests
        Collisions = "collisions",
        /// every request is heard: a modem without a grant asks once in each MAP interval, as the models of one modem do
        Ideal = "ideal",
    }
}

words! {
    /// What a request is for.
    pub enum RequestUnit {
        /// everything that waits
        Queue = "queue",
        /// the packet at the head alone, and each packet is a grant of its own, as before concatenation
        Packet = "packet",
    }
}

words! {
    /// Whom the CMTS serves first among homes of one priority.
    pub enum Order {
        /// homes take turns of a quantum each
        Deficit = "deficit",
        /// requests in the order of their arrival
        FirstCome = "first-come",
        /// each home in proportion to what it wants
        Proportional = "proportional",
    }
}

words! {
    /// Where in its interval a grant lies.
    pub enum Placement {
        /// as early as the grants before it allow
        First = "first",
        /// at a random minislot, if it is the only one
        Random = "random",
    }
}

parameters! {
    /// How modems ask for bandwidth.
    #[derive(Copy, Eq)]
    pub struct RequestConfig {
        /// opportunities to request in each MAP interval at least
        minimum: u32 = 16, origin("chosen: 17 000 a second at 0.945 ms; CMTSs change it from MAP to MAP").least("1").most("256");
        /// opportunities with which idle minislots are filled at most; no more than `minimum` leaves them unused
        fill: u32 = 256, origin("chosen: what CMTSs do with idle minislots is not documented").least("1").most("256");
        /// how the first backoff window is chosen
        backoff: Backoff = Backoff::Auto, origin("chosen: Cisco recommends its automatic backoff, whose rule it does not print");
        /// the first backoff window is two to the power of this
        start as "backoff_start": u32 = 2, origin("ARRIS C4 user guide 8.3: 2").most("16");
        /// the longest backoff window is two to the power of this
        end as "backoff_end": u32 = 8, origin("ARRIS C4 user guide 8.3: 8").most("16");
        /// tries after the first, behind which the packet at the head is dropped
        retries: u32 = 16, origin("DOCSIS MULPI 3.1, recalled: 16").most("16");
        /// whether requests can be lost
        contention: Contending = Contending::Collisions, origin("DOCSIS MULPI 3.1, 7.2; \"ideal\" is that of docsis-ns3");
        /// what a request is for
        unit: RequestUnit = RequestUnit::Queue, origin("DOCSIS MULPI 3.1, 7.2: queue-depth requests");
        /// a modem may contend for newer packets while older requests wait for their grant
        contend_while_pending: bool = true,
            origin("DOCSIS MULPI 3.1, recalled: several requests of one flow may be outstanding; docsis-ns3 does so");
    }
}

parameters! {
    /// How the CMTS divides what is left.
    #[derive(Copy)]
    pub struct SharingConfig {
        /// whom it serves first among homes of one priority
        order as "kind": Order = Order::Deficit, origin("chosen: nobody's load delays others more than their share; schedulers of CMTSs are not public");
        /// what homes of one priority share equally
        share: Share = Share::Bytes, origin("chosen: an equal rate for everybody; schedulers of CMTSs are not public");
        /// what a home may send in its turn
        quantum: Bytes = Bytes(1_536), origin("chosen: one packet of full size").least("96 B").most("1 MB");
        /// where in its interval a grant lies
        placement: Placement = Placement::First, origin("chosen: early; docsis-ns3 has a random place for the only modem");
        /// bytes of the header of a segment
        segment_header: u32 = 8, origin("docsis-ns3 1.2, UsSegHdrSize: 8, with continuous concatenation and fragmentation").most("64");
        /// share of the channels that reserved rates and grants without request may take together
        limit as "proactive_limit": f64 = 0.5, origin("chosen: half").least("0").most("1");
    }
}

parameters! {
    /// The upstream channel of a service group; its times are those of docsis-ns3.
    #[derive(Copy)]
    pub struct GroupConfig {
        /// DOCSIS 3.1 with an OFDMA channel, or DOCSIS 3.0 without
        form: Form = Form::Docsis31, origin("chosen: DOCSIS 3.1");
        /// wished time from one MAP to the next; the nearest number of whole frames is used
        // chosen bound: a thousand times the usual.
        map_interval: Span = Span::from_ms(1), origin("White 2019 §3.1: 1 ms for low latency").least("1 us").most("2 s");
        /// what the CMTS needs to make a MAP
        map_processing: Span = Span::from_us(200), origin("docsis-ns3 1.2; range of DOCSIS 3.1 PHY").most("400 us");
        /// length of the plant in kilometres: 5 us each, one way
        plant_km: f64 = 8.0, origin("docsis-ns3 1.2 and White 2019 appendix B: 8 km; at most 80 km (DOCSIS 3.1 PHY)").least("0").most("80");
        /// the channel
        channel: OfdmaChannel = OfdmaChannel::BASE;
        /// the channel that MAPs come by
        downstream as "downstream_channel": OfdmSymbols = OfdmSymbols::BASE, origin("docsis-ns3 1.2");
        /// SC-QAM channels, bonded with the OFDMA channel or with each other
        scqam: ScqamConfig = ScqamConfig::BASE, origin("chosen: none");
        /// how modems ask for bandwidth
        requests: RequestConfig = RequestConfig::BASE, origin("DOCSIS MULPI 3.1, 7.2");
        /// how the CMTS divides what is left
        scheduler: SharingConfig = SharingConfig::BASE, origin("chosen: deficit round robin among homes");
    }
}

impl GroupConfig {
    /// The grid of its channels.
    pub fn grid(&self) -> Grid {
        Grid::new(self)
    }

    /// What the channels carry beside the opportunities that are always there, to a home with `modulation` on the OFDMA
    /// channel.
    pub fn capacity(&self, modulation: Option<f64>) -> BitRate {
        self.capacity_of(modulation, ChannelSet::ALL)
    }

    fn capacity_of(&self, modulation: Option<f64>, bonded: ChannelSet) -> BitRate {
        let grid = self.grid();
        let caps = self.minislot_bytes(modulation);
        let channels = grid.channels.iter().zip(caps).zip(0..);
        let bonded = channels.filter(|(_, number)| bonded.has(*number));
        let bytes: u64 = bonded
            .map(|((channel, cap), _)| channel.data(self.requests.minimum) * cap)
            .sum();
        let bits = u128::from(8 * bytes) * 1_000_000_000_000;
        let rate = bits / u128::from(grid.interval.as_ps().max(1));
        BitRate::from_bps(u64::try_from(rate).unwrap_or(u64::MAX))
    }

    /// Bytes in a minislot of each channel, for a home with so many bits per subcarrier.
    pub fn minislot_bytes(&self, modulation: Option<f64>) -> Vec<u64> {
        let ofdma = OfdmaChannel {
            efficiency: modulation.unwrap_or(self.channel.efficiency),
            ..self.channel
        };
        let mut caps = alloc::vec![self.scqam.minislot_bytes(); self.scqam.count as usize];
        if self.form == Form::Docsis31 {
            caps.push(ofdma.minislot_bytes());
        }
        caps
    }

    /// Everything that is wrong with the channels, apart from the bounds of single keys.
    pub fn problems(&self) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        if self.form == Form::Docsis31 {
            crate::docsis31::config::check_channels(
                &self.channel,
                &self.downstream,
                self.plant_km,
                &mut problems,
            );
        } else if self.scqam.count == 0 {
            problems.push(problem(
                "scqam.channels",
                "DOCSIS 3.0 upstream has SC-QAM channels only, and there is none".into(),
                "[group.scqam] with channels = 4, or form = \"docsis31\"",
            ));
        }
        let requests = &self.requests;
        if requests.start > requests.end {
            problems.push(problem(
                "requests.backoff_start",
                format!(
                    "the first window (2 to the power of {}) is longer than the longest (of {})",
                    requests.start, requests.end
                ),
                "at most backoff_end",
            ));
        }
        if self.scqam.count > 0 && self.scqam.minislot_bytes() == 0 {
            problems.push(problem(
                "scqam.bits",
                "a minislot has no byte".into(),
                "more bits per symbol, more symbols, or longer minislots",
            ));
        }
        if !problems.is_empty() {
            return problems;
        }
        match Grid::check(self) {
            Ok(()) => {}
            Err(Unrepeatable::TooShort { frame }) => problems.push(problem(
                "map_interval",
                format!(
                    "a MAP interval of {} is shorter than a frame of this channel ({frame})",
                    self.map_interval
                ),
                "DOCSIS 3.1 MULPI: whole frames; \"1 ms\" or \"2 ms\" are usual",
            )),
            Err(Unrepeatable::NoCommonFrame { step }) => problems.push(problem(
                "map_interval",
                format!("frames of both kinds of channel fit together only each {step}"),
                "frames of 135 us beside minislots of 12.5 us fit each 675 us; see cyclic_prefix and symbols_per_frame",
            )),
        }
        if !problems.is_empty() {
            return problems;
        }
        let grid = self.grid();
        let full = |channel: &super::grid::Channel| channel.data(requests.minimum) == 0;
        if let Some(channel) = grid.channels.iter().find(|channel| full(channel)) {
            problems.push(problem(
                "requests.minimum",
                format!(
                    "{} opportunities take all {} minislots of an interval",
                    requests.minimum,
                    channel.minislots()
                ),
                "fewer opportunities, a longer MAP interval or a wider channel",
            ));
        }
        problems
    }

    /// A home that is bonded over channels that there are not.
    pub fn bonding_problem(&self, member: &MemberConfig) -> Option<ConfigProblem> {
        let count = self.minislot_bytes(None).len();
        let missing = member.channels.beyond(count)?;
        Some(problem(
            "channels",
            format!("there is no channel {missing}: the group has {count}"),
            "numbers from 1 on, SC-QAM channels first and the OFDMA channel behind them; or \"all\"",
        ))
    }

    /// What is wrong with homes that share it, for instance reserved rates that the channel cannot keep. `homes` are the service of each
    /// kind of home and their number.
    pub fn problems_with(&self, homes: &[(&MemberConfig, u64)]) -> Vec<ConfigProblem> {
        let quantum = self.scheduler.quantum.0;
        let mut problems = Vec::new();
        let largest = homes
            .iter()
            .flat_map(|(member, _)| self.minislot_bytes(member.modulation))
            .max();
        let Some(largest) = largest else {
            return problems; // nobody is on it
        };
        let least = homes
            .iter()
            .flat_map(|(member, _)| self.minislot_bytes(member.modulation))
            .min();
        if least == Some(0) {
            problems.push(problem(
                "channel",
                "a minislot of some homes has no byte".into(),
                "a higher efficiency, or a higher modulation of these homes",
            ));
            return problems;
        }
        if quantum < largest {
            problems.push(problem(
                "scheduler.quantum",
                format!("a turn of {quantum} B is less than a minislot of {largest} B"),
                "at least a minislot; \"1536 B\" is a packet of full size",
            ));
        }
        let promised: f64 = homes
            .iter()
            .map(|(member, count)| self.promised(member) * *count as f64)
            .sum();
        let all: f64 = homes.iter().map(|(_, count)| *count as f64).sum();
        let limit = self.scheduler.limit;
        if promised > limit && promised > 0.0 {
            problems.push(problem(
                "scheduler.proactive_limit",
                format!(
                    "reserved rates and grants without request take {:.0} % of the channels, which is more than {:.0} %; {:.0} such homes would fit",
                    100.0 * promised,
                    100.0 * limit,
                    sojourn_base::math::floor(all * limit / promised),
                ),
                "lower reserved rates, less proactive grants, fewer homes, wider channels, or a higher proactive_limit",
            ));
        }
        problems
    }

    /// Share of the minislots that a home takes whatever the others do.
    fn promised(&self, member: &MemberConfig) -> f64 {
        let capacity = self.capacity_of(member.modulation, member.channels);
        let reserved = member.reserved.as_bps() as f64 / capacity.as_bps().max(1) as f64;
        let grid = self.grid();
        let first = grid.first_channel(member.channels);
        let cap = self.minislot_bytes(member.modulation)[first];
        let fixed = member
            .grants(&grid.channels[first], cap)
            .map_or(0.0, |grants| {
                let all: u64 = grid
                    .channels
                    .iter()
                    .map(super::grid::Channel::minislots)
                    .sum();
                let frames = grid.channels[first].frames as f64;
                grants.minislots as f64 * frames / grants.period as f64 / all as f64
            });
        reserved + fixed
    }
}

parameters! {
    /// The service of one home on the channel of its service group.
    #[derive(Copy)]
    pub struct MemberConfig:
        "docsis31-group",
        "the upstream of one home of a service group: a DOCSIS 3.1 channel that it contends for with the others"
    {
        /// token buckets, at the CMTS
        shaper: ShaperConfig = ShaperConfig::BASE;
        /// bits per second and hertz that the home's place on the plant allows; "channel" is the `efficiency` of the group
        modulation: Option<f64> = None, origin("chosen: that of the channel; range of DOCSIS 3.1 PHY").or("channel").least("1").most("12");
        /// Traffic Priority: homes of a higher one are served first
        priority: u32 = 0, origin("DOCSIS MULPI annex C: 0").most("7");
        /// Minimum Reserved Traffic Rate: served before all priorities
        reserved: BitRate = BitRate::ZERO,
            origin("DOCSIS MULPI annex C: none").or("off").least("1 b/s").most("1 Tb/s") => rate_or;
        /// the channels that the modem is bonded over, by number: SC-QAM channels from 1 on, the OFDMA channel behind them
        channels: ChannelSet = ChannelSet::ALL, origin("chosen: all of them");
        /// service flows of the modem
        service: Service = Service::Single, origin("White 2019 §2.1");
        /// share of the low-latency flow while both want more than there is, of 256
        weight: u32 = 230, origin("docsis-ns3 1.2; White 2019 §2.3").least("1").most("255");
        proactive: ProactiveConfig = ProactiveConfig::None, PROACTIVE;
    }
}

/// Packet without header that a guaranteed rate is reckoned with. Source: docsis-ns3 1.2, `MeanPacketSize`.
const MEAN_PACKET: u64 = 200;

/// MAC header of a packet with its extensions, which rates do not count. Source: docsis-ns3 1.2, `UsMacHdrSize`: unbonded.
pub(super) const MAC_HEADER: u16 = 10;

impl MemberConfig {
    /// What is wrong with it, apart from the bounds of single keys.
    pub(crate) fn problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.shaper.collect_problems(problems);
        let rate = self.shaper.sustained;
        if rate > BitRate::ZERO && self.reserved > rate {
            problems.push(problem(
                "reserved",
                format!(
                    "the reserved rate ({}) is above the sustained rate ({rate})",
                    self.reserved
                ),
                "at most `rate` (DOCSIS MULPI annex C)",
            ));
        }
        if matches!(self.proactive, ProactiveConfig::Adaptive { .. }) {
            problems.push(problem(
                "proactive.kind",
                "grants that adapt to their flow are not known in a service group".into(),
                "\"basic\", which is granted for ever",
            ));
        }
        if self.proactive != ProactiveConfig::None && self.service == Service::Single {
            problems.push(problem(
                "proactive",
                "grants without request are the low-latency flow's, and the modem has none".into(),
                "service = \"low-latency\" beside it",
            ));
        }
    }

    /// The buckets of the CMTS, for MAPs `interval` apart: the peak bucket holds what its rate gains between two.
    pub(super) fn buckets(&self, interval: Span) -> ShaperConfig {
        ShaperConfig {
            peak_burst: self.shaper.peak_burst + self.shaper.peak.bytes_in(interval),
            ..self.shaper
        }
    }

    /// Its grants without request, on a channel whose minislots carry `cap` bytes to it.
    pub(super) fn grants(&self, channel: &super::grid::Channel, cap: u64) -> Option<Grants> {
        let guarantee: &Guarantee = self.proactive.guarantee()?;
        let frames = |span: Span| span.as_ps() / channel.frame.as_ps().max(1);
        let period = guarantee.interval.map_or(channel.frames, frames).max(1);
        // Headers on top, as DM 4.6: 5 Mb/s of packets of 200 B are 5.25 Mb/s.
        let rate = u128::from(guarantee.rate.as_bps())
            * u128::from(MEAN_PACKET + u64::from(MAC_HEADER))
            / u128::from(MEAN_PACKET);
        let span = u128::from(channel.frame.as_ps()) * u128::from(period);
        let bytes = (rate / 8 * span).div_ceil(1_000_000_000_000);
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        Some(Grants {
            period,
            minislots: bytes.div_ceil(cap.max(1)),
        })
    }
}

/// Grants without request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grants {
    /// Frames from one to the next.
    pub(super) period: u64,
    /// Minislots of each.
    pub(super) minislots: u64,
}
