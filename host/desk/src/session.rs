//! Choosing a session: one by its name, or a workspace's.

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

/// A builder for a command's own session, in which no model makes calls.
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

/// How the user chose a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionChoice {
    /// The workspace; none for the current directory.
    pub workspace: Option<PathBuf>,
    /// The session's name; none to derive it from the workspace's path.
    pub session: Option<String>,
}

impl SessionChoice {
    /// The workspace that was named, or the current directory.
    pub fn workspace(&self) -> &Path {
        self.workspace.as_deref().unwrap_or(Path::new("."))
    }

    /// The same choice; but where nothing was named, and nothing is pending for the current
    /// directory, that of the nearest directory above it for which something is.
    ///
    /// # Errors
    /// If the store can't be read.
    pub async fn or_above(&self, store: &Store) -> Result<Self, Error> {
        if *self != Self::default() {
            return Ok(self.clone());
        }
        let here = real_path(self.workspace());
        let own = self.id(store);
        // What can't be read is pending too.
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

    /// What is pending or claimed in the session that was named; for a workspace, in its own
    /// session, and below that in the conversations that others have there.
    ///
    /// # Errors
    /// If the store can't be read.
    pub async fn open_actions(&self, store: &Store) -> Result<Vec<ActionRecord>, Error> {
        let own = self.id(store);
        let mut open = store.durable().open_actions(Scope::Session(&own)).await?;
        open.extend(self.of_others(&own, store).await?);
        Ok(open)
    }

    /// What is pending or claimed in the workspace, in sessions other than `own`; none where a
    /// session was named.
    ///
    /// # Errors
    /// If the store can't be read.
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

    /// The session that was named, or the workspace's.
    pub fn id(&self, store: &Store) -> SessionId {
        match &self.session {
            Some(name) => SessionId::from(name.as_str()),
            None => of_workspace(self.workspace(), store),
        }
    }

    /// The options with which a command means the same session, in the same directory.
    pub fn words(&self) -> Vec<String> {
        let workspace = self.workspace().to_string_lossy().into_owned();
        match &self.session {
            Some(name) => vec!["--session".to_owned(), name.clone()],
            None if workspace == "." => Vec::new(),
            None => vec!["--workspace".to_owned(), workspace],
        }
    }

    /// The same, where the session may have been found by an action of its.
    pub fn words_for(&self, session: &SessionId, store: &Store) -> Vec<String> {
        match self.id(store) == *session {
            true => self.words(),
            false => vec!["--session".to_owned(), session.to_string()],
        }
    }
}

/// The same for every program in a workspace, however its path is written. It can be copied from
/// where it is shown.
///
/// Machines that share a store don't share the workspaces that have the same path on each.
fn of_workspace(workspace: &Path, store: &Store) -> SessionId {
    let path = real_path(workspace);
    let name = format!("workspace:{}", escape_line(&path.to_string_lossy()));
    SessionId::from(match store.is_shared() {
        true => format!("{name}@{}", &Machine::this().id[..12]),
        false => name,
    })
}

/// What is open of the workspace with this path, on this machine.
///
/// # Errors
/// If the store can't be read.
pub async fn open_at(real_path: &Path, store: &Store) -> Result<Vec<ActionRecord>, Error> {
    let mut open = store
        .durable()
        .open_actions(Scope::Workspace(real_path))
        .await?;
    open.retain(|record| match &record.action.workspace_identity {
        Some(place) => place.machine.is_this(),
        // An older version didn't note it.
        None => true,
    });
    Ok(open)
}

/// The path under which a workspace is known. One that is gone may still have actions, under the
/// path that it had.
pub fn real_path(workspace: &Path) -> PathBuf {
    let path = workspace.canonicalize().or_else(|_| absolute(workspace));
    path.unwrap_or_else(|_| workspace.to_owned())
}
