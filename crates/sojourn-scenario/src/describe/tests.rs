use super::*;

#[test]
fn the_schema_is_json_and_describes_every_key() {
    let schema: serde_json::Value = serde_json::from_str(&json_schema()).unwrap();
    let properties = schema["properties"].as_object().unwrap();
    for key in [
        "schema", "name", "duration", "seed", "seeds", "access", "traffic", "record",
    ] {
        assert!(
            !properties[key]["description"].as_str().unwrap().is_empty(),
            "{key}"
        );
    }
    assert_eq!(
        schema["required"],
        serde_json::json!(["schema", "name", "duration", "access"])
    );
    let (lone, several) = (&schema["anyOf"][0], &schema["anyOf"][1]);
    assert_eq!(lone["required"], serde_json::json!(["traffic"]));
    assert_eq!(several["required"], serde_json::json!(["home"]));
}
