//! Why something could not be made or built.

use airlock_host::load::LoadError;

/// Why something could not be made or built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is told in full.
    #[error("{message}")]
    Told {
        /// What it is about.
        kind: ErrorKind,
        /// What is wrong.
        message: String,
        /// What to do about it.
        advice: Option<String>,
    },
    /// What was built is nothing that a host loads.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// There is no engine to check on what was built.
    #[error(transparent)]
    Engine(#[from] airlock_host::Error),
    /// The work was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// What an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What was asked for can't be done, or what a project says of itself is wrong.
    Usage,
    /// The machine did not play along.
    Machine,
    /// A tool of the language's did not make what it should.
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
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::Told {
            kind,
            message: message.into(),
            advice: None,
        }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    pub(crate) fn machine(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Machine, message)
    }

    /// Errors of others tell themselves what to do.
    pub(crate) fn with_advice(mut self, told: impl Into<String>) -> Self {
        if let Self::Told { advice, .. } = &mut self {
            *advice = Some(told.into());
        }
        self
    }
}
