//! Batches: several messages in one body, a feature of protocol version 2025-03-26.

#![expect(
    clippy::result_large_err,
    reason = "an answer in place of another is as large as that, and is sent at once"
)]

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use hyper::StatusCode;
use hyper::body::{Body, Bytes, Frame};
use hyper::header::HeaderMap;
use serde_json::value::RawValue;

use super::bodies::{Answer, method, not_a_message};
use super::gate::SESSION;

/// The most messages in a batch.
const MAX_PARTS: usize = 64;

/// The only version that has batches.
const VERSION: &str = "2025-03-26";

/// Returns the messages of a batch.
///
/// # Errors
/// The answer to send if the client's version has no batches, or if a part is not a message or is
/// `initialize`, which must be sent alone.
pub fn messages(bytes: &Bytes, headers: &HeaderMap) -> Result<Vec<Bytes>, Answer> {
    // A client that sends no version uses this one: later versions require the header.
    let version = headers.get("mcp-protocol-version");
    let has_batches = headers.contains_key(SESSION) && version.is_none_or(|it| it == VERSION);
    let parts: Vec<&RawValue> = serde_json::from_slice(bytes).unwrap_or_default();
    if !has_batches || parts.is_empty() || parts.len() > MAX_PARTS {
        return Err(not_a_message());
    }
    let messages = parts.into_iter().map(|part| {
        let message = bytes.slice_ref(part.get().as_bytes());
        match method(&message)?.as_deref() {
            Some("initialize") => Err(not_a_message()),
            _ => Ok(message),
        }
    });
    messages.collect()
}

/// Returns one answer to all messages of a batch: their event streams, one after the other.
pub fn joined(answers: Vec<Answer>) -> Option<Answer> {
    let (streams, others): (Vec<_>, Vec<_>) = answers
        .into_iter()
        .partition(|it| it.status() == StatusCode::OK);
    let mut streams = streams.into_iter();
    let Some(first) = streams.next() else {
        return others.into_iter().next();
    };
    let (head, body) = first.into_parts();
    let rest = streams.map(|it| it.into_body());
    let bodies = [body].into_iter().chain(rest).collect();
    Some(Answer::from_parts(head, Chain { bodies }.boxed()))
}

/// Bodies that are sent one after the other.
struct Chain {
    bodies: VecDeque<BoxBody<Bytes, Infallible>>,
}

impl Body for Chain {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        while let Some(body) = self.bodies.front_mut() {
            match ready!(Pin::new(body).poll_frame(context)) {
                Some(frame) => return Poll::Ready(Some(frame)),
                None => drop(self.bodies.pop_front()),
            }
        }
        Poll::Ready(None)
    }
}
