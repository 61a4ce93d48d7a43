//! The lines of a source: their positions and line ends.

use tree_sitter::Point;

/// Returns the end position of a text that starts at `start`.
pub(crate) fn after(start: Point, text: &str) -> Point {
    match text.rfind('\n') {
        None => Point::new(start.row, start.column + text.len()),
        Some(last) => Point::new(
            start.row + text.matches('\n').count(),
            text.len() - last - 1,
        ),
    }
}

/// A line counter for positions in ascending order.
pub(crate) struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
    line_start: usize,
}

impl<'a> Lines<'a> {
    pub fn of(text: &'a str) -> Self {
        let text = text.as_bytes();
        Self {
            text,
            at: 0,
            line: 1,
            line_start: 0,
        }
    }

    /// Returns the line of a byte, counted from 1.
    pub fn at(&mut self, at: usize) -> usize {
        let at = at.clamp(self.at, self.text.len());
        let passed = &self.text[self.at..at];
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        if let Some(end) = passed.iter().rposition(|byte| *byte == b'\n') {
            self.line_start = self.at + end + 1;
        }
        self.at = at;
        self.line
    }

    /// Returns the same position in the parser's form.
    pub fn point(&mut self, at: usize) -> Point {
        let row = self.at(at) - 1;
        Point::new(row, self.at - self.line_start)
    }
}

/// The line ends of a source.
pub(crate) enum LineEnds {
    Unix,
    /// A carriage return and a line feed at the end of every line.
    Windows,
}

impl LineEnds {
    pub fn of(code: &str) -> Self {
        let mut ends = code.match_indices('\n').peekable();
        let windows =
            ends.peek().is_some() && ends.all(|(at, _)| at > 0 && code.as_bytes()[at - 1] == b'\r');
        if windows {
            LineEnds::Windows
        } else {
            LineEnds::Unix
        }
    }

    pub fn as_str(&self) -> &'static str {
        match self {
            LineEnds::Unix => "\n",
            LineEnds::Windows => "\r\n",
        }
    }

    /// Returns the lines of a template, without their line ends.
    pub fn lines<'a>(&self, text: &'a str) -> impl Iterator<Item = &'a str> {
        let is_windows = matches!(self, LineEnds::Windows);
        text.split('\n').map(move |line| {
            if is_windows {
                line.strip_suffix('\r').unwrap_or(line)
            } else {
                line
            }
        })
    }
}
