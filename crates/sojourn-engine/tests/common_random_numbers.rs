//! Runs that differ only in a queue manager send the same packets, files and pages (specification of traffic, section 1.2):
//! what an application draws depends on nothing but the seed.

use sojourn_base::report::Report;
use sojourn_base::{Direction, Instant, Seed};
use sojourn_engine::run;
use sojourn_record::{Datagram, Recorder, TrafficId};
use sojourn_scenario::Scenario;
use std::collections::BTreeMap;

const HOUSEHOLD: &str = r#"
schema = 1
name = "household"
duration = "60 s"

[access.upstream]
link = { kind = "serial", rate = "20 Mb/s" }
queue = { kind = "drop-tail", limit = "250 ms" }

[access.downstream]
link = { kind = "serial", rate = "50 Mb/s" }
queue = { kind = "drop-tail", limit = "250 ms" }

[[traffic]]
name = "game"
app = { kind = "online-game", lanes = 3, start_jitter = "33 ms" }
rtt = "5 ms"

[[traffic]]
name = "files"
app = { kind = "bulk", file = { mu = 13.0, sigma = 1.0 }, gap = "100 ms", start_jitter = "1 s" }
stack = "linux-cubic"
rtt = "20 ms"

[[traffic]]
name = "page"
app = { kind = "web-3gpp", users = 3 }
stack = "linux-cubic"
rtt = "8 ms"

[[traffic]]
name = "reader"
app = { kind = "web-akhtar", users = 2 }
stack = "akhtar2013"
rtt = "20 ms"

[[traffic]]
name = "page of HTTP/1.0"
app = { kind = "web-3gpp", parallel = 4 }
stack = "linux-cubic"
rtt = "8 ms"
"#;

/// Random draws: departures of datagrams, and sizes of transfers in order.
#[derive(Default)]
struct Drawn {
    datagrams: BTreeMap<(u32, Direction, u32), Instant>,
    started: Vec<Instant>,
    sizes: Vec<u64>,
    /// Bytes of complete pages, by traffic entry, user and number.
    pages: BTreeMap<(u16, u32, u32), u64>,
}

impl Recorder for Drawn {
    fn on_datagram(&mut self, datagram: &Datagram) {
        let key = (datagram.flow, datagram.direction, datagram.sequence);
        self.datagrams.insert(key, datagram.sent_at);
    }

    fn on_report(&mut self, traffic: TrafficId, report: Report<'_>) {
        match report {
            Report::Transfer(transfer) => {
                self.started.push(transfer.started_at);
                self.sizes.push(transfer.bytes);
            }
            Report::Page(page) if page.ended_at.is_some() => {
                let key = (traffic.0, page.user, page.index);
                self.pages.insert(key, page.bytes);
            }
            _ => {}
        }
    }
}

fn drawn(queue: &str, seed: u64) -> Drawn {
    let text = HOUSEHOLD.replace("{ kind = \"drop-tail\", limit = \"250 ms\" }", queue);
    let scenario = Scenario::parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
    run(&scenario, Seed(seed), Drawn::default(), &|| false).expect("not cancelled").recorder
}

#[test]
fn what_is_drawn_does_not_depend_on_the_queue_manager() {
    let deep = drawn("{ kind = \"drop-tail\", limit = \"250 ms\" }", 1);
    let managed = drawn("{ kind = \"pie\", limit = \"250 ms\" }", 1);
    let other = drawn("{ kind = \"pie\", limit = \"250 ms\" }", 2);
    // 30 packets a second in each direction of three sessions; the last ones are under way at the end.
    assert!(deep.datagrams.len() > 6 * 1800, "{}", deep.datagrams.len());
    for (packet, sent_at) in &deep.datagrams {
        assert_eq!(managed.datagrams.get(packet).unwrap_or(sent_at), sent_at);
    }
    assert!(managed.datagrams.len().abs_diff(deep.datagrams.len()) < 100);
    assert_ne!(deep.datagrams, other.datagrams);
    let count = deep.sizes.len().min(managed.sizes.len());
    assert!(count > 50, "{count}");
    assert_eq!(deep.sizes[..count], managed.sizes[..count]);
    assert_ne!(deep.sizes[..10], other.sizes[..10]);
    let common: Vec<_> = deep.pages.keys().filter(|page| managed.pages.contains_key(page)).collect();
    for entry in [2, 3, 4] {
        let pages = common.iter().filter(|(traffic, ..)| *traffic == entry);
        assert!(pages.count() > 8, "{}", common.len());
    }
    for page in common {
        assert_eq!(deep.pages[page], managed.pages[page], "{page:?}");
    }
    assert_eq!(deep.started[0], managed.started[0]);
    // The queues made a difference all the same.
    assert_ne!(deep.started[..count], managed.started[..count]);
}
