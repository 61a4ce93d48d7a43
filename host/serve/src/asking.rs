//! Who calls, and how a person can be asked there.

use std::sync::{Arc, Mutex, PoisonError};

use airlock_host::Resolution;
use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    InputRequest, InputRequests, InputRequiredResult, ProtocolVersion, ServerRequest,
};
use rmcp::service::{
    Peer, PeerRequestOptions, RequestContext, RequestHandle, RoleServer, ServiceError,
};
use tokio::runtime::Handle;

use crate::question::Choice;

tokio::task_local! {
    static CALLER: Caller;
}

/// What a question is called among those of one call.
const KEY: &str = "decision";

/// The caller of a tool, while it is called. Clones are the same.
#[derive(Clone)]
pub struct Caller {
    /// What the client calls itself.
    pub client: String,
    pub way: Way,
    /// What else a person may choose who is asked, where the call names no action.
    pub others: Arc<[Choice]>,
    asked: Arc<Mutex<Asked>>,
}

/// How a person can be asked.
#[derive(Clone)]
pub enum Way {
    /// They can't: the client has not said that it asks.
    None,
    /// The client is asked, and answers while the call waits.
    Request(Peer<RoleServer>),
    /// The call ends with the question, and the client makes it again, with the answer.
    Round {
        /// What an answer must come with: the call itself.
        bound: Arc<[u8]>,
        /// The state that the client was given with the question, and its answer.
        answer: Option<(String, ElicitResult)>,
    },
}

/// What has come of asking.
#[derive(Default)]
struct Asked {
    question: Option<InputRequiredResult>,
    decided: Option<Resolution>,
}

impl Caller {
    /// The caller of a call. Over HTTP it is a principal's.
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
            others: Arc::default(),
            asked: Arc::default(),
        }
    }

    /// The caller in whose call this runs.
    pub fn current() -> Option<Self> {
        CALLER.try_with(Clone::clone).ok()
    }

    /// Runs a call of theirs.
    pub async fn scope<T>(&self, call: impl Future<Output = T>) -> T {
        CALLER.scope(self.clone(), call).await
    }

    /// Has the call end with this question.
    pub fn end_with(&self, question: ElicitRequestParams, state: String) {
        let request = InputRequest::Elicitation(ElicitRequest::new(question));
        let requests = InputRequests::from([(KEY.to_owned(), request)]);
        self.change(|asked| {
            asked.question = Some(InputRequiredResult::new(Some(requests), Some(state)));
        });
    }

    /// Has it end with what somebody decided who was asked about an apply, and that is not that
    /// apply.
    pub fn decide(&self, resolution: Resolution) {
        self.change(|asked| asked.decided = Some(resolution));
    }

    pub fn take_question(&self) -> Option<InputRequiredResult> {
        self.change(|asked| asked.question.take())
    }

    pub fn take_decided(&self) -> Option<Resolution> {
        self.change(|asked| asked.decided.take())
    }

    /// The same, who may choose one of these too.
    pub fn with_others(&self, others: Vec<Choice>) -> Self {
        Self {
            others: others.into(),
            ..self.clone()
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Asked) -> T) -> T {
        change(&mut self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Way {
    fn of(call: &CallToolRequestParams, context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities();
        let asks = capabilities.and_then(|it| it.elicitation);
        // One that says nothing more shows forms: that is what there was at first.
        if !asks.is_some_and(|it| it.form.is_some() || it.url.is_none()) {
            return Way::None;
        }
        let version = context.protocol_version();
        if version.is_none_or(|it| it.as_str() < ProtocolVersion::V_2026_07_28.as_str()) {
            return Way::Request(context.peer.clone());
        }
        let bound = serde_json::to_vec(&(&call.name, &call.arguments)).unwrap_or_default();
        let answer = call.input_responses.as_ref().and_then(|it| it.get(KEY));
        let answer = answer.and_then(|it| serde_json::from_value(it.clone()).ok());
        Way::Round {
            bound: bound.into(),
            answer: call.request_state.clone().zip(answer),
        }
    }
}

/// Asks a client, and waits for its answer. Whoever drops the future withdraws the question.
///
/// # Errors
/// If nobody was asked.
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

/// A question that is not answered.
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
