//! Every link behind one type, so that an engine calls them without a virtual call; and what one line of the registry
//! in `lib.rs` makes known.
//!
//! Source: none needed. Deviations: none known.

use crate::{AnyLink, Link, LinkContext, LinkCounters, each_link};
use sojourn_base::{Instant, Meta};
use sojourn_queue::Backlog;

/// Declares [`LinkConfig`](crate::LinkConfig), [`AnyLink`] and the list of kinds from lines `Variant(Parameters),`; the
/// parameters are a [`LinkKind`](crate::LinkKind). The leading `$` lets the macro declare another one.
macro_rules! links {
    ($d:tt $($variant:ident($config:ty),)*) => {
        /// Any link in one direction, with the manager of its queue. A [`sojourn_base::Limit`] in time means
        /// time at the rate of [`LinkConfig::drain_rate`].
        #[derive(Clone, Debug, PartialEq)]
        pub enum LinkConfig {
            $(
                #[doc = concat!("See [`", stringify!($config), "`].")]
                $variant {
                    /// The link.
                    link: $config,
                    /// The manager of its queue.
                    queue: ManagerConfig,
                },
            )*
            /// Of a kind from outside this crate; see [`add_link`].
            Own {
                /// The link.
                link: own::OwnConfiguration,
                /// The manager of its queue.
                queue: ManagerConfig,
            },
        }

        /// One of the links that [`LinkConfig`] can describe, with any queue manager.
        #[derive(Debug)]
        #[allow(
            clippy::large_enum_variant,
            reason = "there are few links, and ours are called without a pointer"
        )]
        pub enum AnyLink<T> {
            $(
                #[doc = concat!("Built from [`", stringify!($config), "`].")]
                $variant(<$config as LinkKind>::Link<T>),
            )*
            /// A link from outside this crate.
            Boxed(own::OwnLink<T>),
        }

        impl LinkConfig {
            /// An idle link with these parameters. Limits in time become bytes at [`LinkConfig::drain_rate`].
            ///
            /// # Panics
            /// If [`LinkConfig::problems`] or the manager's problems list something.
            pub fn build<T: Send + 'static>(&self) -> AnyLink<T> {
                let queue = self.queue().clone().at(self.drain_rate());
                match self {
                    $(Self::$variant { link, .. } => AnyLink::$variant(link.build(queue.build())),)*
                    Self::Own { link, .. } => AnyLink::Boxed(own::OwnLink::new(link, &queue)),
                }
            }

            /// The manager of the link's queue.
            pub const fn queue(&self) -> &ManagerConfig {
                match self {
                    $(Self::$variant { queue, .. })|* | Self::Own { queue, .. } => queue,
                }
            }

            /// The manager of the link's queue, to be changed.
            pub const fn queue_mut(&mut self) -> &mut ManagerConfig {
                match self {
                    $(Self::$variant { queue, .. })|* | Self::Own { queue, .. } => queue,
                }
            }
        }

        $(
            impl sojourn_keys::Variant<LinkConfig> for $config {
                /// The link, with a queue that has no limit yet.
                fn wrap(self) -> LinkConfig {
                    LinkConfig::$variant {
                        link: self,
                        queue: blank_queue(),
                    }
                }

                fn of(value: &mut LinkConfig) -> Option<&mut Self> {
                    match value {
                        LinkConfig::$variant { link, .. } => Some(link),
                        _ => None,
                    }
                }
            }
        )*

        static KINDS: sojourn_keys::Kinds<LinkConfig> =
            sojourn_keys::Kinds::new(&[$(&sojourn_keys::KindOf::<$config>::KIND),*]);

        /// Calls whichever link it is.
        macro_rules! each_link {
            ($d self:expr, $d link:ident => $d call:expr) => {
                match $d self {
                    $(AnyLink::$variant($d link) => $d call,)*
                    AnyLink::Boxed($d link) => $d call,
                }
            };
        }

        /// Calls whichever parameters they are.
        macro_rules! each_config {
            ($d self:expr, $d config:ident => $d call:expr) => {
                match $d self {
                    $(LinkConfig::$variant { link: $d config, .. } => $d call,)*
                    LinkConfig::Own { link: $d config, .. } => $d call,
                }
            };
        }

        pub(crate) use {each_config, each_link};
    };
}

pub(crate) use links;

impl<T> AnyLink<T> {
    /// [`Link::on_arrival`]; then when the link wants to be called next.
    #[inline]
    pub fn arrive(
        &mut self,
        now: Instant,
        meta: Meta,
        item: T,
        context: &mut impl LinkContext<T>,
    ) -> Instant {
        each_link!(self, link => {
            link.on_arrival(now, meta, item, context);
            Link::<T>::next_wakeup(link)
        })
    }

    /// [`Link::on_wakeup`]; then when the link wants to be called next.
    #[inline]
    pub fn wake(&mut self, now: Instant, context: &mut impl LinkContext<T>) -> Instant {
        each_link!(self, link => {
            link.on_wakeup(now, context);
            Link::<T>::next_wakeup(link)
        })
    }
}

impl<T> Link<T> for AnyLink<T> {
    #[inline]
    fn on_arrival(&mut self, now: Instant, meta: Meta, item: T, context: &mut impl LinkContext<T>) {
        each_link!(self, link => link.on_arrival(now, meta, item, context));
    }

    #[inline]
    fn next_wakeup(&self) -> Instant {
        each_link!(self, link => Link::<T>::next_wakeup(link))
    }

    #[inline]
    fn on_wakeup(&mut self, now: Instant, context: &mut impl LinkContext<T>) {
        each_link!(self, link => link.on_wakeup(now, context));
    }

    fn settle(&mut self, now: Instant, context: &mut impl LinkContext<T>) {
        each_link!(self, link => link.settle(now, context));
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        each_link!(self, link => Link::<T>::backlog(link))
    }

    #[inline]
    fn staged(&self) -> Backlog {
        each_link!(self, link => Link::<T>::staged(link))
    }

    fn keeps_order(&self) -> bool {
        each_link!(self, link => Link::<T>::keeps_order(link))
    }

    fn sub_flow(&self, meta: &Meta) -> Option<u32> {
        each_link!(self, link => Link::<T>::sub_flow(link, meta))
    }

    fn counters(&self) -> Option<LinkCounters> {
        each_link!(self, link => Link::<T>::counters(link))
    }

    fn service_flow_counters(&self) -> Option<[LinkCounters; 2]> {
        each_link!(self, link => Link::<T>::service_flow_counters(link))
    }
}
