//! CoDel over one first-in, first-out queue.
//!
//! Source: RFC 8289; limits from White 2012 §3.1.2, White 2013 §3.2, Akhtar 2013.
//! Deviations: those of [`crate::policy::codel`].

use crate::config::{ConfigProblem, require_room, require_shorter};
use crate::policy::codel::CodelLaw;
use alloc::vec::Vec;
use sojourn_base::{Bytes, Limit, Packets};

/// Parameters of a CoDel queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelConfig {
    /// When to signal.
    pub law: CodelLaw,
    /// How much may wait; an arrival that would exceed it is refused.
    pub limit: Limit,
}

impl CodelConfig {
    /// RFC 8289. chosen: 1000 packets, the default of the Linux queue discipline.
    pub const RFC8289: Self = Self {
        law: CodelLaw::RFC8289,
        limit: Limit::Packets(Packets(1000)),
    };
    /// White 2012 §1.1 and §3.1.2: 417 packets.
    pub const WHITE2012: Self = Self {
        law: CodelLaw::WHITE2012,
        limit: Limit::Packets(Packets(417)),
    };
    /// White 2013 §3.2: 625,000 bytes.
    pub const WHITE2013: Self = Self {
        law: CodelLaw::WHITE2013,
        limit: Limit::Bytes(Bytes(625_000)),
    };
    /// Akhtar 2013: the buffer of the other managers, 120 packets at 8 Mb/s.
    pub const AKHTAR2013: Self = Self {
        law: CodelLaw::AKHTAR2013,
        limit: Limit::Packets(Packets(120)),
    };

    pub(crate) fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_room(self.limit, problems);
        self.law.collect_problems(problems);
    }
}

impl CodelLaw {
    pub(crate) fn collect_problems(&self, problems: &mut Vec<ConfigProblem>) {
        require_shorter(
            ("target", self.target),
            ("interval", self.interval),
            "CoDel expects a target well below the interval, for instance 5 ms in 100 ms",
            problems,
        );
        if self.l4s && self.ce_threshold.is_none() {
            problems.push(ConfigProblem {
                field: "l4s",
                message: alloc::string::String::from(
                    "L4S packets are marked by ce_threshold, which is off",
                ),
                hint: "ce_threshold = \"1 ms\"",
            });
        }
    }
}
