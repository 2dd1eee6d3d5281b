//! Parameters of a service group: the channel that all share, and the service of one home.
//!
//! Source: the specification of service groups, sections 2 to 4, with the sources it names at the rows; docsis-ns3 1.2
//! for the channel.
//! Deviations: those of [`crate::group`].

use super::grid::Grid;
use crate::config::ShaperConfig;
use crate::docsis31::channel::{OfdmSymbols, OfdmaChannel};
use crate::docsis31::timeline::Timeline;
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
        /// a modem may contend for newer packets while older requests wait for their grant
        contend_while_pending: bool = true,
            origin("DOCSIS MULPI 3.1, recalled: several requests of one flow may be outstanding; docsis-ns3 does so");
    }
}

parameters! {
    /// How the CMTS divides what is left.
    #[derive(Copy, Eq)]
    pub struct SharingConfig {
        /// what homes of one priority share equally
        share: Share = Share::Bytes, origin("chosen: an equal rate for everybody; schedulers of CMTSs are not public");
        /// what a home may send in its turn
        quantum: Bytes = Bytes(1_536), origin("chosen: one packet of full size").least("96 B").most("1 MB");
    }
}

parameters! {
    /// The upstream channel of a service group; its times are those of docsis-ns3.
    #[derive(Copy)]
    pub struct GroupConfig {
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
        /// how modems ask for bandwidth
        requests: RequestConfig = RequestConfig::BASE, origin("DOCSIS MULPI 3.1, 7.2");
        /// how the CMTS divides what is left
        scheduler: SharingConfig = SharingConfig::BASE, origin("chosen: deficit round robin among homes");
    }
}

impl GroupConfig {
    /// The times of the channel.
    pub fn timeline(&self) -> Timeline {
        Timeline::new(
            &self.channel,
            &self.downstream,
            self.map_interval,
            self.map_processing,
            self.plant_km,
        )
    }

    /// The grid of the channel.
    pub fn grid(&self) -> Grid {
        let most = self.requests.minimum.max(self.requests.fill);
        Grid::new(self.timeline(), &self.channel, most)
    }

    /// What the channel carries beside the opportunities that are always there, to a home with `modulation`.
    pub fn capacity(&self, modulation: Option<f64>) -> BitRate {
        let bits = 8
            * u128::from(self.grid().data(self.requests.minimum))
            * u128::from(self.minislot_bytes(modulation))
            * 1_000_000_000_000;
        let rate = bits / u128::from(self.timeline().interval.as_ps().max(1));
        BitRate::from_bps(u64::try_from(rate).unwrap_or(u64::MAX))
    }

    /// Bytes in a minislot of a home with so many bits per subcarrier.
    pub fn minislot_bytes(&self, modulation: Option<f64>) -> u64 {
        OfdmaChannel {
            efficiency: modulation.unwrap_or(self.channel.efficiency),
            ..self.channel
        }
        .minislot_bytes()
    }

    /// Everything that is wrong with the channel, apart from the bounds of single keys.
    pub fn problems(&self) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        crate::docsis31::config::check_channels(
            &self.channel,
            &self.downstream,
            self.plant_km,
            &mut problems,
        );
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
        if !problems.is_empty() {
            return problems;
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
            return problems;
        }
        if self.grid().data(requests.minimum) == 0 {
            problems.push(problem(
                "requests.minimum",
                format!(
                    "{} opportunities take all {} minislots of an interval",
                    requests.minimum,
                    self.timeline().minislots()
                ),
                "fewer opportunities, a longer MAP interval or a wider channel",
            ));
        }
        problems
    }

    /// What is wrong with homes that share it, for instance reserved rates that the channel cannot keep. `homes` are the service of each
    /// kind of home and their number.
    pub fn problems_with(&self, homes: &[(&MemberConfig, u64)]) -> Vec<ConfigProblem> {
        let share = |member: &MemberConfig| {
            let capacity = self.capacity(member.modulation).as_bps().max(1);
            member.reserved.as_bps() as f64 / capacity as f64
        };
        let quantum = self.scheduler.quantum.0;
        let caps = homes
            .iter()
            .map(|(member, _)| self.minislot_bytes(member.modulation));
        let Some(largest) = caps.max() else {
            return Vec::new(); // nobody is on it
        };
        let mut problems = Vec::new();
        if largest == 0 {
            problems.push(problem(
                "channel",
                "a minislot of some homes has no byte".into(),
                "a higher efficiency, or a higher modulation of these homes",
            ));
        } else if quantum < largest {
            problems.push(problem(
                "scheduler.quantum",
                format!("a turn of {quantum} B is less than a minislot of {largest} B"),
                "at least a minislot; \"1536 B\" is a packet of full size",
            ));
        }
        let reserved: f64 = homes
            .iter()
            .map(|(member, count)| share(member) * *count as f64)
            .sum();
        let most = homes.iter().map(|(member, _)| share(member));
        let dearest = most.fold(0.0, f64::max);
        if reserved > 1.0 && dearest > 0.0 {
            problems.push(problem(
                "channel",
                format!(
                    "the reserved rates of all homes are {:.0} % of it; it has room for {:.0} of the largest",
                    100.0 * reserved,
                    sojourn_base::math::floor(1.0 / dearest),
                ),
                "lower reserved rates, fewer homes, or a wider channel",
            ));
        }
        problems
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
    }
}

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
    }

    /// The buckets of the CMTS, for MAPs `interval` apart: the peak bucket holds what its rate gains between two.
    pub(super) fn buckets(&self, interval: Span) -> ShaperConfig {
        ShaperConfig {
            peak_burst: self.shaper.peak_burst + self.shaper.peak.bytes_in(interval),
            ..self.shaper
        }
    }
}
