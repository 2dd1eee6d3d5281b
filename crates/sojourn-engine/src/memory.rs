//! Memory of a run: known needs before it begins, and its use so far.
//!
//! Units and ranges: bytes. Source: sizes of what is kept. Deviations: what grows with what happens (packets of a
//! queue without limit, rows of transfers) is not foreseen; the run is measured while it goes on.

use sojourn_apps::{ConstantRateConfig, Distribution};
use sojourn_link::network::route_bytes;
use sojourn_record::{
    COUNTED_AND_TABLE, DEVICE_HISTOGRAM_BYTES, Datagram, HISTOGRAM_BYTES, LINK_BIN_BYTES, SERVICE_BIN_BYTES,
    TRAFFIC_BIN_BYTES,
};
use sojourn_scenario::{Scenario, Topology};

use crate::connections::CONNECTION_BYTES;

/// One part of a run's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Name of the part.
    pub what: &'static str,
    /// Bytes.
    pub bytes: u64,
    /// The entry of traffic or the link that takes most of them; empty if it is no single one's.
    pub most: String,
    /// Settings that need less.
    pub hint: &'static str,
}

/// Returns the known needs of a run of `scenario` before it begins; the largest first.
pub fn needs(scenario: &Scenario) -> Vec<Need> {
    let topology = scenario.topology();
    let mut needs = of_traffic(scenario, &topology);
    needs.push(Need {
        what: "time series",
        bytes: series(scenario, &topology),
        most: String::new(),
        hint: "record.series: wider bins, or \"off\"",
    });
    needs.push(Need {
        what: "histograms of delays",
        bytes: histograms(scenario, &topology),
        most: String::new(),
        hint: "record.histograms = false, no latency_histogram, fewer homes",
    });
    let mut queues = Sum::default();
    for link in &topology.links {
        queues.add(link.config.link.queue.bytes(), &link.subject);
    }
    needs.push(queues.need(
        "sub-queues of queue managers",
        "fewer queues, bins or buckets; fewer homes with access links of their own",
    ));
    needs.sort_by_key(|need| core::cmp::Reverse(need.bytes));
    needs
}

/// Bytes, and whose are most of them.
#[derive(Default)]
struct Sum<'a> {
    bytes: u64,
    largest: u64,
    most: &'a str,
}

impl<'a> Sum<'a> {
    fn add(&mut self, bytes: u64, subject: &'a str) {
        self.bytes = self.bytes.saturating_add(bytes);
        if bytes > self.largest {
            (self.largest, self.most) = (bytes, subject);
        }
    }

    fn need(self, what: &'static str, hint: &'static str) -> Need {
        let is_most = self.largest > self.bytes / 2;
        Need { what, bytes: self.bytes, most: if is_most { self.most } else { "" }.to_owned(), hint }
    }
}

fn of_traffic(scenario: &Scenario, topology: &Topology<'_>) -> Vec<Need> {
    let row = (size_of::<Datagram>() * COUNTED_AND_TABLE) as u64;
    let mut rows = Sum::default();
    let mut tallies = Sum::default();
    let mut connections = Sum::default();
    let mut routes = Sum::default();
    let mut users = Sum::default();
    for placed in &topology.traffic {
        let (application, subject) = (&placed.entry.application, &placed.subject);
        let flows = application.flows();
        let links = placed.path.upstream.len() + placed.path.downstream.len();
        let route = route_bytes(links) * placed.entry.servers.len();
        routes.add(route as u64, subject);
        users.add(application.bytes(), subject);
        if application.datagrams().is_none() {
            connections.add(flows.saturating_mul(CONNECTION_BYTES as u64), subject);
            continue;
        }
        tallies.add(flows.saturating_mul(HISTOGRAM_BYTES), subject);
        if let Some(config) = application.get::<ConstantRateConfig>()
            && (scenario.record.datagrams || scenario.record.outcomes)
            && let Distribution::Constant(interval) = &config.interval
        {
            let sending = scenario.duration.saturating_sub(config.start).as_ps();
            let each = sending / interval.as_ps().max(1);
            rows.add(each.saturating_mul(flows).saturating_mul(row), subject);
        }
    }
    vec![
        rows.need("a row per datagram", "record.datagrams = false, and no record.outcomes: other metrics need no rows"),
        tallies.need("delays of each stream of datagrams", "fewer lanes"),
        connections.need("connections", "fewer lanes, users or connections"),
        routes.need("routes to servers", "fewer servers, entries of traffic or homes"),
        users.need("users and their objects", "fewer users, sessions or sources; fewer servers, objects or chunks"),
    ]
}

fn series(scenario: &Scenario, topology: &Topology<'_>) -> u64 {
    let bins = scenario
        .record
        .series
        .filter(|width| !width.is_zero())
        .map_or(0, |width| scenario.duration.as_ps().div_ceil(width.as_ps()));
    let pairs: usize =
        topology.traffic.iter().map(|placed| placed.path.upstream.len() + placed.path.downstream.len()).sum();
    let divided = topology.links.iter();
    let divided = divided.filter(|link| link.config.link.queue.has_service_queues());
    (topology.links.len() as u64)
        .saturating_mul(LINK_BIN_BYTES)
        .saturating_add((divided.count() as u64).saturating_mul(SERVICE_BIN_BYTES))
        .saturating_add((pairs as u64).saturating_mul(TRAFFIC_BIN_BYTES))
        .saturating_mul(bins)
        .saturating_mul(COUNTED_AND_TABLE as u64)
}

/// Of each link, of what each entry sends over its access link in each direction and of its round trips, and of devices.
fn histograms(scenario: &Scenario, topology: &Topology<'_>) -> u64 {
    let (links, entries) = (topology.links.len(), topology.traffic.len());
    let devices = topology.links.iter().filter(|link| link.config.latency_histogram.is_some());
    let own = if scenario.record.histograms { links + 3 * entries } else { 0 };
    (own as u64)
        .saturating_mul(HISTOGRAM_BYTES)
        .saturating_add((devices.count() as u64).saturating_mul(DEVICE_HISTOGRAM_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: &str = r#"
        schema = 1
        name = "home"
        duration = "1 s"
        [access]
        upstream = { link = { kind = "serial", rate = "10 Mb/s" }, queue = { kind = "drop-tail", limit = "100 packets" } }
        downstream = { link = { kind = "serial", rate = "100 Mb/s" }, queue = { kind = "drop-tail", limit = "100 packets" } }
        [[traffic]]
        name = "web"
        app = "web"
        stack = "linux-cubic"
    "#;

    /// Returns the need of this name with these settings, in bytes, and the entry that has most of it.
    fn need(settings: &[(&str, &str)], what: &str) -> (u64, String) {
        let scenario = Scenario::parse_with(HOME, settings).expect("a valid scenario");
        let needs = needs(&scenario);
        let found = needs.into_iter().find(|need| need.what == what);
        found.map(|need| (need.bytes, need.most)).expect("a need")
    }

    const USERS: &str = "users and their objects";
    const QUEUES: &str = "sub-queues of queue managers";
    const HISTOGRAMS: &str = "histograms of delays";

    #[test]
    fn each_user_has_the_objects_of_a_page_in_memory() {
        let page = |users, objects| {
            let page = format!("{{ kind = \"generated\", servers = 100, objects_per_server = {objects} }}");
            need(
                &[
                    ("traffic.web.app.users", users),
                    ("traffic.web.app.connections_per_server", "1"),
                    ("traffic.web.app.page", &page),
                ],
                USERS,
            )
        };
        let (one, _) = page("1", 10_000);
        assert!((8_000_000..8_100_000).contains(&one), "{one}");
        // Within the bounds of each key, and more than most machines have.
        let (all, most) = page("9000", 10_000);
        assert_eq!(all, 9_000 * one);
        assert_eq!(most, "web");
    }

    #[test]
    fn chunks_hosts_and_sources_count() {
        let app = |app: &str| need(&[("traffic.web.app", app)], USERS).0;
        for (kind, levels) in [("has", 7), ("has-ll", 5)] {
            let clip =
                app(&format!("{{ kind = \"{kind}\", content = {{ kind = \"synthetic-vbr\", chunks = 100000 }} }}"));
            assert!(clip > levels * 8 * 100_000, "{kind}: {clip}");
        }
        let hosts = app(r#"{ kind = "web-akhtar", users = 10000, hosts = 100 }"#);
        assert!(hosts > 100_000_000, "{hosts}");
        let sources = app(r#"{ kind = "pd", sources = 10000 }"#);
        assert!(sources > 1_000_000, "{sources}");
        let lanes = app(r#"{ kind = "bulk", lanes = 1000000 }"#);
        assert!(lanes > 50_000_000, "{lanes}");
    }

    #[test]
    fn sub_queues_count_with_what_their_policies_remember() {
        let queue = |queue: &str| need(&[("access.upstream.queue", queue)], QUEUES);
        assert_eq!(queue("pie").0, 0);
        for kind in ["fq-codel", "fq-pie", "fq-cobalt"] {
            let many = queue(&format!("{{ kind = \"{kind}\", queues = 65536 }}"));
            assert!(many.0 > 65_536 * 40, "{kind}: {many:?}");
            assert_eq!(many.1, "upstream");
            let behind =
                queue(&format!("{{ kind = \"ack-priority\", manager = {{ kind = \"{kind}\", queues = 65536 }} }}"));
            assert_eq!(behind.0, many.0);
        }
        assert!(queue("{ kind = \"sfq-ns2\", buckets = 65536 }").0 > 65_536 * 24);
        assert!(queue("{ kind = \"sfq-codel\", bins = 1024 }").0 > 1024 * 40);
    }

    #[test]
    fn histograms_of_devices_count_beside_those_of_the_run() {
        let without = need(&[], HISTOGRAMS).0;
        assert_eq!(without, 5 * HISTOGRAM_BYTES);
        let off = need(&[("record.histograms", "false")], HISTOGRAMS).0;
        assert_eq!(off, 0);
        let device = [("access.upstream.latency_histogram.value", "sojourn")];
        let with = need(&device, HISTOGRAMS).0;
        assert_eq!(with, without + DEVICE_HISTOGRAM_BYTES);
    }

    #[test]
    fn connections_count_with_what_their_ends_remember() {
        let lanes = |lanes| need(&[("traffic.web.app", lanes)], "connections").0;
        let (one, all) = (lanes("{ kind = \"bulk\", lanes = 1 }"), lanes("{ kind = \"bulk\", lanes = 1000000 }"));
        assert_eq!(all, 1_000_000 * one);
        assert!(one > 5_000, "{one}");
    }

    #[test]
    fn routes_count_for_each_server() {
        let servers = |servers: u32| {
            let page = format!("{{ kind = \"generated\", servers = {servers} }}");
            need(&[("traffic.web.app.page", &page)], "routes to servers").0
        };
        assert!(servers(100) > 10 * servers(4), "{}", servers(100));
    }
}
