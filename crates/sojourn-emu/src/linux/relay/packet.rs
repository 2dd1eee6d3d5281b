//! The few fields of a packet that the relay needs, and datagrams that come back.
//!
//! # Source
//! RFC 791, 768, 8200, 9293 (headers); RFC 1071 (sums).
//!
//! # Deviations
//! Fragments and extension headers are not relayed.

use crate::segment::Offload;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Type of a packet for the relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// A connection begins, with this sequence number.
    Syn(u32),
    /// A datagram with its payload.
    Datagram(&'a [u8]),
    /// Any other segment of TCP.
    Segment,
}

/// Addresses and type of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet<'a> {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub kind: Kind<'a>,
    /// Traffic class: DSCP and ECN.
    pub class: u8,
}

const TCP: u8 = 6;
const UDP: u8 = 17;

/// Reads a packet; `None` if it is nothing that is relayed.
pub(super) fn read(packet: &[u8]) -> Option<Packet<'_>> {
    let (from, to, protocol, class, rest): (IpAddr, IpAddr, _, _, _) = match packet.first()? >> 4 {
        4 => {
            let header = usize::from(packet[0] & 15) * 4;
            let fixed: &[u8; 20] = packet.first_chunk()?;
            if header < 20 || (u16::from_be_bytes([fixed[6], fixed[7]]) & 0x3fff) != 0 {
                return None; // a fragment
            }
            let total = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
            let address = |at: usize| Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]);
            let rest = packet.get(header..total.min(packet.len()))?;
            (address(12).into(), address(16).into(), fixed[9], fixed[1], rest)
        }
        6 => {
            let fixed: &[u8; 40] = packet.first_chunk()?;
            let address = |at: usize| {
                let octets: [u8; 16] = fixed[at..at + 16].try_into().expect("16 of 40");
                Ipv6Addr::from(octets)
            };
            let length = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
            let rest = packet.get(40..(40 + length).min(packet.len()))?;
            let class = (fixed[0] << 4) | (fixed[1] >> 4);
            (address(8).into(), address(24).into(), fixed[6], class, rest)
        }
        _ => return None,
    };
    let ports: &[u8; 4] = rest.first_chunk()?;
    let kind = match protocol {
        TCP => {
            let flags = rest.get(13)?;
            if flags & 0x12 == 0x02 {
                let sequence: &[u8; 4] = rest.get(4..)?.first_chunk()?;
                Kind::Syn(u32::from_be_bytes(*sequence))
            } else {
                Kind::Segment
            }
        }
        UDP => Kind::Datagram(rest.get(8..)?),
        _ => return None,
    };
    Some(Packet {
        from: SocketAddr::new(from, u16::from_be_bytes([ports[0], ports[1]])),
        to: SocketAddr::new(to, u16::from_be_bytes([ports[2], ports[3]])),
        kind,
        class,
    })
}

/// Writes a datagram as an IP packet whose checksum the receiving stack may trust; `None` if it is longer than `mtu`.
pub(super) fn datagram(
    from: SocketAddr,
    to: SocketAddr,
    payload: &[u8],
    class: u8,
    mtu: usize,
) -> Option<(Offload, Vec<u8>)> {
    let length = 8 + payload.len();
    let (mut packet, pseudo) = header(from.ip(), to.ip(), UDP, class, length)?;
    let start = packet.len();
    if start + length > mtu {
        return None;
    }
    packet.extend(from.port().to_be_bytes());
    packet.extend(to.port().to_be_bytes());
    packet.extend(u16::try_from(length).ok()?.to_be_bytes());
    packet.extend(pseudo.to_be_bytes());
    packet.extend(payload);
    Some((partial(start, 6), packet))
}

/// Writes what refuses a connection: the answer to a SYN with this sequence number (RFC 9293, 3.10.7.1).
pub(super) fn reset(from: SocketAddr, to: SocketAddr, sequence: u32) -> Option<(Offload, Vec<u8>)> {
    let (mut packet, pseudo) = header(from.ip(), to.ip(), TCP, 0, 20)?;
    let start = packet.len();
    packet.extend(from.port().to_be_bytes());
    packet.extend(to.port().to_be_bytes());
    packet.extend([0; 4]);
    packet.extend(sequence.wrapping_add(1).to_be_bytes());
    packet.extend([0x50, 0x14, 0, 0]); // five words; RST and ACK; no window
    packet.extend(pseudo.to_be_bytes());
    packet.extend([0; 2]);
    Some((partial(start, 16), packet))
}

/// A packet whose transport begins at `start` and has its sum over the pseudo-header at `offset` behind that.
fn partial(start: usize, offset: u16) -> Offload {
    Offload {
        needs_checksum: true,
        checksum_start: u16::try_from(start).expect("an IP header is short"),
        checksum_offset: offset,
        ..Offload::default()
    }
}

/// The IP header before `length` bytes, and the sum over the pseudo-header.
fn header(from: IpAddr, to: IpAddr, protocol: u8, class: u8, length: usize) -> Option<(Vec<u8>, u16)> {
    let mut packet = Vec::with_capacity(40 + length);
    let short = u16::try_from(length).ok()?;
    let addresses = match (from, to) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            packet.extend([0x45, class]);
            packet.extend(short.checked_add(20)?.to_be_bytes());
            packet.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]); // may not be fragmented; 64 hops
            packet.extend(source.octets());
            packet.extend(destination.octets());
            let own = !folded(sum(&packet));
            packet[10..12].copy_from_slice(&own.to_be_bytes());
            &packet[12..]
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            packet.extend([0x60 | (class >> 4), class << 4, 0, 0]);
            packet.extend(short.to_be_bytes());
            packet.extend([protocol, 64]);
            packet.extend(source.octets());
            packet.extend(destination.octets());
            &packet[8..]
        }
        _ => return None,
    };
    let pseudo = folded(sum(addresses) + u32::from(protocol) + u32::from(short));
    Some((packet, pseudo))
}

/// Sum of 16-bit words (RFC 1071).
fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks(2).map(|two| u32::from(u16::from_be_bytes([two[0], *two.get(1).unwrap_or(&0)]))).sum()
}

fn folded(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    u16::try_from((once & 0xffff) + (once >> 16)).expect("two folds leave 16 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_that_is_written_reads_back() {
        for (from, to) in [("192.0.2.1:53", "100.64.0.2:4000"), ("[2001:db8::1]:443", "[fd73:6f6a::2]:4000")] {
            let (from, to) = (from.parse().unwrap(), to.parse().unwrap());
            let (offload, packet) = datagram(from, to, b"hello", 0x2e, 1500).unwrap();
            let read = read(&packet).unwrap();
            assert_eq!((read.from, read.to, read.class), (from, to, 0x2e));
            assert_eq!(read.kind, Kind::Datagram(b"hello"));
            assert_eq!(usize::from(offload.checksum_start), packet.len() - 13);
        }
    }

    #[test]
    fn the_header_of_a_datagram_sums_to_all_ones() {
        let (from, to) = ("192.0.2.1:53".parse().unwrap(), "100.64.0.2:4000".parse().unwrap());
        let (_, packet) = datagram(from, to, b"x", 0, 1500).unwrap();
        assert_eq!(folded(sum(&packet[..20])), 0xffff);
    }

    #[test]
    fn a_refusal_acknowledges_the_syn() {
        let (from, to) = ("192.0.2.1:80".parse().unwrap(), "100.64.0.2:4000".parse().unwrap());
        let (offload, packet) = reset(from, to, u32::MAX).unwrap();
        assert_eq!(packet[28..34], [0, 0, 0, 0, 0x50, 0x14]);
        // The sum that the stack adds makes the whole one right: pseudo-header, then all words of the segment.
        let pseudo = sum(&packet[12..20]) + 6 + 20;
        let field = u32::from(u16::from_be_bytes([packet[36], packet[37]]));
        assert_eq!(folded(pseudo), folded(field));
        assert_eq!(usize::from(offload.checksum_start + offload.checksum_offset), 36);
    }

    #[test]
    fn what_is_longer_than_the_link_allows_is_not_written() {
        let (from, to) = ("192.0.2.1:53".parse().unwrap(), "100.64.0.2:4000".parse().unwrap());
        assert!(datagram(from, to, &[0; 1472], 0, 1500).is_some());
        assert!(datagram(from, to, &[0; 1473], 0, 1500).is_none());
    }

    #[test]
    fn a_packet_cut_anywhere_is_read_or_refused() {
        let (from, to) = ("192.0.2.1:53".parse().unwrap(), "100.64.0.2:4000".parse().unwrap());
        let (_, packet) = datagram(from, to, b"hello", 0, 1500).unwrap();
        for length in 0..packet.len() {
            let _ = read(&packet[..length]);
        }
        assert_eq!(read(&packet[..27]), None);
    }
}
