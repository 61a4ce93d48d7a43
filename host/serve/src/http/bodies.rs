//! Bodies of requests and responses.

#![expect(
    clippy::result_large_err,
    reason = "an answer in place of another is as large as that, and is sent at once"
)]

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::surrogates;

/// An answer to a request.
pub type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The time that the body of a request may take to arrive.
const WITHIN: Duration = Duration::from_secs(30);

/// The most bytes that a principal's bodies may take in memory together, in addition to the limit
/// of one body.
const TOGETHER: usize = 64 << 20;

/// The unit in which these bytes are counted.
const UNIT: usize = 1024;

/// The reader of a principal's bodies. It limits the memory and time of each body and of all
/// together, and never makes one principal wait for another.
pub struct Bodies {
    largest: usize,
    room: Arc<Semaphore>,
}

/// A body that was read. Its memory counts until it is dropped.
pub struct Read {
    pub bytes: Bytes,
    /// The protocol's method, if it has one.
    pub method: Option<String>,
    /// True if it is an array, whose messages are not parsed yet.
    pub is_batch: bool,
    _room: OwnedSemaphorePermit,
}

#[derive(Deserialize)]
struct Message {
    jsonrpc: String,
    method: Option<String>,
}

impl Bodies {
    pub fn new(largest: usize) -> Self {
        let units = (TOGETHER + largest) / UNIT;
        Self {
            largest,
            room: Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS))),
        }
    }

    /// Reads the body of a request: one message of the protocol, or a batch.
    ///
    /// # Errors
    /// The answer to send instead.
    pub async fn read(&self, body: Incoming) -> Result<Read, Answer> {
        // A body of unknown length may grow to the limit.
        let length = body.size_hint().exact();
        let length = length.map_or(self.largest, |it| usize::try_from(it).unwrap_or(usize::MAX));
        if length > self.largest {
            let notice = format!("the body is {length} bytes; the limit is {}", self.largest);
            return Err(text(StatusCode::PAYLOAD_TOO_LARGE, notice));
        }
        let units = u32::try_from(length.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(units);
        let Ok(Ok(room)) = timeout(WITHIN, room).await else {
            let notice = "too many bodies are being read; those of this token wait for each other";
            return Err(text(StatusCode::SERVICE_UNAVAILABLE, notice));
        };
        match timeout(WITHIN, self.read_all(body, room)).await {
            Ok(read) => read,
            Err(_) => {
                let notice = format!("the body took more than {} seconds", WITHIN.as_secs());
                Err(text(StatusCode::REQUEST_TIMEOUT, notice))
            }
        }
    }

    async fn read_all(&self, body: Incoming, room: OwnedSemaphorePermit) -> Result<Read, Answer> {
        let bytes = match Limited::new(body, self.largest).collect().await {
            Ok(collected) => collected.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                let notice = format!("the body is longer than {} bytes, the limit", self.largest);
                return Err(text(StatusCode::PAYLOAD_TOO_LARGE, notice));
            }
            Err(error) => {
                let notice = format!("the body could not be read: {error}");
                return Err(text(StatusCode::BAD_REQUEST, notice));
            }
        };
        let is_batch = bytes.trim_ascii_start().starts_with(b"[");
        let method = if is_batch {
            check_json(&bytes).map(|()| None)?
        } else {
            method(&bytes)?
        };
        Ok(Read {
            bytes,
            method,
            is_batch,
            _room: room,
        })
    }
}

/// Returns the method of a message, if it has one.
///
/// # Errors
/// The answer to send if the bytes are not a message.
pub fn method(bytes: &[u8]) -> Result<Option<String>, Answer> {
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    if let Ok(message) = serde_json::from_slice::<Message>(bytes)
        && is_object
        && message.jsonrpc == "2.0"
    {
        return Ok(message.method);
    }
    check_json(bytes)?;
    Err(not_a_message())
}

fn check_json(bytes: &[u8]) -> Result<(), Answer> {
    let Err(error) = serde_json::from_slice::<IgnoredAny>(bytes) else {
        return Ok(());
    };
    let notice = format!("the body is not JSON: {error}");
    Err(mistake(ErrorCode::PARSE_ERROR, notice))
}

/// Returns the answer to a message that the transport could not read.
pub fn not_read(bytes: &[u8]) -> Answer {
    match surrogates::refusal(bytes) {
        Some((id, error)) => refused(id, &error),
        None => not_a_message(),
    }
}

/// Returns the answer to JSON that is not a message of the protocol.
pub fn not_a_message() -> Answer {
    let notice = "the body is no message of JSON-RPC 2.0 that the protocol has; batches are taken in sessions of version 2025-03-26 alone, of 64 messages at most";
    mistake(ErrorCode::INVALID_REQUEST, notice.to_owned())
}

/// Returns a protocol error for a message whose id is unknown.
fn mistake(code: ErrorCode, message: String) -> Answer {
    refused(None, &ErrorData::new(code, message, None))
}

fn refused(id: Option<RequestId>, error: &ErrorData) -> Answer {
    let error = json!({"jsonrpc": "2.0", "id": id, "error": error});
    answer(
        StatusCode::BAD_REQUEST,
        "application/json",
        error.to_string(),
    )
}

/// Returns an answer in plain text, for people.
pub fn text(status: StatusCode, notice: impl Into<String>) -> Answer {
    answer(status, "text/plain; charset=utf-8", notice.into() + "\n")
}

pub fn answer(status: StatusCode, kind: &'static str, body: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}
