//! What one line of the registry makes known: a variant of the parameters and of the running managers, the calls of
//! both, and the kind for files.
//!
//! Source: none needed. Deviations: none known.

/// Declares [`ManagerConfig`](crate::ManagerConfig), [`AnyManager`](crate::AnyManager) and the list of kinds from lines
/// `Variant(Parameters),`; the parameters are a [`ManagerKind`](crate::ManagerKind). The leading `$` lets the macro
/// declare another one.
macro_rules! managers {
    ($d:tt $($variant:ident($config:ty),)*) => {
        /// Any queue manager's parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum ManagerConfig {
            $(#[doc = concat!("See [`", stringify!($config), "`].")] $variant($config),)*
            /// Of a kind from outside this crate; see [`crate::add_manager`].
            Own(crate::manager::own::OwnManager),
        }

        /// One of the known managers, or somebody's own.
        pub enum AnyManager<T> {
            $(
                #[doc = concat!("Built from [`", stringify!($config), "`].")]
                $variant(<$config as crate::ManagerKind>::Queue<T>),
            )*
            /// A manager from outside this crate.
            Boxed(alloc::boxed::Box<dyn crate::QueueManager<T> + Send>),
        }

        impl ManagerConfig {
            /// A running manager with these parameters. Its timers, if it has any, count from the start of
            /// the run.
            ///
            /// # Panics
            /// If a limit is still a time; see [`ManagerConfig::at`].
            pub fn build<T: Send + 'static>(&self) -> AnyManager<T> {
                match self {
                    $(Self::$variant(config) => {
                        AnyManager::$variant(crate::ManagerKind::build(config))
                    })*
                    Self::Own(config) => AnyManager::Boxed(crate::manager::own::build(config)),
                }
            }
        }

        $(
            impl sojourn_keys::Variant<ManagerConfig> for $config {
                fn wrap(self) -> ManagerConfig {
                    ManagerConfig::$variant(self)
                }

                fn of(value: &mut ManagerConfig) -> Option<&mut Self> {
                    match value {
                        ManagerConfig::$variant(config) => Some(config),
                        _ => None,
                    }
                }
            }
        )*

        /// All kinds, in the order of the reference page.
        pub(crate) static KINDS: sojourn_keys::Kinds<ManagerConfig> =
            sojourn_keys::Kinds::new(&[$(&sojourn_keys::KindOf::<$config>::KIND),*]);

        /// Calls whichever manager it is.
        macro_rules! each_manager {
            ($d self:expr, $d manager:ident => $d call:expr) => {
                match $d self {
                    $(AnyManager::$variant($d manager) => $d call,)*
                    AnyManager::Boxed($d manager) => $d call,
                }
            };
        }

        /// Calls whichever parameters they are.
        macro_rules! each_config {
            ($d self:expr, $d config:ident => $d call:expr) => {
                match $d self {
                    $(ManagerConfig::$variant($d config) => $d call,)*
                    ManagerConfig::Own($d config) => $d call,
                }
            };
        }

        pub(crate) use {each_config, each_manager};
    };
}

pub(crate) use managers;
