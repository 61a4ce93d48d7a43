//! Effects as a patch for other programs.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io;

use super::{Change, Effects, Facts, ObjectKind, Withheld, plain_path};
use crate::visible::{git_path, side_of_diff};

/// The reason why there is no patch, mostly with the path of a file below the workspace.
#[derive(Debug)]
#[non_exhaustive]
pub enum NoPatch {
    /// The host did not see the changes.
    Unverified,
    /// The file's name suggests that it holds a secret.
    Secret(String),
    /// The contents are too long to be kept.
    TooLong(String),
    /// The contents were not kept.
    NotKept(String),
    /// The names of the files in a renamed directory are not known.
    Directory(String, io::Error),
    /// Git has only files, directories and links.
    Special(String),
    /// Git never changes a file in a directory with the name `.git`.
    OfGit(String),
}

/// Formats a sentence without its full stop. Paths come from guests and are quoted unless all
/// characters are plain.
impl fmt::Display for NoPatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPatch::Unverified => f.write_str("the host has not seen its changes"),
            NoPatch::Secret(path) => write!(
                f,
                "the contents of {} were not kept, because it is likely to hold a secret",
                plain_path(path)
            ),
            NoPatch::TooLong(path) => write!(
                f,
                "the contents of {} were not kept, because they are too long",
                plain_path(path)
            ),
            NoPatch::NotKept(path) => {
                write!(f, "the contents of {} were not kept", plain_path(path))
            }
            NoPatch::Directory(path, error) => write!(
                f,
                "the files in the renamed directory {} are not known: {error}",
                plain_path(path)
            ),
            NoPatch::Special(path) => {
                write!(f, "{} is neither a file nor a link", plain_path(path))
            }
            NoPatch::OfGit(path) => {
                write!(f, "git does not change files such as {}", plain_path(path))
            }
        }
    }
}

impl std::error::Error for NoPatch {}

impl Effects {
    /// Returns the diffs of all changed files, one after the other, in the unified format. Files
    /// without a diff, such as binary ones, are missing: [`git_patch`](Self::git_patch) has all.
    pub fn unified_diff(&self) -> String {
        let diffs = self.changes.iter().filter_map(|it| it.diff.as_deref());
        diffs.collect()
    }

    /// Returns a patch that makes the same changes with `git apply`. Git doesn't know directories
    /// without files, and of a file's permissions only whether its owner may execute it: other
    /// changes are left out.
    ///
    /// For a renamed directory, which effects have as one change, `files_in` returns the paths of
    /// all files and links in it, by its path before the change.
    ///
    /// # Errors
    /// If the patch would be incomplete.
    pub fn git_patch(
        &self,
        files_in: impl FnMut(&str) -> io::Result<Vec<String>>,
    ) -> Result<String, NoPatch> {
        if !self.verified {
            return Err(NoPatch::Unverified);
        }
        let mut patch = String::new();
        // Another file may take the place of a deleted one.
        let (deleted, others): (Vec<_>, Vec<_>) =
            self.changes.iter().partition(|it| it.after.is_none());
        for change in deleted.into_iter().chain(others) {
            add(&mut patch, change)?;
        }
        for (from, to) in self.moved_files(files_in)? {
            begin(&mut patch, &from, &to, "", true)?;
        }
        Ok(patch)
    }

    /// Returns the old and new paths of files that are only renamed with a directory above them.
    fn moved_files(
        &self,
        mut files_in: impl FnMut(&str) -> io::Result<Vec<String>>,
    ) -> Result<BTreeMap<String, String>, NoPatch> {
        let old_path = |change: &Change| change.from.clone().unwrap_or(change.path.clone());
        let changed = self.changes.iter().filter(|it| it.before.is_some());
        let listed: HashSet<_> = changed.map(old_path).collect();
        let moved = self.changes.iter().filter(|it| is_directory(&it.after));
        let mut moved: Vec<_> = moved
            .filter_map(|it| Some((it.from.as_deref()?, &*it.path)))
            .collect();
        // A directory inside another one that is renamed too has its own new name.
        moved.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        let mut files = BTreeMap::new();
        for (from, to) in moved {
            let found =
                files_in(from).map_err(|error| NoPatch::Directory(from.to_owned(), error))?;
            for file in found {
                if let Some(rest) = file.strip_prefix(from)
                    && !listed.contains(&file)
                {
                    let to = format!("{to}{rest}");
                    files.entry(file).or_insert(to);
                }
            }
        }
        files.retain(|from, to| from != to);
        Ok(files)
    }
}

fn is_directory(facts: &Option<Facts>) -> bool {
    facts
        .as_ref()
        .is_some_and(|it| it.object == ObjectKind::Directory)
}

/// The mode of a link in git.
const LINK: &str = "120000";

/// Returns the mode of a file in git.
fn mode(facts: &Facts) -> &'static str {
    match facts.object {
        ObjectKind::Link => LINK,
        _ if facts.mode & 0o100 != 0 => "100755",
        _ => "100644",
    }
}

fn add(patch: &mut String, change: &Change) -> Result<(), NoPatch> {
    let (before, after) = (change.before.as_ref(), change.after.as_ref());
    if is_directory(&change.before) || is_directory(&change.after) {
        return Ok(());
    }
    let mut sides = [before, after].into_iter().flatten();
    if sides.any(|it| it.object == ObjectKind::Special) {
        return Err(NoPatch::Special(change.path.clone()));
    }
    let from = change.from.as_deref().unwrap_or(&change.path);
    let contents = contents(change, from)?;
    let modes = match (before.map(mode), after.map(mode)) {
        // Git must know that a renamed link makes room for a directory.
        (Some(old), Some(new)) if old == new && (from == change.path || old != LINK) => {
            String::new()
        }
        (Some(old), Some(new)) => format!("old mode {old}\nnew mode {new}\n"),
        (Some(old), None) => format!("deleted file mode {old}\n"),
        (None, new) => format!("new file mode {}\n", new.unwrap_or_default()),
    };
    if from != change.path || !modes.is_empty() || !contents.is_empty() {
        begin(patch, from, &change.path, &modes, contents.is_empty())?;
        patch.push_str(&contents);
    }
    Ok(())
}

/// Begins the changes to a file with their extended headers. `is_same` is true if the contents
/// don't change.
fn begin(
    patch: &mut String,
    from: &str,
    to: &str,
    modes: &str,
    is_same: bool,
) -> Result<(), NoPatch> {
    for path in [from, to] {
        if path.split('/').any(|it| it.eq_ignore_ascii_case(".git")) {
            return Err(NoPatch::OfGit(path.to_owned()));
        }
    }
    let names = (side_of_diff("a", from), side_of_diff("b", to));
    patch.push_str(&format!("diff --git {} {}\n{modes}", names.0, names.1));
    if from != to {
        if is_same {
            patch.push_str("similarity index 100%\n");
        }
        let (from, to) = (git_path(from), git_path(to));
        patch.push_str(&format!("rename from {from}\nrename to {to}\n"));
    }
    Ok(())
}

/// Returns the difference of the contents; empty if there is none.
fn contents(change: &Change, from: &str) -> Result<String, NoPatch> {
    if let Some(difference) = change.diff.as_ref().or(change.binary.as_ref()) {
        return Ok(difference.clone());
    }
    let (before, after) = (change.before.as_ref(), change.after.as_ref());
    let is_link = |facts: &Facts| facts.object == ObjectKind::Link;
    if before.or(after).is_some_and(is_link) && after.or(before).is_some_and(is_link) {
        let target = |facts: Option<&Facts>| facts.map(|it| it.target.clone().unwrap_or_default());
        return Ok(links(change, from, target(before), target(after)));
    }
    let is_same = match (before, after) {
        (Some(before), Some(after)) => (before.size, &before.digest) == (after.size, &after.digest),
        (one, other) => one.or(other).is_none_or(|it| it.size == 0),
    };
    let path = || change.path.clone();
    match change.withheld {
        _ if is_same => Ok(String::new()),
        Some(Withheld::Secret) => Err(NoPatch::Secret(path())),
        Some(Withheld::TooLong | Withheld::Binary) => Err(NoPatch::TooLong(path())),
        // Large files that are removed are not read.
        None if before.is_some_and(|it| it.digest.is_none()) => Err(NoPatch::TooLong(path())),
        None => Err(NoPatch::NotKept(path())),
    }
}

/// Returns the diff of the targets of links.
fn links(change: &Change, from: &str, old: Option<String>, new: Option<String>) -> String {
    if old == new {
        return String::new();
    }
    let name = |side, path, target: &Option<String>| match target {
        Some(_) => side_of_diff(side, path),
        None => "/dev/null".to_owned(),
    };
    let names = (name("a", from, &old), name("b", &change.path, &new));
    let range = |target: &Option<String>| match target {
        Some(target) => format!("1,{}", target.split_inclusive('\n').count()),
        None => "0,0".to_owned(),
    };
    let ranges = (range(&old), range(&new));
    let lines = |sign, target: Option<String>| {
        let target = target.unwrap_or_default();
        let mut lines = String::new();
        for line in target.split_inclusive('\n') {
            lines.extend([sign, line]);
        }
        if !lines.is_empty() && !lines.ends_with('\n') {
            lines.push_str("\n\\ No newline at end of file\n");
        }
        lines
    };
    format!(
        "--- {}\n+++ {}\n@@ -{} +{} @@\n{}{}",
        names.0,
        names.1,
        ranges.0,
        ranges.1,
        lines("-", old),
        lines("+", new)
    )
}
