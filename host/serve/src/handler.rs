//! The server's side of the protocol.

use airlock_host::json::Json;
use airlock_host::tool::{RESOLVE, resolve_tool};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, ErrorData, GetTaskParams, GetTaskResult, Implementation,
    InitializeRequestParams, InitializeResult, ListToolsResult, MetaObject, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, SubscriptionFilter, Tool, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use serde_json::{Value, json};
use tracing::Instrument;

use crate::asking::Caller;
use crate::changes::Hearing;
use crate::http::{NoConversation, Visit};
use crate::server::Server;
use crate::tasks::Tasks;
use crate::waiting::LIST_PENDING;
use crate::{answer, arguments, listing, params, waiting};

/// The `_meta` key of the conversation's id in requests and in the result of `server/discover`, for
/// transports without sessions.
const SESSION: &str = "airlock/session";

/// The handler of one client's messages.
pub struct Handler {
    place: Transport,
    hearing: Hearing,
}

impl Handler {
    pub fn new(place: Transport) -> Self {
        let hearing = Hearing::new(place.listing().changes());
        Self { place, hearing }
    }
}

/// The place of a client's conversation.
pub enum Transport {
    /// A single client over standard input and output.
    Stdio(Server),
    /// A client over HTTP, one of several.
    Http(Visit),
}

impl Transport {
    /// Returns the server that answers for everything that all conversations share.
    fn listing(&self) -> &Server {
        match self {
            Transport::Stdio(server) => server,
            Transport::Http(visit) => visit.listing(),
        }
    }

    fn may_decide(&self) -> bool {
        match self {
            Transport::Stdio(_) => true,
            Transport::Http(visit) => visit.principal().may_decide(),
        }
    }

    fn principal(&self) -> Option<&str> {
        match self {
            Transport::Stdio(_) => None,
            Transport::Http(visit) => Some(&visit.principal().name),
        }
    }

    fn tools(&self) -> Vec<Tool> {
        let mut tools = self.listing().tools();
        if self.lists_pending() {
            tools.push(waiting::tool());
        }
        tools.extend(self.may_decide().then(listing::resolve));
        tools
    }

    /// Returns whether `list_pending` is the server's tool, and not a plugin's.
    fn lists_pending(&self) -> bool {
        self.listing().parameters(LIST_PENDING).is_none()
    }

    /// Returns the schema of a tool's params, if the tool exists.
    fn parameters(&self, tool: &str) -> Option<Json> {
        match tool {
            RESOLVE => self.may_decide().then(|| resolve_tool().parameters),
            LIST_PENDING if self.lists_pending() => Some(Json::of_own(&json!({"type": "object"}))),
            tool => self.listing().parameters(tool),
        }
    }

    /// Returns the other conversations of the same principal.
    fn beside(&self, here: &Server) -> Vec<Server> {
        match self {
            Transport::Stdio(_) => Vec::new(),
            Transport::Http(visit) => visit.beside(here),
        }
    }

    /// Finds a task in any of its client's conversations.
    fn in_tasks<T>(
        &self,
        id: &str,
        found: impl Fn(&Tasks, &str) -> Option<T>,
    ) -> Result<T, ErrorData> {
        let in_server = |server: &Server| found(server.tasks(), id);
        let found = match self {
            Transport::Stdio(server) => in_server(server),
            Transport::Http(visit) => visit.in_conversations(in_server),
        };
        found.ok_or_else(|| {
            let id: String = id.chars().take(100).collect();
            let notice = format!(
                "unknown task `{id}`: it expired, or the server was restarted. Unresolved actions are still pending; call `resolve` again"
            );
            ErrorData::invalid_params(notice, None)
        })
    }

    /// Returns the conversation in which a tool is called, or the text for the model if the call is
    /// not made.
    async fn conversation(
        &self,
        call: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Result<Server, String>, ErrorData> {
        let visit = match self {
            Transport::Stdio(server) => return Ok(Ok(server.clone())),
            Transport::Http(visit) => visit,
        };
        let here = match visit.conversation(context.meta.get(SESSION)) {
            Ok(here) => here,
            Err(error @ NoConversation::Unknown) => {
                return Err(ErrorData::invalid_params(error.to_string(), None));
            }
            Err(error) => return Ok(Err(error.to_string())),
        };
        if call.name != RESOLVE {
            return Ok(Ok(here));
        }
        let id = call.arguments.as_ref().and_then(|it| it.get("id"));
        Ok(match id.and_then(Value::as_str) {
            Some(id) => Ok(visit.where_named(here, id).await),
            None => match waiting::must_name(&here, &visit.beside(&here)).await {
                Some(notice) => Err(notice),
                None => Ok(here),
            },
        })
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_tasks()
            .build();
        let airlock = Implementation::new("airlock", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities)
            .with_server_info(airlock.with_title("Airlock"))
            .with_instructions(self.place.listing().instructions())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        if let Transport::Http(visit) = &self.place {
            visit.initialized();
        }
        self.negotiate_initialize(&request)
    }

    /// Starts notifications of changes. Clients that begin this way have no subscriptions; clients
    /// of later protocol versions subscribe.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if context.peer.peer_info().is_some() {
            self.hearing.begin(context.peer);
        }
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::new();
        accepted.tools_list_changed = requested.tools_list_changed;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.hearing.subscribe(&context).await;
        Ok(())
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut result = DiscoverResult::from_server_info(versions, self.get_info());
        if let Transport::Http(visit) = &self.place {
            let meta = result.meta.get_or_insert_with(MetaObject::new);
            meta.insert(SESSION.to_owned(), visit.new_id().into());
        }
        Ok(result)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.hearing.lists();
        Ok(ListToolsResult::with_all_items(self.place.tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.place
            .tools()
            .into_iter()
            .find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(schema) = self.place.parameters(&request.name) else {
            let tool = &request.name;
            let message = format!("there is no tool `{tool}` here: `tools/list` has all of them");
            return Err(ErrorData::invalid_params(message, None));
        };
        let sent = request.arguments.take().unwrap_or_default();
        request.arguments = Some(arguments::fitted(&request.name, &schema, sent));
        let caller = Caller::of(&request, &context, self.place.principal());
        let span = span(&request, &caller, &context);
        let calling = async {
            match self.place.conversation(&request, &context).await? {
                Ok(server) => {
                    let params = Value::Object(request.arguments.take().unwrap_or_default());
                    let answered = match &*request.name {
                        RESOLVE => server.resolve(params, &caller, &context).await,
                        LIST_PENDING if self.place.lists_pending() => {
                            let others = self.place.beside(&server);
                            waiting::answer(&server, &others).await.into()
                        }
                        tool => server.call(tool, &params, &caller, &context).await,
                    };
                    // The client ignores the result of a call that it has cancelled.
                    if context.ct.is_cancelled() {
                        Ok(answered)
                    } else {
                        Ok(server.late().before(answered))
                    }
                }
                Err(notice) => Ok(answer::of_mistake(&notice).into()),
            }
        };
        calling.instrument(span).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let found = self.place.in_tasks(&request.task_id, Tasks::get)?;
        Ok(GetTaskResult::new(found))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let answers = &request.input_responses;
        let answered = |tasks: &Tasks, id: &str| tasks.answer(id, answers);
        self.place.in_tasks(&request.task_id, answered)?
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.place.in_tasks(&request.task_id, Tasks::cancel)
    }

    /// Answers requests of unknown methods, and requests whose params don't fit their method.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // The newest version of the protocol has no `initialize`.
        let version = context.protocol_version();
        let has_handshake = version.is_none_or(|it| it.has_initialize());
        let misfit = match &*request.method {
            "initialize" if !has_handshake => None,
            method => params::misfit(method, request.params.as_ref()),
        };
        Err(misfit
            .unwrap_or_else(|| ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)))
    }
}

/// Returns the log span of a call. If the client sends a trace context, the span carries it, so
/// that log collectors can correlate the call.
fn span(
    call: &CallToolRequestParams,
    caller: &Caller,
    context: &RequestContext<RoleServer>,
) -> tracing::Span {
    let of_trace = |key: &str| {
        let text = context.meta.get(key).and_then(Value::as_str)?;
        let is_plain = text.len() <= 512 && text.bytes().all(|it| it.is_ascii_graphic());
        is_plain.then_some(text)
    };
    let (tool, client) = (&*call.name, &*caller.client);
    let (traceparent, tracestate) = (of_trace("traceparent"), of_trace("tracestate"));
    tracing::debug!(
        tool,
        client,
        traceparent,
        tracestate,
        "a client calls a tool"
    );
    tracing::info_span!("call", tool, client, traceparent, tracestate)
}
