//! A call that runs on threads that may block: its deadline, its progress, and the files it may
//! access.

use std::ops::Deref;
use std::sync::Arc;

use airlock_model::error::Error;
use airlock_model::event::Event;
use airlock_model::limits::Limits;
use airlock_workspace::Workspace;

use super::layer::CallLayer;
use super::stop::Stop;
use crate::instance::Call;
use crate::pushing::SessionContext;
use crate::secret::workspace_key;
use crate::workspace::{ReadableFolder, WorkspaceFolder, WritableFolder};

/// A running call of a native tool, for the threads that work on it.
pub struct RunningCall {
    tool: String,
    number: u64,
    limits: Arc<Limits>,
    stop: Arc<Stop>,
    observed: Observed,
}

/// A call to preview an action or to handle its discard. It can read the workspace.
pub struct PreviewCall {
    running: RunningCall,
    workspace: Granted,
    draft: CallLayer,
}

/// A call to apply an action. It can change the workspace.
pub struct ApplyCall {
    running: RunningCall,
    workspace: Granted,
    changes: CallLayer,
    files_moved: bool,
}

/// The workspace, or the reason why the call can't have it.
pub(super) type Granted = Result<Arc<WorkspaceFolder>, String>;

/// The session that hears of the call's progress, and the name to report.
pub(super) struct Observed {
    pub session: Arc<SessionContext>,
    pub producer: Arc<str>,
}

impl PreviewCall {
    pub(super) fn new(running: RunningCall, workspace: Granted, draft: CallLayer) -> Self {
        Self {
            running,
            workspace,
            draft,
        }
    }

    /// Returns the session's workspace for reading.
    ///
    /// # Errors
    /// [`Error::Tool`] if the session has none or the policy doesn't grant it, [`Error::Workspace`]
    /// if it is gone.
    pub fn folder(&self) -> Result<ReadableFolder, Error> {
        let folder = self.running.granted(&self.workspace)?;
        let view = folder.view();
        let view = view.map_err(|error| Error::workspace(folder.path(), error))?;
        Ok(ReadableFolder::of(view, folder.path()))
    }

    /// Returns the workspace with a layer for this preview, in which to make the changes that the
    /// apply would make. The layer is private and never committed. Every call returns the same
    /// layer.
    ///
    /// The decider sees the changes in the draft as verified by the host. The apply is compared
    /// with the draft, and is not committed if it changes anything else. By writing a draft, a tool
    /// declares that its apply makes these changes and has no effects elsewhere. A tool with
    /// effects elsewhere must not write a draft; its preview is then shown as unverified.
    ///
    /// # Errors
    /// See [`folder`](Self::folder).
    pub fn draft(&self) -> Result<WritableFolder, Error> {
        self.running.layer(&self.workspace, &self.draft)
    }
}

impl PreviewCall {
    /// Returns the workspace with what commits have kept in it, for an undo.
    pub(super) fn kept(&self) -> Result<Workspace, Error> {
        self.running.kept(&self.workspace)
    }
}

impl Deref for PreviewCall {
    type Target = RunningCall;

    fn deref(&self) -> &RunningCall {
        &self.running
    }
}

impl ApplyCall {
    pub(super) fn new(
        running: RunningCall,
        workspace: Granted,
        changes: CallLayer,
        files_moved: bool,
    ) -> Self {
        Self {
            running,
            workspace,
            changes,
            files_moved,
        }
    }

    /// Returns whether other lines of the action's files may have changed since the preview. If so,
    /// don't compare contents in the tool; the host checks that its edits are the previewed ones.
    pub fn files_moved(&self) -> bool {
        self.files_moved
    }

    /// Returns the session's workspace for reading and writing. Every call returns the same one.
    /// The changes are committed in one step after the tool has returned a result, and dropped if
    /// it fails or its call ends earlier.
    ///
    /// # Errors
    /// See [`PreviewCall::folder`].
    pub fn folder(&self) -> Result<WritableFolder, Error> {
        self.running.layer(&self.workspace, &self.changes)
    }

    /// Returns the same as [`PreviewCall::kept`].
    pub(super) fn kept(&self) -> Result<Workspace, Error> {
        self.running.kept(&self.workspace)
    }

    /// Declares that effects outside the [folder](Self::folder) begin, such as sending a message.
    /// Call this before the first such effect. From here on, callers wait for the end of the call
    /// however long it takes, and [`RunningCall::check`] no longer ends it.
    ///
    /// # Errors
    /// See [`RunningCall::check`]. If this fails, don't begin any effect.
    pub fn begin_effects(&self) -> Result<(), Error> {
        self.running.begin_effects()
    }
}

impl Deref for ApplyCall {
    type Target = RunningCall;

    fn deref(&self) -> &RunningCall {
        &self.running
    }
}

impl RunningCall {
    /// Starts the call's time.
    pub(super) fn new(call: &Call<'_>, limits: &Arc<Limits>, observed: Observed) -> Self {
        Self {
            tool: call.tool.to_owned(),
            number: call.number,
            limits: Arc::clone(limits),
            stop: Arc::new(Stop::new(
                limits.call_time.saturating_sub(call.spent),
                call.cancel.cloned(),
            )),
            observed,
        }
    }

    /// Returns the stop state, for code that can't call [`check`](Self::check).
    pub fn stop(&self) -> &Arc<Stop> {
        &self.stop
    }

    /// Checks whether the call has to end. Call this between steps of work.
    ///
    /// # Errors
    /// [`Error::Cancelled`], or [`Error::Limit`] if the time is up.
    pub fn check(&self) -> Result<(), Error> {
        if self.stop.is_due() {
            Err(self.stop.reason(&self.tool))
        } else {
            Ok(())
        }
    }

    pub(super) fn begin_effects(&self) -> Result<(), Error> {
        self.check()?;
        if self.stop.begin_effects() {
            Ok(())
        } else {
            Err(self.stop.reason(&self.tool))
        }
    }

    fn layer(&self, workspace: &Granted, layer: &CallLayer) -> Result<WritableFolder, Error> {
        let folder = self.granted(workspace)?;
        let opened = layer.folder(folder);
        opened.map_err(|error| Error::workspace(folder.path(), error))
    }

    fn granted<'a>(&self, workspace: &'a Granted) -> Result<&'a WorkspaceFolder, Error> {
        workspace.as_deref().map_err(|why| Error::Tool {
            message: format!("{} {why}", self.tool),
        })
    }

    fn kept(&self, workspace: &Granted) -> Result<Workspace, Error> {
        let folder = self.granted(workspace)?;
        let opened = workspace_key().and_then(|key| folder.open(&key));
        opened.map_err(|error| Error::workspace(folder.path(), error))
    }

    /// Returns the session's limits, which bound results, details and states.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Reports progress to the session's observer, in the tool's own unit. The observer runs on the
    /// calling thread, so don't report every small step.
    pub fn progress(&self, message: impl Into<String>, progress: f64) {
        // The observer has already seen the end of the call.
        if self.stop.was_left() {
            return;
        }
        let event = Event::Progress {
            message: message.into(),
            progress: Some(progress),
            total: None,
        };
        self.observed.emit(self.number, &self.tool, &event);
    }
}

impl Observed {
    pub fn emit(&self, call: u64, tool: &str, event: &Event) {
        self.session.emit(&self.producer, tool, call, event);
    }
}
