//! Exit codes.

use std::process::ExitCode;

use airlock_host::Error;

/// The exit codes, as listed in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    /// The tool or the resolution reported an error, or the host failed.
    Failed,
    /// The command line or the tool's params are invalid.
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
            // Shells report 128 + SIGINT for a program that was interrupted.
            Exit::Interrupted => 130,
        }
    }

    /// Returns the exit code for a failed call or resolution.
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
