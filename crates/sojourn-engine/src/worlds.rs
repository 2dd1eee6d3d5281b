//! Fixed worlds for benchmarks: the same work in every version.
//!
//! | world | load |
//! |---|---|
//! | `dumbbell` | a flow and a stream over a plain line: the engine and the transport, hardly any loss |
//! | `dumbbell-5` | five flows instead of one: their losses and repairs |
//! | `white2013-x06-sfq-codel-moderate` | a household on a congested channel: grants and sub-flows |
//! | `white2013-x13-pie` | the largest household: four calls, four people who read pages, five uploads |
//!
//! The dumbbells write nothing down, the households their histograms of delay.
//!
//! Source: White 2013 §3.2 to §3.6 and Table 2 (the households).
//! Deviations: chosen: one second of buffer downstream, where White 2013 says nothing.

use sojourn_base::Span;
use sojourn_record::RecordConfig;
use sojourn_scenario::Scenario;

/// Names of the worlds.
pub const NAMES: [&str; 4] = ["dumbbell", "dumbbell-5", "white2013-x06-sfq-codel-moderate", "white2013-x13-pie"];

/// Default duration.
const DURATION: Span = Span::from_s(600);

/// The world called `name`, or `None` for an unknown one.
///
/// # Panics
/// If a world of this list is no valid scenario, which the tests rule out.
pub fn world(name: &str) -> Option<Scenario> {
    let scenario = match name {
        "dumbbell" => dumbbell(1),
        "dumbbell-5" => dumbbell(5),
        "white2013-x06-sfq-codel-moderate" => household(include_str!("worlds/white2013-x06-sfq-codel-moderate.toml")),
        "white2013-x13-pie" => household(include_str!("worlds/white2013-x13-pie.toml")),
        _ => return None,
    };
    Some(Scenario { name: name.to_owned(), duration: DURATION, ..scenario })
}

/// Uploads and one stream over a line of 5 Mb/s behind CoDel.
fn dumbbell(flows: u32) -> Scenario {
    let text = include_str!("../../../scenarios/dumbbell-codel.toml");
    let lanes = flows.to_string();
    let scenario = Scenario::parse_with(text, &[("traffic.bulk.app.lanes", &lanes)]);
    Scenario { record: RecordConfig::NOTHING, ..scenario.unwrap_or_else(|problems| panic!("{problems}")) }
}

/// A household of White 2013 from its file.
fn household(text: &str) -> Scenario {
    Scenario::parse(text).unwrap_or_else(|problems| panic!("{problems}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run;
    use sojourn_base::Seed;
    use sojourn_record::NoRecords;

    #[test]
    fn every_world_runs_and_differs_from_the_others() {
        let hops = NAMES.map(|name| {
            let mut scenario = world(name).expect("a name of the list");
            assert_eq!((scenario.name.as_str(), scenario.duration), (name, DURATION));
            scenario.duration = Span::from_s(10);
            let outcome = run(&scenario, Seed(1), NoRecords, &|| false).expect("not cancelled");
            outcome.statistics.packet_hops
        });
        assert!(hops.iter().all(|hops| *hops > 5_000), "{hops:?}");
        let same = |name| hops.iter().filter(|other| *other == name).count();
        assert!(hops.iter().all(|hops| same(hops) == 1), "{hops:?}");
        assert_eq!(world("dumbbell-6"), None);
    }

    #[test]
    fn households_have_the_traffic_of_their_row() {
        let entries = |name| world(name).map(|scenario| scenario.traffic.len());
        // A call, web pages, 1 Mb/s, uploads; four calls, web pages, uploads.
        assert_eq!(entries("white2013-x06-sfq-codel-moderate"), Some(4));
        assert_eq!(entries("white2013-x13-pie"), Some(6));
    }
}
