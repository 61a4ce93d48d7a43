//! The messages between a search and its parser processes.
//!
//! The search sends its ops, and then one [`ParserRequest`] and source at a time. The process
//! answers each. All messages except the source are JSON.

use airlock_worker::Part;
use serde::{Deserialize, Serialize};

/// The parser's part of a program.
pub(super) const PARSER: Part = Part {
    argument: "airlock-parse-sources",
    version: concat!(env!("CARGO_PKG_VERSION"), "-3"),
};

/// A question about one source. Languages are sent by name.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ParserRequest {
    /// Asks about the ops themselves. The source is empty.
    Outline { language: String },
    /// Asks for the rewrite of the source, in at most `room` bytes.
    Find {
        language: String,
        room: usize,
        checks_contents: bool,
    },
    /// Asks for the errors of the source.
    Errors { language: String },
}
