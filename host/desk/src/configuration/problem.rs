//! Problems in a file, and their positions.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

/// A problem in a file. Displays as `FILE:LINE:COLUMN: MESSAGE`, with the line below it if there is
/// one. The text may quote the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Problem {
    /// The position in the file; `None` if the problem concerns all of it.
    #[serde(flatten)]
    pub place: Option<Position>,
    /// The problem, as a clause.
    pub message: String,
    /// The file.
    pub path: PathBuf,
}

/// A position in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Position {
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The text of the line, or a part of it.
    excerpt: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The number of characters of the excerpt before the wrong part.
    #[serde(skip)]
    before: usize,
    /// The number of wrong characters.
    #[serde(skip)]
    length: usize,
}

/// The maximum numbers of characters of a line that are shown, before the position and from there
/// on.
const EXCERPT_CHARS: (usize, usize) = (60, 60);

impl Problem {
    /// Creates a problem of a whole file.
    pub fn of_file(path: &Path, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            place: None,
            message: message.into(),
        }
    }

    /// Creates a problem at these bytes of the file's text.
    pub fn at(
        path: &Path,
        text: &str,
        span: Option<Range<usize>>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            place: span.map(|span| Position::of(text, span)),
            ..Self::of_file(path, message)
        }
    }
}

impl Position {
    fn of(text: &str, span: Range<usize>) -> Self {
        let start = text.floor_char_boundary(span.start.min(text.len()));
        let end = text
            .floor_char_boundary(span.end.min(text.len()))
            .max(start);
        let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let before: Vec<char> = text[begin..start].chars().collect();
        let left = before.len().saturating_sub(EXCERPT_CHARS.0);
        let rest = text[start..line_end].trim_end_matches('\r');
        let shown = before[left..].iter().copied();
        let excerpt: String = shown.chain(rest.chars().take(EXCERPT_CHARS.1)).collect();
        let wrong = text[start..end.min(line_end)].chars();
        Self {
            line: text[..start].matches('\n').count() + 1,
            column: before.len() + 1,
            excerpt,
            before: before.len() - left,
            length: wrong.take(EXCERPT_CHARS.1).count().max(1),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let Some(place) = &self.place else {
            return write!(f, "{path}: {}", self.message);
        };
        let (line, message) = (place.line.to_string(), &self.message);
        writeln!(f, "{path}:{line}:{}: {message}", place.column)?;
        // A tab counts as one column, whatever a terminal makes of it.
        let excerpt = place.excerpt.replace('\t', " ");
        writeln!(f, "{line} | {excerpt}")?;
        let (gutter, before) = (line.len(), place.before);
        write!(f, "{:gutter$} | {:before$}", "", "")?;
        write!(f, "{}", "^".repeat(place.length))
    }
}

/// Problems in the order of the files and lines; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            match at {
                0 => write!(f, "{problem}")?,
                _ => write!(f, "\n{problem}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_shown_with_a_mark_below_what_is_wrong() {
        let text = "a = 1\n\tdécide = 'me'\r\nb = 2";
        let start = text.find("'me'").unwrap();
        let problem = Problem::at(Path::new("f"), text, Some(start..start + 4), "no");
        let expected = "f:2:11: no\n2 |  décide = 'me'\n  |           ^^^^";
        assert_eq!(problem.to_string(), expected);
    }

    #[test]
    fn of_a_long_line_a_part_is_shown_and_no_span_panics() {
        let text = format!("a = '{}'", "é".repeat(100_000));
        let problem = Problem::at(Path::new("f"), &text, Some(100_001..200_000), "no");
        assert!(problem.to_string().len() < 600, "{problem}");
        for (start, end) in [(0, 0), (6, 6), (usize::MAX, 0), (9, 3)] {
            let problem = Problem::at(Path::new("f"), "a = é\n\n", Some(start..end), "no");
            assert!(problem.to_string().contains('^'));
        }
    }
}
