//! JSON Schemas that come from a guest: checked when a plugin is loaded, compiled when first used.

use std::sync::OnceLock;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use super::schema_cost;
use crate::error::Violation;
use crate::json::Json;

/// How many violations an error lists.
const LISTED: usize = 20;

/// How long one violation's message may be, in bytes: it quotes the value.
const MESSAGE_BYTES: usize = 300;

/// The schema of a tool's params.
#[derive(Debug)]
pub(crate) struct ParamsSchema {
    schema: Json,
    /// A plugin that comes from the compile cache was checked before, and may never be called.
    validator: OnceLock<Result<Validator, String>>,
}

impl ParamsSchema {
    pub fn new(schema: Json) -> Self {
        let validator = OnceLock::new();
        Self { schema, validator }
    }

    /// The places where `params` doesn't fit, in the schema's order; none where it fits.
    pub fn check(&self, params: &Value) -> Result<(), Vec<Violation>> {
        let validator = match self.validator.get_or_init(|| compile(&self.schema.value())) {
            Ok(validator) => validator,
            Err(reason) => {
                let (path, message) = (
                    String::new(),
                    format!("the tool's schema can't be used: {reason}"),
                );
                return Err(vec![Violation { path, message }]);
            }
        };
        // Much the most calls are right, and telling that is cheaper than telling what is wrong.
        if validator.is_valid(params) {
            return Ok(());
        }
        let errors = validator.iter_errors(params).take(LISTED);
        Err(errors
            .map(|error| Violation {
                path: error.instance_path().to_string(),
                message: cut(error.to_string()),
            })
            .collect())
    }
}

/// Reads a schema and checks that it can be used. `what` names it in the reason.
pub(super) fn parse(what: &str, text: &str) -> Result<Json, String> {
    let json =
        Json::checked(text).map_err(|error| format!("its {what} schema is not JSON: {error}"))?;
    let schema = json.value();
    if !schema.is_object() {
        return Err(format!("its {what} schema is not a JSON object"));
    }
    compile(&schema).map_err(|reason| format!("its {what} schema can't be used: {reason}"))?;
    Ok(json)
}

/// Whether it names objects as what it is about.
pub(super) fn is_of_objects(schema: &Json) -> bool {
    #[derive(serde::Deserialize)]
    struct Type<'a> {
        #[serde(borrow, rename = "type")]
        name: std::borrow::Cow<'a, str>,
    }
    schema
        .parse::<Type<'_>>()
        .is_ok_and(|named| named.name == "object")
}

fn compile(schema: &Value) -> Result<Validator, String> {
    schema_cost::check(schema)?;
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        // A guest's pattern must not be able to take exponential time.
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .map_err(|error| match error.instance_path().to_string() {
            path if path.is_empty() => cut(error.to_string()),
            path => cut(format!("{path}: {error}")),
        })
}

fn cut(mut message: String) -> String {
    if message.len() > MESSAGE_BYTES {
        message.truncate(message.floor_char_boundary(MESSAGE_BYTES));
        message.push('…');
    }
    message
}
