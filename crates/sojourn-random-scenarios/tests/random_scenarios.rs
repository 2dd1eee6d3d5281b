//! A few hundred random scenarios run without a panic, lose no packet, and cover every kind of everything.
//! `cargo run -p sojourn-random-scenarios -- 100000` makes as many as one likes.

use sojourn_random_scenarios::{Generator, examine};
use std::collections::BTreeMap;

#[test]
fn random_scenarios_run_without_a_panic_and_lose_no_packet() {
    let generator = Generator::default();
    let (mut arrived, mut dropped) = (0, 0);
    for number in 0..300 {
        let examined = examine(&generator, number)
            .unwrap_or_else(|failure| panic!("{number}: {}\n{}", failure.what, failure.text));
        arrived += u64::from(examined.packets[1] > 0);
        dropped += u64::from(examined.packets[2] > 0);
    }
    // Most scenarios carry something, and queues overflow in many.
    assert!(arrived > 120 && dropped > 30, "{arrived} and {dropped}");
}

#[test]
fn random_wifi_channels_hold_every_law() {
    let generator = Generator::wifi();
    let mut arrived = 0;
    for number in 0..60 {
        let examined = examine(&generator, number)
            .unwrap_or_else(|failure| panic!("{number}: {}\n{}", failure.what, failure.text));
        arrived += u64::from(examined.packets[1] > 0);
    }
    assert!(arrived > 20, "{arrived}");
}

/// Kinds of stacks that a run has to be given.
const BROUGHT: [&str; 2] = ["library", "linux"];

#[test]
fn random_scenarios_cover_every_kind_of_link_manager_stack_and_application() {
    let generator = Generator::default();
    let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
    for number in 0..400 {
        for kind in generator.draw(number).kinds {
            *kinds.entry(kind).or_default() += 1;
        }
    }
    // Every word that the schema offers for these places.
    let schema = sojourn_scenario::json_schema();
    let schema: serde_json::Value = serde_json::from_str(&schema).expect("JSON");
    let upstream = &schema["properties"]["access"]["properties"]["upstream"]["properties"];
    let entry = &schema["properties"]["traffic"]["items"]["properties"];
    for (place, schema) in
        [("link", &upstream["link"]), ("queue", &upstream["queue"]), ("app", &entry["app"]), ("stack", &entry["stack"])]
    {
        let alternatives = schema["anyOf"].as_array().expect("alternatives");
        let words = alternatives
            .iter()
            .filter_map(|it| it["properties"]["kind"]["enum"].as_array())
            .flatten()
            .filter_map(|word| word.as_str())
            .filter(|word| !BROUGHT.contains(word));
        for word in words {
            let name = format!("{place} = {word}");
            assert!(kinds.contains_key(&name), "{name} never occurs: {kinds:?}");
        }
    }
}
