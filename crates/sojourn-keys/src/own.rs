//! Configurations from outside: kinds that are added when a program starts, behind a pointer.
//!
//! Each family (queue managers, links, applications) has an enum of its configurations, one variant of which is
//! [`Own`]: a pointer to what the family asks of a configuration, as far as a pointer can say it. The family
//! declares that trait, and which configurations it takes ([`Takes`]); the rest is here.
//!
//! Source: none. Deviations: none known.

use core::any::Any;
use core::fmt::{self, Debug};
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use crate::form::{KindInfo, Visitor};
use crate::kind::{AnyKind, Configured, KindOf, Kinds, NameTaken};

/// The configurations of a family, with a variant for those from outside.
pub trait Family: Sized + 'static {
    /// What the family asks of a configuration behind a pointer.
    type Pointer: ?Sized + Pointed<Self> + 'static;

    /// The variant.
    fn own(own: Own<Self>) -> Self;

    /// What it holds, if `self` is of that variant.
    fn own_mut(&mut self) -> Option<&mut Own<Self>>;
}

/// A family that takes configurations of type `C` from outside.
pub trait Takes<C>: Family {
    /// The configuration behind the family's pointer.
    fn boxed(configuration: C) -> Box<Self::Pointer>;
}

/// What can be asked of a configuration behind the pointer of any family.
pub trait Pointed<T: Family>: Debug + Send + Sync {
    /// [`Configured::KIND`].
    fn kind(&self) -> &'static str;
    /// A copy.
    fn duplicate(&self) -> Box<T::Pointer>;
    /// Whether `other` has the same kind and values.
    fn equals(&self, other: &dyn Any) -> bool;
    /// The configuration itself.
    fn as_any(&self) -> &dyn Any;
    /// The configuration itself, to be changed.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<T, C> Pointed<T> for C
where
    T: Takes<C>,
    C: Configured + Clone + PartialEq + Debug + Send + Sync,
{
    fn kind(&self) -> &'static str {
        C::KIND
    }

    fn duplicate(&self) -> Box<T::Pointer> {
        T::boxed(self.clone())
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<C>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// A configuration from outside, behind the pointer of its family.
pub struct Own<T: Family>(Box<T::Pointer>);

impl<T: Family> Clone for Own<T> {
    fn clone(&self) -> Self {
        Self(self.0.duplicate())
    }
}

impl<T: Family> PartialEq for Own<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(other.0.as_any())
    }
}

impl<T: Family> Debug for Own<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Family> Deref for Own<T> {
    type Target = T::Pointer;

    fn deref(&self) -> &T::Pointer {
        &self.0
    }
}

impl<T: Family> DerefMut for Own<T> {
    fn deref_mut(&mut self) -> &mut T::Pointer {
        &mut self.0
    }
}

/// The kind of a configuration from outside.
struct OwnKind<C>(PhantomData<fn() -> C>);

impl<C> Debug for OwnKind<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(core::any::type_name::<Self>())
    }
}

impl<T: Takes<C>, C: Configured> AnyKind<T> for OwnKind<C> {
    fn info(&self) -> KindInfo {
        KindOf::<C>::describe()
    }

    fn values(&self, profile: Option<&str>) -> T {
        T::own(Own(T::boxed(KindOf::<C>::configuration(profile))))
    }

    fn keys(&self, value: &mut T, visitor: &mut dyn Visitor) {
        if let Some(own) = value.own_mut()
            && let Some(configuration) = own.as_any_mut().downcast_mut::<C>()
        {
            configuration.keys(visitor);
        }
    }
}

impl<T: Family> Kinds<T> {
    /// Makes the kind of `C` known, before the first file that asks for it is read.
    pub fn add_own<C: Configured>(&self) -> Result<(), NameTaken>
    where
        T: Takes<C>,
    {
        // A registry only grows.
        self.add(Box::leak(Box::new(OwnKind::<C>(PhantomData))))
    }
}
