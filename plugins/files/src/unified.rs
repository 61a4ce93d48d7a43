//! Unified diffs, as `diff -u` and git write them, and as models do.

use crate::hunk::{Hunk, Line};
use crate::patch::FileChange;

/// Reads the lines of a diff. The counts of lines in it are ignored, since models get them wrong.
///
/// # Errors
/// Returns the problem, with the line where it is.
pub(crate) fn parse(lines: &[&str]) -> Result<Vec<FileChange>, String> {
    let mut changes = Vec::new();
    let mut file = FileDiff::default();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let problem = |text: &str| Err(format!("In line {}, {text}: {line}", at + 1));
        let next = lines.get(at + 1);
        if line.starts_with("diff --git ") {
            changes.extend(std::mem::take(&mut file).change()?);
        } else if line.starts_with("--- ") && next.is_some_and(|next| next.starts_with("+++ ")) {
            if file.new.is_some() {
                changes.extend(std::mem::take(&mut file).change()?);
            }
            file.old = Some(path(&line[4..])?);
            file.new = Some(path(&lines[at + 1][4..])?);
            at += 1;
        } else if let Some(from) = line.strip_prefix("rename from ") {
            file.old = Some(from.to_owned());
        } else if let Some(to) = line.strip_prefix("rename to ") {
            file.new = Some(to.to_owned());
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return problem("a binary file can't be patched");
        } else if line.starts_with("@@") && file.new.is_some() {
            file.end_hunk();
            file.hunks.push(head(line));
        } else if let Some(hunk) = file.hunks.last_mut() {
            file.blank = if line.is_empty() { file.blank + 1 } else { 0 };
            if line.starts_with('\\') {
                hunk.final_newline = match hunk.lines.last() {
                    Some(Line::Remove(_)) => hunk.final_newline.or(Some(true)),
                    _ => Some(false),
                };
            } else if !add(hunk, line) {
                return problem("each line of a hunk begins with a space, `+` or `-`");
            }
        }
        at += 1;
    }
    changes.extend(file.change()?);
    Ok(changes)
}

/// The part of a diff about one file.
#[derive(Default)]
struct FileDiff {
    old: Option<String>,
    new: Option<String>,
    hunks: Vec<Hunk>,
    /// The number of lines at the end of the last hunk without even a space.
    blank: usize,
}

impl FileDiff {
    /// Leaves out blank lines between the last hunk and what comes next. One with a space is of the
    /// hunk: it tells where an added line belongs.
    fn end_hunk(&mut self) {
        let blank = std::mem::take(&mut self.blank);
        if let Some(hunk) = self.hunks.last_mut() {
            hunk.lines.truncate(hunk.lines.len() - blank);
        }
    }

    fn change(mut self) -> Result<Option<FileChange>, String> {
        self.end_hunk();
        let Self {
            old: Some(old),
            new: Some(new),
            mut hunks,
            ..
        } = self
        else {
            return Ok(None);
        };
        hunks.retain(|hunk| !hunk.lines.is_empty());
        let stripped = |path: &str| match path.split_once('/') {
            Some(("a" | "b", rest)) => rest.to_owned(),
            _ => path.to_owned(),
        };
        let is_git =
            (old.starts_with("a/") || old == NULL) && (new.starts_with("b/") || new == NULL);
        let (old, new) = if is_git {
            (stripped(&old), stripped(&new))
        } else {
            (old, new)
        };
        Ok(Some(match (old.as_str(), new.as_str()) {
            (NULL, _) => FileChange::Add {
                contents: contents(&hunks),
                path: new,
            },
            (_, NULL) => FileChange::Delete { path: old },
            _ if hunks.is_empty() && old == new => {
                return Err(format!("The part about `{old}` has no changes."));
            }
            _ => FileChange::Update {
                to: (old != new).then_some(new),
                path: old,
                hunks,
            },
        }))
    }
}

const NULL: &str = "/dev/null";

/// Returns the contents of a new file.
fn contents(hunks: &[Hunk]) -> String {
    let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
    let mut contents = String::new();
    for line in lines {
        if let Line::Add(text) = line {
            contents.push_str(text);
            contents.push('\n');
        }
    }
    if hunks
        .last()
        .is_some_and(|hunk| hunk.final_newline == Some(false))
    {
        contents.pop();
    }
    contents
}

/// Returns the path in a line of a header, without the time after it.
fn path(text: &str) -> Result<String, String> {
    if text.starts_with('"') {
        return Err(format!(
            "A path in quotes can't be read; write it without them: {text}"
        ));
    }
    Ok(text
        .split('\t')
        .next()
        .unwrap_or_default()
        .trim_end()
        .to_owned())
}

/// Returns the hunk that a line `@@ -1,2 +3,4 @@` begins.
fn head(line: &str) -> Hunk {
    let numbers = line
        .trim_start_matches(['@', ' '])
        .strip_prefix('-')
        .unwrap_or_default();
    let digits = numbers
        .split(|c: char| !c.is_ascii_digit())
        .next()
        .unwrap_or_default();
    Hunk {
        line: digits.parse().ok().filter(|line| *line > 0),
        ..Hunk::default()
    }
}

/// Adds a line of a diff to a hunk, unless it isn't one.
fn add(hunk: &mut Hunk, line: &str) -> bool {
    let (start, text) = (
        line.chars().next(),
        line.get(1..).unwrap_or_default().to_owned(),
    );
    hunk.lines.push(match start {
        None => Line::Keep(String::new()),
        Some(' ') => Line::Keep(text),
        Some('+') => Line::Add(text),
        Some('-') => Line::Remove(text),
        Some(_) => return false,
    });
    true
}
