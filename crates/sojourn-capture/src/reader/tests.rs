use super::*;
use crate::flows::Flows;
use crate::writer::{LinkType, PcapWriter, PcapngWriter};
use proptest::prelude::*;
use sojourn_base::Span;

/// An IPv4 datagram of this length, DSCP 45, Not-ECT, from 10.0.0.1:5000 to 10.0.0.2:6000.
fn datagram(length: u16) -> Vec<u8> {
    let mut packet = vec![0; usize::from(length)];
    packet[0] = 0x45;
    packet[1] = 45 << 2;
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    packet[9] = 17;
    packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    packet[20..24].copy_from_slice(&[0x13, 0x88, 0x17, 0x70]);
    packet
}

fn classic() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = PcapWriter::new(&mut bytes, LinkType::Raw).unwrap();
    for (at, length) in [(7, 200), (1_000_000_007, 1500), (1_020_000_008, 60)] {
        writer.packet(at, length.into(), &datagram(length)).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

fn next_generation() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = PcapngWriter::new(&mut bytes).unwrap();
    let places = ["upstream-entered", "upstream-left"].map(|name| writer.interface(name, LinkType::Raw).unwrap());
    for (place, at, length) in [(0, 7, 200), (1, 1_000_000_007, 1500), (0, 1_020_000_008, 61)] {
        let packet = datagram(length);
        let comment = if place == 0 { "dropped: target" } else { "" };
        writer.packet(places[place], at, (length.into(), &packet), comment).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

/// Time, place and length of each frame, and whether the file ends within a packet.
type Read = (Vec<(u64, u32, u32)>, bool);

fn read(bytes: &[u8], piece: usize) -> Result<Read, Problem> {
    let (mut reader, mut found) = (Reader::new(), Vec::new());
    for piece in bytes.chunks(piece.max(1)) {
        reader.feed(piece, &mut |_, frame| {
            found.push((frame.at_ns, frame.interface, frame.length));
            Ok(())
        })?;
    }
    Ok((found, reader.finish()?))
}

#[test]
fn what_was_written_is_read_in_pieces_of_any_size() {
    for piece in [1, 3, 16, 100, 10_000] {
        let (found, is_cut) = read(&classic(), piece).unwrap();
        let expected = [(7, 0, 200), (1_000_000_007, 0, 1500), (1_020_000_008, 0, 60)];
        assert_eq!((&found[..], is_cut), (&expected[..], false));
        let (found, is_cut) = read(&next_generation(), piece).unwrap();
        let expected = [(7, 0, 200), (1_000_000_007, 1, 1500), (1_020_000_008, 0, 61)];
        assert_eq!((&found[..], is_cut), (&expected[..], false));
    }
}

#[test]
fn names_and_resolutions_of_interfaces_are_read() {
    let mut reader = Reader::new();
    reader.feed(&next_generation(), &mut |_, _| Ok(())).unwrap();
    let names: Vec<&str> = reader.interfaces().iter().map(|place| &*place.name).collect();
    assert_eq!(names, ["upstream-entered", "upstream-left"]);
    assert!(reader.interfaces().iter().all(|place| !place.is_coarse));
}

/// Every truncation is a message, or a file with fewer packets that is known to be cut off.
#[test]
fn a_file_that_is_cut_off_anywhere_is_told() {
    for (bytes, whole) in [(classic(), [24, 136, 248, 324]), (next_generation(), [0; 4])] {
        for length in 0..bytes.len() {
            match read(&bytes[..length], 64) {
                Err(problem) => assert!(!problem.message.is_empty() && !problem.hint.is_empty()),
                Ok((found, is_cut)) => {
                    assert!(found.len() < 3);
                    // Between two packets, the classic form does not show a cut.
                    assert!(is_cut || whole[0] == 0 || whole.contains(&length), "{length}");
                }
            }
        }
    }
}

#[test]
fn microseconds_and_big_endians_are_read() {
    let mut bytes = vec![0xa1, 0xb2, 0xc3, 0xd4, 0, 2, 0, 4];
    bytes.extend([0; 8]);
    bytes.extend([0, 0, 0, 96, 0, 0, 0, 101]);
    bytes.extend([0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 60, 0, 0, 5, 0xdc]);
    bytes.extend(datagram(60));
    let (found, _) = read(&bytes, 7).unwrap();
    assert_eq!(found, [(1_000_005_000, 0, 1500)]);
}

/// An interface whose times are in 2^-10 s, from 100 s on: 2048 units are 2 s.
#[test]
fn times_have_the_resolution_and_offset_of_their_interface() {
    let mut bytes = next_generation()[..48].to_vec();
    let section = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    bytes.truncate(section);
    let block = |kind: u32, body: &[u8]| {
        let length = u32::try_from(body.len() + 12).unwrap().to_le_bytes();
        [&kind.to_le_bytes()[..], &length, body, &length].concat()
    };
    let mut interface = vec![101, 0, 0, 0, 0, 0, 0, 0];
    interface.extend([9, 0, 1, 0, 0x8a, 0, 0, 0]);
    interface.extend([14, 0, 8, 0, 100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(block(1, &interface));
    let mut packet = Vec::new();
    for word in [0_u32, 0, 2048, 60, 60] {
        packet.extend(word.to_le_bytes());
    }
    packet.extend(datagram(60));
    bytes.extend(block(6, &packet));
    // Statistics: 17 packets were not captured.
    let mut statistics = vec![0; 12];
    statistics.extend([5, 0, 8, 0, 17, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(block(5, &statistics));
    let mut reader = Reader::new();
    let mut found = Vec::new();
    reader
        .feed(&bytes, &mut |_, frame| {
            found.push(frame.at_ns);
            Ok(())
        })
        .unwrap();
    assert_eq!(found, [102_000_000_000]);
    assert_eq!((reader.interfaces()[0].missed, reader.interfaces()[0].is_coarse), (17, true));
}

#[test]
fn what_is_no_capture_is_told_with_what_would_be_right() {
    let told = |bytes: &[u8]| {
        let problem = read(bytes, 64).unwrap_err();
        format!("{problem} ({})", problem.hint)
    };
    assert_eq!(told(b"\x1f\x8b\x08\x00rest"), "is no packet capture (it is compressed: gunzip it first)");
    assert!(told(b"hello world").starts_with("is no packet capture (a pcap or pcapng file"));
    assert!(told(b"").starts_with("is empty"));
    let mut huge = classic();
    huge[32..36].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(told(&huge).starts_with("byte 24: a packet of 4294967295 B"));
}

#[test]
fn flows_are_told_apart_and_sorted_by_their_stamps() {
    let mut bytes = Vec::new();
    let mut writer = PcapWriter::new(&mut bytes, LinkType::Raw).unwrap();
    let mut back = datagram(80);
    back[12..20].copy_from_slice(&[10, 0, 0, 2, 10, 0, 0, 1]);
    back[20..24].copy_from_slice(&[0x17, 0x70, 0x13, 0x88]);
    for (at, packet) in [(300, datagram(100)), (200, datagram(101)), (250, back)] {
        let length = u32::try_from(packet.len()).unwrap();
        writer.packet(at, length, &packet).unwrap();
    }
    writer.finish().unwrap();
    let (mut reader, mut flows) = (Reader::new(), Flows::default());
    reader.feed(&bytes, &mut |interface, frame| flows.add(interface, frame)).unwrap();
    let [there, back] = flows.as_slice() else {
        panic!("{flows:?}");
    };
    assert_eq!((there.len(), there.bytes, there.out_of_order), (2, 201, 1));
    let packets = there.packets();
    let read: Vec<_> = packets.iter().map(|packet| (packet.at, packet.length)).collect();
    assert_eq!(read, [(Span::ZERO, 101), (Span::from_ns(100), 100)]);
    assert_eq!((packets[0].dscp, packets[0].ecn), (45, sojourn_base::Ecn::NotEct));
    assert_eq!((flows.answer_to(there), flows.answer_to(back)), (Some(1), Some(0)));
}

/// The same capture twice in one file, as `cat` makes it, is one of twice the packets; its clock was set back once for each place.
#[test]
fn sections_of_one_file_are_one_capture_and_a_step_of_the_clock_is_counted() {
    let twice = [next_generation(), next_generation()].concat();
    let (mut reader, mut flows) = (Reader::new(), Flows::default());
    reader.feed(&twice, &mut |interface, frame| flows.add(interface, frame)).unwrap();
    let lengths: Vec<usize> = flows.as_slice().iter().map(crate::flows::Flow::len).collect();
    assert_eq!(lengths, [4, 2]);
    assert_eq!((flows.steps_back, flows.runs_back_ns), (1, 1_020_000_001));
}

proptest! {
    #[test]
    fn no_bytes_make_it_fail(
        mut bytes in prop::collection::vec(any::<u8>(), 0..400),
        form in 0_usize..3,
        piece in 1_usize..80,
    ) {
        let start = [classic(), next_generation(), Vec::new()][form].clone();
        let kept = start.len().min(bytes.len());
        bytes[..kept.min(24)].copy_from_slice(&start[..kept.min(24)]);
        let _ = read(&bytes, piece);
    }

    #[test]
    fn damage_anywhere_is_no_crash(at in any::<prop::sample::Index>(), octet: u8, form: bool) {
        let mut bytes = if form { classic() } else { next_generation() };
        let at = at.index(bytes.len());
        bytes[at] = octet;
        let mut flows = Flows::default();
        let mut reader = Reader::new();
        let _ = reader.feed(&bytes, &mut |interface, frame| flows.add(interface, frame));
    }
}
