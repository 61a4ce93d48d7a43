//! The result of a successful call.

use serde::Serialize;

use crate::Content;
use crate::details::Details;

/// The result of a successful call: content to read, and details for programs.
///
/// A text converts into an output, so `Ok("Done.".into())` is a complete answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    pub(crate) content: Vec<Content>,
    pub(crate) details: Details,
}

impl Output {
    /// Returns an output with one block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().with(text.into())
    }

    /// Adds a block after the existing ones.
    #[must_use]
    pub fn with(mut self, content: impl Into<Content>) -> Self {
        self.content.push(content.into());
        self
    }

    /// Sets the details: a value for programs. It should fit the type given to
    /// [`Tool::output`](crate::Tool::output), if there is one.
    ///
    /// The call fails if the value has no JSON form, such as a map with keys that are not strings.
    #[must_use]
    pub fn details(mut self, details: impl Serialize) -> Self {
        self.details = Details::of(&details);
        self
    }

    /// Returns the blocks so far, in reading order.
    pub fn content(&self) -> &[Content] {
        &self.content
    }
}

impl<T: Into<String>> From<T> for Output {
    fn from(text: T) -> Self {
        Self::text(text)
    }
}
