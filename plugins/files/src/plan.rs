//! The plan of a changing tool: operations that are carried out if the files are as they were.

use std::collections::BTreeMap;

use airlock_tool::{Error, Output, Resolution, check_cancelled};
use serde::{Deserialize, Serialize};
use similar::DiffOp;

use crate::diff;
use crate::path::shown;
use crate::workspace::{MAX_BYTES, Workspace, digest_of};

/// The most bytes of new text in a plan, below the host's limit for an action.
pub(crate) const MAX_NEW_BYTES: usize = 3 << 20;

/// Operations in the order in which they are carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) operations: Vec<Operation>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub(crate) enum Operation {
    /// Writes a file, whose directory is made if it is missing.
    Write {
        path: String,
        /// The digest of the file before, if there was one.
        before: Option<String>,
        /// The digest of the file after.
        after: String,
        edits: Vec<Splice>,
    },
    /// Moves a file or directory to a path where nothing is.
    Move {
        from: String,
        to: String,
        before: String,
    },
    /// Copies a file to a path where nothing is.
    Copy {
        from: String,
        to: String,
        before: String,
    },
    /// Deletes a file, or a directory with everything in it.
    Delete {
        path: String,
        before: String,
    },
    MakeDirectory {
        path: String,
    },
}

/// The bytes that replace a range of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Splice {
    start: usize,
    end: usize,
    new: String,
}

impl Operation {
    /// Returns the operation that changes the text of a file. Without an `old` one, the file is
    /// new.
    pub(crate) fn write(path: &str, old: Option<&str>, new: &str) -> Self {
        Self::Write {
            path: path.to_owned(),
            before: old.map(|old| digest_of(old.as_bytes())),
            after: digest_of(new.as_bytes()),
            edits: splices(old.unwrap_or_default(), new),
        }
    }
}

impl Plan {
    /// Returns an error if the plan is too large to be kept.
    pub(crate) fn check_size(&self) -> Result<(), Error> {
        let new_bytes = |operation: &Operation| match operation {
            Operation::Write { edits, .. } => edits.iter().map(|it| it.new.len() + 50).sum(),
            _ => 500_usize,
        };
        let bytes: usize = self.operations.iter().map(new_bytes).sum();
        if bytes > MAX_NEW_BYTES {
            Err(Error::tool(too_large()))
        } else {
            Ok(())
        }
    }

    /// Returns what is at each path that the plan changes, once it is carried out: a digest, or
    /// `None` if nothing is there. Directories are left out.
    fn outcome(&self) -> BTreeMap<&str, Option<&str>> {
        let mut paths = BTreeMap::new();
        for operation in &self.operations {
            match operation {
                Operation::Write { path, after, .. } => {
                    paths.insert(path.as_str(), Some(after.as_str()));
                }
                Operation::Move { from, to, before } => {
                    paths.insert(from, None);
                    paths.insert(to, Some(before));
                }
                Operation::Copy { to, before, .. } => {
                    paths.insert(to, Some(before));
                }
                Operation::Delete { path, .. } => {
                    paths.insert(path, None);
                }
                Operation::MakeDirectory { .. } => {}
            }
        }
        paths
    }

    /// Checks if an earlier attempt has carried out the plan.
    fn is_done(&self, workspace: &Workspace) -> Result<bool, Error> {
        for (path, digest) in self.outcome() {
            // The digest of a directory counts its path.
            let same = match (workspace.digest(path)?, digest) {
                (Some(now), Some(then)) => now == then || then.starts_with("Directory"),
                (now, then) => now.as_deref() == then,
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns the message about a change with too much new text.
pub(crate) fn too_large() -> String {
    format!(
        "The change is too large for one call: more than {} MiB of new text. Make it in parts.",
        MAX_NEW_BYTES >> 20
    )
}

/// Carries out a plan. The host drops all changes if this fails.
pub(crate) fn apply(plan: Plan, resolution: &Resolution) -> Result<Output, Error> {
    let workspace = Workspace::of_session()?;
    let done = carry_out(&workspace, &plan, resolution.attempt)?;
    let count = match plan.operations.len() {
        1 => "1 change".to_owned(),
        many => format!("{many} changes"),
    };
    Ok(Output::text(if done {
        format!("Done: {count}. {}", resolution.label)
    } else {
        format!("Nothing was left to do: an earlier attempt made {count}.")
    }))
}

/// Carries out a plan, and returns false if an earlier attempt has done so.
pub(crate) fn carry_out(workspace: &Workspace, plan: &Plan, attempt: u32) -> Result<bool, Error> {
    if attempt > 1 && plan.is_done(workspace)? {
        return Ok(false);
    }
    for operation in &plan.operations {
        check_cancelled()?;
        step(workspace, operation)?;
    }
    Ok(true)
}

fn step(workspace: &Workspace, operation: &Operation) -> Result<(), Error> {
    let check = |path: &str, before: Option<&str>| {
        workspace.check_changeable(path)?;
        if workspace.digest(path)?.as_deref() == before {
            return Ok(());
        }
        let problem = before.map_or("has appeared", |_| "has changed");
        Err(Error::tool(format!(
            "Nothing was changed, because `{}` {problem} since the preview. Discard this action, and call the tool again.",
            shown(path)
        )))
    };
    match operation {
        Operation::Write {
            path,
            before,
            after,
            edits,
        } => {
            check(path, before.as_deref())?;
            let old = match before {
                Some(_) => workspace.read(path, MAX_BYTES)?,
                None => Vec::new(),
            };
            let new = splice(&old, edits);
            if new.as_deref().map(digest_of).as_ref() != Some(after) {
                return Err(Error::failed(format!(
                    "the plan for `{}` is damaged",
                    shown(path)
                )));
            }
            workspace.write(path, &new.unwrap_or_default())
        }
        Operation::Move { from, to, before } => {
            check(from, Some(before))?;
            check(to, None)?;
            workspace.rename(from, to)
        }
        Operation::Copy { from, to, before } => {
            check(from, Some(before))?;
            check(to, None)?;
            workspace.copy(from, to)
        }
        Operation::Delete { path, before } => {
            // A link itself can be deleted.
            if workspace.digest(path)?.as_deref() != Some(before) {
                check(path, Some(before))?;
            }
            workspace.remove(path)
        }
        Operation::MakeDirectory { path } => {
            workspace.check_changeable(path)?;
            workspace.make_directory(path)
        }
    }
}

/// Returns the differences of two texts.
fn splices(old: &str, new: &str) -> Vec<Splice> {
    let (old_lines, new_lines) = (diff::lines(old), diff::lines(new));
    let mut splices = Vec::new();
    let (mut at, mut new_at) = (0, 0);
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    for op in diff::ops(&old_lines, &new_lines) {
        let (removed, added) = (&old_lines[op.old_range()], &new_lines[op.new_range()]);
        let (end, new_end) = (at + bytes(removed), new_at + bytes(added));
        if !matches!(op, DiffOp::Equal { .. }) {
            let (before, after) = same_ends(&old[at..end], &new[new_at..new_end]);
            splices.push(Splice {
                start: at + before,
                end: end - after,
                new: new[new_at + before..new_end - after].to_owned(),
            });
        }
        (at, new_at) = (end, new_end);
    }
    splices
}

/// Returns the bytes at the start and at the end that two texts share, in whole characters.
fn same_ends(old: &str, new: &str) -> (usize, usize) {
    let same = |(a, b): &(u8, u8)| a == b;
    let before = old.bytes().zip(new.bytes()).take_while(same).count();
    let before = old.floor_char_boundary(before);
    let (old, new) = (&old[before..], &new[before..]);
    let mut after = old
        .bytes()
        .rev()
        .zip(new.bytes().rev())
        .take_while(same)
        .count();
    while !old.is_char_boundary(old.len() - after) || !new.is_char_boundary(new.len() - after) {
        after -= 1;
    }
    (before, after)
}

/// Returns the bytes with the splices, which are in order, unless one is out of their range.
fn splice(old: &[u8], splices: &[Splice]) -> Option<Vec<u8>> {
    let mut new = Vec::new();
    let mut at = 0;
    for splice in splices {
        new.extend_from_slice(old.get(at..splice.start)?);
        new.extend_from_slice(splice.new.as_bytes());
        at = splice.end;
    }
    new.extend_from_slice(old.get(at..)?);
    Some(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_keeps_only_what_is_new() {
        let check = |old: &str, new: &str, expected: &[(usize, usize, &str)]| {
            let splices = splices(old, new);
            let splices: Vec<_> = splices
                .iter()
                .map(|it| (it.start, it.end, it.new.as_str()))
                .collect();
            assert_eq!(splices, expected);
        };
        check("a\nlong line\nb\n", "a\nlong lines\nb\n", &[(11, 11, "s")]);
        check("é\n", "è\n", &[(0, 2, "è")]);
        check("aa\n", "aaa\n", &[(2, 2, "a")]);
        check("", "a", &[(0, 0, "a")]);
        check("a\n1\nb\n2\n", "a\nb\n2", &[(2, 4, ""), (7, 8, "")]);
    }

    #[test]
    fn a_plan_that_is_too_large_is_refused() {
        let plan = |len: usize| Plan {
            operations: vec![Operation::write("a", None, &"x".repeat(len))],
        };
        assert!(plan(MAX_NEW_BYTES - 100).check_size().is_ok());
        let refused = plan(MAX_NEW_BYTES).check_size().unwrap_err().to_string();
        assert!(refused.contains("more than 3 MiB of new text"), "{refused}");
    }
}
