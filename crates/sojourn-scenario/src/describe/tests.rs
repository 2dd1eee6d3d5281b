use super::*;

#[test]
fn the_schema_is_json_and_describes_every_key() {
    let schema: serde_json::Value = serde_json::from_str(&json_schema()).unwrap();
    let properties = schema["properties"].as_object().unwrap();
    for key in ["schema", "name", "duration", "seed", "seeds", "access", "traffic", "record"] {
        assert!(!properties[key]["description"].as_str().unwrap().is_empty(), "{key}");
    }
    assert_eq!(schema["required"], serde_json::json!(["schema", "name", "duration", "access"]));
    let ways = |ways: &[&str]| {
        let one = |way| serde_json::json!({ "required": [way] });
        serde_json::Value::Array(ways.iter().map(one).collect())
    };
    assert_eq!(schema["anyOf"], ways(&["traffic", "home", "load"]));
    let home = &schema["properties"]["home"]["items"];
    assert_eq!(home["anyOf"], ways(&["traffic", "load"]));
}

/// Every key of every kind of a family has, in the list, the default that the built configuration prints: a part that a
/// kind embeds with a profile of its own is not listed with the defaults of the part.
#[test]
fn defaults_in_the_list_are_those_of_built_configurations() {
    let rows = key_rows();
    let mut compared = 0;
    let mut wrong = Vec::new();
    for (place, kind, values) in parameters::built() {
        for (key, value) in values {
            let path = format!("{place}.{key}");
            let is_key = |row: &KeyRow| !row.value.starts_with("kind = ") && !row.value.starts_with("profile = ");
            let of_kind =
                |row: &&KeyRow| row.path == path && row.kind.split(", ").any(|one| one == kind) && is_key(row);
            let told: Vec<&KeyRow> = rows.iter().filter(of_kind).collect();
            match told.as_slice() {
                [row] if ["required", "see meaning"].contains(&row.default.as_str()) => {}
                [row] if row.default == value => compared += 1,
                told => wrong.push(format!("{path} of {kind} is {value}: {told:?}")),
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(compared > 1000, "{compared}");
    let of = |kind: &str| {
        let mut rows = rows.iter();
        let row = rows.find(|row| row.path == "access.DIRECTION.queue.low_latency_dscp" && row.kind == kind);
        row.map(|row| row.default.as_str())
    };
    assert_eq!((of("docsis-dual-queue"), of("dualpi2")), (Some("[42, 45, 46]"), Some("[]")));
}
