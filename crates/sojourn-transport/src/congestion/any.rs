//! Every running controller as one type. Those with little state stand in their connection, so that a new connection
//! allocates nothing for them; the others stand behind a pointer.

use super::CongestionControl;
use super::cubic_linux::CubicLinux;
use super::cubic_rfc9438::Cubic;
use super::cubic_v21::CubicV21;
use super::dctcp::Dctcp;
use super::reno::Reno;
use alloc::boxed::Box;
use core::ops::{Deref, DerefMut};
use sojourn_base::native::Native;

macro_rules! controllers {
    ($($controller:ident($state:ty),)*) => {
        /// A running controller of any kind.
        #[derive(Clone, Debug)]
        pub enum AnyController {
            $(#[doc = concat!("See [`", stringify!($controller), "`].")] $controller($state),)*
            /// Any other.
            Other(Box<dyn CongestionControl>),
        }

        $(
            impl From<$state> for AnyController {
                fn from(controller: $state) -> Self {
                    Self::$controller(controller)
                }
            }
        )*

        impl Deref for AnyController {
            type Target = dyn CongestionControl;

            #[inline]
            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$controller(controller) => {
                        let controller: &$controller = controller;
                        controller
                    })*
                    Self::Other(controller) => &**controller,
                }
            }
        }

        impl DerefMut for AnyController {
            #[inline]
            fn deref_mut(&mut self) -> &mut Self::Target {
                match self {
                    $(Self::$controller(controller) => {
                        let controller: &mut $controller = controller;
                        controller
                    })*
                    Self::Other(controller) => &mut **controller,
                }
            }
        }
    };
}

controllers! { Reno(Reno), Cubic(Cubic), CubicLinux(Native<CubicLinux>), CubicV21(CubicV21), Dctcp(Dctcp), }

impl AnyController {
    /// A controller that this list does not name, for instance one of another crate.
    pub fn other(controller: impl CongestionControl + 'static) -> Self {
        Self::Other(Box::new(controller))
    }
}
