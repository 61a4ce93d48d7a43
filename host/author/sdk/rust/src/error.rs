//! Why a call did not succeed.

use std::error::Error as StdError;
use std::fmt;
use std::panic::Location;

/// Why a tool did not do what it was asked to.
///
/// The three cases reach the caller differently, so choose by who is to read it: [`Error::tool`]
/// for a sentence that tells the caller what to do better, `?` for everything that the tool itself
/// did not expect.
///
/// Every [`std::error::Error`] converts into [`Error::Failed`], with its chain of sources;
/// [`Context`](crate::Context) adds what was being done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Said by the tool on purpose: reaches the caller word for word.
    Tool(String),
    /// Anything else that went wrong. On apply, the caller reads it behind `Apply failed: `.
    Failed(String),
    /// The tool noticed that it was cancelled, and stopped.
    Cancelled,
}

impl Error {
    /// A sentence for the caller, which reaches it word for word.
    pub fn tool(message: impl fmt::Display) -> Self {
        Self::Tool(message.to_string())
    }

    /// Something that went wrong without the caller's doing.
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
                // What the standard library says of these names neither what nor where.
                let at = Location::caller();
                Self::Failed(format!("{message} ({}:{}): {advice}", at.file(), at.line()))
            }
        }
    }
}

/// What to do about an error of something that a sandbox doesn't have, by the words of the standard
/// library, whose errors of these kinds have no number.
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
