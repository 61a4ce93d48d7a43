//! The place of one native producer in one session.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::super::Surroundings;
use super::super::wasm::unless_cancelled;
use super::running::{Observed, Running};
use super::{NativeProducer, Preview};
use crate::content::{Content, ToolResult};
use crate::error::Error;
use crate::event::Event;
use crate::instance::{Call, ResolverResolution};
use crate::pending::PendingAction;
use crate::policy::{Phase, Policy};
use crate::pushing::{NotPushed, Pusher};
use crate::workspace::{ReadableFolder, WorkspaceFolder, WritableFolder};

pub(crate) struct Slot {
    producer: NativeProducer,
    surroundings: Surroundings,
    /// One call at a time, until its threads have ended.
    turn: Arc<Mutex<()>>,
}

impl Slot {
    pub fn new(producer: &NativeProducer, surroundings: Surroundings) -> Self {
        Self {
            producer: producer.clone(),
            surroundings,
            turn: Arc::default(),
        }
    }

    pub fn producer(&self) -> &NativeProducer {
        &self.producer
    }

    pub fn policy(&self) -> &Policy {
        &self.surroundings.policy
    }

    pub async fn execute(
        &self,
        call: &Call<'_>,
        params: &Value,
    ) -> Result<(ToolResult, Vec<Arc<PendingAction>>), Error> {
        let (producer, params) = (self.producer.clone(), params.clone());
        let workspace = self.workspace(call.tool, Phase::Preview)?;
        let preview = self
            .run(call, move |running| {
                let folder = ReadableFolder::open(&workspace)?;
                producer.inner.native.preview(&params, &folder, running)
            })
            .await?;
        let Preview { result, action } = preview;
        check_size(&result, call)?;
        let mut pushed = Vec::new();
        if let Some(action) = action {
            let has_tool = |name: &str| self.producer.tools().any(|tool| tool.name == name);
            let pusher = Pusher {
                source: &self.producer.inner.source,
                has_tool: &has_tool,
                policy: &self.surroundings.policy,
                limits: call.limits,
            };
            let action = pusher.push(&self.surroundings.session, action).await?;
            self.observed().emit(
                call.tool,
                &Event::Pushed {
                    action: Arc::clone(&action),
                },
            );
            pushed.push(action);
        }
        Ok((result, pushed))
    }

    pub async fn apply(
        &self,
        call: &Call<'_>,
        resolution: &ResolverResolution<'_>,
    ) -> Result<ToolResult, Error> {
        let producer = self.producer.clone();
        let state = resolution.state.unwrap_or_default().to_vec();
        let attempt = resolution.attempt;
        let workspace = self.workspace(call.tool, Phase::Apply)?;
        let result = self
            .run(call, move |running| {
                let folder = WritableFolder::open(&workspace)?;
                producer
                    .inner
                    .native
                    .apply(&state, attempt, &folder, running)
            })
            .await?;
        check_size(&result, call)?;
        Ok(result)
    }

    /// The workspace, where the policy grants for this phase what the producer needs.
    fn workspace(&self, tool: &str, phase: Phase) -> Result<Arc<WorkspaceFolder>, Error> {
        let policy = &self.surroundings.policy;
        let refuse = |why: &str| Error::Tool {
            message: format!("{tool} {why}"),
        };
        match &self.surroundings.workspace {
            None => Err(refuse("needs a workspace, and this session has none")),
            Some(_) if !policy.allows_workspace_read() => {
                Err(refuse("needs the workspace, and is not granted to read it"))
            }
            Some(_) if phase == Phase::Apply && !policy.allows_workspace_change(phase) => Err(
                refuse("is granted to read the workspace, and not to change it"),
            ),
            Some(workspace) => Ok(Arc::clone(workspace)),
        }
    }

    /// Does work on a thread that may be blocked. The work ends by itself when its time is up or it is cancelled; where this future is dropped,
    /// it is told to.
    async fn run<T: Send + 'static>(
        &self,
        call: &Call<'_>,
        work: impl FnOnce(&Running) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let turn = Arc::clone(&self.turn).lock_owned();
        let turn = unless_cancelled(call.cancel, turn).await?;
        let running = Running::new(call, &self.surroundings.limits, self.observed());
        running.check()?;
        let _abandon = running.abandon_on_drop();
        let done = spawn_blocking(move || {
            let _turn = turn;
            work(&running)
        });
        match done.await {
            Ok(done) => done,
            Err(error) => Err(Error::host("a native producer did not end its work", error)),
        }
    }

    fn observed(&self) -> Observed {
        Observed {
            observer: self.surroundings.observer.clone(),
            session: self.surroundings.session.id.clone(),
            producer: Arc::clone(&self.producer.inner.source.name),
        }
    }
}

fn check_size(result: &ToolResult, call: &Call<'_>) -> Result<(), Error> {
    let details = result.details.as_ref();
    let bytes = result.content.iter().map(Content::len).sum::<usize>()
        + details.map_or(0, |details| details.as_str().len());
    match bytes > call.limits.result_bytes {
        true => Err(Error::result_too_large(call.tool, bytes, call.limits)),
        false => Ok(()),
    }
}

/// Nothing was pushed then, and the caller is told why.
impl From<NotPushed> for Error {
    fn from(error: NotPushed) -> Self {
        let (NotPushed::StoreUnavailable(message)
        | NotPushed::LimitExceeded(message)
        | NotPushed::Invalid(message)) = error;
        Error::Tool { message }
    }
}
