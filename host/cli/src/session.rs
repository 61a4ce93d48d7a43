//! Which session a command line means.

use std::path::{Path, PathBuf, absolute};

use airlock_host::{Machine, SessionId};
use airlock_render::escape_line;

use crate::args::SessionArgs;
use crate::store::Store;

/// The one that was named, or the workspace's.
pub fn id(args: &SessionArgs, store: &Store) -> SessionId {
    match &args.session {
        Some(name) => SessionId::from(name.as_str()),
        None => of_workspace(args.workspace(), store),
    }
}

/// The same for every command in a workspace, however its path is written. It can be copied from where it is shown.
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

/// The path under which a workspace is known. One that is gone may still have actions, under the path that it had.
pub fn real_path(workspace: &Path) -> PathBuf {
    let path = workspace.canonicalize().or_else(|_| absolute(workspace));
    path.unwrap_or_else(|_| workspace.to_owned())
}

/// The options with which another command means the same session, in the same directory.
pub fn words(args: &SessionArgs) -> Vec<String> {
    let workspace = args.workspace().to_string_lossy().into_owned();
    match &args.session {
        Some(name) => vec!["--session".to_owned(), name.clone()],
        None if workspace == "." => Vec::new(),
        None => vec!["--workspace".to_owned(), workspace],
    }
}

/// The same, where the session may have been found by an action of its.
pub fn words_for(args: &SessionArgs, session: &SessionId, store: &Store) -> Vec<String> {
    match id(args, store) == *session {
        true => words(args),
        false => vec!["--session".to_owned(), session.to_string()],
    }
}
