//! Applying ops to one source. This module knows nothing about files, and of calls only
//! [`Stop`](airlock_host::native::Stop), because it can run in a separate process.

mod binding;
mod candidate;
mod compare;
mod document;
mod dropped;
mod embedded;
mod filled;
mod grammar;
#[cfg(test)]
mod identity;
pub(crate) mod language;
mod lenient;
mod lines;
mod meaning;
mod op_search;
pub(crate) mod outline;
pub(crate) mod parser;
pub(crate) mod pattern;
mod places;
mod quoted;
pub(crate) mod rewrite;
mod selected;
mod steps;
mod syntax_errors;
pub(crate) mod template;
mod texts;

use serde::{Deserialize, Serialize};

/// A rewrite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Op {
    pub pat: String,
    pub out: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}
