//! Families: all configurations of one sort (queue managers, links, applications, controllers) behind one pointer, so
//! that callers treat built-in ones and those of other crates alike.
//!
//! A family is a trait for its configurations, with [`Values`] above it, and a type that [`family!`](crate::family)
//! declares: it holds any one of them, and calls what the trait says.

use alloc::boxed::Box;
use core::any::Any;
use core::fmt::{self, Debug};
use sojourn_base::Shown;

use crate::form::{KindInfo, Visitor};
use crate::grown::Grown;
use crate::kind::{AnyKind, Configured, KindOf};

/// A configuration behind a pointer. `F` is the type that holds any of its family.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be one of the configurations of `{F}`",
    note = "it needs `Configured`, `Clone`, `PartialEq`, `Debug`, `Send` and `Sync`"
)]
pub trait Values<F>: Shown + Send + Sync + 'static {
    /// [`Configured::kind`].
    fn kind(&self) -> &'static str;
    /// A copy.
    fn duplicate(&self) -> F;
    /// [`Configured::keys`] of a copy, which is returned.
    fn shown(&self, visitor: &mut dyn Visitor) -> F;
    /// Returns true if `other` is of the same type and has the same values.
    fn equals(&self, other: &dyn Any) -> bool;
    /// The configuration itself.
    fn as_any(&self) -> &dyn Any;
    /// The configuration itself, to be changed.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<F, C> Values<F> for C
where
    F: From<C>,
    C: Configured + Clone + PartialEq + Debug + Send + Sync,
{
    fn kind(&self) -> &'static str {
        Configured::kind(self)
    }

    fn duplicate(&self) -> F {
        F::from(self.clone())
    }

    fn shown(&self, visitor: &mut dyn Visitor) -> F {
        let mut copy = self.clone();
        copy.keys(visitor);
        F::from(copy)
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// A type that holds any configuration of a family; [`family!`](crate::family) declares one.
pub trait Family: Sized + 'static {
    /// Shows the keys of the configuration.
    fn show(&mut self, visitor: &mut dyn Visitor);
    /// Returns true if the configuration is of type `C`.
    fn holds<C: 'static>(&self) -> bool;
}

impl<F: Family + From<C>, C: Configured> AnyKind<F> for KindOf<C> {
    fn info(&self) -> KindInfo {
        Self::describe()
    }

    fn values(&self, profile: Option<&str>) -> F {
        Self::configuration(profile).into()
    }

    fn keys(&self, value: &mut F, visitor: &mut dyn Visitor) {
        if value.holds::<C>() {
            value.show(visitor);
        }
    }
}

/// Configurations that live as long as the program, each set of values once.
pub struct Kept<K: ?Sized + 'static>(Grown<&'static K>);

impl<K: ?Sized> Kept<K> {
    /// None yet.
    pub const fn new() -> Self {
        Self(Grown::new())
    }

    /// The one that `is_it` is true for.
    pub fn find(&self, is_it: impl Fn(&K) -> bool) -> Option<&'static K> {
        let mut found = None;
        self.0.each(|one| {
            if found.is_none() && is_it(one) {
                found = Some(one);
            }
        });
        found
    }

    /// One more. Without the feature `std` it is not found again.
    pub fn keep(&self, one: Box<K>) -> &'static K {
        let one: &'static K = Box::leak(one);
        #[cfg(feature = "std")]
        self.0.add(one, |_| false);
        one
    }
}

impl<K: ?Sized> Default for Kept<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: ?Sized> Debug for Kept<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kept")
    }
}

/// Pointer inside a family's type; users of the macro may have no `std`.
#[doc(hidden)]
pub type Pointer<K> = Box<K>;

/// Declares the type that holds any configuration of a family, and dereferences to the family's trait. With `&'static`
/// it can be copied and made in constants by `of`, and each set of values lives as long as the program.
#[macro_export]
macro_rules! family {
    ($(#[$meta:meta])* $visibility:vis struct $Any:ident(dyn $Kind:ident);) => {
        $(#[$meta])*
        $visibility struct $Any($crate::family::Pointer<dyn $Kind>);

        impl $Any {
            /// The configuration, if it is of this type, to be changed.
            pub fn get_mut<C: 'static>(&mut self) -> ::core::option::Option<&mut C> {
                self.0.as_any_mut().downcast_mut()
            }
        }

        impl<C: $Kind> ::core::convert::From<C> for $Any {
            fn from(values: C) -> Self {
                Self($crate::family::Pointer::new(values))
            }
        }

        impl ::core::ops::DerefMut for $Any {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut *self.0
            }
        }

        impl ::core::clone::Clone for $Any {
            fn clone(&self) -> Self {
                self.0.duplicate()
            }
        }

        $crate::family!(@ $Any $Kind);
    };
    ($(#[$meta:meta])* $visibility:vis struct $Any:ident(&'static dyn $Kind:ident);) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        $visibility struct $Any(&'static dyn $Kind);

        impl $Any {
            /// These values.
            pub const fn of(values: &'static dyn $Kind) -> Self {
                Self(values)
            }
        }

        impl<C: $Kind> ::core::convert::From<C> for $Any {
            fn from(values: C) -> Self {
                static KEPT: $crate::family::Kept<dyn $Kind> = $crate::family::Kept::new();
                let known = KEPT.find(|known| known.equals(values.as_any()));
                Self(known.unwrap_or_else(|| KEPT.keep($crate::family::Pointer::new(values))))
            }
        }

        $crate::family!(@ $Any $Kind);
    };
    (@ $Any:ident $Kind:ident) => {
        impl $Any {
            /// The configuration, if it is of this type.
            pub fn get<C: 'static>(&self) -> ::core::option::Option<&C> {
                self.0.as_any().downcast_ref()
            }
        }

        impl ::core::ops::Deref for $Any {
            type Target = dyn $Kind;

            fn deref(&self) -> &Self::Target {
                &*self.0
            }
        }

        impl ::core::cmp::PartialEq for $Any {
            fn eq(&self, other: &Self) -> bool {
                self.0.equals(other.0.as_any())
            }
        }

        $crate::shown!(dyn $Kind);

        impl ::core::fmt::Debug for $Any {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl $crate::Family for $Any {
            fn show(&mut self, visitor: &mut dyn $crate::Visitor) {
                *self = self.0.shown(visitor);
            }

            fn holds<C: 'static>(&self) -> bool {
                self.get::<C>().is_some()
            }
        }
    };
}
