//! A server of one session.

mod calling;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use airlock_desk::approval::Judge;
use airlock_desk::configuration::Decide;
use airlock_desk::store::Store;
use airlock_host::cancel::CancellationToken;
use airlock_host::content::CallOutcome;
use airlock_host::json::Json;
use airlock_host::pending::{Decision, Evidence};
use airlock_host::policy::ProducerWithPolicy;
use airlock_host::tool::RESOLVE;
use airlock_host::{Error, Session, SessionBuilder};
use rmcp::model::{CallToolResponse, CreateTaskResult, Tool};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError, serve_server_with_ct};
use rmcp::transport::stdio_pipes;
use serde_json::Value;
use tokio::sync::RwLock;

use crate::asking::{Caller, Instead, Way};
use crate::changes::{Changes, Ending};
use crate::deciding::{Decider, asked_in};
use crate::handler::{Handler, Place};
use crate::instructions::instructions;
use crate::late::LateAnswers;
use crate::metrics::{Meter, Metrics};
use crate::owners::Owners;
use crate::progress::Listeners;
use crate::question::Choice;
use crate::seal::Seals;
use crate::stdio::Stdio;
use crate::tasks::Tasks;
use crate::{answer, listing};

/// A session's tools, for clients of the Model Context Protocol. Cheap to clone; clones are the
/// same server, with one stack.
#[derive(Clone)]
pub struct Server {
    session: Session,
    tasks: Tasks,
    late: LateAnswers,
    listeners: Listeners,
    meter: Meter,
    instructions: Arc<str>,
    skips_while_pending: bool,
    owners: Owners,
    changes: Changes,
    /// Read by each call while it is under way.
    calls: Arc<RwLock<()>>,
}

/// Of how many actions at most a person may choose.
const CHOICES: usize = 10;

/// Why a server could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The system has no randomness, with which questions are sealed.
    #[error("there is no randomness for the seals of questions: {0}")]
    Randomness(String),
    /// The session could not be opened.
    #[error(transparent)]
    Session(#[from] Error),
    /// The client began with something else than the protocol.
    #[error("the client did not speak MCP: {0}")]
    Protocol(String),
}

impl Server {
    /// Opens a session for a server: its observer and its approver are the server's own.
    ///
    /// `judge` has the operator's rules, which come before `decides`. `store` is where the session
    /// keeps what is pending: whoever decides at a terminal finds it there, and the server how they
    /// decided. `others` is how many actions wait in the same workspace that are not the
    /// session's own: the model is told of their number.
    ///
    /// # Errors
    /// [`ServeError::Session`] where [`SessionBuilder::open`] fails, and
    /// [`ServeError::Randomness`].
    pub fn open(
        session: SessionBuilder,
        decides: Decide,
        judge: Judge,
        others: usize,
        store: &Arc<Store>,
    ) -> Result<Self, ServeError> {
        let seals = Seals::new().map_err(ServeError::Randomness)?;
        let listeners = Listeners::default();
        let (observing, meter) = (listeners.clone(), Meter::default());
        let counting = meter.clone();
        let session = session
            .observer(move |source, event| {
                counting.observe(event);
                observing.observe(source, event);
            })
            .approver(Decider {
                decides,
                judge,
                seals,
                store: Arc::clone(store),
                meter: meter.clone(),
            })
            .store(store.pending())
            .open()?;
        Ok(Self {
            session,
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

    /// Has calls of other tools than `resolve` and `list_pending` skipped while something is
    /// pending: the answer asks the model to resolve it first. They are not skipped by default.
    #[must_use]
    pub fn skip_while_pending(mut self, skips: bool) -> Self {
        self.skips_while_pending = skips;
        self
    }

    /// How long a call waits for a person who is asked in the client; then it ends, and the answer
    /// still counts. Default: 50 seconds.
    #[must_use]
    pub fn answered_within(mut self, patience: Duration) -> Self {
        self.late = LateAnswers::after(patience);
        self
    }

    /// Counts there what happens here, from now on.
    pub(crate) fn count_in(&self, metrics: &Metrics) {
        self.meter.count_in(metrics);
    }

    /// The questions that are open though their calls have ended.
    pub(crate) fn late(&self) -> &LateAnswers {
        &self.late
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Gives the session these tools in place of those that it has, and tells the client where its
    /// list of them has changed by that: whether it has. A call that is under way ends as it began,
    /// and what is pending is resolved by what pushed it.
    ///
    /// # Errors
    /// [`ServeError::Session`] where [`Session::rebind`] fails. Everything is as it was then.
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

    /// Serves one client over standard input and output, until it closes them, or until `stop` is
    /// cancelled. Nothing else may read or write there meanwhile.
    ///
    /// # Errors
    /// [`ServeError::Protocol`].
    pub async fn serve_stdio(&self, stop: &CancellationToken) -> Result<(), ServeError> {
        self.serving_stdio(stop).await
    }

    /// Boxed, so that it is compiled here, and not by whoever awaits it.
    fn serving_stdio<'a>(
        &'a self,
        stop: &'a CancellationToken,
    ) -> Pin<Box<dyn Future<Output = Result<(), ServeError>> + Send + 'a>> {
        Box::pin(async move {
            let handler = Handler::new(Place::Stdio(self.clone()));
            let transport = Ending::new(Stdio::new(stdio_pipes()), &self.changes);
            let serving = serve_server_with_ct(handler, transport, stop.child_token());
            match serving.await {
                Ok(running) => {
                    let _ = running.waiting().await;
                    Ok(())
                }
                // It went before it had said anything, or the operator stopped it.
                Err(
                    ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled,
                ) => Ok(()),
                Err(error) => Err(ServeError::Protocol(error.to_string())),
            }
        })
    }

    /// Waits until no call is under way: a commit that has begun is not to end with the process,
    /// half done. Calls are cancelled with the connection, and those that have become tasks by
    /// this; it may be given up where one doesn't end.
    pub async fn idle(&self) {
        self.tasks.cancel_all();
        self.late.cancel_all();
        let _ = self.calls.write().await;
    }

    /// What there is to hear of, for its clients.
    pub(crate) fn changes(&self) -> &Changes {
        &self.changes
    }

    /// The calls that wait for somebody's decision, and those that did.
    pub(crate) fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Its tools as clients list them, but for `resolve`.
    pub(crate) fn tools(&self) -> Vec<Tool> {
        let tools = self.session.tools();
        tools.iter().map(listing::of_session).collect()
    }

    /// The schema of the params of a tool that is not `resolve`.
    pub(crate) fn parameters(&self, tool: &str) -> Option<Json> {
        let tools = self.session.tools_named(&[tool]);
        tools.into_iter().next().map(|it| it.parameters)
    }

    /// Which client made each preview.
    pub(crate) fn owners(&self) -> &Owners {
        &self.owners
    }

    pub(crate) fn instructions(&self) -> &str {
        &self.instructions
    }

    /// Calls `resolve`. Where a person has to be asked, and the client has tasks, the call becomes
    /// one.
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
        let others = self.others(&params, caller).await;
        let (candidate, mut becomes) = self.tasks.candidate(&stop);
        let candidate = caller.has_tasks.then_some(candidate);
        let caller = caller.resolving(&self.session, others, candidate);
        let carrying_out = self.clone().carry_out(params, caller.clone(), stop.clone());
        let mut carrying_out = Box::pin(carrying_out);
        let until_answered = async {
            tokio::select! {
                answer = &mut carrying_out => Ok(answer),
                Ok(task) = &mut becomes => Err(Some(task)),
                () = self.late.is_due(&caller) => Err(None),
                () = context.ct.cancelled() => match caller.has_asked() {
                    // A client that has reached its time limit cancels the call, while the person
                    // goes on thinking: their decision counts.
                    true => Err(None),
                    false => {
                        stop.cancel();
                        Ok((&mut carrying_out).await)
                    }
                },
            }
        };
        let token = context.meta.get_progress_token();
        let told = self.listeners.told(&context.peer, token, until_answered);
        let task = match told.await {
            // It may have become one, and ended, since anybody looked.
            Ok(answer) => match becomes.try_recv() {
                Ok(task) => {
                    self.tasks.end(&task.task_id, answer);
                    task
                }
                Err(_) => {
                    // Its client has cancelled the call since the person answered.
                    if context.ct.is_cancelled() && caller.has_asked() {
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

    async fn carry_out(
        self,
        params: Value,
        caller: Caller,
        stop: CancellationToken,
    ) -> CallToolResponse {
        let _under_way = self.calls.read().await;
        let call = self.session.call(RESOLVE, &params).cancelled_by(&stop);
        let outcome = caller.scope(call.into_future()).await;
        self.answer(&caller, outcome).await
    }

    /// The outcome of `resolve`, with what stands in its place where somebody was asked first.
    async fn answer(
        &self,
        caller: &Caller,
        outcome: Result<CallOutcome, Error>,
    ) -> CallToolResponse {
        let error = match outcome {
            Ok(outcome) => return answer::of_resolution(&outcome).into(),
            Err(error) => error,
        };
        let resolution = match caller.take_instead() {
            None => return answer::of_error(&error).into(),
            Some(Instead::Question(question)) => return question.into(),
            Some(Instead::Elsewhere(found)) => {
                return answer::of_decided_elsewhere(found.as_deref()).into();
            }
            Some(Instead::Decided(resolution)) => resolution,
        };
        let told = match resolution.decision {
            Decision::Apply => "The user chose another of the pending actions.",
            Decision::Discard => "Nothing was applied: the user discarded it instead.",
        };
        let somebody = asked_in(&caller.client).with_evidence(Evidence::Client);
        match self.session.resolve(resolution, somebody).await {
            Ok(outcome) => answer::preceded(answer::of_resolution(&outcome.into()), told).into(),
            Err(error) => answer::of_error(&error).into(),
        }
    }

    /// What a person may choose who is asked about an apply that names no action, beside the one
    /// that is meant.
    async fn others(&self, params: &Value, caller: &Caller) -> Vec<Choice> {
        let names_none = params["action"] == "apply" && params["id"].is_null();
        if !names_none || matches!(caller.way, Way::None) {
            return Vec::new();
        }
        // Where the stack can't be read, the call itself says so.
        let pending = self.session.pending().await.unwrap_or_default();
        let mut others = Vec::new();
        // One alone is the one that is meant, of which the approver is told.
        let several = pending.iter().filter(|_| pending.len() > 1);
        for it in several.take(CHOICES) {
            let effects = self.session.effects(&it.action.id).await;
            others.push(Choice::of(&it.action, effects.ok().flatten()));
        }
        others
    }
}
