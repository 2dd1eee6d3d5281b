//! Round trips of the connections of a capture: from a segment to the acknowledgement that covers it.
//!
//! Source: White 2013 section 1.4, after Allman 2013 (the delay of packets above the shortest of their path is that of buffers);
//! RFC 6298 section 3 (Karn: no sample of what may have been sent twice).
//! Deviations: a segment that is sent again takes all samples with it that are waited for, of that flow.

use crate::headers::{TcpFlags, TcpHeader};
use std::collections::VecDeque;

/// Segments of a flow that wait for an acknowledgement. chosen: more than any window holds; others give no sample.
const MOST_WAITING: usize = 1 << 16;

/// Unacknowledged segments of one direction of a connection, and the samples of acknowledged ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundTrips {
    /// Sequence number behind the last byte of each segment, and when it was captured.
    waiting: VecDeque<(u32, u64)>,
    /// The highest of these so far.
    highest: Option<u32>,
    /// Capture time of a segment, and the time to its acknowledgement, both in ns.
    pub(crate) samples: Vec<(u64, u64)>,
}

/// Returns true if one sequence number comes after another (RFC 9293 section 3.4).
const fn is_after(one: u32, other: u32) -> bool {
    let ahead = one.wrapping_sub(other);
    ahead != 0 && ahead < 1 << 31
}

impl RoundTrips {
    /// This direction sends a segment.
    pub(crate) fn on_sent(&mut self, at_ns: u64, header: &TcpHeader) {
        let flags = [TcpFlags::SYN, TcpFlags::FIN];
        let of_flags = flags.into_iter().filter(|flag| header.flags.any(*flag));
        let length = header.payload + of_flags.count();
        let Some(length) = u32::try_from(length).ok().filter(|length| *length > 0) else {
            return;
        };
        let end = header.sequence.wrapping_add(length);
        if self.highest.is_some_and(|highest| !is_after(end, highest)) {
            self.waiting.clear();
            return;
        }
        self.highest = Some(end);
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push_back((end, at_ns));
        }
    }

    /// The other direction acknowledges. The newest segment that it covers is the one that made it.
    pub(crate) fn on_acknowledgement(&mut self, at_ns: u64, header: &TcpHeader) {
        if !header.flags.any(TcpFlags::ACK) {
            return;
        }
        let mut newest = None;
        while let Some(&(end, sent_ns)) = self.waiting.front()
            && !is_after(end, header.acknowledgement)
        {
            newest = Some(sent_ns);
            self.waiting.pop_front();
        }
        if let Some(sent_ns) = newest
            && let Some(round_trip) = at_ns.checked_sub(sent_ns)
        {
            self.samples.push((sent_ns, round_trip));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(sequence: u32, payload: usize, acknowledgement: u32, flags: TcpFlags) -> TcpHeader {
        TcpHeader { sequence, acknowledgement, flags, payload_at: 40, payload }
    }

    fn data(sequence: u32) -> TcpHeader {
        header(sequence, 1000, 0, TcpFlags::ACK)
    }

    fn ack(acknowledgement: u32) -> TcpHeader {
        header(0, 0, acknowledgement, TcpFlags::ACK)
    }

    #[test]
    fn an_acknowledgement_answers_the_newest_segment_that_it_covers() {
        let mut trips = RoundTrips::default();
        trips.on_sent(0, &header(99, 0, 0, TcpFlags::SYN));
        trips.on_acknowledgement(30, &ack(100));
        trips.on_sent(100, &data(100));
        trips.on_sent(110, &data(1100));
        trips.on_acknowledgement(150, &ack(2100));
        trips.on_acknowledgement(160, &ack(2100));
        assert_eq!(trips.samples, [(0, 30), (110, 40)]);
    }

    #[test]
    fn what_is_sent_again_gives_no_sample() {
        let mut trips = RoundTrips::default();
        trips.on_sent(0, &data(0));
        trips.on_sent(10, &data(1000));
        trips.on_sent(500, &data(0));
        trips.on_acknowledgement(530, &ack(2000));
        assert!(trips.samples.is_empty());
        trips.on_sent(600, &data(2000));
        trips.on_acknowledgement(640, &ack(3000));
        assert_eq!(trips.samples, [(600, 40)]);
    }

    #[test]
    fn numbers_wrap_and_clocks_that_go_back_give_nothing() {
        let mut trips = RoundTrips::default();
        trips.on_sent(0, &data(u32::MAX - 499));
        trips.on_acknowledgement(20, &ack(500));
        trips.on_sent(100, &data(500));
        trips.on_acknowledgement(90, &ack(1500));
        assert_eq!(trips.samples, [(0, 20)]);
    }
}
