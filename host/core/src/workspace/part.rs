//! Takes a part of the changes of a layer, as a person selected it from the reviewed effects.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use airlock_model::digest::Digest;
use airlock_model::effects::{
    AppliedPart, Change, ChangeKind, Choice, Effects, ObjectKind, Selection, SideEffects,
};
use airlock_model::visible::side_of_diff;
use airlock_workspace::{self as workspace, Kind, Needs, Outline, View};
use similar::TextDiff;

use super::effects::text;

/// Returns what each change of verified effects needs: the others without which it can't be
/// applied.
pub fn needs(effects: &Effects) -> Needs {
    let outlines = effects.changes.iter().map(|change| {
        let kind = |facts: Option<&_>| facts.map(kind);
        Outline {
            path: &change.path,
            moved_from: (change.from.as_deref()).filter(|_| change.kind == ChangeKind::Renamed),
            before: kind(change.before.as_ref()),
            after: kind(change.after.as_ref()),
        }
    });
    Needs::of(&outlines.collect::<Vec<_>>())
}

fn kind(facts: &airlock_model::effects::Facts) -> Kind {
    match facts.object {
        ObjectKind::Directory => Kind::Directory,
        ObjectKind::Link => Kind::Link,
        ObjectKind::Special => Kind::Special,
        // A kind of a later version is in no change that this one makes.
        _ => Kind::File,
    }
}

/// A part of reviewed effects that can be applied.
pub(crate) struct Part {
    left_out: BTreeSet<usize>,
    contents: BTreeMap<usize, Vec<u8>>,
    /// The effects of the part.
    pub effects: Effects,
    /// The record of the missing and edited changes.
    pub applied: AppliedPart,
}

impl Part {
    /// Works out a part. `layer` has exactly the reviewed changes, above `before`.
    ///
    /// # Errors
    /// The reason why it can't be applied, as a clause.
    pub fn of(
        selection: &Selection,
        reviewed: &Effects,
        (before, layer): (&View, &View),
    ) -> Result<Self, String> {
        let mut part = Self {
            left_out: selection.left_out().collect(),
            contents: BTreeMap::new(),
            effects: Effects::default(),
            applied: AppliedPart::of(selection, reviewed),
        };
        let mut changed = BTreeMap::new();
        let mut edits = part.applied.edited.iter_mut();
        for (at, choice) in selection.choices() {
            let change = &reviewed.changes[at];
            let new = match choice {
                Choice::Hunks(hunks) => {
                    let old = old_text(change, before).ok_or_else(|| unreadable(change))?;
                    let new = change.text_after(&old, hunks);
                    new.ok_or_else(|| format!("{} can't be split into hunks", change.path))?
                }
                Choice::Text(new) => {
                    let theirs = text(layer, &change.path, change.after.as_ref());
                    let theirs = theirs.map_err(|_| unreadable(change))?;
                    if let Some(edit) = edits.next() {
                        edit.diff = diff(&change.path, &theirs, new);
                    }
                    new.clone()
                }
                _ => continue,
            };
            changed.insert(at, with_contents(change, &new));
            part.contents.insert(at, new.into_bytes());
        }
        let kept = (0..reviewed.changes.len()).filter(|at| !part.left_out.contains(at));
        let kept = kept.filter_map(|at| match changed.remove(&at) {
            Some(change) => change,
            None => Some(reviewed.changes[at].clone()),
        });
        part.effects = Effects::verified(kept.collect());
        Ok(part)
    }

    /// Drops everything else from the layer. `changes` are all of its changes, in the order of the
    /// review.
    ///
    /// # Errors
    /// System errors.
    pub fn keep_in(&self, layer: &View, changes: &[workspace::Change]) -> io::Result<()> {
        layer.keep_part(changes, &self.left_out, &self.contents)
    }
}

fn unreadable(change: &Change) -> String {
    format!("{} can't be read as text", change.path)
}

fn old_text(change: &Change, before: &View) -> Option<String> {
    let path = change.from.as_deref().unwrap_or(&change.path);
    text(before, path, change.before.as_ref()).ok()
}

/// Returns the change with other contents; `None` if nothing is left of it.
fn with_contents(change: &Change, new: &str) -> Option<Change> {
    let mut change = change.clone();
    let after = change.after.as_mut()?;
    after.size = new.len() as u64;
    after.digest = Some(Digest::of(new.as_bytes()).to_hex());
    if let (ChangeKind::Modified, Some(before)) = (change.kind, &change.before)
        && before.digest == after.digest
    {
        if before.mode == after.mode {
            return None;
        }
        change.kind = ChangeKind::Mode;
    }
    // A file that is only renamed stays the same file.
    if let (ChangeKind::Renamed, Some(before), Some(after)) =
        (change.kind, &change.before, &change.after)
        && (&before.digest, before.mode) == (&after.digest, after.mode)
    {
        change.side_effects = SideEffects::default();
    }
    Some(change)
}

fn diff(path: &str, old: &str, new: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    let mut unified = diff.unified_diff();
    let names = (side_of_diff("a", path), side_of_diff("b", path));
    unified.header(&names.0, &names.1).to_string()
}

/// Checks that a selection is about these effects, and that they can be applied without what it
/// leaves out.
///
/// # Errors
/// The problem, as a clause.
pub(crate) fn check(selection: &Selection, effects: &Effects) -> Result<(), String> {
    let changes = &effects.changes;
    if selection.choices().any(|(at, _)| at >= changes.len()) {
        return Err("it has fewer changes than the selection".to_owned());
    }
    if selection.is_nothing(effects) {
        return Err("nothing of it is selected; discard it instead".to_owned());
    }
    let left: BTreeSet<usize> = selection.left_out().collect();
    let needing = needs(effects).with_dependent(left.iter().copied());
    if let Some(at) = needing.difference(&left).next() {
        let change = &changes[*at];
        return Err(format!(
            "\"{change}\" needs another change that is left out"
        ));
    }
    for (at, choice) in selection.choices() {
        let change = &changes[at];
        let is_possible = match choice {
            Choice::Hunks(hunks) => {
                let count = change.hunks().len();
                count > 0 && hunks.iter().all(|hunk| *hunk < count)
            }
            Choice::Text(_) => change.diff.is_some() && change.after.is_some(),
            _ => true,
        };
        if !is_possible || (change.after.is_none() && *choice != Choice::LeaveOut) {
            return Err(format!("\"{change}\" can only be applied whole"));
        }
    }
    Ok(())
}
