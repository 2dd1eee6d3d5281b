//! Rate control: the mode of the next transmission to a station, and the chance that a frame is lost at it.
//!
//! | module | content |
//! |---|---|
//! | `errors` | [`frame_error`]: frame errors by mode and SNR |
//! | `signal` | [`Signal`]: the SNR of a station over time |
//! | `minstrel` | [`Minstrel`]: rates by success, as Linux does |

mod errors;
mod minstrel;
mod signal;

pub use self::errors::{Snr, frame_error, required_snr};
pub use self::minstrel::{Minstrel, MinstrelConfig};
pub use self::signal::Signal;

use super::phy::Mode;
use alloc::boxed::Box;
use alloc::vec::Vec;
use sojourn_base::{Bytes, Instant, Probability};

/// Rate control of the transmissions to one station.
#[derive(Clone, Debug)]
pub enum RateControl {
    /// One mode, without losses but collisions.
    Fixed(Mode),
    /// The fastest mode that loses at most one frame of 1,000 B in ten at the present SNR, which the sender knows.
    Snr {
        /// The SNR at the receiver.
        signal: Signal,
        /// Modes from the slowest to the fastest.
        modes: Vec<Mode>,
    },
    /// Modes by their success.
    Minstrel {
        /// The SNR at the receiver, which the sender does not know.
        signal: Signal,
        /// Statistics of the sender.
        minstrel: Box<Minstrel>,
    },
}

impl RateControl {
    /// All modes with the format, band, width and guard interval of `most`, up to its MCS and its streams, from the slowest.
    pub fn up_to(most: Mode) -> Vec<Mode> {
        let mut modes: Vec<Mode> = (1..=most.streams)
            .flat_map(|streams| (0..=most.mcs).map(move |mcs| Mode { mcs, streams, ..most }))
            .filter(|mode| mode.illegal().is_none())
            .collect();
        modes.sort_by_key(|mode| mode.rate());
        modes
    }

    /// Ideal rate control over the modes up to `most`.
    pub fn snr(signal: Signal, most: Mode) -> Self {
        Self::Snr { signal, modes: Self::up_to(most) }
    }

    /// Minstrel over the modes up to `most`.
    pub fn minstrel(signal: Signal, most: Mode, config: MinstrelConfig) -> Self {
        Self::Minstrel { signal, minstrel: Box::new(Minstrel::new(Self::up_to(most), config)) }
    }

    /// Walks of its SNR are drawn from `seed`.
    pub(super) const fn seed(&mut self, seed: u64) {
        if let Self::Snr { signal, .. } | Self::Minstrel { signal, .. } = self {
            signal.seed(seed);
        }
    }

    /// The mode of the transmission that begins `now`; `random` are uniform draws in [0, 1).
    pub fn select(&mut self, now: Instant, random: &mut dyn FnMut() -> f64) -> Mode {
        match self {
            Self::Fixed(mode) => *mode,
            Self::Snr { signal, modes } => {
                let snr = signal.at(now);
                let good = |mode: &&Mode| frame_error(**mode, snr, REFERENCE) <= Probability::clamped(0.1);
                *modes.iter().rev().find(good).unwrap_or(&modes[0])
            }
            Self::Minstrel { minstrel, .. } => minstrel.select(now, random),
        }
    }

    /// Reports a transmission by `mode`: of `sent` frames, `delivered` were acknowledged.
    pub fn report(&mut self, mode: Mode, sent: u32, delivered: u32) {
        if let Self::Minstrel { minstrel, .. } = self {
            minstrel.report(mode, sent, delivered);
        }
    }

    /// The chance that noise destroys a frame of `bytes` sent `now` by `mode`.
    pub fn loss(&mut self, now: Instant, mode: Mode, bytes: Bytes) -> Probability {
        match self {
            Self::Fixed(_) => Probability::ZERO,
            Self::Snr { signal, .. } | Self::Minstrel { signal, .. } => frame_error(mode, signal.at(now), bytes),
        }
    }
}

/// Frame by which modes are judged. 802.11-2020, 17.3.10.2: the PSDU of its sensitivity.
const REFERENCE: Bytes = Bytes(1_000);

/// The output function of `SplitMix64` over a place in its sequence.
pub(super) const fn mixed(seed: u64, place: u64) -> u64 {
    let z = seed.wrapping_add(place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;
