//! Describes the changes of a layer for the decider.

#[cfg(test)]
mod patches;

use std::io;
use std::time::{Duration, Instant};

use airlock_model::effects::{
    Change, ChangeKind, Facts, Identity, ObjectKind, OwnerChange, SideEffects, Withheld, git_binary,
};
use airlock_model::visible::side_of_diff;
use airlock_workspace::{self as workspace, Kind, OpenOptions, Opened, View};
use similar::TextDiff;

use super::folder;

/// Maximum bytes of a file for a diff, before and after the change.
const DIFFED: u64 = 256 << 10;

/// Maximum bytes of all diffs of one action.
const DIFFS: usize = 1 << 20;

/// Time limit for minimizing the diffs of one action. A file with many short lines that all change
/// takes half a second, and there may be thousands. After the time limit, the result is still a
/// valid diff, only a longer one.
const DIFF_TIME: Duration = Duration::from_millis(500);

/// Maximum bytes of the binary files of one action, before and after the change, whose differences
/// are kept. Compressing them takes 20 milliseconds.
const BINARIES: u64 = 1 << 20;

/// Context lines around a difference.
const CONTEXT: usize = 3;

/// Returns all changes in the open layer of a view, with diffs. `before` is the same folder without
/// the layer.
///
/// # Errors
/// Any I/O error.
pub(crate) fn changes_of(view: &View, before: &View) -> io::Result<Vec<Change>> {
    let mut changes = listed_changes(&view.changes()?);
    let deadline = Instant::now() + DIFF_TIME;
    let mut binaries = BINARIES;
    let mut held = 0;
    for at in 0..changes.len() {
        let change = &mut changes[at];
        if !has_other_contents(change) {
            continue;
        }
        match diff(change, view, before, deadline) {
            Ok(diff) => {
                held += diff.len();
                change.diff = Some(diff);
            }
            Err(why) => {
                change.withheld = why;
                if why == Some(Withheld::Binary) {
                    change.binary = binary(change, view, before, &mut binaries);
                }
            }
        }
        // Bounds their memory.
        if held > 4 * DIFFS {
            held = withhold_the_longest(&mut changes[..=at]);
        }
    }
    withhold_the_longest(&mut changes);
    Ok(changes)
}

/// Keeps the shortest diffs that fit, so that a long one doesn't hide others. Returns their total
/// bytes.
fn withhold_the_longest(changes: &mut [Change]) -> usize {
    let mut shown: Vec<&mut Change> = changes.iter_mut().filter(|it| it.diff.is_some()).collect();
    let length = |change: &Change| change.diff.as_ref().map_or(0, String::len);
    shown.sort_by_key(|change| length(change));
    let mut left = DIFFS;
    for change in shown {
        match left.checked_sub(length(change)) {
            Some(rest) => left = rest,
            None => {
                change.diff = None;
                change.withheld = Some(Withheld::TooLong);
            }
        }
    }
    DIFFS - left
}

/// Converts known changes, without contents.
pub(crate) fn listed_changes(found: &[workspace::Change]) -> Vec<Change> {
    let mut changes: Vec<_> = found.iter().map(change).collect();
    changes.sort_by(|one, other| (&one.path, one.kind).cmp(&(&other.path, other.kind)));
    changes
}

/// Returns the changes of a layer in the order of [`listed_changes`], which is that of reviews.
pub(crate) fn in_order(mut found: Vec<workspace::Change>) -> Vec<workspace::Change> {
    found.sort_by(|one, other| (&one.path, kind_of(one)).cmp(&(&other.path, kind_of(other))));
    found
}

fn kind_of(change: &workspace::Change) -> ChangeKind {
    match (&change.before, &change.after) {
        (_, None) => ChangeKind::Deleted,
        _ if change.is_moved => ChangeKind::Renamed,
        (_, Some(after)) if after.kind == Kind::Link => ChangeKind::Link,
        (None, _) => ChangeKind::Created,
        (Some(before), Some(after)) if before.digest == after.digest => ChangeKind::Mode,
        _ => ChangeKind::Modified,
    }
}

fn change(change: &workspace::Change) -> Change {
    let mut told = Change::new(kind_of(change), &*change.path);
    told.from = change.from.clone();
    told.before = change.before.as_ref().map(facts);
    told.after = change.after.as_ref().map(facts);
    told.side_effects = side_effects(&change.side_effects);
    told
}

fn side_effects(found: &workspace::SideEffects) -> SideEffects {
    let owner = |it: &workspace::OwnerChange| Box::new(OwnerChange::new(&*it.from, &*it.to));
    let mut told = SideEffects::default();
    told.parts_hard_links = found.parts_hard_links;
    told.owner = found.owner.as_deref().map(owner);
    told.group = found.group.as_deref().map(owner);
    told.not_kept = found.not_kept.clone();
    told
}

pub(super) fn facts(facts: &workspace::Facts) -> Facts {
    let mut told = Facts::new(match facts.kind {
        Kind::File => ObjectKind::File,
        Kind::Directory => ObjectKind::Directory,
        Kind::Link => ObjectKind::Link,
        Kind::Special => ObjectKind::Special,
    });
    told.size = facts.size;
    told.mode = facts.mode;
    told.digest = facts.digest.clone();
    told.identity = facts.identity.as_deref().map(|it| Box::new(identity(it)));
    told.target = facts.target.clone();
    told
}

pub(super) fn identity(found: &workspace::Identity) -> Identity {
    Identity {
        device: found.device,
        inode: found.inode,
        size: found.size,
        modified: found.modified,
        changed: found.changed,
    }
}

fn has_other_contents(change: &Change) -> bool {
    let digest = |facts: &Option<Facts>| facts.as_ref().and_then(|it| it.digest.clone());
    digest(&change.before) != digest(&change.after)
}

/// # Errors
/// The reason why there is no diff. There is no reason if a file can't be read, or if something
/// other than a file becomes one.
fn diff(
    change: &Change,
    view: &View,
    before: &View,
    deadline: Instant,
) -> Result<String, Option<Withheld>> {
    let old_path = change.from.as_deref().unwrap_or(&change.path);
    if is_likely_secret(old_path) || is_likely_secret(&change.path) {
        return Err(Some(Withheld::Secret));
    }
    let old = text(before, old_path, change.before.as_ref())?;
    let new = text(view, &change.path, change.after.as_ref())?;
    let names = (side_of_diff("a", old_path), side_of_diff("b", &change.path));
    let names = match (&change.before, &change.after) {
        (None, _) => ("/dev/null".to_owned(), names.1),
        (_, None) => (names.0, "/dev/null".to_owned()),
        _ => names,
    };
    // Only these end a line for other programs, and not carriage returns.
    let [old, new] = [&old, &new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let diff = TextDiff::configure()
        .deadline(deadline)
        .newline_terminated(true)
        .diff_slices(&old, &new);
    let mut unified = diff.unified_diff();
    let unified = unified.context_radius(CONTEXT).header(&names.0, &names.1);
    Ok(unified.to_string())
}

/// Returns the difference of a binary file, and subtracts its contents from `left`. Returns `None`
/// if they are too long or can't be read.
fn binary(change: &Change, view: &View, before: &View, left: &mut u64) -> Option<String> {
    let old_path = change.from.as_deref().unwrap_or(&change.path);
    let size = |facts: &Option<Facts>| facts.as_ref().map(|it| it.size);
    let sizes = [size(&change.before), size(&change.after)];
    if sizes.iter().flatten().any(|size| *size > DIFFED) {
        return None;
    }
    *left = left.checked_sub(sizes.iter().flatten().sum())?;
    let read = |view, path, size: Option<u64>| match size {
        Some(size) => contents(view, path, size).map(Some),
        None => Some(None),
    };
    let old = read(before, old_path, sizes[0])?;
    let new = read(view, &change.path, sizes[1])?;
    Some(git_binary(old.as_deref(), new.as_deref()))
}

/// Returns the contents of a file, or an empty text if there is none.
///
/// # Errors
/// See [`diff`].
pub(super) fn text(
    view: &View,
    path: &str,
    facts: Option<&Facts>,
) -> Result<String, Option<Withheld>> {
    let Some(facts) = facts else {
        return Ok(String::new());
    };
    if facts.object != ObjectKind::File {
        return Err(None);
    }
    if facts.size > DIFFED {
        return Err(Some(Withheld::TooLong));
    }
    let bytes = contents(view, path, facts.size).ok_or(None)?;
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(Some(Withheld::Binary)),
    }
}

/// Returns `None` if the file can't be read.
pub(super) fn contents(view: &View, path: &str, size: u64) -> Option<Vec<u8>> {
    let Opened::File(file) = view.root().open(path, OpenOptions::default()).ok()? else {
        return None;
    };
    let mut bytes = folder::contents(&file, size, size).ok()?;
    // Bytes appended in the meantime belong to another change.
    bytes.truncate(usize::try_from(size).ok()?);
    Some(bytes)
}

/// Returns whether a file probably holds a secret, judged by its name alone. Its contents are not
/// shown unless requested for this file.
fn is_likely_secret(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let folders = path.split('/').rev().skip(1);
    let starts = [".env", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
    let ends = [
        ".pem",
        ".key",
        ".p12",
        ".pfx",
        ".jks",
        ".keystore",
        ".kdbx",
        ".gpg",
    ];
    let names = [
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".pgpass",
        ".git-credentials",
        ".htpasswd",
    ];
    // In source files, such words are usually the subject of the code.
    let words = ["secret", "credential", "password"];
    let kinds = ["", "json", "yaml", "yml", "toml", "ini", "conf", "txt"];
    let kind = name.split_once('.').map_or("", |(_, rest)| rest);
    let names_secret = words.iter().any(|it| name.contains(it)) && kinds.contains(&kind);
    names_secret
        || names.contains(&name)
        || starts.iter().any(|it| name.starts_with(it))
        || ends.iter().any(|it| name.ends_with(it))
        || folders
            .into_iter()
            .any(|it| [".ssh", ".gnupg", ".aws"].contains(&it))
}

#[cfg(test)]
mod tests {
    use super::is_likely_secret;

    #[test]
    fn files_that_usually_hold_secrets_are_known_by_their_names() {
        for (path, secret) in [
            (".env", true),
            ("app/.env.production", true),
            ("keys/server.PEM", true),
            (".ssh/config", true),
            ("config/credentials.json", true),
            ("SECRETS", true),
            ("src/password_reset.rs", false),
            ("src/env.rs", false),
            ("monkey.txt", false),
            ("ssh/config", false),
        ] {
            assert_eq!(is_likely_secret(path), secret, "{path}");
        }
    }
}
