//! The format of patches that begin with `*** Begin Patch`.

use crate::hunk::{Hunk, Line};
use crate::patch::FileChange;

const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

/// The lines of which a patch in this format has at least one.
pub(crate) const MARKS: [&str; 4] = [BEGIN, ADD, DELETE, UPDATE];

/// Reads the lines of a patch.
///
/// # Errors
/// Returns the problem, with the line where it is.
pub(crate) fn parse(lines: &[&str]) -> Result<Vec<FileChange>, String> {
    let end = lines.iter().rposition(|line| line.trim() == END);
    let mut rest = Rest {
        lines: &lines[..end.unwrap_or(lines.len())],
        at: 0,
    };
    let mut changes = Vec::new();
    while let Some(line) = rest.next() {
        let mark = line.trim();
        let path = |start: &str| mark.strip_prefix(start).map(|path| path.trim().to_owned());
        if mark == BEGIN || mark.is_empty() {
            continue;
        }
        if let Some(path) = path(ADD) {
            let contents = rest.contents()?;
            changes.push(FileChange::Add { path, contents });
        } else if let Some(path) = path(DELETE) {
            changes.push(FileChange::Delete { path });
        } else if let Some(path) = path(UPDATE) {
            let to = rest.peek().and_then(|line| line.trim().strip_prefix(MOVE));
            let to = to.map(|to| to.trim().to_owned());
            if to.is_some() {
                rest.at += 1;
            }
            let hunks = rest.hunks()?;
            if hunks.is_empty() && to.is_none() {
                return Err(format!("The update of `{path}` has no changes."));
            }
            changes.push(FileChange::Update { path, to, hunks });
        } else {
            return Err(rest.problem("`*** Add File: PATH`, `*** Delete File: PATH`, `*** Update File: PATH` or `*** End Patch` was expected"));
        }
    }
    Ok(changes)
}

/// The lines that are still to be read.
struct Rest<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Rest<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.at += 1;
        Some(line)
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    /// Returns a problem with the line that was read last.
    fn problem(&self, expected: &str) -> String {
        let line = self.lines[self.at - 1];
        format!("In line {}, {expected}: {line}", self.at)
    }

    /// Returns the next line if it isn't the start of another part.
    fn within(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        let mark = line.trim();
        if [BEGIN, END, ADD, DELETE, UPDATE]
            .iter()
            .any(|it| mark.starts_with(it))
            && !line.starts_with(['+', '-', ' '])
        {
            return None;
        }
        self.next()
    }

    /// Reads the contents of a new file.
    fn contents(&mut self) -> Result<String, String> {
        let mut contents = String::new();
        let mut is_first = true;
        while let Some(line) = self.within() {
            if let Some(text) = line.strip_prefix('+') {
                contents.push_str(text);
                contents.push('\n');
            } else if line.trim().is_empty() && self.next_text().starts_with("***") {
                break;
            } else if !(is_first && line.starts_with("@@")) {
                return Err(self.problem("each line of a new file begins with `+`"));
            }
            is_first = false;
        }
        Ok(contents)
    }

    /// Returns the next line that isn't blank.
    fn next_text(&self) -> &'a str {
        let next = self.lines[self.at..]
            .iter()
            .find(|line| !line.trim().is_empty());
        next.copied().unwrap_or(END)
    }

    /// Reads the hunks of an update.
    fn hunks(&mut self) -> Result<Vec<Hunk>, String> {
        let mut hunks: Vec<Hunk> = Vec::new();
        let mut hunk = Hunk::default();
        while let Some(line) = self.within() {
            if line.trim() == END_OF_FILE {
                hunk.at_end = true;
                hunks.push(std::mem::take(&mut hunk));
            } else if let Some(header) = line.strip_prefix("@@") {
                if !hunk.lines.is_empty() {
                    hunks.push(std::mem::take(&mut hunk));
                }
                self.head(&mut hunk, header);
            } else if line.is_empty() {
                // Without the space, which models leave out; or between parts.
                if !self.next_text().starts_with("***") && !self.next_text().starts_with("@@") {
                    hunk.lines.push(Line::Keep(String::new()));
                }
            } else {
                let line = self.line(line)?;
                hunk.lines.push(line);
            }
        }
        if !hunk.lines.is_empty() {
            hunks.push(hunk);
        }
        Ok(hunks)
    }

    /// Reads what follows `@@`: a line of the file, or the numbers of a unified diff.
    fn head(&self, hunk: &mut Hunk, header: &str) {
        let header = header.trim();
        let header = header.strip_suffix("@@").unwrap_or(header).trim();
        let numbers = header
            .strip_prefix('-')
            .filter(|it| it.starts_with(|c: char| c.is_ascii_digit()));
        let Some(numbers) = numbers else {
            if !header.is_empty() {
                hunk.headers.push(header.to_owned());
            }
            return;
        };
        let digits = numbers
            .split(|c: char| !c.is_ascii_digit())
            .next()
            .unwrap_or_default();
        hunk.line = digits.parse().ok().filter(|line| *line > 0);
    }

    fn line(&self, line: &str) -> Result<Line, String> {
        let text = |start: char| line.strip_prefix(start).map(str::to_owned);
        (text('+').map(Line::Add))
            .or_else(|| text('-').map(Line::Remove))
            .or_else(|| text(' ').map(Line::Keep))
            .ok_or_else(|| {
                self.problem(
                    "each line of a change begins with a space, `+` or `-`, or is a line `@@`",
                )
            })
    }
}
