//! Declarations of parameters: one row makes field, documentation, key, default, bounds and origin.
//!
//! ```
//! use sojourn_base::Span;
//! use sojourn_keys::{Configured, origin, parameters};
//!
//! parameters! {
//!     /// Parameters of a clock.
//!     #[derive(Copy)]
//!     pub struct ClockConfig: "clock", "a clock that ticks" {
//!         /// time from tick to tick
//!         period: Span = Span::from_ms(10), origin("chosen: 10 ms").least("1 us").most("1 s");
//!         /// ticks to leave out after so long; there may be none
//!         pause: Option<Span> = None, origin("chosen: off").or("off");
//!     }
//!     profiles {
//!         /// a clock of today: 1 ms
//!         FAST "fast" { period = Span::from_ms(1); }
//!     }
//! }
//!
//! assert_eq!(ClockConfig::base(), ClockConfig { period: Span::from_ms(10), pause: None });
//! assert_eq!(ClockConfig::PROFILES[0].about, "a clock of today: 1 ms");
//! ```
//!
//! [`parameters!`] makes a struct of rows, in the order in which files are printed:
//!
//! ```text
//! /// meaning, in a line for users; lines below it are for readers of the code
//! field as "key": Type = default, origin("where the default comes from").least("1 B") => show;
//! ```
//!
//! - `as "key"` only if the key is not called like the field.
//! - What stands behind the default is a [`Key`](crate::Key): [`origin`](crate::origin) and what
//!   [`Key`](crate::Key) adds, or a constant that several rows share, which brings its name and meaning along. A row
//!   without it is a part: its keys stand in this table.
//! - `, if |it| …` behind the key: it is shown only where that holds, where a file has it, and in descriptions.
//! - `=> show` names a function that shows the field, if [`Parameter`](crate::Parameter) does not do it as wanted:
//!   `fn(Key, &mut Type, &mut dyn Visitor)`, of a part without the key.
//! - A row, a profile or a word that no lesson has stands behind `#[native()]`, below its lines of meaning: files in a browser
//!   tab cannot name it, and the engine there is small.
//!
//! If defaults cannot be constants, `struct NAME by base` makes a function `base` of them.
//!
//! With a word and its meaning the struct is a kind ([`Configured`](crate::Configured)), without them a table or a
//! part. `profiles` are constants with what differs from `BASE`, or from another one (`NAME from OTHER { … }`); of a
//! kind they have words, by which files ask for them. Profiles may stand elsewhere: `profiles of NAME { … }`.
//!
//! [`choices!`] makes an enum whose variants are kinds, with rows of the same form in parentheses or braces, and whose
//! `BASE` is the first of them;
//! [`words!`] one whose variants are words.

use crate::key::Key;
use sojourn_base::native::IN_TAB;

/// The first line of a documentation comment, which is what users read.
pub const fn first_line(documentation: &'static str) -> &'static str {
    let bytes = documentation.as_bytes();
    let mut end = 0;
    while end < bytes.len() && bytes[end] != b'\n' {
        end += 1;
    }
    let begin = if end > 0 && bytes[0] == b' ' { 1 } else { 0 };
    documentation.split_at(end).0.split_at(begin).1
}

/// A key about which its row says the rest: `origin` is where its default or its meaning comes from.
pub const fn origin(origin: &'static str) -> Key {
    crate::key::key("", "", origin)
}

/// Returns true if files may name a row behind `#[native()]`.
#[doc(hidden)]
pub const fn is_known() -> bool {
    !IN_TAB
}

/// Declares parameters; see [the module](crate::declare).
#[macro_export]
macro_rules! parameters {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident $(: $kind:literal, $about:literal)? { $($rows:tt)* }
        $(profiles { $($profiles:tt)* })?
    ) => {
        $crate::parameters! { @struct [$(#[$attribute])*] [$visibility] $name [] { $($rows)* } }
        $crate::parameters! { @constants [$visibility] $name { $($($profiles)*)? } }
        $crate::parameters! { @kind $name [$($kind, $about)?] { $($($profiles)*)? } }
    };

    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident by $base:ident { $($rows:tt)* }
    ) => {
        $crate::parameters! { @struct [$(#[$attribute])*] [$visibility] $name [$base] { $($rows)* } }
        $crate::parameters! { @kind $name [] {} }
    };

    (profiles of $name:ident { $($profiles:tt)* }) => {
        $crate::parameters! { @constants [pub] $name { $($profiles)* } }
        $crate::parameters! { @list $name { $($profiles)* } }
    };

    (@struct [$($attributes:tt)*] [$visibility:vis] $name:ident [$($base:ident)?] {
        $(
            $(#[doc = $doc:literal])*
            $(#[native $native:tt])?
            $field:ident $(as $key:literal)?: $type:ty = $default:expr
                $(, $row:expr $(, if $shown:expr)?)? $(=> $show:path)?;
        )*
    }) => {
        $($attributes)*
        #[derive(Clone, Debug, PartialEq)]
        $visibility struct $name {
            $(
                $(#[doc = $doc])*
                #[doc = concat!("\n\nDefault: `", stringify!($default), "`", $("; `", stringify!($row), "`",)? ".")]
                $visibility $field: $type,
            )*
        }

        impl $name {
            $crate::parameters! {
                @base [$visibility] [$($base)?] { $($field: $default),* }
            }

            /// Shows each key with its value.
            $visibility fn keys(&mut self, visitor: &mut dyn $crate::Visitor) {
                let _ = &visitor;
                $(
                    if true $(&& $crate::declare::is_known $native)? {
                        $($(let shown: fn(&Self) -> bool = $shown;)?)?
                        $crate::parameters!(
                            @when [$($(self shown $shown)?)?] visitor ($crate::parameters!(@name $field $($key)?))
                            $crate::parameters!(
                                @show [$($row)?] [$($show)?] &mut self.$field, visitor,
                                $crate::parameters!(@name $field $($key)?),
                                $crate::declare::first_line(concat!($($doc, "\n"),*))
                            )
                        );
                    }
                )*
            }
        }
    };

    (@base [$visibility:vis] [] { $($values:tt)* }) => {
        /// The defaults; the values of required keys do not matter.
        $visibility const BASE: Self = Self { $($values)* };
    };
    (@base [$visibility:vis] [$base:ident] { $($values:tt)* }) => {
        /// The defaults; the values of required keys do not matter.
        $visibility fn $base() -> Self {
            Self { $($values)* }
        }
    };

    (@constants [$visibility:vis] $name:ident {
        $(
            $(#[doc = $text:literal])*
            $(#[native $native:tt])?
            $profile:ident $($word:literal)? $(from $other:ident)? { $($($place:ident).+ = $value:expr;)* }
        )*
    }) => {
        impl $name {
            $(
                $(#[doc = $text])*
                $visibility const $profile: Self = {
                    #[allow(unused_mut, reason = "a profile may be another one by name")]
                    let mut it = $crate::parameters!(@other $($other)?);
                    $(it.$($place).+ = $value;)*
                    it
                };
            )*
        }
    };

    (@other) => { Self::BASE };
    (@other $other:ident) => { Self::$other };

    (@kind $name:ident [] { $($profiles:tt)* }) => {
        impl $crate::Parameter for $name {
            fn show(&mut self, key: $crate::Key, visitor: &mut dyn $crate::Visitor) {
                visitor.table(key, &mut |visitor| self.keys(visitor));
            }
        }
    };
    (@kind $name:ident [$kind:literal, $about:literal] { $($profiles:tt)* }) => {
        $crate::parameters! { @list $name { $($profiles)* } }

        impl $crate::Configured for $name {
            const KIND: &'static str = $kind;
            const ABOUT: &'static str = $about;
            const PROFILES: &'static [$crate::Profile<Self>] = Self::PROFILES;

            fn base() -> Self {
                Self::BASE
            }

            fn keys(&mut self, visitor: &mut dyn $crate::Visitor) {
                Self::keys(self, visitor);
            }
        }
    };

    (@list $name:ident {
        $(
            $(#[doc = $text:literal])*
            $(#[native $native:tt])?
            $profile:ident $word:literal $(from $other:ident)? { $($changes:tt)* }
        )*
    }) => {
        impl $name {
            /// The named sets of values that files may ask for.
            pub const PROFILES: &'static [$crate::Profile<Self>] = &[
                $($(#[cfg(all(not(target_family = "wasm"), all $native))])? $crate::Profile {
                    name: $word,
                    about: $crate::key::described($crate::declare::first_line(concat!($($text, "\n"),*))),
                    values: || Self::$profile,
                },)*
            ];
        }
    };

    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $key:literal) => { $key };

    // A row that is always shown, or where its condition holds.
    (@when [] $visitor:ident ($key:expr) $show:expr) => { $show };
    (@when [$self:ident $shown:ident $condition:expr] $visitor:ident ($key:expr) $show:expr) => {
        if $shown($self) || $visitor.has($key) || $visitor.is_exhaustive() {
            $show;
        }
    };

    // A part, a key, a key with a function of its own.
    (@show [] [] $field:expr, $visitor:ident, $name:expr, $about:expr) => {
        ($field).keys($visitor)
    };
    (@show [] [$show:path] $field:expr, $visitor:ident, $name:expr, $about:expr) => {
        $show($field, $visitor)
    };
    (@show [$row:expr] [] $field:expr, $visitor:ident, $name:expr, $about:expr) => {
        $crate::Parameter::show($field, const { $row.called($name, $about) }, $visitor)
    };
    (@show [$row:expr] [$show:path] $field:expr, $visitor:ident, $name:expr, $about:expr) => {
        $show(const { $row.called($name, $about) }, $field, $visitor)
    };
}

/// Declares an enum each variant of which is a kind with keys; see [the module](crate::declare).
#[macro_export]
macro_rules! choices {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $(#[native $native:tt])?
                $variant:ident
                $(($($binding:ident: $part:ty = $of:expr $(, $part_key:expr)? $(=> $show_part:path)?);*))?
                $({ $(
                    $(#[doc = $text:literal])*
                    $field:ident $(as $key:literal)?: $type:ty = $default:expr $(, $row:expr)? $(=> $show:path)?;
                )* })?
                = $word:literal
                $(profiles { $($(#[doc = $meaning:literal])* $profile:literal = $value:expr;)* })?,
            )*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        $visibility enum $name {
            $(
                $(#[doc = $doc])*
                $variant $(($($part),*))? $({ $(
                    $(#[doc = $text])*
                    #[doc = concat!(
                        "\n\nDefault: `", stringify!($default), "`", $("; `", stringify!($row), "`",)? "."
                    )]
                    $field: $type,
                )* })?,
            )*
        }

        impl $name {
            /// The first kind, with its defaults.
            #[allow(unreachable_code, reason = "the first of all is meant")]
            $visibility const BASE: Self = loop {
                $(break Self::$variant $(($($of),*))? $({ $($field: $default),* })?;)*
            };

            /// The word for it in files and records.
            $visibility const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $word,)*
                }
            }
        }

        impl $crate::Choices for $name {
            const KINDS: &'static [$crate::Kind<Self>] = &[
                $($(#[cfg(all(not(target_family = "wasm"), all $native))])? $crate::Kind {
                    name: $word,
                    about: $crate::key::described($crate::declare::first_line(concat!($($doc, "\n"),*))),
                    base: || Self::$variant $(($($of),*))? $({ $($field: $default),* })?,
                    profiles: &[$($($crate::Profile {
                        name: $profile,
                        about: $crate::key::described($crate::declare::first_line(concat!($($meaning, "\n"),*))),
                        values: || $value,
                    },)*)?],
                    keys: |value, visitor| {
                        let _ = &visitor;
                        #[allow(irrefutable_let_patterns, reason = "there may be one kind only")]
                        if let Self::$variant $(($($binding),*))? $({ $($field),* })? = value {
                            $($($crate::parameters!(
                                @show [$($part_key)?] [$($show_part)?] $binding, visitor, stringify!($binding), ""
                            );)*)?
                            $($($crate::parameters!(
                                @show [$($row)?] [$($show)?] $field, visitor,
                                $crate::parameters!(@name $field $($key)?),
                                $crate::declare::first_line(concat!($($text, "\n"),*))
                            );)*)?
                        }
                    },
                },)*
            ];

            fn word(&self) -> &'static str {
                self.kind()
            }
        }

        impl $crate::Parameter for $name {
            fn show(&mut self, key: $crate::Key, visitor: &mut dyn $crate::Visitor) {
                $crate::parameter::choice(key, self, visitor);
            }
        }
    };
}

/// Declares an enum each variant of which is a word; see [the module](crate::declare).
#[macro_export]
macro_rules! words {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $($(#[doc = $doc:literal])* $(#[native $native:tt])? $variant:ident = $word:literal,)*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name {
            $($(#[doc = $doc])* $variant,)*
        }

        impl $name {
            /// All of them.
            $visibility const ALL: &'static [Self] = &[$($(#[cfg(all(not(target_family = "wasm"), all $native))])? Self::$variant),*];

            /// The word for it in files and records.
            $visibility const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl $crate::value::Worded for $name {
            const WORDS: &'static [$crate::Word<Self>] = &[
                $($(#[cfg(all(not(target_family = "wasm"), all $native))])? $crate::Word {
                    name: $word,
                    value: Self::$variant,
                    about: $crate::key::described($crate::declare::first_line(concat!($($doc, "\n"),*))),
                },)*
            ];
        }
    };
}
