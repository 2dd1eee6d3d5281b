//! Kinds of something: a queue manager, a link, an application; and one of their values as a choice.
//!
//! A configuration that is a kind of its own says so by [`Configured`]: its word, its keys, its profiles. A holder of
//! any such configuration lists all of them in [`Kinds`], where other crates add theirs.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use sojourn_base::native::IN_TAB;

use crate::form::{Choice, KindInfo, Visitor};
use crate::grown::Grown;

/// A named, complete set of values.
#[derive(Debug)]
pub struct Profile<T: 'static> {
    /// The word for it.
    pub name: &'static str,
    /// Origin of the values, and the most important ones.
    pub about: &'static str,
    /// The values.
    pub values: fn() -> T,
}

/// A configuration that a file may ask for by a word, with its keys.
pub trait Configured: Sized + 'static {
    /// The word for it in files and records.
    const KIND: &'static str;
    /// Meaning, in a line.
    const ABOUT: &'static str;
    /// Named sets of values.
    const PROFILES: &'static [Profile<Self>] = &[];

    /// The defaults; the values of required keys do not matter.
    fn base() -> Self;

    /// Shows each key with its value.
    fn keys(&mut self, visitor: &mut dyn Visitor);

    /// [`Self::KIND`], of a value.
    fn kind(&self) -> &'static str {
        Self::KIND
    }
}

/// A kind of `T`.
pub trait AnyKind<T>: Sync + fmt::Debug {
    /// Its name, meaning and profiles.
    fn info(&self) -> KindInfo;
    /// The values of `profile`, or the defaults.
    fn values(&self, profile: Option<&str>) -> T;
    /// Shows the keys of a value of this kind, and none of any other.
    fn keys(&self, value: &mut T, visitor: &mut dyn Visitor);
}

/// The kind whose configuration is `C`.
pub struct KindOf<C>(PhantomData<fn() -> C>);

impl<C> KindOf<C> {
    /// The kind.
    pub const KIND: Self = Self(PhantomData);
}

impl<C: Configured> fmt::Debug for KindOf<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(C::KIND)
    }
}

impl<C: Configured> KindOf<C> {
    /// Its name, meaning and profiles.
    pub fn describe() -> KindInfo {
        KindInfo { name: C::KIND, about: C::ABOUT, profiles: C::PROFILES.iter().map(|p| (p.name, p.about)).collect() }
    }

    /// The values of `profile`, or the defaults.
    pub fn configuration(profile: Option<&str>) -> C {
        let profile = C::PROFILES.iter().find(|p| Some(p.name) == profile);
        profile.map_or(C::base as fn() -> C, |profile| profile.values)()
    }
}

/// A kind that is declared in place, because it has no configuration of its own.
pub struct Kind<T: 'static> {
    /// The word for it.
    pub name: &'static str,
    /// Meaning, in a line.
    pub about: &'static str,
    /// The defaults; the values of required keys do not matter.
    pub base: fn() -> T,
    /// Named sets of values.
    pub profiles: &'static [Profile<T>],
    /// Shows the keys of a value of this kind, and none of any other.
    pub keys: fn(&mut T, &mut dyn Visitor),
}

impl<T> fmt::Debug for Kind<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kind").field(&self.name).finish()
    }
}

impl<T> AnyKind<T> for Kind<T> {
    fn info(&self) -> KindInfo {
        KindInfo {
            name: self.name,
            about: self.about,
            profiles: self.profiles.iter().map(|p| (p.name, p.about)).collect(),
        }
    }

    fn values(&self, profile: Option<&str>) -> T {
        let profile = self.profiles.iter().find(|p| Some(p.name) == profile);
        profile.map_or(self.base, |profile| profile.values)()
    }

    fn keys(&self, value: &mut T, visitor: &mut dyn Visitor) {
        (self.keys)(value, visitor);
    }
}

/// All kinds of `T`: those of this project, and those that were added when the program started.
pub struct Kinds<T: 'static> {
    ours: &'static [Option<&'static dyn AnyKind<T>>],
    added: Grown<&'static dyn AnyKind<T>>,
}

/// Lists kinds. One that no lesson has is followed by `=> native`: an engine for browser tabs, which is small, leaves it out.
#[macro_export]
macro_rules! kinds {
    ($($kind:expr $(=> $native:ident)?,)*) => { &[$($crate::kinds!(@ $kind $(, $native)?)),*] };
    (@ $kind:expr) => { ::core::option::Option::Some($kind) };
    (@ $kind:expr, native) => { $crate::kind::native($kind) };
}

/// `kind`, where it is known.
#[doc(hidden)]
pub const fn native<T>(kind: &'static dyn AnyKind<T>) -> Option<&'static dyn AnyKind<T>> {
    if IN_TAB { None } else { Some(kind) }
}

/// There is a kind of this name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameTaken(pub &'static str);

impl fmt::Display for NameTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is a kind \"{}\" already", self.0)
    }
}

impl core::error::Error for NameTaken {}

impl<T> Kinds<T> {
    /// The project's own, as [`kinds!`](crate::kinds) lists them.
    pub const fn new(ours: &'static [Option<&'static dyn AnyKind<T>>]) -> Self {
        Self { ours, added: Grown::new() }
    }

    /// All, in the order of the registry, then in that of their addition.
    pub fn all(&self) -> Vec<&'static dyn AnyKind<T>> {
        let mut all: Vec<_> = self.ours.iter().copied().flatten().collect();
        self.added.each(|kind| all.push(kind));
        all
    }

    /// Makes one more kind known, before the first file that asks for it is read.
    #[cfg(feature = "std")]
    pub fn add(&self, kind: &'static dyn AnyKind<T>) -> Result<(), NameTaken> {
        let name = kind.info().name;
        let is_taken = |known: &'static dyn AnyKind<T>| known.info().name == name;
        if self.ours.iter().copied().flatten().any(is_taken) || !self.added.add(kind, is_taken) {
            return Err(NameTaken(name));
        }
        Ok(())
    }
}

impl<T> fmt::Debug for Kinds<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.all().into_iter().map(|kind| kind.info().name);
        f.debug_list().entries(names).finish()
    }
}

/// A value as a [`Choice`] among kinds.
#[derive(Debug)]
pub struct OneOf<'a, T: 'static> {
    value: &'a mut T,
    kinds: Vec<&'static dyn AnyKind<T>>,
    selected: fn(&T) -> &'static str,
}

impl<'a, T> OneOf<'a, T> {
    /// A choice among kinds that are declared in place; `selected` names the kind of a value.
    pub fn new(value: &'a mut T, kinds: &'static [Kind<T>], selected: fn(&T) -> &'static str) -> Self {
        let kinds = kinds.iter().map(|kind| kind as &'static dyn AnyKind<T>);
        Self { value, kinds: kinds.collect(), selected }
    }

    /// A choice among `kinds`; `selected` names the kind of a value.
    pub fn among(value: &'a mut T, kinds: Vec<&'static dyn AnyKind<T>>, selected: fn(&T) -> &'static str) -> Self {
        Self { value, kinds, selected }
    }

    fn kind(&self, name: &str) -> Option<&'static dyn AnyKind<T>> {
        let mut kinds = self.kinds.iter().copied();
        kinds.find(|kind| kind.info().name == name)
    }
}

impl<T> Choice for OneOf<'_, T> {
    fn kinds(&self) -> Vec<KindInfo> {
        self.kinds.iter().map(|kind| kind.info()).collect()
    }

    fn selected(&self) -> &'static str {
        (self.selected)(self.value)
    }

    fn select(&mut self, kind: &str, profile: Option<&str>) {
        if let Some(kind) = self.kind(kind) {
            *self.value = kind.values(profile);
        }
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        if let Some(kind) = self.kind(self.selected()) {
            kind.keys(self.value, visitor);
        }
    }
}
