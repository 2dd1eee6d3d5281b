//! Headers of an IP packet, and its congestion mark.
//!
//! Headers are those of programs that may do anything: every access is checked, what is malformed is nothing ([`Packet::read`]
//! says `None`), and no packet makes it fail.
//!
//! Source: RFC 791, RFC 8200, RFC 9293, RFC 768; marks: RFC 3168, 5; checksums: RFC 1071, RFC 1624.
//! Units and ranges: packets of up to 65,575 B, without link-layer header.
//! Deviations: at most eight extension headers of IPv6 are walked (chosen: no program sends more); the ports of an encrypted
//! packet (ESP) and of any fragment but the first are 0, because they are not to be seen.

use sojourn_base::{Address, Ecn, FlowKey};

/// Protocol number (RFC 792).
pub const ICMP: u8 = 1;
/// Protocol number (RFC 9293).
pub const TCP: u8 = 6;
/// Protocol number (RFC 768).
pub const UDP: u8 = 17;
/// Protocol number (RFC 4443).
pub const ICMP_V6: u8 = 58;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION: u8 = 60;

/// Most extension headers that are walked.
const MOST_EXTENSIONS: usize = 8;

/// Bytes of an IPv6 header.
const V6_HEADER: usize = 40;

/// An IP packet, by the headers that the project uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Bytes, by its own header: what follows in a frame is padding.
    pub length: usize,
    /// Addresses, protocol and ports.
    pub flow: FlowKey,
    /// DSCP.
    pub dscp: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// Offset of the transport header.
    pub transport_at: usize,
    /// The transport header, if it is of a known protocol and in this packet.
    pub transport: Transport,
}

/// A transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP.
    Tcp(TcpHeader),
    /// UDP.
    Udp,
    /// ICMP of either version.
    Icmp,
    /// Another one, or none that can be read.
    Other,
}

/// A TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpHeader {
    /// Sequence number of the first byte.
    pub sequence: u32,
    /// Acknowledgement number; it counts if [`TcpFlags::ACK`] is set.
    pub acknowledgement: u32,
    /// Flags.
    pub flags: TcpFlags,
    /// Offset of its payload in the packet.
    pub payload_at: usize,
    /// Bytes of payload.
    pub payload: usize,
}

/// Flags of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// No more data.
    pub const FIN: Self = Self(0x01);
    /// Synchronise.
    pub const SYN: Self = Self(0x02);
    /// Reset.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number counts.
    pub const ACK: Self = Self(0x10);
    /// Urgent.
    pub const URG: Self = Self(0x20);
    /// Congestion window reduced.
    pub const CWR: Self = Self(0x80);

    /// Returns true if one of `flags` is set.
    pub const fn any(self, flags: Self) -> bool {
        self.0 & flags.0 != 0
    }

    /// Both.
    #[must_use]
    pub const fn and(self, flags: Self) -> Self {
        Self(self.0 | flags.0)
    }

    /// Those without `flags`.
    #[must_use]
    pub const fn without(self, flags: Self) -> Self {
        Self(self.0 & !flags.0)
    }
}

impl Packet {
    /// Reads `bytes`, which begin with an IP header; `None` if that is malformed, or the packet is incomplete.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        Self::read_cut(bytes, 0).filter(|packet| packet.length <= bytes.len())
    }

    /// The same of a packet of which a capture has kept only the beginning. One that says of itself that it has no length,
    /// as a kernel's offload does, is taken for `on_the_wire` bytes.
    pub fn read_cut(bytes: &[u8], on_the_wire: usize) -> Option<Self> {
        match bytes.first()? >> 4 {
            4 => Self::read_v4(bytes, on_the_wire),
            6 => Self::read_v6(bytes, on_the_wire),
            _ => None,
        }
    }

    /// A segment that only acknowledges (specification of queue managers, 3.2).
    pub const fn is_pure_ack(&self) -> bool {
        let Transport::Tcp(header) = self.transport else {
            return false;
        };
        let others = TcpFlags::SYN.and(TcpFlags::FIN);
        let others = others.and(TcpFlags::RST).and(TcpFlags::URG);
        header.payload == 0 && header.flags.any(TcpFlags::ACK) && !header.flags.any(others)
    }

    fn read_v4(bytes: &[u8], on_the_wire: usize) -> Option<Self> {
        let header = bytes.get(..20)?;
        let header_length = usize::from(header[0] & 0x0f) * 4;
        let length = match usize::from(word(header, 2)?) {
            0 => on_the_wire,
            length => length,
        };
        if header_length < 20 || length < header_length {
            return None;
        }
        let fragment_offset = word(header, 6)? & 0x1fff;
        let addresses = [12, 16].map(|at| double(header, at).map(Address::V4));
        Some(Self::with_transport(
            (&bytes[..length.min(bytes.len())], length),
            (header[1], addresses[0]?, addresses[1]?),
            (header[9], header_length),
            fragment_offset == 0,
        ))
    }

    fn read_v6(bytes: &[u8], on_the_wire: usize) -> Option<Self> {
        let header = bytes.get(..V6_HEADER)?;
        let length = match usize::from(word(header, 4)?) {
            0 if on_the_wire > V6_HEADER => on_the_wire,
            payload => V6_HEADER + payload,
        };
        let bytes = &bytes[..length.min(bytes.len())];
        let addresses = [8, 24].map(|at| {
            let octets = header.get(at..at + 16)?.try_into().ok()?;
            Some(Address::V6(u128::from_be_bytes(octets)))
        });
        let traffic_class = header[0] << 4 | header[1] >> 4;
        let (mut protocol, mut at, mut is_first) = (header[6], V6_HEADER, true);
        for _ in 0..MOST_EXTENSIONS {
            let extension = match protocol {
                HOP_BY_HOP | ROUTING | DESTINATION => 8 + 8 * usize::from(*bytes.get(at + 1).unwrap_or(&0)),
                FRAGMENT => {
                    is_first &= word(bytes, at + 2).is_some_and(|field| field >> 3 == 0);
                    8
                }
                _ => break,
            };
            let Some(next) = bytes.get(at..at + extension) else {
                break;
            };
            protocol = next[0];
            at += extension;
        }
        Some(Self::with_transport(
            (bytes, length),
            (traffic_class, addresses[0]?, addresses[1]?),
            (protocol, at),
            is_first,
        ))
    }

    fn with_transport(
        (bytes, length): (&[u8], usize),
        (traffic_class, source, destination): (u8, Address, Address),
        (protocol, transport_at): (u8, usize),
        is_first: bool,
    ) -> Self {
        let mut flow = FlowKey { source, destination, protocol, source_port: 0, destination_port: 0 };
        let transport = match protocol {
            ICMP | ICMP_V6 => Transport::Icmp,
            TCP | UDP if is_first => {
                let ports = [0, 2].map(|at| word(bytes, transport_at + at));
                if let [Some(source), Some(destination)] = ports {
                    (flow.source_port, flow.destination_port) = (source, destination);
                }
                if protocol == TCP {
                    tcp_header(bytes, length, transport_at).map_or(Transport::Other, Transport::Tcp)
                } else if length >= transport_at + 8 {
                    Transport::Udp
                } else {
                    Transport::Other
                }
            }
            _ => Transport::Other,
        };
        Self { length, flow, dscp: traffic_class >> 2, ecn: Ecn::from_bits(traffic_class), transport_at, transport }
    }
}

fn tcp_header(bytes: &[u8], length: usize, at: usize) -> Option<TcpHeader> {
    let header = bytes.get(at..at + 20)?;
    let header_length = usize::from(header[12] >> 4) * 4;
    let payload = length.checked_sub(at + header_length)?;
    (header_length >= 20).then_some(TcpHeader {
        sequence: double(header, 4)?,
        acknowledgement: double(header, 8)?,
        flags: TcpFlags(header[13]),
        payload_at: at + header_length,
        payload,
    })
}

/// Sets the mark of a packet, whatever its ECN field was, with its header checksum; what is no IP packet stays as it is.
pub fn mark(bytes: &mut [u8]) {
    match bytes.first().map(|first| first >> 4) {
        Some(4) if bytes.len() >= 20 => {
            let before = u16::from_be_bytes([bytes[0], bytes[1]]);
            bytes[1] |= 3;
            let after = u16::from_be_bytes([bytes[0], bytes[1]]);
            let checksum = u16::from_be_bytes([bytes[10], bytes[11]]);
            // RFC 1624, equation 3.
            let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
            bytes[10..12].copy_from_slice(&(!fold(sum)).to_be_bytes());
        }
        // The traffic class is half in the first byte and half in the second; nothing sums over it.
        Some(6) if bytes.len() >= 2 => bytes[1] |= 0x30,
        _ => {}
    }
}

/// The sum of 16-bit words, the last byte padded, on top of `sum`.
pub fn sum_of(bytes: &[u8], sum: u32) -> u32 {
    let words = bytes.chunks_exact(2);
    let last = words.remainder().first().map_or(0, |last| u32::from(*last) << 8);
    let added = words.map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    // Packets are short: 2^16 words of 16 bits fit.
    u32::from(fold(sum)) + u32::from(fold(added.sum::<u32>())) + last
}

/// Its ones' complement sum in 16 bits.
#[expect(clippy::cast_possible_truncation, reason = "nothing is left above")]
pub const fn fold(sum: u32) -> u16 {
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

/// The 16 bits at a place; `None` if they are not there.
pub fn word(bytes: &[u8], at: usize) -> Option<u16> {
    let octets = bytes.get(at..at + 2)?.try_into().ok()?;
    Some(u16::from_be_bytes(octets))
}

fn double(bytes: &[u8], at: usize) -> Option<u32> {
    let octets = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_be_bytes(octets))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The example of many text books: 192.168.0.1 to 192.168.0.199, UDP, header checksum b861, with TOS 0.
    const TEXT_BOOK: [u8; 20] = [
        0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8,
        0x00, 0xc7,
    ];

    fn text_book() -> Vec<u8> {
        let mut packet = TEXT_BOOK.to_vec();
        packet.resize(0x73, 0);
        packet[20..24].copy_from_slice(&[0x13, 0x88, 0x13, 0x89]);
        packet
    }

    /// fd73::2 to fd73::1, hop-by-hop options and a first fragment before TCP; ECT(0), DSCP 46.
    fn v6() -> Vec<u8> {
        let mut packet = vec![0x6b, 0xa0, 0, 0, 0, 0, HOP_BY_HOP, 64];
        packet.extend([0xfd, 0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        packet.extend([0xfd, 0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        packet.extend([FRAGMENT, 0, 1, 4, 0, 0, 0, 0]);
        packet.extend([TCP, 0, 0, 1, 0, 0, 0, 9]);
        // 443 to 50000, sequence 1, acknowledgement 2, 20 B, ACK and PSH.
        packet.extend([0x01, 0xbb, 0xc3, 0x50, 0, 0, 0, 1, 0, 0, 0, 2]);
        packet.extend([0x50, 0x18, 1, 0, 0, 0, 0, 0]);
        packet.extend(*b"hello");
        let length = u16::try_from(packet.len() - V6_HEADER).unwrap();
        packet[4..6].copy_from_slice(&length.to_be_bytes());
        packet
    }

    #[test]
    fn a_datagram_is_read_field_by_field() {
        let packet = Packet::read(&text_book()).unwrap();
        assert_eq!(packet.length, 115);
        assert_eq!(packet.flow.source, Address::V4(0xc0a8_0001));
        assert_eq!(packet.flow.destination, Address::V4(0xc0a8_00c7));
        assert_eq!((packet.flow.source_port, packet.flow.destination_port), (5000, 5001));
        assert_eq!((packet.dscp, packet.ecn), (0, Ecn::NotEct));
        assert_eq!(packet.transport, Transport::Udp);
        // Padding of a frame is not part of the packet.
        let mut padded = text_book();
        padded.extend([0; 30]);
        assert_eq!(Packet::read(&padded), Some(packet));
    }

    #[test]
    fn a_segment_behind_extension_headers_is_found() {
        let packet = Packet::read(&v6()).unwrap();
        assert_eq!((packet.dscp, packet.ecn), (46, Ecn::Ect0));
        assert_eq!(packet.transport_at, 56);
        assert_eq!(packet.flow.source, Address::V6(0xfd73 << 112 | 2));
        let Transport::Tcp(header) = packet.transport else {
            panic!("{packet:?}");
        };
        assert_eq!((header.sequence, header.acknowledgement), (1, 2));
        assert_eq!((header.payload_at, header.payload), (76, 5));
        assert_eq!(header.flags, TcpFlags::ACK.and(TcpFlags::PSH));
        assert!(!packet.is_pure_ack());
    }

    #[test]
    fn a_later_fragment_has_no_ports() {
        let mut v4 = text_book();
        v4[7] = 3;
        let packet = Packet::read(&v4).unwrap();
        assert_eq!(packet.transport, Transport::Other);
        assert_eq!(packet.flow.source_port, 0);
        let mut v6 = v6();
        v6[51] = 8;
        let packet = Packet::read(&v6).unwrap();
        assert_eq!(packet.transport, Transport::Other);
        assert_eq!((packet.flow.protocol, packet.flow.source_port), (TCP, 0));
    }

    #[test]
    fn only_an_acknowledgement_without_payload_and_other_flags_is_pure() {
        let mut segment = v6();
        segment.truncate(76);
        segment[5] = 36;
        assert!(Packet::read(&segment).unwrap().is_pure_ack());
        for flag in [TcpFlags::SYN, TcpFlags::FIN, TcpFlags::RST, TcpFlags::URG] {
            let mut other = segment.clone();
            other[69] |= flag.0;
            assert!(!Packet::read(&other).unwrap().is_pure_ack(), "{flag:?}");
        }
        segment[69] &= !TcpFlags::ACK.0;
        assert!(!Packet::read(&segment).unwrap().is_pure_ack());
    }

    /// 45 00 becomes 45 03: the sum grows by 3, its complement falls by 3, from b861 to b85e.
    #[test]
    fn a_mark_on_ipv4_moves_the_header_checksum_by_what_it_adds() {
        let mut packet = text_book();
        mark(&mut packet);
        assert_eq!(packet[1], 3);
        assert_eq!(packet[10..12], [0xb8, 0x5e]);
        assert_eq!(Packet::read(&packet).unwrap().ecn, Ecn::Ce);
    }

    #[test]
    fn every_type_of_service_is_marked_with_a_checksum_that_holds() {
        for tos in 0..=255 {
            let mut packet = text_book();
            packet[1] = tos;
            packet[10..12].fill(0);
            let checksum = !fold(sum_of(&packet[..20], 0));
            packet[10..12].copy_from_slice(&checksum.to_be_bytes());
            mark(&mut packet);
            assert_eq!(packet[1], tos | 3);
            assert_eq!(fold(sum_of(&packet[..20], 0)), 0xffff, "TOS {tos}");
        }
    }

    #[test]
    fn a_mark_on_ipv6_changes_two_bits() {
        let (before, mut after) = (v6(), v6());
        mark(&mut after);
        assert_eq!(after[1], before[1] | 0x30);
        assert_eq!(after[2..], before[2..]);
        let read = Packet::read(&after).unwrap();
        assert_eq!((read.dscp, read.ecn), (46, Ecn::Ce));
    }

    #[test]
    fn a_packet_that_is_cut_off_anywhere_is_none() {
        for packet in [text_book(), v6()] {
            for length in 0..packet.len() {
                assert_eq!(Packet::read(&packet[..length]), None, "{length} B");
                mark(&mut packet[..length].to_vec());
            }
        }
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        let mut short = text_book();
        short[0] = 0x44;
        assert_eq!(Packet::read(&short), None);
        let mut shorter_than_its_header = text_book();
        shorter_than_its_header[2..4].copy_from_slice(&[0, 19]);
        assert_eq!(Packet::read(&shorter_than_its_header), None);
    }

    #[test]
    fn extension_headers_without_end_are_not_walked_for_ever() {
        let mut packet = v6();
        packet.truncate(V6_HEADER);
        for _ in 0..20 {
            packet.extend([DESTINATION, 0, 1, 4, 0, 0, 0, 0]);
        }
        packet[5] = 160;
        let read = Packet::read(&packet).unwrap();
        assert_eq!(read.transport, Transport::Other);
        assert_eq!(read.transport_at, V6_HEADER + 8 * MOST_EXTENSIONS);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_fail(mut bytes in prop::collection::vec(any::<u8>(), 0..200), version in 0_u8..3) {
            if let Some(first) = bytes.first_mut() {
                *first = [*first, 0x45, 0x60][usize::from(version)];
            }
            if version == 1 && bytes.len() >= 4 {
                bytes[2..4].copy_from_slice(&[0, 60]);
            }
            if let Some(packet) = Packet::read(&bytes) {
                prop_assert!(packet.length <= bytes.len());
                if let Transport::Tcp(header) = packet.transport {
                    prop_assert_eq!(header.payload_at + header.payload, packet.length);
                }
            }
            mark(&mut bytes);
        }
    }
}
