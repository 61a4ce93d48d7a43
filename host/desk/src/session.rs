//! Choosing a session, by name or by workspace.

use std::path::{Path, PathBuf, absolute};

use airlock_host::approval::{Approval, ApprovalRequest, Approver};
use airlock_host::identity::Machine;
use airlock_host::pending::SessionId;
use airlock_host::store::{ActionRecord, Scope};
use airlock_host::{Session, SessionBuilder};
use airlock_render::escape_line;
use async_trait::async_trait;

use crate::Error;
use crate::store::Store;

/// Returns a builder for a command's own session, in which no model makes calls.
pub fn without_model() -> SessionBuilder {
    Session::builder().approver(NoModel)
}

struct NoModel;

#[async_trait]
impl Approver for NoModel {
    async fn approve(&self, _: &ApprovalRequest<'_>) -> Approval {
        Approval::Refuse {
            reason: "no model decides here".to_owned(),
        }
    }
}

/// The user's choice of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionChoice {
    /// The workspace; `None` for the current directory.
    pub workspace: Option<PathBuf>,
    /// The session's name; `None` to derive it from the workspace's path.
    pub session: Option<String>,
}

impl SessionChoice {
    /// Returns the workspace that was named, or the current directory.
    pub fn workspace(&self) -> &Path {
        self.workspace.as_deref().unwrap_or(Path::new("."))
    }

    /// Returns the same choice. If the user named nothing and nothing is pending for the current
    /// directory, it returns the nearest directory above with pending actions.
    ///
    /// # Errors
    /// Fails if the store can't be read.
    pub async fn or_above(&self, store: &Store) -> Result<Self, Error> {
        if *self != Self::default() {
            return Ok(self.clone());
        }
        let here = real_path(self.workspace());
        let own = self.id(store);
        // Actions that can't be read are pending too.
        if !self.open_actions(store).await?.is_empty()
            || !store.unreadable(Some(&own)).await?.is_empty()
        {
            return Ok(self.clone());
        }
        for above in here.ancestors().skip(1) {
            let above = Self {
                workspace: Some(above.to_owned()),
                session: None,
            };
            if !above.open_actions(store).await?.is_empty() {
                return Ok(above);
            }
        }
        Ok(self.clone())
    }

    /// Returns the actions that are pending or claimed in the named session. For a workspace, these
    /// are the actions of its own session, followed by those of other conversations there.
    ///
    /// # Errors
    /// Fails if the store can't be read.
    pub async fn open_actions(&self, store: &Store) -> Result<Vec<ActionRecord>, Error> {
        let own = self.id(store);
        let mut open = store.durable().open_actions(Scope::Session(&own)).await?;
        open.extend(self.of_others(&own, store).await?);
        Ok(open)
    }

    /// Returns the actions that are pending or claimed in the workspace, in sessions other than
    /// `own`. Empty if a session was named.
    ///
    /// # Errors
    /// Fails if the store can't be read.
    pub async fn of_others(
        &self,
        own: &SessionId,
        store: &Store,
    ) -> Result<Vec<ActionRecord>, Error> {
        if self.session.is_some() {
            return Ok(Vec::new());
        }
        let mut there = open_at(&real_path(self.workspace()), store).await?;
        there.retain(|record| record.session != *own);
        Ok(there)
    }

    /// Returns the id of the named session, or of the workspace's.
    pub fn id(&self, store: &Store) -> SessionId {
        match &self.session {
            Some(name) => SessionId::from(name.as_str()),
            None => of_workspace(self.workspace(), store),
        }
    }

    /// Returns the options that select the same session in the same directory.
    pub fn words(&self) -> Vec<String> {
        let workspace = self.workspace().to_string_lossy().into_owned();
        match &self.session {
            Some(name) => vec!["--session".to_owned(), name.clone()],
            None if workspace == "." => Vec::new(),
            None => vec!["--workspace".to_owned(), workspace],
        }
    }

    /// Returns these options for a session that may have been found by one of its actions.
    pub fn words_for(&self, session: &SessionId, store: &Store) -> Vec<String> {
        if self.id(store) == *session {
            self.words()
        } else {
            vec!["--session".to_owned(), session.to_string()]
        }
    }
}

/// Returns the session of a workspace. It is the same for every program, however the path is
/// written, and can be copied from the output.
///
/// Machines that share a store have separate sessions for workspaces with the same path.
fn of_workspace(workspace: &Path, store: &Store) -> SessionId {
    let path = real_path(workspace);
    let name = format!("workspace:{}", escape_line(&path.to_string_lossy()));
    SessionId::from(if store.is_shared() {
        format!("{name}@{}", &Machine::this().id[..12])
    } else {
        name
    })
}

/// Returns the open actions of the workspace with this path, on this machine.
///
/// # Errors
/// Fails if the store can't be read.
pub async fn open_at(real_path: &Path, store: &Store) -> Result<Vec<ActionRecord>, Error> {
    let mut open = store
        .durable()
        .open_actions(Scope::Workspace(real_path))
        .await?;
    open.retain(|record| match &record.action.workspace_identity {
        Some(place) => place.machine.is_this(),
        // Older versions didn't record the machine.
        None => true,
    });
    Ok(open)
}

/// Returns the path that identifies a workspace. A deleted workspace may still have actions, under
/// its former path.
pub fn real_path(workspace: &Path) -> PathBuf {
    let path = workspace.canonicalize().or_else(|_| absolute(workspace));
    path.unwrap_or_else(|_| workspace.to_owned())
}
