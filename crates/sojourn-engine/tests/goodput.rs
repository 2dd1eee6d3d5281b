//! One upload fills every kind of link behind managers that keep the delay short, though a lone packet waits longer than
//! their target: for its bits on a slow line, for its grant in a modem.

use sojourn_base::Seed;
use sojourn_engine::{column_recorder, run};
use sojourn_record::{RecordConfig, TrafficId};
use sojourn_scenario::Scenario;

/// The links and their rates in Mb/s.
const LINKS: [(&str, f64); 7] = [
    (r#"{ kind = "serial", rate = "0.7 Mb/s" }"#, 0.7),
    (r#"{ kind = "shaped", rate = "20 Mb/s" }"#, 20.0),
    (r#"{ kind = "docsis30-cascade", rate = "5 Mb/s" }"#, 5.0),
    (r#"{ kind = "docsis30-single", rate = "5 Mb/s", burst = "62500 B" }"#, 5.0),
    (r#"{ kind = "docsis30-single", rate = "20 Mb/s", burst = "250 kB" }"#, 20.0),
    (r#"{ kind = "docsis30-single", rate = "97 Mb/s", burst = "1.25 MB" }"#, 97.0),
    (r#"{ kind = "docsis31-upstream", rate = "20 Mb/s", burst = "250 kB" }"#, 20.0),
];

/// Goodput of a lone CUBIC upload with a round trip of 20 ms, in Mb/s.
fn goodput(link: &str, manager: &str) -> f64 {
    let text = format!(
        r#"
schema = 1
name = "lone upload"
duration = "20 s"
access.upstream.link = {link}
access.upstream.queue = "{manager}"
access.downstream.link = {{ kind = "serial", rate = "1 Gb/s" }}
access.downstream.queue = {{ kind = "drop-tail", limit = "1000 packets" }}
[[traffic]]
name = "upload"
app = "bulk"
stack = "linux-cubic"
rtt = "20 ms"
"#
    );
    let scenario = Scenario::parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let recorder = column_recorder(&scenario, RecordConfig::BASE);
    let outcome = run(&scenario, Seed(1), recorder, &|| false).expect("not cancelled");
    let records = outcome.recorder.into_records();
    let bytes = records.counters(TrafficId(0)).upstream.goodput_bytes;
    bytes as f64 * 8.0 / 20.0 / 1e6
}

#[test]
fn managers_with_a_target_shorter_than_a_lone_packet_waits_fill_every_link() {
    for (link, rate) in LINKS {
        for manager in ["codel", "fq-codel", "cobalt", "fq-cobalt"] {
            let share = goodput(link, manager) / rate;
            // The bound is far below what all of them carry, and far above what starves.
            assert!(share > 0.85, "{manager} over {link}: {share}");
        }
    }
}
