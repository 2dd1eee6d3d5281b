//! Directions, from the subscriber's point of view.

use core::ops::{Index, IndexMut};

/// Which way a packet travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the subscriber into the network.
    Upstream,
    /// From the network to the subscriber.
    Downstream,
}

impl Direction {
    /// Both directions, upstream first.
    pub const BOTH: [Self; 2] = [Self::Upstream, Self::Downstream];

    /// The other way.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Upstream => Self::Downstream,
            Self::Downstream => Self::Upstream,
        }
    }

    /// The word used in files and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Upstream => "upstream",
            Self::Downstream => "downstream",
        }
    }
}

/// One value for each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerDirection<T> {
    /// The subscriber's sending side.
    pub upstream: T,
    /// The subscriber's receiving side.
    pub downstream: T,
}

impl<T> Index<Direction> for PerDirection<T> {
    type Output = T;
    fn index(&self, direction: Direction) -> &T {
        match direction {
            Direction::Upstream => &self.upstream,
            Direction::Downstream => &self.downstream,
        }
    }
}

impl<T> IndexMut<Direction> for PerDirection<T> {
    fn index_mut(&mut self, direction: Direction) -> &mut T {
        match direction {
            Direction::Upstream => &mut self.upstream,
            Direction::Downstream => &mut self.downstream,
        }
    }
}
