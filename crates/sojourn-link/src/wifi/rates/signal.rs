//! The SNR of a station: fixed, changed from outside, or a slow random walk.
//!
//! Source: none; chosen: a step of fixed size up or down each 100 ms with equal chance, kept within a range,
//! because people and doors move in seconds, and a queue feels what lasts longer than a round trip.

use super::{Snr, mixed};
use alloc::vec::Vec;
use sojourn_base::{Instant, Span};

/// Time from step to step of the walk. chosen: see above.
const STEP: Span = Span::from_ms(100);

/// Size of a step, in hundredths of a dB. chosen: 3 dB in four seconds, as a person who walks through a door.
const SIZE: i32 = 50;

/// Steps that a call makes up for at most: an idle hour need not be walked through. chosen: a walk forgets its start sooner.
const MOST_STEPS: u64 = 1_000;

/// The SNR at a station's receiver over time. Both ways of a station have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    mean: Snr,
    /// Changes of the mean, in order of time, and how many have come.
    moves: Vec<(Instant, Snr)>,
    moved: usize,
    /// The walk stays within the mean plus and minus this, in hundredths of a dB.
    range: i32,
    /// Distance of the walk from the mean.
    offset: i32,
    steps: u64,
    seed: u64,
}

impl Signal {
    /// An SNR that stays.
    pub const fn fixed(snr: Snr) -> Self {
        Self { mean: snr, moves: Vec::new(), moved: 0, range: 0, offset: 0, steps: 0, seed: 0 }
    }

    /// It walks within `range` of its mean, in hundredths of a dB.
    #[must_use]
    pub fn walking(self, range: i32) -> Self {
        Self { range, ..self }
    }

    /// Its mean changes at these times.
    #[must_use]
    pub fn moving(self, mut moves: Vec<(Instant, Snr)>) -> Self {
        moves.sort_by_key(|it| it.0);
        Self { moves, ..self }
    }

    /// Steps of its walk are drawn from `seed`.
    pub const fn seed(&mut self, seed: u64) {
        self.seed = seed;
    }

    /// The SNR `now`; `now` never goes back.
    pub fn at(&mut self, now: Instant) -> Snr {
        while let Some((_, snr)) = self.moves.get(self.moved).filter(|it| it.0 <= now) {
            (self.mean, self.moved) = (*snr, self.moved + 1);
        }
        if self.range > 0 {
            let due = now.as_ps() / STEP.as_ps();
            for step in due.saturating_sub(MOST_STEPS).max(self.steps)..due {
                let up = mixed(self.seed, step) & 1 == 1;
                let to = if up { self.offset + SIZE } else { self.offset - SIZE };
                self.offset = to.clamp(-self.range, self.range);
            }
            self.steps = due;
        }
        Snr(self.mean.0 + self.offset)
    }
}
