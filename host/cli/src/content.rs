//! The content of a result, for people.

use airlock_host::Content;

use crate::output::Output;
use crate::sanitize;
use crate::style::{DIM, paint};

/// A result's blocks.
pub fn show(out: &mut Output, content: &[Content]) {
    for block in content {
        match block {
            Content::Text { text } => out.line(sanitize::text(text).trim_end_matches('\n')),
            other => out.line(paint(DIM, describe(other))),
        }
    }
}

/// What can't be shown as text, in a line.
fn describe(content: &Content) -> String {
    match content {
        Content::Image { data, mime_type } => {
            format!(
                "[image: {}, {} bytes]",
                sanitize::line(mime_type),
                data.len()
            )
        }
        Content::ResourceLink { uri, name, .. } => {
            format!("[link: {}, {}]", sanitize::line(name), sanitize::line(uri))
        }
        other => format!(
            "[{}]",
            sanitize::line(&serde_json::to_string(other).unwrap_or_default())
        ),
    }
}
