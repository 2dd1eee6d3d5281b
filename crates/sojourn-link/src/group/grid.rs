//! Places of opportunities to request, and of data, in an interval, on each channel; and the times that all share.
//!
//! Opportunity `i` of `R` lies in frame `floor(i n / R)` of the `n` of its interval, in the last minislots of the frame; the
//! minislots before them carry data, behind those of grants without request. Both are numbered through the interval.
//!
//! Source: docs/models/service-group.md, "The grid". Deviations: none known.

mod channel;
mod forms;

use super::channels::ChannelSet;
use alloc::vec::Vec;
use sojourn_base::{Instant, Span};

pub use channel::Channel;
pub use forms::Unrepeatable;

/// Times of requests, grants and MAPs, for all channels.
#[derive(Clone, Debug)]
pub struct Grid {
    /// From MAP to MAP.
    pub interval: Span,
    /// A MAP is made so long before its interval, and heard so long before it.
    pub lead: Span,
    /// See `lead`.
    pub heard: Span,
    /// From a request to its arrival at the CMTS.
    pub request: Span,
    /// A grant is filled so long before its start.
    pub preparation: Span,
    /// The modems' estimate of the request-grant loop.
    pub loop_delay: Span,
    /// The channels, SC-QAM first.
    pub channels: Vec<Channel>,
    /// Frames of an interval in order of time: offset, channel, number.
    frames: Vec<(Span, usize, u64)>,
    /// The longest frame.
    longest: Span,
}

impl Grid {
    /// Over these channels, whose times are not known yet.
    fn over(channels: Vec<Channel>) -> Self {
        let of = |(number, channel): (usize, &Channel)| {
            let frame = channel.frame;
            (0..channel.frames).map(move |index| (frame * index, number, index)).collect::<Vec<_>>()
        };
        let mut frames: Vec<_> = channels.iter().enumerate().flat_map(of).collect();
        frames.sort_unstable();
        let longest = channels.iter().map(|channel| channel.frame).max();
        Self {
            interval: Span::ZERO,
            lead: Span::ZERO,
            heard: Span::ZERO,
            request: Span::ZERO,
            preparation: Span::ZERO,
            loop_delay: Span::ZERO,
            longest: longest.unwrap_or(Span::ZERO),
            channels,
            frames,
        }
    }

    /// The first channel of a set that there is; the first of all if there is none.
    pub fn first_channel(&self, bonded: ChannelSet) -> usize {
        let mut numbers = 0..self.channels.len();
        numbers.find(|number| bonded.has(*number)).unwrap_or(0)
    }

    /// Start of interval `map`.
    pub fn starts_at(&self, map: u64) -> Instant {
        Instant::ZERO + self.interval * map
    }

    /// Returns the time at which the MAP of interval `map` is made; the start of the run at the earliest.
    pub fn made_at(&self, map: u64) -> Instant {
        before(self.starts_at(map), self.lead)
    }

    /// Returns the time at which modems hear the MAP of interval `map`; the start of the run at the earliest.
    pub fn heard_at(&self, map: u64) -> Instant {
        before(self.starts_at(map), self.heard)
    }

    /// Returns the time at which a grant that starts at `at` is filled.
    pub fn filled_at(&self, at: Instant) -> Instant {
        before(at, self.preparation)
    }

    /// The interval that contains `now`.
    pub const fn interval_of(&self, now: Instant) -> u64 {
        now.as_ps() / self.interval.as_ps()
    }

    /// The first MAP that is heard after `now`.
    pub fn first_unheard(&self, now: Instant) -> u64 {
        (now + self.heard).as_ps() / self.interval.as_ps() + 1
    }

    /// The MAP that acknowledges a request sent at `at`.
    pub fn acknowledged_by(&self, at: Instant) -> u64 {
        let counted = at + self.request + self.lead;
        counted.as_ps().div_ceil(self.interval.as_ps())
    }

    /// Start of a frame of interval `map`.
    pub fn frame_at(&self, map: u64, channel: usize, frame: u64) -> Instant {
        self.starts_at(map) + self.channels[channel].frame * frame
    }

    /// Opportunities of the bonded channels in an interval that has `counts` of them on each channel.
    pub fn opportunities_of(&self, bonded: ChannelSet, counts: &[u32]) -> u64 {
        let counts = counts.iter().zip(0..);
        let bonded = counts.filter(|(_, number)| bonded.has(*number));
        bonded.map(|(count, _)| u64::from(*count)).sum()
    }

    /// Opportunity number `left` of the bonded channels in interval `map`, those alone that begin after `now`: start,
    /// channel and number, or how many of them there are.
    pub fn opportunity(
        &self,
        (map, now): (u64, Instant),
        bonded: ChannelSet,
        counts: &[u32],
        left: u64,
    ) -> Result<(Instant, usize, u32), u64> {
        let starts_at = self.starts_at(map);
        let is_whole = now < starts_at;
        if is_whole {
            let all = self.opportunities_of(bonded, counts);
            if left >= all {
                return Err(all);
            }
        }
        let mut passed = 0;
        for &(offset, channel, frame) in &self.frames {
            if !bonded.has(channel) || !is_whole && starts_at + offset <= now {
                continue; // the frame that begins now is too late
            }
            let here = self.channels[channel].opportunities_in(counts[channel], frame);
            let count = here.end - here.start;
            if left < passed + count {
                let number = u32::try_from(here.start + left - passed).unwrap_or(u32::MAX);
                return Ok((starts_at + offset, channel, number));
            }
            passed += count;
        }
        Err(passed)
    }

    /// How many opportunities the longest frame holds, of `count` in an interval; rounded up.
    pub const fn in_a_frame(&self, count: u64) -> u64 {
        (count * self.longest.as_ps()).div_ceil(self.interval.as_ps())
    }
}

fn before(at: Instant, span: Span) -> Instant {
    Instant::from_ps(at.as_ps().saturating_sub(span.as_ps()))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::group::channels::Form;
    use crate::group::config::GroupConfig;

    /// Frames of 135 us, seven in an interval.
    pub(crate) fn grid() -> Grid {
        GroupConfig::BASE.grid()
    }

    #[test]
    fn opportunities_are_spread_over_the_frames() {
        // Vector 1.
        let grid = &grid().channels[0];
        for (count, expected) in [
            (8, [2, 1, 1, 1, 1, 1, 1]),
            (16, [3, 2, 2, 3, 2, 2, 2]),
            (64, [10, 9, 9, 9, 9, 9, 9]),
            (256, [37, 37, 36, 37, 36, 37, 36]),
        ] {
            let found = core::array::from_fn(|frame| {
                let range = grid.opportunities_in(count, frame as u64);
                for number in range.clone() {
                    assert_eq!(number * 7 / u64::from(count), frame as u64);
                }
                range.end - range.start
            });
            assert_eq!(found, expected, "{count}");
        }
    }

    #[test]
    fn data_lies_before_the_opportunities_of_each_frame() {
        // Vector 1: 232 233 233 232 233 233 233.
        let grid = &grid().channels[0];
        assert_eq!(grid.data(16), 1_629);
        for (minislot, frame) in [(0, 0), (231, 0), (232, 1), (464, 1), (465, 2), (1_628, 6)] {
            assert_eq!(grid.place_of_data(16, minislot, None).0, frame, "{minislot}");
        }
    }

    #[test]
    fn a_request_counts_for_the_first_map_that_is_made_after_it_has_come() {
        // Vector 4: two MAPs on from the first three frames of an interval, three from the others.
        let grid = grid();
        let found = core::array::from_fn(|frame| grid.acknowledged_by(grid.frame_at(100, 0, frame as u64)) - 100);
        assert_eq!(found, [2, 2, 2, 3, 3, 3, 3]);
        let long = GroupConfig { map_interval: Span::from_ms(2), ..GroupConfig::BASE }.grid();
        for frame in 0..15 {
            let found = long.acknowledged_by(long.frame_at(100, 0, frame)) - 100;
            assert_eq!(found, if frame < 4 { 1 } else { 2 }, "{frame}");
        }
    }

    #[test]
    fn idle_minislots_become_opportunities_up_to_the_most() {
        let grid = &grid().channels[0];
        assert_eq!(grid.opportunities((16, 256), 0), 256);
        assert_eq!(grid.opportunities((16, 256), 1_629), 16);
        assert_eq!(grid.opportunities((16, 256), 1_600), 45);
        assert_eq!(grid.opportunities((16, 16), 0), 16);
    }

    #[test]
    fn four_scqam_channels_have_the_numbers_of_the_notes() {
        // Vector 18, and the capacity: 38 B in 12.5 us.
        let mut config = GroupConfig { form: Form::Docsis30, map_interval: Span::from_ms(2), ..GroupConfig::BASE };
        config.scqam.count = 4;
        config.requests.minimum = 6;
        let grid = config.grid();
        assert_eq!(grid.interval, Span::from_ms(2));
        assert_eq!(grid.channels.len(), 4);
        let channel = &grid.channels[0];
        assert_eq!((channel.frame, channel.minislots()), (Span::from_us(125), 160));
        assert_eq!(channel.minislots() - channel.data(6), 12);
        assert_eq!(grid.opportunities_of(ChannelSet::ALL, &[6; 4]), 24);
        assert_eq!(config.minislot_bytes(None), [38; 4]);
        let frames = (0..16).filter(|frame| !channel.opportunities_in(6, *frame).is_empty());
        assert_eq!(frames.collect::<Vec<_>>(), [0, 2, 5, 8, 10, 13]);
        // A request at the start of an interval is granted in the second one after it.
        assert_eq!(grid.acknowledged_by(grid.starts_at(100)), 102);
    }

    #[test]
    fn scqam_channels_beside_ofdma_share_its_interval() {
        // 2 ms becomes 2.025 ms, 15 frames of 135 us and 18 of 112.5 us.
        let mut config = GroupConfig { map_interval: Span::from_ms(2), ..GroupConfig::BASE };
        config.scqam.count = 4;
        config.channel.subcarriers = 800;
        let grid = config.grid();
        assert_eq!(grid.interval, Span::from_us(2_025));
        let frames: Vec<u64> = grid.channels.iter().map(|channel| channel.frames).collect();
        assert_eq!(frames, [18, 18, 18, 18, 15]);
        assert_eq!(grid.channels[4].minislots_per_frame, 100);
        // 97.28 and 284.44 Mb/s less what opportunities take: 16 of 2 minislots, 16 of one.
        let mbps = config.capacity(None).as_bps() as f64 / 1e6;
        let scqam = 4.0 * 24.32 * (1.0 - 32.0 / 162.0);
        let ofdma = 284.44 * (1.0 - 16.0 / 1_500.0);
        assert!((mbps - scqam - ofdma).abs() < 0.5, "{mbps}");
    }
}
