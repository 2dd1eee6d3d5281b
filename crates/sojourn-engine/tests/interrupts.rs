//! An interrupted run ends, whatever it computes: each world here works between two events, so that a check at events
//! alone would miss it.

use sojourn_base::{BitRate, Seed, Span};
use sojourn_engine::{Cancelled, Interrupt, column_recorder, run_watched};
use sojourn_keys::{Configured, Visitor};
use sojourn_link::{AnyLink, LinkKind, Serial, SerialConfig, add_link};
use sojourn_queue::{FqPieConfig, ManagerKind, QueueManager, add_manager};
use sojourn_scenario::Scenario;

/// Few events: a check of `is_cancelled` every 4096 events never happens.
const HOME: &str = r#"
    schema = 1
    name = "home"
    duration = "4 s"
    [access]
    upstream = { link = { kind = "serial", rate = "10 Mb/s" }, queue = { kind = "drop-tail", limit = "100 packets" } }
    downstream = { link = { kind = "serial", rate = "10 Mb/s" }, queue = { kind = "drop-tail", limit = "100 packets" } }
    [[traffic]]
    name = "call"
    app = { kind = "voice", interval = "1 s" }
"#;

const EVERY_MICROSECOND: &str =
    r#"{ kind = "pie", profile = "rfc8033", limit = "50 packets", update_interval = "1 us" }"#;

/// Returns true if a run with these settings ends early when its first check finds an interrupt.
fn is_ended(settings: &[(&str, &str)]) -> bool {
    let scenario = Scenario::parse_with(HOME, settings).unwrap_or_else(|told| panic!("{told}"));
    let interrupt = Interrupt::default();
    let asked = std::cell::Cell::new(false);
    let recorder = column_recorder(&scenario, scenario.record);
    let is_cancelled = |_| {
        asked.set(true);
        interrupt.set();
        false
    };
    let ended = run_watched(&scenario, Seed(1), recorder, &interrupt, &is_cancelled);
    assert!(asked.get() || ended.is_ok(), "the run ended without a check");
    matches!(ended, Err(Cancelled))
}

#[test]
fn a_run_of_few_events_and_little_work_goes_on_to_its_end() {
    assert!(!is_ended(&[]));
}

#[test]
fn updates_of_a_queue_manager_are_work() {
    for link in [
        r#"{ kind = "serial", rate = "10 Mb/s" }"#,
        r#"{ kind = "shaped", rate = "10 Mb/s" }"#,
        r#"{ kind = "docsis30-single", rate = "10 Mb/s" }"#,
        r#"{ kind = "docsis30-cascade", rate = "10 Mb/s" }"#,
        r#"{ kind = "docsis31-upstream", rate = "10 Mb/s" }"#,
    ] {
        let settings = [("access.upstream.link", link), ("access.upstream.queue", EVERY_MICROSECOND)];
        assert!(is_ended(&settings), "{link}");
    }
}

#[test]
fn queues_that_an_update_goes_through_are_work() {
    let queue = r#"{ kind = "fq-pie", limit = "50 packets", queues = 65536, update_interval = "500 ms" }"#;
    assert!(is_ended(&[("access.upstream.queue", queue)]));
}

#[test]
fn impulses_on_a_line_without_packets_are_work() {
    let link = r#"{ kind = "serial", rate = "10 Mb/s", impulse_gap = "1 ms", impulse_length = "1 us" }"#;
    let settings = [("access.upstream.link", link), ("traffic.call.app.interval", "10 s"), ("duration", "40 s")];
    assert!(is_ended(&settings));
}

#[test]
fn objects_of_a_page_are_work() {
    let page = r#"{ kind = "web", page = { kind = "generated", servers = 100, objects_per_server = 10000 }, connections_per_server = 1, users = 2, start = "0 s", start_jitter = "1 ms" }"#;
    let settings = [("traffic.call.app", page), ("traffic.call.stack", "linux-cubic"), ("duration", "2 ms")];
    assert!(is_ended(&settings));
}

#[test]
fn an_interrupt_before_the_run_ends_it_while_it_is_set_up() {
    let scenario = Scenario::parse(HOME).expect("a valid scenario");
    let interrupt = Interrupt::default();
    interrupt.set();
    let recorder = column_recorder(&scenario, scenario.record);
    let ended = run_watched(&scenario, Seed(1), recorder, &interrupt, &|_| panic!("nothing has begun"));
    assert!(matches!(ended, Err(Cancelled)));
}

/// A serial line from outside.
#[derive(Clone, Debug, PartialEq)]
struct OwnLine(SerialConfig);

impl Configured for OwnLine {
    const KIND: &'static str = "own-line";
    const ABOUT: &'static str = "a serial line";

    fn base() -> Self {
        Self(SerialConfig::base())
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        self.0.keys(visitor);
    }
}

impl LinkKind for OwnLine {
    fn build(&self, manager: Box<dyn QueueManager>) -> AnyLink {
        AnyLink::other(Serial::new(self.0, manager))
    }

    fn drain_rate(&self) -> BitRate {
        self.0.drain_rate()
    }

    fn delay(&self) -> Span {
        self.0.delay()
    }
}

#[test]
fn a_link_from_outside_is_told_to_stop() {
    add_link::<OwnLine>().expect("the name is free");
    let link = r#"{ kind = "own-line", rate = "10 Mb/s", impulse_gap = "1 ms", impulse_length = "1 us" }"#;
    let settings = [("access.upstream.link", link), ("traffic.call.app.interval", "10 s"), ("duration", "40 s")];
    assert!(is_ended(&settings));
}

/// FQ-PIE from outside.
#[derive(Clone, Debug, PartialEq)]
struct OwnFlowQueues(FqPieConfig);

impl Configured for OwnFlowQueues {
    const KIND: &'static str = "own-flow-queues";
    const ABOUT: &'static str = "FQ-PIE";

    fn base() -> Self {
        Self(FqPieConfig::base())
    }

    fn keys(&mut self, visitor: &mut dyn Visitor) {
        self.0.keys(visitor);
    }
}

impl ManagerKind for OwnFlowQueues {
    fn build(&self) -> Box<dyn QueueManager> {
        self.0.build()
    }
}

#[test]
fn the_work_of_a_queue_manager_from_outside_counts() {
    add_manager::<OwnFlowQueues>().expect("the name is free");
    let queue = r#"{ kind = "own-flow-queues", limit = "50 packets", queues = 65536, update_interval = "500 ms" }"#;
    assert!(is_ended(&[("access.upstream.queue", queue)]));
}
