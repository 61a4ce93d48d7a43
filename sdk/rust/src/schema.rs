//! JSON Schemas (2020-12) from Rust types.

use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};

/// Returns the schema of a `T` that a caller passes.
pub(crate) fn of_input<T: JsonSchema>() -> String {
    generate::<T>(Contract::Deserialize)
}

/// Returns the schema of a `T` that a tool returns.
pub(crate) fn of_output<T: JsonSchema>() -> String {
    generate::<T>(Contract::Serialize)
}

fn generate<T: JsonSchema>(contract: Contract) -> String {
    let mut settings = SchemaSettings::draft2020_12();
    settings.contract = contract;
    // Models read a schema from top to bottom, and some clients don't support `$ref`.
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The name of a Rust type means nothing to a caller.
    schema.remove("title");
    // The same code serializes plans and details. Serializing a value can't fail.
    serde_json::to_string(schema.as_value()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::{Value, json};

    use super::*;

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Params {
        /// Which ones.
        #[schemars(length(min = 1))]
        files: Vec<String>,
        #[serde(default)]
        mode: Mode,
    }

    #[derive(Default, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    enum Mode {
        #[default]
        AsIs,
        LowerCase,
    }

    #[test]
    fn the_schema_is_self_contained_and_has_the_authors_words() {
        let schema: Value = serde_json::from_str(&of_input::<Params>()).unwrap();
        let expected = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "files": {"description": "Which ones.", "type": "array", "items": {"type": "string"}, "minItems": 1},
                "mode": {"type": "string", "enum": ["as-is", "lower-case"], "default": "as-is"},
            },
            "required": ["files"],
            "additionalProperties": false,
        });
        assert_eq!(schema, expected);
    }

    #[test]
    fn what_a_caller_may_leave_out_a_tool_always_gives() {
        let schema: Value = serde_json::from_str(&of_output::<Params>()).unwrap();
        assert_eq!(schema["required"], json!(["files", "mode"]));
    }
}
