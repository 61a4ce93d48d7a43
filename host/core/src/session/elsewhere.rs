//! An action is resolved where it was previewed.

use airlock_model::error::Error;
use airlock_model::identity::{Machine, WorkspaceDifference};
use airlock_model::pending::{Decision, PendingAction, Resolution};

use super::Session;

impl Session {
    /// What was previewed in one workspace is never applied to another. Discarding drops what was
    /// previewed anywhere, but an apply that was tried may have left something behind, and only who
    /// has the workspace's machine can look.
    pub(super) fn refused_here(
        &self,
        action: &PendingAction,
        resolution: &Resolution,
        attempt: u32,
    ) -> Option<Error> {
        if resolution.same_workspace {
            return None;
        }
        match resolution.decision {
            Decision::Apply => self.other_workspace(action),
            Decision::Discard if attempt > 1 => self.other_machine(action),
            Decision::Discard => None,
        }
    }

    /// In what the session's workspace differs from the one that was previewed.
    pub(super) fn other_workspace(&self, action: &PendingAction) -> Option<Error> {
        // The machine first: on another one, that there is no such path tells nothing.
        if let Some(other) = self.other_machine(action) {
            return Some(other);
        }
        let context = &self.inner.context;
        if action.workspace != context.workspace {
            return Some(Error::OtherWorkspace {
                previewed: action.workspace.clone(),
                session: context.workspace.clone(),
            });
        }
        let here = context.workspace_identity.as_deref()?;
        let difference = here.difference(action.workspace_identity.as_deref())?;
        replaced(action, difference)
    }

    pub(super) fn other_machine(&self, action: &PendingAction) -> Option<Error> {
        let previewed = action.workspace_identity.as_deref()?;
        let here = self.inner.machine.as_ref();
        let here = here.unwrap_or_else(|| Machine::this());
        replaced(action, here.difference(&previewed.machine)?)
    }
}

fn replaced(action: &PendingAction, difference: WorkspaceDifference) -> Option<Error> {
    let path = action.workspace.clone()?;
    Some(Error::WorkspaceReplaced { path, difference })
}
