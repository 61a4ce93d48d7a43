//! The caller of a tool, and how a person can be asked in its client.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use airlock_desk::store::Store;
use airlock_host::pending::ActionId;
use airlock_host::store::ActionRecord;
use airlock_host::{Resolution, Session};
use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    InputRequiredResult, ProtocolVersion, ServerRequest,
};
use rmcp::service::{
    Peer, PeerRequestOptions, RequestContext, RequestHandle, RoleServer, ServiceError,
};
use tokio::runtime::Handle;

use crate::question::{self, Subject};
use crate::tasks::Candidate;

tokio::task_local! {
    static CALLER: Caller;
}

/// The caller of a tool, during the call. Clones share state.
#[derive(Clone)]
pub struct Caller {
    /// The name that the client gives itself.
    pub client: String,
    pub way: Way,
    /// True if a call may become a task that the client polls.
    pub has_tasks: bool,
    /// The other actions that a person may choose, if the call names none.
    pub others: Arc<[Subject]>,
    /// The session in which it calls `resolve`.
    session: Option<Session>,
    candidate: Arc<Mutex<Option<Candidate>>>,
    /// True while the client has an open question of this call.
    asking: Arc<AtomicBool>,
    /// True once the client has had a question of this call.
    asked: Arc<AtomicBool>,
    instead: Arc<Mutex<Option<Instead>>>,
}

/// The way to ask a person.
#[derive(Clone)]
pub enum Way {
    /// No way: the client has not declared that it supports elicitation.
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

/// The end of a call that takes the place of the requested apply.
pub enum Instead {
    /// A question. The client repeats the call with the answer.
    Question(InputRequiredResult),
    /// A decision of the person who was asked that differs from the requested apply.
    Decided(Resolution),
    /// The record of an action that was resolved elsewhere while a person was asked.
    Elsewhere(Option<Box<ActionRecord>>),
}

impl Instead {
    pub fn question(question: ElicitRequestParams, state: String) -> Self {
        let requests = question::requests(question);
        Self::Question(InputRequiredResult::new(Some(requests), Some(state)))
    }
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
            others: Arc::default(),
            session: None,
            candidate: Arc::default(),
            asking: Arc::default(),
            asked: Arc::default(),
            instead: Arc::default(),
        }
    }

    /// Returns the caller of the current call.
    pub fn current() -> Option<Self> {
        CALLER.try_with(Clone::clone).ok()
    }

    /// Runs a call of this caller.
    pub async fn scope<T>(&self, call: impl Future<Output = T>) -> T {
        CALLER.scope(self.clone(), call).await
    }

    /// Returns the same caller in a call of `resolve` in this session. The person who is asked may
    /// also choose one of `others`. The call may become the task of `candidate`.
    pub fn resolving(
        &self,
        session: &Session,
        others: Vec<Subject>,
        candidate: Option<Candidate>,
    ) -> Self {
        Self {
            others: others.into(),
            session: Some(session.clone()),
            candidate: Arc::new(Mutex::new(candidate)),
            asking: Arc::default(),
            asked: Arc::default(),
            ..self.clone()
        }
    }

    /// Takes the task that the call may become. There is at most one.
    pub fn take_candidate(&self) -> Option<Candidate> {
        take(&self.candidate)
    }

    /// Waits until an action is resolved elsewhere, for example in a terminal. Returns its record,
    /// or `None` if the store no longer has it.
    pub async fn decided_elsewhere(&self, store: &Store, id: &ActionId) -> Option<ActionRecord> {
        let Some(session) = &self.session else {
            return std::future::pending().await;
        };
        loop {
            let changed = session.pending_changed();
            match store.durable().find(id).await {
                Ok(Some(record)) if record.resolved.is_none() => {}
                Ok(found) => return found,
                // If the state can't be read, keep waiting.
                Err(error) => tracing::warn!("can't read the state of action {id}: {error}"),
            }
            changed.await;
        }
    }

    /// Returns whether the client has an unanswered question.
    pub fn is_asking(&self) -> bool {
        self.asking.load(Ordering::Relaxed)
    }

    /// Returns whether the client has been asked, even if it has answered since.
    pub fn has_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Waits for the client's answer to a question of this call.
    pub async fn while_asking<T>(&self, asking: impl Future<Output = T>) -> T {
        self.asked.store(true, Ordering::Relaxed);
        self.asking.store(true, Ordering::Relaxed);
        let answered = asking.await;
        self.asking.store(false, Ordering::Relaxed);
        answered
    }

    /// Makes the call end with `instead`.
    pub fn end_with(&self, instead: Instead) {
        let mut held = self.instead.lock().unwrap_or_else(PoisonError::into_inner);
        *held = Some(instead);
    }

    pub fn take_instead(&self) -> Option<Instead> {
        take(&self.instead)
    }
}

fn take<T>(held: &Mutex<Option<T>>) -> Option<T> {
    held.lock().unwrap_or_else(PoisonError::into_inner).take()
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
