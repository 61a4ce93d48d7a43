//! The errors of a call.

use std::error::Error as StdError;
use std::fmt;
use std::panic::Location;

/// An error of a tool.
///
/// The caller sees each kind differently, so choose by the reader: use [`Error::tool`] for a
/// sentence that tells the caller what to do better, and `?` for everything that the tool itself
/// did not expect.
///
/// Every [`std::error::Error`] converts into [`Error::Failed`], with its chain of sources.
/// [`Context`](crate::Context) adds what the tool was doing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// An error that the tool reports on purpose. The caller reads the message word for word.
    Tool(String),
    /// Any other error. On apply, the caller reads the message after `Apply failed: `.
    Failed(String),
    /// The end of a call that the tool stopped because it was cancelled.
    Cancelled,
}

impl Error {
    /// Returns an error with a sentence for the caller, who reads it word for word.
    pub fn tool(message: impl fmt::Display) -> Self {
        Self::Tool(message.to_string())
    }

    /// Returns an error that the caller did not cause.
    pub fn failed(message: impl fmt::Display) -> Self {
        Self::Failed(message.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(message) | Self::Failed(message) => f.write_str(message),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

// `Error` can't implement `std::error::Error` itself, or this would overlap with `From<T> for T`.
impl<E: StdError> From<E> for Error {
    #[track_caller]
    fn from(error: E) -> Self {
        let message = with_sources(&error);
        match absent(&message) {
            None => Self::Failed(message),
            Some(advice) => {
                // The standard library's message says neither what failed nor in which place.
                let at = Location::caller();
                Self::Failed(format!("{message} ({}:{}): {advice}", at.file(), at.line()))
            }
        }
    }
}

/// Returns advice for an error that comes from something a sandbox doesn't have. The standard
/// library's errors of these kinds have no number, so they are recognized by their messages.
fn absent(message: &str) -> Option<&'static str> {
    if message.contains("failed to lookup address information") {
        Some(
            "a tool has no network here: it gets what it needs as params, or as files of the workspace",
        )
    } else if message.contains("operation not supported on this platform") {
        Some("a tool starts no other programs and no threads here: it does all by itself")
    } else {
        None
    }
}

fn with_sources(error: &dyn StdError) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        // Many errors already end with their source.
        if !message.ends_with(&text) {
            message = format!("{message}: {text}");
        }
        source = cause.source();
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Outer(&'static str, std::io::Error);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl StdError for Outer {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(&self.1)
        }
    }

    #[test]
    fn what_a_sandbox_does_not_have_is_told_with_its_place_and_what_to_do() {
        let no_processes = "operation not supported on this platform";
        let line = line!() + 1;
        let error = Error::from(std::io::Error::other(no_processes));
        let expected = format!(
            "{no_processes} ({}:{line}): a tool starts no other programs and no threads here: it does all by itself",
            file!()
        );
        assert_eq!(error, Error::failed(expected));
    }

    #[test]
    fn a_foreign_error_is_failed_with_its_sources_said_once() {
        let check = |message, expected: &str| {
            let error = Outer(message, std::io::Error::other("disk on fire"));
            assert_eq!(Error::from(error), Error::failed(expected));
        };
        check("reading", "reading: disk on fire");
        check("reading: disk on fire", "reading: disk on fire");
    }
}
