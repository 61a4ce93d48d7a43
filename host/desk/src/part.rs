//! The part of an action's effects that patterns select.

use std::collections::BTreeSet;

use airlock_host::effects::{Change, Effects, Selection, needs};
use airlock_rules::Pattern;

/// The most paths that an error lists.
const MAX_LISTED: usize = 10;

/// The patterns of the paths whose changes are to be applied: a name such as `*.md`, a directory
/// such as `docs/`, or a path.
#[derive(Debug, Clone, Default)]
pub struct Patterns {
    /// Only what these match is applied, and what that needs. Everything if there are none.
    pub only: Vec<Pattern>,
    /// Nothing that these match is applied, and nothing that needs it.
    pub except: Vec<Pattern>,
}

/// The reason why patterns select no part.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartError {
    /// The host has not seen the effects.
    #[error("the host has not seen what the action would change, so it can only be applied whole")]
    Unverified,
    /// A pattern matches no change.
    #[error("`{pattern}` matches no change of the action; it changes {changes}")]
    NoMatch {
        /// The pattern.
        pattern: String,
        /// The paths of the changes.
        changes: String,
    },
    /// Nothing is left.
    #[error("nothing of the action is left to apply")]
    Nothing,
}

impl Patterns {
    /// Returns whether everything is selected.
    pub fn is_empty(&self) -> bool {
        self.only.is_empty() && self.except.is_empty()
    }

    /// Returns the selection of the matching changes, with what they need and without what needs
    /// one that is left out.
    ///
    /// # Errors
    /// [`PartError`].
    pub fn select(&self, effects: &Effects) -> Result<Selection, PartError> {
        if self.is_empty() {
            return Ok(Selection::new());
        }
        if !effects.verified {
            return Err(PartError::Unverified);
        }
        let all = 0..effects.changes.len();
        let needs = needs(effects);
        let excluded = needs.with_dependent(matching(&self.except, effects)?);
        let wanted = if self.only.is_empty() {
            all.clone().collect()
        } else {
            matching(&self.only, effects)?
        };
        let taken = needs.with_needed(wanted.difference(&excluded).copied());
        let mut selection = Selection::new();
        selection.leave_out(all.filter(|at| !taken.contains(at)));
        if selection.is_nothing(effects) {
            return Err(PartError::Nothing);
        }
        Ok(selection)
    }
}

/// Returns the changes that any of the patterns match. Each must match one.
fn matching(patterns: &[Pattern], effects: &Effects) -> Result<BTreeSet<usize>, PartError> {
    let mut all = BTreeSet::new();
    for pattern in patterns {
        let found = effects.changes.iter().enumerate();
        let mut found = found.filter(|(_, change)| is_matched(pattern, change));
        let Some((first, _)) = found.next() else {
            return Err(PartError::NoMatch {
                pattern: pattern.as_str().to_owned(),
                changes: listed(effects),
            });
        };
        all.insert(first);
        all.extend(found.map(|(at, _)| at));
    }
    Ok(all)
}

fn is_matched(pattern: &Pattern, change: &Change) -> bool {
    let from = change.from.as_deref();
    pattern.matches(&change.path) || from.is_some_and(|from| pattern.matches(from))
}

fn listed(effects: &Effects) -> String {
    let paths = effects.changes.iter().take(MAX_LISTED);
    let paths: Vec<_> = paths
        .map(|change| airlock_render::escape_line(&change.path))
        .collect();
    match effects.changes.len().saturating_sub(MAX_LISTED) {
        0 if paths.is_empty() => "nothing".to_owned(),
        0 => paths.join(", "),
        more => format!("{}, and {more} more", paths.join(", ")),
    }
}

/// Returns whether a part of these effects can be applied.
pub fn is_divisible(effects: &Effects) -> bool {
    effects.verified
        && match &effects.changes[..] {
            [one] => one.before.is_some() && one.after.is_some() && one.hunks().len() > 1,
            changes => changes.len() > 1,
        }
}

#[cfg(test)]
mod tests {
    use airlock_host::effects::{ChangeKind, Facts, ObjectKind};

    use super::*;

    fn effects() -> Effects {
        let change = |kind, path: &str, object| {
            let mut change = Change::new(kind, path);
            change.after = Some(Facts::new(object));
            change
        };
        let mut moved = change(ChangeKind::Renamed, "new/b.md", ObjectKind::File);
        moved.from = Some("old.md".to_owned());
        moved.before.clone_from(&moved.after);
        Effects::verified(vec![
            change(ChangeKind::Created, "new", ObjectKind::Directory),
            change(ChangeKind::Created, "new/a.txt", ObjectKind::File),
            moved,
            change(ChangeKind::Created, "z.txt", ObjectKind::File),
        ])
    }

    #[test]
    fn patterns_select_what_they_match_with_what_it_needs() {
        let check = |only: &[&str], except: &[&str], expected: Result<&[usize], &str>| {
            let patterns = |texts: &[&str]| {
                let patterns = texts.iter().map(|text| Pattern::new(*text).unwrap());
                patterns.collect()
            };
            let patterns = Patterns {
                only: patterns(only),
                except: patterns(except),
            };
            let found = patterns.select(&effects());
            let found = found.map(|it| it.left_out().collect::<Vec<_>>());
            let expected = expected.map(<[usize]>::to_vec).map_err(str::to_owned);
            assert_eq!(found.map_err(|it| it.to_string()), expected);
        };
        check(&[], &[], Ok(&[]));
        check(&["z.txt"], &[], Ok(&[0, 1, 2]));
        check(&["new/a.txt"], &[], Ok(&[2, 3]));
        check(&["old.md"], &[], Ok(&[1, 3]));
        check(&[], &["new"], Ok(&[0, 1, 2]));
        check(&["*.txt"], &["z.txt"], Ok(&[2, 3]));
        check(
            &["*.md"],
            &["new/"],
            Err("nothing of the action is left to apply"),
        );
        let none =
            "`docs/` matches no change of the action; it changes new, new/a.txt, new/b.md, z.txt";
        check(&["docs/"], &[], Err(none));
    }
}
