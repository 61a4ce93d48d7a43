//! The server of one session.

mod calling;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use airlock_desk::approval::Judge;
use airlock_desk::configuration::Decide;
use airlock_desk::store::Store;
use airlock_host::cancel::CancellationToken;
use airlock_host::json::Json;
use airlock_host::policy::ProducerWithPolicy;
use airlock_host::{Error, Session, SessionBuilder};
use rmcp::model::{CallToolResponse, CreateTaskResult, Tool};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError, serve_server_with_ct};
use rmcp::transport::stdio_pipes;
use serde_json::Value;
use tokio::sync::RwLock;

use crate::approving::OperatorRules;
use crate::asking::{Caller, QuestionState};
use crate::changes::{Changes, Ending};
use crate::deciding::{Decider, ResolveCall};
use crate::handler::{Handler, Transport};
use crate::instructions::instructions;
use crate::late::LateAnswers;
use crate::listing;
use crate::metrics::{Meter, Metrics};
use crate::owners::Owners;
use crate::progress::Listeners;
use crate::seal::Seals;
use crate::stdio::Stdio;
use crate::tasks::Tasks;

/// The tools of a session, for clients of the Model Context Protocol. Cheap to clone; clones share
/// one server and one stack.
#[derive(Clone)]
pub struct Server {
    session: Session,
    decider: Arc<Decider>,
    tasks: Tasks,
    late: LateAnswers,
    listeners: Listeners,
    meter: Meter,
    instructions: Arc<str>,
    skips_while_pending: bool,
    owners: Owners,
    changes: Changes,
    /// The lock that each call holds for reading while it is under way.
    calls: Arc<RwLock<()>>,
}

/// The reason why a server failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The system has no randomness, which is needed to seal questions.
    #[error("there is no randomness for the seals of questions: {0}")]
    Randomness(String),
    /// The session could not be opened.
    #[error(transparent)]
    Session(#[from] Error),
    /// The client's first message was not of the protocol.
    #[error("the client did not speak MCP: {0}")]
    Protocol(String),
}

impl Server {
    /// Opens a session for a server, with the server's own observer and approver.
    ///
    /// `judge` has the operator's rules, which take precedence over `decides`. `store` is where the
    /// session keeps pending actions: people at a terminal find them there, and the server reads
    /// their decisions there. `others` is the number of actions that wait in the same workspace but
    /// belong to other sessions. The model gets that number.
    ///
    /// # Errors
    /// [`ServeError::Session`] if [`SessionBuilder::open`] fails, and [`ServeError::Randomness`].
    pub fn open(
        session: SessionBuilder,
        decides: Decide,
        judge: Judge,
        others: usize,
        store: &Arc<Store>,
    ) -> Result<Self, ServeError> {
        let rules = OperatorRules {
            decides,
            judge,
            store: Arc::clone(store),
        };
        let listeners = Listeners::default();
        let (observing, meter) = (listeners.clone(), Meter::default());
        let counting = meter.clone();
        let session = session
            .observer(move |source, event| {
                counting.observe(event);
                observing.observe(source, event);
            })
            .approver(rules.clone())
            .store(store.shared())
            .open()?;
        let decider = Decider {
            session: session.clone(),
            rules,
            seals: Seals::new().map_err(ServeError::Randomness)?,
            meter: meter.clone(),
        };
        Ok(Self {
            session,
            decider: Arc::new(decider),
            tasks: Tasks::default(),
            late: LateAnswers::default(),
            listeners,
            meter,
            instructions: instructions(decides, others).into(),
            skips_while_pending: false,
            owners: Owners::default(),
            changes: Changes::default(),
            calls: Arc::default(),
        })
    }

    /// Skips calls of tools other than `resolve` and `list_pending` while an action is pending. The
    /// answer asks the model to resolve it first. Default: off.
    #[must_use]
    pub fn skip_while_pending(mut self, skips: bool) -> Self {
        self.skips_while_pending = skips;
        self
    }

    /// Sets how long a call waits for a person who is asked in the client. The call then ends, and
    /// the answer still counts. Default: 50 seconds.
    #[must_use]
    pub fn answered_within(mut self, patience: Duration) -> Self {
        self.late = LateAnswers::after(patience);
        self
    }

    /// Counts this server's events in `metrics` from now on.
    pub(crate) fn count_in(&self, metrics: &Metrics) {
        self.meter.count_in(metrics);
    }

    /// Returns the open questions whose calls have ended.
    pub(crate) fn late(&self) -> &LateAnswers {
        &self.late
    }

    /// Returns the session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Replaces the session's tools. Notifies the client if its list of tools has changed, and
    /// returns whether it has. Calls under way continue unchanged, and pending actions are resolved
    /// by the plugin that pushed them.
    ///
    /// # Errors
    /// [`ServeError::Session`] if [`Session::rebind`] fails. Nothing has changed then.
    pub fn rebind(
        &self,
        producers: impl IntoIterator<Item = ProducerWithPolicy>,
    ) -> Result<bool, ServeError> {
        let before = self.tools();
        self.session.rebind(producers)?;
        let is_changed = self.tools() != before;
        if is_changed {
            self.changes.tell();
        }
        Ok(is_changed)
    }

    /// Serves one client over standard input and output, until the client closes them or `stop` is
    /// cancelled. In the meantime, nothing else may read or write there.
    ///
    /// # Errors
    /// [`ServeError::Protocol`].
    pub async fn serve_stdio(&self, stop: &CancellationToken) -> Result<(), ServeError> {
        self.serving_stdio(stop).await
    }

    /// Returns the future of `serve_stdio`, boxed so that it is compiled in this crate and not in
    /// every crate that awaits it.
    fn serving_stdio<'a>(
        &'a self,
        stop: &'a CancellationToken,
    ) -> Pin<Box<dyn Future<Output = Result<(), ServeError>> + Send + 'a>> {
        Box::pin(async move {
            let handler = Handler::new(Transport::Stdio(self.clone()));
            let transport = Ending::new(Stdio::new(stdio_pipes()), &self.changes);
            let serving = serve_server_with_ct(handler, transport, stop.child_token());
            match serving.await {
                Ok(running) => {
                    let _ = running.waiting().await;
                    Ok(())
                }
                // The client left before its first message, or the operator stopped the server.
                Err(
                    ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled,
                ) => Ok(()),
                Err(error) => Err(ServeError::Protocol(error.to_string())),
            }
        })
    }

    /// Waits until no call is under way, so that the process does not exit in the middle of a
    /// commit. Ordinary calls are cancelled with their connection; this cancels those that have
    /// become tasks. The caller can give up on a call that doesn't end by dropping the future.
    pub async fn idle(&self) {
        self.tasks.cancel_all();
        self.late.cancel_all();
        let _ = self.calls.write().await;
    }

    /// Returns the changes that clients are notified of.
    pub(crate) fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Returns the tasks: calls that wait for a person's decision, or did.
    pub(crate) fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Returns the tools as clients list them, except for `resolve`.
    pub(crate) fn tools(&self) -> Vec<Tool> {
        let tools = self.session.tools();
        tools.iter().map(listing::of_session).collect()
    }

    /// Returns the schema of the params of a tool other than `resolve`.
    pub(crate) fn parameters(&self, tool: &str) -> Option<Json> {
        let tools = self.session.tools_named(&[tool]);
        tools.into_iter().next().map(|it| it.parameters)
    }

    /// Returns which client made each preview.
    pub(crate) fn owners(&self) -> &Owners {
        &self.owners
    }

    pub(crate) fn instructions(&self) -> &str {
        &self.instructions
    }

    /// Calls `resolve`. If a person has to be asked and the client supports tasks, the call becomes
    /// a task. If they take long, the call ends before their answer, which still counts.
    pub(crate) async fn resolve(
        &self,
        params: Value,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResponse {
        if let Some(asked) = self.late.still_asked() {
            return asked;
        }
        let stop = CancellationToken::new();
        let question = Arc::new(QuestionState::default());
        let (candidate, mut becomes) = self.tasks.candidate(&stop);
        let call = ResolveCall {
            params,
            caller: caller.clone(),
            task: caller.has_tasks.then_some(candidate),
            question: Arc::clone(&question),
            stop: stop.clone(),
        };
        let mut carrying_out = Box::pin(self.clone().carry_out(call));
        let until_answered = async {
            tokio::select! {
                answer = &mut carrying_out => Ok(answer),
                Ok(task) = &mut becomes => Err(Some(task)),
                () = self.late.is_due(&question) => Err(None),
                () = context.ct.cancelled() => {
                    if question.was_asked() {
                        // A client cancels the call at its time limit while the person is still
                        // thinking. Their decision counts.
                        Err(None)
                    } else {
                        stop.cancel();
                        Ok((&mut carrying_out).await)
                    }
                }
            }
        };
        let token = context.meta.get_progress_token();
        let told = self
            .listeners
            .report_while(&context.peer, token, until_answered);
        let task = match told.await {
            // The call may have become a task, and ended, since the last check.
            Ok(answer) => match becomes.try_recv() {
                Ok(task) => {
                    self.tasks.end(&task.task_id, answer);
                    task
                }
                Err(_) => {
                    // The client has cancelled the call since the person answered.
                    if context.ct.is_cancelled() && question.was_asked() {
                        self.late.keep(&answer);
                    }
                    return answer;
                }
            },
            Err(None) => return self.late.go_on(stop, carrying_out),
            Err(Some(task)) => {
                let (tasks, id) = (self.tasks.clone(), task.task_id.clone());
                tokio::spawn(async move { tasks.end(&id, carrying_out.await) });
                task
            }
        };
        CreateTaskResult::new(task).into()
    }

    async fn carry_out(self, call: ResolveCall) -> CallToolResponse {
        let _under_way = self.calls.read().await;
        self.decider.resolve(call).await
    }
}
