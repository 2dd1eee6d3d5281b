//! The SNR of a station: fixed, changed from outside, or a slow random walk.
//!
//! Source: none; chosen: a step of fixed size up or down each 100 ms with equal chance, reflected at the ends of a range,
//! because people and doors move in seconds, and a queue feels what lasts longer than a round trip.

use super::Snr;
use sojourn_base::{Instant, Span};

/// Time from step to step of the walk. chosen: see above.
const STEP: Span = Span::from_ms(100);

/// Steps that a call makes up for at most: an idle hour need not be walked through. chosen: a walk forgets its start sooner.
const MOST_STEPS: u64 = 1_000;

/// The SNR at a station's receiver over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    mean: Snr,
    /// The walk stays within the mean plus and minus this, in hundredths of a dB.
    range: i32,
    /// Size of a step.
    step: i32,
    /// Distance of the walk from the mean.
    offset: i32,
    steps: u64,
}

impl Signal {
    /// An SNR that stays.
    pub const fn fixed(snr: Snr) -> Self {
        Self { mean: snr, range: 0, step: 0, offset: 0, steps: 0 }
    }

    /// A walk around `mean` in steps of `step`, within `range` of it; both in hundredths of a dB.
    pub const fn walk(mean: Snr, step: i32, range: i32) -> Self {
        Self { mean, range, step, offset: 0, steps: 0 }
    }

    /// From now on the mean is `snr`: the station has moved.
    pub const fn move_to(&mut self, snr: Snr) {
        self.mean = snr;
    }

    /// The SNR `now`; `now` never goes back.
    pub fn at(&mut self, now: Instant, random: &mut dyn FnMut() -> f64) -> Snr {
        if self.step > 0 {
            let due = now.as_ps() / STEP.as_ps();
            for _ in 0..due.saturating_sub(self.steps).min(MOST_STEPS) {
                let to = if random() < 0.5 { self.offset - self.step } else { self.offset + self.step };
                self.offset = to.clamp(-self.range, self.range);
            }
            self.steps = due;
        }
        Snr(self.mean.0 + self.offset)
    }
}
