//! Renders calls, decisions and actions for people as blocks of text, for a terminal or plain.
//!
//! A [`Block`] holds the content, and a [`Renderer`] turns it into a string, with or without
//! colours and line breaks at a given width. A block may contain any text from guests, stores and
//! errors: the output never contains terminal control sequences from it.
//!
//! ```
//! use airlock_model::error::Error;
//! use airlock_model::pending::Decision;
//! use airlock_render::{Block, Decided, Renderer};
//!
//! let error = Error::Tool { message: "`a.rs` has changed since".to_owned() };
//! let block = Block::decision(&Decided {
//!     label: Some("AST Edit: 2 replacements in 1 file"),
//!     outcome: Some(Err(&error)),
//!     ..Decided::new(Decision::Apply, "the diff is right")
//! });
//! let expected = "\
//! Failed: AST Edit: 2 replacements in 1 file
//!   reason to apply: the diff is right
//!   error: `a.rs` has changed since";
//! assert_eq!(block.to_string(), expected);
//!
//! // On a terminal:
//! println!("{}", Renderer::ansi().width(80).render(&block));
//! ```
//!
//! | to show | use |
//! | --- | --- |
//! | a call's result and the actions it pushed | [`Block::call`] |
//! | a decision and its outcome, in one block | [`Block::decision`] |
//! | any tool call of a model, including `resolve` | [`Block::tool_call`] |
//! | pending actions | [`Block::stacked`], [`Block::open`] |
//! | a store's record of an action | [`Block::record`] |
//! | past decisions | [`Block::audit`] |
//! | anything else next to these | [`Block::line`], [`Block::own_named`], [`escape_line`] |
//! | a command line that can be copied | [`shell::join`] |
//! | text of guests, models or files | [`Line::with_quoted`], [`Block::text`], [`Block::named`] |
//!
//! Rows that start with text that is not the host's own have a margin, `│`. This distinguishes them
//! from the host's own text.

mod action;
mod block;
mod call;
mod content;
mod decision;
mod denial;
mod diff;
mod effects;
mod escape;
mod grants;
mod item;
mod json;
mod layout;
pub mod shell;
#[cfg(test)]
mod tests;
mod theme;

pub use block::{Block, Line};
pub use decision::Decided;
pub use escape::escape_line;
pub use json::escape_json;
pub use layout::{cut, width};
pub use theme::{Role, Theme};

use item::Item;
use layout::{CONTINUED, LaidOutLine, MARGIN, Row, lay_out};

/// A renderer of blocks, with its colours and its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Renderer {
    theme: Theme,
    width: Option<usize>,
    max_rows: Option<usize>,
}

impl Renderer {
    /// Creates a renderer for plain text of any width.
    pub const fn plain() -> Self {
        Self::themed(Theme::plain())
    }

    /// Creates a renderer for a terminal, in the terminal's own colours, of any width.
    pub const fn ansi() -> Self {
        Self::themed(Theme::ansi())
    }

    /// Creates a renderer with these styles.
    pub const fn themed(theme: Theme) -> Self {
        Self {
            theme,
            width: None,
            max_rows: None,
        }
    }

    /// Sets the maximum number of columns in a row. A character that is wider, such as a wide one
    /// with a single column, has a separate row.
    pub const fn width(mut self, columns: usize) -> Self {
        self.width = Some(columns);
        self
    }

    /// Sets the maximum number of rows of each text, such as a preview. An additional row shows how
    /// many lines are left out. Use this for views that can be opened: a person should see the
    /// whole text before deciding.
    pub const fn max_rows(mut self, rows: usize) -> Self {
        self.max_rows = Some(rows);
        self
    }

    /// Returns the block's rows, separated by line breaks. The only control characters are these
    /// line breaks and the styles' (SGR) sequences, none of which continues after its row.
    pub fn render(&self, block: &Block) -> String {
        let mut page = Page {
            theme: &self.theme,
            text: String::new(),
            rows: 0,
        };
        for items in block
            .items
            .chunk_by(|one, next| one.is_preview() == next.is_preview())
        {
            let is_preview = items.first().is_some_and(Item::is_preview);
            match self.max_rows {
                Some(most) if is_preview => self.render_some(items, most, &mut page),
                _ => items.iter().flat_map(Item::lines).for_each(|line| {
                    self.render_line(&line, &mut page);
                }),
            }
        }
        page.text
    }

    fn render_line(&self, line: &Line, page: &mut Page) {
        let laid = lay_out(line, self.width);
        laid.rows.iter().for_each(|row| page.row(&laid, row));
    }

    fn render_some(&self, items: &[Item], most: usize, page: &mut Page) {
        let mut left = most;
        let count: usize = items.iter().map(Item::count).sum();
        for (index, line) in items.iter().flat_map(Item::lines).enumerate() {
            let laid = lay_out(&line, self.width);
            laid.rows
                .iter()
                .take(left)
                .for_each(|row| page.row(&laid, row));
            if laid.rows.len() > left {
                let more = match count - index {
                    1 => "… 1 more line".to_owned(),
                    count => format!("… {count} more lines"),
                };
                let more = Line::new()
                    .with_role(Role::Faint, more)
                    .indented(line.indent);
                return self.render_line(&more, page);
            }
            left -= laid.rows.len();
        }
    }
}

/// The text that is rendered so far.
struct Page<'a> {
    theme: &'a Theme,
    text: String,
    rows: usize,
}

impl Page<'_> {
    fn row(&mut self, laid: &LaidOutLine, row: &Row) {
        if self.rows > 0 {
            self.text.push('\n');
        }
        self.rows += 1;
        let is_empty = row.range.is_empty();
        if row.has_margin || !is_empty {
            self.text.extend(std::iter::repeat_n(' ', row.indent));
        }
        if row.has_margin {
            self.part(Role::Margin, MARGIN);
        }
        if row.has_margin && !is_empty {
            self.text.extend(std::iter::repeat_n(' ', 1 + row.inner));
        }
        if row.is_marked {
            self.part(Role::Faint, CONTINUED);
        }
        let mut start = row.range.start;
        let first = laid.roles.partition_point(|(end, _)| *end <= start);
        for (end, role) in &laid.roles[first..] {
            if start >= row.range.end {
                break;
            }
            let end = (*end).min(row.range.end);
            self.part(*role, &laid.text[start..end]);
            start = end;
        }
    }

    fn part(&mut self, role: Role, text: &str) {
        let style = self.theme.style(role);
        self.text.push_str(&format!("{style}{text}{style:#}"));
    }
}
