//! Keys of the emulator: its far side, and the real packets that belong to a traffic entry.
//!
//! Source: specification of the emulator, section 3. Deviations: the numbers of far addresses begin with 1.

use sojourn_base::{BitRate, Bytes, Span};
use sojourn_keys::{origin, parameters, words};

parameters! {
    /// The far side of an emulation; simulations do not look at it.
    pub struct EmulateConfig {
        /// base round trip to the far end, or a list with one for each address of it; includes the propagation of the access link
        // Empty: that of the traffic entries, if they have one in common.
        round_trips as "rtt": Vec<Span> = Vec::new(),
            origin("that of the traffic entries, if all have the same").one_or_many().most("2 s"),
            if |it| !it.round_trips.is_empty();
        /// rate of the line between access network and far end
        line_rate: BitRate = BitRate::from_mbps(1_000),
            origin("assumed: gigabit lines (White 2012 §2.3)").least("1 b/s").most("1 Tb/s");
        /// longest IP packet
        mtu: Bytes = Bytes(1500), origin("RFC 894: Ethernet").least("576 B").most("9000 B");
        /// bytes that each packet is charged beside the IP packet, before the framing of the link
        overhead: Bytes = Bytes::ZERO, origin("chosen: none, as in a simulation").most("256 B");
    }
}

words! {
    /// The protocol of real packets.
    pub enum MatchedProtocol {
        /// whichever
        Any = "any",
        /// TCP
        Tcp = "tcp",
        /// UDP, QUIC among it
        Udp = "udp",
        /// ICMP of either version
        Icmp = "icmp",
    }
}

parameters! {
    /// Which real packets are an entry's; what is not said does not matter.
    #[derive(Copy, Eq)]
    pub struct MatchConfig {
        /// their protocol
        protocol: MatchedProtocol = MatchedProtocol::Any, origin("chosen: any");
        /// the port at one of their ends
        port: Option<u16> = None, origin("chosen: any").or("any").least("1");
        /// their differentiated-services code point
        dscp: Option<u8> = None, origin("chosen: any").or("any").most("63");
        /// number of the far address at their other end, from 1, in the order of emulate.rtt
        far: Option<u32> = None, origin("chosen: any").or("any").least("1").most("16");
    }
}
