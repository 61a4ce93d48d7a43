//! Patches, in the format `*** Begin Patch` that models write, or as unified diffs.

use airlock_tool::Error;

use crate::envelope;
use crate::hunk::Hunk;
use crate::unified;

/// What a patch does to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileChange {
    Add {
        path: String,
        contents: String,
    },
    Delete {
        path: String,
    },
    Update {
        path: String,
        to: Option<String>,
        hunks: Vec<Hunk>,
    },
}

/// Reads a patch. Several updates of a file become one.
///
/// # Errors
/// Returns an error for the caller that tells the line that can't be read.
pub(crate) fn parse(patch: &str) -> Result<Vec<FileChange>, Error> {
    let patch = patch.replace("\r\n", "\n");
    let lines = strip(&patch);
    let begins = |starts: &[&str]| {
        lines.iter().any(|line| {
            starts
                .iter()
                .any(|start| line.trim_start().starts_with(start))
        })
    };
    let changes = if begins(&envelope::MARKS) {
        envelope::parse(&lines)
    } else if begins(&["--- ", "diff --git "]) {
        unified::parse(&lines)
    } else {
        Err("It has neither a line such as `*** Update File: PATH` nor the lines `--- PATH` and `+++ PATH` of a unified diff. Pass the text of the patch itself.".to_owned())
    };
    let invalid = |problem: String| Error::tool(format!("The patch is not valid. {problem}"));
    let changes = changes.map_err(invalid)?;
    if changes.is_empty() {
        return Err(invalid("It changes no file.".to_owned()));
    }
    merge(changes).map_err(invalid)
}

/// Returns the lines of a patch without a shell's or Markdown's marks around them.
fn strip(patch: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = patch.trim_matches('\n').split('\n').collect();
    let is_fence = |line: &str| line.starts_with("```");
    if lines.first().is_some_and(|line| is_fence(line)) {
        lines.remove(0);
        if lines.last().is_some_and(|line| is_fence(line)) {
            lines.pop();
        }
    }
    if lines.first().is_some_and(|line| line.contains("<<")) {
        let mark = lines[0].rsplit("<<").next().unwrap_or_default();
        let mark = mark.trim_matches(|c: char| !c.is_alphanumeric());
        if lines.last().is_some_and(|line| line.trim() == mark) {
            lines.pop();
        }
        lines.remove(0);
    }
    lines
}

/// Joins the updates of each file.
fn merge(changes: Vec<FileChange>) -> Result<Vec<FileChange>, String> {
    let mut merged: Vec<FileChange> = Vec::new();
    for change in changes {
        let Some(earlier) = merged.iter_mut().find(|it| it.path() == change.path()) else {
            merged.push(change);
            continue;
        };
        match (earlier, change) {
            (
                FileChange::Update { to, hunks, .. },
                FileChange::Update {
                    to: other_to,
                    hunks: more,
                    ..
                },
            ) if to.is_none() || other_to.is_none() => {
                hunks.extend(more);
                *to = to.take().or(other_to);
            }
            (_, change) => return Err(format!("`{}` is in it twice.", change.path())),
        }
    }
    Ok(merged)
}

impl FileChange {
    pub(crate) fn path(&self) -> &str {
        match self {
            Self::Add { path, .. } | Self::Delete { path } | Self::Update { path, .. } => path,
        }
    }
}
