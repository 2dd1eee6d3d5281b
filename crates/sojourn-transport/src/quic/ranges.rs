//! Sets of numbers as disjoint ranges: packets that have arrived, bytes that have arrived or were acknowledged.

use alloc::vec::Vec;

/// Ranges `[first, end)` in ascending order; neighbours are one range.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    ranges: Vec<(u64, u64)>,
}

impl Ranges {
    /// Adds `first..end`; returns how many of these numbers are new.
    pub(super) fn insert(&mut self, first: u64, end: u64) -> u64 {
        if first >= end {
            return 0;
        }
        let from = self.ranges.partition_point(|range| range.1 < first);
        let to = from + self.ranges[from..].partition_point(|range| range.0 <= end);
        let mut new = end - first;
        let mut merged = (first, end);
        for range in &self.ranges[from..to] {
            new -= range.1.min(end).saturating_sub(range.0.max(first));
            merged = (merged.0.min(range.0), merged.1.max(range.1));
        }
        if to == from + 1 {
            self.ranges[from] = merged;
        } else {
            self.ranges.splice(from..to, [merged]);
        }
        new
    }

    /// Returns true if all of `first..end` is there; an empty range always is.
    pub(super) fn contains(&self, first: u64, end: u64) -> bool {
        let place = self.ranges.partition_point(|range| range.1 <= first);
        let holds = |range: &(u64, u64)| range.0 <= first && end <= range.1;
        first >= end || self.ranges.get(place).is_some_and(holds)
    }

    /// The numbers from 0 on that are there without a hole.
    pub(super) fn prefix(&self) -> u64 {
        match self.ranges.first() {
            Some(&(0, end)) => end,
            _ => 0,
        }
    }

    /// The ranges, the highest first.
    pub(super) fn highest(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().rev().copied()
    }

    /// Forgets the lowest ranges beyond `most`; returns one above the highest number that was forgotten.
    pub(super) fn keep(&mut self, most: usize) -> Option<u64> {
        let surplus = self.ranges.len().checked_sub(most).filter(|&n| n > 0)?;
        self.ranges.drain(..surplus).next_back().map(|range| range.1)
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.ranges.capacity() * size_of::<(u64, u64)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranges_are_the_set_of_their_numbers(
            inserts in proptest::collection::vec((0_u64..60, 0_u64..8), 0..40),
            (first, length) in (0_u64..60, 0_u64..8),
        ) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (first, length) in inserts {
                let before = set.len();
                set.extend(first..first + length);
                let new = ranges.insert(first, first + length);
                prop_assert_eq!(new, (set.len() - before) as u64);
            }
            let all: BTreeSet<u64> = ranges.highest().flat_map(|(first, end)| first..end).collect();
            prop_assert_eq!(&all, &set);
            let neighbours = ranges.ranges.windows(2).all(|pair| pair[0].1 < pair[1].0);
            prop_assert!(neighbours, "{:?}", ranges);
            let mut wanted = first..first + length;
            prop_assert_eq!(ranges.contains(first, first + length), wanted.all(|n| set.contains(&n)));
            prop_assert_eq!(ranges.prefix(), (0..100).find(|n| !set.contains(n)).expect("numbers are below 100"));
        }
    }

    #[test]
    fn the_lowest_ranges_are_forgotten_first() {
        let mut ranges = Ranges::default();
        for first in [0, 10, 20] {
            ranges.insert(first, first + 2);
        }
        assert_eq!((ranges.keep(3), ranges.keep(1)), (None, Some(12)));
        assert_eq!(ranges.highest().collect::<Vec<_>>(), [(20, 22)]);
    }
}
