//! The changes in a layer, in a form for review.

mod deadline;
mod facts;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use crate::facts::{Change, Facts, SideEffects};
use crate::kept::{Ability, Kept};
use crate::lower::{Kind, Lower};
use crate::parents::Parents;
use crate::path::parent_and_name;
use crate::tree::{Body, Node, NodeId, Origin, ROOT, Tree};
use crate::view::View;

pub(crate) use deadline::Deadline;
pub(crate) use facts::{digest_of_content, digest_of_text, real_facts};
use facts::{own_facts, unread_facts};

impl Change {
    /// Creates a change of an object that was not moved, without side effects.
    fn in_place(path: String, before: Option<Facts>, after: Option<Facts>) -> Self {
        Self {
            path,
            from: None,
            is_moved: false,
            before,
            after,
            side_effects: SideEffects::default(),
        }
    }

    /// Returns the path before the change.
    pub(crate) fn original_path(&self) -> &str {
        self.from.as_deref().unwrap_or(&self.path)
    }
}

impl View {
    /// Returns the changes in the open layer, sorted by path; empty if no layer is open.
    ///
    /// The end state is compared with the folder: a file that was rewritten with the same contents,
    /// or created and removed again, is not a change.
    ///
    /// # Errors
    /// System errors; `ESTALE` if the real folder changed below the layer;
    /// [`io::ErrorKind::TimedOut`] if the comparison exceeds
    /// [`LayerOptions::compare_time`](crate::LayerOptions).
    pub fn changes(&self) -> io::Result<Vec<Change>> {
        let state = self.inner.state();
        let deadline = state.compare_until();
        Ok(compare(&state.tree, &self.inner.lower, deadline)?.changes)
    }
}

/// Maximum size of the paths and link targets in a change set, in bytes. Several copies of them
/// are in memory until the set is consumed.
const NAMES: usize = 128 << 20;

/// The result of comparing a layer with the folder.
pub(crate) struct Compared {
    pub changes: Vec<Change>,
    /// Objects of the real folder that have other contents or permissions in the layer, with the
    /// attributes that the files keep.
    pub rewritten: HashMap<NodeId, Option<Kept>>,
}

pub(crate) fn compare(tree: &Tree, lower: &Lower, until: Deadline) -> io::Result<Compared> {
    let mut parents = lower.parents();
    let moved_directories = moved_directories(tree)?;
    let ability = Ability::of(lower)?;
    let mut rewritten = HashMap::new();
    let (mut found, mut elsewhere) = (Vec::new(), Vec::new());
    let mut names = 0;
    for id in tree.ids().filter(|id| *id != ROOT) {
        let node = tree.node(id);
        let path = tree.checked_path_of(id)?;
        names += path.as_ref().map_or(0, String::len);
        names += node.origin.as_ref().map_or(0, |origin| origin.path.len());
        if let Body::Link(Some(target)) = &node.body {
            names += target.len();
        }
        if names > NAMES {
            return Err(io::Error::other(format!(
                "its paths and links are more than {} MiB together",
                NAMES >> 20
            )));
        }
        match (&node.origin, path) {
            (None, None) => {}
            (None, Some(path)) => {
                let after = own_facts(node, until)?;
                let mut change = Change::in_place(path, None, Some(after));
                if let (Some(original), Some(after)) = (&node.attributes_of, &mut change.after) {
                    let (file, stamp) = parents.open_file(original)?;
                    let (kept, beside) = ability.keep(&file, &stamp, false)?;
                    after.mode = kept.mode(node.mode);
                    change.side_effects = SideEffects {
                        parts_hard_links: None,
                        ..beside
                    };
                    rewritten.insert(id, Some(kept));
                }
                found.push(change)
            }
            (Some(origin), None) => {
                let before = unread_facts(&mut parents, &origin.path, &origin.stamp, until)?;
                let gone = Change::in_place(origin.path.to_string(), Some(before), None);
                // An object created at the old path does not take the moved object's place.
                if is_below(&origin.path, &moved_directories) {
                    elsewhere.push(gone)
                } else {
                    found.push(gone)
                }
            }
            (Some(origin), Some(path)) => {
                // An object may have returned to its old path through another directory. It counts
                // as moved if that directory is a different one now.
                let moved = !tree.is_in_place(id)
                    && (path != *origin.path || is_below(&path, &moved_directories));
                let Some((before, mut after)) =
                    kept_object(&mut parents, node, origin, moved, until)?
                else {
                    continue;
                };
                let is_rewritten = before.digest != after.digest || !node.keeps_attributes();
                let (mut keeps, mut side_effects) = (None, SideEffects::default());
                if is_rewritten && before.kind == Kind::File {
                    let (real, stamp) = match &node.attributes_of {
                        Some(original) => parents.open_file(original)?,
                        None => (parents.open_file(&origin.path)?.0, origin.stamp),
                    };
                    let is_written = node.has_new_contents() && node.attributes_of.is_none();
                    let (kept, mut beside) = ability.keep(&real, &stamp, is_written)?;
                    let links = origin.stamp.links;
                    beside.parts_hard_links = (links > 1).then_some(links);
                    after.mode = kept.mode(node.committed_mode());
                    (keeps, side_effects) = (Some(kept), beside);
                }
                let is_same = (&before.digest, before.mode) == (&after.digest, after.mode);
                if !moved && is_same && node.attributes_of.is_none() {
                    continue;
                }
                if is_rewritten {
                    rewritten.insert(id, keeps);
                }
                found.push(Change {
                    from: (moved || path != *origin.path).then(|| origin.path.to_string()),
                    is_moved: moved,
                    side_effects,
                    ..Change::in_place(path, Some(before), Some(after))
                });
            }
        }
    }
    let mut changes = joined(found, |path| {
        let (file, stamp) = parents.open_file(path)?;
        ability.replace(&file, &stamp)
    })?;
    changes.extend(elsewhere);
    // An object that moved into the place of a deleted one follows it.
    let place = |it: &Change| (it.is_moved, it.after.is_none());
    changes.sort_by(|one, other| (&one.path, place(one)).cmp(&(&other.path, place(other))));
    Ok(Compared { changes, rewritten })
}

/// Returns the change to an object of the real folder that still has a place; `None` if it is
/// unchanged.
fn kept_object(
    parents: &mut Parents<'_>,
    node: &Node,
    origin: &Origin,
    moved: bool,
    until: Deadline,
) -> io::Result<Option<(Facts, Facts)>> {
    match &node.body {
        Body::File(Some(_)) => {
            let before = real_facts(parents, &origin.path, &origin.stamp, until)?;
            Ok(Some((before, own_facts(node, until)?)))
        }
        _ if !moved && node.keeps_attributes() => Ok(None),
        _ => {
            let is_only_moved = node.keeps_attributes();
            let before = if is_only_moved {
                unread_facts(parents, &origin.path, &origin.stamp, until)?
            } else {
                real_facts(parents, &origin.path, &origin.stamp, until)?
            };
            let mode = match before.kind {
                Kind::Link => 0,
                _ => node.mode,
            };
            let after = Facts {
                mode,
                ..before.clone()
            };
            Ok(Some((before, after)))
        }
    }
}

/// Returns the real paths of directories that have other paths in the layer.
fn moved_directories(tree: &Tree) -> io::Result<HashSet<&str>> {
    let mut moved = HashSet::new();
    for id in tree.ids().filter(|id| *id != ROOT) {
        let node = tree.node(id);
        if let (Body::Directory(_), Some(origin)) = (&node.body, &node.origin)
            && tree
                .checked_path_of(id)?
                .is_some_and(|path| path != *origin.path)
        {
            moved.insert(&*origin.path);
        }
    }
    Ok(moved)
}

fn is_below(path: &str, directories: &HashSet<&str>) -> bool {
    let (mut above, _) = parent_and_name(path);
    while !directories.is_empty() && !above.is_empty() {
        if directories.contains(above) {
            return true;
        }
        (above, _) = parent_and_name(above);
    }
    false
}

/// Merges the removal of an object and the creation of another at the same path into one change,
/// or none. `replaced` returns the side effects of replacing a file.
fn joined(
    found: Vec<Change>,
    mut replaced: impl FnMut(&str) -> io::Result<SideEffects>,
) -> io::Result<Vec<Change>> {
    let mut by_path: BTreeMap<String, Vec<Change>> = BTreeMap::new();
    for change in found {
        by_path.entry(change.path.clone()).or_default().push(change);
    }
    let mut joined = Vec::new();
    for (path, changes) in by_path {
        let made = changes.iter().find(|change| change.before.is_none());
        let gone = changes.iter().find(|change| change.after.is_none());
        let (Some(Some(after)), Some(Some(before))) =
            (made.map(|it| &it.after), gone.map(|it| &it.before))
        else {
            joined.extend(changes);
            continue;
        };
        let side_effects = match (before.kind, after.kind) {
            (Kind::File, Kind::File) => replaced(&path)?,
            _ => SideEffects::default(),
        };
        if before == after && side_effects.is_empty() {
            continue;
        }
        if before.kind != after.kind {
            joined.extend(changes);
            continue;
        }
        joined.push(Change {
            side_effects,
            ..Change::in_place(path, Some(before.clone()), Some(after.clone()))
        });
    }
    Ok(joined)
}
