//! Sizes: bytes and packets, kept apart because White 2012 (3.1.2) limits queues in packets and all
//! later work limits them in bytes.

use core::fmt;
use core::ops::{Add, AddAssign, Sub, SubAssign};

macro_rules! size {
    ($(#[$meta:meta])* $name:ident($inner:ty), $unit:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl $name {
            /// Nothing.
            pub const ZERO: Self = Self(0);
            /// As much as the type can say; used for "unlimited".
            pub const MAX: Self = Self(<$inner>::MAX);

            /// The difference, or zero if `other` is larger.
            #[must_use]
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} {}", self.0, $unit)
            }
        }
    };
}

size! {
    /// A number of bytes.
    Bytes(u64), "B"
}
size! {
    /// A number of packets.
    Packets(u32), "packets"
}
