use super::*;
use crate::{AnyApplication, FileSize};

/// White 2013 Table 2 as printed, with our reading of the file sizes.
const TABLE_2_OF_2013: &str = include_str!("../../data/white2013-scenarios.csv");
/// White 2012 Table 2 as printed.
const TABLE_2_OF_2012: &str = include_str!("../../data/white2012-cases.csv");

fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect())
}

fn milliseconds(scenario: &Scenario) -> String {
    let round_trip = scenario.upload.map(|(_, round_trip)| round_trip);
    round_trip.map_or(String::new(), |span| (span.as_ns() / 1_000_000).to_string())
}

fn printed_stack(upload: Upload) -> &'static str {
    match upload.stack() {
        "ns2-linux-cubic" => "linux-cubic",
        "ns2-reno" => "reno",
        other => other.strip_prefix("ns2-").expect("a stack of ns-2"),
    }
}

#[test]
fn the_scenarios_of_2013_are_those_of_the_printed_table() {
    let printed: Vec<_> = rows(TABLE_2_OF_2013).collect();
    assert_eq!(printed.len(), 17);
    for (scenario, row) in WHITE2013.iter().zip(printed) {
        let id = scenario.id;
        assert_eq!(id, row[1]);
        assert_eq!(scenario.calls.to_string(), row[2], "{id}");
        assert_eq!(scenario.web_users.to_string(), row[3], "{id}");
        assert_eq!(u8::from(scenario.constant_rate).to_string(), row[4], "{id}");
        assert_eq!(scenario.uploads().to_string(), row[5], "{id}");
        assert_eq!(milliseconds(scenario), row[6], "{id}");
        let upload = scenario.upload.map(|(upload, _)| upload);
        let mode = match upload {
            None => "none",
            Some(Upload::Continuous) => "continuous",
            Some(Upload::Bursty) => "bursty",
            Some(_) => "repeating",
        };
        assert_eq!(mode, row[7], "{id}");
        let bytes = match upload.map(|upload| upload.config().file) {
            Some(FileSize::Bytes(bytes)) => bytes.0.to_string(),
            _ => String::new(),
        };
        assert_eq!(bytes, row[10], "{id}");
        let stack = upload.map_or("", printed_stack);
        assert_eq!(stack, row[11].trim_start_matches("tcp-"), "{id}");
        assert_eq!(scenario.load_group().as_str(), row[12], "{id}");
    }
}

#[test]
fn seven_scenarios_are_light_four_moderate_and_six_heavy() {
    // W13-46.
    let count = |group| WHITE2013.iter().filter(|s| s.load_group() == group).count();
    assert_eq!(
        [LoadGroup::Light, LoadGroup::Moderate, LoadGroup::Heavy].map(count),
        [7, 4, 6]
    );
}

#[test]
fn heavy_scenarios_have_sixty_to_a_hundred_and_ten_sessions() {
    // W13-49. x12: 4 calls, 4 * 24 web connections, 5 uploads; x14: 4 + 96 + 10; x16: 4 + 24 + 32.
    let heavy = WHITE2013
        .iter()
        .filter(|scenario| scenario.load_group() == LoadGroup::Heavy);
    assert_eq!(
        heavy.map(Scenario::sessions).collect::<Vec<_>>(),
        [105, 105, 110, 110, 60, 60]
    );
}

#[test]
fn the_cases_of_2012_are_those_of_the_printed_table() {
    let mut checked = 0;
    for row in rows(TABLE_2_OF_2012) {
        // D01 and C11 have the same traffic: the letter is the queue manager, the first digit the channel.
        let scenario = WHITE2012
            .iter()
            .find(|scenario| scenario.id[1..] == row[1][2..])
            .expect("a case for each row");
        let case = row[1];
        assert_eq!(scenario.uploads().to_string(), row[6], "{case}");
        let bursty = matches!(scenario.upload, Some((Upload::Bursty, _)));
        assert_eq!(u8::from(bursty).to_string(), row[7], "{case}");
        assert_eq!(
            u8::from(scenario.constant_rate).to_string(),
            row[8],
            "{case}"
        );
        assert_eq!(milliseconds(scenario), row[9], "{case}");
        let stack = scenario
            .upload
            .map_or("", |(upload, _)| printed_stack(upload));
        assert_eq!(stack, row[10], "{case}");
        assert_eq!((scenario.calls, scenario.web_users), (1, 1));
        checked += 1;
    }
    assert_eq!(checked, 36);
}

#[test]
fn a_scenario_lists_its_applications_with_a_round_trip_for_each_server() {
    let traffic = white2013("x06").expect("a scenario of the study");
    let names: Vec<&str> = traffic.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["call-1", "web", "cbr", "upload"]);
    assert_eq!(traffic[3].round_trips, [Span::from_ms(20)]);
    let ids = WHITE2012
        .iter()
        .chain(&WHITE2013)
        .map(|scenario| scenario.id);
    for id in ids {
        let traffic = white2012(id).or_else(|| white2013(id)).expect("listed");
        for entry in traffic {
            assert_eq!(entry.application.servers(), entry.round_trips.len(), "{id}");
            let _ = AnyApplication::build(&entry.application);
            let datagrams = matches!(entry.application, ApplicationConfig::ConstantRate(_));
            assert_eq!(entry.stack.is_none(), datagrams, "{id}");
        }
    }
    assert_eq!(white2012("10"), None);
    assert_eq!(white2013("x18"), None);
}
