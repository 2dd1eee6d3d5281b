//! Received data of QUIC, and times of acknowledgements.
//!
//! Source: RFC 9000 sections 13.2.1 (when to acknowledge), 13.2.3 (ranges), 13.4.1 (counts of marks), 2.2 (data in any
//! order).
//! Deviations: an ACK frame has at most three ranges, the highest ones, and one count, of CE marks. Packets that only
//! acknowledge have no number of their own, so none is missed. The application reads at once.

use super::packet::{AckFrame, Packet, StreamFrame};
use super::ranges::Ranges;
use crate::SackBlocks;
use crate::common::marks::FIRST_COUNT;
use crate::config::AckPolicy;
use sojourn_base::{Ecn, Instant, Span};

/// Ranges of packet numbers that are remembered. chosen: far more than an ACK frame here holds; numbers below them
/// count as received (RFC 9000 section 13.2.3).
const REMEMBERED: usize = 32;
/// Ranges of an ACK frame.
const REPORTED: usize = 3;

/// Receiving half of a connection.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    policy: AckPolicy,
    numbers: Ranges,
    /// Numbers below count as received.
    forgotten: u64,
    /// One above the highest number, when that packet arrived, and how long it took.
    highest: u64,
    highest_at: Instant,
    one_way_delay: Span,
    data: Ranges,
    /// End of the peer's data.
    end: Option<u64>,
    /// Packets that no ACK frame has reported.
    pending: u32,
    due: bool,
    deadline: Instant,
    /// Marked packets, from [`FIRST_COUNT`] on.
    marks: u16,
}

/// Results of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Brought {
    /// It had arrived before.
    pub(super) duplicate: bool,
    /// Data beyond a hole.
    pub(super) early: Option<(u64, u64)>,
}

impl Receiver {
    pub(super) fn new(policy: AckPolicy) -> Self {
        Self {
            policy,
            numbers: Ranges::default(),
            forgotten: 0,
            highest: 0,
            highest_at: Instant::NEVER,
            one_way_delay: Span::ZERO,
            data: Ranges::default(),
            end: None,
            pending: 0,
            due: false,
            deadline: Instant::NEVER,
            marks: FIRST_COUNT,
        }
    }

    /// A packet that wants to be acknowledged has arrived.
    pub(super) fn on_packet(&mut self, now: Instant, packet: &Packet) -> Brought {
        let number = u64::from(packet.number);
        if number < self.forgotten || self.numbers.insert(number, number + 1) == 0 {
            self.due = true;
            return Brought { duplicate: true, early: None };
        }
        if let Some(end) = self.numbers.keep(REMEMBERED) {
            self.forgotten = end;
        }
        let in_order = number == self.highest;
        if number >= self.highest {
            self.highest = number + 1;
            self.highest_at = now;
            self.one_way_delay = now.saturating_since(packet.sent_at);
        }
        let marked = packet.ecn == Ecn::Ce;
        self.marks = self.marks.wrapping_add(u16::from(marked));
        self.pending += 1;
        if !in_order || marked || self.pending >= self.policy.every {
            self.due = true;
        } else if self.deadline == Instant::NEVER {
            self.deadline = now + self.policy.delay;
        }
        Brought { duplicate: false, early: self.take_data(&packet.stream) }
    }

    fn take_data(&mut self, frame: &StreamFrame) -> Option<(u64, u64)> {
        let (first, end) = (frame.offset, frame.offset + u64::from(frame.length));
        if frame.fin {
            self.end = Some(end);
        }
        let new = self.data.insert(first, end) > 0;
        (new && first > self.data.prefix()).then_some((first, end))
    }

    /// The timer may be due.
    pub(super) fn on_timer(&mut self, now: Instant) {
        if now >= self.deadline {
            self.due = true;
        }
    }

    /// An ACK frame is due now.
    pub(super) const fn wants_acknowledgement(&self) -> bool {
        self.due
    }

    /// Returns the time of the delayed acknowledgement.
    pub(super) const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns true if there is something to report.
    pub(super) const fn has_news(&self) -> bool {
        self.pending > 0 || self.due
    }

    /// Ranges that the next ACK frame has.
    pub(super) fn reported(&self) -> u32 {
        u32::try_from(self.numbers.highest().take(REPORTED).count()).unwrap_or(0)
    }

    /// The ACK frame that is sent now.
    pub(super) fn acknowledge(&mut self, now: Instant) -> AckFrame {
        let mut ranges = SackBlocks::NONE;
        for (first, end) in self.numbers.highest().take(REPORTED) {
            ranges.push(number(first), number(end));
        }
        (self.pending, self.due) = (0, false);
        self.deadline = Instant::NEVER;
        let delay = now.saturating_since(self.highest_at);
        AckFrame { ranges, delay, one_way_delay: self.one_way_delay, ce_count: self.marks }
    }

    /// Bytes delivered in order so far.
    pub(super) fn delivered(&self) -> u64 {
        self.data.prefix()
    }

    /// The peer's data have ended and are all there.
    pub(super) fn is_finished(&self) -> bool {
        self.end.is_some_and(|end| end <= self.delivered())
    }

    /// Bytes that its ranges take.
    pub(super) fn bytes(&self) -> usize {
        self.numbers.bytes() + self.data.bytes()
    }
}

/// Packet numbers have 32 bits, as segments have.
#[expect(clippy::cast_possible_truncation, reason = "made from 32 bits")]
const fn number(number: u64) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StackConfig;

    /// A packet with the 1000 bytes at this place.
    fn packet(number: u32, place: u64, ecn: Ecn) -> Packet {
        let stream = StreamFrame { offset: 1000 * place, length: 1000, fin: false };
        Packet { stream, ..Packet::new(Instant::ZERO, number, 1063, ecn) }
    }

    #[test]
    fn every_second_packet_and_every_surprise_is_acknowledged_at_once() {
        let mut receiver = Receiver::new(StackConfig::QUIC.acknowledge);
        let mut told = std::vec::Vec::new();
        // RFC 9000 section 13.2.1: the second one, a gap, what fills it, a mark; the rest within max_ack_delay.
        for (number, ecn) in [
            (0, Ecn::NotEct),
            (1, Ecn::NotEct),
            (3, Ecn::NotEct),
            (4, Ecn::NotEct),
            (2, Ecn::NotEct),
            (5, Ecn::Ce),
            (6, Ecn::NotEct),
        ] {
            let now = Instant::from_ms(u64::from(number));
            receiver.on_packet(now, &packet(number, number.into(), ecn));
            if receiver.wants_acknowledgement() {
                let frame = receiver.acknowledge(now);
                told.push((number, frame.ranges.as_slice().to_vec(), frame.ce_count));
            }
        }
        assert_eq!(
            told,
            [
                (1, std::vec![(0, 2)], 5),
                (3, std::vec![(3, 4), (0, 2)], 5),
                (2, std::vec![(0, 5)], 5),
                (5, std::vec![(0, 6)], 6),
            ]
        );
        assert_eq!(receiver.deadline(), Instant::from_ms(6) + Span::from_ms(25));
    }

    #[test]
    fn data_beyond_a_hole_are_there_before_what_they_wait_for() {
        let mut receiver = Receiver::new(StackConfig::QUIC.acknowledge);
        let at = |number, place| packet(number, place, Ecn::NotEct);
        let now = Instant::ZERO;
        assert_eq!(receiver.on_packet(now, &at(0, 0)).early, None);
        assert_eq!(receiver.on_packet(now, &at(2, 2)).early, Some((2000, 3000)));
        assert_eq!(receiver.delivered(), 1000);
        assert!(receiver.on_packet(now, &at(2, 2)).duplicate);
        assert_eq!(receiver.on_packet(now, &at(3, 1)), Brought::default());
        assert_eq!(receiver.delivered(), 3000);
    }
}
