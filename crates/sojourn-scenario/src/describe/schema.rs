//! The JSON schema.

use serde_json::{Map, Value as Json, json};
use sojourn_base::Direction;
use sojourn_base::quantity::{SPELLINGS, Unit};

use super::catalogue::{Entry, Group};
use crate::tree;
use sojourn_keys::value::{Field, Shape};
use sojourn_keys::{Content, Key, key};

/// The schema of a file with these keys.
pub(super) fn schema(entries: &[Entry]) -> String {
    let Json::Object(mut root) = object(entries, &[], true, "#") else {
        unreachable!("an object's schema is an object");
    };
    root.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    root.insert("title".to_owned(), json!("Sojourn scenario"));
    let mut text = serde_json::to_string_pretty(&Json::Object(root)).expect("a tree of texts and numbers is JSON");
    text.push('\n');
    text
}

/// A table with these keys, and `more` properties beside them.
fn object(entries: &[Entry], more: &[(&str, Json)], with_required: bool, path: &str) -> Json {
    let mut properties = Map::new();
    for (name, schema) in more {
        properties.insert((*name).to_owned(), schema.clone());
    }
    for entry in entries {
        let name = entry.key().name;
        let here = format!("{path}/properties/{name}");
        let schema = match same_as(&here, name) {
            Some(there) => json!({ "$ref": there }),
            None => described(entry, &here),
        };
        properties.insert(name.to_owned(), schema);
    }
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Json::Object(properties));
    schema.insert("additionalProperties".to_owned(), json!(false));
    if with_required {
        let mut required = required(entries);
        // Senders are traffic entries, named loads, or homes that have them.
        if required.contains(&"traffic") {
            required.retain(|key| *key != "traffic");
            let ways = ["traffic", "home", "load"].into_iter();
            let known = ways.filter(|way| entries.iter().any(|entry| entry.key().name == *way));
            let ways: Vec<Json> = known.map(|way| json!({ "required": [way] })).collect();
            schema.insert("anyOf".to_owned(), json!(ways));
        }
        schema.insert("required".to_owned(), json!(required));
    }
    Json::Object(schema)
}

/// Returns the first place that describes the same keys.
fn same_as(here: &str, name: &str) -> Option<&'static str> {
    const LINK: &str = "#/properties/access/properties/upstream";
    const ACCESS: &str = "#/properties/access";
    const TRAFFIC: &str = "#/properties/traffic";
    let is_link = here != "#/properties/group/properties/downstream"
        && Direction::BOTH.iter().any(|known| known.as_str() == name);
    let there = match name {
        _ if is_link => LINK,
        "access" => ACCESS,
        "traffic" => TRAFFIC,
        _ => return None,
    };
    (here != there).then_some(there)
}

/// Keys that must be there. A table must be if a key in it must.
fn required(entries: &[Entry]) -> Vec<&'static str> {
    entries
        .iter()
        .filter(|entry| match entry {
            Entry::Table { key, entries } => !key.conditional && !required(entries).is_empty(),
            entry => entry.key().required,
        })
        .map(|entry| entry.key().name)
        .collect()
}

/// The default that every kind has, as JSON.
fn default_of(entry: &Entry) -> Option<Json> {
    let Entry::Value { key, default, .. } = entry else {
        return None;
    };
    let default = default.common().filter(|default| !default.is_empty() && !key.required && !key.conditional)?;
    let table = tree::parse(&format!("default = {default}")).ok()?;
    table.iter().find_map(|(_, node)| to_json(&node.content))
}

fn to_json(content: &Content) -> Option<Json> {
    match content {
        Content::Text(text) => Some(json!(text)),
        Content::Integer(_, number) => number.and_then(|number| i64::try_from(number).ok()).map(|number| json!(number)),
        Content::Float(_, number) => number.is_finite().then(|| json!(number)),
        Content::Boolean(value) => Some(json!(value)),
        Content::Date => None,
        Content::List(items) => {
            items.iter().map(|node| to_json(&node.content)).collect::<Option<Vec<_>>>().map(Json::from)
        }
        Content::Table(table) => {
            let entries = table.iter().map(|(key, node)| Some((key.to_owned(), to_json(&node.content)?)));
            entries.collect::<Option<Map<_, _>>>().map(Json::Object)
        }
    }
}

fn described(entry: &Entry, path: &str) -> Json {
    let (key, mut schema) = match entry {
        Entry::Value { key, shape, .. } => (key, value(shape, key)),
        Entry::Table { key, entries } => (key, object(entries, &[], true, path)),
        Entry::Choice { key, groups, .. } => (key, choice(groups, key.required || key.conditional)),
        Entry::Items { key, entries } => (key, items(key, entries, path)),
    };
    if let Json::Object(schema) = &mut schema {
        schema.insert("description".to_owned(), json!(format!("{} ({})", key.about, key.origin)));
        if let Some(default) = default_of(entry) {
            schema.insert("default".to_owned(), default);
        }
    }
    schema
}

/// A list of tables, or a table of them by name.
fn items(key: &Key, entries: &[Entry], path: &str) -> Json {
    let list = json!({
        "type": "array",
        "items": object(entries, &[], true, &format!("{path}/items")),
        "minItems": u32::from(key.required),
    });
    if !key.named {
        return list;
    }
    let mut named = object(entries, &[], true, &format!("{path}/items"));
    if let Some(required) = named.get_mut("required").and_then(Json::as_array_mut) {
        required.retain(|key| key != "name");
    }
    json!({ "anyOf": [list, { "type": "object", "additionalProperties": named }] })
}

/// A word for a kind that needs nothing else, or a table.
fn choice(groups: &[Group], needs_kind: bool) -> Json {
    let words: Vec<&str> = groups
        .iter()
        .filter(|group| required(&group.entries).is_empty())
        .flat_map(|group| group.kinds.iter().map(|kind| kind.name))
        .collect();
    let mut options: Vec<Json> = groups.iter().map(|group| table(group, needs_kind)).collect();
    if !words.is_empty() {
        options.push(json!({ "enum": words }));
    }
    json!({ "anyOf": options })
}

/// Returns the table that kinds of a group are written as. If there is a default kind, a table may change its parts and
/// omit it.
fn table(group: &Group, needs_kind: bool) -> Json {
    let kinds: Vec<&str> = group.kinds.iter().map(|kind| kind.name).collect();
    let profiles: Vec<&str> = group.kinds.iter().flat_map(|kind| kind.profiles.iter().map(|(name, _)| *name)).collect();
    let mut more = vec![("kind", json!({ "enum": kinds }))];
    if !profiles.is_empty() {
        more.push(("profile", json!({ "enum": profiles })));
    }
    let mut table = object(&group.entries, &more, false, "");
    let mut needed = required(&group.entries);
    if !needs_kind {
        table["required"] = json!([]);
    } else if profiles.is_empty() || needed.is_empty() {
        needed.push("kind");
        table["required"] = json!(needed);
    } else {
        // A profile says everything.
        table["required"] = json!(["kind"]);
        table["anyOf"] = json!([{ "required": ["profile"] }, { "required": needed }]);
    }
    if let [kind] = group.kinds.as_slice() {
        table["description"] = json!(kind.about);
    }
    table
}

fn value(shape: &Shape, key: &Key) -> Json {
    match shape {
        Shape::Quantity { units, .. } => json!({ "type": "string", "pattern": pattern(units) }),
        Shape::Whole => bounded("integer", key),
        Shape::Number => bounded("number", key),
        Shape::Boolean => json!({ "type": "boolean" }),
        Shape::Text => json!({ "type": "string", "minLength": 1 }),
        Shape::Words(words) => {
            let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
            json!({ "enum": names })
        }
        Shape::WordOr(word, inner) => json!({ "anyOf": [{ "const": word }, value(inner, key)] }),
        Shape::Either(one, other) => json!({ "anyOf": [value(one, key), value(other, key)] }),
        Shape::OneOrMany(inner) => {
            let inner = value(inner, key);
            let many = json!({ "type": "array", "items": inner, "minItems": 1 });
            json!({ "anyOf": [inner, many] })
        }
        Shape::List(inner) => json!({ "type": "array", "items": value(inner, key) }),
        Shape::Table(fields) => fields_of(fields),
        Shape::Settings => json!({ "type": "object", "minProperties": 1 }),
        Shape::Explained(_, shapes) => {
            let shapes: Vec<Json> = shapes.iter().map(|shape| value(shape, key)).collect();
            json!({ "anyOf": shapes })
        }
        Shape::Exactly(number) => json!({ "const": number }),
    }
}

/// An inline table. The bounds of its key are not those of its numbers.
fn fields_of(fields: &[Field]) -> Json {
    let own = |field: &Field| key(field.name, field.about, "");
    let properties: Map<String, Json> = fields
        .iter()
        .map(|field| {
            let mut schema = value(&field.shape, &own(field));
            schema["description"] = json!(field.about);
            (field.name.to_owned(), schema)
        })
        .collect();
    let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn bounded(kind: &str, key: &Key) -> Json {
    let mut schema = json!({ "type": kind });
    for (name, bound) in [("minimum", key.least), ("maximum", key.most)] {
        // Seeds exceed what every reader of JSON numbers can hold; their bound is the type's.
        if let Ok(number) = bound.parse::<u32>() {
            schema[name] = json!(number);
        } else if let Ok(number) = bound.parse::<f64>()
            && number.abs() < 1e15
        {
            schema[name] = json!(number);
        }
    }
    if kind == "integer" && schema.get("minimum").is_none() {
        schema["minimum"] = json!(0);
    }
    schema
}

/// A decimal number and one of the units, as they are spelt here or elsewhere.
fn pattern(units: &[Unit]) -> String {
    let known = |unit: &str| units.iter().any(|(spelling, _)| *spelling == unit);
    let spelt_anyhow = |word: &str| -> String {
        // A small b stays: "MB/s" counts bytes.
        let is_fixed = |c: char| !c.is_ascii_alphabetic() || (c == 'b' && !word.contains("bit"));
        let any_case = |c: char| if is_fixed(c) { c.to_string() } else { format!("[{c}{}]", c.to_ascii_uppercase()) };
        word.chars().map(any_case).collect()
    };
    let spelt = units.iter().map(|(spelling, _)| String::from(*spelling));
    let elsewhere = SPELLINGS.iter().filter(|(_, unit)| known(unit)).map(|(word, _)| spelt_anyhow(word));
    let units: Vec<String> = spelt.chain(elsewhere).collect();
    format!("^\\s*\\+?[0-9][0-9_]*(\\.[0-9_]+)?\\s*({})\\s*$", units.join("|"))
}
