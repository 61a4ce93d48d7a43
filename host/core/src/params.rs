//! The params of one call: as a value, which is checked, and as the text that a guest gets and its
//! record keeps.

use std::sync::OnceLock;

use airlock_model::json::Json;
use serde_json::Value;

/// Both forms. The text is written once, and only where somebody reads it.
#[derive(Debug)]
pub(crate) struct Params<'a> {
    value: &'a Value,
    text: OnceLock<Json>,
}

impl<'a> Params<'a> {
    pub fn of(value: &'a Value) -> Self {
        let text = OnceLock::new();
        Self { value, text }
    }

    /// Where the host itself wrote the value as this text before.
    pub fn written(value: &'a Value, text: &Json) -> Self {
        let text = OnceLock::from(text.clone());
        Self { value, text }
    }

    pub fn value(&self) -> &'a Value {
        self.value
    }

    pub fn text(&self) -> &Json {
        self.text.get_or_init(|| Json::of_own(self.value))
    }
}
