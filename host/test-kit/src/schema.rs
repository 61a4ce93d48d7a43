//! A JSON Schema that values are checked against, as the host checks params.

use airlock_host::json::Json;
use airlock_host::load::Misfit;
use serde_json::Value;

/// Steps that a check may take: what it does in a second or two.
const STEPS: u64 = 20_000_000;

/// One that the host has accepted from a tool.
pub struct Schema(airlock_host::json::Schema);

impl Schema {
    /// None for a schema that can't be used, which the host would have left out.
    pub fn new(schema: &Json) -> Option<Self> {
        airlock_host::json::Schema::new(schema).ok().map(Self)
    }

    pub fn fits(&self, value: &Value) -> bool {
        self.0.check(value, STEPS).is_ok()
    }

    /// The first place that doesn't fit, and why.
    pub fn violation(&self, value: &Value) -> Option<String> {
        match self.0.check(value, STEPS).err()? {
            Misfit::Violations(violations) => violations.first().map(ToString::to_string),
            _ => Some(format!("checking them takes more than {STEPS} steps")),
        }
    }
}
