//! What to do about each kind of error, for whoever has the program `airlock` at hand.

use airlock_host::Error;
use airlock_host::limits::LimitKind;
use airlock_host::load::LoadError;
use airlock_host::store::{BackendErrorKind, StoreError};

/// What addresses of stores look like.
pub(crate) const ADDRESSES: &str = "a store is a file, or postgres://USER@HOST/DATABASE";

/// For a call, a decision, a session or a store.
pub fn about(error: &Error) -> Option<&'static str> {
    Some(match error.root() {
        Error::Limit { kind, .. } => match kind {
            LimitKind::CallTime => "`--timeout SECONDS` gives it more time",
            LimitKind::Memory => "`--max-memory MIB` gives it more",
            _ => return None,
        },
        Error::Trap { .. } => "the fault is the tool's; `-v` shows what it logged before",
        Error::WorkspaceReplaced { .. } | Error::OtherWorkspace { .. } => {
            "where it is the same workspace, moved, copied or restored, `--same-workspace` says so; else preview again there"
        }
        Error::Workspace { .. } => "`--workspace DIR` names another directory",
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
                "`airlock store prune --older-than 30d` makes room, and `airlock store limit` tells and sets how much there is",
            );
        }
        StoreError::SessionFull { .. } => {
            return Some("`airlock pending` lists them, and `airlock resolve` decides");
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
            "check what `--store` or AIRLOCK_STORE names; `airlock run` makes a file where there is none"
        }
        BackendErrorKind::Damaged => {
            "if it is a store, move it away and bring a backup back with `airlock store restore FILE`; if not, name another with `--store`"
        }
        BackendErrorKind::Newer => "update airlock, or name another store with `--store`",
        BackendErrorKind::Unreachable => "check the address, and that the server is running",
        BackendErrorKind::Denied => {
            "check the user and the password, or the permissions of the file and of its folder"
        }
        BackendErrorKind::Busy => "run it again when the other process is done with it",
        BackendErrorKind::Settings => ADDRESSES,
        _ => "`-vv` shows what was tried; `--store` names another store",
    })
}

/// For a plugin that can't be loaded.
pub fn about_loading(error: &LoadError) -> &'static str {
    match error {
        LoadError::Read { .. } => "check the path and its permissions",
        LoadError::TooLarge { .. } => "build it for release, without debug information",
        LoadError::NotAComponent { .. } => {
            "a plugin is built for the target wasm32-wasip2, or its like"
        }
        LoadError::TooComplex { .. } => {
            "no compiler makes such a component from sources that people write; build it for release, and without what generates code"
        }
        LoadError::CompileTime { .. } | LoadError::CompileMemory { .. } => {
            "a component from somebody you don't know may be made to do that; one of your own is built for release, from smaller functions"
        }
        LoadError::NoCompiler { .. } => {
            "the program starts itself to compile a plugin; check that its file may be executed, and how many processes you may have"
        }
        LoadError::CompilerFailed { .. } => {
            "run it again; where the machine is short of memory, the system may have ended it"
        }
        LoadError::World { .. } => {
            "build the plugin with an SDK of this version; `airlock inspect FILE` lists all that differs"
        }
        LoadError::Definitions { .. } => "the fault is the plugin's; `-v` shows what it logged",
        LoadError::NoTools { .. } => "correct the tools' definitions, and build the plugin again",
        _ => "`-vv` shows what was tried",
    }
}
