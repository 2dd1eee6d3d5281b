//! The keys of configurations: name of a parameter in a file, its meaning, its allowed values and their origin,
//! declared once beside the configuration that holds it.
//!
//! | module | content |
//! |---|---|
//! | [`declare`] | [`parameters!`], [`choices!`], [`words!`]: one row makes field, documentation, key and default |
//! | [`mod@key`] | [`Key`]: the declaration of a parameter |
//! | [`form`] | [`Visitor`] of every key with its value |
//! | [`kind`] | [`Configured`]: a kind of something with its keys and profiles; [`Kinds`]: all of them |
//! | [`mod@family`] | [`family!`]: a type that holds any configuration of one sort |
//! | [`value`] | [`Value`]: how single values are spelt, read, printed and described |
//! | [`content`] | contents of a file, as they are read |
//!
//! Reading, printing, the JSON schema and the reference page are visitors; they live in `sojourn-scenario`. Nothing
//! here reads a file, a clock or an environment variable.
//!
//! Without the feature `std` it needs an allocator and nothing else of a system. Kinds from other crates cannot be
//! added then.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

pub mod content;
pub mod declare;
pub mod family;
pub mod form;
mod grown;
pub mod key;
pub mod kind;
mod nearest;
pub mod parameter;
pub mod value;

pub use content::Content;
pub use declare::origin;
pub use family::{Family, Values};
pub use form::{Choice, Items, ItemsOf, KindInfo, Visitor};
pub use key::{Key, key};
pub use kind::{AnyKind, Configured, Kind, KindOf, Kinds, NameTaken, OneOf, Profile};
pub use nearest::{SYNONYMS, nearest};
pub use parameter::{Choices, Parameter, bytes, rate_or, without_keys};
#[doc(hidden)]
pub use sojourn_base::shown;
pub use value::{Mismatch, Or, Shape, Value, Word, Words};
