//! Values that an engine for browser tabs never has, so that its module stays small.
//!
//! Code for a [`Native`] is compiled everywhere, and the compiler leaves it out of a tab's engine: it could never run there.

/// True in an engine for browser tabs.
pub const IN_TAB: bool = cfg!(target_family = "wasm");

pub use of_target::{Native, native};

#[cfg(not(target_family = "wasm"))]
mod of_target {
    /// A `T`, where there can be one.
    pub type Native<T> = T;

    /// The value that `make` returns; in a tab's engine nothing, and `make` is not called.
    #[inline]
    pub fn native<T>(make: impl FnOnce() -> T) -> Option<Native<T>> {
        Some(make())
    }
}

#[cfg(target_family = "wasm")]
mod of_target {
    use core::convert::Infallible;
    use core::marker::PhantomData;
    use core::ops::{Deref, DerefMut};

    /// A `T`, of which there is none.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Native<T>(Infallible, PhantomData<T>);

    impl<T> Deref for Native<T> {
        type Target = T;

        fn deref(&self) -> &T {
            match self.0 {}
        }
    }

    impl<T> DerefMut for Native<T> {
        fn deref_mut(&mut self) -> &mut T {
            match self.0 {}
        }
    }

    /// Nothing.
    #[inline]
    pub fn native<T>(_make: impl FnOnce() -> T) -> Option<Native<T>> {
        None
    }
}
