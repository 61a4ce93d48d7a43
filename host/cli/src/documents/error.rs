//! Errors of any command.

use airlock_host::reads::StaleFile;
use schemars::JsonSchema;
use serde::Serialize;

use super::model;
use super::plugins::Fit;

/// The document of a command that failed before it had another to write.
#[derive(Serialize, JsonSchema)]
pub struct ErrorDocument<'a> {
    pub error: ErrorObject<'a>,
    /// The component's differences from the world; only of `inspect`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit<'a>>,
}

/// The reason why a command failed.
#[derive(Serialize, JsonSchema)]
pub struct ErrorObject<'a> {
    /// The stale files, if the error is about them.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schemars(with = "Vec<model::StaleFile>")]
    pub files: &'a [StaleFile],
    /// The next step for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'a str>,
    /// The kind of error, in kebab case.
    pub kind: &'a str,
    /// The message for people. It may quote a tool or a file.
    pub message: &'a str,
}
