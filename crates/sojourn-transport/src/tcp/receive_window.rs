//! The window that a Linux receiver offers, followed for one reason: each segment that makes it grow is acknowledged at once.
//!
//! Source: Linux 6.12 `tcp_select_initial_window`, `tcp_grow_window`, `tcp_rcv_space_adjust`, `tcp_measure_rcv_mss`, with the defaults of
//! `tcp_rmem` on a machine of 1 GB or more.
//! Units: bytes.
//! Deviations: the sender is not limited by it; the round trip is that of the handshake and what this direction's queue has added
//! since; memory that segments out of order take is not subtracted.

use sojourn_base::{Instant, Span};

/// Part of a buffer that is offered: payload of a full segment in the memory that it takes behind a TUN device (`scaling_ratio`).
/// fitted: the plateau of 80,384 B in a trace of 6.12.
const OFFERED: u64 = 157;
const OF: u64 = 256;
/// First and largest buffer (`tcp_rmem`).
const FIRST_BUFFER: u64 = 131_072;
const LARGEST_BUFFER: u64 = 6_291_456;
/// Segments of the first window: 65,535 B of 1448 B.
const FIRST: u64 = 45;
/// Segments that a round trip is expected to bring first (`TCP_INIT_CWND`).
const FIRST_ROUND: u64 = 10;
/// Segments by which one that arrives makes the window grow.
const STEP: u64 = 2;
/// Segments of room beside twice what a round trip has brought.
const CUSHION: u64 = 16;

/// Window of a receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiveWindow {
    segment: u64,
    /// Offered (`rcv_ssthresh`), and its bound (`window_clamp`).
    offered: u64,
    bound: u64,
    /// Most that one round trip has brought, and the round trip that is counted (`rcvq_space`).
    best: u64,
    from: u64,
    since: Option<Instant>,
    /// Least delay of a segment on its way, in ps.
    least_delay: u64,
}

impl ReceiveWindow {
    pub(crate) fn new(segment_size: u32) -> Self {
        let segment = u64::from(segment_size);
        Self {
            segment,
            offered: FIRST * segment,
            bound: FIRST_BUFFER * OFFERED / OF,
            best: FIRST_ROUND * segment,
            from: 0,
            since: None,
            least_delay: u64::MAX,
        }
    }

    /// A segment has arrived; returns true if the window has grown. `delivered`: bytes in order until now; `round_trip`:
    /// that of the handshake; `delay`: the segment's on its way, in ps.
    pub(crate) fn on_segment(&mut self, now: Instant, delivered: u64, round_trip: Span, delay: u64) -> bool {
        let grows = self.offered < self.bound;
        if grows {
            self.offered = self.bound.min(self.offered + STEP * self.segment);
        }
        self.least_delay = self.least_delay.min(delay);
        let round_trip = round_trip + Span::from_ps(delay - self.least_delay);
        let since = *self.since.get_or_insert(now);
        if now.saturating_since(since) >= round_trip {
            self.end_round(delivered - self.from);
            (self.from, self.since) = (delivered, Some(now));
        }
        grows
    }

    /// A round trip has brought `arrived` bytes.
    fn end_round(&mut self, arrived: u64) {
        if arrived <= self.best {
            return;
        }
        let window = 2 * arrived + CUSHION * self.segment;
        let growth = window * (arrived - self.best) / self.best;
        // Above half of the largest window nothing grows (`__tcp_grow_window`).
        let largest = LARGEST_BUFFER * OFFERED / OF / 2;
        self.bound = self.bound.max(largest.min(window + 2 * growth));
        self.best = arrived;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns where the window grows and where it stands, as runs of segments: rounds of 30 ms that bring these segments, 1 ms apart.
    fn runs(rounds: &[u64]) -> std::vec::Vec<(bool, u32)> {
        let mut window = ReceiveWindow::new(1448);
        let mut found: std::vec::Vec<(bool, u32)> = std::vec::Vec::new();
        let mut delivered = 0;
        for (round, &segments) in rounds.iter().enumerate() {
            for n in 0..segments {
                delivered += 1448;
                let now = Instant::from_ms(1000 + 30 * round as u64 + n);
                let grew = window.on_segment(now, delivered, Span::from_ms(30), 0);
                match found.last_mut() {
                    Some((same, count)) if *same == grew => *count += 1,
                    _ => found.push((grew, 1)),
                }
            }
        }
        found
    }

    /// As in a trace of Linux 6.12 behind 10 Mb/s and 30 ms: six segments to 80,384 B, a plateau until a round of twenty has been counted,
    /// then two segments of growth for each that arrives.
    #[test]
    fn a_window_grows_by_two_segments_for_each_that_arrives_until_it_holds_what_is_expected() {
        // Counted are 11, 20 and 30 segments. 30: 2 x 43,440 + 16 x 1448 = 110,048 B, and as much again because they are half as many
        // again: 220,096 B, so (220,096 - 80,384) / 2896 = 48.2 segments.
        assert_eq!(runs(&[10, 20, 30, 30, 30]), [(true, 6), (false, 25), (true, 49), (false, 40)]);
    }

    #[test]
    fn a_window_that_has_seen_its_round_trip_stands() {
        assert_eq!(runs(&[10, 10, 10, 10, 10, 10]), [(true, 6), (false, 54)]);
    }
}
