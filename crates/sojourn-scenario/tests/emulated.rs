//! Reads a scenario file for an emulation: the same keys, and no traffic if there is none.

use sojourn_base::{BitRate, Bytes, Span};
use sojourn_scenario::{EmulateConfig, MatchConfig, MatchedProtocol, Scenario, ScenarioFile};

const LINK: &str = r#"
schema = 1
name = "line"
duration = "10 s"

[access.upstream]
link = { kind = "serial", rate = "10 Mb/s" }
queue = { kind = "fq-codel" }

[access.downstream]
link = { kind = "serial", rate = "50 Mb/s" }
queue = { kind = "pie" }
"#;

#[test]
fn a_scenario_without_traffic_is_one_for_an_emulation_and_none_for_a_run() {
    let file = ScenarioFile::parse(LINK).unwrap();
    let problems = file.validate().unwrap_err().into_vec();
    let told: Vec<_> = problems.iter().map(|it| (&*it.path, &*it.message)).collect();
    assert_eq!(told, [("traffic", "is missing")]);
    let scenario = file.validate_for_emulation().unwrap();
    assert!(scenario.traffic.is_empty());
    assert_eq!(scenario.emulate, EmulateConfig::BASE);
    // Its print is read back in the same way.
    let printed = scenario.canonical();
    assert!(!printed.contains("emulate"), "{printed}");
    let again = ScenarioFile::parse(&printed).unwrap();
    assert_eq!(again.validate_for_emulation().unwrap(), scenario);
}

#[test]
fn the_far_side_and_the_packets_of_an_entry_are_read() {
    let more = r#"
[emulate]
rtt = ["20 ms", "80 ms"]
mtu = "1280 B"

[[traffic]]
name = "call"
app = "voice"
match = { protocol = "udp", port = 5004, far = 2 }
"#;
    let scenario = Scenario::parse(&format!("{LINK}{more}")).unwrap();
    let emulate = EmulateConfig {
        round_trips: vec![Span::from_ms(20), Span::from_ms(80)],
        line_rate: BitRate::from_mbps(1_000),
        mtu: Bytes(1280),
        overhead: Bytes::ZERO,
    };
    assert_eq!(scenario.emulate, emulate);
    let matching = MatchConfig { protocol: MatchedProtocol::Udp, port: Some(5004), dscp: None, far: Some(2) };
    assert_eq!(scenario.traffic[0].matching, Some(matching));
    assert_eq!(Scenario::parse(&scenario.canonical()).unwrap(), scenario);
}

#[test]
fn an_entry_of_real_packets_needs_no_application_but_in_a_simulation() {
    let more = "\n[emulate]\nrtt = \"20 ms\"\n\n[[traffic]]\nname = \"call\"\nmatch = { port = 5004 }\n";
    let file = ScenarioFile::parse(&format!("{LINK}{more}")).unwrap();
    let problems = file.validate().unwrap_err().into_vec();
    let told: Vec<_> = problems.iter().map(|it| (&*it.path, &*it.message)).collect();
    assert_eq!(told, [("traffic.call.app", "is missing")]);
    let scenario = file.validate_for_emulation().unwrap();
    assert!(scenario.traffic[0].matching.is_some());
    let printed = scenario.canonical();
    assert!(!printed.contains("app ="), "{printed}");
    let again = ScenarioFile::parse(&printed).unwrap();
    assert_eq!(again.validate_for_emulation().unwrap(), scenario);
    let neither = more.replace("match = { port = 5004 }", "");
    let file = ScenarioFile::parse(&format!("{LINK}{neither}")).unwrap();
    assert!(file.validate_for_emulation().is_err());
}

/// The far side decides nothing of a run: a finished one is found again.
#[test]
fn a_far_side_does_not_change_the_key_of_a_run() {
    let traffic = "\n[[traffic]]\nname = \"call\"\napp = \"voice\"\n";
    let plain = Scenario::parse(&format!("{LINK}{traffic}")).unwrap();
    let far = Scenario::parse(&format!("{LINK}\n[emulate]\nrtt = \"20 ms\"\n{traffic}")).unwrap();
    let key = |scenario: &Scenario| scenario.key(scenario.seed, "1");
    assert_eq!(key(&plain), key(&far));
    assert_ne!(plain, far);
}
