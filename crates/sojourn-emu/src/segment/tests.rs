use super::*;
use crate::headers::word;
use proptest::prelude::*;

#[test]
fn a_header_reads_back_from_its_bytes() {
    let offload = Offload {
        needs_checksum: true,
        is_valid: false,
        gso: Gso::Tcp6,
        has_cwr: true,
        header_length: 72,
        segment_size: 1428,
        checksum_start: 40,
        checksum_offset: 16,
    };
    let bytes = offload.to_bytes();
    assert_eq!(bytes[..2], [1, 0x84]);
    assert_eq!(Offload::read(bytes), Some(offload));
    assert_eq!(Offload::read([0; Offload::BYTES]), Some(Offload::default()));
}

#[test]
fn a_way_of_cutting_that_was_not_offered_is_refused() {
    // 3 is fragmentation of UDP, which we never ask for.
    assert_eq!(Offload::read([0, 3, 0, 0, 0, 0, 0, 0, 0, 0]), None);
}

/// A packet from 10.0.0.1 to 10.0.0.2, or fd73::1 to fd73::2, with this transport header and payload.
fn packet(is_v4: bool, protocol: u8, transport: &[u8]) -> Vec<u8> {
    let length = u16::try_from(transport.len()).unwrap();
    let mut packet = if is_v4 {
        let mut header = vec![0x45, 2, 0, 0, 0xff, 0xff, 0x40, 0, 64, protocol, 0, 0];
        header.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        header[2..4].copy_from_slice(&(length + 20).to_be_bytes());
        let checksum = !fold(sum_of(&header, 0));
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        header
    } else {
        let mut header = vec![0x60, 0x20, 0, 0, 0, 0, protocol, 64];
        header[4..6].copy_from_slice(&length.to_be_bytes());
        for last in [1, 2] {
            header.extend([0xfd, 0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
        }
        header
    };
    packet.extend(transport);
    packet
}

/// A TCP segment with timestamps, 32 B of header.
fn segment(sequence: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut segment = vec![0x01, 0xbb, 0xc3, 0x50];
    segment.extend(sequence.to_be_bytes());
    segment.extend([0, 0, 0, 7, 0x80, flags, 0x10, 0, 0, 0, 0, 0]);
    segment.extend([1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 4]);
    segment.extend(payload);
    segment
}

fn datagram(payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len() + 8).unwrap();
    let mut datagram = vec![0x13, 0x88, 0x13, 0x89];
    datagram.extend(length.to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend(payload);
    datagram
}

fn gso(gso: Gso, segment_size: u16) -> Offload {
    Offload { needs_checksum: true, gso, segment_size, ..Offload::default() }
}

/// The pieces with their checksums.
fn pieces(unit: &[u8], offload: Offload, link_header: usize) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    cut(unit, offload, link_header, |offload, headers, payload| {
        let mut piece = [headers, payload].concat();
        if let Some((at, checksum)) = missing_checksum(&piece, offload) {
            piece[at..at + 2].copy_from_slice(&checksum);
        }
        pieces.push(piece);
    });
    pieces
}

/// Returns true if the receiver's sum accepts the checksum over the pseudo-header and everything behind it.
fn is_sound(piece: &[u8]) -> bool {
    let packet = Packet::read(piece).unwrap();
    let transport = &piece[packet.transport_at..packet.length];
    let sum = u32::from(pseudo_header_sum(&packet, transport.len()));
    let header = piece[0] >> 4 == 6 || fold(sum_of(&piece[..20], 0)) == 0xffff;
    header && fold(sum_of(transport, sum)) == 0xffff
}

/// 2,500 B in segments of 1,000: identification ffff, 0, 1; sequence numbers around the wrap; CWR on the first, PSH and FIN
/// on the last.
#[test]
fn a_tcp_superpacket_on_ipv4_is_cut_as_by_hand() {
    let payload: Vec<u8> = (0..2500_u16).map(|at| at.to_be_bytes()[1]).collect();
    let flags = TcpFlags::ACK.and(TcpFlags::PSH).and(TcpFlags::FIN).and(TcpFlags::CWR);
    let unit = packet(true, 6, &segment(0xffff_ff00, flags.0, &payload));
    let pieces = pieces(&unit, gso(Gso::Tcp4, 1000), 0);
    let fields: Vec<_> = pieces
        .iter()
        .map(|piece| {
            let Transport::Tcp(tcp) = Packet::read(piece).unwrap().transport else {
                panic!("no segment");
            };
            (piece.len(), word(piece, 4).unwrap(), tcp.sequence, tcp.flags)
        })
        .collect();
    let ack = TcpFlags::ACK;
    assert_eq!(
        fields,
        [
            (1052, 0xffff, 0xffff_ff00, ack.and(TcpFlags::CWR)),
            (1052, 0x0000, 0x0000_02e8, ack),
            (552, 0x0001, 0x0000_06d0, ack.and(TcpFlags::PSH).and(TcpFlags::FIN)),
        ]
    );
    assert!(pieces.iter().all(|piece| is_sound(piece)));
    let joined: Vec<u8> = pieces.iter().flat_map(|piece| &piece[52..]).copied().collect();
    assert_eq!(joined, payload);
    // ECN, addresses, options: as they were.
    assert!(pieces.iter().all(|piece| piece[1] == 2 && piece[12..20] == unit[12..20]));
    assert!(pieces.iter().all(|piece| piece[40..52] == unit[40..52]));
}

#[test]
fn a_tcp_superpacket_on_ipv6_is_cut_as_by_hand() {
    let unit = packet(false, 6, &segment(1, 0x18, &[7; 2856]));
    let pieces = pieces(&unit, gso(Gso::Tcp6, 1428), 0);
    let lengths: Vec<_> = pieces.iter().map(|piece| word(piece, 4).unwrap()).collect();
    assert_eq!(lengths, [1460, 1460]);
    assert_eq!(pieces[0][53], 0x10, "no PSH before the last");
    assert_eq!(pieces[1][53], 0x18);
    assert!(pieces.iter().all(|piece| is_sound(piece)));
}

#[test]
fn udp_superpackets_become_datagrams_of_their_own() {
    for is_v4 in [true, false] {
        let unit = packet(is_v4, 17, &datagram(&[9; 2401]));
        let pieces = pieces(&unit, gso(Gso::Udp, 1200), 0);
        let header = unit.len() - 2409;
        let lengths: Vec<_> =
            pieces.iter().map(|piece| (piece.len() - header, word(piece, header + 4).unwrap())).collect();
        assert_eq!(lengths, [(1208, 1208), (1208, 1208), (9, 9)]);
        assert!(pieces.iter().all(|piece| is_sound(piece)));
    }
}

#[test]
fn a_link_layer_header_stands_before_each_piece() {
    let ethernet = [0xaa; 14];
    let unit = [&ethernet[..], &packet(true, 6, &segment(1, 0x10, &[7; 2000]))].concat();
    let pieces = pieces(&unit, gso(Gso::Tcp4, 1000), 14);
    assert_eq!(pieces.len(), 2);
    assert!(pieces.iter().all(|piece| piece[..14] == ethernet && is_sound(&piece[14..])));
}

#[test]
fn a_unit_that_is_one_packet_stays_as_it_is() {
    let short = packet(true, 6, &segment(1, 0x18, &[7; 100]));
    for offload in [
        Offload::default(),
        gso(Gso::Tcp4, 1000),
        // Says one thing and is another.
        gso(Gso::Tcp6, 10),
        gso(Gso::Udp, 10),
        gso(Gso::Tcp4, 0),
    ] {
        let mut units = Vec::new();
        cut(&short, offload, 0, |said, headers, payload| {
            units.push((said, [headers, payload].concat()));
        });
        assert_eq!(units, [(offload, short.clone())]);
    }
}

proptest! {
    /// Whatever is cut, receivers find every checksum right, and the payload is all there, in order.
    #[test]
    fn pieces_are_sound_and_complete(
        is_v4 in any::<bool>(),
        is_tcp in any::<bool>(),
        payload in prop::collection::vec(any::<u8>(), 1..9000),
        size in 1_u16..2000,
        sequence in any::<u32>(),
        flags in any::<u8>(),
    ) {
        let (kind, transport) = match (is_tcp, is_v4) {
            (true, true) => (Gso::Tcp4, segment(sequence, flags, &payload)),
            (true, false) => (Gso::Tcp6, segment(sequence, flags, &payload)),
            (false, _) => (Gso::Udp, datagram(&payload)),
        };
        let unit = packet(is_v4, if is_tcp { 6 } else { 17 }, &transport);
        let headers = unit.len() - payload.len();
        prop_assume!(payload.len() > usize::from(size));
        let mut whole = Vec::new();
        for piece in pieces(&unit, gso(kind, size), 0) {
            prop_assert!(is_sound(&piece));
            whole.extend_from_slice(&piece[headers..]);
        }
        prop_assert_eq!(whole, payload);
    }

    /// For the bytes of a hostile program, nothing fails, and every byte handed on was in the unit.
    #[test]
    fn no_unit_makes_it_fail(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        header in prop::array::uniform10(any::<u8>()),
        looks_real in any::<bool>(),
        link_header in prop::sample::select(vec![0_usize, 14]),
    ) {
        let bytes = if looks_real {
            [&vec![0; link_header][..], &packet(true, 6, &bytes)].concat()
        } else {
            bytes
        };
        if let Some(offload) = Offload::read(header) {
            let mut handed_on = 0;
            cut(&bytes, offload, link_header, |_, headers, payload| {
                handed_on += if payload.is_empty() { headers.len() } else { payload.len() };
            });
            prop_assert!(handed_on <= bytes.len());
        }
    }
}
