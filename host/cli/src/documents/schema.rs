//! The committed schema, and validating documents against it.
//!
//! The integration tests include this file too, and validate the program's real output.

use std::fs;

use serde_json::{Value, json};

/// Checks that a document of a command, such as `store-stats`, fits the schema.
///
/// The schema allows further members, for later versions; this version must have none.
///
/// # Panics
/// If it doesn't.
#[track_caller]
pub fn check(command: &str, document: &Value) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/json.schema.json");
    let text = fs::read_to_string(file).unwrap();
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    assert!(
        schema["$defs"].get(command).is_some(),
        "json.schema.json has no `{command}`"
    );
    for definition in schema["$defs"].as_object_mut().unwrap().values_mut() {
        close(definition);
    }
    schema["$ref"] = json!(format!("#/$defs/{command}"));
    let validator = jsonschema::validator_for(&schema).unwrap();
    let problems = validator.iter_errors(document);
    let problems: Vec<_> = problems
        .map(|it| format!("{}: {it}", it.instance_path()))
        .collect();
    assert!(problems.is_empty(), "{command}: {problems:#?}\n{document}");
}

/// Disallows further members of the objects in a schema.
fn close(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    let is_object = object.contains_key("properties");
    for (key, inner) in object.iter_mut() {
        match key.as_str() {
            "properties" => inner.as_object_mut().unwrap().values_mut().for_each(close),
            // Alternatives that add to the object's own members can't be closed themselves.
            "anyOf" | "oneOf" if !is_object => {
                inner.as_array_mut().unwrap().iter_mut().for_each(close);
            }
            "items" | "additionalProperties" => close(inner),
            _ => {}
        }
    }
    if is_object {
        object.insert("unevaluatedProperties".to_owned(), json!(false));
    }
}
