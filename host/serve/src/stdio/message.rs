//! Parsing a line as a message.

use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId};
use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;

use super::batches;
use crate::{params, surrogates};

/// An error that is answered without processing the message.
pub struct Refused {
    /// The id of the request, if it has one.
    pub id: Option<RequestId>,
    pub error: ErrorData,
}

/// A message, or `None` for an unknown notification.
pub type Message = Result<Option<ClientJsonRpcMessage>, Refused>;

/// The contents of a line.
#[expect(
    clippy::large_enum_variant,
    reason = "most lines are one message, and it is taken at once"
)]
pub enum Read {
    Message(Message),
    /// The messages of a batch, at least one.
    Batch(Vec<Message>),
}

/// Reads a line. `has_batches` says whether the client's protocol version has batches. For a line
/// that isn't a message, returns the error to answer instead.
pub fn read(line: &[u8], has_batches: bool) -> Read {
    let is_batch = has_batches && line.trim_ascii_start().starts_with(b"[");
    let parts = is_batch.then(|| serde_json::from_slice::<Vec<Value>>(line));
    match parts {
        Some(Ok(parts)) if (1..=batches::MAX_PARTS).contains(&parts.len()) => {
            Read::Batch(parts.into_iter().map(of_value).collect())
        }
        Some(Ok(parts)) => {
            let text = format!(
                "a batch of {} messages; expected 1 to {}",
                parts.len(),
                batches::MAX_PARTS
            );
            let error = ErrorData::invalid_request(text, None);
            Read::Message(Err(Refused { id: None, error }))
        }
        _ => Read::Message(read_one(line)),
    }
}

fn of_value(value: Value) -> Message {
    match ClientJsonRpcMessage::deserialize(&value) {
        Ok(message) => Ok(Some(message)),
        Err(_) => misread(&value),
    }
}

/// Reads one message. Returns `None` for an empty line.
fn read_one(line: &[u8]) -> Message {
    // Some clients start UTF-8 text with a byte order mark.
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let error = match serde_json::from_slice(line) {
        Ok(message) => return Ok(Some(message)),
        Err(error) => error,
    };
    let value = match error.classify() {
        Category::Data => serde_json::from_slice::<Value>(line),
        _ => Err(error),
    };
    match value {
        Ok(value) => misread(&value),
        Err(error) => {
            if let Some((id, error)) = surrogates::refusal(line) {
                return Err(Refused { id, error });
            }
            let error = ErrorData::parse_error(format!("the line is not JSON: {error}"), None);
            Err(Refused { id: None, error })
        }
    }
}

/// Returns the error for JSON that is not a message.
fn misread(value: &Value) -> Message {
    let refused = |id, text: &'static str| {
        let error = ErrorData::invalid_request(text, None);
        Err(Refused { id, error })
    };
    let Value::Object(message) = value else {
        let text = match value {
            Value::Array(_) => "this version has no batches: send each message as a separate line",
            _ => "a message is an object",
        };
        return refused(None, text);
    };
    let Some(Value::String(method)) = message.get("method") else {
        return refused(
            None,
            "a message has a `method`, or else a `result` or an `error`, with the `id` of what it answers",
        );
    };
    let Some(id) = message.get("id") else {
        // Notifications are never answered.
        return Ok(None);
    };
    let Ok(id) = RequestId::deserialize(id) else {
        return refused(None, "the `id` of a request is a string or an integer");
    };
    match params::misfit(method, message.get("params")) {
        Some(error) => Err(Refused {
            id: Some(id),
            error,
        }),
        None => refused(
            Some(id),
            "a request has `jsonrpc`, which is \"2.0\", `id`, `method` and `params`, and neither `result` nor `error`",
        ),
    }
}
