//! What one line of the registry makes known: a variant of the parameters and of the running controllers, the calls of
//! both, and the kind for files.
//!
//! Source: none needed. Deviations: none known.

/// Declares [`ControllerConfig`](crate::congestion::ControllerConfig), `AnyController` and the list of kinds from lines
/// `Variant(Parameters),`; the parameters are a [`ControllerKind`](crate::congestion::ControllerKind). The leading `$`
/// lets the macro declare another one.
macro_rules! controllers {
    ($d:tt $($variant:ident($config:ty),)*) => {
        /// Which congestion controller runs, with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum ControllerConfig {
            $(#[doc = concat!("See [`", stringify!($config), "`].")] $variant($config),)*
            /// Of a kind from outside this crate; see [`crate::congestion::add_controller`].
            Own(crate::congestion::OwnController),
        }

        /// One of the known controllers, or somebody's own.
        #[derive(Clone, Debug)]
        pub(crate) enum AnyController {
            $($variant(<$config as crate::congestion::ControllerKind>::Controller),)*
            Boxed(alloc::boxed::Box<dyn crate::congestion::CongestionControl>),
        }

        impl AnyController {
            /// A controller for a new connection of `stack`.
            pub(crate) fn new(stack: &crate::StackConfig) -> Self {
                match &stack.controller {
                    $(ControllerConfig::$variant(config) => {
                        Self::$variant(crate::congestion::ControllerKind::build(config, stack))
                    })*
                    ControllerConfig::Own(own) => Self::Boxed(own.build(stack)),
                }
            }
        }

        $(
            impl sojourn_keys::Variant<ControllerConfig> for $config {
                fn wrap(self) -> ControllerConfig {
                    ControllerConfig::$variant(self)
                }

                fn of(value: &mut ControllerConfig) -> Option<&mut Self> {
                    match value {
                        ControllerConfig::$variant(config) => Some(config),
                        _ => None,
                    }
                }
            }
        )*

        /// All kinds, in the order of the reference page.
        pub(crate) static KINDS: sojourn_keys::Kinds<ControllerConfig> =
            sojourn_keys::Kinds::new(&[$(&sojourn_keys::KindOf::<$config>::KIND),*]);

        impl ControllerConfig {
            /// All kinds, somebody's own among them.
            pub fn kinds() -> alloc::vec::Vec<&'static dyn sojourn_keys::AnyKind<Self>> {
                KINDS.all()
            }

            /// The word for this kind of controller in files.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant(config) => sojourn_keys::Configured::kind(config),)*
                    Self::Own(own) => own.kind(),
                }
            }
        }

        /// Calls whichever controller it is.
        macro_rules! each_controller {
            ($d self:expr, $d controller:ident => $d call:expr) => {
                match $d self {
                    $(Self::$variant($d controller) => $d call,)*
                    Self::Boxed($d controller) => $d call,
                }
            };
        }

        impl AnyController {
            #[inline]
            pub(crate) fn requests(&self) -> crate::congestion::Requests {
                each_controller!(self, controller => controller.requests())
            }

            #[inline]
            pub(crate) fn in_slow_start(&self, window: &Window) -> bool {
                each_controller!(self, controller => controller.in_slow_start(window))
            }

            #[inline]
            pub(crate) fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
                each_controller!(self, controller => controller.on_ack(ack, window));
            }

            #[inline]
            pub(crate) fn avoid(&mut self, acked: u32, ack: &Ack, window: &mut Window) {
                each_controller!(self, controller => controller.avoid(acked, ack, window));
            }

            pub(crate) fn answers_mark(&self, now: sojourn_base::Instant) -> bool {
                each_controller!(self, controller => controller.answers_mark(now))
            }

            pub(crate) fn on_congestion(&mut self, event: &Congestion, window: &Window) -> f64 {
                each_controller!(self, controller => controller.on_congestion(event, window))
            }

            pub(crate) fn on_restart(&mut self, idle: Span, window: &mut Window) {
                each_controller!(self, controller => controller.on_restart(idle, window));
            }

            pub(crate) fn recovery_floor(&self, window: &Window) -> f64 {
                each_controller!(self, controller => controller.recovery_floor(window))
            }

            pub(crate) fn pacing_rate(&self) -> Option<BitRate> {
                each_controller!(self, controller => controller.pacing_rate())
            }
        }
    };
}

pub(crate) use controllers;
