//! Headers of simulated packets, as they would be on a wire: IPv4 with UDP or TCP, checksums of a payload of zeros.
//!
//! The simulator counts segments; here they have byte numbers, from 1 on behind the SYN. A payload of zeros adds nothing to a
//! checksum, so those of whole packets are right though only headers are written.
//!
//! Source: RFC 791, RFC 768, RFC 9293, RFC 7323 (time stamps in ms), RFC 2018.
//! Deviations: TCP headers are whole words, so that a stack with options of another length (the 10 B of White 2012) has the
//! rest of them as payload; the window is 65535 all the time; a datagram shorter than its headers has no UDP header.

use crate::headers::{TCP, UDP, fold, sum_of};
use crate::writer::KEPT;
use sojourn_base::{Address, Ecn, FlowKey, Instant};
use sojourn_record::SegmentSeen;

/// Bytes of headers at most, with room to spare within what is kept.
const IP: usize = 20;

/// Places of one direction's segments in its connection's bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByteMap {
    /// Runs of segments of one size: number of the first, byte at which it begins, bytes of each.
    runs: Vec<(u32, u64, u32)>,
    next: u32,
    end: u64,
    fin: Option<u32>,
}

impl ByteMap {
    /// A segment is sent, perhaps again.
    pub(crate) fn note(&mut self, number: u32, payload: u32, is_fin: bool) {
        if is_fin {
            self.fin.get_or_insert(number);
        }
        if number < self.next {
            return;
        }
        if number > self.next || self.runs.last().is_none_or(|run| run.2 != payload) {
            self.runs.push((number, self.end, payload));
        }
        self.next = number + 1;
        self.end += u64::from(payload);
    }

    /// Bytes before a segment.
    pub(crate) fn before(&self, number: u32) -> u64 {
        let place = self.runs.partition_point(|run| run.0 <= number);
        let Some((first, offset, size)) = place.checked_sub(1).map(|place| self.runs[place]) else {
            return 0;
        };
        let bytes = offset + u64::from(number - first) * u64::from(size);
        bytes.min(self.end)
    }

    /// The sequence number of a segment: the SYN has 0, and a FIN counts one.
    #[expect(clippy::cast_possible_truncation, reason = "sequence numbers wrap")]
    pub(crate) fn sequence(&self, number: u32) -> u32 {
        let after_fin = self.fin.is_some_and(|fin| number > fin);
        (1 + self.before(number) + u64::from(after_fin)) as u32
    }

    /// The number of the next segment that was never sent.
    pub(crate) const fn next(&self) -> u32 {
        self.next
    }
}

/// A packet as it would be on a wire: as many of its first bytes as are kept.
pub(crate) struct Wire {
    pub(crate) bytes: [u8; KEPT],
    pub(crate) kept: usize,
}

/// Fields of an IP header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ip {
    pub(crate) key: FlowKey,
    pub(crate) length: u32,
    pub(crate) dscp: u8,
    pub(crate) ecn: Ecn,
}

const fn octets(address: Address) -> [u8; 4] {
    match address {
        Address::V4(bits) => bits.to_be_bytes(),
        Address::V6(_) => [0; 4],
    }
}

/// A datagram.
pub(crate) fn datagram(ip: Ip) -> Wire {
    let mut wire = begin(ip, UDP);
    if ip.length >= 28 {
        let length = told(ip.length) - 20;
        let header = &mut wire.bytes[IP..IP + 8];
        header[..2].copy_from_slice(&ip.key.source_port.to_be_bytes());
        header[2..4].copy_from_slice(&ip.key.destination_port.to_be_bytes());
        header[4..6].copy_from_slice(&length.to_be_bytes());
        let sum = checksum(&wire.bytes[IP..IP + 8], ip, UDP, length);
        // A checksum of zero means that there is none (RFC 768).
        let sum = if sum == 0 { 0xffff } else { sum };
        wire.bytes[IP + 6..IP + 8].copy_from_slice(&sum.to_be_bytes());
    } else {
        // Protocol 253, for experiments (RFC 3692): there is no room for another header.
        wire.bytes[9] = 253;
    }
    finish(wire, ip)
}

/// A segment of a direction, whose peer's bytes are in `back`.
pub(crate) fn segment(ip: Ip, seen: &SegmentSeen, own: &ByteMap, back: &ByteMap) -> Wire {
    let mut wire = begin(ip, TCP);
    let is_syn = seen.has(SegmentSeen::SYN);
    let options = ip.length.saturating_sub(40).saturating_sub(seen.payload) as usize;
    let options = (options / 4 * 4).min(40);
    let has_place = seen.payload > 0 || seen.has(SegmentSeen::FIN);
    let sequence = match (is_syn, has_place) {
        (true, _) => 0,
        (_, true) => own.sequence(seen.sequence),
        (_, false) => own.sequence(own.next()),
    };
    let header = &mut wire.bytes[IP..IP + 20 + options];
    header[..2].copy_from_slice(&ip.key.source_port.to_be_bytes());
    header[2..4].copy_from_slice(&ip.key.destination_port.to_be_bytes());
    header[4..8].copy_from_slice(&sequence.to_be_bytes());
    if seen.has(SegmentSeen::ACK) {
        let acknowledged = back.sequence(seen.acknowledgement);
        header[8..12].copy_from_slice(&acknowledged.to_be_bytes());
    }
    header[12] = u8::try_from((5 + options / 4) << 4).unwrap_or(0x50);
    for (flag, bit) in [
        (SegmentSeen::FIN, 0x01),
        (SegmentSeen::SYN, 0x02),
        (SegmentSeen::ACK, 0x10),
        (SegmentSeen::ECE, 0x40),
        (SegmentSeen::CWR, 0x80),
    ] {
        header[13] |= if seen.has(flag) { bit } else { 0 };
    }
    header[14..16].copy_from_slice(&u16::MAX.to_be_bytes());
    write_options(&mut header[20..], seen, is_syn, back);
    let length = told(ip.length) - 20;
    let sum = checksum(&wire.bytes[IP..IP + 20 + options], ip, TCP, length);
    wire.bytes[IP + 16..IP + 18].copy_from_slice(&sum.to_be_bytes());
    finish(wire, ip)
}

fn write_options(room: &mut [u8], seen: &SegmentSeen, is_syn: bool, back: &ByteMap) {
    /// No operation.
    const NOP: u8 = 1;
    room.fill(NOP);
    let mut left = room;
    let mut put = |bytes: &[u8]| {
        let room = core::mem::take(&mut left);
        if bytes.len() <= room.len() {
            let (now, later) = room.split_at_mut(bytes.len());
            now.copy_from_slice(bytes);
            left = later;
            return true;
        }
        left = room;
        false
    };
    if is_syn {
        put(&[2, 4, 0x05, 0xb4]);
        put(&[4, 2]);
    }
    let ms = |at: Instant| {
        let ms = if at == Instant::NEVER { 0 } else { at.as_ns() / 1_000_000 };
        u32::try_from(ms & u64::from(u32::MAX)).unwrap_or_default().to_be_bytes()
    };
    let (value, echo) = (ms(seen.stamps.0), ms(seen.stamps.1));
    let mut stamps = [0; 12];
    stamps[..4].copy_from_slice(&[NOP, NOP, 8, 10]);
    stamps[4..8].copy_from_slice(&value);
    stamps[8..].copy_from_slice(&echo);
    // In a SYN it stands behind the two octets of the option before.
    let has_stamps = put(if is_syn { &stamps[2..] } else { &stamps });
    if is_syn && has_stamps {
        put(&[NOP, 3, 3, 7]);
        return;
    }
    let (blocks, count) = seen.sack;
    for count in (1..=usize::from(count)).rev() {
        let mut option = vec![NOP, NOP, 5, u8::try_from(2 + 8 * count).unwrap_or_default()];
        for (first, end) in &blocks[..count] {
            option.extend(back.sequence(*first).to_be_bytes());
            option.extend(back.sequence(*end).to_be_bytes());
        }
        if put(&option) {
            break;
        }
    }
}

/// A length in 16 bits: a superpacket has the most that fits.
fn told(length: u32) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

fn begin(ip: Ip, protocol: u8) -> Wire {
    let mut bytes = [0; KEPT];
    bytes[0] = 0x45;
    bytes[1] = ip.dscp << 2 | ip.ecn.bits();
    bytes[2..4].copy_from_slice(&told(ip.length.max(20)).to_be_bytes());
    bytes[6] = 0x40; // may not be fragmented
    bytes[8] = 64;
    bytes[9] = protocol;
    bytes[12..16].copy_from_slice(&octets(ip.key.source));
    bytes[16..20].copy_from_slice(&octets(ip.key.destination));
    Wire { bytes, kept: IP }
}

/// The header's checksum, and how much is kept.
fn finish(mut wire: Wire, ip: Ip) -> Wire {
    let sum = !fold(sum_of(&wire.bytes[..IP], 0));
    wire.bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    wire.kept = (ip.length.max(20) as usize).min(KEPT);
    wire
}

/// A transport checksum over the pseudo-header and a header, with a payload of zeros.
fn checksum(header: &[u8], ip: Ip, protocol: u8, length: u16) -> u16 {
    let mut pseudo = [0; 12];
    pseudo[..4].copy_from_slice(&octets(ip.key.source));
    pseudo[4..8].copy_from_slice(&octets(ip.key.destination));
    pseudo[9] = protocol;
    pseudo[10..].copy_from_slice(&length.to_be_bytes());
    !fold(sum_of(header, sum_of(&pseudo, 0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::{Packet, TcpFlags, Transport};

    const KEY: FlowKey = FlowKey {
        source: Address::V4(0xc0a8_0002),
        destination: Address::V4(0xcb00_0000),
        protocol: TCP,
        source_port: 49_152,
        destination_port: 443,
    };

    fn ip(length: u32) -> Ip {
        Ip { key: KEY, length, dscp: 45, ecn: Ecn::Ect1 }
    }

    fn seen(sequence: u32, payload: u32, flags: u8) -> SegmentSeen {
        SegmentSeen {
            connection: (0, 0),
            sequence,
            acknowledgement: 0,
            payload,
            flags,
            sack: ([(0, 0); 3], 0),
            stamps: (Instant::from_ms(7), Instant::from_ms(5)),
        }
    }

    /// The ones' complement sum of a whole packet with its payload of zeros and its pseudo-header is all ones.
    fn sums_to_ones(wire: &Wire, length: u32, protocol: u8) -> bool {
        let mut whole = wire.bytes[..wire.kept].to_vec();
        whole.resize(length as usize, 0);
        let mut pseudo = whole[12..20].to_vec();
        pseudo.extend([0, protocol]);
        pseudo.extend(u16::try_from(length - 20).unwrap().to_be_bytes());
        fold(sum_of(&whole[20..], sum_of(&pseudo, 0))) == 0xffff && fold(sum_of(&whole[..20], 0)) == 0xffff
    }

    #[test]
    fn headers_read_back_with_checksums_that_hold() {
        let wire = datagram(ip(218));
        let read = Packet::read_cut(&wire.bytes[..wire.kept], 218).unwrap();
        assert_eq!((read.length, read.dscp, read.ecn), (218, 45, Ecn::Ect1));
        assert_eq!(read.flow, FlowKey { protocol: UDP, ..KEY });
        assert!(sums_to_ones(&wire, 218, UDP));
        let (mut own, back) = (ByteMap::default(), ByteMap::default());
        own.note(0, 1448, false);
        let mut one = seen(0, 1448, SegmentSeen::ACK);
        let wire = segment(ip(1500), &one, &own, &back);
        let read = Packet::read_cut(&wire.bytes[..wire.kept], 1500).unwrap();
        let Transport::Tcp(header) = read.transport else {
            panic!("{read:?}");
        };
        assert_eq!((header.sequence, header.acknowledgement), (1, 1));
        assert_eq!((header.payload, header.flags), (1448, TcpFlags::ACK));
        assert!(sums_to_ones(&wire, 1500, TCP));
        one = seen(0, 0, SegmentSeen::SYN);
        let wire = segment(ip(60), &one, &ByteMap::default(), &back);
        assert!(sums_to_ones(&wire, 60, TCP));
        assert_eq!(wire.bytes[40..46], [2, 4, 5, 180, 4, 2]);
    }

    #[test]
    fn bytes_of_segments_follow_one_another_and_a_fin_counts_one() {
        let mut map = ByteMap::default();
        for (number, payload) in [(0, 1448), (1, 1448), (2, 500), (1, 1448), (3, 1448)] {
            map.note(number, payload, false);
        }
        map.note(4, 0, true);
        let sequences: Vec<u32> = (0..6).map(|number| map.sequence(number)).collect();
        assert_eq!(sequences, [1, 1449, 2897, 3397, 4845, 4846]);
    }

    #[test]
    fn as_many_blocks_are_told_as_there_is_room_for() {
        let mut back = ByteMap::default();
        for number in 0..10 {
            back.note(number, 1000, false);
        }
        let mut one = seen(0, 0, SegmentSeen::ACK);
        one.sack = ([(4, 5), (2, 3), (7, 9)], 3);
        let wire = segment(ip(72), &one, &ByteMap::default(), &back);
        // 32 B of options: 12 B of stamps, 20 B of two blocks.
        assert_eq!(wire.bytes[52..56], [1, 1, 5, 18]);
        assert_eq!(wire.bytes[56..60], 4001_u32.to_be_bytes());
        assert_eq!(wire.bytes[60..64], 5001_u32.to_be_bytes());
        assert!(sums_to_ones(&wire, 72, TCP));
    }
}
