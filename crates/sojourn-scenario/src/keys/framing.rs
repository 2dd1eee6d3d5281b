//! Keys of framing.
//!
//! Source: overheads as in the documentation of Linux `cake`, DOCSIS header as in NS3. Deviations: none known.

use sojourn_keys::{Key, Kind, OneOf, Profile, Visitor, key};
use sojourn_link::Framing;
use sojourn_link::framing::MAC_HEADER;

pub(crate) const FRAMING: Key = key(
    "framing",
    "what a packet costs on this link: its queue, shaper and line are charged that many bytes, the next link \
     is not",
    "White 2012 and 2013: IP packets; DOCSIS 3.1 counts Ethernet frames",
);

/// A framing as a choice among all kinds.
pub(crate) fn choice(value: &mut Framing) -> OneOf<'_, Framing> {
    OneOf::new(value, &KINDS, Framing::kind)
}

/// A profile of cells or code words.
macro_rules! overhead {
    ($variant:ident, $name:literal, $bytes:literal) => {
        Profile {
            name: $name,
            about: concat!("overhead ", $bytes, " B"),
            values: || Framing::$variant { overhead: $bytes },
        }
    };
}

const ATM: [Profile<Framing>; 8] = [
    overhead!(Atm, "pppoa-vcmux", 10),
    overhead!(Atm, "pppoa-llc", 14),
    overhead!(Atm, "pppoe-vcmux", 32),
    overhead!(Atm, "pppoe-llcsnap", 40),
    overhead!(Atm, "bridged-vcmux", 24),
    overhead!(Atm, "bridged-llcsnap", 32),
    overhead!(Atm, "ipoa-vcmux", 8),
    overhead!(Atm, "ipoa-llcsnap", 16),
];

const PTM: [Profile<Framing>; 2] = [
    overhead!(Ptm, "pppoe-ptm", 30),
    overhead!(Ptm, "bridged-ptm", 22),
];

const KINDS: [Kind<Framing>; 5] = [
    Kind {
        name: "ip",
        about: "the IP packet",
        base: || Framing::Ip,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "ethernet",
        about: "an Ethernet frame with its check sequence: 18 B more, at least 64 B",
        base: || Framing::Ethernet,
        profiles: &[],
        keys: |_, _| {},
    },
    Kind {
        name: "docsis",
        about: "an Ethernet frame behind a DOCSIS MAC header",
        base: || Framing::Docsis {
            mac_header: MAC_HEADER,
        },
        profiles: &[],
        keys: |framing, visitor| {
            if let Framing::Docsis { mac_header } = framing {
                visitor.value(MAC_HEADER_KEY, mac_header);
            }
        },
    },
    Kind {
        name: "atm",
        about: "ATM cells: 48 B in each 53 B",
        base: || Framing::Atm { overhead: 0 },
        profiles: &ATM,
        keys: |framing, visitor| {
            if let Framing::Atm { overhead } = framing {
                overhead_key(overhead, visitor);
            }
        },
    },
    Kind {
        name: "ptm",
        about: "PTM code words, as of VDSL2: 64 B in each 65 B",
        base: || Framing::Ptm { overhead: 0 },
        profiles: &PTM,
        keys: |framing, visitor| {
            if let Framing::Ptm { overhead } = framing {
                overhead_key(overhead, visitor);
            }
        },
    },
];

const MAC_HEADER_KEY: Key = key(
    "mac_header",
    "bytes of the MAC header with its extensions",
    "NS3 UsMacHdrSize: 10, unbonded",
)
.least("6")
.most("246");

fn overhead_key(overhead: &mut u16, visitor: &mut dyn Visitor) {
    visitor.value(
        key(
            "overhead",
            "bytes around the IP packet: encapsulation, frame and trailer",
            "chosen: none unless it is said; profiles as of Linux cake",
        )
        .most("256"),
        overhead,
    );
}
