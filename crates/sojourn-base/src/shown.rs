//! Values that can be printed for debugging.
//!
//! Any value behind a pointer can, except in browsers: nothing is printed there, and the code would be part of every
//! download.

/// [`core::fmt::Debug`], of what stands behind a pointer: the trait above such traits.
#[cfg(not(target_family = "wasm"))]
pub trait Shown: core::fmt::Debug {}

#[cfg(not(target_family = "wasm"))]
impl<T: core::fmt::Debug + ?Sized> Shown for T {}

/// Nothing, in a browser's tab.
#[cfg(target_family = "wasm")]
pub trait Shown {}

#[cfg(target_family = "wasm")]
impl<T: ?Sized> Shown for T {}

/// Lets what can be printed hold a trait object whose trait is [`Shown`](crate::Shown), in a browser's tab, too.
#[macro_export]
macro_rules! shown {
    ($object:ty) => {
        #[cfg(target_family = "wasm")]
        impl ::core::fmt::Debug for $object {
            fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                Ok(())
            }
        }
    };
}
