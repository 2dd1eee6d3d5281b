//! Additive increase and multiplicative decrease with constants of one's own.
//!
//! Source: RFC 5681 §3.1 with other constants; an example. Deviations: none known.

use sojourn_keys::{Configured, Visitor, key};
use sojourn_transport::congestion::{
    Ack, AnyController, Congestion, CongestionControl, Connection, ControllerKind, Window,
};

/// Parameters, and all the state there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GentleConfig {
    /// Segments that the window grows by in a round trip.
    pub increase: f64,
    /// What a congestion event leaves of the window.
    pub decrease: f64,
}

impl Configured for GentleConfig {
    const KIND: &'static str = "gentle";
    const ABOUT: &'static str = "additive increase, multiplicative decrease with other constants";

    fn base() -> Self {
        Self {
            increase: 1.0,
            decrease: 0.875,
        }
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(
            key(
                "increase",
                "segments that the window grows by in a round trip",
                "RFC 5681 §3.1",
            )
            .least("0.01")
            .most("100"),
            &mut self.increase,
        );
        visitor.value(
            key(
                "decrease",
                "what a congestion event leaves of the window",
                "chosen: 7/8",
            )
            .least("0.01")
            .most("0.99"),
            &mut self.decrease,
        );
    }
}

impl ControllerKind for GentleConfig {
    fn build(&self, _connection: &Connection) -> AnyController {
        AnyController::other(*self)
    }
}

impl CongestionControl for GentleConfig {
    fn on_congestion_avoidance(&mut self, acked: u32, _ack: &Ack, window: &mut Window) {
        window.size += self.increase * f64::from(acked) / window.size;
    }

    fn on_congestion(&mut self, event: &Congestion, _window: &Window) -> f64 {
        self.decrease * event.base
    }
}
