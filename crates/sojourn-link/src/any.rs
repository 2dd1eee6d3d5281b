//! Every link behind one type. Those of this crate are called without a pointer, so that a context which does not record
//! a passage does not have it put together; any other is called through one.

use crate::{Cascade, Downstream, Link, LinkContext, Serial, Shaped, SingleQueue, Transmit, Upstream};
use alloc::boxed::Box;
use core::any::Any;
use core::ops::Deref;
use sojourn_base::{Instant, Meta, PacketHandle};

/// A link that is called through a pointer, and calls its context through one.
pub(crate) type Pointed = dyn for<'a> Transmit<dyn LinkContext + 'a>;

sojourn_base::shown!(Pointed);

macro_rules! links {
    ($d:tt $($link:ident,)*) => {
        /// A running link of any kind.
        #[derive(Debug)]
        #[allow(
            clippy::large_enum_variant,
            reason = "there are few links, and ours are called without a pointer"
        )]
        pub enum AnyLink {
            $(#[doc = concat!("See [`", stringify!($link), "`].")] $link($link),)*
            /// Any other: see [`AnyLink::other`].
            Other(Box<Pointed>),
        }

        $(
            impl From<$link> for AnyLink {
                fn from(link: $link) -> Self {
                    Self::$link(link)
                }
            }
        )*

        impl AnyLink {
            /// The same behind a pointer.
            pub(crate) fn pointed(self) -> Box<Pointed> {
                match self {
                    $(Self::$link(link) => Box::new(link),)*
                    Self::Other(link) => link,
                }
            }
        }

        /// Methods of any link.
        impl Deref for AnyLink {
            type Target = dyn Link;

            #[inline]
            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$link(link) => link,)*
                    Self::Other(link) => &**link,
                }
            }
        }

        /// Calls whichever link it is.
        macro_rules! each_link {
            ($d self:expr, $d link:ident => $d call:expr) => {
                match $d self {
                    $(AnyLink::$link($d link) => $d call,)*
                    AnyLink::Other($d link) => $d call,
                }
            };
        }
    };
}

links! { $ Serial, Shaped, Cascade, SingleQueue, Upstream, Downstream, }

impl AnyLink {
    /// A link that this list does not name, for instance one of another crate.
    pub fn other(link: impl for<'a> Transmit<dyn LinkContext + 'a> + 'static) -> Self {
        Self::Other(Box::new(link))
    }

    /// [`Transmit::on_arrival`]; then when the link wants to be called next.
    #[inline]
    pub fn arrive(&mut self, now: Instant, meta: Meta, item: PacketHandle, context: &mut impl LinkContext) -> Instant {
        each_link!(self, link => {
            link.on_arrival(now, meta, item, context);
            link.next_wakeup()
        })
    }

    /// [`Transmit::on_wakeup`]; then when the link wants to be called next.
    #[inline]
    pub fn wake(&mut self, now: Instant, context: &mut impl LinkContext) -> Instant {
        each_link!(self, link => {
            link.on_wakeup(now, context);
            link.next_wakeup()
        })
    }

    /// See [`Link::retune`].
    pub(crate) fn retune(&mut self, now: Instant, from: &dyn Any, to: &dyn Any) -> bool {
        each_link!(self, link => link.retune(now, from, to))
    }

    /// See [`Link::retune_queue`].
    pub(crate) fn retune_queue(&mut self, to: &dyn Any) -> bool {
        each_link!(self, link => link.retune_queue(to))
    }

    /// [`Transmit::settle`]; then when the link wants to be called next.
    pub fn settle(&mut self, now: Instant, context: &mut impl LinkContext) -> Instant {
        each_link!(self, link => {
            link.settle(now, context);
            link.next_wakeup()
        })
    }
}
