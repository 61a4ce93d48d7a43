//! The harness of a try: a separate workspace, and sessions on it.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use airlock_host::content::{CallOutcome, Content, ResolutionOutcome};
use airlock_host::event::{Event, Refusal};
use airlock_host::json::Json;
use airlock_host::pending::{Actor, Decision, StackedAction};
use airlock_host::policy::Rehearse;
use airlock_host::store::PendingStore;
use airlock_host::{Error, PendingAction, Plugin, Resolution, Session};
use serde::Serialize;
use serde_json::Value;
use tempfile::TempDir;

use super::HarnessError;
use super::files::Files;

/// The session id of all tries. It is constant, so that a tool that repeats it gives the same
/// answers.
const SESSION: &str = "airlock-test";

/// The output of a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolOutput {
    /// The content blocks, as JSON.
    pub content: Value,
    /// The concatenated text blocks.
    pub text: String,
    pub details: Value,
}

/// The reason why a tool returned no output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolFailure {
    /// The value of [`Error::kind`].
    pub kind: &'static str,
    pub message: String,
}

impl ToolFailure {
    pub fn is_crash(&self) -> bool {
        self.kind == "trap"
    }

    pub fn is_limit(&self) -> bool {
        self.kind == "limit"
    }

    /// Returns whether the apply had a different result than its rehearsal.
    pub fn is_difference(&self) -> bool {
        self.kind == "different"
    }

    /// Returns whether the host refused the call because the params don't fit the tool's schema.
    pub fn is_refusal(&self) -> bool {
        self.kind == "invalid-params"
    }
}

/// The outcome of a call or a resolution.
pub type Answer = Result<ToolOutput, ToolFailure>;

/// The events that a session's observer received, other than answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObservedEvents {
    pub refusals: Vec<Refusal>,
    pub dropped_lines: u64,
}

/// A workspace and a store, for any number of consecutive sessions.
pub struct Harness<'a> {
    plugin: &'a Plugin,
    workspace: TempDir,
    store: PendingStore,
    heard: Arc<Mutex<ObservedEvents>>,
}

impl<'a> Harness<'a> {
    /// Creates the workspace.
    ///
    /// # Errors
    /// If the workspace can't be created.
    pub fn set(
        plugin: &'a Plugin,
        files: &Files,
        store: impl Into<PendingStore>,
    ) -> Result<Self, HarnessError> {
        Ok(Self {
            plugin,
            workspace: files.lay_out().map_err(HarnessError::Workspace)?,
            store: store.into(),
            heard: Arc::default(),
        })
    }

    /// Opens a new session on the same workspace. It has new instances and shares the pending
    /// actions. It doesn't rehearse, so every run of the tool was requested.
    ///
    /// # Errors
    /// If the host can't open a session.
    pub fn session(&self) -> Result<Session, HarnessError> {
        self.session_with(Rehearse::Never)
    }

    /// Opens a session that rehearses, like a user's session: an apply must match its rehearsal.
    ///
    /// # Errors
    /// See [`session`](Self::session).
    pub fn session_that_rehearses(&self) -> Result<Session, HarnessError> {
        self.session_with(Rehearse::Auto)
    }

    fn session_with(&self, rehearse: Rehearse) -> Result<Session, HarnessError> {
        let heard = Arc::clone(&self.heard);
        let session = Session::builder()
            .model_decides()
            .id(SESSION)
            .workspace(self.workspace.path())
            .store(self.store.clone())
            .bind(self.plugin)
            .rehearse(rehearse)
            .observer(move |_, event| match event {
                Event::Refused(refusal) => lock(&heard).refusals.push(refusal.clone()),
                Event::LogsDropped { lines } => lock(&heard).dropped_lines += lines,
                _ => {}
            });
        Ok(session.open()?)
    }

    pub fn folder(&self) -> &Path {
        self.workspace.path()
    }

    /// Reads the files of the workspace.
    ///
    /// # Errors
    /// If the workspace can't be read.
    pub fn files(&self) -> Result<Files, HarnessError> {
        Ok(Files::read(self.folder())?)
    }

    /// Deletes the workspace's record of its commits.
    ///
    /// # Errors
    /// System errors.
    pub fn forget_commits(&self) -> Result<(), HarnessError> {
        let private = self.folder().join(airlock_host::PRIVATE_FOLDER);
        match std::fs::remove_dir_all(private) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(HarnessError::Workspace(error))
            }
            _ => Ok(()),
        }
    }

    pub fn observed_events(&self) -> ObservedEvents {
        lock(&self.heard).clone()
    }
}

fn lock(heard: &Mutex<ObservedEvents>) -> MutexGuard<'_, ObservedEvents> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls a tool.
///
/// # Errors
/// If the host fails. A failure of the tool is an answer.
pub async fn call(session: &Session, tool: &str, params: &Value) -> Result<Answer, HarnessError> {
    match session.call(tool, params).await {
        Ok(CallOutcome {
            content, details, ..
        }) => Ok(Ok(tool_output(&content, details))),
        Err(error) => complaint(error).map(Err),
    }
}

/// Resolves the given action.
///
/// # Errors
/// See [`call`].
pub async fn resolve(
    session: &Session,
    action: &PendingAction,
    resolution: Resolution,
) -> Result<Answer, HarnessError> {
    let resolution = resolution.with_id(action.id.clone());
    match session
        .resolve(resolution, Actor::program("airlock test"))
        .await
    {
        Ok(ResolutionOutcome {
            content, details, ..
        }) => Ok(Ok(tool_output(&content, details.source_result_details))),
        Err(error) => complaint(error).map(Err),
    }
}

/// Resolves these actions in order, with the same decision.
///
/// # Errors
/// See [`call`].
pub async fn resolve_all(
    session: &Session,
    actions: &[StackedAction],
    decision: Decision,
) -> Result<Vec<Answer>, HarnessError> {
    let mut answers = Vec::with_capacity(actions.len());
    for stacked in actions {
        let resolution = Resolution::new(decision, "airlock test");
        let mut answer = resolve(session, &stacked.action, resolution).await?;
        without_ids(&mut answer, actions);
        answers.push(answer);
    }
    Ok(answers)
}

fn tool_output(content: &[Content], details: Option<Json>) -> ToolOutput {
    let texts: Vec<&str> = content.iter().filter_map(Content::as_text).collect();
    ToolOutput {
        content: serde_json::to_value(content).unwrap_or_default(),
        text: texts.join("\n"),
        details: details.map(|details| details.value()).unwrap_or_default(),
    }
}

fn complaint(error: Error) -> Result<ToolFailure, HarnessError> {
    match error.root() {
        Error::Host(_) | Error::Store(_) | Error::NotRecorded { .. } => {
            Err(HarnessError::Host(error))
        }
        _ => Ok(ToolFailure {
            kind: error.kind(),
            message: error.to_string(),
        }),
    }
}

/// Replaces the ids of these actions, which differ in each try, with `ACTION-1` and so on.
pub fn without_ids(answer: &mut Answer, actions: &[StackedAction]) {
    for (index, stacked) in actions.iter().enumerate() {
        let (id, name) = (stacked.action.id.as_str(), format!("ACTION-{}", index + 1));
        match answer {
            Ok(said) => {
                replace(&mut said.content, id, &name);
                replace(&mut said.details, id, &name);
                said.text = said.text.replace(id, &name);
            }
            Err(complaint) => complaint.message = complaint.message.replace(id, &name),
        }
    }
}

fn replace(value: &mut Value, id: &str, name: &str) {
    match value {
        Value::String(text) if text.contains(id) => *text = text.replace(id, name),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, id, name)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| replace(member, id, name)),
        _ => {}
    }
}
