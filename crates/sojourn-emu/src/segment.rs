//! Offload requests beside packets, and superpackets: several segments of a flow that a kernel hands over as one, which
//! are cut into the packets that would have been on the wire.
//!
//! Checksums of payload are neither made nor verified: each piece says that its own is missing, as the superpacket did.
//!
//! Source: Virtual I/O Device (VIRTIO) 1.2, 5.1.6 (`virtio_net_hdr`); `linux/virtio_net.h` for `VIRTIO_NET_HDR_GSO_UDP_L4`;
//! RFC 9293, RFC 768, RFC 3168 6.1.2 (CWR).
//! Deviations: without `num_buffers`, as TUN devices and packet sockets have it; words in the order of the machine (the
//! legacy interface, their default).

pub(crate) mod join;

use crate::headers::{Packet, TcpFlags, TcpHeader, Transport, fold, sum_of};
use sojourn_base::Address;

/// Longest headers of a superpacket: link layer, IP with options or extension headers, TCP with options. chosen: what is
/// longer is nothing that a kernel cuts.
const LONGEST_HEADERS: usize = 256;

/// How a superpacket is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gso {
    /// It is one packet.
    #[default]
    None,
    /// TCP over IPv4.
    Tcp4,
    /// TCP over IPv6.
    Tcp6,
    /// UDP over either; each piece is a datagram.
    Udp,
}

/// Offload request: work that is left to do on a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// The transport checksum is not complete: its field holds the sum over the pseudo-header, and the sum from
    /// `checksum_start` to the end of the packet belongs at `checksum_start + checksum_offset`.
    pub needs_checksum: bool,
    /// The checksum has been verified.
    pub is_valid: bool,
    /// How it is cut.
    pub gso: Gso,
    /// A TCP superpacket whose first segment alone carries CWR.
    pub has_cwr: bool,
    /// Bytes of all headers.
    pub header_length: u16,
    /// Payload of each segment but the last.
    pub segment_size: u16,
    /// First byte that the checksum covers, from the start of the packet.
    pub checksum_start: u16,
    /// Place of the checksum, from `checksum_start`.
    pub checksum_offset: u16,
}

impl Offload {
    /// Bytes of the header.
    pub const BYTES: usize = 10;

    const NEEDS_CHECKSUM: u8 = 1;
    const IS_VALID: u8 = 2;
    const TCP4: u8 = 1;
    const TCP6: u8 = 4;
    const UDP: u8 = 5;
    const ECN: u8 = 0x80;

    /// Reads the header of a packet; `None` if it uses a feature that was not offered.
    pub fn read(bytes: [u8; Self::BYTES]) -> Option<Self> {
        let [flags, kind, ref words @ ..] = bytes;
        let word = |at: usize| u16::from_ne_bytes([words[at], words[at + 1]]);
        let gso = match kind & !Self::ECN {
            0 => Gso::None,
            Self::TCP4 => Gso::Tcp4,
            Self::TCP6 => Gso::Tcp6,
            Self::UDP => Gso::Udp,
            _ => return None,
        };
        Some(Self {
            needs_checksum: flags & Self::NEEDS_CHECKSUM != 0,
            is_valid: flags & Self::IS_VALID != 0,
            gso,
            has_cwr: kind & Self::ECN != 0,
            header_length: word(0),
            segment_size: word(2),
            checksum_start: word(4),
            checksum_offset: word(6),
        })
    }

    /// The header that says this.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        let flags = flag(self.needs_checksum, Self::NEEDS_CHECKSUM) | flag(self.is_valid, Self::IS_VALID);
        let kind = match self.gso {
            Gso::None => 0,
            Gso::Tcp4 => Self::TCP4,
            Gso::Tcp6 => Self::TCP6,
            Gso::Udp => Self::UDP,
        } | flag(self.has_cwr, Self::ECN);
        let mut bytes = [flags, kind, 0, 0, 0, 0, 0, 0, 0, 0];
        let words = [self.header_length, self.segment_size, self.checksum_start, self.checksum_offset];
        for (place, word) in bytes[2..].chunks_exact_mut(2).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }
}

/// Hands each packet that `unit` stands for to `emit`: what is left to do on it, its headers, and its payload, which follows
/// them. `link_header` bytes stand before the IP packet. A unit that is one packet, or that cannot be cut, is handed on as it
/// is.
pub fn cut(unit: &[u8], offload: Offload, link_header: usize, mut emit: impl FnMut(Offload, &[u8], &[u8])) {
    let Some((packet, payload_at)) = superpacket(unit, offload, link_header) else {
        emit(offload, unit, &[]);
        return;
    };
    let mut scratch = [0; LONGEST_HEADERS];
    let headers = &mut scratch[..payload_at];
    let whole = &unit[..link_header + packet.length];
    let payload = &whole[payload_at..];
    let size = usize::from(offload.segment_size);
    let last = (payload.len() - 1) / size;
    for (number, piece) in payload.chunks(size).enumerate() {
        headers.copy_from_slice(&whole[..payload_at]);
        let ip = &mut headers[link_header..];
        write_lengths(ip, &packet, piece.len(), number);
        let header = &mut ip[packet.transport_at..];
        let checksum_offset = if let Transport::Tcp(tcp) = packet.transport {
            write_tcp(header, &tcp, number * size, number == 0, number == last);
            TCP_CHECKSUM
        } else {
            let length = half(header.len() + piece.len());
            header[4..6].copy_from_slice(&length.to_be_bytes());
            UDP_CHECKSUM
        };
        let sum = pseudo_header_sum(&packet, header.len() + piece.len());
        let at = usize::from(checksum_offset);
        header[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        let offload = Offload {
            needs_checksum: true,
            checksum_start: half(link_header + packet.transport_at),
            checksum_offset,
            ..Offload::default()
        };
        emit(offload, headers, piece);
    }
}

/// Offset of the checksum in a TCP header.
const TCP_CHECKSUM: u16 = 16;
/// Offset of the checksum in a UDP header.
const UDP_CHECKSUM: u16 = 6;

/// A superpacket that can be cut, and where its payload begins.
fn superpacket(unit: &[u8], offload: Offload, link_header: usize) -> Option<(Packet, usize)> {
    let packet = Packet::read(unit.get(link_header..)?)?;
    let is_v4 = matches!(packet.flow.source, Address::V4(_));
    let payload_at = match (offload.gso, packet.transport) {
        (Gso::Tcp4, Transport::Tcp(tcp)) if is_v4 => tcp.payload_at,
        (Gso::Tcp6, Transport::Tcp(tcp)) if !is_v4 => tcp.payload_at,
        (Gso::Udp, Transport::Udp) => packet.transport_at + 8,
        _ => return None,
    };
    let size = usize::from(offload.segment_size);
    let fits = link_header + payload_at <= LONGEST_HEADERS;
    (fits && size > 0 && packet.length > payload_at + size).then_some((packet, link_header + payload_at))
}

/// Writes the lengths of an IP header for a piece of `payload` bytes, and on IPv4 its identification and checksum.
fn write_lengths(ip: &mut [u8], packet: &Packet, payload: usize, number: usize) {
    let length = ip.len() + payload;
    match packet.flow.source {
        Address::V4(_) => {
            ip[2..4].copy_from_slice(&half(length).to_be_bytes());
            let identification = u16::from_be_bytes([ip[4], ip[5]]).wrapping_add(half(number));
            ip[4..6].copy_from_slice(&identification.to_be_bytes());
            ip[10..12].fill(0);
            let checksum = !fold(sum_of(&ip[..packet.transport_at], 0));
            ip[10..12].copy_from_slice(&checksum.to_be_bytes());
        }
        Address::V6(_) => ip[4..6].copy_from_slice(&half(length - 40).to_be_bytes()),
    }
}

/// Sequence number and flags of a piece that begins after `before` bytes.
fn write_tcp(header: &mut [u8], tcp: &TcpHeader, before: usize, is_first: bool, is_last: bool) {
    let before = u32::try_from(before).expect("a packet is shorter than 2^32 bytes");
    let sequence = tcp.sequence.wrapping_add(before);
    header[4..8].copy_from_slice(&sequence.to_be_bytes());
    let mut flags = tcp.flags;
    if !is_first {
        flags = flags.without(TcpFlags::CWR);
    }
    if !is_last {
        flags = flags.without(TcpFlags::FIN.and(TcpFlags::PSH));
    }
    header[13] = flags.0;
}

/// Returns the sum over the pseudo-header of a transport packet of `length` bytes (RFC 9293 3.1, RFC 8200 8.1).
fn pseudo_header_sum(packet: &Packet, length: usize) -> u16 {
    let mut sum = u32::from(half(length)) + u32::from(packet.flow.protocol);
    for address in [packet.flow.source, packet.flow.destination] {
        sum = match address {
            Address::V4(word) => sum_of(&word.to_be_bytes(), sum),
            Address::V6(bits) => sum_of(&bits.to_be_bytes(), sum),
        };
    }
    fold(sum)
}

/// A length or number in 16 bits, as headers have it.
fn half(number: usize) -> u16 {
    u16::try_from(number).expect("lengths of a packet that was read fit into its headers")
}

/// Returns place and value of a packet's missing checksum: the value that a receiver's kernel accepts.
pub(crate) fn missing_checksum(packet: &[u8], offload: Offload) -> Option<(usize, [u8; 2])> {
    let start = usize::from(offload.checksum_start);
    let sum = fold(sum_of(packet.get(start..)?, 0));
    let at = start + usize::from(offload.checksum_offset);
    (offload.needs_checksum && at + 2 <= packet.len()).then_some((at, (!sum).to_be_bytes()))
}

#[cfg(test)]
mod tests;
