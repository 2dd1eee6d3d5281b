//! What is emulated.

use sojourn_base::{BitRate, Bytes, PerDirection, Seed, Span};
use sojourn_record::RecordConfig;
use sojourn_scenario::DirectedLink;
use std::net::{Ipv4Addr, Ipv6Addr};

/// One emulation, with every default filled in.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The access link.
    pub access: PerDirection<DirectedLink>,
    /// What lies behind it: one for each address of the far end, at least one. Packets of no known address belong to
    /// the first.
    pub far: Vec<FarEnd>,
    /// Longest IP packet.
    pub mtu: Bytes,
    /// What each packet is charged beyond its IP packet.
    pub overhead: Bytes,
    /// Of the draws of the link and its managers, and of the hashes of flows.
    pub seed: Seed,
    /// What is written down.
    pub record: RecordConfig,
    /// Bytes of the link-layer header before each IP packet: 0 between TUN devices, 14 between interfaces.
    pub link_header: usize,
}

/// One address of the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarEnd {
    /// Its IPv4 address.
    pub v4: Ipv4Addr,
    /// Its IPv6 address.
    pub v6: Ipv6Addr,
    /// Base round trip to it, the propagation of the access link included.
    pub rtt: Span,
    /// Line between the access network and it.
    pub line_rate: BitRate,
}

impl FarEnd {
    /// Most of them (specification of the emulator, section 10).
    pub const MOST: usize = 16;

    /// Addresses of the far end with this number, from 0: 100.64.0.1 and fd73:6f6a::1; of further ones 100.64.0.3 and
    /// fd73:6f6a::3 and so on, because 2 is the inside.
    ///
    /// chosen: shared address space (RFC 6598), which no host has of its own, and a random unique local prefix (RFC 4193).
    pub const fn addresses(number: u8) -> (Ipv4Addr, Ipv6Addr) {
        let last = if number == 0 { 1 } else { number + 2 };
        Self::addresses_ending_in(last)
    }

    /// Addresses of the inside.
    pub const INSIDE: (Ipv4Addr, Ipv6Addr) = Self::addresses_ending_in(2);

    const fn addresses_ending_in(last: u8) -> (Ipv4Addr, Ipv6Addr) {
        (
            Ipv4Addr::new(100, 64, 0, last),
            Ipv6Addr::new(0xfd73, 0x6f6a, 0, 0, 0, 0, 0, last as u16),
        )
    }
}
