//! Validates the documents that programs get with `--json`, whichever test asks for them.

use serde_json::{Deserializer, Value};

#[path = "../../src/documents/schema.rs"]
mod schema;

/// Checks what `airlock` with these words has printed. Text that isn't JSON is for the caller to
/// judge.
#[track_caller]
pub fn check<'a>(words: impl IntoIterator<Item = &'a str>, stdout: &str) {
    let words: Vec<_> = words.into_iter().collect();
    if !words.contains(&"--json") {
        return;
    }
    let command = match words[..] {
        [group @ ("config" | "policy" | "store"), command, ..] => format!("{group}-{command}"),
        [command, ..] => command.to_owned(),
        [] => return,
    };
    let documents = Deserializer::from_str(stdout).into_iter::<Value>();
    for document in documents.map_while(Result::ok) {
        schema::check(&command, &document);
    }
}
