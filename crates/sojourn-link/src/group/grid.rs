//! Where in an interval opportunities to request lie, and where data.
//!
//! Opportunity `i` of `R` lies in frame `floor(i n / R)` of the `n` of its interval, in the last minislots of the frame; the
//! minislots before them carry data. Both are numbered through the interval.
//!
//! Source: specification of service groups, sections 3.1 and 4.2. Deviations: none known.

use crate::docsis31::channel::OfdmaChannel;
use crate::docsis31::timeline::Timeline;
use alloc::vec::Vec;
use sojourn_base::{Instant, Span};

/// Symbols of a minislot that a request takes, by the distance of subcarriers in kHz: 28 symbols of QPSK hold its 7 bytes `[R]`.
const fn symbols_per_request(spacing_khz: u32) -> u32 {
    if spacing_khz >= 50 { 4 } else { 2 }
}

/// The grid that all modems share.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Times.
    pub timeline: Timeline,
    /// Opportunities that a minislot holds.
    per_minislot: u64,
    /// For each number of opportunities: data minislots before the end of each frame.
    layouts: Vec<Vec<u32>>,
}

impl Grid {
    /// Of a channel, for up to `most` opportunities.
    pub fn new(timeline: Timeline, channel: &OfdmaChannel, most: u32) -> Self {
        let symbols = symbols_per_request(channel.spacing.khz());
        let mut grid = Self {
            timeline,
            per_minislot: u64::from((channel.symbols_per_frame / symbols).max(1)),
            layouts: Vec::new(),
        };
        grid.layouts = (0..=most).map(|count| grid.layout(count)).collect();
        grid
    }

    fn layout(&self, opportunities: u32) -> Vec<u32> {
        let mut end = 0;
        let frames = 0..self.timeline.frames;
        let ends = frames.map(|frame| {
            let asked = self.opportunities_in(opportunities, frame);
            let cost = (asked.end - asked.start)
                .div_ceil(self.per_minislot)
                .min(self.timeline.minislots_per_frame);
            end += self.timeline.minislots_per_frame - cost;
            u32::try_from(end).unwrap_or(u32::MAX)
        });
        ends.collect()
    }

    /// Numbers of the opportunities, of `count` in the interval, that lie in `frame`.
    pub const fn opportunities_in(&self, count: u32, frame: u64) -> core::ops::Range<u64> {
        let (count, frames) = (count as u64, self.timeline.frames);
        (frame * count).div_ceil(frames)..((frame + 1) * count).div_ceil(frames)
    }

    /// The frame of its interval in which opportunity `number` of `count` lies.
    pub const fn frame_of_opportunity(&self, count: u32, number: u32) -> u64 {
        number as u64 * self.timeline.frames / count as u64
    }

    /// Minislots for data in an interval with so many opportunities.
    pub fn data(&self, opportunities: u32) -> u64 {
        let layout = &self.layouts[opportunities as usize];
        u64::from(layout.last().copied().unwrap_or(0))
    }

    /// The frame of its interval in which a data minislot lies.
    pub fn frame_of_data(&self, opportunities: u32, minislot: u64) -> u64 {
        let layout = &self.layouts[opportunities as usize];
        layout.partition_point(|end| u64::from(*end) <= minislot) as u64
    }

    /// Opportunities of an interval: `minimum` of them, and what fits beside `granted` data minislots, at most `fill`.
    pub fn opportunities(&self, (minimum, fill): (u32, u32), granted: u64) -> u32 {
        let left = self.data(minimum).saturating_sub(granted);
        let more = u32::try_from(left * self.per_minislot).unwrap_or(u32::MAX);
        let mut count = fill.max(minimum).min(minimum.saturating_add(more));
        // Opportunities of one frame share no minislot with those of another.
        while count > minimum && self.data(count) < granted {
            count -= 1;
        }
        count
    }

    /// Start of a frame, by its number from the start of the run.
    pub fn frame_at(&self, frame: u64) -> Instant {
        Instant::ZERO + self.timeline.frame * frame
    }

    /// The interval that contains `now`.
    pub const fn interval_of(&self, now: Instant) -> u64 {
        now.as_ps() / self.timeline.interval.as_ps()
    }

    /// The first MAP that is heard after `now`.
    pub fn first_unheard(&self, now: Instant) -> u64 {
        (now + self.timeline.heard).as_ps() / self.timeline.interval.as_ps() + 1
    }

    /// The MAP that acknowledges a request sent at `at`.
    pub fn acknowledged_by(&self, at: Instant) -> u64 {
        let counted = at + self.timeline.request + self.timeline.lead;
        counted.as_ps().div_ceil(self.timeline.interval.as_ps())
    }

    /// From the start of the frame with a packet's last byte to its arrival, less that frame.
    pub fn behind_frame(&self) -> Span {
        self.timeline.completion() - self.timeline.frame
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::group::config::GroupConfig;

    /// The grid of section 12: frames of 135 us, seven in an interval.
    pub(crate) fn grid() -> Grid {
        GroupConfig::BASE.grid()
    }

    #[test]
    fn opportunities_are_spread_over_the_frames() {
        // Vector 1.
        let grid = grid();
        for (count, expected) in [
            (8, [2, 1, 1, 1, 1, 1, 1]),
            (16, [3, 2, 2, 3, 2, 2, 2]),
            (64, [10, 9, 9, 9, 9, 9, 9]),
            (256, [37, 37, 36, 37, 36, 37, 36]),
        ] {
            let found = core::array::from_fn(|frame| {
                let range = grid.opportunities_in(count, frame as u64);
                for number in range.clone() {
                    let number = u32::try_from(number).unwrap();
                    assert_eq!(grid.frame_of_opportunity(count, number), frame as u64);
                }
                range.end - range.start
            });
            assert_eq!(found, expected, "{count}");
        }
    }

    #[test]
    fn data_lies_before_the_opportunities_of_each_frame() {
        // Vector 1: 232 233 233 232 233 233 233.
        let grid = grid();
        assert_eq!(grid.data(16), 1_629);
        for (minislot, frame) in [(0, 0), (231, 0), (232, 1), (464, 1), (465, 2), (1_628, 6)] {
            assert_eq!(grid.frame_of_data(16, minislot), frame, "{minislot}");
        }
    }

    #[test]
    fn a_request_counts_for_the_first_map_that_is_made_after_it_has_come() {
        // Vector 4: two MAPs on from the first three frames of an interval, three from the others.
        let grid = grid();
        let found = core::array::from_fn(|frame| {
            grid.acknowledged_by(grid.frame_at(100 * 7 + frame as u64)) - 100
        });
        assert_eq!(found, [2, 2, 2, 3, 3, 3, 3]);
        let long = GroupConfig {
            map_interval: Span::from_ms(2),
            ..GroupConfig::BASE
        }
        .grid();
        for frame in 0..15 {
            let found = long.acknowledged_by(long.frame_at(100 * 15 + frame)) - 100;
            assert_eq!(found, if frame < 4 { 1 } else { 2 }, "{frame}");
        }
    }

    #[test]
    fn idle_minislots_become_opportunities_up_to_the_most() {
        let grid = grid();
        assert_eq!(grid.opportunities((16, 256), 0), 256);
        assert_eq!(grid.opportunities((16, 256), 1_629), 16);
        assert_eq!(grid.opportunities((16, 256), 1_600), 45);
        assert_eq!(grid.opportunities((16, 16), 0), 16);
    }
}
