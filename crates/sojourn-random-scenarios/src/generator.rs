//! Scenarios drawn from the JSON schema of scenario files.
//!
//! A schema says which keys and kinds there are and not what goes with what; validation does. So a scenario
//! begins with what every file must have, and each further key stays only if the file is still valid.

mod wifi;

use serde_json::{Map, Value, json};
use sojourn_base::{RandomStream, Seed, math};
use sojourn_scenario::Scenario;
use std::fmt::Write;

/// Draws scenarios by number.
#[derive(Clone, Debug)]
pub struct Generator {
    schema: Value,
    further_keys: u64,
    /// Each has a Wi-Fi channel.
    wifi: bool,
}

/// A drawn scenario.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Its file.
    pub text: String,
    /// The file's scenario.
    pub scenario: Scenario,
    /// Places and kinds that occur in it, as `queue = codel`.
    pub kinds: Vec<String>,
}

/// Attempts at each part of a file. Chosen: one of some succeeds.
const ATTEMPTS: u32 = 100_000;
/// Attempts at a part that a file can do without. Chosen: one of ten succeeds.
const FEW_ATTEMPTS: u32 = 200;
/// Further keys of a scenario, at most. Chosen: enough for keys that work against each other.
const FURTHER_KEYS: u64 = 16;
/// Values tried for a further key before it is left out.
const TRIES: u32 = 3;
/// Traffic entries of a subscriber, at most. Chosen: what shares a queue in small numbers shares it in large ones.
const ENTRIES: u64 = 3;
/// Links beside the access link, at most. Chosen: enough for two bottlenecks in a row and a way round them.
const LINKS: u64 = 2;
/// Kinds of homes, and homes of a kind, at most. Chosen: as for entries.
const HOMES: u64 = 3;

impl Default for Generator {
    /// All keys that scenario files have.
    fn default() -> Self {
        let schema = sojourn_scenario::json_schema();
        Self {
            schema: serde_json::from_str(&schema).expect("the schema is JSON"),
            further_keys: FURTHER_KEYS,
            wifi: false,
        }
    }
}

impl Generator {
    /// Scenarios that are drawn sooner: with fewer keys beside those that files must have.
    pub fn small() -> Self {
        Self { further_keys: FURTHER_KEYS / 4, ..Self::default() }
    }

    /// Scenarios with a Wi-Fi channel, which traffic passes.
    pub fn wifi() -> Self {
        Self { wifi: true, ..Self::default() }
    }

    /// Scenario `number`: the same one in every run of this version.
    ///
    /// # Panics
    /// If no valid scenario is found, which means that the schema and validation have nothing in common.
    pub fn draw(&self, number: u64) -> Drawn {
        self.draw_with(number, &[])
    }

    /// The same, with `throws` for the first throws of the dice, two octets each: what a fuzzer changes there
    /// changes one key, and leaves the others as they are.
    ///
    /// # Panics
    /// As [`Generator::draw`].
    pub fn draw_with(&self, number: u64, throws: &[u8]) -> Drawn {
        let mut dice = Dice { throws: throws.as_chunks().0.iter(), stream: Seed(number).stream("scenario") };
        let mut file = self.required(&mut dice);
        while self.wifi && file.get("wifi").is_none() {
            file = self.required(&mut dice);
        }
        for _ in 0..dice.below(self.further_keys) {
            self.add_key(&mut file, &mut dice);
        }
        Drawn { text: toml(&file), scenario: parse(&file).expect("stayed valid with every key"), kinds: kinds(&file) }
    }

    /// A valid file with what files must have, part by part: each is drawn until it goes with those before it.
    fn required(&self, dice: &mut Dice<'_>) -> Value {
        let (links, homes) = (dice.chance(0.4), dice.chance(0.3));
        let duration = dice.between(1e7, 3e9);
        let plain = json!({
            "link": { "kind": "serial", "rate": "10 Mb/s" },
            "queue": { "kind": "drop-tail", "limit": "100 packets" },
        });
        let mut file = json!({
            "schema": 1,
            "name": "random",
            "duration": format!("{duration} ns"),
            "access": { "upstream": plain, "downstream": plain },
            "traffic": [{ "name": "plain", "app": "voice" }],
        });
        let direction = &self.schema["properties"]["access"]["properties"]["upstream"];
        for side in ["upstream", "downstream"] {
            settle(&mut file, dice, |file, dice| {
                file["access"][side] = self.value(direction, dice);
            });
        }
        let mut names = vec!["access".to_owned()];
        if links {
            for number in 0..=dice.below(LINKS) {
                names.push(link_name(number));
                settle(&mut file, dice, |file, dice| {
                    push(&mut file["link"], self.link(number, dice));
                    file["path"] = path(&names, dice);
                });
            }
        }
        if dice.chance(0.4) {
            add_conditions(&mut file, dice);
        }
        if homes {
            file["home"] = json!([]);
            for number in 0..=dice.below(HOMES) {
                settle(&mut file, dice, |file, dice| {
                    file.as_object_mut().expect("a table").remove("traffic");
                    push(&mut file["home"], self.home(number, &names, dice));
                });
                for entry in 1..=dice.below(ENTRIES) {
                    settle(&mut file, dice, |file, dice| {
                        let home = usize::try_from(number).expect("few homes");
                        let traffic = &mut file["home"][home]["traffic"];
                        push(traffic, self.entry(entry, &names, dice));
                    });
                }
            }
        } else {
            settle(&mut file, dice, |file, dice| {
                file["traffic"] = json!([self.entry(0, &names, dice)]);
            });
            for entry in 1..=dice.below(ENTRIES) {
                settle(&mut file, dice, |file, dice| {
                    push(&mut file["traffic"], self.entry(entry, &names, dice));
                });
            }
        }
        if self.wifi || dice.chance(0.3) {
            let _ = self.add_wifi(&mut file, dice);
        }
        file
    }

    /// A link beside the access link, with one direction at least.
    fn link(&self, number: u64, dice: &mut Dice<'_>) -> Value {
        let direction = &self.schema["properties"]["access"]["properties"]["upstream"];
        let mut link = json!({ "name": link_name(number) });
        let sides = [&["upstream", "downstream"][..], &["upstream"], &["downstream"]];
        for side in sides[dice.index(sides.len())] {
            link[*side] = self.value(direction, dice);
        }
        link
    }

    /// Homes of one kind, with one entry of traffic.
    fn home(&self, number: u64, names: &[String], dice: &mut Dice<'_>) -> Value {
        let mut home = json!({
            "name": format!("home-{number}"),
            "count": 1 + dice.below(HOMES),
            "traffic": [self.entry(0, names, dice)],
        });
        if dice.chance(0.3) {
            home["access"] = self.value(&self.schema["properties"]["access"], dice);
        }
        if dice.chance(0.3) {
            home["path"] = path(names, dice);
        }
        home
    }

    /// A traffic entry of a subscriber, over links of these names.
    fn entry(&self, number: u64, names: &[String], dice: &mut Dice<'_>) -> Value {
        let schema = &self.schema["properties"]["traffic"]["items"];
        let mut entry = self.value(schema, dice);
        entry["name"] = json!(format!("entry-{number}"));
        // Only emulations have entries without an application.
        entry["app"] = self.value(&schema["properties"]["app"], dice);
        for key in ["stack", "rtt"] {
            if dice.chance(0.7) {
                entry[key] = self.value(&schema["properties"][key], dice);
            }
        }
        if names.len() > 1 && dice.chance(0.2) {
            entry["path"] = path(names, dice);
        }
        entry
    }

    /// Adds a key that `file` does not have, if a value for it is found that goes with the others.
    fn add_key(&self, file: &mut Value, dice: &mut Dice<'_>) {
        let mut open = Vec::new();
        self.missing_keys(&self.schema, file, &mut String::new(), &mut open);
        if open.is_empty() {
            return;
        }
        let (place, name, schema) = &open[dice.index(open.len())];
        for _ in 0..TRIES {
            let value = self.value(schema, dice);
            let mut longer = file.clone();
            let table = longer.pointer_mut(place).expect("a place in this file");
            table[name.as_str()] = value;
            if parse(&longer).is_some() {
                *file = longer;
                return;
            }
        }
    }

    /// Optional keys that the tables of `value` do not have: place of the table, name, schema.
    fn missing_keys<'a>(
        &'a self,
        schema: &'a Value,
        value: &Value,
        place: &mut String,
        found: &mut Vec<(String, String, &'a Value)>,
    ) {
        let schema = self.alternative(schema, value);
        let length = place.len();
        match value {
            Value::Object(table) => {
                let Some(properties) = schema["properties"].as_object() else {
                    return;
                };
                for (name, schema) in properties {
                    if let Some(inner) = table.get(name) {
                        let _ = write!(place, "/{name}");
                        self.missing_keys(schema, inner, place, found);
                        place.truncate(length);
                    } else if name != "kind" && name != "profile" {
                        found.push((place.clone(), name.clone(), schema));
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let _ = write!(place, "/{index}");
                    self.missing_keys(&schema["items"], item, place, found);
                    place.truncate(length);
                }
            }
            _ => {}
        }
    }

    /// The alternative of `schema` that a value was drawn from.
    fn alternative<'a>(&'a self, schema: &'a Value, value: &Value) -> &'a Value {
        let schema = self.resolved(schema);
        let Some(alternatives) = alternatives(schema) else {
            return schema;
        };
        let fits = |alternative: &&Value| match value {
            Value::Object(table) => {
                let kinds = &self.resolved(alternative)["properties"]["kind"]["enum"];
                alternative["type"] == "object"
                    && kinds.as_array().is_none_or(|kinds| table.get("kind").is_some_and(|kind| kinds.contains(kind)))
            }
            Value::Array(_) => alternative["type"] == "array",
            _ => alternative["type"] != "object" && alternative["type"] != "array",
        };
        match alternatives.iter().find(fits) {
            Some(alternative) => self.alternative(alternative, value),
            None => schema,
        }
    }

    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let Some(reference) = schema["$ref"].as_str() else {
            return schema;
        };
        let place = reference.strip_prefix('#').unwrap_or(reference);
        self.schema.pointer(place).expect("a place in the schema")
    }

    /// A value of `schema`; of a table its required keys, its kind and sometimes a profile.
    fn value(&self, schema: &Value, dice: &mut Dice<'_>) -> Value {
        let schema = self.resolved(schema);
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(words) = schema["enum"].as_array() {
            return words[dice.index(words.len())].clone();
        }
        if let Some(alternatives) = alternatives(schema) {
            return self.value(&alternatives[dice.index(alternatives.len())], dice);
        }
        match schema["type"].as_str().unwrap_or_default() {
            "object" => self.table(schema, dice),
            "array" => (0..=dice.below(4)).map(|_| self.value(&schema["items"], dice)).collect(),
            "boolean" => json!(dice.chance(0.5)),
            "integer" => json!(dice.integer(&schema["minimum"], &schema["maximum"])),
            "number" => {
                let least = schema["minimum"].as_f64().unwrap_or(-10.0);
                let most = schema["maximum"].as_f64().unwrap_or(10.0);
                let share = dice.unit();
                json!(least + share * share * (most - least))
            }
            _ => json!(dice.quantity(schema["pattern"].as_str().unwrap_or_default())),
        }
    }

    fn table(&self, schema: &Value, dice: &mut Dice<'_>) -> Value {
        let properties = &schema["properties"];
        let mut table = Map::new();
        let required = schema["required"].as_array().into_iter().flatten();
        let mut names: Vec<&str> = required.filter_map(Value::as_str).collect();
        // A table that may have a profile instead of some keys says so as alternative requirements.
        if let Some(ways) = schema["anyOf"].as_array() {
            let way = ways[dice.index(ways.len())]["required"].as_array();
            names.extend(way.into_iter().flatten().filter_map(Value::as_str));
        }
        if dice.chance(0.5) {
            names.push("profile");
        }
        names.push("kind");
        for name in names {
            if let Some(schema) = properties.get(name) {
                let value = match name {
                    "opportunities" => json!(dice.opportunities()),
                    "packets" if schema["type"] == "string" => json!(dice.packets()),
                    _ => self.value(schema, dice),
                };
                table.insert(name.to_owned(), value);
            }
        }
        Value::Object(table)
    }
}

/// Changes `file` until it is valid again.
///
/// # Panics
/// If it never is, which means that the schema and validation have nothing in common.
fn settle(file: &mut Value, dice: &mut Dice<'_>, change: impl Fn(&mut Value, &mut Dice<'_>)) {
    assert!(tried(ATTEMPTS, file, dice, change), "one of many changes is valid");
}

/// Changes `file` so that it is valid; returns false and leaves it if no attempt is.
fn tried(attempts: u32, file: &mut Value, dice: &mut Dice<'_>, change: impl Fn(&mut Value, &mut Dice<'_>)) -> bool {
    for _ in 0..attempts {
        let mut changed = file.clone();
        change(&mut changed, dice);
        if parse(&changed).is_some() {
            *file = changed;
            return true;
        }
    }
    false
}

/// Adds conditions to some directions of links, as far as they go with the others.
fn add_conditions(file: &mut Value, dice: &mut Dice<'_>) {
    let links = file["link"].as_array().map_or(0, Vec::len);
    let mut places = vec!["/access".to_owned()];
    places.extend((0..links).map(|number| format!("/link/{number}")));
    for place in places {
        for side in ["upstream", "downstream"] {
            for _ in 0..dice.below(4) {
                let mut changed = file.clone();
                let Some(link) = changed.pointer_mut(&format!("{place}/{side}")) else {
                    continue;
                };
                push(&mut link["conditions"], condition(dice));
                if parse(&changed).is_some() {
                    *file = changed;
                }
            }
        }
    }
}

/// A condition with one effect or two, at times within a run.
fn condition(dice: &mut Dice<'_>) -> Value {
    let mut condition = Map::new();
    let mut time = |key: &str, dice: &mut Dice<'_>| {
        let nanoseconds = dice.between(1e4, 3e9);
        condition.insert(key.to_owned(), json!(format!("{nanoseconds} ns")));
    };
    if dice.chance(0.3) {
        time("at", dice);
    } else {
        time("from", dice);
        time("for", dice);
        if dice.chance(0.3) {
            time("every", dice);
        }
    }
    for _ in 0..=dice.below(2) {
        let share = dice.unit() * dice.unit();
        let span = format!("{} ns", dice.between(1e3, 1e8));
        let rate = format!("{} b/s", dice.between(1e4, 1e9));
        let (key, value) = match dice.below(9) {
            0 => ("rate", if dice.chance(0.2) { json!("0 b/s") } else { json!(rate) }),
            1 => ("delay", json!(span)),
            2 => ("loss", json!(share)),
            3 => ("loss_every", json!(1 + dice.below(100))),
            4 => ("jitter", json!(span)),
            5 => ("reorder", json!(share)),
            6 => ("duplicate", json!(share)),
            7 => ("police", json!(rate)),
            _ => ("hold", json!(span)),
        };
        condition.insert(key.to_owned(), value);
        if key == "jitter" {
            condition.insert("overtake".to_owned(), json!(dice.chance(0.5)));
        }
        if key == "hold" && dice.chance(0.5) {
            condition.insert("hold_packets".to_owned(), json!(1 + dice.below(20)));
        }
    }
    Value::Object(condition)
}

/// Adds to a list, which is there or not.
fn push(list: &mut Value, item: Value) {
    match list {
        Value::Array(items) => items.push(item),
        none => *none = json!([item]),
    }
}

fn link_name(number: impl core::fmt::Display) -> String {
    format!("link-{number}")
}

/// Some of the links in some order.
fn path(names: &[String], dice: &mut Dice<'_>) -> Value {
    let mut rest = names.to_vec();
    let length = 1 + dice.index(names.len());
    (0..length).map(|_| json!(rest.swap_remove(dice.index(rest.len())))).collect()
}

/// The alternatives of a schema that is nothing but alternatives.
fn alternatives(schema: &Value) -> Option<&Vec<Value>> {
    schema["anyOf"].as_array().filter(|_| schema.get("properties").is_none())
}

fn parse(file: &Value) -> Option<Scenario> {
    Scenario::parse(&toml(file)).ok()
}

/// The file as TOML, one line for each key of the root.
fn toml(file: &Value) -> String {
    let mut text = String::new();
    for (name, value) in file.as_object().into_iter().flatten() {
        let _ = writeln!(text, "{name} = {}", inline(value));
    }
    text
}

fn inline(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let keys: Vec<String> = table.iter().map(|(name, value)| format!("{name} = {}", inline(value))).collect();
            format!("{{ {} }}", keys.join(", "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        // Strings, numbers and truth are written alike in TOML and JSON.
        other => other.to_string(),
    }
}

/// Places of kinds and the kinds themselves, without numbers of list entries.
fn kinds(file: &Value) -> Vec<String> {
    fn collect(name: &str, value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(table) => {
                for (key, inner) in table {
                    match inner {
                        Value::String(kind) if key == "kind" => {
                            found.push(format!("{name} = {kind}"));
                        }
                        Value::String(kind) if ["app", "stack", "queue", "link"].contains(&key.as_str()) => {
                            found.push(format!("{key} = {kind}"));
                        }
                        Value::Array(_) if ["home", "link"].contains(&key.as_str()) => {
                            found.push(format!("table = [[{key}]]"));
                            collect(key, inner, found);
                        }
                        inner => collect(key, inner, found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| collect(name, item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect("", file, &mut found);
    wifi::kinds(&file["wifi"][0], &mut found);
    found
}

/// Draws for one scenario: those that are given, and then those of a stream.
#[derive(Debug)]
struct Dice<'a> {
    throws: core::slice::Iter<'a, [u8; 2]>,
    stream: RandomStream,
}

impl Dice<'_> {
    fn unit(&mut self) -> f64 {
        match self.throws.next() {
            Some(throw) => f64::from(u16::from_le_bytes(*throw)) / 65_536.0,
            None => self.stream.unit(),
        }
    }

    fn bits(&mut self) -> u64 {
        match self.throws.next() {
            Some(throw) => u64::from(u16::from_le_bytes(*throw)),
            None => self.stream.bits(),
        }
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A whole number below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("below a length")
    }

    /// A whole number in a range of positive ones, its logarithm uniform.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped by `as`; the range is positive"
    )]
    fn between(&mut self, least: f64, most: f64) -> u64 {
        let exponent = math::ln(least) + self.unit() * (math::ln(most) - math::ln(least));
        math::exp(exponent) as u64
    }

    /// A whole number of a schema's range: mostly small, now and then the least or the greatest.
    fn integer(&mut self, least: &Value, most: &Value) -> u64 {
        let least = least.as_u64().unwrap_or(0);
        let most = most.as_u64().unwrap_or(1_000_000);
        match self.below(16) {
            0 => least,
            1 if most <= 1_000 => most,
            _ => (least + self.between(1.0, 100.0) - 1).min(most),
        }
    }

    /// A trace of a link: up to forty instants, some milliseconds apart.
    fn opportunities(&mut self) -> String {
        let first = self.below(20).to_string();
        let gaps = (0..=self.below(40)).map(|_| format!(" +{}*{}", self.below(30) + 1, self.below(4)));
        gaps.fold(first, |text, gap| text + &gap)
    }

    /// Packets of a capture: up to forty, some milliseconds apart, both ways.
    fn packets(&mut self) -> String {
        let first = format!("0 {}", 20 + self.below(1481));
        let rest = (0..=self.below(40)).map(|_| {
            let back = if self.chance(0.3) { "< " } else { "" };
            let (gap, length) = (self.below(30_000_000), 20 + self.below(1481));
            format!("; {back}+{gap} {length} {} {}", self.below(64), self.below(4))
        });
        rest.fold(first, |text, packet| text + &packet)
    }

    /// A quantity in one of the units that `pattern` ends with: mostly of the size that networks have, now and
    /// then odd.
    fn quantity(&mut self, pattern: &str) -> String {
        let mut sorts = Vec::new();
        // Unit, usual range, odd range.
        for (unit, usual, odd) in [
            ("ns", (1e5, 3e8), (1e3, 3.6e12)),
            ("b/s", (1e5, 1e9), (1.0, 1e12)),
            ("B", (40.0, 1e5), (1.0, 1e12)),
            ("packets", (1.0, 1e3), (1.0, 1e6)),
        ] {
            let last = pattern.rsplit('(').next().unwrap_or_default();
            let mut units = last.split(')').next().unwrap_or_default().split('|');
            if units.any(|known| known == unit) {
                sorts.push((unit, usual, odd));
            }
        }
        if sorts.is_empty() {
            return "word".to_owned();
        }
        let (unit, usual, odd) = sorts[self.index(sorts.len())];
        let (least, most) = if self.chance(0.85) { usual } else { odd };
        let number = if self.chance(0.03) { 0 } else { self.between(least, most) };
        format!("{number} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_always_gives_the_same_scenario() {
        let generator = Generator::default();
        assert_eq!(generator.draw(7).text, generator.draw(7).text);
        assert_ne!(generator.draw(7).text, generator.draw(8).text);
    }

    #[test]
    fn throws_that_are_given_come_before_those_of_the_number() {
        let generator = Generator::default();
        assert_eq!(generator.draw_with(7, &[]).text, generator.draw(7).text);
        // The first two decide on links and homes: low throws ask for both, high ones for neither.
        let with_both = generator.draw_with(7, &[0; 4]).scenario;
        assert!(!with_both.homes.is_empty() && !with_both.links.is_empty());
        let with_neither = generator.draw_with(7, &[0xff; 4]).scenario;
        assert!(with_neither.homes.is_empty() && with_neither.links.is_empty());
    }

    #[test]
    fn homes_and_paths_over_several_links_are_drawn() {
        let generator = Generator::default();
        let drawn: Vec<Scenario> = (0..60).map(|n| generator.draw(n).scenario).collect();
        assert!(drawn.iter().any(|scenario| !scenario.homes.is_empty()));
        let longest = drawn.iter().filter_map(|scenario| {
            let topology = scenario.topology();
            topology.traffic.iter().map(|entry| entry.path.upstream.len()).max()
        });
        assert!(longest.max() > Some(1));
    }

    #[test]
    fn files_of_required_keys_grow_by_further_ones() {
        let generator = Generator::default();
        let lengths: Vec<usize> = (0..40).map(|n| generator.draw(n).text.len()).collect();
        let (shortest, longest) = (lengths.iter().min(), lengths.iter().max());
        let doubled = shortest.map(|length| 2 * length);
        assert!(longest > doubled.as_ref(), "{lengths:?}");
    }
}
