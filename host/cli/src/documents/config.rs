//! The configuration: `config check`.

use std::collections::BTreeMap;
use std::path::Path;

use airlock_desk::configuration::{Checked, Problem, Role};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The files that were looked for, and the settings that count.
#[derive(Serialize, JsonSchema)]
pub struct ConfigCheck<'a> {
    /// The files, by precedence.
    pub files: Vec<ConfigFile<'a>>,
    /// The settings by key; omitted if a file has problems, or if only one file was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<&'a str, &'a Setting>>,
}

/// A configuration file.
#[derive(Serialize, JsonSchema)]
pub struct ConfigFile<'a> {
    /// True if the file exists.
    pub found: bool,
    /// Likely mistakes that are not errors.
    pub notes: &'a [Problem],
    pub path: &'a Path,
    /// The errors in the file.
    pub problems: &'a [Problem],
    pub whose: Role,
}

/// A setting.
#[derive(Serialize, JsonSchema)]
pub struct Setting {
    /// The file that sets it, or words for another origin.
    pub from: String,
    pub value: Value,
}

impl Setting {
    pub fn new(from: impl Into<String>, value: impl Into<Value>) -> Self {
        Self {
            from: from.into(),
            value: value.into(),
        }
    }
}

impl<'a> From<&'a Checked> for ConfigFile<'a> {
    fn from(checked: &'a Checked) -> Self {
        Self {
            found: checked.is_found,
            notes: &checked.notes,
            path: &checked.path,
            problems: &checked.problems,
            whose: checked.role,
        }
    }
}
