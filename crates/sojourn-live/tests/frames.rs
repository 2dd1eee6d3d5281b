//! The bytes of frames.

use proptest::prelude::*;
use sojourn_live::frame::{Frame, Kind, NoFrame};

/// The vector of the specification, 5.3: link 0, bins of 1 ms from number 5000 on, two rows of a backlog.
fn vector() -> (Frame, Vec<u8>) {
    let frame = Frame {
        kind: Kind::Series,
        rewound: false,
        generation: 7,
        side: 1,
        reached_ns: 5_002_000_000,
        series: 0,
        level: 0,
        first: 5000,
        rows: 2,
        values: vec![0.0, 0.0, 1500.0, 3000.0, 1500.0, 0.0],
    };
    let mut bytes = Vec::new();
    bytes.extend(b"SJL1\x01\x00\x00\x00\x07\x00\x00\x00\x01\x00\x00\x00");
    bytes.extend(5_002_000_000_u64.to_le_bytes());
    bytes.extend([0, 0, 0, 0, 2, 0, 0, 0]);
    bytes.extend(5000_u64.to_le_bytes());
    for value in [0.0_f32, 0.0, 1500.0, 3000.0, 1500.0, 0.0] {
        bytes.extend(value.to_le_bytes());
    }
    (frame, bytes)
}

#[test]
fn two_rows_of_a_backlog_are_sixty_four_bytes() {
    let (frame, expected) = vector();
    let mut bytes = Vec::new();
    frame.write(&mut bytes);
    assert_eq!(bytes.len(), 64);
    assert_eq!(bytes, expected);
    assert_eq!(Frame::read(&bytes), Ok(frame));
}

#[test]
fn a_frame_that_ends_within_a_column_is_refused() {
    let (_, bytes) = vector();
    for length in 0..bytes.len() {
        // Whole columns fewer are a frame of fewer columns; nothing else is one.
        let fewer = [48, 56].contains(&length);
        assert_eq!(Frame::read(&bytes[..length]).is_ok(), fewer, "{length} bytes");
    }
}

#[test]
fn other_beginnings_and_kinds_are_refused() {
    let (_, bytes) = vector();
    let mut other = bytes.clone();
    other[3] = b'2';
    assert_eq!(Frame::read(&other), Err(NoFrame::Magic));
    for kind in [0, 6, 255] {
        let mut other = bytes.clone();
        other[4] = kind;
        assert_eq!(Frame::read(&other), Err(NoFrame::Kind));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let whole: Vec<u8> = b"SJL1\x01\0".iter().copied().chain(bytes).collect();
        if let Ok(frame) = Frame::read(&whole) {
            prop_assert!(frame.rows == 0 || frame.values.len() % frame.rows as usize == 0);
        }
    }
}
