//! HyStart: leave slow start when the delay rises, or when acknowledgements have come in one train for half a
//! round trip.
//!
//! Source: Ha and Rhee, "Taming the elephants: new TCP slow start", 2011; Linux `tcp_cubic.c`
//! (`hystart_update`) for the constants and their bounds.
//! Deviations: Linux allows less than a millisecond for superpackets above 2 Gb/s (`hystart_ack_delay`).

use super::{Ack, Window};
use sojourn_base::{Instant, Span};

/// State of one slow start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HyStart {
    paced: bool,
    superpackets: bool,
    round_end: u32,
    samples: u32,
    round_began: Instant,
    last_ack: Instant,
    /// Smallest sample of the connection, and of this round.
    minimum: Span,
    current: Span,
}

/// Window from which on slow start may end (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;
/// Samples of a round that make its minimum (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u32 = 8;
/// Bounds of the rise that counts (`HYSTART_DELAY_MIN`, `HYSTART_DELAY_MAX`).
const MINIMUM_RISE: Span = Span::from_ms(4);
const MAXIMUM_RISE: Span = Span::from_ms(16);
/// A round's minimum may exceed that of the connection by this part of it.
const RISE_DIVISOR: u64 = 8;
/// Acknowledgements that follow within this time are one train (`hystart_ack_delta_us`).
const TRAIN: Span = Span::from_ms(2);
/// Time that superpackets may take (`hystart_ack_delay`).
const SUPERPACKETS: Span = Span::from_ms(1);

impl HyStart {
    /// `paced`: the sender spreads its segments; `superpackets`: it sends several at once.
    pub(crate) const fn new(paced: bool, superpackets: bool) -> Self {
        Self {
            paced,
            superpackets,
            round_end: 0,
            samples: 0,
            round_began: Instant::ZERO,
            last_ack: Instant::ZERO,
            minimum: Span::MAX,
            current: Span::MAX,
        }
    }

    /// Follow rounds, trains and delays; true if slow start is over.
    pub(crate) fn on_ack(&mut self, ack: &Ack, window: &Window) -> bool {
        let Some(sample) = ack.round_trip else {
            return false;
        };
        self.minimum = self.minimum.min(sample);
        if ack.first > self.round_end {
            self.round_end = ack.next;
            self.samples = 0;
            self.current = Span::MAX;
            (self.round_began, self.last_ack) = (ack.now, ack.now);
        }
        if window.size < LOW_WINDOW {
            return false;
        }
        if ack.now.saturating_since(self.last_ack) <= TRAIN {
            self.last_ack = ack.now;
            let allowance = if self.superpackets { SUPERPACKETS } else { Span::ZERO };
            let longest = self.minimum + allowance;
            let longest = if self.paced { longest } else { longest / 2 };
            if ack.now.saturating_since(self.round_began) > longest {
                return true;
            }
        }
        self.current = self.current.min(sample);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let rise = (self.minimum / RISE_DIVISOR).clamp(MINIMUM_RISE, MAXIMUM_RISE);
        self.current > self.minimum + rise
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::ack_at;
    use super::*;

    const LARGE: Window = Window { size: 20.0, threshold: f64::INFINITY };

    /// The acknowledgement, counted from 1, that ends slow start: `delays` of a round in ms that began 10 s on, one
    /// acknowledgement each `spacing_us`; a round of 40 ms came before.
    fn ends_at(delays: &[u64], spacing_us: u64, window: &Window) -> Option<usize> {
        ends(delays, spacing_us, window, false)
    }

    fn ends(delays: &[u64], spacing_us: u64, window: &Window, superpackets: bool) -> Option<usize> {
        let mut hystart = HyStart::new(false, superpackets);
        let ack = |at, ms, first| Ack { round_trip: Some(Span::from_ms(ms)), first, next: 100, ..ack_at(at, 1) };
        assert!(!hystart.on_ack(&Ack { next: 9, ..ack(Instant::from_s(1), 40, 1) }, window));
        let number = |n: usize| u32::try_from(n).expect("a few");
        let found = delays.iter().enumerate().position(|(n, &ms)| {
            let at = Instant::from_s(10) + Span::from_us(spacing_us * n as u64);
            hystart.on_ack(&ack(at, ms, 10 + number(n)), window)
        });
        found.map(|n| n + 1)
    }

    #[test]
    fn eight_samples_and_one_more_above_the_rise_end_slow_start() {
        // An eighth of 40 ms: 5 ms.
        assert_eq!(ends_at(&[46; 20], 3000, &LARGE), Some(9));
        assert_eq!(ends_at(&[45; 20], 3000, &LARGE), None);
        // One small sample in the round is its minimum.
        let mut delays = [60; 20];
        delays[7] = 44;
        assert_eq!(ends_at(&delays, 3000, &LARGE), None);
    }

    #[test]
    fn a_train_of_more_than_half_a_round_trip_ends_slow_start() {
        // Half of 40 ms at 2 ms each: the first acknowledgement after 20 ms is the twelfth.
        assert_eq!(ends_at(&[40; 20], 2000, &LARGE), Some(12));
        assert_eq!(ends_at(&[40; 20], 2001, &LARGE), None, "no train");
        // Of 20.25 ms on: the 82nd at 250 us each; a millisecond is allowed to superpackets, half of it counts.
        let ends_at = |superpackets| ends(&[40; 90], 250, &LARGE, superpackets);
        assert_eq!((ends_at(false), ends_at(true)), (Some(82), Some(84)));
    }

    #[test]
    fn a_small_window_goes_on() {
        let small = Window { size: 15.0, ..LARGE };
        assert_eq!(ends_at(&[80; 20], 1000, &small), None);
    }
}
