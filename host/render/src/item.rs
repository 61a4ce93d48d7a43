//! The parts of a block. A line of text becomes a [`Line`] only when rendered, because results can
//! have millions of lines.

use std::borrow::Cow;

use super::block::{Flow, Line, Part};
use super::{Role, diff};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Line(Line),
    Text(Text),
}

/// Text that is long or not the host's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    text: String,
    /// The roles of the lines in unified diffs; empty without diffs.
    roles: Vec<Option<Role>>,
    keeps_line_ends: bool,
    /// The number of lines that are shown.
    count: usize,
    /// The beginnings of the first line and of all others.
    first: Line,
    rest: Line,
    /// True if lines may be left out.
    is_preview: bool,
    /// True if rows that begin with this text have the margin.
    is_quoted: bool,
}

impl Text {
    /// Creates a preview without trailing empty lines.
    pub fn preview(text: &str) -> Self {
        let roles = diff::roles(text);
        let is_shown = |(index, line): (usize, &str)| {
            let is_of_diff = roles.get(index).is_some_and(Option::is_some);
            is_of_diff || !without_return(line).is_empty()
        };
        let lines = text.split('\n').enumerate();
        let shown = lines.filter(|it| is_shown(*it)).last();
        let begins = Line::new().quoted();
        Self {
            keeps_line_ends: diff::mixes_line_ends(text, &roles),
            count: shown.map_or(0, |(index, _)| index + 1),
            text: text.to_owned(),
            roles,
            first: begins.clone(),
            rest: begins,
            is_preview: true,
            is_quoted: false,
        }
    }

    /// Creates text that follows the beginning of a first line.
    pub fn behind(first: Line, rest: Line, text: &str, is_quoted: bool) -> Self {
        let text = text.trim_end_matches(['\r', '\n']);
        Self {
            text: text.to_owned(),
            roles: Vec::new(),
            keeps_line_ends: false,
            count: text.split('\n').count(),
            first,
            rest,
            is_preview: false,
            is_quoted,
        }
    }

    fn lines(&self) -> impl Iterator<Item = Line> {
        let lines = self.text.split('\n').take(self.count).enumerate();
        lines.map(|(index, text)| {
            let role = self.roles.get(index).copied().flatten();
            let shown = match role {
                Some(_) if self.keeps_line_ends => text,
                _ => without_return(text),
            };
            let begins = if index == 0 { &self.first } else { &self.rest };
            let mut line = begins.clone();
            line.flow = if role.is_some() {
                Flow::Diff
            } else {
                Flow::Text
            };
            line.parts.push(Part {
                role: role.unwrap_or(Role::Plain),
                text: shown.to_owned(),
                is_quoted: self.is_quoted,
            });
            line
        })
    }
}

fn without_return(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

impl Item {
    /// Returns the number of lines.
    pub fn count(&self) -> usize {
        match self {
            Self::Line(_) => 1,
            Self::Text(text) => text.count,
        }
    }

    /// Returns true if the item belongs to a text that may be shown in part.
    pub fn is_preview(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_preview)
    }

    pub fn lines(&self) -> Box<dyn Iterator<Item = Cow<'_, Line>> + '_> {
        match self {
            Self::Line(line) => Box::new(std::iter::once(Cow::Borrowed(line))),
            Self::Text(text) => Box::new(text.lines().map(Cow::Owned)),
        }
    }

    /// Changes each line.
    pub fn change(&mut self, change: impl Fn(&mut Line)) {
        match self {
            Self::Line(line) => change(line),
            Self::Text(text) => {
                change(&mut text.first);
                change(&mut text.rest);
            }
        }
    }
}
