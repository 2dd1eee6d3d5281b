//! Parameters of a service group: the channel that all share, and the service of one home.
//!
//! Source: named at the rows; docsis-ns3 1.2 for the channel.
//! Deviations: those of [`crate::group`].

mod downstream;

use super::channels::{ChannelSet, Form, PON_FRAME, PonConfig, ScqamConfig, WORD};
use crate::config::ShaperConfig;
use crate::docsis31::channel::{OfdmSymbols, OfdmaChannel};
use crate::docsis31::config::Service;
use crate::docsis31::proactive::{PROACTIVE, ProactiveConfig};
use crate::problems::problem;
use alloc::format;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes, Span};
use sojourn_keys::{origin, parameters, rate_or, words};
use sojourn_queue::ConfigProblem;

pub use downstream::{BondedConfig, DownstreamMemberConfig};

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
    /// Resource that homes share equally when the channel is full.
    pub enum Share {
        /// bytes, so that a home with poor modulation takes more minislots
        Bytes = "bytes",
        /// minislots, so that a home with poor modulation has a lower rate
        Minislots = "minislots",
    }
}

words! {
    /// Rule for lost requests.
    pub enum Contending {
        /// two modems in one opportunity lose both requests
        Collisions = "collisions",
        /// every request is heard: a modem without a grant asks once in each MAP interval, as the models of one modem do
        Ideal = "ideal",
    }
}

words! {
    /// Unit of a request.
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
        /// each home in proportion to its request
        Proportional = "proportional",
    }
}

words! {
    /// Place of a grant in its interval.
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
        order as "kind": Order = Order::Deficit, origin("chosen: no load delays others more than its share; schedulers of CMTSs are not public");
        /// what homes of one priority share equally
        share: Share = Share::Bytes, origin("chosen: an equal rate for all; schedulers of CMTSs are not public");
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
    /// The channels of a service group; their times are those of docsis-ns3.
    #[derive(Copy)]
    pub struct GroupConfig {
        /// DOCSIS 3.1 with an OFDMA channel, DOCSIS 3.0 without, or a passive optical network
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
        /// the line, where it is a passive optical network
        pon: PonConfig = PonConfig::BASE, origin("chosen: XGS-PON");
        /// how modems ask for bandwidth
        requests: RequestConfig = RequestConfig::BASE, origin("DOCSIS MULPI 3.1, 7.2");
        /// how the CMTS divides what is left
        scheduler: SharingConfig = SharingConfig::BASE, origin("chosen: deficit round robin among homes");
        /// the other direction: what homes share whose access link downstream is of kind docsis31-group-downstream
        bonded as "downstream": BondedConfig = BondedConfig::BASE, origin("docsis-ns3 1.2: one OFDM channel");
    }
}

impl GroupConfig {
    /// Returns the bytes in a minislot of each channel, for a home with this modulation in bits per subcarrier.
    pub fn minislot_bytes(&self, modulation: Option<f64>) -> Vec<u64> {
        if self.form == Form::Pon {
            return alloc::vec![WORD];
        }
        let ofdma = OfdmaChannel { efficiency: modulation.unwrap_or(self.channel.efficiency), ..self.channel };
        let mut caps = alloc::vec![self.scqam.minislot_bytes(); self.scqam.count as usize];
        if self.form == Form::Docsis31 {
            caps.push(ofdma.minislot_bytes());
        }
        caps
    }

    /// Bytes that each burst carries beside data.
    pub(super) fn segment_header(&self) -> u64 {
        match self.form {
            Form::Pon => self.pon.header(),
            Form::Docsis30 | Form::Docsis31 => u64::from(self.scheduler.segment_header),
        }
    }

    /// The polls of each unit of a passive optical network.
    pub(super) fn polls(&self) -> Option<Grants> {
        (self.form == Form::Pon).then(|| Grants {
            period: (self.pon.poll.as_ps() / PON_FRAME.as_ps()).max(1),
            minislots: self.pon.header().div_ceil(WORD),
        })
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

/// MAC header of a packet with its extensions, which rates do not count. Source: docsis-ns3 1.2, `UsMacHdrSize`: unbonded.
pub(super) const MAC_HEADER: u16 = 10;

impl MemberConfig {
    /// Checks it, apart from the bounds of single keys.
    pub(crate) fn problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.shaper.collect_problems(problems);
        let rate = self.shaper.sustained;
        if rate > BitRate::ZERO && self.reserved > rate {
            problems.push(problem(
                "reserved",
                format!("the reserved rate ({}) is above the sustained rate ({rate})", self.reserved),
                "at most `rate` (DOCSIS MULPI annex C)",
            ));
        }
        if !matches!(self.proactive, ProactiveConfig::None | ProactiveConfig::Basic(_)) {
            problems.push(problem(
                "proactive.kind",
                "grants that adapt to their flow, unsolicited ones and polls are not known in a service group".into(),
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
        ShaperConfig { peak_burst: self.shaper.peak_burst + self.shaper.peak.bytes_in(interval), ..self.shaper }
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
