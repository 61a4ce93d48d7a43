//! The operator's file, `airlock-host.toml`: which there are, what they say, and what holds.
//!
//! Up to three are read, each of the same [type](File):
//!
//! | file | whose | what it may say |
//! | --- | --- | --- |
//! | the user's, or what `--config` names in its place | the operator's | everything |
//! | the system's | the operator's | everything |
//! | the workspace's | whoever writes there, so anybody | what narrows |
//!
//! A flag counts before the user's file, that before the system's, and that before the default.
//! What a workspace says can only make this stricter: see [`Settings`].
//! `host/desk/CONFIGURATION.md` says it to users, with each key.

mod file;
mod operator;
mod places;
mod plugins;
mod problem;
mod reading;
mod settings;
mod values;

pub use file::{File, Http, Limits};
pub use operator::{Checked, Operator};
pub use places::{NAME, Role, SYSTEM_VARIABLE};
pub use problem::{Problem, Problems};
pub use settings::{Given, Origin, Setting, Settings};
pub use values::{Age, Decide, Grant, Memory, PathText, Timeout};

/// The JSON Schema of the file, as text that ends in a newline.
pub fn schema() -> String {
    let schema = schemars::schema_for!(File);
    // What a type says of itself is text and numbers, which is always JSON.
    let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    format!("{text}\n")
}
