//! The example scenarios: all of them are valid, and the typed model says what their text says.

use crate::common;
use sojourn_apps::{BulkConfig, FileSize};
use sojourn_base::{BitRate, Direction, Ecn, Limit, Packets, Seed, Span};
use sojourn_link::{CascadeConfig, CascadeVariant, LinkConfig, SerialConfig, ShapedConfig};
use sojourn_queue::{Admission, CodelConfig, DropTailConfig, ManagerConfig};
use sojourn_scenario::{Scenario, ScenarioFile};

fn example(name: &str) -> Scenario {
    let (_, text) = common::examples().into_iter().find(|(found, _)| found == name).expect("the example is there");
    Scenario::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Propagation of the links of the first entry, both ways.
fn propagation(scenario: &Scenario) -> Span {
    let topology = scenario.topology();
    topology.propagation(&topology.traffic[0])
}

#[test]
fn all_examples_are_valid_and_read_back_from_their_print() {
    let examples = common::examples();
    assert!(examples.len() >= 5);
    for (name, text) in examples {
        let scenario = Scenario::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let print = scenario.canonical();
        let again = Scenario::parse(&print).unwrap_or_else(|e| panic!("{name}: {e}\n{print}"));
        assert_eq!(again, scenario, "{name}");
        assert_eq!(again.canonical(), print, "{name}");
    }
}

#[test]
fn settings_that_examples_suggest_are_valid() {
    let mut tried = 0;
    for (name, text) in common::examples() {
        for line in text.lines().filter(|line| line.starts_with('#')) {
            let Some((_, setting)) = line.split_once("--set ") else {
                continue;
            };
            let (key, rest) = setting.split_once('=').expect("a setting has a value");
            let value = match rest.strip_prefix('\'') {
                Some(quoted) => quoted.split('\'').next().unwrap(),
                None => rest.split_whitespace().next().unwrap(),
            };
            if let Err(e) = Scenario::parse_with(&text, &[(key, value)]) {
                panic!("{name}: {setting}\n{e}");
            }
            tried += 1;
        }
    }
    assert!(tried >= 8, "{tried}");
}

#[test]
fn a_new_kind_empties_its_table() {
    let (_, text) =
        common::examples().into_iter().find(|(name, _)| name == "dumbbell-codel").expect("the example is there");
    let queue = "access.upstream.queue";
    let kind = format!("{queue}.kind");
    let problems = Scenario::parse_with(&text, &[(&kind, "drop-tail")]).unwrap_err();
    let paths: Vec<&str> = problems.as_slice().iter().map(|p| p.path.as_str()).collect();
    assert_eq!(paths, ["access.upstream.queue.limit"]);
    let limit = format!("{queue}.limit");
    let settings = [(kind.as_str(), "drop-tail"), (limit.as_str(), "10 packets")];
    let scenario = Scenario::parse_with(&text, &settings).unwrap();
    assert_eq!(scenario.access.upstream.link.queue.kind(), "drop-tail");
    // The same kind changes nothing.
    let same = Scenario::parse_with(&text, &[(&kind, "codel")]).unwrap();
    assert_eq!(same, Scenario::parse(&text).unwrap());
}

#[test]
fn case_c04_of_white_2012_is_what_the_study_describes() {
    let scenario = example("white2012-c04");
    assert_eq!(scenario.name, "white2012/C04");
    assert_eq!(scenario.duration, Span::from_s(600));
    assert_eq!((scenario.seed, scenario.seed_count), (Seed(1), 5));
    let LinkConfig { link, queue } = &scenario.access.upstream.link;
    assert_eq!(link, &CascadeConfig::WHITE2012.into());
    assert_eq!(queue, &CodelConfig::WHITE2012.into());
    let LinkConfig { link, queue } = &scenario.access.downstream.link;
    assert_eq!(link, &ShapedConfig::WHITE2012_DOWNSTREAM.into());
    assert_eq!(
        queue,
        &ManagerConfig::from(DropTailConfig {
            limit: Limit::Time(Span::from_s(1)),
            admission: Admission::Fit,
            head_drop: false,
        })
    );
    assert_eq!(scenario.access_rate(Direction::Downstream), BitRate::from_mbps(20));

    let bulk = &scenario.traffic[0];
    let config = bulk.application.get::<BulkConfig>().expect("transfers");
    assert_eq!((config.lanes, config.file), (5, FileSize::bytes(5_000_000)));
    let stack = bulk.stack.as_ref().expect("transfers have a stack");
    assert_eq!(stack.name, "ns2-linux-cubic");
    // 16 times what 5 Mb/s carry in 100 ms, in packets of 1500 B: 8 Mb / 12,000 b.
    assert_eq!(stack.config.receive_window, 666);

    let page = &scenario.traffic[1];
    let rtts: Vec<Span> = page.servers.iter().map(|server| server.rtt).collect();
    assert_eq!(rtts, [20, 30, 50, 100].map(Span::from_ms));
    // White 2012 §2.3: 9, 14, 24 and 49 ms to the servers, behind 1 ms of DOCSIS each way.
    let wires: Vec<Span> = page.servers.iter().map(|server| server.wire_delay(propagation(&scenario))).collect();
    assert_eq!(wires, [9, 14, 24, 49].map(Span::from_ms));
    // Pages come downstream: 16 times what 20 Mb/s carry in 100 ms.
    assert_eq!(page.stack.as_ref().unwrap().config.receive_window, 2666);

    let call = &scenario.traffic[2];
    assert_eq!(call.stack, None);
    assert_eq!(call.servers.len(), 1);
    // The far end of the call adds nothing to the access link (White 2012 §2.3).
    assert_eq!(call.servers[0].rtt, Span::from_ms(2));
    assert_eq!(call.servers[0].wire_delay(propagation(&scenario)), Span::ZERO);
    assert_eq!((call.dscp, call.ecn), (0, Ecn::NotEct));
}

#[test]
fn other_examples_say_what_they_claim() {
    let home = example("home-docsis-back-pressure");
    let link = &home.access.upstream.link.link;
    let link = link.get::<CascadeConfig>().expect("a cascade");
    assert_eq!(link.variant, CascadeVariant::BackPressure);
    assert_eq!(link.transmit_queue, Packets(16));
    let dsl = example("dsl-small-buffer");
    let LinkConfig { link, queue } = &dsl.access.upstream.link;
    assert!(link.get::<SerialConfig>().is_some());
    assert_eq!(queue, &DropTailConfig::bytes(96_000).into());
    // 35 ms, of which the line takes 8 ms each way.
    assert_eq!(dsl.traffic[0].servers[0].wire_delay(propagation(&dsl)), Span::from_us(9_500));
    let quiet = example("quiet-household-day");
    assert_eq!(quiet.duration, Span::from_s(86_400));
    assert!(!quiet.record.datagrams && quiet.record.series.is_none());
    let bench = example("dumbbell-codel");
    assert_eq!(bench.traffic.len(), 2);
    assert_eq!(bench.record.series, Some(Span::from_ms(100)));
}

#[test]
fn keys_of_many_seeds_are_those_of_each() {
    let (_, text) = common::examples().swap_remove(0);
    let scenario = Scenario::parse(&text).unwrap();
    let seeds = [Seed(7), Seed(8), Seed(u64::MAX)];
    let one_by_one = seeds.map(|seed| scenario.key(seed, "1.0"));
    assert_eq!(scenario.keys(seeds, "1.0"), one_by_one);
    assert_ne!(one_by_one[0], one_by_one[1]);
}

#[test]
fn keys_depend_on_everything_that_results_depend_on_and_on_nothing_else() {
    let (_, text) =
        common::examples().into_iter().find(|(_, text)| text.contains("\"120 s\"")).expect("an example of two minutes");
    let plain = Scenario::parse(&text).unwrap();
    let key = plain.key(Seed(1), "1.0");
    assert_eq!(key.len(), 64);
    assert!(key.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert_eq!(key, plain.key(Seed(1), "1.0"));
    assert_ne!(key, plain.key(Seed(2), "1.0"));
    assert_ne!(key, plain.key(Seed(1), "1.1"));
    let longer = Scenario::parse_with(&text, &[("duration", "601 s")]).unwrap();
    assert_ne!(key, longer.key(Seed(1), "1.0"));
    // Which other seeds the file asks for does not matter to the run with this one.
    let other = Scenario::parse_with(&text, &[("seed", "77")]).unwrap();
    assert_ne!(other, plain);
    assert_eq!(key, other.key(Seed(1), "1.0"));
    // Comments and spelling do not matter.
    let spelt = text.replace("\"120 s\"", "\"2 min\"   # two minutes");
    assert_ne!(spelt, text);
    assert_eq!(key, Scenario::parse(&spelt).unwrap().key(Seed(1), "1.0"));
}

#[test]
fn each_value_in_force_tells_where_it_comes_from() {
    let text = "schema = 1\nname = \"x\"\nduration = \"60 s\"\n\
                [access.upstream]\nlink = { kind = \"serial\", rate = \"5 Mb/s\" }\n\
                queue = { kind = \"codel\", profile = \"white2012\" }\n\
                [access.downstream]\nlink = { kind = \"serial\", rate = \"5 Mb/s\" }\n\
                queue = { kind = \"drop-tail\", limit = \"1 s\" }\n\
                [[traffic]]\nname = \"call\"\napp = \"voice\"\n";
    let mut file = ScenarioFile::parse(text).unwrap();
    file.set("access.upstream.queue.target", "7 ms");
    let explained = file.explain().unwrap();
    for (value, origin) in [
        ("duration = \"60 s\"", "# line 3"),
        ("seed = 1", "# default"),
        ("limit = \"417 packets\"", "# profile white2012"),
        ("target = \"7 ms\"", "# set"),
        ("packet = \"218 B\"", "# default"),
    ] {
        let line = explained.lines().find(|line| line.starts_with(value)).expect(value);
        assert!(line.ends_with(origin), "{line}");
    }
    // Remarks are comments: the text means the same.
    assert_eq!(Scenario::parse(&explained).unwrap(), file.validate().unwrap());
}

#[test]
fn the_guide_builds_a_valid_scenario_and_turns_valid_knobs() {
    let path = common::folder("../../docs/guides/write-a-scenario.md");
    let guide = std::fs::read_to_string(path).expect("the guide is there");
    let blocks = |language: &str| -> String {
        let fence = format!("```{language}\n");
        guide.split(&fence).skip(1).filter_map(|rest| rest.split("```").next()).collect::<Vec<_>>().join("\n")
    };
    let text = blocks("toml");
    let scenario = Scenario::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(scenario.traffic.len(), 3);
    assert_eq!(scenario.duration, Span::from_s(120));

    let mut tried = 0;
    for line in blocks("console").lines() {
        let mut file = ScenarioFile::parse(&text).unwrap();
        for setting in line.split(" --set ").skip(1) {
            let (key, value) = setting.split_once('=').expect("a setting has a value");
            file.set(key, value.trim_matches('\''));
            tried += 1;
        }
        file.validate().unwrap_or_else(|e| panic!("{line}\n{e}"));
    }
    assert_eq!(tried, 3);
}
