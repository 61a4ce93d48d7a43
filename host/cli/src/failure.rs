//! The failure of a command, and how to print it.

use std::borrow::Cow;

use airlock_desk::advice;
use airlock_host::Error;
use airlock_host::load::LoadError;
use airlock_host::reads::StaleFile;
use airlock_host::store::StoreError;
use airlock_render::{Block, Line, Role};

use crate::documents::error::{ErrorDocument, ErrorObject};
pub use crate::exit::Exit;
use crate::terminal::output::{Output, say, show_on_stderr};

/// The reason why a command failed.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    /// The kind for programs, in kebab case.
    kind: &'static str,
    message: String,
    /// True if the message may contain text from a tool or a file.
    is_quoted: bool,
    /// The next step for the user.
    hint: Option<String>,
    /// The stale files, if the failure is about them.
    files: Vec<StaleFile>,
}

impl Failure {
    pub fn new(exit: Exit, kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            exit,
            kind,
            message: message.into(),
            is_quoted: false,
            hint: None,
            files: Vec::new(),
        }
    }

    /// Returns a failure for an invalid command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "usage", message)
    }

    /// Returns a failure of the machine or its configuration.
    pub fn host(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, "host", message)
    }

    /// Returns the failure for Ctrl-C.
    pub fn interrupted() -> Self {
        Self::new(Exit::Interrupted, "cancelled", "cancelled")
    }

    /// Marks the message as containing text from a tool or a file.
    pub fn quoting(mut self) -> Self {
        self.is_quoted = true;
        self
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Appends to the hint, or sets it if there is none.
    pub fn and_hint(mut self, hint: &str) -> Self {
        self.hint = Some(match self.hint {
            Some(first) => format!("{first}; {hint}"),
            None => hint.to_owned(),
        });
        self
    }

    /// Returns the error object for programs.
    pub fn object(&self) -> ErrorObject<'_> {
        ErrorObject {
            files: &self.files,
            hint: self.hint.as_deref(),
            kind: self.kind,
            message: &self.message,
        }
    }

    /// Returns the kind, for commands that add details.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the message, for commands that name its origin.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the next step for the user.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns the exit code of the command.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// Reports the failure in the output's format.
    pub fn report(self, out: &mut Output) -> Exit {
        if !out.is_json() {
            return self.report_on_stderr();
        }
        out.json(&ErrorDocument {
            error: self.object(),
            fit: None,
        });
        self.exit
    }

    /// Reports the failure to people.
    pub fn report_on_stderr(&self) -> Exit {
        show_on_stderr(&match self.exit {
            // Pressing Ctrl-C is not an error.
            Exit::Interrupted => Block::from(Line::from(&*self.message)),
            _ if !self.is_quoted => Block::new().own_named(Role::Error, "error:", &self.message, 2),
            _ => Block::new().named(Role::Error, "error:", &self.message, 2),
        });
        self.advise()
    }

    /// Reports the failure to people with a block that has more details than the message.
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
        let mut failure = Self::new(Exit::of(error), error.kind(), error.to_string()).quoting();
        if let Error::Stale { files, .. } = error.root() {
            failure.files = files.clone();
        }
        match advice::about(error) {
            Some(advice) => failure.with_hint(advice),
            None => failure,
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

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        airlock_desk::Error::from(error).into()
    }
}

impl From<airlock_desk::Error> for Failure {
    fn from(error: airlock_desk::Error) -> Self {
        use airlock_desk::Error;

        let exit = match &error {
            Error::Host(error) | Error::Advised { error, .. } => Exit::of(error),
            Error::Load(_)
            | Error::ToolsFile(_)
            | Error::UnknownPlugin { .. }
            | Error::NotInstalled { .. }
            | Error::NotFetched { .. }
            | Error::Folder { .. }
            | Error::Differs { .. }
            | Error::NotSigned(_) => Exit::NotLoaded,
            Error::UnknownStore { .. }
            | Error::EmptyStorePath
            | Error::Configuration(_)
            | Error::SeveralActions { .. }
            | Error::LeftOut { .. } => Exit::Usage,
            _ => Exit::Failed,
        };
        Self {
            exit,
            kind: error.kind(),
            message: error.to_string(),
            is_quoted: error.is_quoting(),
            hint: error.advice().map(Cow::into_owned),
            files: Vec::new(),
        }
    }
}
