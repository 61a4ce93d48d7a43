//! Makes sure that an action is resolved in the workspace in which it was previewed.

use airlock_model::error::Error;
use airlock_model::identity::{Machine, WorkspaceDifference};
use airlock_model::pending::{Decision, PendingAction, Resolution};

use super::Session;

impl Session {
    /// Refuses to apply an action in another workspace than the one it was previewed in. An action
    /// can be discarded anywhere, unless an apply was tried: that may have left something behind,
    /// and only a session on the workspace's machine can find out.
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

    /// Returns how the session's workspace differs from the one of the preview.
    pub(super) fn other_workspace(&self, action: &PendingAction) -> Option<Error> {
        // Check the machine first: on another machine, a missing path says nothing.
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
