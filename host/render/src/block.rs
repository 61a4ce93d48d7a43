//! Text with roles for its parts, independent of the output.

use std::fmt;

use super::item::{Item, Text};
use super::{Renderer, Role};

/// A group of lines that belong together.
///
/// Some of the text is the host's own, and some is *quoted*: it comes from a guest, a model or a
/// file. Each row that begins with quoted text has a margin, `│ `. No row of the host's own text
/// begins with it, so quoted text can't pass for the host's.
///
/// A block may contain any text. Rendering, and only rendering, escapes everything that could
/// control a terminal or mislead a reader. Displays as plain text of unlimited width.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    pub(super) items: Vec<Item>,
}

/// A line, rendered as several rows if it is wider than the output. A line break in its text is
/// shown as an escape.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pub(super) parts: Vec<Part>,
    /// The indent of the first row, in columns.
    pub(super) indent: usize,
    /// The additional indent of all other rows.
    pub(super) hang: usize,
    pub(super) flow: Flow,
    /// The number of leading parts that stay in one row with the beginning of the following text,
    /// if there is room.
    pub(super) joined: usize,
    /// True if every row has the margin.
    pub(super) is_quoted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub role: Role,
    pub text: String,
    /// True if rows that begin with this part have the margin.
    pub is_quoted: bool,
}

/// The way a line is broken into rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Flow {
    /// The host's words. Tabs are shown as escapes.
    #[default]
    Words,
    /// Text. Tabs become spaces, breaks are between words, and indents are kept.
    Text,
    /// A line of a diff, broken at any character.
    Diff,
}

impl Line {
    /// Creates an empty line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the host's own text.
    pub fn with(self, text: impl Into<String>) -> Self {
        self.with_role(Role::Plain, text)
    }

    /// Adds the host's own text, in a role.
    pub fn with_role(mut self, role: Role, text: impl Into<String>) -> Self {
        self.parts.push(Part {
            role,
            text: text.into(),
            is_quoted: false,
        });
        self
    }

    /// Adds quoted text, in a role.
    pub fn with_quoted(mut self, role: Role, text: impl Into<String>) -> Self {
        self.parts.push(Part {
            role,
            text: text.into(),
            is_quoted: true,
        });
        self
    }

    /// Adds the margin to all of its rows.
    pub fn quoted(mut self) -> Self {
        self.is_quoted = true;
        self
    }

    /// Indents the line by this number of columns.
    pub fn indented(mut self, columns: usize) -> Self {
        self.indent += columns;
        self
    }

    /// Indents all rows but the first by this number of columns.
    pub fn hanging(mut self, columns: usize) -> Self {
        self.hang += columns;
        self
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Line::new().with(text)
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Line::new().with(text)
    }
}

impl From<fmt::Arguments<'_>> for Line {
    fn from(text: fmt::Arguments<'_>) -> Self {
        Line::new().with(text.to_string())
    }
}

impl Block {
    /// Creates a block without lines.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns true if the block has no lines.
    pub fn is_empty(&self) -> bool {
        self.items.iter().all(|item| item.count() == 0)
    }

    /// Adds a line.
    pub fn line(mut self, line: impl Into<Line>) -> Self {
        self.items.push(Item::Line(line.into()));
        self
    }

    /// Adds the lines of another block.
    pub fn block(mut self, other: Block) -> Self {
        self.items.extend(other.items);
        self
    }

    /// Adds quoted text of any number of lines, without trailing empty lines. Recognizes unified
    /// diffs by the shape of their hunks.
    pub fn text(mut self, text: &str) -> Self {
        self.items.push(Item::Text(Text::preview(text)));
        self
    }

    /// Adds a name, followed by quoted text of any number of lines. All rows but the first are
    /// indented by `hang` columns.
    pub fn named(self, role: Role, name: &str, text: &str, hang: usize) -> Self {
        self.named_lines((role, name), text, hang, true)
    }

    /// Adds a name, followed by the host's own text. All rows but the first are indented by `hang`
    /// columns.
    pub fn own_named(self, role: Role, name: &str, text: &str, hang: usize) -> Self {
        self.named_lines((role, name), text, hang, false)
    }

    /// Adds a fact: a name, padded to this number of columns, and a quoted value.
    pub fn fact(self, columns: usize, name: &str, text: &str) -> Self {
        let name = format!("{name:columns$}");
        let fact = Block::new().named(Role::Faint, &name, text, columns + 1);
        self.block(fact.indented(2))
    }

    /// Adds a fact whose value is the host's own text.
    pub fn own_fact(self, columns: usize, name: &str, text: &str) -> Self {
        let name = format!("{name:columns$}");
        let fact = Block::new().own_named(Role::Faint, &name, text, columns + 1);
        self.block(fact.indented(2))
    }

    fn named_lines(
        mut self,
        (role, name): (Role, &str),
        text: &str,
        hang: usize,
        is_quoted: bool,
    ) -> Self {
        let first = Line {
            joined: 2,
            ..Line::new().with_role(role, name).with(" ").hanging(hang)
        };
        let rest = Line {
            is_quoted,
            ..Line::new().indented(hang)
        };
        let text = Text::behind(first, rest, text, is_quoted);
        self.items.push(Item::Text(text));
        self
    }

    /// Adds the margin to all rows.
    pub fn quoted(mut self) -> Self {
        for item in &mut self.items {
            item.change(|line| line.is_quoted = true);
        }
        self
    }

    /// Indents the block by this number of columns.
    pub fn indented(mut self, columns: usize) -> Self {
        for item in &mut self.items {
            item.change(|line| line.indent += columns);
        }
        self
    }
}

impl From<Line> for Block {
    fn from(line: Line) -> Self {
        Block {
            items: vec![Item::Line(line)],
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Renderer::plain().render(self))
    }
}
