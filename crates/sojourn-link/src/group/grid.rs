//! Where in an interval opportunities to request lie, and where data, on each channel; and the times that all share.
//!
//! Opportunity `i` of `R` lies in frame `floor(i n / R)` of the `n` of its interval, in the last minislots of the frame; the
//! minislots before them carry data, behind those of grants without request. Both are numbered through the interval.
//!
//! Source: specification of service groups, sections 3.1, 3.2 and 4.2. Deviations: none known.

use super::channels::{ChannelSet, Form, PON_FRAME};
use super::config::GroupConfig;
use crate::docsis31::channel::OfdmaChannel;
use crate::docsis31::timeline::Timeline;
use alloc::vec::Vec;
use sojourn_base::{Instant, Span};

/// Times of DOCSIS 3.0: chosen, so that the loop is that of White 2013, where a request at the start of an interval is
/// granted in the second one after it.
const DOCSIS30_LEAD: Span = Span::from_ms(2);
const DOCSIS30_HEARD: Span = Span::from_us(600);
const DOCSIS30_REQUEST: Span = Span::from_us(500);
/// From the end of a minislot until what it carried leaves the CMTS. Source: White 2012 §2.3.
const DOCSIS30_BEHIND: Span = Span::from_ms(1);
/// Frames in an interval, chosen.
const DOCSIS30_FRAMES: u64 = 16;

/// Minislots in a frame of a SC-QAM channel beside an OFDMA channel, and what follows its minislots there. Source: chosen in
/// the specification, 3.1: 112.5 us, of which six are as long as five OFDMA frames.
const SCQAM_MINISLOTS: u64 = 9;
const SCQAM_BEHIND: Span = Span::from_us(175);

/// Minislots that an opportunity takes on a SC-QAM channel. Source: chosen in the specification, 3.1.
const SCQAM_COST: u64 = 2;

/// A report counts for the fourth frame after its own, and modems hear of a grant a frame ahead. Source: chosen in the
/// specification, 3.2.
const PON_LEAD: Span = Span::from_us(250);
const PON_REQUEST: Span = Span::from_us(250);
const PON_BEHIND: Span = Span::from_us(100);

/// Symbols of a minislot that a request takes, by the distance of subcarriers in kHz: 28 symbols of QPSK hold its 7 bytes `[R]`.
const fn symbols_per_request(spacing_khz: u32) -> u32 {
    if spacing_khz >= 50 { 4 } else { 2 }
}

/// Why channels have no grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrepeatable {
    /// The interval is shorter than a frame.
    TooShort {
        /// The frame.
        frame: Span,
    },
    /// Frames of two kinds of channel begin together too seldom.
    NoCommonFrame {
        /// Time from one to the next.
        step: Span,
    },
}

/// Where requests, grants and MAPs are in time, for all channels.
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
    /// What modems take for the time of the request-grant loop.
    pub loop_delay: Span,
    /// The channels, SC-QAM first.
    pub channels: Vec<Channel>,
    /// Frames of an interval in order of time: offset, channel, number.
    frames: Vec<(Span, usize, u64)>,
    /// The longest frame.
    longest: Span,
}

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
    minislot: Option<Span>,
    /// What follows until it leaves the CMTS.
    pub behind: Span,
    /// So many opportunities cost so many minislots of a frame.
    opportunities_for: (u64, u64),
    /// For each number of opportunities: data minislots before the end of each frame.
    layouts: Vec<Vec<u32>>,
}

impl GroupConfig {
    /// The grid of its channels.
    pub fn grid(&self) -> Grid {
        Grid::new(self)
    }
}

/// Times that both channels' frames divide: the least step.
fn common(a: Span, b: Span) -> Span {
    let (mut x, mut y) = (a.as_ps(), b.as_ps());
    while y > 0 {
        (x, y) = (y, x % y);
    }
    Span::from_ps((a.as_ps() / x.max(1)).saturating_mul(b.as_ps()))
}

impl Grid {
    /// Whether the interval of a group fits its channels.
    ///
    /// # Errors
    /// Why it does not.
    pub fn check(config: &GroupConfig) -> Result<(), Unrepeatable> {
        let minislot = config.scqam.minislot;
        if config.form != Form::Docsis31 {
            return Ok(());
        }
        let frame = config.channel.frame();
        if config.map_interval < frame {
            return Err(Unrepeatable::TooShort { frame });
        }
        if config.scqam.count > 0 {
            let step = common(frame, minislot * SCQAM_MINISLOTS);
            if step > config.map_interval * 2 {
                return Err(Unrepeatable::NoCommonFrame { step });
            }
        }
        Ok(())
    }

    /// Of a group without [`GroupConfig::problems`].
    pub fn new(config: &GroupConfig) -> Self {
        let most = config.requests.minimum.max(config.requests.fill);
        match config.form {
            Form::Docsis31 => Self::docsis31(config, most),
            Form::Docsis30 => Self::docsis30(config, most),
            Form::Pon => Self::pon(config, most),
        }
    }

    fn docsis31(config: &GroupConfig, most: u32) -> Self {
        let channel: &OfdmaChannel = &config.channel;
        let scqam_frame = config.scqam.minislot * SCQAM_MINISLOTS;
        let wished = if config.scqam.count == 0 {
            config.map_interval
        } else {
            let step = common(channel.frame(), scqam_frame);
            let steps = (config.map_interval.as_ps() + step.as_ps() / 2) / step.as_ps().max(1);
            step * steps.max(1)
        };
        let times = Timeline::new(
            channel,
            &config.downstream,
            wished,
            config.map_processing,
            config.plant_km,
        );
        let symbols = symbols_per_request(channel.spacing.khz());
        let per = u64::from((channel.symbols_per_frame / symbols).max(1));
        let scqam = Channel::new(
            (
                scqam_frame,
                times.interval.as_ps() / scqam_frame.as_ps().max(1),
            ),
            (SCQAM_MINISLOTS, Some(config.scqam.minislot)),
            SCQAM_BEHIND,
            (1, SCQAM_COST),
            most,
        );
        let mut channels = alloc::vec![scqam; config.scqam.count as usize];
        channels.push(Channel::new(
            (times.frame, times.frames),
            (times.minislots_per_frame, None),
            times.completion() - times.frame,
            (per, 1),
            most,
        ));
        Self {
            interval: times.interval,
            lead: times.lead,
            heard: times.heard,
            request: times.request,
            preparation: times.preparation,
            loop_delay: times.loop_delay(),
            channels,
            frames: Vec::new(),
            longest: Span::ZERO,
        }
        .ordered()
    }

    fn docsis30(config: &GroupConfig, most: u32) -> Self {
        let minislot = config.scqam.minislot;
        let whole = minislot * DOCSIS30_FRAMES;
        let minislots =
            ((config.map_interval.as_ps() + whole.as_ps() / 2) / whole.as_ps().max(1)).max(1);
        let frame = minislot * minislots;
        let channel = Channel::new(
            (frame, DOCSIS30_FRAMES),
            (minislots, Some(minislot)),
            DOCSIS30_BEHIND,
            (1, SCQAM_COST),
            most,
        );
        let interval = frame * DOCSIS30_FRAMES;
        Self {
            interval,
            lead: DOCSIS30_LEAD,
            heard: DOCSIS30_HEARD,
            request: DOCSIS30_REQUEST,
            preparation: frame,
            // Half an interval until the request leaves, half until the grant begins, as of the one modem of White 2013.
            loop_delay: interval * 3,
            channels: alloc::vec![channel; config.scqam.count as usize],
            frames: Vec::new(),
            longest: Span::ZERO,
        }
        .ordered()
    }

    fn pon(config: &GroupConfig, most: u32) -> Self {
        let words = config.pon.words();
        let word = Span::from_ps(PON_FRAME.as_ps() / words.max(1));
        // Nobody contends: opportunities cost nothing, and nobody uses them.
        let channel = Channel::new(
            (PON_FRAME, 1),
            (words, Some(word)),
            PON_BEHIND,
            (1, 0),
            most,
        );
        Self {
            interval: PON_FRAME,
            lead: PON_LEAD,
            heard: PON_FRAME,
            request: PON_REQUEST,
            preparation: Span::ZERO,
            loop_delay: PON_FRAME * 5,
            channels: alloc::vec![channel],
            frames: Vec::new(),
            longest: Span::ZERO,
        }
        .ordered()
    }

    fn ordered(mut self) -> Self {
        let of = |(number, channel): (usize, &Channel)| {
            let frame = channel.frame;
            (0..channel.frames)
                .map(move |index| (frame * index, number, index))
                .collect::<Vec<_>>()
        };
        self.frames = self.channels.iter().enumerate().flat_map(of).collect();
        self.frames.sort_unstable();
        let longest = self.channels.iter().map(|channel| channel.frame).max();
        self.longest = longest.unwrap_or(Span::ZERO);
        self
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

    /// When the MAP of interval `map` is made; the start of the run at the earliest.
    pub fn made_at(&self, map: u64) -> Instant {
        before(self.starts_at(map), self.lead)
    }

    /// When modems hear the MAP of interval `map`; the start of the run at the earliest.
    pub fn heard_at(&self, map: u64) -> Instant {
        before(self.starts_at(map), self.heard)
    }

    /// When a grant is filled that starts at `at`.
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

impl Channel {
    fn new(
        (frame, frames): (Span, u64),
        (minislots_per_frame, minislot): (u64, Option<Span>),
        behind: Span,
        opportunities_for: (u64, u64),
        most: u32,
    ) -> Self {
        let mut channel = Self {
            frame,
            frames,
            minislots_per_frame,
            minislot,
            behind,
            opportunities_for,
            layouts: Vec::new(),
        };
        channel.layouts = (0..=most).map(|count| channel.layout(count)).collect();
        channel
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

    /// Minislots for data in an interval with so many opportunities.
    pub fn data(&self, opportunities: u32) -> u64 {
        let layout = &self.layouts[opportunities as usize];
        u64::from(layout.last().copied().unwrap_or(0))
    }

    /// The frame of its interval in which a data minislot lies, and its place among those of the frame; `fixed` says how
    /// many minislots before the end of a frame are granted without request.
    pub fn place_of_data(
        &self,
        opportunities: u32,
        minislot: u64,
        fixed: Option<&dyn Fn(u64) -> u64>,
    ) -> (u64, u64) {
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

    /// When what a minislot carries is complete, by its frame, which starts at `at`, and its place there.
    pub fn complete_at(&self, at: Instant, place: u64) -> Instant {
        match self.minislot {
            Some(length) => at + length * (place + 1),
            None => at + self.frame,
        }
    }

    /// When a grant begins that starts in a minislot: with its frame, or, where minislots follow each other, with it.
    pub fn begins_at(&self, at: Instant, place: u64) -> Instant {
        self.minislot.map_or(at, |length| at + length * place)
    }

    /// What takes the place of a frame where a delay is split: what a packet needs on the air at least.
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

fn before(at: Instant, span: Span) -> Instant {
    Instant::from_ps(at.as_ps().saturating_sub(span.as_ps()))
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
            assert_eq!(
                grid.place_of_data(16, minislot, None).0,
                frame,
                "{minislot}"
            );
        }
    }

    #[test]
    fn a_request_counts_for_the_first_map_that_is_made_after_it_has_come() {
        // Vector 4: two MAPs on from the first three frames of an interval, three from the others.
        let grid = grid();
        let found = core::array::from_fn(|frame| {
            grid.acknowledged_by(grid.frame_at(100, 0, frame as u64)) - 100
        });
        assert_eq!(found, [2, 2, 2, 3, 3, 3, 3]);
        let long = GroupConfig {
            map_interval: Span::from_ms(2),
            ..GroupConfig::BASE
        }
        .grid();
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
        // Vector 18, and the capacity of section 3.1: 38 B in 12.5 us.
        let mut config = GroupConfig {
            form: Form::Docsis30,
            map_interval: Span::from_ms(2),
            ..GroupConfig::BASE
        };
        config.scqam.count = 4;
        config.requests.minimum = 6;
        let grid = config.grid();
        assert_eq!(grid.interval, Span::from_ms(2));
        assert_eq!(grid.channels.len(), 4);
        let channel = &grid.channels[0];
        assert_eq!(
            (channel.frame, channel.minislots()),
            (Span::from_us(125), 160)
        );
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
        // Section 3.1: 2 ms becomes 2.025 ms, 15 frames of 135 us and 18 of 112.5 us.
        let mut config = GroupConfig {
            map_interval: Span::from_ms(2),
            ..GroupConfig::BASE
        };
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
