//! Context for errors: what the tool was doing.

use std::fmt::Display;

use crate::Error;

/// Adds context to an error: what the tool was doing.
///
/// ```
/// use airlock_tool::{Context, Error};
///
/// fn count(text: &str) -> Result<u32, Error> {
///     text.parse().with_context(|| format!("`{text}` as a count"))
/// }
/// assert_eq!(count("x"), Err(Error::failed("`x` as a count: invalid digit found in string")));
/// ```
///
/// An [`Error::Tool`] keeps its kind, with the context before its message. [`Error::Cancelled`]
/// doesn't change.
pub trait Context<T> {
    /// Puts `context` and a colon before the error's message.
    ///
    /// # Errors
    /// Returns the original error, with its context.
    fn context(self, context: impl Display) -> Result<T, Error>;

    /// Does the same as [`context`](Self::context), with a text that is made only on an error.
    ///
    /// # Errors
    /// Returns the original error, with its context.
    fn with_context<C: Display>(self, context: impl FnOnce() -> C) -> Result<T, Error>;
}

impl<T, E: Into<Error>> Context<T> for Result<T, E> {
    fn context(self, context: impl Display) -> Result<T, Error> {
        self.with_context(|| context)
    }

    fn with_context<C: Display>(self, context: impl FnOnce() -> C) -> Result<T, Error> {
        self.map_err(|error| match error.into() {
            Error::Tool(message) => Error::Tool(format!("{}: {message}", context())),
            Error::Failed(message) => Error::Failed(format!("{}: {message}", context())),
            Error::Cancelled => Error::Cancelled,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_keeps_the_kind_of_the_error() {
        let check =
            |before: Error, after| assert_eq!(Err::<(), _>(before).context("here"), Err(after));
        check(Error::tool("no"), Error::tool("here: no"));
        check(Error::failed("no"), Error::failed("here: no"));
        check(Error::Cancelled, Error::Cancelled);
    }
}
