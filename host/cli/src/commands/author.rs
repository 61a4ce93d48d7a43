//! The commands for authors of tools: `new`, `build` and `test`. Also the report of `inspect` on a
//! component that doesn't fit.

pub mod build;
pub mod misfit;
pub mod new;
pub mod test;

use std::sync::{Mutex, MutexGuard, PoisonError};

use airlock_author::build::Reporter;
use airlock_author::{Error, ErrorKind};
use airlock_render::Block;

use crate::failure::{Exit, Failure};
use crate::terminal::output::say;
use crate::terminal::progress::{Progress, ProgressGuard};

/// A reporter that shows a build's steps and the output of the language's tools on standard error.
struct StderrReporter<'a> {
    progress: &'a Progress,
    shown: Mutex<Option<ProgressGuard>>,
}

impl<'a> StderrReporter<'a> {
    fn new(progress: &'a Progress) -> Self {
        Self {
            progress,
            shown: Mutex::default(),
        }
    }

    fn progress(&self) -> MutexGuard<'_, Option<ProgressGuard>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reporter for StderrReporter<'_> {
    fn began(&self, what: &str) {
        *self.progress() = Some(self.progress.begin(what));
    }

    fn ended(&self) {
        self.progress().take();
    }

    fn print_output(&self, text: &str) {
        say(&Block::new().text(text));
    }

    fn wants_traces(&self) -> bool {
        self.progress.is_verbose()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Told {
                kind,
                error,
                advice,
            } => {
                let exit = match kind {
                    ErrorKind::Usage => Exit::Usage,
                    ErrorKind::BadDefinitions => Exit::NotLoaded,
                    _ => Exit::Failed,
                };
                let failure = Self::new(exit, kind.name(), format!("{error:#}"));
                let failure = match kind {
                    // The message comes from a compiler or a plugin.
                    ErrorKind::BuildFailed | ErrorKind::BadDefinitions => failure.quoting(),
                    _ => failure,
                };
                match advice {
                    Some(advice) => failure.with_hint(advice),
                    None => failure,
                }
            }
            Error::Load(error) => error.into(),
            Error::Misbuilt { error, advice } => Self::from(error).with_hint(advice),
            Error::Engine(error) => error.into(),
            Error::Cancelled => Self::interrupted(),
            other => Self::host(other.to_string()),
        }
    }
}
