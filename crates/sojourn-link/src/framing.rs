//! Bytes of a packet on a link: those of the frame or of the cells that carry it.
//!
//! Source: docsis-mac notes: NS3 `docsis-net-device.cc` (Ethernet frame and MAC header), ITU-T I.363.5 (AAL5),
//! ITU-T G.992.3 annex N (PTM, 64 octets sent as 65), tc-stab(8) and the overheads of Linux `cake`.
//! Units and ranges: bytes of an IP packet in, bytes that the link charges out.
//! Deviations: chosen: a burst of PTM packets is charged whole code words for each packet, as Linux does.

use sojourn_keys::{Key, choices, key, origin};

/// The framing of a link.
pub const FRAMING: Key = key(
    "framing",
    "what a packet costs on this link: its queue, shaper and line are charged that many bytes, the next link is not",
    "White 2012 and 2013: IP packets; DOCSIS 3.1 counts Ethernet frames",
);

const OVERHEAD: Key = key(
    "overhead",
    "bytes around the IP packet: encapsulation, frame and trailer",
    "chosen: none unless it is said; profiles as of Linux cake",
)
.most("256");

const LEAST: Key = key(
    "mpu",
    "bytes that a packet counts at least, its overhead included",
    "chosen: none unless it is said; Linux cake",
)
.most("256");

choices! {
    /// How a link frames a packet; its queue, its shaper and its line are charged the framed length, the next link
    /// is not.
    #[derive(Copy, Eq)]
    pub enum Framing {
        /// the IP packet
        Ip = "ip",
        /// an Ethernet frame with its check sequence: 18 B more, at least 64 B
        ///
        /// Header of 14 B, at least 46 B, frame check sequence of 4 B.
        Ethernet = "ethernet",
        /// an Ethernet frame behind a DOCSIS MAC header
        Docsis {
            /// bytes of the MAC header with its extensions
            mac_header: u16 = 10, origin("NS3 UsMacHdrSize: 10, unbonded").least("6").most("246");
        } = "docsis",
        /// overhead set in a router, as by `overhead` and `mpu` of tc
        ///
        /// 18 and 64 are an Ethernet frame; 28 and 74 are that behind a DOCSIS MAC header of 10 B.
        Counted {
            overhead: u16 = 0, OVERHEAD;
            mpu: u16 = 0, LEAST;
        } = "counted",
        /// ATM cells: 48 B in each 53 B
        ///
        /// The AAL5 trailer is part of the overhead.
        Atm {
            overhead: u16 = 0, OVERHEAD;
        } = "atm" profiles {
            /// overhead 10 B
            "pppoa-vcmux" = Self::Atm { overhead: 10 };
            /// overhead 14 B
            "pppoa-llc" = Self::Atm { overhead: 14 };
            /// overhead 32 B
            "pppoe-vcmux" = Self::Atm { overhead: 32 };
            /// overhead 40 B
            "pppoe-llcsnap" = Self::Atm { overhead: 40 };
            /// overhead 24 B
            "bridged-vcmux" = Self::Atm { overhead: 24 };
            /// overhead 32 B
            "bridged-llcsnap" = Self::Atm { overhead: 32 };
            /// overhead 8 B
            "ipoa-vcmux" = Self::Atm { overhead: 8 };
            /// overhead 16 B
            "ipoa-llcsnap" = Self::Atm { overhead: 16 };
        },
        /// PTM code words, as of VDSL2: 64 B in each 65 B
        Ptm {
            overhead: u16 = 0, OVERHEAD;
        } = "ptm" profiles {
            /// overhead 30 B
            "pppoe-ptm" = Self::Ptm { overhead: 30 };
            /// overhead 22 B
            "bridged-ptm" = Self::Ptm { overhead: 22 };
        },
    }
}

impl Framing {
    /// Returns the bytes that the link charges for an IP packet of `length` bytes.
    #[inline]
    #[must_use]
    pub const fn charged(self, length: u32) -> u32 {
        match self {
            Self::Ip => length,
            Self::Ethernet => ethernet(length),
            Self::Docsis { mac_header } => ethernet(length) + mac_header as u32,
            Self::Counted { overhead, mpu } => {
                let bytes = length + overhead as u32;
                if bytes < mpu as u32 { mpu as u32 } else { bytes }
            }
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
        let docsis = Framing::Docsis { mac_header: 10 };
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
            // Vectors of CAKE's overhead: 58 B are below the mpu; 1544 B in 33 cells.
            (Framing::Counted { overhead: 18, mpu: 64 }, 40, 64),
            (Framing::Counted { overhead: 18, mpu: 64 }, 1500, 1518),
            (Framing::Atm { overhead: 44 }, 1500, 1749),
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
        fn a_router_can_count_what_a_modem_sends(length in 1_u32..65_536) {
            let counted = |overhead, mpu| Framing::Counted { overhead, mpu }.charged(length);
            prop_assert_eq!(counted(18, 64), Framing::Ethernet.charged(length));
            prop_assert_eq!(counted(28, 74), Framing::Docsis { mac_header: 10 }.charged(length));
        }

        #[test]
        fn framing_never_shortens_and_a_longer_packet_never_costs_less(
            length in 1_u32..65_536,
            overhead in 0_u16..247,
        ) {
            for framing in [
                Framing::Ip,
                Framing::Ethernet,
                Framing::Docsis { mac_header: overhead },
                Framing::Counted { overhead, mpu: 84 },
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
