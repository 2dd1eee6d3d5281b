//! TCP connections observed between their ends: goodput, repeated segments, repeated SYNs.
//!
//! Goodput of one direction is the progress of the other direction's cumulative acknowledgement, read before that
//! enters the link. A segment is a repetition if its data begins below the highest sequence number that was seen
//! before. Timers and windows cannot be observed here.
//!
//! Source: RFC 9293, 3.4 (sequence numbers modulo 2^32).
//! Units and ranges: bytes of payload; SYN and FIN, which take a sequence number, are not counted.
//! Deviations: a repetition of a segment that was lost before it came here counts as new.

use crate::headers::{TcpFlags, TcpHeader};
use sojourn_base::{Direction, PerDirection};

/// State of one end's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Half {
    /// Sequence number that positions are counted from, once one was seen: that of the first byte.
    base: Option<u32>,
    /// Behind the last byte that was seen.
    highest: u64,
    /// Up to where the other end has acknowledged.
    acknowledged: u64,
    /// Position of its FIN.
    fin_at: Option<u64>,
    has_sent_syn: bool,
    retransmissions: u64,
    syn_retries: u64,
}

impl Half {
    /// Position of a sequence number: the one next to the highest that was seen.
    fn position(&self, base: u32, sequence: u32) -> Option<u64> {
        #[expect(clippy::cast_possible_truncation, reason = "modulo 2^32 by definition")]
        let highest = base.wrapping_add(self.highest as u32);
        let off = i64::from(sequence.wrapping_sub(highest).cast_signed());
        self.highest.checked_add_signed(off)
    }

    /// It sends a segment.
    fn on_sent(&mut self, header: &TcpHeader) {
        let is_syn = header.flags.any(TcpFlags::SYN);
        if is_syn {
            self.syn_retries += u64::from(self.has_sent_syn);
            self.has_sent_syn = true;
        }
        let first = header.sequence.wrapping_add(u32::from(is_syn));
        let base = *self.base.get_or_insert(first);
        // Below the first byte: a probe that asks whether the other end is still there.
        let Some(begin) = self.position(base, first) else {
            return;
        };
        if header.payload > 0 && begin < self.highest {
            self.retransmissions += 1;
        }
        let mut end = begin + header.payload as u64;
        if header.flags.any(TcpFlags::FIN) {
            self.fin_at.get_or_insert(end);
            end += 1;
        }
        self.highest = self.highest.max(end);
    }

    /// Its peer acknowledges: bytes of payload that were not acknowledged before.
    fn on_acknowledged(&mut self, acknowledgement: u32) -> u64 {
        let Some(base) = self.base else { return 0 };
        let Some(position) = self.position(base, acknowledgement) else {
            return 0;
        };
        // An acknowledgement of data that was not sent is ignored.
        if position <= self.acknowledged || position > self.highest {
            return 0;
        }
        let before = core::mem::replace(&mut self.acknowledged, position);
        let data = |position: u64| self.fin_at.map_or(position, |fin| position.min(fin));
        data(position) - data(before)
    }

    /// Returns true if its FIN is acknowledged.
    fn is_closed(&self) -> bool {
        self.fin_at.is_some_and(|fin| self.acknowledged > fin)
    }
}

/// A connection, as it is seen from between its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpSeen {
    /// By the direction in which it sends.
    halves: PerDirection<Half>,
    is_reset: bool,
}

impl TcpSeen {
    /// A segment of `direction` comes: bytes of payload that go the other way and are acknowledged by it for the first
    /// time.
    pub fn on_segment(&mut self, direction: Direction, header: &TcpHeader) -> u64 {
        self.is_reset |= header.flags.any(TcpFlags::RST);
        self.halves[direction].on_sent(header);
        if header.flags.any(TcpFlags::ACK) {
            self.halves[direction.reversed()].on_acknowledged(header.acknowledgement)
        } else {
            0
        }
    }

    /// Returns true if a SYN now would open another connection: both ends have closed this one, or one has reset it.
    pub fn is_over(&self) -> bool {
        self.is_reset || (self.halves.upstream.is_closed() && self.halves.downstream.is_closed())
    }

    /// Segments of a direction that were sent again.
    pub fn retransmissions(&self, direction: Direction) -> u64 {
        self.halves[direction].retransmissions
    }

    /// SYNs that were sent again.
    pub fn syn_retries(&self) -> u64 {
        self.halves.upstream.syn_retries + self.halves.downstream.syn_retries
    }

    /// Bytes of payload of a direction that were acknowledged.
    pub fn goodput(&self, direction: Direction) -> u64 {
        let half = &self.halves[direction];
        let fin = half.fin_at.unwrap_or(u64::MAX);
        half.acknowledged.min(fin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UP: Direction = Direction::Upstream;
    const DOWN: Direction = Direction::Downstream;

    fn segment(sequence: u32, acknowledgement: u32, payload: usize, flags: TcpFlags) -> TcpHeader {
        TcpHeader { sequence, acknowledgement, flags, payload_at: 40, payload }
    }

    fn data(sequence: u32, payload: usize) -> TcpHeader {
        segment(sequence, 1, payload, TcpFlags::ACK)
    }

    fn ack(acknowledgement: u32) -> TcpHeader {
        segment(1, acknowledgement, 0, TcpFlags::ACK)
    }

    #[test]
    fn a_connection_with_handshake_and_end_counts_its_payload_and_no_more() {
        let mut seen = TcpSeen::default();
        assert_eq!(seen.on_segment(UP, &segment(99, 0, 0, TcpFlags::SYN)), 0);
        let syn_ack = TcpFlags::SYN.and(TcpFlags::ACK);
        assert_eq!(seen.on_segment(DOWN, &segment(499, 100, 0, syn_ack)), 0);
        assert_eq!(seen.on_segment(UP, &segment(100, 500, 300, TcpFlags::ACK)), 0);
        assert_eq!(seen.on_segment(DOWN, &segment(500, 400, 0, TcpFlags::ACK)), 300);
        let fin_ack = TcpFlags::FIN.and(TcpFlags::ACK);
        assert_eq!(seen.on_segment(UP, &segment(400, 500, 50, fin_ack)), 0);
        assert!(!seen.is_over());
        assert_eq!(seen.on_segment(DOWN, &segment(500, 451, 0, fin_ack)), 50);
        assert_eq!(seen.on_segment(UP, &segment(451, 501, 0, TcpFlags::ACK)), 0);
        assert!(seen.is_over());
        assert_eq!((seen.goodput(UP), seen.goodput(DOWN)), (350, 0));
        assert_eq!((seen.retransmissions(UP), seen.syn_retries()), (0, 0));
    }

    #[test]
    fn a_syn_again_is_a_retry_and_data_again_a_retransmission() {
        let mut seen = TcpSeen::default();
        seen.on_segment(UP, &segment(99, 0, 0, TcpFlags::SYN));
        seen.on_segment(UP, &segment(99, 0, 0, TcpFlags::SYN));
        assert_eq!(seen.syn_retries(), 1);
        for sequence in [100, 1100, 2100] {
            seen.on_segment(UP, &data(sequence, 1000));
        }
        assert_eq!(seen.retransmissions(UP), 0);
        seen.on_segment(UP, &data(1100, 1000));
        assert_eq!(seen.retransmissions(UP), 1);
        assert_eq!(seen.on_segment(DOWN, &ack(3100)), 3000);
    }

    /// A selective acknowledgement repeats the cumulative one: nothing is counted before the hole is filled.
    #[test]
    fn repeated_acknowledgements_count_nothing() {
        let mut seen = TcpSeen::default();
        for sequence in [0, 1000, 2000] {
            seen.on_segment(UP, &data(sequence, 1000));
        }
        let counted: Vec<u64> = [1000, 1000, 1000, 3000, 2000].map(|number| seen.on_segment(DOWN, &ack(number))).into();
        assert_eq!(counted, [1000, 0, 0, 2000, 0]);
    }

    #[test]
    fn sequence_numbers_wrap() {
        let mut seen = TcpSeen::default();
        let first = u32::MAX - 1499;
        seen.on_segment(UP, &data(first, 1000));
        seen.on_segment(UP, &data(first.wrapping_add(1000), 1000));
        assert_eq!(seen.on_segment(DOWN, &ack(500)), 2000);
        assert_eq!(seen.retransmissions(UP), 0);
    }

    #[test]
    fn a_reset_ends_a_connection_and_wild_numbers_count_nothing() {
        let mut seen = TcpSeen::default();
        seen.on_segment(UP, &data(1000, 100));
        assert_eq!(seen.on_segment(DOWN, &ack(0x9000_0000)), 0);
        assert_eq!(seen.on_segment(DOWN, &ack(1101)), 0, "was not sent");
        assert_eq!(seen.on_segment(DOWN, &ack(900)), 0);
        // A probe of a connection at rest: the byte before the next.
        seen.on_segment(UP, &data(999, 0));
        assert_eq!(seen.retransmissions(UP), 0);
        assert!(!seen.is_over());
        seen.on_segment(DOWN, &segment(1, 0, 0, TcpFlags::RST));
        assert!(seen.is_over());
    }

    proptest! {
        /// However segments of a stream are ordered and repeated, what is acknowledged in the end is what was sent.
        #[test]
        fn goodput_is_the_bytes_of_the_stream(
            first in any::<u32>(),
            sizes in prop::collection::vec(1_usize..1461, 1..60),
            swaps in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        ) {
            let mut at = first;
            let mut segments: Vec<TcpHeader> = Vec::new();
            for size in &sizes {
                segments.push(data(at, *size));
                at = at.wrapping_add(u32::try_from(*size).unwrap());
            }
            for swap in swaps {
                // Reordering among neighbours, and repetitions; the first one comes first.
                let place = swap.index(segments.len());
                if place > 1 {
                    segments.swap(place - 1, place);
                }
                let again = segments[place];
                segments.insert(segments.len(), again);
            }
            let mut seen = TcpSeen::default();
            let mut counted = 0;
            for header in &segments {
                seen.on_segment(UP, header);
                // The receiver acknowledges some number that is there, and then all.
                counted += seen.on_segment(DOWN, &ack(header.sequence));
            }
            counted += seen.on_segment(DOWN, &ack(at));
            prop_assert_eq!(counted, sizes.iter().sum::<usize>() as u64);
            prop_assert_eq!(seen.goodput(UP), counted);
        }
    }
}
