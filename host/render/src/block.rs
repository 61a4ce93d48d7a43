//! Text with the roles of its parts, before it is known where it will be shown.

use std::fmt;

use super::item::{Item, Text};
use super::{Renderer, Role};

/// Some lines that belong together.
///
/// Some of their text is the host's own, and some is *quoted*: what a guest, a model or a file
/// says. Each row that begins with quoted text has a margin, `│ `, which no row of the host's own
/// begins with, so that quoted text can't pass for the host's.
///
/// What is put into it may hold anything: all that could drive a terminal or mislead a reader is
/// escaped when the block is rendered, there and nowhere else. Displays as plain text, without a
/// width.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    pub(super) items: Vec<Item>,
}

/// A line, which has several rows where it is wider than what it is shown on. A line break within
/// its text is shown as an escape.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pub(super) parts: Vec<Part>,
    /// Columns before the first row.
    pub(super) indent: usize,
    /// More of them before all other rows.
    pub(super) hang: usize,
    pub(super) flow: Flow,
    /// How many of the first parts stay in one row with the first letters of what follows, as far
    /// as there is room.
    pub(super) joined: usize,
    /// Whether each of its rows has the margin, whatever it begins with.
    pub(super) is_quoted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub role: Role,
    pub text: String,
    /// Whether rows that begin with it have the margin.
    pub is_quoted: bool,
}

/// How a line becomes rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Flow {
    /// Words of ours, in which a tab is shown as an escape.
    #[default]
    Words,
    /// Text in which a tab is so many spaces. It is broken between words, and what is indented
    /// stays so.
    Text,
    /// A line of a diff, which is broken wherever it must be.
    Diff,
}

impl Line {
    /// An empty line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds text of the host's own.
    pub fn with(self, text: impl Into<String>) -> Self {
        self.with_role(Role::Plain, text)
    }

    /// Adds text of the host's own, in a role.
    pub fn with_role(mut self, role: Role, text: impl Into<String>) -> Self {
        self.parts.push(Part {
            role,
            text: text.into(),
            is_quoted: false,
        });
        self
    }

    /// Adds text that is not the host's own, in a role.
    pub fn with_quoted(mut self, role: Role, text: impl Into<String>) -> Self {
        self.parts.push(Part {
            role,
            text: text.into(),
            is_quoted: true,
        });
        self
    }

    /// Gives each of its rows the margin.
    pub fn quoted(mut self) -> Self {
        self.is_quoted = true;
        self
    }

    /// Moves it to the right by so many columns.
    pub fn indented(mut self, columns: usize) -> Self {
        self.indent += columns;
        self
    }

    /// Moves all rows but the first to the right by so many columns.
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
    /// Without any lines.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there are no lines.
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

    /// Quotes text of any number of lines, without the empty ones at its end. Unified diffs in it
    /// are known by the shape of their hunks.
    pub fn text(mut self, text: &str) -> Self {
        self.items.push(Item::Text(Text::preview(text)));
        self
    }

    /// Adds a name, and behind it quoted text of any number of lines. All rows but the first are
    /// indented by `hang` columns.
    pub fn named(self, role: Role, name: &str, text: &str, hang: usize) -> Self {
        self.named_lines((role, name), text, hang, true)
    }

    /// Adds a name, and behind it text of the host's own. All rows but the first are indented by
    /// `hang` columns.
    pub fn own_named(self, role: Role, name: &str, text: &str, hang: usize) -> Self {
        self.named_lines((role, name), text, hang, false)
    }

    /// Adds a fact: its name in a column of so many, and what is known, quoted.
    pub fn fact(self, columns: usize, name: &str, text: &str) -> Self {
        let name = format!("{name:columns$}");
        let fact = Block::new().named(Role::Faint, &name, text, columns + 1);
        self.block(fact.indented(2))
    }

    /// Adds a fact that the host knows by itself.
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

    /// Gives each of its rows the margin.
    pub fn quoted(mut self) -> Self {
        for item in &mut self.items {
            item.change(|line| line.is_quoted = true);
        }
        self
    }

    /// Moves all of it to the right by so many columns.
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
