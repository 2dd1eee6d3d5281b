//! Superpackets: new data that a sender with segmentation offload hands over at once, and waits for.
//!
//! Source: Linux 6.12 `tcp_update_pacing_rate`, `tcp_tso_autosize`, `tcp_tso_should_defer`, and the defaults of its settings;
//! `__tcp_transmit_skb`: the last segment of a superpacket has PSH, one that leaves alone has not.
//! Deviations: the data that wait are one piece, however they were written; the receive window is not asked; the larger superpackets of
//! round trips below 16 ms (`tcp_tso_rtt_log`) are those of longer ones.

use crate::congestion::{Window, whole};
use sojourn_base::{Instant, Span};

/// Segments of the largest superpacket: 65,536 B of 1448 B (`GSO_LEGACY_MAX_SIZE`).
const MOST: u32 = 45;
/// Segments of the smallest one (`tcp_min_tso_segs`).
const LEAST: u32 = 2;
/// Time whose data make a superpacket, at the pacing rate: 2⁻¹⁰ s (`sk_pacing_shift`).
const TIME_S: f64 = 1.0 / 1024.0;
/// Pacing rate as a multiple of the window per round trip: below half the threshold, and from there on (`tcp_pacing_ss_ratio`,
/// `tcp_pacing_ca_ratio`).
const RATIOS: [f64; 2] = [2.0, 1.2];
/// A room of this part of the window is used at once (`tcp_tso_win_divisor`).
const DIVISOR: u32 = 3;
/// The last data left at most this long ago, and the next acknowledgement is at most this far away.
const RECENT: Span = Span::from_ms(1);

/// Segments that leave at once, in superpackets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    /// Segments of the superpacket that is leaving, and those of it that are left.
    together: u32,
    left: u32,
    /// Segments of the superpackets after it.
    after: u32,
    /// Most segments of a superpacket.
    size: u32,
}

impl Leaving {
    /// Any number of segments, none of which ends a superpacket.
    pub(crate) const SINGLE: Self = Self::of(u32::MAX, u32::MAX);

    const fn of(segments: u32, size: u32) -> Self {
        let together = if size < segments { size } else { segments };
        Self { together, left: together, after: segments - together, size }
    }

    /// Segments that are left.
    pub(crate) const fn segments(&self) -> u32 {
        self.left + self.after
    }

    /// A segment leaves; returns true if it is the last of several that are one superpacket.
    pub(crate) const fn ends_superpacket(&mut self) -> bool {
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        let ended = self.together > 1;
        *self = Self::of(self.after, self.size);
        ended
    }
}

/// A sender whose window has room for new data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    pub(crate) now: Instant,
    pub(crate) window: &'a Window,
    /// Segments outstanding.
    pub(crate) flight: u32,
    /// Segments that the window has room for.
    pub(crate) room: u32,
    pub(crate) smoothed: Span,
    pub(crate) last_sent_at: Instant,
    /// Time at which the first outstanding segment was sent, the last time; `None` without one.
    pub(crate) first_sent_at: Option<Instant>,
}

impl Moment<'_> {
    /// Superpackets that leave now.
    pub(crate) fn leaving(&self) -> Leaving {
        let size = self.size();
        let rest = self.room % size;
        Leaving::of(if rest > 0 && self.defers(rest) { self.room - rest } else { self.room }, size)
    }

    fn size(&self) -> u32 {
        let ratio = RATIOS[usize::from(self.window.size >= self.window.threshold / 2.0)];
        let in_time = ratio * f64::from(self.flight.max(self.window.whole())) * TIME_S / self.smoothed.as_secs_f64();
        whole(in_time).clamp(LEAST, MOST)
    }

    /// Returns true if `rest` segments wait for more room.
    fn defers(&self, rest: u32) -> bool {
        let Some(first_sent_at) = self.first_sent_at else {
            return false;
        };
        let sends_now = rest < self.room;
        let is_recent = sends_now || self.now.saturating_since(self.last_sent_at) <= RECENT;
        let until_answer = first_sent_at.saturating_add(self.smoothed).saturating_since(self.now);
        is_recent && rest * DIVISOR < self.window.whole() && until_answer <= RECENT.min(self.smoothed / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 50 Mb/s in 60 ms: 250 segments outstanding, all congestion avoidance.
    const WINDOW: Window = Window { size: 250.0, threshold: 175.0 };

    fn moment(room: u32) -> Moment<'static> {
        let now = Instant::from_s(10);
        Moment {
            now,
            window: &WINDOW,
            flight: 250 - room,
            room,
            smoothed: Span::from_ms(60),
            last_sent_at: Instant::from_ms(9_999),
            first_sent_at: Some(Instant::from_ms(9_940)),
        }
    }

    #[test]
    fn a_millisecond_of_the_pacing_rate_leaves_at_once() {
        // 1.2 x 250 / 0.06 s / 1024 = 4.88 segments.
        let quotas: std::vec::Vec<u32> = (1..=9).map(|room| moment(room).leaving().segments()).collect();
        assert_eq!(quotas, [0, 0, 0, 4, 4, 4, 4, 8, 8]);
        // Twice the window per round trip below half the threshold: 8.1.
        let slow_start = Window { threshold: f64::INFINITY, ..WINDOW };
        let fast = Moment { window: &slow_start, ..moment(7) };
        assert_eq!(fast.leaving().segments(), 0);
        assert_eq!(Moment { room: 8, ..fast }.leaving().segments(), 8);
    }

    #[test]
    fn nothing_waits_for_an_acknowledgement_that_is_far_away_or_will_not_come() {
        let soon = moment(1);
        assert_eq!(soon.leaving().segments(), 0);
        assert_eq!(Moment { first_sent_at: Some(Instant::from_ms(9_942)), ..soon }.leaving().segments(), 1, "in 2 ms");
        assert_eq!(Moment { first_sent_at: None, ..soon }.leaving().segments(), 1, "nothing is outstanding");
        assert_eq!(
            Moment { last_sent_at: Instant::from_ms(9_998), ..soon }.leaving().segments(),
            1,
            "after a pause of 2 ms"
        );
    }

    #[test]
    fn a_third_of_the_window_is_used_at_once() {
        let small = Window { size: 3.0, threshold: 2.0 };
        assert_eq!(Moment { window: &small, flight: 2, ..moment(1) }.leaving().segments(), 1);
    }

    #[test]
    fn the_last_of_each_superpacket_of_several_ends_it() {
        let ends = |segments, size| {
            let mut leaving = Leaving::of(segments, size);
            (0..segments).map(|_| leaving.ends_superpacket()).collect::<std::vec::Vec<_>>()
        };
        assert_eq!(ends(5, 2), [false, true, false, true, false]);
        assert_eq!(ends(7, 4), [false, false, false, true, false, false, true]);
        assert_eq!(ends(1, 2), [false]);
    }
}
