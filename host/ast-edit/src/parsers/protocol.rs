//! The messages between a search and the processes that parse for it.
//!
//! The search sends its ops, and then a [`Request`] and a source at a time; the process answers
//! each. All but the source is JSON.

use airlock_worker::Part;
use serde::{Deserialize, Serialize};

/// The part of a program that parses.
pub(super) const PARSER: Part = Part {
    argument: "airlock-parse-sources",
    version: concat!(env!("CARGO_PKG_VERSION"), "-3"),
};

/// What is asked of one source. Languages go by their names.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// The ops themselves; the source is empty.
    Outline { language: String },
    /// What the ops make of the source, in so many bytes.
    Find {
        language: String,
        room: usize,
        checks_contents: bool,
    },
    /// The source's errors.
    Errors { language: String },
}
