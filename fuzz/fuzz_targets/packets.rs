//! Any octets as what a program hands to the emulator: the header of a kernel's offload, and a unit behind it. What is read
//! stays inside the packet; marking changes the ECN field and the header checksum alone; cutting loses and adds no payload.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_base::Ecn;
use sojourn_emu::headers::{Packet, Transport, mark};
use sojourn_emu::segment::{Offload, cut};

fuzz_target!(|octets: &[u8]| {
    let Some((header, unit)) = octets.split_first_chunk::<{ Offload::BYTES }>() else { return };
    let link_header = if header[0] & 4 == 0 { 0 } else { 14 };
    if let Some(packet) = Packet::read(unit) {
        assert!(packet.length <= unit.len());
        if let Transport::Tcp(tcp) = packet.transport {
            assert_eq!(tcp.payload_at + tcp.payload, packet.length);
        }
        let mut marked = unit.to_vec();
        mark(&mut marked);
        let after = Packet::read(&marked).expect("a mark keeps a packet a packet");
        assert_eq!(after, Packet { ecn: Ecn::Ce, ..packet });
        let changed: Vec<usize> = (0..unit.len()).filter(|at| unit[*at] != marked[*at]).collect();
        assert!(changed.iter().all(|at| [1, 10, 11].contains(at)), "{changed:?}");
    }
    let Some(offload) = Offload::read(*header) else { return };
    let (mut pieces, mut payload) = (0, 0);
    cut(unit, offload, link_header, |offload, headers, rest| {
        pieces += 1;
        payload += rest.len();
        if offload.needs_checksum && !rest.is_empty() {
            let at = usize::from(offload.checksum_start + offload.checksum_offset);
            assert!(at + 2 <= headers.len());
            let piece = [headers, rest].concat();
            let packet = Packet::read(&piece[link_header..]).expect("a piece is a packet");
            assert_eq!(packet.length + link_header, piece.len());
        }
    });
    assert!(pieces >= 1 && payload <= unit.len());
});
