//! Any octets as a capture, fed in pieces: it is read or refused in words, pieces of another size give the same, and what is kept of
//! packets stays within what a capture can be. The first octet says how large pieces are, and whether a header is put before, or the
//! octets are frames of one of the link types that are read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_capture::flows::Flows;
use sojourn_capture::writer::{LinkType, PcapWriter, PcapngWriter};
use sojourn_capture::Reader;

/// Flows with their packets, and whether the file is cut off; or what is wrong with it.
fn read(octets: &[u8], piece: usize) -> Result<(Flows, bool), String> {
    let (mut reader, mut flows) = (Reader::new(), Flows::default());
    for piece in octets.chunks(piece) {
        reader
            .feed(piece, &mut |interface, frame| flows.add(interface, frame))
            .map_err(|problem| {
                assert!(!problem.message.is_empty() && !problem.message.contains('\n'));
                assert!(!problem.hint.is_empty());
                problem.message
            })?;
    }
    let is_cut = reader.finish().map_err(|problem| problem.message)?;
    Ok((flows, is_cut))
}

/// Link types that are read.
const LINKS: [u32; 14] = [0, 1, 9, 12, 14, 51, 101, 108, 113, 127, 143, 228, 229, 276];

/// A capture of one link type: an octet chooses it, and each frame is the octets after its length.
fn framed(octets: &[u8], file: &mut Vec<u8>) {
    let Some((link, mut rest)) = octets.split_first() else { return };
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, LINKS[usize::from(*link) % LINKS.len()]] {
        file.extend_from_slice(&u32::to_le_bytes(word));
    }
    let mut seconds = 0;
    while let Some((length, after)) = rest.split_first() {
        let (frame, after) = after.split_at(after.len().min(usize::from(*length)));
        let length = u32::try_from(frame.len()).expect("an octet");
        for word in [seconds, 0, length, length] {
            file.extend_from_slice(&u32::to_le_bytes(word));
        }
        file.extend_from_slice(frame);
        (seconds, rest) = (seconds + 1, after);
    }
}

fuzz_target!(|octets: &[u8]| {
    let Some((choice, rest)) = octets.split_first() else { return };
    let mut file = Vec::new();
    match choice % 4 {
        0 => {
            let _ = PcapWriter::new(&mut file, LinkType::Raw).expect("memory takes all");
        }
        1 => {
            let mut writer = PcapngWriter::new(&mut file).expect("memory takes all");
            let _ = writer.interface("here", LinkType::Ethernet).expect("memory takes all");
        }
        2 => framed(rest, &mut file),
        _ => {}
    }
    if choice % 4 != 2 {
        file.extend_from_slice(rest);
    }
    let whole = read(&file, file.len().max(1));
    let pieces = read(&file, 1 + usize::from(choice / 4));
    match (whole, pieces) {
        (Ok((flows, cut)), Ok((others, also))) => {
            assert_eq!((flows.as_slice().len(), cut), (others.as_slice().len(), also));
            for (flow, other) in flows.as_slice().iter().zip(others.as_slice()) {
                let packets = flow.packets();
                assert_eq!(packets, other.packets());
                assert!(packets.windows(2).all(|pair| pair[0].at <= pair[1].at));
                assert!(packets.iter().all(|packet| packet.dscp < 64 && packet.length >= 20));
            }
        }
        (one, other) => assert_eq!(one.err(), other.err()),
    }
});
