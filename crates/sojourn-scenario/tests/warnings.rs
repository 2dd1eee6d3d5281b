//! Contradictions in a valid scenario are reported, and defaults follow from the rate.

use sojourn_link::LinkConfig;
use sojourn_scenario::{Scenario, ScenarioFile};

fn text(link: &str) -> String {
    format!(
        r#"
schema = 1
name = "case"
duration = "60 s"

[access.upstream]
link = {link}
queue = {{ kind = "drop-tail", limit = "417 packets" }}

[access.downstream]
link = {{ kind = "serial", rate = "100 Mb/s" }}
queue = {{ kind = "drop-tail", limit = "1000 packets" }}

[[traffic]]
name = "call"
app = "voice"
"#
    )
}

fn scenario(link: &str) -> Scenario {
    Scenario::parse(&text(link)).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn a_burst_that_keeps_a_link_from_its_rate_is_told_with_its_place() {
    let link = r#"{ kind = "docsis30-single", rate = "50 Mb/s", burst = "3044 B" }"#;
    let file = ScenarioFile::parse(&text(link)).expect("TOML");
    let told = file.warnings();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].path, "access.upstream.link.burst");
    assert_eq!((told[0].line, told[0].column), (7, 62));
    assert!(told[0].message.contains("reaches 12.1 Mb/s"), "{told:?}");
    // A scenario that comes from elsewhere says the same without a place.
    let without = scenario(link).warnings();
    assert_eq!(without[0].message, told[0].message);
    assert_eq!(without[0].line, 0);
}

#[test]
fn defaults_of_every_kind_reach_their_rate_and_are_printed() {
    for kind in LinkConfig::kinds() {
        let kind = kind.info().name;
        if kind == "trace" {
            // It has no rate but that of its trace.
            continue;
        }
        for rate in ["0.1 Mb/s", "20 Mb/s", "50 Mb/s", "95 Mb/s"] {
            let one = scenario(&format!("{{ kind = \"{kind}\", rate = \"{rate}\" }}"));
            assert_eq!(one.warnings(), [], "{kind} at {rate}");
            let again = Scenario::parse(&one.canonical()).expect("a print is valid");
            assert_eq!(again, one);
        }
    }
    let print = scenario(r#"{ kind = "docsis31-upstream", rate = "50 Mb/s" }"#).canonical();
    assert!(print.contains("burst = \"625000 B\""), "{print}");
}

#[test]
fn what_a_file_or_a_profile_says_is_left_alone() {
    for (link, burst) in [
        (r#"{ kind = "docsis30-single", rate = "50 Mb/s", burst = "3044 B" }"#, "3044 B"),
        (r#"{ kind = "docsis30-single", profile = "white2013", rate = "2 Mb/s" }"#, "10000000 B"),
    ] {
        let print = scenario(link).canonical();
        assert!(print.contains(&format!("burst = \"{burst}\"")), "{print}");
    }
}

/// A channel of `stations` stations, of which the last has no traffic; the traffic of the others has this code point.
fn channel(stations: usize, dscp: u8) -> String {
    let mut text = text(r#"{ kind = "serial", rate = "50 Mb/s" }"#);
    text += "\n[wifi.home.ap]\n";
    let names = (0..stations).map(|number| format!("[wifi.home.station.s{number}]\nrate = \"mcs7\"\n"));
    let entries = (0..stations - 1).map(|number| {
        let via = format!("via = \"wifi.home.s{number}\"\n");
        format!("[[traffic]]\nname = \"t{number}\"\napp = \"voice\"\ndscp = {dscp}\n{via}")
    });
    text.extend(names.chain(entries));
    text
}

#[test]
fn a_station_without_traffic_is_told() {
    let told = ScenarioFile::parse(&channel(2, 0)).expect("TOML").warnings();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(
        (told[0].path.as_str(), told[0].message.as_str()),
        ("wifi.home.station.s1", "no traffic passes this station")
    );
    assert!(told[0].line > 0 && told[0].hint.contains("wifi.home.s1"), "{told:?}");
}

#[test]
fn more_stations_in_voice_or_video_than_those_have_slots_are_told() {
    let voices = |stations, dscp| {
        let told = ScenarioFile::parse(&channel(stations, dscp)).expect("TOML").warnings();
        told.into_iter().filter(|it| it.path == "wifi.home").map(|it| it.message).collect::<Vec<_>>()
    };
    // The last station has no traffic.
    assert_eq!(voices(9, 48), Vec::<String>::new());
    assert_eq!(voices(10, 48), ["9 stations send voice, whose longest contention window has 8 slots"]);
    // RFC 8837: code point 46, which Linux before 6.8 sends as video.
    assert_eq!(voices(17, 46), Vec::<String>::new());
    assert_eq!(voices(18, 46), ["17 stations send video, whose longest contention window has 16 slots"]);
    assert_eq!(voices(40, 0), Vec::<String>::new());
}
