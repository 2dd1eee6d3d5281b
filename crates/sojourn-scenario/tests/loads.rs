//! Named loads are the traffic that Flent's tests of these names make.

use sojourn_apps::{BulkConfig, ConstantRateConfig, Distribution, ProbeConfig, ProbeOver};
use sojourn_base::{Direction, Span};
use sojourn_scenario::Scenario;

fn scenario(test: &str, more: &str) -> Result<Scenario, sojourn_scenario::ScenarioProblems> {
    Scenario::parse(&format!(
        r#"schema = 1
name = "case"
duration = "70 s"
[access.upstream]
link = {{ kind = "serial", rate = "5 Mb/s" }}
queue = {{ kind = "drop-tail", limit = "96 KB" }}
[access.downstream]
link = {{ kind = "serial", rate = "25 Mb/s" }}
queue = {{ kind = "drop-tail", limit = "256 KB" }}
[[load]]
name = "test"
test = "{test}"
rtt = "30 ms"
stack = "linux-cubic"
{more}"#
    ))
}

/// Connections and code point of each entry.
type Streams = Vec<(u32, u8)>;

/// Uploads, downloads and the code points of both, and the number of echoes.
fn shape(test: &str) -> (Streams, Streams, usize) {
    let scenario = scenario(test, "").unwrap_or_else(|problems| panic!("{test}: {problems}"));
    let (mut up, mut down, mut pings) = (Vec::new(), Vec::new(), 0);
    for traffic in &scenario.traffic {
        let application = &traffic.application;
        if let Some(config) = application.get::<BulkConfig>() {
            match config.direction {
                Direction::Upstream => up.push((config.lanes, traffic.dscp)),
                Direction::Downstream => down.push((config.lanes, traffic.dscp)),
            }
        }
        let probe = application.get::<ProbeConfig>();
        pings += usize::from(probe.is_some_and(|config| config.over == ProbeOver::Datagrams));
    }
    (up, down, pings)
}

#[test]
fn loads_have_the_streams_and_marks_of_flents_tests() {
    let marked = vec![(1, 0), (1, 8), (1, 40), (1, 46)];
    assert_eq!(shape("rrul"), (marked.clone(), marked.clone(), 4));
    assert_eq!(shape("rrul_up"), (marked.clone(), vec![], 4));
    assert_eq!(shape("rrul_down"), (vec![], marked, 4));
    assert_eq!(shape("rrul_be"), (vec![(4, 0)], vec![(4, 0)], 4));
    assert_eq!(shape("tcp_upload"), (vec![(1, 0)], vec![], 1));
    assert_eq!(shape("tcp_download"), (vec![], vec![(1, 0)], 1));
    assert_eq!(shape("tcp_nup"), (vec![(4, 0)], vec![], 1));
    assert_eq!(shape("rpm"), (vec![], vec![(1, 0); 16], 1));
}

#[test]
fn netalyzr_fills_the_line_one_way_after_the_other() {
    let scenario = scenario("netalyzr", "").expect("valid");
    let streams: Vec<_> = scenario
        .traffic
        .iter()
        .filter_map(|traffic| traffic.application.get::<ConstantRateConfig>())
        .map(|config| {
            let times = (config.start.as_secs_f64(), config.stop.map(Span::as_secs_f64));
            // 1028 B at 20 Mb/s are 411.2 us.
            let interval = Distribution::Constant(Span::from_ns(411_200));
            assert_eq!(config.interval, interval);
            (config.direction, times)
        })
        .collect();
    let expected = [(Direction::Downstream, (5.0, Some(15.0))), (Direction::Upstream, (20.0, Some(30.0)))];
    assert_eq!(streams, expected);
}

#[test]
fn responsiveness_adds_a_connection_each_second() {
    let scenario = scenario("rpm", "").expect("valid");
    let starts: Vec<f64> = scenario
        .traffic
        .iter()
        .filter_map(|traffic| traffic.application.get::<BulkConfig>())
        .map(|config| config.start.as_secs_f64())
        .collect();
    let expected: Vec<f64> = (5..21).map(f64::from).collect();
    assert_eq!(starts, expected);
    let names: Vec<&str> = scenario.traffic.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names[0], "test-download-1");
    assert_eq!(names[15], "test-download-16");
    assert!(names.contains(&"test-responsiveness"));
}

#[test]
fn a_load_stands_beside_traffic_and_in_homes() {
    let beside = scenario("tcp_upload", "[[traffic]]\nname = \"call\"\napp = \"voice\"\n").expect("valid");
    let names: Vec<&str> = beside.traffic.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["call", "test-upload", "test-ping"]);
    let printed = Scenario::parse(&beside.canonical()).expect("what is printed is valid");
    assert_eq!(printed, beside);

    let homes = Scenario::parse(
        r#"schema = 1
name = "case"
duration = "70 s"
[access.upstream]
link = { kind = "serial", rate = "5 Mb/s" }
queue = { kind = "drop-tail", limit = "96 KB" }
[access.downstream]
link = { kind = "serial", rate = "25 Mb/s" }
queue = { kind = "drop-tail", limit = "256 KB" }
[[home]]
name = "family"
[[home.load]]
name = "test"
test = "tcp_upload"
stack = "linux-cubic"
"#,
    )
    .expect("valid");
    assert_eq!(homes.homes[0].traffic.len(), 2);
}

#[test]
fn a_load_with_the_name_of_another_is_refused() {
    let problems = scenario("tcp_upload", "[[traffic]]\nname = \"test-upload\"\napp = \"voice\"\n")
        .expect_err("the name is taken");
    assert!(problems.to_string().contains("test-upload"), "{problems}");
}
