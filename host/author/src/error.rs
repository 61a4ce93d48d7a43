//! Errors of creating and building projects.

use airlock_host::load::LoadError;

/// The reason why a project could not be created or built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error with its message.
    #[error("{error:#}")]
    Told {
        /// The kind of error.
        kind: ErrorKind,
        /// The error with its causes.
        error: anyhow::Error,
        /// Advice on how to fix it.
        advice: Option<String>,
    },
    /// A host can't load the component.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A host can't load the component, and the author can fix that.
    #[error("{error}")]
    Misbuilt {
        /// The reason.
        error: LoadError,
        /// Advice on how to fix it, specific to the project's language.
        advice: &'static str,
    },
    /// The engine that checks the component could not be created.
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
    /// The request can't be carried out, or the project's manifest is invalid.
    Usage,
    /// The machine or its configuration is at fault.
    Machine,
    /// A build tool failed.
    BuildFailed,
    /// A required tool is not installed.
    MissingTool,
    /// A host would leave out some of the plugin's tools.
    BadDefinitions,
}

impl ErrorKind {
    /// Returns the machine-readable name, in kebab case.
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

    /// Adds advice. Errors of other variants provide their own.
    pub(crate) fn with_advice(mut self, message: impl Into<String>) -> Self {
        if let Self::Told { advice, .. } = &mut self {
            *advice = Some(message.into());
        }
        self
    }
}
