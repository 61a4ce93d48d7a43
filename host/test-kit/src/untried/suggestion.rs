//! Suggests a first case for an author, based on a tool's schema.

use airlock_host::tool::ToolDefinition;
use serde_json::{Map, Value, json};

use crate::files::{Entry, Files};
use crate::generate::names_files;

/// The file of the suggested workspace.
const NOTES: &str = "notes.txt";

/// Maximum depth to follow a schema.
const DEPTH: usize = 4;

/// Returns the case as TOML. `files` are the author's; without any, the case includes one file.
pub fn case(definition: &ToolDefinition, files: Option<&Files>) -> String {
    let is_file = |entry: &(&str, &Entry)| matches!(entry.1, Entry::File(_));
    let file = files.and_then(|files| files.iter().find(is_file));
    let parameters = definition.parameters.value();
    let example = Example {
        root: &parameters,
        file: file.map_or(NOTES, |(path, _)| path),
    };
    let params = example.of(&parameters, false, DEPTH);
    let name = format!("{} does what it should", definition.name);
    let mut lines = vec![
        "[[case]]".to_owned(),
        format!("name = {}", quoted(&name)),
        format!("tool = {}", quoted(&definition.name)),
        format!("params = {}", quoted(&params.to_string())),
    ];
    if files.is_none() {
        lines.push(format!("workspace.files = {{ \"{NOTES}\" = \"text\" }}"));
    }
    if !definition.traits.read_only {
        lines.extend(["", "[[case.resolve]]", "action = \"apply\""].map(str::to_owned));
    }
    lines.join("\n")
}

/// Formats a text as a TOML string.
fn quoted(text: &str) -> String {
    match text.contains(|letter: char| letter == '\'' || letter.is_control()) {
        // TOML accepts the escapes of JSON, except for one character that JSON does not escape.
        true => json!(text).to_string().replace('\u{7f}', "\\u007f"),
        false if text.contains(['"', '\\']) => format!("'{text}'"),
        false => format!("\"{text}\""),
    }
}

struct Example<'a> {
    root: &'a Value,
    file: &'a str,
}

impl Example<'_> {
    /// Returns a simple value of the kind that a schema expects. The author has to check that it
    /// fits.
    fn of(&self, schema: &Value, names: bool, depth: usize) -> Value {
        let Some(members) = schema.as_object() else {
            return json!("text");
        };
        let first = |key: &str| members.get(key)?.as_array()?.first().cloned();
        let given = [
            members.get("const").cloned(),
            members.get("default").cloned(),
        ]
        .into_iter()
        .flatten()
        .chain(["examples", "enum"].into_iter().filter_map(first))
        .next();
        if let Some(value) = given {
            return value;
        }
        if depth == 0 {
            return json!({});
        }
        if let Some(target) = self.target(members) {
            return self.of(target, names, depth - 1);
        }
        for key in ["oneOf", "anyOf", "allOf"] {
            let of_object = members.contains_key("properties");
            if let Some(part) = first(key).filter(|_| !of_object) {
                return self.of(&part, names, depth - 1);
            }
        }
        match type_of(members) {
            "object" => self.object(members, depth),
            "array" => {
                let item = members.get("items").unwrap_or(&Value::Null);
                json!([self.of(item, names, depth - 1)])
            }
            "integer" | "number" => members.get("minimum").cloned().unwrap_or(json!(1)),
            "boolean" => json!(true),
            "null" => Value::Null,
            _ if names => json!(self.file),
            _ => json!("text"),
        }
    }

    /// Returns an object with the required properties, or with all of them if none is required.
    fn object(&self, schema: &Map<String, Value>, depth: usize) -> Value {
        let Some(Value::Object(properties)) = schema.get("properties") else {
            return json!({});
        };
        let required = schema.get("required").and_then(Value::as_array);
        let is_wanted = |name: &str| match required {
            Some(names) if !names.is_empty() => names.iter().any(|it| it == name),
            _ => true,
        };
        let members =
            properties
                .iter()
                .filter(|(name, _)| is_wanted(name))
                .map(|(name, property)| {
                    let names = names_files(name, property);
                    (name.clone(), self.of(property, names, depth - 1))
                });
        Value::Object(members.collect())
    }

    fn target(&self, schema: &Map<String, Value>) -> Option<&Value> {
        let reference = schema.get("$ref")?.as_str()?;
        self.root.pointer(reference.strip_prefix('#')?)
    }
}

fn type_of(schema: &Map<String, Value>) -> &str {
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => names.first().and_then(Value::as_str).unwrap_or_default(),
        _ if schema.contains_key("properties") => "object",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use airlock_host::tool::resolve_tool;

    use super::*;

    fn tool(parameters: Value) -> ToolDefinition {
        ToolDefinition {
            name: "it".to_owned(),
            parameters: parameters.try_into().unwrap(),
            ..resolve_tool()
        }
    }

    fn params(parameters: Value, files: Option<&Files>) -> Value {
        let case: toml::Value = toml::from_str(&case(&tool(parameters), files)).unwrap();
        serde_json::from_str(case["case"][0]["params"].as_str().unwrap()).unwrap()
    }

    #[test]
    fn params_are_of_the_kinds_that_the_schema_asks_for() {
        let parameters = json!({
            "type": "object",
            "properties": {
                "files": {"type": "array", "items": {"type": "string"}},
                "find": {"type": "string"},
                "mode": {"enum": ["it's", "b"]},
                "count": {"type": "integer", "minimum": 3},
                "where": {"$ref": "#/$defs/where"},
                "more": {"type": "boolean"}
            },
            "$defs": {"where": {"anyOf": [{"type": "null"}, {"type": "string"}]}},
            "required": ["files", "find", "mode", "count", "where"]
        });
        let expected = |file: &str| json!({"files": [file], "find": "text", "mode": "it's", "count": 3, "where": null});
        assert_eq!(params(parameters.clone(), None), expected("notes.txt"));
        let mut files = Files::default();
        files.add_file("docs/own.md", "");
        let own = params(parameters, Some(&files));
        assert_eq!(own, expected("docs/own.md"));
    }

    #[test]
    fn any_text_can_be_quoted() {
        for text in [
            "plain",
            "it's",
            "\"a\" \\",
            "it's \"a\"\n\u{7f}\u{1b}\u{85}é",
        ] {
            let document: toml::Value = toml::from_str(&format!("a = {}", quoted(text))).unwrap();
            assert_eq!(document["a"].as_str(), Some(text));
        }
    }

    #[test]
    fn a_schema_without_an_end_has_an_example_too() {
        let parameters = json!({"type": "object", "properties": {"tree": {"$ref": "#"}}});
        assert!(params(parameters, None)["tree"].is_object());
        assert_eq!(params(json!({"type": "object"}), None), json!({}));
    }
}
