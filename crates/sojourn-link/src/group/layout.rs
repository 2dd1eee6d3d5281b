//! Layout of the channels: the grid, and the grants without request that are in every interval.
//!
//! Source: docs/models/service-group.md, "The grid"; proactive grants as in DOCSIS 3.1, see [`crate::docsis31::proactive`].
//! Deviations: a grant without request is on the first channel of its home; where minislots follow each other, all that begin
//! in a frame are reckoned from its first minislot.

use super::channels::ChannelSet;
use super::config::{Grants, GroupConfig, MemberConfig};
use super::grid::Grid;
use alloc::vec::Vec;
use sojourn_base::Instant;

/// Permanent provision of a home: channels, and grants without request on the first of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Provision {
    pub(super) bonded: ChannelSet,
    pub(super) first: usize,
    pub(super) unasked: Option<Unasked>,
    /// Polls for the report of a unit of a passive optical network.
    pub(super) polls: Option<Unasked>,
}

/// Grants without request of one home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unasked {
    pub(super) grants: Grants,
    /// The frame of the first one, from the start of the run.
    pub(super) phase: u64,
    /// Bytes that each carries.
    pub(super) payload: u64,
}

impl Unasked {
    /// How many of them begin before frame `end`.
    pub(super) const fn before(&self, end: u64) -> u64 {
        if end <= self.phase { 0 } else { (end - 1 - self.phase) / self.grants.period + 1 }
    }

    /// The frame of the first one from frame `from` on.
    pub(super) const fn from(&self, from: u64) -> u64 {
        let number = from.saturating_sub(self.phase).div_ceil(self.grants.period);
        self.phase + number * self.grants.period
    }
}

/// Grants without request that are alike: on a channel, of homes whose grants begin in the same frames.
#[derive(Clone, Copy, Debug)]
struct Fixed {
    channel: usize,
    unasked: Unasked,
    /// Minislots of all of them.
    minislots: u64,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) grid: Grid,
    fixed: Vec<Fixed>,
}

impl Layout {
    /// Of a group, with what each home has got for good.
    pub(super) fn new(config: &GroupConfig, members: &[MemberConfig]) -> (Self, Vec<Provision>) {
        let grid = config.grid();
        let header = config.segment_header();
        let mut fixed: Vec<Fixed> = Vec::new();
        let (mut number, mut polled) = (0, 0);
        let homes = members.iter().map(|member| {
            let first = grid.first_channel(member.channels);
            let cap = config.minislot_bytes(member.modulation)[first];
            let unasked = member.grants(&grid.channels[first], cap).map(|grants| {
                // Flow number i starts in frame i mod p.
                let phase = number % grants.period;
                number += 1;
                let payload = (grants.minislots * cap).saturating_sub(header);
                Unasked { grants, phase, payload }
            });
            let polls = config.polls().map(|grants| {
                polled += 1;
                Unasked { grants, phase: (polled - 1) % grants.period, payload: 0 }
            });
            for unasked in [unasked, polls].into_iter().flatten() {
                let alike = fixed.iter_mut().find(|it| {
                    let (period, phase) = (it.unasked.grants.period, it.unasked.phase);
                    (it.channel, period, phase) == (first, unasked.grants.period, unasked.phase)
                });
                match alike {
                    Some(it) => it.minislots += unasked.grants.minislots,
                    None => fixed.push(Fixed { channel: first, unasked, minislots: unasked.grants.minislots }),
                }
            }
            Provision { bonded: member.channels, first, unasked, polls }
        });
        let homes = homes.collect();
        (Self { grid, fixed }, homes)
    }

    /// Returns true if anything is granted without request.
    pub(super) const fn has_unasked(&self) -> bool {
        !self.fixed.is_empty()
    }

    /// Minislots of a channel that are granted without request before frame `end`, from the start of the run.
    fn unasked_before(&self, channel: usize, end: u64) -> u64 {
        let here = self.fixed.iter().filter(|fixed| fixed.channel == channel);
        here.map(|fixed| fixed.unasked.before(end) * fixed.minislots).sum()
    }

    /// The same in interval `map`.
    pub(super) fn unasked_in(&self, map: u64, channel: usize) -> u64 {
        let frames = self.grid.channels[channel].frames;
        self.unasked_before(channel, (map + 1) * frames) - self.unasked_before(channel, map * frames)
    }

    /// Start of the frame and place in it of a data minislot of interval `map`.
    pub(super) fn place(&self, (map, channel): (u64, usize), opportunities: u32, minislot: u64) -> (Instant, u64) {
        let grid = &self.grid.channels[channel];
        let (frame, place) = if self.fixed.is_empty() {
            grid.place_of_data(opportunities, minislot, None)
        } else {
            let first = map * grid.frames;
            let before = self.unasked_before(channel, first);
            let unasked = |frame: u64| self.unasked_before(channel, first + frame + 1) - before;
            grid.place_of_data(opportunities, minislot, Some(&unasked))
        };
        (self.grid.frame_at(map, channel, frame), place)
    }
}
