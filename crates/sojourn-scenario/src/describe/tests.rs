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
