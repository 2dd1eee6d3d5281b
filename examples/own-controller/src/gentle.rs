//! Additive increase and multiplicative decrease with own constants.
//!
//! Source: RFC 5681 §3.1 with other constants; an example. Deviations: none known.

use sojourn_keys::{origin, parameters};
use sojourn_transport::congestion::{
    Ack, AnyController, Congestion, CongestionControl, Connection, ControllerKind, Window,
};

parameters! {
    /// Parameters, and all the state there is.
    #[derive(Copy)]
    pub struct GentleConfig: "gentle", "additive increase, multiplicative decrease with other constants" {
        /// segments that the window grows by in a round trip
        increase: f64 = 1.0, origin("RFC 5681 §3.1").least("0.01").most("100");
        /// what a congestion event leaves of the window
        decrease: f64 = 0.875, origin("chosen: 7/8").least("0.01").most("0.99");
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
