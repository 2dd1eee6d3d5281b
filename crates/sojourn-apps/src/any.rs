//! All applications as one type, so that the engine dispatches without boxes; and the registry of their kinds.
//!
//! Who adds an application declares its module and adds one line to the registry in `lib.rs`.
//!
//! Source: none needed. Deviations: none known.

use core::fmt;

use sojourn_base::{Bytes, Direction, Span};
use sojourn_keys::{Configured, Mismatch};

use crate::Application;

/// A kind of application: parameters, and how a running one is built from them. A line in `lib.rs` makes it one of
/// ours, [`add_application`](crate::add_application) somebody's own.
pub trait ApplicationKind: Configured + Clone + PartialEq + fmt::Debug + Send + Sync {
    /// The running application.
    type Application: Application;

    /// The application, at rest until [`Application::start`].
    fn build(&self) -> Self::Application;

    /// How many servers it talks to: it names them `0..servers()` to its context.
    fn servers(&self) -> usize {
        1
    }

    /// For an application that sends datagrams and opens no connection: the key and the length of the longest.
    fn datagrams(&self) -> Option<(&'static str, Bytes)> {
        None
    }

    /// Connections or streams that it keeps open at the same time, at most.
    fn flows(&self) -> u64 {
        1
    }

    /// Bytes of its users, hosts, pages and the like from the beginning, without connections; what is less than a page
    /// of memory does not count.
    fn bytes(&self) -> u64 {
        0
    }

    /// The way that most of its data go.
    fn direction(&self) -> Direction {
        Direction::Upstream
    }

    /// Whether two of them begin at the same instant, so that subscribers who are alike keep in step.
    fn is_in_step(&self) -> bool {
        false
    }

    /// What does not fit together, with each other or with a run of this `duration`: the key, below the
    /// application's table, and what would be right.
    fn problems(&self, duration: Span) -> Vec<(&'static str, Mismatch)> {
        let _ = duration;
        Vec::new()
    }
}

/// Declares [`ApplicationConfig`](crate::ApplicationConfig), [`AnyApplication`](crate::AnyApplication) and the list of
/// kinds from lines `Variant(Parameters),`; the parameters are an [`ApplicationKind`]. Behind them may stand further
/// words for the same parameters.
macro_rules! applications {
    ($($variant:ident($config:ty $(, $word:expr)*),)*) => {
        /// What a scenario may ask for.
        #[derive(Clone, Debug, PartialEq)]
        pub enum ApplicationConfig {
            $(#[doc = concat!("See [`", stringify!($config), "`].")] $variant($config),)*
            /// Of a kind from outside this crate; see [`add_application`].
            Own(own::OwnConfiguration),
        }

        /// An application of a scenario.
        #[derive(Debug)]
        pub enum AnyApplication {
            $(
                #[doc = concat!("Built from [`", stringify!($config), "`].")]
                $variant(<$config as ApplicationKind>::Application),
            )*
            /// An application from outside this crate.
            Boxed(own::OwnApplication),
        }

        $(
            impl sojourn_keys::Variant<ApplicationConfig> for $config {
                fn wrap(self) -> ApplicationConfig {
                    ApplicationConfig::$variant(self)
                }

                fn of(value: &mut ApplicationConfig) -> Option<&mut Self> {
                    match value {
                        ApplicationConfig::$variant(config) => Some(config),
                        _ => None,
                    }
                }
            }
        )*

        static KINDS: sojourn_keys::Kinds<ApplicationConfig> = sojourn_keys::Kinds::new(&[
            $(&sojourn_keys::KindOf::<$config>::KIND, $(&$word,)*)*
        ]);

        impl ApplicationConfig {
            /// All kinds, somebody's own among them.
            pub fn kinds() -> Vec<&'static dyn sojourn_keys::AnyKind<Self>> {
                KINDS.all()
            }

            /// The word for this kind of application in files.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant(config) => sojourn_keys::Configured::kind(config),)*
                    Self::Own(config) => config.kind(),
                }
            }

            /// How many servers the application talks to: it names them `0..servers()` to its context.
            pub fn servers(&self) -> usize {
                match self {
                    $(Self::$variant(config) => ApplicationKind::servers(config),)*
                    Self::Own(config) => config.servers(),
                }
            }

            /// For an application that sends datagrams and opens no connection: the key and the length of the
            /// longest.
            pub fn datagrams(&self) -> Option<(&'static str, sojourn_base::Bytes)> {
                match self {
                    $(Self::$variant(config) => ApplicationKind::datagrams(config),)*
                    Self::Own(config) => config.datagrams(),
                }
            }

            /// Connections or streams that it keeps open at the same time, at most.
            pub fn flows(&self) -> u64 {
                match self {
                    $(Self::$variant(config) => ApplicationKind::flows(config),)*
                    Self::Own(config) => config.flows(),
                }
            }

            /// Bytes of its users, hosts, pages and the like from the beginning, without connections.
            pub fn bytes(&self) -> u64 {
                match self {
                    $(Self::$variant(config) => ApplicationKind::bytes(config),)*
                    Self::Own(config) => config.bytes(),
                }
            }

            /// The way that most of its data go.
            pub fn direction(&self) -> Direction {
                match self {
                    $(Self::$variant(config) => ApplicationKind::direction(config),)*
                    Self::Own(config) => config.direction(),
                }
            }

            /// Whether two of them begin at the same instant.
            pub fn is_in_step(&self) -> bool {
                match self {
                    $(Self::$variant(config) => ApplicationKind::is_in_step(config),)*
                    Self::Own(config) => config.is_in_step(),
                }
            }

            /// What does not fit together, with each other or with a run of this `duration`: the key and what would
            /// be right.
            pub fn problems(
                &self,
                duration: sojourn_base::Span,
            ) -> Vec<(&'static str, sojourn_keys::Mismatch)> {
                match self {
                    $(Self::$variant(config) => ApplicationKind::problems(config, duration),)*
                    Self::Own(config) => config.problems(duration),
                }
            }
        }

        impl AnyApplication {
            /// The application that `config` describes.
            ///
            /// # Panics
            /// Where the constructor of the kind does: see [`ConstantRate::new`].
            pub fn build(config: &ApplicationConfig) -> Self {
                match config {
                    $(ApplicationConfig::$variant(config) => {
                        Self::$variant(ApplicationKind::build(config))
                    })*
                    ApplicationConfig::Own(config) => Self::Boxed(config.build()),
                }
            }
        }

        impl Application for AnyApplication {
            fn interest(&self) -> Interest {
                match self {
                    $(Self::$variant(application) => application.interest(),)*
                    Self::Boxed(application) => application.interest(),
                }
            }

            fn start(&mut self, now: Instant, context: &mut impl ApplicationContext) {
                match self {
                    $(Self::$variant(application) => application.start(now, context),)*
                    Self::Boxed(application) => application.start(now, context),
                }
            }

            fn on_event(&mut self, now: Instant, event: Event, context: &mut impl ApplicationContext) {
                match self {
                    $(Self::$variant(application) => application.on_event(now, event, context),)*
                    Self::Boxed(application) => application.on_event(now, event, context),
                }
            }

            fn finish(&mut self, now: Instant, context: &mut impl ApplicationContext) {
                match self {
                    $(Self::$variant(application) => application.finish(now, context),)*
                    Self::Boxed(application) => application.finish(now, context),
                }
            }
        }
    };
}

pub(crate) use applications;
