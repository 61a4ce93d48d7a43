//! Why a project could not be created or built.

use airlock_host::load::LoadError;

/// Why a project could not be created or built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error with its message.
    #[error("{error:#}")]
    Told {
        /// What kind of error it is.
        kind: ErrorKind,
        /// What is wrong, with its causes.
        error: anyhow::Error,
        /// What to do about it.
        advice: Option<String>,
    },
    /// A host can't load what was built.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A host can't load what was built, and its author can do something about it.
    #[error("{error}")]
    Misbuilt {
        /// Why not.
        error: LoadError,
        /// What to do about it, in the project's language.
        advice: &'static str,
    },
    /// The engine that checks what was built could not be made.
    #[error(transparent)]
    Engine(#[from] airlock_host::Error),
    /// The work was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// A kind of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request can't be carried out, or the project's manifest is wrong.
    Usage,
    /// The machine or its configuration is at fault.
    Machine,
    /// A build tool failed.
    BuildFailed,
    /// Something has to be installed first.
    MissingTool,
    /// A host would leave tools of the plugin out.
    BadDefinitions,
}

impl ErrorKind {
    /// For programs, in kebab case.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Usage => "usage",
            ErrorKind::Machine => "host",
            ErrorKind::BuildFailed => "build-failed",
            ErrorKind::MissingTool => "missing-tool",
            ErrorKind::BadDefinitions => "bad-definitions",
        }
    }
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, error: anyhow::Error) -> Self {
        Self::Told {
            kind,
            error,
            advice: None,
        }
    }

    pub(crate) fn usage(error: anyhow::Error) -> Self {
        Self::new(ErrorKind::Usage, error)
    }

    pub(crate) fn machine(error: anyhow::Error) -> Self {
        Self::new(ErrorKind::Machine, error)
    }

    /// Errors of others tell themselves what to do.
    pub(crate) fn with_advice(mut self, told: impl Into<String>) -> Self {
        if let Self::Told { advice, .. } = &mut self {
            *advice = Some(told.into());
        }
        self
    }
}
