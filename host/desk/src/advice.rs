//! Advice for each kind of error, addressed to users of the program `airlock`.

use airlock_host::Error;
use airlock_host::limits::LimitKind;
use airlock_host::load::LoadError;
use airlock_host::store::{BackendErrorKind, StoreError};
use tracing::level_filters::LevelFilter;

/// The syntax of store addresses.
pub(crate) const ADDRESSES: &str = "a store is a file, or postgres://USER@HOST/DATABASE";

/// Returns true if this level is logged already, so that there is no point in advice to log more:
/// `-v` shows the log of a tool, and `-vv` that of the program.
fn is_logged(level: LevelFilter) -> bool {
    LevelFilter::current() >= level
}

/// Returns advice on an error of a call, a decision, a session or a store.
pub fn about(error: &Error) -> Option<&'static str> {
    Some(match error.root() {
        Error::Limit { kind, .. } => match kind {
            LimitKind::CallTime => "`--timeout SECONDS` gives it more time",
            LimitKind::Memory => "`--max-memory MIB` gives it more",
            _ => return None,
        },
        Error::Trap { .. } => {
            if is_logged(LevelFilter::INFO) {
                "this is a fault of the tool"
            } else {
                "this is a fault of the tool; `-v` shows its log"
            }
        }
        // Languages word WASI's `rofs` like this.
        Error::Tool { message } | Error::Failed { message }
            if message.to_lowercase().contains("read-only file system") =>
        {
            "a preview may read the workspace and change nothing in it: the tool has to write in `apply`, and only below `/workspace`"
        }
        Error::WorkspaceReplaced { .. } | Error::OtherWorkspace { .. } => {
            "if it is the same workspace, moved, copied or restored, add `--same-workspace`; otherwise preview again there"
        }
        Error::Unrecovered { .. } => {
            "`--abandon` discards it anyway; if the workspace was moved, copied or restored, open it there with `--workspace DIR --same-workspace`"
        }
        Error::NotCommitted(_) => {
            "apply it again, which looks at the files as they are now, or discard it and preview again"
        }
        Error::Workspace { .. } => {
            "check the path and its permissions, or name another directory with `--workspace DIR`"
        }
        Error::Store(error) | Error::NotRecorded { source: error, .. } => {
            return about_store(error);
        }
        _ => return None,
    })
}

fn about_store(error: &StoreError) -> Option<&'static str> {
    match error {
        StoreError::StoreFull { .. } => {
            return Some(
                "`airlock store prune --older-than 30d` frees space, and `airlock store limit` shows and sets the limit",
            );
        }
        StoreError::SessionFull { .. } => {
            return Some("`airlock pending` lists them, and `airlock resolve` decides");
        }
        StoreError::Full { .. } => {
            return Some(
                "`airlock pending` lists them; `airlock resolve apply --all` or `airlock resolve discard --all` decides about all of them",
            );
        }
        _ => {}
    }
    Some(match error.backend_kind()? {
        BackendErrorKind::NoSpace => {
            "nothing that was decided before is lost; free some space there, and run it again"
        }
        BackendErrorKind::ReadOnly => {
            "check the permissions of the file and of its folder, or name another store with `--store`"
        }
        BackendErrorKind::Missing => {
            "check what `--store` or AIRLOCK_STORE names; `airlock run` creates the file if there is none"
        }
        BackendErrorKind::Damaged => {
            "if it is a store, move it away and restore a backup with `airlock store restore FILE`; if not, name another with `--store`"
        }
        BackendErrorKind::Newer => "update airlock, or name another store with `--store`",
        BackendErrorKind::Unreachable => "check the address, and that the server is running",
        BackendErrorKind::Denied => {
            "check the user and the password, or the permissions of the file and of its folder"
        }
        BackendErrorKind::Busy => "run it again when the other process is done with it",
        BackendErrorKind::Settings => ADDRESSES,
        _ if is_logged(LevelFilter::DEBUG) => "`--store` names another store",
        _ => "`-vv` shows each attempt; `--store` names another store",
    })
}

/// Returns advice on a plugin that can't be loaded.
pub fn about_loading(error: &LoadError) -> &'static str {
    match error {
        LoadError::Read { .. } => "check the path and its permissions",
        LoadError::TooLarge { .. } => "build it for release, without debug information",
        LoadError::NotAComponent { .. } => {
            "build the plugin for the target wasm32-wasip2, or its equivalent"
        }
        LoadError::TooComplex { .. } => {
            "no compiler makes such a component from hand-written sources; build it for release, and without generated code"
        }
        LoadError::CompileTime { .. } | LoadError::CompileMemory { .. } => {
            "a component that you don't trust may be made to do that; if it is your own, build it for release, from smaller functions"
        }
        LoadError::NoCompiler { .. } => {
            "the program runs itself to compile a plugin; check that its file is executable, and your limit on processes"
        }
        LoadError::CompilerFailed { .. } => {
            "run it again; if the machine is short of memory, the system may have killed it"
        }
        LoadError::World { .. } => {
            "build the plugin with an SDK of this version; `airlock inspect FILE` lists all that differs"
        }
        LoadError::Definitions { .. } => {
            if is_logged(LevelFilter::INFO) {
                "this is a fault of the plugin"
            } else {
                "this is a fault of the plugin; `-v` shows its log"
            }
        }
        LoadError::NoTools { .. } => "correct the tools' definitions, and build the plugin again",
        LoadError::CompilerBusy { .. } => "run it again when others are compiled",
        _ if is_logged(LevelFilter::DEBUG) => "the log has each attempt",
        _ => "`-vv` shows each attempt",
    }
}
