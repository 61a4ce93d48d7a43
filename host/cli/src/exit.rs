//! Exit codes.

use std::process::ExitCode;

use airlock_host::Error;

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
