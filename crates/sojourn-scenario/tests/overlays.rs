//! Overlays: their values hold, others stay, and values without a place are reported at once.

use crate::common;
use proptest::prelude::*;
use sojourn_base::{BitRate, Span};
use sojourn_scenario::{Overlay, Problem, ScenarioFile};

const BASE: &str = r#"
schema = 1
name = "overlays"
duration = "60 s"

[access.upstream]
link = { kind = "serial", rate = "5 Mb/s" }
queue = { kind = "codel", target = "5 ms", limit = "1 s" }

[access.downstream]
link = { kind = "serial", rate = "5 Mb/s" }
queue = "codel"

[[traffic]]
name = "upload"
app = "bulk"
stack = "linux-cubic"
rtt = "20 ms"

[[traffic]]
name = "call"
app = "voice"
"#;

fn laid(overlay: &str) -> (ScenarioFile, Vec<Problem>) {
    let mut file = ScenarioFile::parse(BASE).expect("the base is TOML");
    let problems = file.lay(&Overlay::parse(overlay).expect("the overlay is TOML"));
    (file, problems)
}

/// The text after an overlay that fits.
fn text(overlay: &str) -> String {
    let (file, problems) = laid(overlay);
    assert_eq!(problems, [], "{overlay}");
    file.text()
}

fn block<'a>(text: &'a str, heading: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("{heading}\n")).expect(heading);
    rest.split("\n[").next().unwrap_or(rest).trim()
}

#[test]
fn tables_merge_key_by_key_and_a_new_kind_replaces_them() {
    let same = text("access.upstream.queue.target = \"7 ms\"");
    assert_eq!(block(&same, "[access.upstream.queue]"), "kind = \"codel\"\nlimit = \"1 s\"\ntarget = \"7 ms\"");
    let other = text("access.upstream.queue = { kind = \"drop-tail\", limit = \"50 ms\" }");
    assert_eq!(block(&other, "[access.upstream.queue]"), "kind = \"drop-tail\"\nlimit = \"50 ms\"");
}

#[test]
fn keys_below_a_word_keep_it_as_their_kind() {
    let queue = text("access.downstream.queue.target = \"7 ms\"");
    assert_eq!(block(&queue, "[access.downstream.queue]"), "kind = \"codel\"\ntarget = \"7 ms\"");
    let stack = text("traffic.upload.stack.initial_window = 3");
    assert_eq!(block(&stack, "[traffic.stack]"), "kind = \"linux-cubic\"\ninitial_window = 3");
    // A word over a table, and a table with a kind over a word, say everything.
    let word = text("access.upstream.queue = \"codel\"");
    assert!(block(&word, "[access.upstream]").contains("queue = \"codel\""));
    let table = text("traffic.upload.stack = { kind = \"linux-reno\" }");
    assert_eq!(block(&table, "[traffic.stack]"), "kind = \"linux-reno\"");
}

#[test]
fn traffic_merges_by_name_in_both_ways_of_writing_it() {
    let by_name = text("[traffic.upload]\nrtt = \"5 ms\"\n[traffic.page]\napp = \"web\"");
    let listed = text("[[traffic]]\nname = \"upload\"\nrtt = \"5 ms\"\n[[traffic]]\nname = \"page\"\napp = \"web\"");
    assert_eq!(by_name, listed);
    let places: Vec<usize> =
        ["\"upload\"", "\"call\"", "\"page\""].iter().map(|name| by_name.find(name).unwrap()).collect();
    assert!(places.is_sorted(), "the base's order stays: {by_name}");
}

#[test]
fn homes_and_links_merge_by_name_like_traffic() {
    let mut file =
        ScenarioFile::parse(include_str!("../../../scenarios/three-homes.toml")).expect("the example is TOML");
    for overlay in [
        "[home.family]\ncount = 2\n[home.family.traffic.backup]\nrtt = \"50 ms\"",
        "[[link]]\nname = \"aggregation\"\n[link.upstream.link]\nrate = \"30 Mb/s\"",
    ] {
        let problems = file.lay(&Overlay::parse(overlay).expect("the overlay is TOML"));
        assert_eq!(problems, [], "{overlay}");
    }
    let scenario = file.validate().unwrap_or_else(|problems| panic!("{problems}"));
    let counts: Vec<u32> = scenario.homes.iter().map(|home| home.count).collect();
    assert_eq!(counts, [2, 1], "the other home stays");
    let family = &scenario.homes[0].traffic;
    assert_eq!(family[0].servers[0].rtt, Span::from_ms(50));
    assert_eq!(family[1].servers[0].rtt, Span::from_ms(30), "the call stays");
    let upstream = scenario.links[0].directions.upstream.as_ref();
    let rate = upstream.expect("it has both directions").link.drain_rate();
    assert_eq!(rate, BitRate::from_mbps(30));
}

#[test]
fn new_traffic_stands_in_the_order_of_the_overlay() {
    for overlay in [
        "[traffic.z]\napp = \"voice\"\n[traffic.b]\napp = \"voice\"",
        "traffic = { z = { app = \"voice\" }, b = { app = \"voice\" } }",
        "traffic.z.app = \"voice\"\ntraffic.b.app = \"voice\"",
    ] {
        let text = text(overlay);
        assert!(text.find("\"z\"") < text.find("\"b\""), "{text}");
    }
}

#[test]
fn a_name_below_a_name_renames() {
    let text = text("traffic.call.name = \"talk\"");
    assert!(text.contains("name = \"talk\"") && !text.contains("\"call\""));
}

#[test]
fn what_is_removed_is_gone_before_the_rest_is_laid() {
    let text = text(
        "remove = [\"traffic.call\", \"access.upstream.queue.limit\"]\n\
         access.upstream.queue.target = \"7 ms\"",
    );
    assert!(!text.contains("call"));
    assert_eq!(block(&text, "[access.upstream.queue]"), "kind = \"codel\"\ntarget = \"7 ms\"");
}

#[test]
fn all_that_has_no_place_is_told_at_once() {
    let (file, problems) = laid(
        "remove = [\"traffic.cal\", \"access.upstream.colour\", \"a b\", 5]\n\
         duration = \"30 s\"\n\
         [traffic.uplod]\nrtt = \"5 ms\"\n",
    );
    let told: Vec<(&str, &str, &str)> =
        problems.iter().map(|p| (p.path.as_str(), p.message.as_str(), p.hint.as_str())).collect();
    assert_eq!(
        told,
        [
            ("remove", "cannot remove \"traffic.cal\": the base has no such entry", "did you mean \"call\"?"),
            ("remove", "cannot remove \"access.upstream.colour\": the base has no such key", "known: link, queue"),
            ("remove", "\"a b\" is not a key path", ""),
            ("remove", "a whole number where a key path belongs", ""),
            (
                "traffic.uplod",
                "the base has no traffic of this name, and new traffic needs an `app`",
                "did you mean \"upload\"?"
            ),
        ]
    );
    assert!(file.text().contains("duration = \"30 s\""));
}

#[test]
fn traffic_without_names_or_with_the_same_is_told() {
    for (overlay, told) in [
        ("[[traffic]]\nrtt = \"5 ms\"", "entry 1 has no name"),
        ("traffic = 5", "a whole number where a table belongs"),
        ("traffic.upload = 5", "a whole number where a table belongs"),
        ("traffic = [{ name = \"call\" }, { name = \"call\" }]", "occurs twice"),
        ("load = \"near\"", "a text where a table belongs"),
        ("link = 5", "a whole number where a table belongs"),
        ("home = [\"a\"]", "entry 1 has no name"),
        ("home.a.traffic = 5", "a whole number where a table belongs"),
    ] {
        let (_, problems) = laid(overlay);
        assert!(problems[0].message.contains(told), "{overlay}: {problems:?}");
    }
}

#[test]
fn settings_reach_below_words() {
    let mut file = ScenarioFile::parse(BASE).unwrap();
    file.set("traffic.upload.stack.initial_window", "3");
    let scenario = file.validate().unwrap();
    let stack = scenario.traffic[0].stack.as_ref().unwrap();
    assert_eq!(stack.name, "linux-cubic");
    assert_eq!(stack.config.initial_window, 3);
}

#[test]
fn a_setting_with_a_kind_replaces_and_an_overlay_of_the_same_kind_merges() {
    let value = "{ kind = \"codel\", limit = \"2 s\" }";
    let mut file = ScenarioFile::parse(BASE).unwrap();
    file.set("access.upstream.queue", value);
    let set = file.text();
    assert_eq!(block(&set, "[access.upstream.queue]"), "kind = \"codel\"\nlimit = \"2 s\"");
    let overlaid = text(&format!("access.upstream.queue = {value}"));
    assert_eq!(block(&overlaid, "[access.upstream.queue]"), "kind = \"codel\"\nlimit = \"2 s\"\ntarget = \"5 ms\"");
}

#[test]
fn values_of_an_overlay_have_no_line_of_the_file() {
    let (file, _) = laid("\n\n\n\n\n\nduration = \"sixty\"");
    let problems = file.validate().unwrap_err();
    assert_eq!((problems.as_slice()[0].path.as_str(), problems.as_slice()[0].line), ("duration", 0));
}

#[test]
fn the_examples_read_back_from_their_text() {
    for (name, text) in common::examples() {
        let file = ScenarioFile::parse(&text).unwrap();
        let again = ScenarioFile::parse(&file.text()).unwrap_or_else(|e| panic!("{name}\n{e}"));
        assert_eq!(again.text(), file.text(), "{name}");
        assert_eq!(again.validate(), file.validate(), "{name}");
    }
}

/// A value as TOML.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<bool>().prop_map(|b| b.to_string()),
        any::<f64>().prop_map(|x| { if x.is_finite() { format!("{x:?}") } else { "nan".to_owned() } }),
        "[ -~µ\\n]{0,6}".prop_map(|text| sojourn_keys::value::quoted(&text)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::btree_map("[a-c .\\]]{0,2}", inner, 0..4).prop_map(|entries| {
                let entries: Vec<String> =
                    entries.into_iter().map(|(key, value)| format!("{key:?} = {value}")).collect();
                format!("{{ {} }}", entries.join(", "))
            }),
        ]
    })
}

fn document() -> impl Strategy<Value = String> {
    prop::collection::btree_map(
        prop::sample::select(vec!["a", "b", "kind", "traffic", "remove", "x y", "access"]),
        value(),
        0..5,
    )
    .prop_map(|entries| {
        let lines: Vec<String> = entries.into_iter().map(|(key, value)| format!("{key:?} = {value}")).collect();
        lines.join("\n")
    })
}

proptest! {
    #[test]
    fn any_text_reads_back_from_its_tree(text in document()) {
        let file = ScenarioFile::parse(&text).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let print = file.text();
        let again = ScenarioFile::parse(&print)
            .map_err(|e| TestCaseError::fail(format!("{print}\n{e}")))?;
        prop_assert_eq!(again.text(), print);
    }

    #[test]
    fn any_overlay_over_any_base_is_laid_or_told(base in document(), overlay in document()) {
        let (Ok(mut file), Ok(overlay)) = (ScenarioFile::parse(&base), Overlay::parse(&overlay))
        else {
            return Err(TestCaseError::fail("both are TOML"));
        };
        let problems = file.lay(&overlay);
        prop_assert!(problems.iter().all(|problem| !problem.message.is_empty()));
        prop_assert!(ScenarioFile::parse(&file.text()).is_ok(), "{}", file.text());
        let _ = file.validate();
    }
}

#[test]
fn a_list_in_which_a_name_stands_twice_is_replaced_as_a_whole() {
    let twins = "[[other]]\nname = \"a\"\nx = 1\n\n[[other]]\nname = \"a\"\ny = 2\n";
    let (mut file, problems) = laid(twins);
    assert_eq!(problems, []);
    let once = file.text();
    let again = Overlay::parse(twins).expect("the overlay is TOML");
    assert_eq!(file.lay(&again), []);
    assert_eq!(file.text(), once, "laying twice is laying once");
    assert!(once.ends_with(twins), "{once}");
}
