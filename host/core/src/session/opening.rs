//! Recovery and checks of a workspace when a session is opened in it.

use std::io;
use std::sync::Arc;

use airlock_model::error::Error;

use super::committing::{open, unrecovered};
use crate::workspace::WorkspaceFolder;

/// Finishes or undoes commits that a crash interrupted, before a guest sees the files. If that
/// fails, returns the reason as a clause, which blocks every apply.
pub(super) fn recover(folder: &Arc<WorkspaceFolder>) -> Option<String> {
    let recovered = match folder.has_private() {
        Ok(true) => open(folder).and_then(|workspace| workspace.recover().map_err(unrecovered)),
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
                Error::NotCommitted { reason } => reason,
                error => error.to_string(),
            })
        }
    }
}

/// Returns why changes can't be committed to the workspace, as far as this can be determined in
/// advance.
pub(super) fn obstacle(folder: &Arc<WorkspaceFolder>) -> Option<String> {
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
