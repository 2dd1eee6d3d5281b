//! The number of a hop of a route.

/// A hop of a route; the one after it has the next number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HopId(u32);

impl HopId {
    /// The hop with this number.
    pub(crate) const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Its number.
    pub(crate) const fn number(self) -> u32 {
        self.0
    }

    /// Its place among all hops.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// The hop after it.
    pub(crate) const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}
