//! quinn over a line of the testbed: what a test of a transport's own looks like.

use core::time::Duration;
use sojourn_stack_quinn::Quinn;
use sojourn_testbed::{Line, Options, Report, Stack, Testbed};

fn upload(controller: &str) -> Report {
    let bed = Testbed::new(Line::new("20 Mb/s", "20 ms").queue("drop-tail limit=\"200 kB\""));
    let [client, server] = [false, true].map(|is_server| {
        let options = Options { is_server, seed: 1, controller: controller.to_owned(), ecn: false };
        Quinn::open(&options, 0).expect("a controller of quinn")
    });
    bed.run(client, server, Duration::from_secs(20))
}

#[test]
fn cubic_uses_the_line() {
    upload("cubic").expect_goodput("18.9 Mb/s");
}

#[test]
#[should_panic(expected = "the queue has a P99 of")]
fn bbr_fails_a_test_that_asks_for_half_a_round_trip() {
    upload("bbr").expect_goodput("18.9 Mb/s").expect_queue("10 ms");
}
