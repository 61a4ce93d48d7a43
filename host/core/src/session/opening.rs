//! What is done to a workspace, and found out about it, when a session is opened there.

use std::io;
use std::sync::Arc;

use super::committing::{open, unrecovered};
use crate::workspace::WorkspaceFolder;

/// Finishes what a crash has cut off in a workspace that is opened now. Where that can't be, who
/// applies something is told why.
pub(super) fn recover(folder: &Arc<WorkspaceFolder>) {
    let recovered = match folder.has_private() {
        Ok(true) => open(folder).and_then(|workspace| workspace.recover().map_err(unrecovered)),
        _ => return,
    };
    match recovered {
        Ok(recovered) => {
            for path in recovered.not_ours {
                let folder = folder.path().display();
                tracing::warn!("{folder}/{path} is a commit of somebody else, and is left alone");
            }
        }
        Err(error) => tracing::warn!("{}: {error}", folder.path().display()),
    }
}

/// Why nothing that is applied could be put into a workspace, as far as that shows beforehand.
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
