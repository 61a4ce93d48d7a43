//! Opens a workspace: for a session, with recovery and checks, and for commits.

use std::io;
use std::path::Path;
use std::sync::Arc;

use airlock_model::error::Error;
use airlock_model::identity::Machine;
use airlock_workspace::Workspace;

use crate::secret::workspace_key;
use crate::workspace::WorkspaceFolder;

/// A workspace at the start of a session.
pub(in crate::session) struct Opened {
    pub folder: Arc<WorkspaceFolder>,
    /// The reason why changes can't be applied there, as a clause.
    pub obstacle: Option<String>,
}

impl Opened {
    /// Opens a workspace. Finishes or undoes commits that a crash interrupted, before a guest sees
    /// the files.
    ///
    /// # Errors
    /// [`Error::Workspace`].
    pub fn at(path: &Path, machine: Machine) -> Result<Self, Error> {
        let folder = WorkspaceFolder::at(path, machine);
        let folder = Arc::new(folder.map_err(|error| Error::workspace(path, error))?);
        let obstacle = unrecovered_commit(&folder).or_else(|| obstacle(&folder));
        Ok(Self { folder, obstacle })
    }
}

/// Recovers commits. If that fails, returns the reason as a clause, which blocks every apply.
fn unrecovered_commit(folder: &Arc<WorkspaceFolder>) -> Option<String> {
    let recovered = match folder.has_private() {
        Ok(true) => {
            open(folder).and_then(|workspace| workspace.recover().map_err(Error::not_committed))
        }
        _ => return None,
    };
    match recovered {
        Ok(recovered) => {
            for path in recovered.not_ours {
                let folder = folder.path().display();
                tracing::warn!("{folder}/{path} is another user's commit, and is left alone");
            }
            for path in recovered.kept {
                let folder = folder.path().display();
                tracing::warn!(
                    "another program wrote to a file while it was replaced: its version is in {folder}/{path}"
                );
            }
            None
        }
        Err(error) => {
            tracing::warn!("{}: {error}", folder.path().display());
            Some(match error {
                Error::NotCommitted(source) => source.to_string(),
                error => error.to_string(),
            })
        }
    }
}

/// Returns why changes can't be committed to the workspace, as far as this can be determined in
/// advance.
fn obstacle(folder: &Arc<WorkspaceFolder>) -> Option<String> {
    let checked = match open(folder) {
        Ok(workspace) => workspace.check_commits(),
        Err(error) => return Some(error.to_string()),
    };
    checked.err().map(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => {
            format!("this user may not write to {}", folder.path().display())
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            format!("{} is on a read-only file system", folder.path().display())
        }
        _ => error.to_string(),
    })
}

/// Opens a workspace for commits.
pub(in crate::session) fn open(folder: &Arc<WorkspaceFolder>) -> Result<Workspace, Error> {
    let key = workspace_key().map_err(|error| Error::not_committed(NoKey(error)))?;
    folder
        .open(&key)
        .map_err(|error| Error::workspace(folder.path(), error))
}

/// The user's key can't be read or made.
#[derive(Debug, thiserror::Error)]
#[error("there is no key to sign the record of it with: {0}")]
struct NoKey(#[source] io::Error);
