//! A service flow as its modem knows it: what was asked for, what was granted, and what is sent in part.

use super::burst::Fragment;
use crate::LinkCounters;
use crate::group::contention::Contention;
use alloc::collections::VecDeque;
use sojourn_base::Instant;

/// A request as the modem's packets remember it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// Position of its end among all requested bytes.
    end: u64,
    /// Times of its first attempt and of its success, and the start of the interval that acknowledged it.
    pub(super) first: Instant,
    pub(super) sent: Instant,
    pub(super) interval: Instant,
}

/// A service flow as the modem knows it.
#[derive(Debug)]
pub(in crate::group) struct Flow {
    pub(super) fragment: Option<Fragment>,
    /// Bytes requested and not granted, as far as it knows; bytes of grants that are not filled.
    pub(in crate::group) outstanding: u64,
    pub(in crate::group) due: u64,
    pub(in crate::group) contention: Contention,
    /// It waits for a MAP that has its opportunity.
    pub(in crate::group) is_undecided: bool,
    /// The interval of the last draw, and how many there were in it.
    drawn: (u64, u64),
    asked: VecDeque<Asked>,
    /// Intervals with a grant, noted where requests cannot be lost.
    granted: VecDeque<u64>,
    /// Bytes of requests that were granted in the bursts so far.
    position: u64,
    /// Departure of the last packet from the CMTS: they leave in order.
    pub(super) arrived: Instant,
    /// Bytes requested, granted, and granted for nothing.
    pub(in crate::group) mac: LinkCounters,
}

impl Flow {
    pub(super) fn new() -> Self {
        Self {
            fragment: None,
            outstanding: 0,
            due: 0,
            contention: Contention::Idle,
            is_undecided: false,
            drawn: (0, 0),
            asked: VecDeque::new(),
            granted: VecDeque::new(),
            position: 0,
            arrived: Instant::ZERO,
            mac: LinkCounters::default(),
        }
    }

    /// The address of the next draw in interval `map`.
    pub(in crate::group) const fn draw(&mut self, map: u64) -> u64 {
        let number = if self.drawn.0 == map { self.drawn.1 } else { 0 };
        self.drawn = (map, number + 1);
        16 * map + number
    }

    /// Skips requested bytes that were granted without a burst for them.
    pub(in crate::group) const fn skip(&mut self, bytes: u64) {
        self.position += bytes;
    }

    /// Begins a burst for `requested` granted bytes; returns the position of the first of them.
    pub(super) fn begin_burst(&mut self, requested: u64) -> u64 {
        let begin = self.position;
        self.position += requested;
        self.forget(begin + 1);
        begin
    }

    /// The request of the byte before `position`, if any was heard. Positions never decrease.
    pub(super) fn asked_for(&mut self, position: u64) -> Option<Asked> {
        self.forget(position);
        self.asked.front().copied()
    }

    /// Forgets requests that end before `position`; they are no longer read.
    fn forget(&mut self, position: u64) {
        while self.asked.len() > 1 && self.asked[0].end < position {
            self.asked.pop_front();
        }
    }

    /// The MAP of interval `map` has a grant for it.
    pub(in crate::group) fn note_grant(&mut self, map: u64) {
        if self.granted.back() != Some(&map) {
            self.granted.push_back(map);
        }
    }

    /// Returns true if the MAP of interval `map` has a grant for it; intervals before are over.
    pub(in crate::group) fn has_grant(&mut self, map: u64) -> bool {
        while self.granted.front().is_some_and(|first| *first < map) {
            self.granted.pop_front();
        }
        self.granted.contains(&map)
    }

    /// A request was heard that ends at `end` among all requested bytes.
    pub(in crate::group) fn heard(&mut self, end: u64, (first, sent): (Instant, Instant), interval: Instant) {
        self.asked.push_back(Asked { end, first, sent, interval });
    }
}
