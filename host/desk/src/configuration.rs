//! The operator's file `airlock-host.toml`: its locations, its contents, and which setting counts.
//!
//! Up to three files are read, each of the same [type](File):
//!
//! | file | owner | allowed contents |
//! | --- | --- | --- |
//! | the user's, or the one that `--config` names instead | the operator | everything |
//! | the system's | the operator | everything |
//! | the workspace's | anyone who can write there | stricter settings only |
//!
//! A flag takes precedence over the user's file, then come the system's file and the default. The
//! workspace's file can only make settings stricter: see [`Settings`]. `host/desk/CONFIGURATION.md`
//! describes each key for users.

mod file;
mod grants;
mod operator;
mod places;
mod plugins;
mod problem;
mod reading;
mod require;
mod settings;
mod values;

pub use file::{File, Http, Limits};
pub use grants::{Grant, GrantWord};
pub use operator::{Checked, Operator, OperatorFiles};
pub use places::{NAME, Role, SYSTEM_VARIABLE};
pub use problem::{Problem, Problems};
pub use require::{Require, SignedBy};
pub use settings::{Given, Origin, Setting, Settings};
pub use values::{Age, Decide, Memory, PathText, Timeout};

/// Returns the JSON Schema of the file, as text that ends in a newline.
pub fn schema() -> String {
    let schema = schemars::schema_for!(File);
    // A schema consists of texts and numbers, which can always be written as JSON.
    let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    format!("{text}\n")
}
