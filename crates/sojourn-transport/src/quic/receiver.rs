//! Received data of QUIC, and times of acknowledgements.
//!
//! Source: RFC 9000 sections 13.2.1 (when to acknowledge), 13.2.3 (ranges), 13.4.1 (counts of marks), 2.2 (data in any
//! order).
//! Deviations: an ACK frame has at most three ranges, the highest ones, and one count, of CE marks. Packets that only
//! acknowledge have no number of their own, so none is missed. The application reads at once.

use super::ranges::Ranges;
use crate::config::AckPolicy;
use crate::{Flags, SackBlocks, Segment};
use sojourn_base::{Ecn, Instant};

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
    one_way_delay: u64,
    data: Ranges,
    /// End of the peer's data.
    end: Option<u64>,
    /// Packets that no ACK frame has reported.
    pending: u32,
    due: bool,
    deadline: Instant,
    /// Marked packets, from [`crate::tcp::FIRST_COUNT`] on.
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
            one_way_delay: 0,
            data: Ranges::default(),
            end: None,
            pending: 0,
            due: false,
            deadline: Instant::NEVER,
            marks: crate::tcp::FIRST_COUNT,
        }
    }

    /// A packet that wants to be acknowledged has arrived.
    pub(super) fn on_packet(&mut self, now: Instant, segment: &Segment) -> Brought {
        let number = u64::from(segment.sequence);
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
            self.one_way_delay = now.saturating_since(segment.sent_at).as_ps();
        }
        let marked = segment.ecn == Ecn::Ce;
        self.marks = self.marks.wrapping_add(u16::from(marked));
        self.pending += 1;
        if !in_order || marked || self.pending >= self.policy.every {
            self.due = true;
        } else if self.deadline == Instant::NEVER {
            self.deadline = now + self.policy.delay;
        }
        Brought { duplicate: false, early: self.take_data(segment) }
    }

    fn take_data(&mut self, segment: &Segment) -> Option<(u64, u64)> {
        let first = self.whole_offset(segment.acknowledgement);
        let end = first + u64::from(segment.payload);
        if segment.flags.has(Flags::FIN) {
            self.end = Some(end);
        }
        let new = self.data.insert(first, end) > 0;
        (new && first > self.data.prefix()).then_some((first, end))
    }

    /// The offset whose low half arrived, as near as can be to what is delivered.
    fn whole_offset(&self, low: u32) -> u64 {
        let delivered = self.delivered();
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

    /// Put an ACK frame into `segment`.
    pub(super) fn stamp(&mut self, segment: &mut Segment) {
        let mut ranges = SackBlocks::NONE;
        for (first, end) in self.numbers.highest().take(REPORTED) {
            ranges.push(low_half(first), low_half(end));
        }
        segment.sack = ranges;
        // Its sender takes the delay of the acknowledgement from both times.
        segment.echo = self.highest_at;
        segment.one_way_delay_ps = self.one_way_delay;
        segment.marks = self.marks;
        segment.flags = segment.flags.with(Flags::ACK);
        (self.pending, self.due) = (0, false);
        self.deadline = Instant::NEVER;
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
const fn low_half(number: u64) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests {
    use super::super::testing::packet;
    use super::*;
    use crate::StackConfig;
    use sojourn_base::Span;

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
            receiver.on_packet(now, &Segment { ecn, ..packet(number, 1000) });
            if receiver.wants_acknowledgement() {
                let mut segment = packet(0, 0);
                receiver.stamp(&mut segment);
                told.push((number, segment.sack.as_slice().to_vec(), segment.marks));
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
        let at = |number, offset| Segment { acknowledgement: offset, ..packet(number, 1000) };
        let now = Instant::ZERO;
        assert_eq!(receiver.on_packet(now, &at(0, 0)).early, None);
        assert_eq!(receiver.on_packet(now, &at(2, 2000)).early, Some((2000, 3000)));
        assert_eq!(receiver.delivered(), 1000);
        assert!(receiver.on_packet(now, &at(2, 2000)).duplicate);
        assert_eq!(receiver.on_packet(now, &at(3, 1000)), Brought::default());
        assert_eq!(receiver.delivered(), 3000);
    }

    #[test]
    fn offsets_go_on_beyond_32_bits() {
        let mut receiver = Receiver::new(StackConfig::QUIC.acknowledge);
        let four_gigabytes = 1_u64 << 32;
        for delivered in [0, 5000, four_gigabytes - 100, four_gigabytes, 3 * four_gigabytes + 7] {
            receiver.data = Ranges::default();
            receiver.data.insert(0, delivered);
            for offset in [delivered.saturating_sub(50), delivered, delivered + 1_000_000] {
                assert_eq!(receiver.whole_offset(low_half(offset)), offset, "at {delivered}");
            }
        }
    }
}
