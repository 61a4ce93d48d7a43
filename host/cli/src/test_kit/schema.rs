//! A JSON Schema that values are checked against.

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

/// One that the host has accepted from a tool.
pub struct Schema(Validator);

impl Schema {
    /// None for a schema that can't be used, which the host would have left out.
    pub fn new(schema: &Value) -> Option<Self> {
        let options = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(PatternOptions::regex());
        options.build(schema).ok().map(Self)
    }

    pub fn fits(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    /// The first place that doesn't fit, and why.
    pub fn violation(&self, value: &Value) -> Option<String> {
        let error = self.0.iter_errors(value).next()?;
        let place = error.instance_path().to_string();
        Some(match place.as_str() {
            "" => error.to_string(),
            place => format!("{place}: {error}"),
        })
    }
}
