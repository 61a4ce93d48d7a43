//! The transport over standard input and output: one message per line, from a client that may send
//! anything.
//!
//! It replaces the transport of `rmcp`, which accepts requests without limit and does not answer
//! lines that are too long or not JSON.

mod batches;
mod lines;
mod message;
mod requests;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetMeta, JsonRpcMessage,
    JsonRpcRequest, ProtocolVersion, ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use crate::params;
use batches::{Answered, Batches};
use lines::{Line, Lines, MAX_LINE_BYTES};
use message::{Message, Read, Refused, read};
use requests::Requests;

/// The time for which waiting requests may still begin after the client has closed its end. `rmcp`
/// then waits just as long for answers.
const AFTER_THE_END: Duration = Duration::from_secs(5);

/// The messages from a client, and the writer for those to it.
pub struct Stdio<R, W> {
    lines: Lines<R>,
    writer: Arc<Mutex<W>>,
    requests: Requests,
    begun: Begun,
    /// True if the negotiated version has batches.
    has_batches: bool,
    batches: Batches,
    /// The messages of a batch that are ready to be passed on.
    read: VecDeque<ClientJsonRpcMessage>,
    /// The deadline for requests to begin, once the client has closed its end.
    last_turns: Option<Instant>,
    /// An error that is being written. Nothing is read until it is written, so a client must read
    /// as many answers as it makes mistakes.
    refusing: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
}

/// The way in which the conversation began.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begun {
    Not,
    /// The conversation began with `initialize`.
    Initialized,
    /// The conversation began with a request that carries its own protocol version, as of
    /// 2026-07-28.
    Stateless,
}

impl<R: AsyncRead + Unpin, W> Stdio<R, W> {
    pub fn new((reader, writer): (R, W)) -> Self {
        Self {
            lines: Lines::new(reader),
            writer: Arc::new(Mutex::new(writer)),
            requests: Requests::default(),
            begun: Begun::Not,
            has_batches: false,
            batches: Batches::default(),
            read: VecDeque::new(),
            last_turns: None,
            refusing: None,
        }
    }
}

impl<R, W> Transport<RoleServer> for Stdio<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn name() -> Cow<'static, str> {
        "stdio".into()
    }

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let JsonRpcMessage::Response(response) = &message
            && let ServerResult::InitializeResult(result) = &response.result
        {
            self.has_batches = result.protocol_version == ProtocolVersion::V_2025_03_26;
        }
        let answered = match answered {
            Some(id) => {
                let turn = self.requests.answered(id);
                self.batches.answered(id, &message, turn)
            }
            None => Answered::Alone(None),
        };
        let writer = Arc::clone(&self.writer);
        async move {
            // The turn ends, and the next request's begins, once the client has read the answer.
            match answered {
                Answered::Alone(_turn) => write(&writer, &message).await,
                Answered::Kept => Ok(()),
                Answered::Whole(whole) => write(&writer, &whole.answers).await,
            }
        }
    }

    /// Receives the next message. Cancel-safe: dropping the future loses nothing.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(refusing) = &mut self.refusing {
                let refused = refusing.await;
                self.refusing = None;
                refused.inspect_err(warn_of_lost_client).ok()?;
            }
            if let Some(message) = self.read.pop_front() {
                return Some(message);
            }
            if let Some(until) = self.last_turns {
                if self.requests.none_waits() {
                    return None;
                }
                let next = timeout_at(until, self.requests.next()).await;
                return next.ok().map(JsonRpcMessage::Request);
            }
            let line = tokio::select! {
                biased;
                request = self.requests.next() => return Some(JsonRpcMessage::Request(request)),
                line = self.lines.next() => line.inspect_err(warn_of_lost_client).ok()?,
            };
            let Some(line) = line else {
                self.last_turns = Some(Instant::now() + AFTER_THE_END);
                continue;
            };
            let (read, bytes) = match line {
                Line::Whole(line) => (read(line, self.has_batches), line.len()),
                Line::TooLong(bytes) => {
                    let text = format!("a message is {bytes} bytes; the limit is {MAX_LINE_BYTES}");
                    let error = ErrorData::invalid_request(text, None);
                    (Read::Message(Err(Refused { id: None, error })), 0)
                }
            };
            match read {
                Read::Message(message) => match self.take(message, bytes) {
                    Ok(Some(message)) => return Some(message),
                    Ok(None) => {}
                    Err(refused) => {
                        let error = self.error(refused);
                        self.write_first(error);
                    }
                },
                Read::Batch(batch) => self.take_batch(batch, bytes),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // A client that reads nothing blocks the writer for good.
        match self.writer.try_lock() {
            Ok(mut writer) => writer.shutdown().await,
            Err(_) => Ok(()),
        }
    }
}

impl<R, W> Stdio<R, W>
where
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Returns the message if it can be passed on at once. Requests have to wait for their turn.
    fn take(&mut self, message: Message, bytes: usize) -> Message {
        let Some(message) = message? else {
            return Ok(None);
        };
        match message {
            JsonRpcMessage::Request(request) => {
                let begun = self.begins(&request)?;
                self.requests.accept(request, bytes)?;
                self.begun = begun;
                Ok(None)
            }
            // Such messages belong to no conversation yet, for example to a request whose answer
            // the client has not waited for.
            _ if self.begun == Begun::Not => Ok(None),
            JsonRpcMessage::Notification(notification) => {
                let cancelled = match &notification.notification {
                    ClientNotification::CancelledNotification(it) => it.params.request_id.as_ref(),
                    _ => None,
                };
                if let Some(id) = cancelled {
                    let never_begun = self.requests.cancel(id);
                    if let Some(whole) = self.batches.forget(id) {
                        self.write_first(whole.answers);
                    }
                    if never_begun {
                        return Ok(None);
                    }
                }
                Ok(Some(JsonRpcMessage::Notification(notification)))
            }
            answer => Ok(Some(answer)),
        }
    }

    /// Returns how the conversation begins with this request.
    fn begins(&self, request: &JsonRpcRequest<ClientRequest>) -> Result<Begun, Refused> {
        let refused = |error| {
            let id = Some(request.id.clone());
            Err(Refused { id, error })
        };
        let again = |text: &'static str| refused(ErrorData::invalid_request(text, None));
        match (self.begun, &request.request) {
            (Begun::Not, ClientRequest::InitializeRequest(_)) => Ok(Begun::Initialized),
            (Begun::Not, ClientRequest::CustomRequest(custom)) if custom.method == INITIALIZE => {
                match params::misfit(INITIALIZE, custom.params.as_ref()) {
                    Some(error) => refused(error),
                    None => Ok(Begun::Not),
                }
            }
            (Begun::Not, it) if says_its_version(it) => Ok(Begun::Stateless),
            (Begun::Initialized, it) if it.method() == INITIALIZE => {
                again("`initialize` is sent once, and this conversation has begun")
            }
            (Begun::Stateless, it) if it.method() == INITIALIZE => {
                again("this conversation has begun without `initialize`")
            }
            (begun, _) => Ok(begun),
        }
    }

    fn take_batch(&mut self, batch: Vec<Message>, bytes: usize) {
        let bytes = bytes / batch.len().max(1);
        self.batches.begin();
        for message in batch {
            let id = match &message {
                Ok(Some(JsonRpcMessage::Request(request))) => Some(request.id.clone()),
                _ => None,
            };
            match (self.take(message, bytes), id) {
                (Ok(Some(message)), _) => self.read.push_back(message),
                (Ok(None), Some(id)) => self.batches.wait_for(id),
                (Ok(None), None) => {}
                (Err(refused), _) => {
                    let error = self.error(refused);
                    self.batches.add(error);
                }
            }
        }
        if let Some(whole) = self.batches.end() {
            self.write_first(whole.answers);
        }
    }

    /// Returns the error in the form in which it is written.
    fn error(&self, refused: Refused) -> Value {
        let mut message = json!({"jsonrpc": "2.0", "error": refused.error});
        match refused.id {
            Some(id) => message["id"] = id.into_json_value(),
            // JSON-RPC requires a null id; MCP requires none, from 2026-07-28 on.
            None if self.begun == Begun::Stateless => {}
            None => message["id"] = Value::Null,
        }
        message
    }

    /// Writes a message before anything else is read.
    fn write_first(&mut self, message: Value) {
        let writer = Arc::clone(&self.writer);
        let before = self.refusing.take();
        self.refusing = Some(Box::pin(async move {
            if let Some(before) = before {
                before.await?;
            }
            write(&writer, &message).await
        }));
    }
}

const INITIALIZE: &str = "initialize";

/// Returns whether a request begins a conversation in which each request carries what `initialize`
/// would say once.
fn says_its_version(request: &ClientRequest) -> bool {
    let asks = matches!(
        request,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_)
    );
    let meta = request.get_meta();
    let version = meta.protocol_version();
    let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
    !asks
        && missing.is_empty()
        && version.is_some_and(|it| ProtocolVersion::KNOWN_VERSIONS.contains(&it))
}

async fn write<W>(writer: &Mutex<W>, message: &impl Serialize) -> io::Result<()>
where
    W: AsyncWrite + Unpin,
{
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut writer = writer.lock().await;
    writer.write_all(&line).await?;
    writer.flush().await
}

fn warn_of_lost_client(error: &io::Error) {
    tracing::warn!("the client is lost: {error}");
}
