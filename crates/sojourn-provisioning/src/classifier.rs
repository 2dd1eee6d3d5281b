//! Classifiers: which packets go to which service flow.
//!
//! Source: DOCS-IETF-QOS-MIB for matching (ToS: low <= (ToS and mask) <= high; protocol 256 is any, 257 TCP or UDP);
//! White 2019 §2.2 for the default classifiers of a low-latency aggregate: ECT(1) or CE, and the DiffServ value of
//! non-queue-building traffic.
//! Deviations: criteria of Ethernet and VLAN headers, of ICMP and MPLS, flow labels, and masks with gaps never match
//! here, and say so.

use core::net::{Ipv4Addr, Ipv6Addr};
use serde::Serialize;

use crate::file::Tlv;
use crate::parameter::Origin;
use crate::role::Role;
use crate::tlv;

/// DiffServ value that White 2019 §2.2 proposes for non-queue-building traffic; later drafts say 45.
pub(crate) const NQB: u8 = 0x2a;
/// ToS range and mask of ECT(1) and CE: the lowest bit is set in both.
const ECN: [u8; 3] = [1, 1, 1];
/// Any protocol (DOCS-IETF-QOS-MIB).
const ANY_PROTOCOL: u64 = 256;

/// Fields that a packet must have; `None` matches every packet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Criteria {
    /// Low, high and mask of the ToS octet or traffic class.
    pub tos: Option<[u8; 3]>,
    /// IP protocol; 257 is TCP or UDP.
    pub protocol: Option<u64>,
    /// How the source's address begins, such as `203.0.113.0/24`.
    pub source: Option<String>,
    /// How the destination's address begins.
    pub destination: Option<String>,
    /// First and last port of the source.
    pub source_port: Option<[u16; 2]>,
    /// First and last port of the destination.
    pub destination_port: Option<[u16; 2]>,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Classifier {
    /// Rules of higher priority come first.
    pub priority: u64,
    /// Role of the service flow for the packets.
    pub to: Role,
    /// Reference of the service flow, of a rule of a file.
    pub flow: Option<u64>,
    /// Packets that the rule matches.
    #[serde(flatten)]
    pub criteria: Criteria,
    /// Paths of criteria that are not looked at; with such the rule never matches.
    pub others: Vec<String>,
    /// Origin of the rule.
    pub origin: Origin,
    /// The criteria as the file has them.
    #[serde(skip)]
    pub(crate) tlvs: Vec<Tlv>,
}

impl Classifier {
    /// Returns true if a packet can match.
    pub(crate) fn can_match(&self) -> bool {
        self.others.is_empty()
            && self
                .criteria
                .tos
                .is_none_or(|[low, high, mask]| (0..=u8::MAX).any(|tos| (low..=high).contains(&(tos & mask))))
    }

    /// Returns true if a packet with this ToS octet matches, whatever its other fields.
    pub fn matches(&self, tos: u8) -> bool {
        let only_tos = Criteria { tos: self.criteria.tos, ..Criteria::default() };
        match self.criteria.tos {
            Some([low, high, mask]) if self.others.is_empty() && self.criteria == only_tos => {
                (low..=high).contains(&(tos & mask))
            }
            _ => false,
        }
    }

    /// A rule of a CMTS for the low-latency queue.
    pub(crate) fn of_tos(tos: [u8; 3], origin: Origin) -> Self {
        Self {
            priority: 0,
            to: Role::LowLatency,
            flow: None,
            criteria: Criteria { tos: Some(tos), ..Criteria::default() },
            others: Vec::new(),
            origin,
            tlvs: Vec::new(),
        }
    }

    /// The default rules of a low-latency aggregate: ECN, and each DiffServ value.
    pub(crate) fn defaults(dscps: &[u8]) -> Vec<Self> {
        let dscp = |dscp: &u8| [dscp << 2, dscp << 2, 0xfc];
        core::iter::once(ECN)
            .chain(dscps.iter().map(dscp))
            .map(|tos| Self::of_tos(tos, Origin::default_of("White 2019 §2.2; IPv4 and IPv6")))
            .collect()
    }

    /// A rule of a file.
    pub(crate) fn read(tlv: &Tlv, to: Role) -> Self {
        let of_packets = |inside: &&Tlv| (9..=17).contains(&inside.code);
        let tlvs: Vec<Tlv> = tlv.inside().iter().filter(of_packets).cloned().collect();
        let mut criteria = Criteria::default();
        let mut others = Vec::new();
        for criterion in &tlvs {
            if !matches!(criterion.code, 9 | 12) || criterion.inside().is_empty() {
                let inside = criterion.inside().iter().map(|part| part.code);
                let path = |part| tlv::dotted(&[tlv.code, criterion.code, part]);
                others.extend(inside.map(path));
                if criterion.inside().is_empty() {
                    others.push(tlv::dotted(&[tlv.code, criterion.code]));
                }
                continue;
            }
            let unread = if criterion.code == 9 { criteria.read_v4(criterion) } else { criteria.read_v6(criterion) };
            others.extend(unread.into_iter().map(|part| tlv::dotted(&[tlv.code, criterion.code, part])));
        }
        if tlvs.is_empty() {
            // It would match everything; the behaviour of a CMTS is unknown.
            others.push(tlv.code.to_string());
        }
        Self {
            priority: tlv.last(5).and_then(Tlv::number).unwrap_or(0),
            to,
            flow: tlv.last(3).and_then(Tlv::number),
            criteria,
            others,
            origin: Origin::File { offset: tlv.offset, path: tlv.code.to_string() },
            tlvs,
        }
    }
}

impl Criteria {
    /// Reads an IPv4 criterion (9); returns the types that it does not support.
    fn read_v4(&mut self, criterion: &Tlv) -> Vec<u8> {
        let mut unread = Vec::new();
        for part in criterion.inside() {
            let is_read = match (part.code, part.value_octets()) {
                (1, Some(&[low, high, mask])) => {
                    self.tos = Some([low, high, mask]);
                    true
                }
                (2, Some(_)) => self.read_protocol(part),
                // Beside its address.
                (4 | 6, Some(octets)) => octets.len() == 4 && criterion.last(part.code - 1).is_some(),
                (code @ (3 | 5), Some(&[a, b, c, d])) => {
                    let mask = criterion.last(code + 1).and_then(Tlv::value_octets);
                    let prefix = v4_prefix([a, b, c, d], mask);
                    let place = if code == 3 { &mut self.source } else { &mut self.destination };
                    place.clone_from(&prefix);
                    prefix.is_some()
                }
                (7..=10, Some(&[high, low])) => {
                    let port = u16::from_be_bytes([high, low]);
                    let place = if part.code < 9 { &mut self.source_port } else { &mut self.destination_port };
                    let range = place.get_or_insert([0, u16::MAX]);
                    range[usize::from(part.code % 2 == 0)] = port;
                    true
                }
                _ => false,
            };
            if !is_read {
                unread.push(part.code);
            }
        }
        unread
    }

    /// The same of an IPv6 criterion (12).
    fn read_v6(&mut self, criterion: &Tlv) -> Vec<u8> {
        let mut unread = Vec::new();
        for part in criterion.inside() {
            let is_read = match (part.code, part.value_octets()) {
                (1, Some(&[low, high, mask])) => {
                    self.tos = Some([low, high, mask]);
                    true
                }
                (3, Some(_)) => self.read_protocol(part),
                (5 | 7, Some(octets)) => octets.len() == 1 && criterion.last(part.code - 1).is_some(),
                (code @ (4 | 6), Some(octets)) => {
                    let length = criterion.last(code + 1).and_then(Tlv::number).unwrap_or(128);
                    let address = <[u8; 16]>::try_from(octets).ok().filter(|_| length <= 128);
                    let prefix = address.map(|octets| format!("{}/{length}", Ipv6Addr::from(octets)));
                    let place = if code == 4 { &mut self.source } else { &mut self.destination };
                    place.clone_from(&prefix);
                    prefix.is_some()
                }
                _ => false,
            };
            if !is_read {
                unread.push(part.code);
            }
        }
        unread
    }

    fn read_protocol(&mut self, part: &Tlv) -> bool {
        self.protocol = part.number().filter(|number| *number != ANY_PROTOCOL);
        part.number().is_some_and(|number| number <= 257)
    }
}

/// An address and its mask as the beginning of addresses; `None` if the mask has gaps.
fn v4_prefix(address: [u8; 4], mask: Option<&[u8]>) -> Option<String> {
    let mask = match mask {
        None => u32::MAX,
        Some(octets) => u32::from_be_bytes(octets.try_into().ok()?),
    };
    let length = mask.leading_ones();
    let is_whole = mask.count_ones() == length;
    is_whole.then(|| format!("{}/{length}", Ipv4Addr::from(address)))
}
