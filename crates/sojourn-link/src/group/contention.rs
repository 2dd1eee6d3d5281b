//! A modem's backoff: truncated, binary, exponential, counted in opportunities.
//!
//! A modem waits for a random number of opportunities below its window, and requests in the one behind them. That it was
//! not alone it learns from the MAP that would have acknowledged it; then its window doubles.
//!
//! Source: DOCSIS MULPI 3.1, 7.2 as recalled; ARRIS C4 user guide 8.3 for the windows. The automatic first window is chosen, see
//! docs/models/service-group.md, "To be heard".
//! Deviations: none known.

use super::config::{Backoff, RequestConfig};
use sojourn_base::Instant;

/// State of a modem's contention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contention {
    /// Nothing.
    Idle,
    /// It waits for its opportunity.
    Deferring {
        /// Start of its frame, channel, and number in its interval; `None` until a MAP announces it.
        at: Option<(Instant, usize, u32)>,
        /// Opportunities of MAPs to come that it lets pass.
        left: u64,
        /// Its tries.
        tries: Tries,
    },
    /// It has requested, and does not know whether it was heard.
    Sent {
        /// The MAP that tells.
        map: u64,
        /// It was not.
        lost: bool,
        /// Bytes asked for.
        asked: u64,
        /// Its tries.
        tries: Tries,
    },
}

/// One attempt to be heard, with its repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tries {
    /// The window is two to the power of this.
    pub(super) exponent: u32,
    /// Repetitions so far.
    pub(super) repeated: u32,
    /// Since when it may contend.
    pub(super) since: Instant,
    /// Time of the first request.
    pub(super) first: Option<Instant>,
}

impl RequestConfig {
    /// Returns the exponent of the first window; `in_frame`: opportunities of a frame.
    pub(super) fn first_exponent(&self, in_frame: u64) -> u32 {
        match self.backoff {
            Backoff::Fixed => self.start,
            Backoff::Auto => in_frame.max(1).next_power_of_two().ilog2().clamp(self.start, self.end),
        }
    }
}

/// The number of opportunities to let pass: the leading bits of a draw in [0, 1), so that a longer window keeps them.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and below 2^16")]
pub(super) fn deferral(unit: f64, exponent: u32) -> u64 {
    (unit * f64::from(1_u32 << exponent)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_automatic_window_is_what_a_frame_offers() {
        let requests = RequestConfig::BASE;
        // 256 in seven frames: 37, so 64; 16: 3, so 4; 8: 2, but the first window is 4 at least.
        let found = [37, 10, 3, 2].map(|count| requests.first_exponent(count));
        assert_eq!(found, [6, 4, 2, 2]);
    }

    #[test]
    fn windows_double_and_keep_the_leading_bits_of_a_draw() {
        // Vector 3: 4 8 16 … 256, with mean deferrals of 1.5, 3.5, …
        let units = || (0..4096).map(|n| (f64::from(n) + 0.5) / 4096.0);
        for (exponent, mean) in [(2, 1.5), (3, 3.5), (4, 7.5), (8, 127.5)] {
            let sum: u64 = units().map(|unit| deferral(unit, exponent)).sum();
            assert!((sum as f64 / 4096.0 - mean).abs() < 1e-9, "{exponent}");
        }
        for unit in units() {
            assert_eq!(deferral(unit, 3) / 2, deferral(unit, 2));
        }
        assert_eq!(deferral(0.999, 0), 0);
    }
}
