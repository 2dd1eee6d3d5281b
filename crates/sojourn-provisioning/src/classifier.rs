//! Classifiers: which packets go to which service flow.
//!
//! Source: DOCS-IETF-QOS-MIB for matching (ToS: low <= (ToS and mask) <= high); White 2019 §2.2 for the default
//! classifiers of a low-latency aggregate: ECT(1) or CE, and the DiffServ value of non-queue-building traffic.
//! Deviations: criteria other than the ToS octet never match here, and say so.

use serde::Serialize;

use crate::file::Tlv;
use crate::parameter::Origin;
use crate::role::Role;
use crate::tlv;

/// DiffServ value that White 2019 §2.2 proposes for non-queue-building traffic; later drafts say 45.
pub(crate) const NQB: u8 = 0x2a;
/// ToS range and mask of ECT(1) and CE: the lowest bit is set in both.
const ECN: [u8; 3] = [1, 1, 1];

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Classifier {
    /// Rules of higher priority come first.
    pub priority: u64,
    /// Where the packets go.
    pub to: Role,
    /// Low, high and mask of the ToS octet or traffic class.
    pub tos: Option<[u8; 3]>,
    /// Paths of criteria that are not looked at; with such the rule never matches.
    pub others: Vec<String>,
    /// Where the rule is from.
    pub origin: Origin,
}

impl Classifier {
    /// Whether there is a packet that matches.
    pub(crate) fn can_match(&self) -> bool {
        (0..=u8::MAX).any(|tos| self.matches(tos))
    }

    /// Whether a packet with this ToS octet matches.
    pub fn matches(&self, tos: u8) -> bool {
        let [low, high, mask] = match self.tos {
            Some(range) if self.others.is_empty() => range,
            _ => return false,
        };
        (low..=high).contains(&(tos & mask))
    }

    /// The default rules of a low-latency aggregate: ECN, and each DiffServ value.
    pub(crate) fn defaults(dscps: &[u8]) -> Vec<Self> {
        let dscp = |dscp: &u8| [dscp << 2, dscp << 2, 0xfc];
        core::iter::once(ECN)
            .chain(dscps.iter().map(dscp))
            .map(|tos| Self {
                priority: 0,
                to: Role::LowLatency,
                tos: Some(tos),
                others: Vec::new(),
                origin: Origin::default_of("White 2019 §2.2; IPv4 and IPv6"),
            })
            .collect()
    }

    /// A rule of a file.
    pub(crate) fn read(tlv: &Tlv, to: Role) -> Self {
        let mut tos = None;
        let mut others = Vec::new();
        for criterion in tlv
            .inside()
            .iter()
            .filter(|inside| (9..=17).contains(&inside.code))
        {
            for part in criterion.inside() {
                match (criterion.code, part.code, part.value_octets()) {
                    (9 | 12, 1, Some(&[low, high, mask])) => tos = Some([low, high, mask]),
                    _ => others.push(tlv::dotted(&[tlv.code, criterion.code, part.code])),
                }
            }
            if criterion.inside().is_empty() {
                others.push(tlv::dotted(&[tlv.code, criterion.code]));
            }
        }
        Self {
            priority: tlv.last(5).and_then(Tlv::number).unwrap_or(0),
            to,
            tos,
            others,
            origin: Origin::File {
                offset: tlv.offset,
                path: tlv.code.to_string(),
            },
        }
    }
}
