//! What a packet costs on a link: the bytes of the frame or of the cells that carry it.
//!
//! Source: docsis-mac notes: NS3 `docsis-net-device.cc` (Ethernet frame and MAC header), ITU-T I.363.5 (AAL5),
//! ITU-T G.992.3 annex N (PTM, 64 octets sent as 65), tc-stab(8) and the overheads of Linux `cake`.
//! Units and ranges: bytes of an IP packet in, bytes that the link charges out.
//! Deviations: chosen: a burst of PTM packets is charged whole code words for each packet, as Linux does.

/// How a link frames a packet; its queue, its shaper and its line are charged the framed length, the next link
/// is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Framing {
    /// The IP packet alone.
    #[default]
    Ip,
    /// An Ethernet frame: header of 14 B, at least 46 B, frame check sequence of 4 B.
    Ethernet,
    /// An Ethernet frame behind a DOCSIS MAC header.
    Docsis {
        /// Bytes of the MAC header with its extensions.
        mac_header: u16,
    },
    /// Cells of 53 B with 48 B in each.
    Atm {
        /// Bytes around the IP packet: encapsulation and AAL5 trailer.
        overhead: u16,
    },
    /// Code words of 65 B with 64 B in each.
    Ptm {
        /// Bytes around the IP packet.
        overhead: u16,
    },
}

/// Bytes of a DOCSIS MAC header on an unbonded channel. Source: NS3, attributes `UsMacHdrSize` and `DsMacHdrSize`.
pub const MAC_HEADER: u16 = 10;

impl Framing {
    /// The word for it in files.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Ip => "ip",
            Self::Ethernet => "ethernet",
            Self::Docsis { .. } => "docsis",
            Self::Atm { .. } => "atm",
            Self::Ptm { .. } => "ptm",
        }
    }

    /// What the link charges for an IP packet of `length` bytes.
    #[inline]
    #[must_use]
    pub const fn charged(self, length: u32) -> u32 {
        match self {
            Self::Ip => length,
            Self::Ethernet => ethernet(length),
            Self::Docsis { mac_header } => ethernet(length) + mac_header as u32,
            Self::Atm { overhead } => (length + overhead as u32).div_ceil(48) * 53,
            Self::Ptm { overhead } => {
                let bytes = length + overhead as u32;
                bytes + bytes.div_ceil(64)
            }
        }
    }
}

const fn ethernet(length: u32) -> u32 {
    let padded = if length < 46 { 46 } else { length };
    padded + 18
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn frames_are_as_long_as_the_notes_work_out() {
        let docsis = Framing::Docsis {
            mac_header: MAC_HEADER,
        };
        let pppoe_llcsnap = Framing::Atm { overhead: 40 };
        let pppoe_ptm = Framing::Ptm { overhead: 30 };
        for (framing, length, charged) in [
            (Framing::Ip, 1500, 1500),
            // docsis-mac notes 0.1.
            (Framing::Ethernet, 1500, 1518),
            (Framing::Ethernet, 40, 64),
            (Framing::Ethernet, 46, 64),
            (Framing::Ethernet, 47, 65),
            (docsis, 1500, 1528),
            (docsis, 40, 74),
            // The same, part D: 1540 B in 33 cells of 48 B; 80 B in two.
            (pppoe_llcsnap, 1500, 1749),
            (pppoe_llcsnap, 40, 106),
            // 8 + 40 B fill one cell, one byte more needs two.
            (Framing::Atm { overhead: 8 }, 40, 53),
            (Framing::Atm { overhead: 8 }, 41, 106),
            // 1530 B in 24 code words; 64 B in one; 65 B in two.
            (pppoe_ptm, 1500, 1554),
            (pppoe_ptm, 34, 65),
            (pppoe_ptm, 35, 67),
        ] {
            assert_eq!(framing.charged(length), charged, "{framing:?} of {length}");
        }
    }

    proptest! {
        #[test]
        fn framing_never_shortens_and_a_longer_packet_never_costs_less(
            length in 1_u32..65_536,
            overhead in 0_u16..247,
        ) {
            for framing in [
                Framing::Ip,
                Framing::Ethernet,
                Framing::Docsis { mac_header: overhead },
                Framing::Atm { overhead },
                Framing::Ptm { overhead },
            ] {
                let charged = framing.charged(length);
                prop_assert!(charged >= length);
                prop_assert!(framing.charged(length + 1) >= charged);
            }
        }
    }
}
