//! Checks of the surroundings: `doctor`. The findings of `audit` have the same form.

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;

/// The outcome of all checks.
#[derive(Serialize, JsonSchema)]
pub struct Doctor {
    pub checks: Vec<Check>,
    pub version: String,
    /// The version of wasmtime that this program was built with.
    pub wasmtime: &'static str,
}

/// The outcome of a check.
#[derive(Serialize, JsonSchema)]
pub struct Check {
    /// The next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The checked part, such as `store`.
    pub part: &'static str,
    pub state: CheckState,
    /// The finding, for people.
    pub text: String,
}

/// The state of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    /// It works.
    Well,
    /// It works, but may surprise.
    Note,
    /// It doesn't work.
    Wrong,
}

impl Check {
    pub fn well(part: &'static str, text: impl Into<String>) -> Self {
        Self {
            hint: None,
            part,
            state: CheckState::Well,
            text: text.into(),
        }
    }

    pub fn note(part: &'static str, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            state: CheckState::Note,
            ..Self::well(part, text)
        }
    }

    pub fn wrong(part: &'static str, failure: &Failure) -> Self {
        Self {
            hint: failure.hint().map(str::to_owned),
            state: CheckState::Wrong,
            ..Self::well(part, failure.message())
        }
    }
}
