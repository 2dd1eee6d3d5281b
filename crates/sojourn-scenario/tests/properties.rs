//! For any text: no panic, no lost value. Scenarios made from random settings read back from their print; texts made by
//! breaking examples are either valid, and then read back too, or give at least one problem.

use crate::common;
use proptest::prelude::*;
use sojourn_base::{BitRate, Bytes, Seed, Span};
use sojourn_scenario::{Scenario, ScenarioFile};

/// A scenario with something of everything.
const BASE: &str = r#"
schema = 1
name = "property"
duration = "60 s"

[access.upstream]
link = { kind = "docsis30-cascade", profile = "white2012" }
queue = { kind = "codel" }

[access.downstream]
link = { kind = "shaped", profile = "white2012-downstream" }
queue = { kind = "drop-tail", limit = "1 s" }

[[traffic]]
name = "bulk"
app = "bulk"
stack = "ns2-linux-cubic"
rtt = "2 s"

[[traffic]]
name = "page"
app = "web"
stack = "linux-cubic"
rtt = ["2 s", "3 s", "4 s", "5 s"]

[[traffic]]
name = "call"
app = "voice"
"#;

fn span(from: u64, to: u64) -> impl Strategy<Value = String> {
    (from..=to).prop_map(|ps| Span::from_ps(ps).to_string())
}

fn rate() -> impl Strategy<Value = String> {
    (1_u64..=1_000_000_000_000).prop_map(|bps| BitRate::from_bps(bps).to_string())
}

fn size(from: u64, to: u64) -> impl Strategy<Value = String> {
    (from..=to).prop_map(|bytes| Bytes(bytes).to_string())
}

fn number(to: u64) -> impl Strategy<Value = String> {
    (1..=to).prop_map(|value| value.to_string())
}

fn fraction() -> impl Strategy<Value = String> {
    (0.0..=1.0_f64).prop_map(|value| format!("{value:?}"))
}

fn word(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(words).prop_map(str::to_owned)
}

/// A setting: a key, and the values it may have.
type Setting = BoxedStrategy<(&'static str, String)>;

fn named(path: &'static str, value: impl Strategy<Value = String> + 'static) -> Setting {
    value.prop_map(move |value| (path, value)).boxed()
}

/// A setting that is right whatever the other settings are.
fn setting() -> impl Strategy<Value = (&'static str, String)> {
    let mut all = file_settings();
    all.extend(access_settings());
    all.extend(traffic_settings());
    prop::strategy::Union::new(all)
}

/// Picoseconds in a millisecond.
const MS: u64 = 1_000_000_000;

fn file_settings() -> Vec<Setting> {
    let seeds = number(100).prop_map(|n| format!("{{ first = {n}, count = {n} }}"));
    vec![
        named("name", "[a-zA-Z0-9 ./_\"\\\\é-]{1,20}x"),
        named("duration", span(1_000_000, 10_000_000 * MS)),
        named("seed", number(u64::MAX >> 1)),
        named("seeds", seeds),
        named("record.series", prop_oneof![span(MS, 3_600_000 * MS), word(&["off"])]),
        named("record.connections", prop_oneof![span(MS, 3_600_000 * MS), word(&["off"])]),
        named("record.occupancy", word(&["true", "false"])),
    ]
}

fn access_settings() -> Vec<Setting> {
    let congestion = (number(100_000), fraction()).prop_map(|(mean, variation)| {
        format!("{{ kind = \"grant-size\", mean = \"{mean} B\", variation = {variation} }}")
    });
    let unit = |most, unit: &'static str| number(most).prop_map(move |n| format!("{n} {unit}"));
    vec![
        named("access.upstream.link.rate", unit(20_000_000, "b/s")),
        named("access.upstream.link.peak", word(&["unlimited", "20 Mb/s", "1 Tb/s"])),
        named("access.upstream.link.burst", size(1522, 1_000_000_000_000)),
        named("access.upstream.link.channel_rate", unit(900, "Mb/s")),
        named("access.upstream.link.delay", span(0, 900 * MS)),
        named("access.upstream.link.map_interval", span(MS, 2_000 * MS)),
        named("access.upstream.link.transmit_queue", unit(1000, "packets")),
        named("access.upstream.link.variant", word(&["back-pressure", "sojourn-over-both"])),
        named("access.upstream.link.congestion", congestion),
        named("access.upstream.queue.target", span(1_000_000, 99 * MS)),
        named("access.upstream.queue.interval", span(100 * MS, 600_000 * MS)),
        named("access.upstream.queue.limit", size(1500, u64::MAX >> 1)),
        named("access.upstream.queue.floor", word(&["largest-seen", "1514 B"])),
        named("access.upstream.queue.ecn", word(&["true", "false"])),
        named("access.downstream.queue.limit", word(&["10 packets", "250 ms", "96 KB"])),
    ]
}

fn traffic_settings() -> Vec<Setting> {
    // The median of what is drawn is at most the largest file: a petabyte is e^34.5 B.
    let distribution =
        (0.0..34.0_f64, 0.0..5.0_f64).prop_map(|(mu, sigma)| format!("{{ mu = {mu:?}, sigma = {sigma:?} }}"));
    let beta = (0.01..0.99_f64).prop_map(|beta| format!("{beta:?}"));
    let file = prop_oneof![size(1, 1_000_000_000_000_000), word(&["endless"]), distribution,];
    vec![
        named("traffic.bulk.app.file", file),
        named("traffic.bulk.app.lanes", number(100_000)),
        named("traffic.bulk.app.gap", span(0, 1_000_000 * MS)),
        named("traffic.bulk.stack.initial_window", number(100_000)),
        named("traffic.bulk.stack", word(&["linux-reno", "ns2-reno", "bsd-reno"])),
        named("traffic.bulk.line_rate", rate()),
        named("traffic.page.app.think", span(0, 1_000_000 * MS)),
        named("traffic.page.app.page", word(&["generated", "white2012-appendix-a"])),
        named("traffic.page.stack.controller.beta", beta),
        named("traffic.call.dscp", number(63)),
        named("traffic.call.app.packet", size(20, 1522)),
    ]
}

/// One way to break a text.
#[derive(Clone, Debug)]
enum Damage {
    Delete { at: usize, count: usize },
    Insert { at: usize, text: String },
    Swap { at: usize, with: usize },
}

fn damage() -> impl Strategy<Value = Damage> {
    let scraps = prop::sample::select(vec![
        "=",
        "\"",
        "[",
        "]",
        "[[",
        "{",
        "}",
        ",",
        ".",
        "-",
        "0",
        "9999999999999999999999",
        "\n",
        "#",
        "nan",
        "inf",
        "true",
        "\u{0}",
        "é",
        " Mb/s",
        " packets",
        "kind",
        "traffic",
        "[[traffic]]",
        "\"\"\"",
        "1979-05-27",
        "-1",
        "1e400",
        "profile = \"white2012\"",
        "name = \"bulk\"",
    ])
    .prop_map(str::to_owned);
    prop_oneof![
        (any::<usize>(), 1_usize..40).prop_map(|(at, count)| Damage::Delete { at, count }),
        (any::<usize>(), scraps).prop_map(|(at, text)| Damage::Insert { at, text }),
        (any::<usize>(), any::<usize>()).prop_map(|(at, with)| Damage::Swap { at, with }),
    ]
}

fn apply(text: &mut Vec<u8>, damage: &Damage) {
    match damage {
        Damage::Delete { at, count } => {
            let start = at % (text.len() + 1);
            let end = (start + count).min(text.len());
            text.drain(start..end);
        }
        Damage::Insert { at, text: scrap } => {
            let at = at % (text.len() + 1);
            text.splice(at..at, scrap.bytes());
        }
        Damage::Swap { at, with } if !text.is_empty() => {
            let (at, with) = (at % text.len(), with % text.len());
            text.swap(at, with);
        }
        Damage::Swap { .. } => {}
    }
}

/// A valid scenario reads back from its print; an invalid one is refused with reasons.
fn judge(bytes: &[u8]) -> Result<(), TestCaseError> {
    let result = ScenarioFile::parse_bytes(bytes).and_then(|file| file.validate());
    match result {
        Ok(scenario) => {
            let print = scenario.canonical();
            let again = Scenario::parse(&print).map_err(|e| TestCaseError::fail(format!("{e}\n{print}")))?;
            prop_assert_eq!(&again, &scenario);
            prop_assert_eq!(again.key(Seed(1), ""), scenario.key(Seed(1), ""));
        }
        Err(problems) => {
            prop_assert!(!problems.as_slice().is_empty());
            for problem in problems.as_slice() {
                prop_assert!(!problem.message.is_empty());
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn scenarios_of_random_settings_read_back_from_their_print(
        settings in prop::collection::vec(setting(), 1..12),
    ) {
        // A stack is set before what is set below it, and seeds come in one form only.
        let mut settings = settings;
        settings.sort_by_key(|(path, _)| *path);
        settings.dedup_by_key(|(path, _)| *path);
        if settings.iter().any(|(path, _)| *path == "seeds") {
            settings.retain(|(path, _)| *path != "seed");
        }
        let settings: Vec<(&str, &str)> = settings
            .iter()
            .map(|(path, value)| (*path, value.as_str()))
            .collect();
        let scenario = Scenario::parse_with(BASE, &settings)
            .map_err(|e| TestCaseError::fail(format!("{settings:?}\n{e}")))?;
        // A valid scenario can be built: the builders panic on values beyond their limits.
        for link in [&scenario.access.upstream, &scenario.access.downstream] {
            let _ = link.link.build();
        }
        for traffic in &scenario.traffic {
            let _ = traffic.application.build();
        }
        let print = scenario.canonical();
        let again = Scenario::parse(&print)
            .map_err(|e| TestCaseError::fail(format!("{settings:?}\n{e}")))?;
        prop_assert_eq!(&again, &scenario);
        prop_assert_eq!(again.canonical(), print);
    }

    #[test]
    fn broken_examples_never_panic_and_are_told_why(
        example in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..8),
    ) {
        let examples = common::examples();
        let mut text = example.get(&examples).1.clone().into_bytes();
        for damage in &damages {
            apply(&mut text, damage);
        }
        judge(&text)?;
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        judge(&bytes)?;
    }

    #[test]
    fn random_settings_never_panic(path in ".{0,40}", value in ".{0,40}") {
        let _ = Scenario::parse_with(BASE, &[(path.as_str(), value.as_str())]);
        let _ = Scenario::parse_with(BASE, &[("traffic.bulk.app", value.as_str())]);
        let below = format!("access.{path}");
        let _ = Scenario::parse_with(BASE, &[(below.as_str(), value.as_str())]);
    }
}
