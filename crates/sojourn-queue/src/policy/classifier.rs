//! Which packets belong into a low-latency queue: those whose sender says, by ECN field or code point, that
//! it does not build queues or answers to marks at once.
//!
//! Source: RFC 9332 §2.3 and §2.5.1.1 (ECT(1) and CE, code points as an option); White 2019 §2.2 (0x2A for
//! non-queue-building traffic; EF as an option); the IETF's later specification of that behaviour (45).
//! Deviations: everything is IP here, so nothing is classic for want of a header.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use sojourn_base::{Ecn, Meta, ServiceQueue};
use sojourn_keys::value::ListOf;
use sojourn_keys::{Content, Key, Mismatch, Shape, Value, origin, parameters};

/// A set of DSCPs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodePoints(u64);

impl CodePoints {
    /// Those of `listed`, each in 0..=63.
    pub const fn of(listed: &[u8]) -> Self {
        let (mut set, mut place) = (0, 0);
        while place < listed.len() {
            set |= 1 << listed[place];
            place += 1;
        }
        Self(set)
    }

    /// Returns true if it contains `dscp`.
    pub const fn contains(self, dscp: u8) -> bool {
        dscp < 64 && self.0 & (1 << dscp) != 0
    }

    /// Adds those of `others`; the first that was there already, if any was.
    pub fn add(&mut self, others: Self) -> Option<u8> {
        let twice = Self(self.0 & others.0).listed().first().copied();
        self.0 |= others.0;
        twice
    }

    fn listed(self) -> Vec<u8> {
        (0..64).filter(|dscp| self.contains(*dscp)).collect()
    }
}

parameters! {
    /// Which packets go to the low-latency queue.
    #[derive(Copy, Eq)]
    pub struct LowLatencyClassifier {
        /// code points that go to the low-latency queue, beside ECT(1) and CE
        dscp as "low_latency_dscp": CodePoints = CodePoints::of(&[42, 45, 46]),
            origin("White 2019 §2.2 (42 for NQB, EF as an option); 45 is the later code point for NQB").example("[45]");
        /// ECT(0) goes to the low-latency queue as well
        ect0 as "low_latency_ect0": bool = false, origin("docsis-ns3: off");
    }
    profiles {
        /// Also the code points for non-queue-building traffic, that of White 2019 §2.2 and the later one, and EF.
        DOCSIS {}
        /// ECT(1) and CE alone (RFC 9332 §2.3).
        RFC9332 { dscp = CodePoints::of(&[]); }
    }
}

impl LowLatencyClassifier {
    /// The queue of a packet.
    pub const fn queue_of(&self, meta: &Meta) -> ServiceQueue {
        let by_ecn = match meta.ecn {
            Ecn::Ect1 | Ecn::Ce => true,
            Ecn::Ect0 => self.ect0,
            Ecn::NotEct => false,
        };
        if by_ecn || self.dscp.contains(meta.dscp) { ServiceQueue::LowLatency } else { ServiceQueue::Classic }
    }
}

/// A list of code points, each once.
impl Value for CodePoints {
    fn read(&mut self, content: &Content, key: &Key) -> Result<(), Mismatch> {
        let mut listed: Vec<u8> = Vec::new();
        ListOf { values: &mut listed }.read(content, key)?;
        let mut set = Self(0);
        for dscp in listed {
            if dscp > 63 {
                return Err(Mismatch::new(format!("{dscp} is out of range"), "a code point has 6 bits: 0 to 63"));
            }
            if set.contains(dscp) {
                return Err(Mismatch::new(
                    format!("code point {dscp} is listed twice"),
                    format!("leave one {dscp} out"),
                ));
            }
            set.0 |= 1 << dscp;
        }
        *self = set;
        Ok(())
    }

    fn print(&self) -> String {
        let mut values = self.listed();
        ListOf { values: &mut values }.print()
    }

    fn shape(&self) -> Shape {
        let mut values: Vec<u8> = Vec::new();
        ListOf { values: &mut values }.shape()
    }

    fn compare(&self, _bound: &str) -> Option<Ordering> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ect_1_ce_and_the_code_points_go_to_the_low_latency_queue() {
        // Claim W19-13.
        use ServiceQueue::{Classic, LowLatency};
        for (ecn, dscp, queue) in [
            (Ecn::NotEct, 0, Classic),
            (Ecn::Ect0, 0, Classic),
            (Ecn::Ect1, 0, LowLatency),
            (Ecn::Ce, 0, LowLatency),
            (Ecn::NotEct, 42, LowLatency),
            (Ecn::NotEct, 45, LowLatency),
            (Ecn::NotEct, 46, LowLatency),
            (Ecn::Ect0, 46, LowLatency),
            (Ecn::NotEct, 44, Classic),
        ] {
            let meta = Meta { ecn, dscp, ..Meta::default() };
            assert_eq!(LowLatencyClassifier::DOCSIS.queue_of(&meta), queue, "{meta:?}");
            let by_ecn = matches!(ecn, Ecn::Ect1 | Ecn::Ce);
            let found = LowLatencyClassifier::RFC9332.queue_of(&meta);
            assert_eq!(found == LowLatency, by_ecn, "{meta:?}");
        }
    }

    #[test]
    fn ect_0_can_be_told_to() {
        let classifier = LowLatencyClassifier { ect0: true, ..LowLatencyClassifier::DOCSIS };
        let meta = Meta { ecn: Ecn::Ect0, ..Meta::default() };
        assert_eq!(classifier.queue_of(&meta), ServiceQueue::LowLatency);
    }
}
