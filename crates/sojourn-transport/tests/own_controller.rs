//! A controller from outside the crate: this file, and the call that makes it known.
//!
//! Additive increase and multiplicative decrease with other constants, as GAIMD has them (Yang and Lam, 2000): a
//! segments per round trip more, by b of the window less.

use crate::path::{Fate, Path, Shape};
use sojourn_base::Instant;
use sojourn_keys::{Configured, Visitor, key};
use sojourn_transport::congestion::{
    Ack, AnyController, Congestion, CongestionControl, Connection, ControllerConfig, ControllerKind, Window,
    add_controller,
};
use sojourn_transport::{ConnectionStatistics, StackConfig};

#[derive(Clone, Copy, Debug, PartialEq)]
struct Gaimd {
    increase: f64,
    decrease: f64,
}

impl Configured for Gaimd {
    const KIND: &'static str = "gaimd";
    const ABOUT: &'static str = "general additive increase and multiplicative decrease";

    fn base() -> Self {
        Self { increase: 0.31, decrease: 0.125 }
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        visitor.value(
            key("increase", "segments per round trip", "Yang and Lam 2000").least("0.01").most("10"),
            &mut self.increase,
        );
        visitor.value(
            key("decrease", "part of the window", "Yang and Lam 2000").least("0.01").most("0.99"),
            &mut self.decrease,
        );
    }
}

impl ControllerKind for Gaimd {
    fn build(&self, _connection: &Connection) -> AnyController {
        AnyController::other(*self)
    }
}

impl CongestionControl for Gaimd {
    fn on_congestion_avoidance(&mut self, acked: u32, _ack: &Ack, window: &mut Window) {
        window.size += self.increase * f64::from(acked) / window.size;
    }

    fn on_congestion(&mut self, event: &Congestion, _window: &Window) -> f64 {
        (1.0 - self.decrease) * event.base
    }
}

fn stack(controller: ControllerConfig) -> StackConfig {
    StackConfig { controller, ..StackConfig::LINUX_RENO }
}

/// A minute through a buffer of 50 packets.
fn run(stack: &StackConfig) -> (ConnectionStatistics, u64) {
    let mut path = Path::new(stack, Shape::P1, Box::new(|_, _| Fate::Pass));
    path.buffer = 51;
    path.keep_rows = false;
    path.keep_events = false;
    path.run(u64::MAX, Instant::from_s(60));
    (*path.client().statistics(), path.server().snapshot().delivered)
}

#[test]
fn other_constants_are_other_saw_teeth() {
    let (reno, reno_bytes) = run(&StackConfig::LINUX_RENO);
    let (own, own_bytes) = run(&stack(ControllerConfig::from(Gaimd::base())));
    // A segment per round trip and a half are Reno, to the byte.
    let same = Gaimd { increase: 1.0, decrease: 0.5 };
    assert_eq!(run(&stack(ControllerConfig::from(same))), (reno, reno_bytes));
    // Teeth of GAIMD are an eighth of the window deep and rise by 0.31: each takes (W/8)/0.31 = 0.40 W round trips
    // instead of W/2, and the buffer is never empty.
    assert!(own.loss_reductions > reno.loss_reductions, "{own:?}");
    assert!(own_bytes >= reno_bytes, "{own_bytes}, {reno_bytes}");
}

#[test]
fn a_kind_that_was_added_is_found_by_its_name_and_keeps_its_values() {
    add_controller::<Gaimd>().expect("the name is free");
    add_controller::<Gaimd>().expect_err("the name is taken");
    let kinds = ControllerConfig::kinds();
    let kind = kinds.iter().find(|kind| kind.info().name == "gaimd").expect("it was added");
    let config = kind.values(None);
    assert_eq!(config, ControllerConfig::from(Gaimd::base()));
    assert_eq!(config.kind(), "gaimd");
    let other = Gaimd { increase: 1.0, ..Gaimd::base() };
    assert_ne!(config, ControllerConfig::from(other));
}
