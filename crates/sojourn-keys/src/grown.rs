//! A list that grows while the program runs. Its lock is that of `std`: without that feature the list stays empty.

#[cfg(feature = "std")]
use std::sync::{PoisonError, RwLock};

/// Values that were added, in their order.
pub(crate) struct Grown<T> {
    #[cfg(feature = "std")]
    values: RwLock<alloc::vec::Vec<T>>,
    #[cfg(not(feature = "std"))]
    values: core::marker::PhantomData<fn() -> T>,
}

#[cfg(feature = "std")]
impl<T: Copy> Grown<T> {
    /// None yet.
    pub(crate) const fn new() -> Self {
        Self { values: RwLock::new(alloc::vec::Vec::new()) }
    }

    /// Calls `look` with each value.
    pub(crate) fn each(&self, look: impl FnMut(T)) {
        let values = self.values.read().unwrap_or_else(PoisonError::into_inner);
        values.iter().copied().for_each(look);
    }

    /// Adds a value unless `is_taken` is true for one that is there; whether it did.
    pub(crate) fn add(&self, value: T, is_taken: impl FnMut(T) -> bool) -> bool {
        let mut values = self.values.write().unwrap_or_else(PoisonError::into_inner);
        let is_new = !values.iter().copied().any(is_taken);
        if is_new {
            values.push(value);
        }
        is_new
    }
}

#[cfg(not(feature = "std"))]
impl<T: Copy> Grown<T> {
    /// None, and none follow.
    pub(crate) const fn new() -> Self {
        Self { values: core::marker::PhantomData }
    }

    /// There is nothing to look at.
    #[expect(clippy::unused_self, reason = "as with the feature `std`")]
    pub(crate) fn each(&self, _: impl FnMut(T)) {}
}
