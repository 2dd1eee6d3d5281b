//! Parameters of the downstream of a service group, and of one home's service on it.
//!
//! Source: docs/models/service-group.md, "Downstream". Deviations: those of [`super`].

use crate::config::ShaperConfig;
use alloc::vec::Vec;
use sojourn_base::{BitRate, Bytes};
use sojourn_keys::{origin, parameters};
use sojourn_queue::ConfigProblem;

parameters! {
    /// The downstream channels of a service group, which all its modems are bonded over. Symbols and pipelines are those of the
    /// channel that MAPs come by.
    #[derive(Copy)]
    pub struct BondedConfig {
        /// what the channels carry together beside MAPs
        // Bounds chosen: below them a packet takes a good part of a second; above them are no cable networks.
        rate: BitRate = BitRate::from_mbps(1_712),
            origin("docsis-ns3 1.2: 4816 B beside MAPs in each 22.5 us of one OFDM channel").least("100 kb/s").most("1 Tb/s");
        /// bits per second and hertz at which they carry that
        efficiency: f64 = 12.0, origin("docsis-ns3 1.2; range of DOCSIS 3.1 PHY").least("1").most("14");
        /// what a home may send in its turn
        quantum: Bytes = Bytes(1_518), origin("chosen: one Ethernet frame of full size").least("64 B").most("1 MB");
    }
}

parameters! {
    /// The service of one home on the downstream channels of its service group.
    #[derive(Copy)]
    pub struct DownstreamMemberConfig:
        "docsis31-group-downstream",
        "the downstream of one home of a service group: bonded channels on which homes take turns"
    {
        /// token buckets, at the CMTS
        shaper: ShaperConfig = ShaperConfig::BASE;
        /// bits per second and hertz that the home's place on the plant allows; "channel" is the `efficiency` of the group's downstream
        modulation: Option<f64> = None, origin("chosen: that of the channels; range of DOCSIS 3.1 PHY").or("channel").least("1").most("14");
        /// Traffic Priority: homes of a higher one are served first
        priority: u32 = 0, origin("DOCSIS MULPI annex C: 0").most("7");
        /// how many quanta a home has in its turn
        weight: u32 = 1, origin("chosen: equal turns").least("1").most("256");
    }
}

impl DownstreamMemberConfig {
    /// Checks it, apart from the bounds of single keys.
    pub(crate) fn problems(&self, problems: &mut Vec<ConfigProblem>) {
        self.shaper.collect_problems(problems);
    }
}
