//! Playback of a player by quality: the share of each level, and the number of changes.
//!
//! Source: Akhtar 2013, "Predicting HAS QoE (MOS)". Deviations: none known.

use super::playback::Playback;
use crate::StreamingSession;
use sojourn_base::{BitRate, Instant, math};

/// Chunks that arrived, by level.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    arrived: Vec<u32>,
    last: Option<u32>,
    switches: u32,
}

impl Levels {
    /// Nothing yet, of each level of a ladder.
    pub(crate) fn new(ladder: &[BitRate]) -> Self {
        Self { arrived: vec![0; ladder.len()], last: None, switches: 0 }
    }

    /// The level of the last chunk.
    pub(crate) const fn last(&self) -> Option<u32> {
        self.last
    }

    /// A chunk of this level has arrived.
    pub(crate) fn add(&mut self, level: u32) {
        self.arrived[level as usize] += 1;
        self.switches += u32::from(self.last.is_some_and(|last| last != level));
        self.last = Some(level);
    }

    /// The session up to now.
    pub(crate) fn summary(
        &self,
        session: u32,
        started_at: Instant,
        playback: &Playback,
        ladder: &[BitRate],
    ) -> StreamingSession {
        let moments = moments(
            self.arrived.iter().zip(ladder).map(|(chunks, rate)| (f64::from(*chunks), rate.as_bps() as f64 / 1e6)),
        );
        StreamingSession {
            session,
            started_at,
            startup: playback.first_picture_at.map(|at| at.saturating_since(started_at)),
            stalls: playback.stalls,
            stalled: playback.stalled,
            played: playback.played,
            low_buffer: playback.low,
            chunks: self.arrived.iter().sum(),
            mean_mbps: moments.map(|(mean, _)| mean),
            sd_mbps: moments.map(|(_, deviation)| deviation),
            switches: self.switches,
        }
    }
}

/// Mean and standard deviation, of all and not of a sample, of values with their counts.
pub(super) fn moments(values: impl Iterator<Item = (f64, f64)> + Clone) -> Option<(f64, f64)> {
    let count: f64 = values.clone().map(|(count, _)| count).sum();
    if count <= 0.0 {
        return None;
    }
    let mean = values.clone().map(|(count, value)| count * value).sum::<f64>() / count;
    let square = |(count, value): (f64, f64)| count * (value - mean) * (value - mean);
    let variance = values.map(square).sum::<f64>() / count;
    Some((mean, math::sqrt(variance)))
}
