//! How a command ends: its exit code, and what is said where it failed.

use std::process::ExitCode;

use airlock_host::{BackendErrorKind, Error, LimitKind, LoadError, StoreError};
use airlock_render::{Block, Line, Role};
use serde_json::{Value, json};

use crate::output::{Output, say, show_on_stderr};

/// The exit codes; the help lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    /// The tool or the resolution reported an error, or the host could not do its part.
    Failed,
    /// The command line, or what it says to the tool, is wrong.
    Usage,
    NotLoaded,
    /// The tool hit a limit or crashed.
    Stopped,
    Interrupted,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::NotLoaded => 3,
            Exit::Stopped => 4,
            // What shells report for a program that an interrupt ended: 128 + SIGINT.
            Exit::Interrupted => 130,
        }
    }

    /// For a call or a resolution that did not succeed.
    pub fn of(error: &Error) -> Self {
        match error.root() {
            Error::Trap { .. } | Error::Limit { .. } => Exit::Stopped,
            Error::InvalidParams { .. } | Error::UnknownTool { .. } | Error::Workspace { .. } => {
                Exit::Usage
            }
            _ => Exit::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// Why a command did not do what it was asked for.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    /// For programs, in kebab case.
    kind: &'static str,
    message: String,
    /// Whether the message may hold what a tool or a file says, and not the host alone.
    is_quoted: bool,
    /// What to do about it.
    hint: Option<String>,
}

impl Failure {
    pub fn new(exit: Exit, kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            exit,
            kind,
            message: message.into(),
            is_quoted: false,
            hint: None,
        }
    }

    /// The command line is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "usage", message)
    }

    /// The machine did not play along.
    pub fn host(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, "host", message)
    }

    /// Somebody pressed Ctrl-C.
    pub fn interrupted() -> Self {
        Self::new(Exit::Interrupted, "cancelled", "cancelled")
    }

    /// The message holds what a tool or a file says.
    pub fn quoting(mut self) -> Self {
        self.is_quoted = true;
        self
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds to the hint, where there is one.
    pub fn and_hint(mut self, hint: &str) -> Self {
        self.hint = Some(match self.hint {
            Some(first) => format!("{first}; {hint}"),
            None => hint.to_owned(),
        });
        self
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let mut error = json!({"kind": self.kind, "message": self.message});
        if let Some(hint) = &self.hint {
            error["hint"] = hint.as_str().into();
        }
        error
    }

    /// For a command that has more to say about it.
    #[cfg(feature = "author")]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    #[cfg(feature = "author")]
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// Says it in the output's format.
    pub fn report(self, out: &mut Output) -> Exit {
        if !out.is_json() {
            return self.report_on_stderr();
        }
        out.json(&json!({ "error": self.to_json() }));
        self.exit
    }

    /// Says it to people.
    pub fn report_on_stderr(&self) -> Exit {
        show_on_stderr(&match self.exit {
            // Who pressed Ctrl-C did not make an error.
            Exit::Interrupted => Block::from(Line::from(&*self.message)),
            _ if !self.is_quoted => Block::new().own_named(Role::Error, "error:", &self.message, 2),
            _ => Block::new().named(Role::Error, "error:", &self.message, 2),
        });
        self.advise()
    }

    /// Says it to people in the form of a block that tells more than the message does.
    pub fn show_on_stderr(&self, block: &Block) -> Exit {
        show_on_stderr(block);
        self.advise()
    }

    fn advise(&self) -> Exit {
        if let Some(hint) = &self.hint {
            say(&Block::new().own_named(Role::Hint, "hint:", hint, 2));
        }
        self.exit
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        let failure = Self::new(Exit::of(error), error.kind(), error.to_string()).quoting();
        match error.root() {
            Error::Limit { kind, .. } => match kind {
                LimitKind::CallTime => failure.with_hint("`--timeout SECONDS` gives it more time"),
                LimitKind::Memory => failure.with_hint("`--max-memory MIB` gives it more"),
                _ => failure,
            },
            Error::Trap { .. } => {
                failure.with_hint("the fault is the tool's; `-v` shows what it logged before")
            }
            Error::WorkspaceReplaced { .. } | Error::OtherWorkspace { .. } => failure.with_hint(
                "where it is the same workspace, moved, copied or restored, `--same-workspace` says so; else preview again there",
            ),
            Error::Workspace { .. } => {
                failure.with_hint("`--workspace DIR` names another directory")
            }
            Error::Store(error) | Error::NotRecorded { source: error, .. } => {
                match store_hint(error) {
                    Some(hint) => failure.with_hint(hint),
                    None => failure,
                }
            }
            _ => failure,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::from(&Error::Store(error))
    }
}

fn store_hint(error: &StoreError) -> Option<&'static str> {
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
        BackendErrorKind::Settings => "a store is a file, or postgres://USER@HOST/DATABASE",
        _ => "`-vv` shows what was tried; `--store` names another store",
    })
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        let hint = match &error {
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
            LoadError::NoTools { .. } => {
                "correct the tools' definitions, and build the plugin again"
            }
            _ => "`-vv` shows what was tried",
        };
        Self::new(Exit::NotLoaded, error.kind(), error.to_string())
            .quoting()
            .with_hint(hint)
    }
}
