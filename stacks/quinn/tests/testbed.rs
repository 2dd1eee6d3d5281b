//! quinn over a line of the testbed: what a test of a transport's own looks like, and a mutant that fails it.

use core::time::Duration;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{BbrConfig, Controller, ControllerFactory, CubicConfig};
use sojourn_stack_quinn::open;
use sojourn_testbed::{Line, Options, Report, Testbed};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

fn upload(controller: impl ControllerFactory + Send + Sync + Clone + 'static) -> Report {
    let bed = Testbed::new(Line::new("20 Mb/s", "20 ms").queue("codel"));
    let [client, server] = [false, true].map(|is_server| {
        let options = Options { is_server, seed: 1, controller: String::new(), ecn: false };
        open(&options, Arc::new(controller.clone()), 0)
    });
    bed.run(client, server, Duration::from_secs(20))
}

fn expect_a_used_line_and_a_short_queue(report: &Report) {
    report.expect_goodput("18 Mb/s").expect_queue("100 ms");
}

#[test]
fn cubic_uses_the_line_and_keeps_the_queue_short() {
    expect_a_used_line_and_a_short_queue(&upload(CubicConfig::default()));
}

#[test]
fn a_window_of_four_times_its_size_fails_with_the_picture_of_its_queue() {
    let failure = std::panic::catch_unwind(|| expect_a_used_line_and_a_short_queue(&upload(Mutant)));
    let told = *failure.expect_err("the test fails").downcast::<String>().expect("a text");
    assert!(told.starts_with("the queue has a P99 of "), "{told}");
    // Each column has drops, where CUBIC's own have pauses.
    assert!(told.contains(&format!("drops +{}\n", "x".repeat(64))), "{told}");
}

#[test]
#[should_panic(expected = "the queue has a P99 of")]
fn bbr_fails_a_test_that_asks_for_half_a_round_trip() {
    upload(BbrConfig::default()).expect_goodput("18.5 Mb/s").expect_queue("10 ms");
}

/// CUBIC whose window is counted in another unit: four times the right one.
#[derive(Clone)]
struct Mutant;

impl ControllerFactory for Mutant {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        Box::new(Fourfold(Arc::new(CubicConfig::default()).build(now, mtu)))
    }
}

struct Fourfold(Box<dyn Controller>);

impl Controller for Fourfold {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.0.on_sent(now, bytes, last);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.0.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost: u64) {
        self.0.on_congestion_event(now, sent, is_persistent, lost);
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.0.on_mtu_update(mtu);
    }

    fn window(&self) -> u64 {
        4 * self.0.window()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self(self.0.clone_box()))
    }

    fn initial_window(&self) -> u64 {
        self.0.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
