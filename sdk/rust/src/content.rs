//! The blocks that an output is made of.

/// A block of an [`Output`](crate::Output), as a model or a person reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Plain text or Markdown.
    Text(String),
    /// A picture.
    Image {
        /// The raw bytes, not base64.
        data: Vec<u8>,
        /// A media type, for example `image/png`.
        mime_type: String,
    },
    /// A pointer to a resource instead of the resource itself.
    Link(Link),
}

/// A reference to something that the reader may fetch on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// An absolute URI, for example `file:///workspace/report.html`.
    pub uri: String,
    /// The resource's name in a list: one line.
    pub name: String,
    /// The media type of the resource, if known.
    pub mime_type: Option<String>,
}

impl<T: Into<String>> From<T> for Content {
    fn from(text: T) -> Self {
        Self::Text(text.into())
    }
}

impl From<Link> for Content {
    fn from(link: Link) -> Self {
        Self::Link(link)
    }
}
