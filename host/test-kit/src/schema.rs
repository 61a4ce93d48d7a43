//! A JSON Schema that checks values as the host checks params.

use airlock_host::json::Json;
use airlock_host::load::Misfit;
use serde_json::Value;

/// Maximum number of steps of a check, which take one or two seconds.
const STEPS: u64 = 20_000_000;

/// A schema that the host accepted from a tool.
pub struct Schema(airlock_host::json::Schema);

impl Schema {
    /// Returns `None` for an unusable schema. The host leaves out tools with such schemas.
    pub fn new(schema: &Json) -> Option<Self> {
        airlock_host::json::Schema::new(schema).ok().map(Self)
    }

    pub fn fits(&self, value: &Value) -> bool {
        self.0.check(value, STEPS).is_ok()
    }

    /// Returns the first position that doesn't fit, with the reason.
    pub fn violation(&self, value: &Value) -> Option<String> {
        match self.0.check(value, STEPS).err()? {
            Misfit::Violations(violations) => violations.first().map(ToString::to_string),
            _ => Some(format!("checking them takes more than {STEPS} steps")),
        }
    }
}
