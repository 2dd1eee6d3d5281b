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
    /// Segments that leave now, in superpackets of how many.
    pub(crate) fn quota(&self) -> (u32, u32) {
        let size = self.size();
        let rest = self.room % size;
        (if rest > 0 && self.defers(rest) { self.room - rest } else { self.room }, size)
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
        let quotas: std::vec::Vec<u32> = (1..=9).map(|room| moment(room).quota().0).collect();
        assert_eq!(quotas, [0, 0, 0, 4, 4, 4, 4, 8, 8]);
        // Twice the window per round trip below half the threshold: 8.1.
        let slow_start = Window { threshold: f64::INFINITY, ..WINDOW };
        let fast = Moment { window: &slow_start, ..moment(7) };
        assert_eq!(fast.quota().0, 0);
        assert_eq!(Moment { room: 8, ..fast }.quota().0, 8);
    }

    #[test]
    fn nothing_waits_for_an_acknowledgement_that_is_far_away_or_will_not_come() {
        let soon = moment(1);
        assert_eq!(soon.quota().0, 0);
        assert_eq!(Moment { first_sent_at: Some(Instant::from_ms(9_942)), ..soon }.quota().0, 1, "in 2 ms");
        assert_eq!(Moment { first_sent_at: None, ..soon }.quota().0, 1, "nothing is outstanding");
        assert_eq!(Moment { last_sent_at: Instant::from_ms(9_998), ..soon }.quota().0, 1, "after a pause of 2 ms");
    }

    #[test]
    fn a_third_of_the_window_is_used_at_once() {
        let small = Window { size: 3.0, threshold: 2.0 };
        assert_eq!(Moment { window: &small, flight: 2, ..moment(1) }.quota().0, 1);
    }
}
