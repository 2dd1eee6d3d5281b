//! A packet and its frames, by the names of RFC 9000; converted at the edge, where the network carries [`Segment`]s.
//!
//! Source: RFC 9000 sections 17.1 (number), 19.3 (ACK), 19.6 (CRYPTO), 19.8 (STREAM).
//! Deviations: one STREAM frame, of one stream; an ACK frame has at most three ranges and one count, of CE marks. An offset is
//! sent as its low 32 bits, and read as the whole one that is nearest to what was delivered.

use crate::{Flags, SackBlocks, Segment};
use sojourn_base::{Ecn, Instant, Span};

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    /// Packet Number.
    pub(super) number: u32,
    /// Bytes of its IP packet.
    pub(super) length: u32,
    pub(super) sent_at: Instant,
    pub(super) ecn: Ecn,
    /// A CRYPTO frame with the handshake of its end.
    pub(super) crypto: bool,
    pub(super) stream: StreamFrame,
    pub(super) ack: Option<AckFrame>,
}

/// A STREAM frame; without data and FIN there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StreamFrame {
    /// Offset.
    pub(super) offset: u64,
    /// Length.
    pub(super) length: u32,
    /// FIN: the data end here.
    pub(super) fin: bool,
}

/// An ACK frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AckFrame {
    /// ACK Ranges `[first, last + 1)`, the highest first.
    pub(super) ranges: SackBlocks,
    /// ACK Delay: since the Largest Acknowledged came.
    pub(super) delay: Span,
    /// One-way delay of the largest, for controllers that ask (LEDBAT).
    pub(super) one_way_delay: Span,
    /// ECN-CE Count, from [`crate::common::marks::FIRST_COUNT`] on.
    pub(super) ce_count: u16,
}

impl Packet {
    /// A packet without frames.
    pub(super) const fn new(now: Instant, number: u32, length: u32, ecn: Ecn) -> Self {
        let stream = StreamFrame { offset: 0, length: 0, fin: false };
        Self { number, length, sent_at: now, ecn, crypto: false, stream, ack: None }
    }

    /// Returns true if the packet asks for an acknowledgement; without any frame it is a PING (RFC 9000 section 13.2.1).
    pub(super) const fn is_ack_eliciting(&self) -> bool {
        self.crypto || self.stream.length > 0 || self.stream.fin || self.ack.is_none()
    }

    /// Reads a packet that arrives after `delivered` bytes of its stream.
    pub(super) fn read(segment: &Segment, delivered: u64) -> Self {
        Self {
            number: segment.sequence,
            length: segment.length,
            sent_at: segment.sent_at,
            ecn: segment.ecn,
            crypto: segment.flags.has(Flags::SYN),
            stream: StreamFrame {
                offset: whole_offset(segment.acknowledgement, delivered),
                length: segment.payload,
                fin: segment.flags.has(Flags::FIN),
            },
            ack: segment.flags.has(Flags::ACK).then(|| AckFrame {
                ranges: segment.sack,
                delay: segment.sent_at.saturating_since(segment.echo),
                one_way_delay: Span::from_ps(segment.one_way_delay_ps),
                ce_count: segment.marks,
            }),
        }
    }
}

impl From<Packet> for Segment {
    fn from(packet: Packet) -> Self {
        let set = |is_set, flag| if is_set { flag } else { Flags::NONE };
        let ack = packet.ack.as_ref();
        Self {
            sequence: packet.number,
            acknowledgement: low_half(packet.stream.offset),
            payload: packet.stream.length,
            length: packet.length,
            sent_at: packet.sent_at,
            echo: ack.map_or(Instant::NEVER, |ack| packet.sent_at - ack.delay),
            one_way_delay_ps: ack.map_or(0, |ack| ack.one_way_delay.as_ps()),
            flags: Flags::ENCRYPTED
                .with(set(packet.crypto, Flags::SYN))
                .with(set(packet.stream.fin, Flags::FIN))
                .with(set(ack.is_some(), Flags::ACK)),
            ecn: packet.ecn,
            marks: ack.map_or(0, |ack| ack.ce_count),
            sack: ack.map_or(SackBlocks::NONE, |ack| ack.ranges),
        }
    }
}

/// The offset whose low half arrived, as near as can be to what is delivered.
fn whole_offset(low: u32, delivered: u64) -> u64 {
    let base = delivered & !u64::from(u32::MAX);
    let offset = base | u64::from(low);
    let half = 1 << 31;
    if offset + half < delivered {
        offset + 2 * half
    } else if offset >= delivered + half && base > 0 {
        offset - 2 * half
    } else {
        offset
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
const fn low_half(offset: u64) -> u32 {
    offset as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_packet_is_read_as_it_was_sent(
            (number, length, payload) in (any::<u32>(), any::<u32>(), any::<u32>()),
            (delivered, ahead) in (0_u64..1 << 40, 0_u64..1 << 31),
            (crypto, fin, marked) in (any::<bool>(), any::<bool>(), any::<bool>()),
            ack in proptest::option::of((0_u32..1000, 0_u64..1000, 0_u64..1000, any::<u16>())),
        ) {
            let ack = ack.map(|(first, delay, one_way_delay, ce_count)| {
                let mut ranges = SackBlocks::NONE;
                ranges.push(first, first + 2);
                let (delay, one_way_delay) = (Span::from_us(delay), Span::from_us(one_way_delay));
                AckFrame { ranges, delay, one_way_delay, ce_count }
            });
            let ecn = if marked { Ecn::Ce } else { Ecn::NotEct };
            let stream = StreamFrame { offset: delivered + ahead, length: payload, fin };
            let packet = Packet { crypto, stream, ack, ..Packet::new(Instant::from_s(1), number, length, ecn) };
            prop_assert_eq!(Packet::read(&packet.into(), delivered), packet);
        }
    }

    #[test]
    fn offsets_go_on_beyond_32_bits() {
        let four_gigabytes = 1_u64 << 32;
        for delivered in [0, 5000, four_gigabytes - 100, four_gigabytes, 3 * four_gigabytes + 7] {
            for offset in [delivered.saturating_sub(50), delivered, delivered + 1_000_000] {
                assert_eq!(whole_offset(low_half(offset), delivered), offset, "at {delivered}");
            }
        }
    }
}
