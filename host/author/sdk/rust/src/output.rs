//! What a call gives back when it succeeded.

use serde::Serialize;

use crate::Content;
use crate::details::Details;

/// What a call gives back when it succeeded: content to read, and details for programs.
///
/// A text converts into an output of its own, so `Ok("Done.".into())` is a complete answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    pub(crate) content: Vec<Content>,
    pub(crate) details: Details,
}

impl Output {
    /// An output of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().with(text.into())
    }

    /// Adds a block behind those that are already there.
    #[must_use]
    pub fn with(mut self, content: impl Into<Content>) -> Self {
        self.content.push(content.into());
        self
    }

    /// Sets the details: a value for programs. It should fit the type given to
    /// [`Tool::output`](crate::Tool::output), where there is one.
    ///
    /// A value that has no JSON form, such as a map with keys that are no strings, makes the call
    /// fail.
    #[must_use]
    pub fn details(mut self, details: impl Serialize) -> Self {
        self.details = Details::of(&details);
        self
    }

    /// The blocks so far, in the order in which they are read.
    pub fn content(&self) -> &[Content] {
        &self.content
    }
}

impl<T: Into<String>> From<T> for Output {
    fn from(text: T) -> Self {
        Self::text(text)
    }
}
