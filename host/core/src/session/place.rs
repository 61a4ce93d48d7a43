//! The workspace of a session and its machine, and checks that an action was previewed there.

mod opening;
mod record;
mod retention;

use std::path::Path;
use std::sync::Arc;

use airlock_model::effects::Effects;
use airlock_model::error::{Error, HostError};
use airlock_model::identity::{Machine, WorkspaceDifference};
use airlock_model::pending::{Decision, PendingAction, Resolution};
use airlock_workspace::Workspace;
use tokio::task::spawn_blocking;

use crate::pushing::SessionContext;
use crate::workspace::WorkspaceFolder;
pub(super) use opening::{Opened, open};
pub(super) use record::{CommitRecord, Committed, encode};
pub use retention::{Originals, UndoRetention, originals};

/// The place in which a session applies actions: its workspace and machine.
pub(super) struct Place {
    context: Arc<SessionContext>,
    pub workspace: Option<Arc<WorkspaceFolder>>,
    /// The identity that the session was given instead of the machine's own.
    machine: Option<Machine>,
    /// What applies keep for an undo, if anything.
    pub undo: Option<UndoRetention>,
}

impl Place {
    pub fn new(
        context: Arc<SessionContext>,
        workspace: Option<Arc<WorkspaceFolder>>,
        machine: Option<Machine>,
        undo: Option<UndoRetention>,
    ) -> Self {
        Self {
            context,
            workspace,
            machine,
            undo,
        }
    }

    /// Returns whether an apply with these effects replaces and removes more than is kept for an
    /// undo.
    pub fn is_beyond_undo(&self, effects: &Effects) -> bool {
        self.undo.is_some_and(|undo| !undo.covers(effects))
    }

    /// Returns the workspace's absolute path.
    pub fn path(&self) -> Option<&Path> {
        self.workspace.as_ref().map(|workspace| workspace.path())
    }

    /// Refuses to apply an action on a system where a workspace can only be previewed, or in
    /// another workspace than the one it was previewed in. An action can be discarded anywhere,
    /// unless an apply was tried: that may have left something behind, and only a session on the
    /// workspace's machine can find out.
    pub fn refused_here(
        &self,
        action: &PendingAction,
        resolution: &Resolution,
        attempt: u32,
    ) -> Option<Error> {
        if resolution.decision == Decision::Apply
            && self.workspace.is_some()
            && let Err(error) = Workspace::check_system()
        {
            return Some(Error::not_committed(error));
        }
        if resolution.same_workspace {
            return None;
        }
        match resolution.decision {
            Decision::Apply => self.other_workspace(action),
            Decision::Discard if attempt > 1 => self.other_machine(action),
            Decision::Discard => None,
        }
    }

    /// Returns how the session's workspace differs from the one of the preview.
    pub fn other_workspace(&self, action: &PendingAction) -> Option<Error> {
        // Check the machine first: on another machine, a missing path says nothing.
        if let Some(other) = self.other_machine(action) {
            return Some(other);
        }
        if action.workspace != self.context.workspace {
            return Some(Error::OtherWorkspace {
                previewed: action.workspace.clone(),
                session: self.context.workspace.clone(),
            });
        }
        let here = self.context.workspace_identity.as_deref()?;
        let difference = here.difference(action.workspace_identity.as_deref())?;
        replaced(action, difference)
    }

    pub fn other_machine(&self, action: &PendingAction) -> Option<Error> {
        let previewed = action.workspace_identity.as_deref()?;
        replaced(action, self.machine().difference(&previewed.machine)?)
    }

    fn machine(&self) -> &Machine {
        self.machine.as_ref().unwrap_or_else(|| Machine::this())
    }

    /// Returns the session's workspace, if the action belongs there.
    pub fn workspace_of(
        &self,
        action: &PendingAction,
        same_workspace: bool,
    ) -> Option<Arc<WorkspaceFolder>> {
        let workspace = self.workspace.as_ref();
        let here = workspace.filter(|_| same_workspace || self.other_workspace(action).is_none());
        here.cloned()
    }

    /// Returns the workspace in which an action was previewed, even if this session has none or
    /// another one. Returns `None` if that workspace is gone or on another machine.
    pub fn folder_of(
        &self,
        action: &PendingAction,
        same_workspace: bool,
    ) -> Option<Arc<WorkspaceFolder>> {
        if let Some(folder) = self.workspace_of(action, same_workspace) {
            return Some(folder);
        }
        let path = action.workspace.as_deref()?;
        let folder = WorkspaceFolder::at(path, self.machine().clone()).ok()?;
        let previewed = action.workspace_identity.as_deref();
        match folder.lasting().difference(previewed) {
            None => Some(Arc::new(folder)),
            Some(_) => None,
        }
    }
}

fn replaced(action: &PendingAction, difference: WorkspaceDifference) -> Option<Error> {
    let path = action.workspace.clone()?;
    Some(Error::WorkspaceReplaced { path, difference })
}

/// Runs blocking work, such as syncing files or waiting for other programs, on a thread that may
/// block.
pub(super) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(HostError::Commit(error).into()),
        },
    }
}
