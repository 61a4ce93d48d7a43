//! Results of tools.

use airlock_model::content::Content;

use super::{Block, Line, Role};

impl Block {
    /// Returns a block with a result's content, quoted. Texts are shown as they are, and any other
    /// content is described in a line.
    pub fn content(content: &[Content]) -> Self {
        content.iter().fold(Block::new(), Block::with_content)
    }

    fn with_content(self, content: &Content) -> Self {
        let described = match content {
            Content::Text { text } => return self.text(text),
            Content::Image { data, mime_type } => match data.len() {
                1 => format!("[image: {mime_type}, 1 byte]"),
                bytes => format!("[image: {mime_type}, {bytes} bytes]"),
            },
            Content::ResourceLink {
                uri,
                name,
                mime_type,
            } => match mime_type {
                Some(mime_type) => format!("[link: {name}, {uri}, {mime_type}]"),
                None => format!("[link: {name}, {uri}]"),
            },
            _ => "[content of a kind that can't be shown]".to_owned(),
        };
        let line = Line::new().with_quoted(Role::Faint, described);
        self.line(line.quoted().hanging(2))
    }
}
