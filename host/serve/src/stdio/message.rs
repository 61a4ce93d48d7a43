//! A line, as a message.

use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId};
use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;

use crate::params;

/// What is answered in place of whoever would work on a message.
pub struct Refused {
    /// The request's, where it has one.
    pub id: Option<RequestId>,
    pub error: ErrorData,
}

/// Reads one; none of a line that has none, or a notification that nobody knows.
///
/// # Errors
/// What is answered to a line that is no message.
pub fn read(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Refused> {
    // Some put it before a text in UTF-8.
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
            let error = ErrorData::parse_error(format!("the line is not JSON: {error}"), None);
            Err(Refused { id: None, error })
        }
    }
}

/// What is wrong with JSON that is no message.
fn misread(value: &Value) -> Result<Option<ClientJsonRpcMessage>, Refused> {
    let refused = |id, told: &'static str| {
        let error = ErrorData::invalid_request(told, None);
        Err(Refused { id, error })
    };
    let Value::Object(message) = value else {
        let told = match value {
            Value::Array(_) => "batches are not taken: each message is a line of its own",
            _ => "a message is an object",
        };
        return refused(None, told);
    };
    let Some(Value::String(method)) = message.get("method") else {
        return refused(
            None,
            "a message has a `method`, or else a `result` or an `error`, with the `id` of what it answers",
        );
    };
    let Some(id) = message.get("id") else {
        // Nobody answers a notification.
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
