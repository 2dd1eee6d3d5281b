//! The grid of one channel: where in an interval its opportunities lie, and where its data.
//!
//! Source: docs/models/service-group.md, "The grid". Deviations: none known.

use alloc::vec::Vec;
use sojourn_base::{Instant, Span};

/// The grid of a channel.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Length of a frame.
    pub frame: Span,
    /// Frames in an interval.
    pub frames: u64,
    /// Minislots in a frame.
    pub minislots_per_frame: u64,
    /// Length of a minislot, if a packet is complete at the end of its last one and not of the frame.
    pub(super) minislot: Option<Span>,
    /// Delay from there to departure from the CMTS.
    pub behind: Span,
    /// Opportunities, and the minislots of a frame that they take.
    pub(super) opportunities_for: (u64, u64),
    /// For each number of opportunities: data minislots before the end of each frame; see [`Self::laid_out`].
    pub(super) layouts: Vec<Vec<u32>>,
}

impl Channel {
    /// With room for `most` opportunities.
    pub(super) fn laid_out(mut self, most: u32) -> Self {
        self.layouts = (0..=most).map(|count| self.layout(count)).collect();
        self
    }

    fn layout(&self, opportunities: u32) -> Vec<u32> {
        let mut end = 0;
        let (per, cost) = self.opportunities_for;
        let ends = (0..self.frames).map(|frame| {
            let asked = self.opportunities_in(opportunities, frame);
            let taken = (asked.end - asked.start).div_ceil(per) * cost;
            end += self.minislots_per_frame.saturating_sub(taken);
            u32::try_from(end).unwrap_or(u32::MAX)
        });
        ends.collect()
    }

    /// Minislots of an interval.
    pub const fn minislots(&self) -> u64 {
        self.minislots_per_frame * self.frames
    }

    /// Numbers of the opportunities, of `count` in the interval, that lie in `frame`.
    pub const fn opportunities_in(&self, count: u32, frame: u64) -> core::ops::Range<u64> {
        let (count, frames) = (count as u64, self.frames);
        (frame * count).div_ceil(frames)..((frame + 1) * count).div_ceil(frames)
    }

    /// Returns the minislots for data in an interval with this number of opportunities.
    pub fn data(&self, opportunities: u32) -> u64 {
        let layout = &self.layouts[opportunities as usize];
        u64::from(layout.last().copied().unwrap_or(0))
    }

    /// The frame of its interval in which a data minislot lies, and its place among those of the frame; `fixed` says how
    /// many minislots before the end of a frame are granted without request.
    pub fn place_of_data(&self, opportunities: u32, minislot: u64, fixed: Option<&dyn Fn(u64) -> u64>) -> (u64, u64) {
        let layout = &self.layouts[opportunities as usize];
        let Some(fixed) = fixed else {
            let frame = layout.partition_point(|end| u64::from(*end) <= minislot);
            let begin = if frame == 0 { 0 } else { layout[frame - 1] };
            return (frame as u64, minislot - u64::from(begin));
        };
        let mut begin = 0;
        for (end, frame) in layout.iter().zip(0..) {
            let before = fixed(frame);
            let end = u64::from(*end).saturating_sub(before);
            if minislot < end {
                let own = before - if frame == 0 { 0 } else { fixed(frame - 1) };
                return (frame, own + minislot - begin);
            }
            begin = end;
        }
        (self.frames - 1, 0)
    }

    /// Returns the time at which the data of a minislot are complete, by its frame, which starts at `at`, and its place
    /// there.
    pub fn complete_at(&self, at: Instant, place: u64) -> Instant {
        match self.minislot {
            Some(length) => at + length * (place + 1),
            None => at + self.frame,
        }
    }

    /// Returns the start of a grant from its first minislot: with its frame, or, if minislots follow each other, with
    /// the minislot.
    pub fn begins_at(&self, at: Instant, place: u64) -> Instant {
        self.minislot.map_or(at, |length| at + length * place)
    }

    /// Returns the shortest time of a packet on the air, which stands for the frame where a delay is split.
    pub fn on_air(&self) -> Span {
        self.minislot.unwrap_or(self.frame)
    }

    /// Opportunities of an interval: `minimum` of them, and what fits beside `granted` data minislots, at most `fill`.
    pub fn opportunities(&self, (minimum, fill): (u32, u32), granted: u64) -> u32 {
        let left = self.data(minimum).saturating_sub(granted);
        let (per, cost) = self.opportunities_for;
        let Some(more) = left.checked_div(cost) else {
            return minimum;
        };
        let more = u32::try_from(more * per).unwrap_or(u32::MAX);
        let mut count = fill.max(minimum).min(minimum.saturating_add(more));
        // Opportunities of one frame share no minislot with those of another.
        while count > minimum && self.data(count) < granted {
            count -= 1;
        }
        count
    }
}
