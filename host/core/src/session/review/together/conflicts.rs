//! Actions that get in each other's way when they are applied together.

use std::collections::{BTreeMap, BTreeSet};

use airlock_model::effects::{Change, ChangeKind, Effects, Hunk};
use airlock_model::pending::PendingAction;

/// An action, as it was reviewed alone.
pub(super) struct Proposal<'a> {
    pub action: &'a PendingAction,
    pub effects: &'a Effects,
    /// Returns whether its preview read the file.
    pub has_read: Box<dyn Fn(&str) -> bool + 'a>,
}

/// The changes of a path, with the indices of their actions.
type Changes<'a> = Vec<(usize, &'a Change)>;

/// Returns the index of an action that can't be applied together with the ones before it, and why.
///
/// Every file must end up as reviewed: with the change of one action, if only one changes it, and
/// otherwise with all their edits. The actions of one call were previewed together, so a later one
/// may change the files of an earlier one. A preview must not have read a file that another call's
/// action changes.
pub(super) fn conflict(together: &Effects, each: &[Proposal<'_>]) -> Option<(usize, String)> {
    if let Some(found) = reader(each) {
        return Some(found);
    }
    let mut changes: BTreeMap<&str, Changes<'_>> = BTreeMap::new();
    for (at, proposal) in each.iter().enumerate() {
        for change in &proposal.effects.changes {
            changes.entry(&change.path).or_default().push((at, change));
        }
    }
    for (path, found) in &changes {
        let now = together.changes.iter().filter(|it| it.path == *path);
        let now: Vec<_> = now.collect();
        if has_one_call(found, each) || is_expected(&now, found) {
            continue;
        }
        let ((first, _), (last, _)) = (found[0], found[found.len() - 1]);
        let reason = if first == last {
            format!("together with the others, it would change {path} differently from its preview")
        } else {
            let label = &each[first].action.label;
            format!("its change of {path} can't be combined with that of \"{label}\"")
        };
        return Some((last, reason));
    }
    if (0..each.len()).any(|at| has_siblings(at, each)) {
        // It may do more after the other one than it did alone.
        return None;
    }
    let known: BTreeSet<_> = changes.keys().copied().collect();
    let mut paths = together.changes.iter().map(|change| &*change.path);
    let other = paths.find(|path| !known.contains(path))?;
    let reason =
        format!("together, the actions would also change {other}, which none changes alone");
    Some((each.len().checked_sub(1)?, reason))
}

/// Returns the index of an action whose preview read a file that an earlier action of another call
/// changes, and that it doesn't change itself, with the reason.
fn reader(each: &[Proposal<'_>]) -> Option<(usize, String)> {
    for (at, changer) in each.iter().enumerate() {
        for path in changer.effects.changes.iter().flat_map(paths) {
            let reads = |reader: &usize| {
                let reader = &each[*reader];
                (reader.has_read)(path)
                    && !is_same_call(changer.action, reader.action)
                    && !reader
                        .effects
                        .changes
                        .iter()
                        .flat_map(paths)
                        .any(|it| it == path)
            };
            if let Some(reader) = (at + 1..each.len()).find(reads) {
                let label = &changer.action.label;
                let reason = format!("its preview read {path}, which \"{label}\" changes");
                return Some((reader, reason));
            }
        }
    }
    None
}

/// Returns the paths that a change is about.
fn paths(change: &Change) -> impl Iterator<Item = &str> {
    std::iter::once(&*change.path).chain(change.from.as_deref())
}

/// Returns whether these changes come from the actions of one call, which has several.
fn has_one_call(found: &Changes<'_>, each: &[Proposal<'_>]) -> bool {
    let (first, _) = found[0];
    let mut others = found[1..].iter().filter(|it| it.0 != first);
    has_siblings(first, each)
        && others.all(|it| is_same_call(each[first].action, each[it.0].action))
}

/// Returns whether another action was pushed by the same call.
fn has_siblings(at: usize, each: &[Proposal<'_>]) -> bool {
    let mut others = (0..each.len()).filter(|other| *other != at);
    others.any(|other| is_same_call(each[at].action, each[other].action))
}

pub(super) fn is_same_call(one: &PendingAction, other: &PendingAction) -> bool {
    one.call.is_some() && one.call == other.call
}

/// Returns whether a path has exactly the changes that the reviews have of it.
fn is_expected(now: &[&Change], found: &Changes<'_>) -> bool {
    let (first, _) = found[0];
    if found.iter().all(|it| it.0 == first) {
        return now.len() == found.len()
            && now.iter().zip(found).all(|(now, it)| now.is_same(it.1));
    }
    match now {
        [now] => found.iter().all(|it| it.1.is_same(now)) || has_all_edits(now, found),
        _ => false,
    }
}

/// Returns whether the change has all edits of the others, at their lines, and no other edits.
fn has_all_edits(now: &Change, found: &Changes<'_>) -> bool {
    let is_text = |change: &Change| change.kind == ChangeKind::Modified && change.diff.is_some();
    let mode = |change: &Change| change.after.as_ref().map(|facts| facts.mode);
    if !is_text(now)
        || !found
            .iter()
            .all(|it| is_text(it.1) && mode(it.1) == mode(now))
    {
        return false;
    }
    let edit = |hunk: Hunk| (hunk.line, hunk.removed, hunk.added);
    let mut expected: Vec<_> = found.iter().flat_map(|it| it.1.hunks()).map(edit).collect();
    expected.sort();
    expected == now.hunks().into_iter().map(edit).collect::<Vec<_>>()
}
