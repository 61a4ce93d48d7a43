//! The caller of a tool, and how a person can be asked in its client.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use airlock_host::pending::{Actor, DecidedBy, Evidence};
use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ProtocolVersion, ServerRequest,
};
use rmcp::service::{
    Peer, PeerRequestOptions, RequestContext, RequestHandle, RoleServer, ServiceError,
};
use tokio::runtime::Handle;

use crate::question;

/// The caller of a tool.
#[derive(Clone)]
pub struct Caller {
    /// The name that the client gives itself.
    pub client: String,
    pub way: Way,
    /// True if a call may become a task that the client polls.
    pub has_tasks: bool,
}

/// The way to ask a person.
#[derive(Clone)]
pub enum Way {
    /// The client can't be asked, because it has not declared that it supports elicitation.
    None,
    /// The client is asked, and answers while the call waits.
    Request(Peer<RoleServer>),
    /// The call ends with the question, and the client repeats the call with the answer.
    Round {
        /// The data that an answer must come with: the call itself.
        bound: Arc<[u8]>,
        /// The state that the client got with the question, and its answer.
        answer: Option<(String, ElicitResult)>,
    },
}

impl Caller {
    /// Returns the caller of a call. Over HTTP, it belongs to a principal.
    pub fn of(
        call: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        principal: Option<&str>,
    ) -> Self {
        let info = context.client_info();
        let name = info.map_or_else(String::new, |info| info.name);
        let mut client: String = name.chars().take(100).collect();
        if let Some(principal) = principal {
            let client_of = format!("{client} ({principal})");
            client = client_of.trim_start().to_owned();
        }
        Self {
            client,
            way: Way::of(call, context),
            has_tasks: has_tasks(context),
        }
    }

    /// Returns the person that the client asks.
    pub fn person(&self) -> DecidedBy {
        let person = match &*self.client {
            "" => Actor::person("user of the client"),
            name => Actor::person(format!("user of {name}")),
        };
        person.with_evidence(Evidence::Client)
    }
}

/// The question of a call to its client, as seen by those that wait for the call.
#[derive(Default)]
pub struct QuestionState {
    is_open: AtomicBool,
    was_asked: AtomicBool,
}

impl QuestionState {
    /// Returns whether the client has an unanswered question.
    pub fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// Returns whether the client has been asked, even if it has answered since.
    pub fn was_asked(&self) -> bool {
        self.was_asked.load(Ordering::Relaxed)
    }

    /// Waits for the client's answer.
    pub async fn while_open<T>(&self, asking: impl Future<Output = T>) -> T {
        self.was_asked.store(true, Ordering::Relaxed);
        self.is_open.store(true, Ordering::Relaxed);
        let answered = asking.await;
        self.is_open.store(false, Ordering::Relaxed);
        answered
    }
}

/// Returns whether a client supports tasks. Clients of the protocol version without a handshake say
/// so in each request.
fn has_tasks(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.client_capabilities();
    !is_of_handshakes(context) && capabilities.is_some_and(|it| it.supports_tasks())
}

fn is_of_handshakes(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_none_or(|it| it.as_str() < ProtocolVersion::V_2026_07_28.as_str())
}

impl Way {
    fn of(call: &CallToolRequestParams, context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities();
        let asks = capabilities.and_then(|it| it.elicitation);
        // A client that declares no modes supports forms, the only mode of earlier versions.
        if !asks.is_some_and(|it| it.form.is_some() || it.url.is_none()) {
            return Way::None;
        }
        if is_of_handshakes(context) {
            return Way::Request(context.peer.clone());
        }
        let bound = serde_json::to_vec(&(&call.name, &call.arguments)).unwrap_or_default();
        let answer = call
            .input_responses
            .as_ref()
            .and_then(|it| it.get(question::KEY));
        let answer = answer.and_then(|it| serde_json::from_value(it.clone()).ok());
        Way::Round {
            bound: bound.into(),
            answer: call.request_state.clone().zip(answer),
        }
    }
}

/// Asks a client and waits for its answer. Dropping the future withdraws the question.
///
/// # Errors
/// If the client could not be asked.
pub async fn ask(
    peer: &Peer<RoleServer>,
    question: ElicitRequestParams,
) -> Result<ElicitResult, ServiceError> {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(question));
    let options = PeerRequestOptions::no_options();
    let handle = peer.send_cancellable_request(request, options).await?;
    match Open(Some(handle)).answer().await? {
        ClientResult::ElicitResult(result) => Ok(result),
        _ => Err(ServiceError::UnexpectedResponse),
    }
}

/// A question without an answer yet.
struct Open(Option<RequestHandle<RoleServer>>);

impl Open {
    async fn answer(&mut self) -> Result<ClientResult, ServiceError> {
        let Some(handle) = &mut self.0 else {
            return Err(ServiceError::UnexpectedResponse);
        };
        let answered = (&mut handle.rx).await;
        self.0 = None;
        answered.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let (Some(handle), Ok(runtime)) = (self.0.take(), Handle::try_current()) else {
            return;
        };
        runtime.spawn(async move {
            let reason = "the call that asked was cancelled".to_owned();
            // A client that is gone shows no question.
            let _ = handle.cancel(Some(reason)).await;
        });
    }
}
