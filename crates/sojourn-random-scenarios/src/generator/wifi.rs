//! Wi-Fi channels of random scenarios: a channel, its devices with their queues and rates, neighbours and hidden pairs.

use super::{Dice, FEW_ATTEMPTS, Generator, TRIES, tried};
use serde_json::{Value, json};

/// Attempts at rates of a station. Chosen: one of five goes with its standard.
const FEW_TRIES: u32 = 20;

impl Generator {
    /// A Wi-Fi channel, and stations of it for some of the traffic.
    pub(super) fn add_wifi(&self, file: &mut Value, dice: &mut Dice<'_>) -> bool {
        let channel = &self.schema["properties"]["wifi"]["anyOf"][0]["items"]["properties"];
        let mut entries = Vec::new();
        for list in ["/traffic", "/home/0/traffic", "/home/1/traffic", "/home/2/traffic"] {
            let length = file.pointer(list).and_then(Value::as_array).map_or(0, Vec::len);
            entries.extend((0..length).map(|entry| format!("{list}/{entry}")));
        }
        let station = |number: usize| format!("station-{number}");
        let radio = ["band", "width", "streams", "short_guard", "qos"];
        // Drawn first: most bands and widths do not go with an old one.
        let standard = dice.chance(0.8).then(|| self.value(&channel["standard"], dice));
        let is_there = tried(FEW_ATTEMPTS, file, dice, |file, dice| {
            let mut wifi = json!({ "name": "channel" });
            if let Some(standard) = &standard {
                wifi["standard"] = standard.clone();
            }
            for key in radio {
                if dice.chance(0.5) {
                    wifi[key] = self.value(&channel[key], dice);
                }
            }
            let most = 1 + dice.index(entries.len());
            let mut used = 0;
            for place in &entries {
                if dice.chance(0.2) {
                    continue;
                }
                let entry = file.pointer_mut(place).expect("an entry of the file");
                entry["via"] = json!(format!("wifi.channel.{}", station(used % most)));
                if dice.chance(0.5) {
                    entry["dscp"] = json!([0, 8, 34, 46, 48][dice.index(5)]);
                }
                used += 1;
            }
            let stations = (0..used.min(most)).map(|number| json!({ "name": station(number), "rate": "mcs0" }));
            wifi["station"] = stations.collect();
            file["wifi"] = json!([wifi]);
        });
        if !is_there {
            return false;
        }
        let stations = file["wifi"][0]["station"].as_array().map_or(0, Vec::len);
        for key in ["protection", "rts", "block_ack", "encryption"] {
            self.add_wifi_key(file, dice, "", key, &channel[key], 0.5);
        }
        self.add_device(file, dice, "/ap", &channel["ap"]["properties"]);
        let keys = &channel["station"]["anyOf"][0]["items"]["properties"];
        for number in 0..stations {
            let place = format!("/station/{number}");
            self.add_wifi_key(file, dice, &place, "standard", &keys["standard"], 0.3);
            add_rates(file, dice, &place);
            self.add_device(file, dice, &place, keys);
        }
        if dice.chance(0.5) {
            let _ = tried(TRIES, file, dice, |file, dice| {
                let neighbours = (0..=dice.below(3)).map(|number| {
                    let load = format!("{} b/s", dice.between(1e3, 1e8));
                    let rate = format!("mcs{}", dice.below(8));
                    json!({ "name": format!("floor-{number}"), "load": load, "rate": rate, "stations": 1 + dice.below(6) })
                });
                file["wifi"][0]["neighbour"] = neighbours.collect();
            });
        }
        if dice.chance(0.4) {
            let _ = tried(TRIES, file, dice, |file, dice| {
                let name = |number| if number == stations { "ap".to_owned() } else { station(number) };
                let pairs = (0..=dice.below(2)).map(|_| {
                    let (one, other) = (dice.index(stations + 1), dice.index(stations + 1));
                    json!(format!("{} {}", name(one), name(other)))
                });
                file["wifi"][0]["hidden"] = pairs.collect();
            });
        }
        true
    }

    /// Keys of a device of the channel: its profile, its queue and what is below it.
    fn add_device(&self, file: &mut Value, dice: &mut Dice<'_>, place: &str, keys: &Value) {
        self.add_wifi_key(file, dice, place, "profile", &keys["profile"], 0.7);
        self.add_wifi_key(file, dice, place, "queue", &keys["queue"], 0.4);
        for key in [
            "queues",
            "firmware",
            "firmware_most",
            "firmware_all",
            "scheduler",
            "quantum",
            "slow_below",
            "amsdu",
            "asks",
        ] {
            self.add_wifi_key(file, dice, place, key, &keys[key], 0.2);
        }
        for key in ["ahead", "frames", "aggregate", "longest"] {
            self.add_wifi_key(file, dice, place, key, &keys[key], 0.2);
        }
    }

    /// Adds a key to a table of the channel with this probability, if a value is found that goes with the others.
    fn add_wifi_key(&self, file: &mut Value, dice: &mut Dice<'_>, place: &str, key: &str, schema: &Value, often: f64) {
        if dice.chance(often) {
            let _ = tried(TRIES, file, dice, |file, dice| {
                let table = file.pointer_mut(&format!("/wifi/0{place}")).map(Value::take).unwrap_or_default();
                let mut table = if table.is_null() { json!({}) } else { table };
                table[key] = match key {
                    "ahead" => json!(dice.below(5)),
                    "longest" => json!(format!("{} us", dice.between(100.0, 5_484.0))),
                    "aggregate" => json!(format!("{} B", dice.between(8e3, 1e6))),
                    "amsdu" => json!(format!("{} B", dice.between(500.0, 11_454.0))),
                    _ => self.value(schema, dice),
                };
                let (parent, name) = place.rsplit_once('/').unwrap_or_default();
                match (place, name.parse::<usize>()) {
                    ("", _) => file["wifi"][0] = table,
                    (_, Ok(number)) => file["wifi"][0][&parent[1..]][number] = table,
                    _ => file["wifi"][0][name] = table,
                }
            });
        }
    }
}

/// Rates of a station: a fixed one, or rate control and the noise that it meets.
fn add_rates(file: &mut Value, dice: &mut Dice<'_>, place: &str) {
    let _ = tried(FEW_TRIES, file, dice, |file, dice| {
        let station = file.pointer_mut(&format!("/wifi/0{place}")).expect("a station of the file");
        if dice.chance(0.6) {
            station["rate"] = json!(["ideal", "minstrel"][dice.index(2)]);
            station["snr"] = json!(format!("{} dB", dice.below(40)));
            if dice.chance(0.3) {
                station["snr_walk"] = json!(format!("{} dB", 1 + dice.below(10)));
            }
            if dice.chance(0.3) {
                let change =
                    json!({ "at": format!("{} ms", dice.below(2_000)), "snr": format!("{} dB", dice.below(40)) });
                station["conditions"] = json!([change]);
            }
        } else {
            station["rate"] = json!(format!("mcs{}", dice.below(12)));
        }
        if dice.chance(0.3) {
            station["upstream_rate"] = json!(format!("mcs{}", dice.below(12)));
        }
    });
}

/// Keys of a Wi-Fi channel, of its devices and neighbours, with their words.
pub(super) fn kinds(channel: &Value, found: &mut Vec<String>) {
    let parts = ["ap", "station", "neighbour"];
    let mut tell = |place: &str, table: &Value| {
        for (key, value) in table.as_object().into_iter().flatten().filter(|(key, _)| !parts.contains(&key.as_str())) {
            let is_word = ["band", "width", "standard", "queues", "scheduler", "profile"].contains(&key.as_str());
            let word = value.as_str().filter(|_| is_word).map(str::to_owned);
            found.push(match word.or_else(|| value.as_bool().map(|value| value.to_string())) {
                Some(word) => format!("{place} {key} = {word}"),
                None => format!("{place} = {key}"),
            });
        }
    };
    tell("wifi", channel);
    tell("wifi device", &channel["ap"]);
    for part in ["station", "neighbour"] {
        let place = if part == "station" { "wifi device" } else { "wifi neighbour" };
        channel[part].as_array().into_iter().flatten().for_each(|table| tell(place, table));
    }
}

#[cfg(test)]
mod tests {
    use crate::generator::{Drawn, Generator};

    #[test]
    fn channels_have_every_key_of_a_channel_sooner_or_later() {
        let generator = Generator::wifi();
        let mut found = std::collections::BTreeSet::new();
        let drawn: Vec<Drawn> = (0..120).map(|number| generator.draw(number)).collect();
        assert!(drawn.iter().all(|one| !one.scenario.wifi.is_empty()));
        found.extend(drawn.iter().flat_map(|one| one.kinds.clone()).filter(|kind| kind.starts_with("wifi")));
        for key in ["hidden", "block_ack", "rts", "streams", "neighbour load"] {
            let kind =
                key.split_once(' ').map_or(format!("wifi = {key}"), |(part, key)| format!("wifi {part} = {key}"));
            assert!(found.contains(&kind), "{kind} in {found:?}");
        }
        for key in ["queue", "firmware", "ahead", "frames", "aggregate", "longest", "amsdu", "snr_walk", "conditions"] {
            assert!(found.contains(&format!("wifi device = {key}")), "{key} in {found:?}");
        }
        let words = [
            ("wifi standard", &["b", "g", "n", "ac", "ax"][..]),
            ("wifi qos", &["true", "false"]),
            ("wifi encryption", &["true", "false"]),
            ("wifi device standard", &["b", "g", "n", "ac", "ax"]),
            ("wifi device queues", &["stations", "device"]),
            ("wifi device scheduler", &["airtime", "round-robin"]),
        ];
        for (key, words) in words {
            for word in words {
                assert!(found.contains(&format!("{key} = {word}")), "{key} = {word} in {found:?}");
            }
        }
    }
}
