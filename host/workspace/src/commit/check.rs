//! Checks that the folder is still in the state that the layer is based on.

use crate::error::{CommitError, Conflict, ConflictKind, Doing, Failed};
use crate::lower::{Kind, Lower};
use crate::parents::Parents;
use crate::path::{PRIVATE, join};
use crate::tree::{NodeId, ROOT, Tree};

/// Checks that everything that the layer touched is unchanged.
pub(super) fn check_unchanged(tree: &Tree, lower: &Lower) -> Result<(), CommitError> {
    let mut parents = lower.parents();
    let mut conflicts = Vec::new();
    let mut found = |path: &str, what| {
        conflicts.push(Conflict {
            path: path.to_owned(),
            what,
        });
    };
    for id in tree.ids() {
        let Some(origin) = &tree.node(id).origin else {
            continue;
        };
        let now = parents.stamp(&origin.path);
        let now = now.doing(|| format!("look at {}", origin.path))?;
        let unchanged = match (id == ROOT, now) {
            (_, None) => false,
            (_, Some(now)) => origin.stamp.is_unchanged(&now),
        };
        if !unchanged {
            found(&origin.path, ConflictKind::Changed);
        } else if is_removed_directory(tree, id) {
            // The directory is removed with everything in it, so it must not contain unseen names.
            for path in unseen(tree, lower, id)? {
                found(&path, ConflictKind::Appeared);
            }
        }
    }
    for path in taken_names(tree, &mut parents)? {
        found(&path, ConflictKind::Appeared);
    }
    if conflicts.is_empty() {
        Ok(())
    } else {
        Err(CommitError::Conflict(conflicts))
    }
}

fn is_removed_directory(tree: &Tree, id: NodeId) -> bool {
    let node = tree.node(id);
    id != ROOT && node.link.is_none() && node.body.kind() == Kind::Directory
}

fn unseen(tree: &Tree, lower: &Lower, id: NodeId) -> Result<Vec<String>, CommitError> {
    let Some(origin) = &tree.node(id).origin else {
        return Ok(Vec::new());
    };
    let looking = || format!("list {}", origin.path);
    let names = lower.list(&origin.path).doing(looking)?;
    let seen = tree.children(id);
    let unseen = names.into_iter().filter_map(|(name, _)| match name {
        Some(name) if seen.contains_key(&*name) => None,
        Some(name) => Some(join(&origin.path, &name)),
        None => Some(join(&origin.path, "?")),
    });
    let mut unseen: Vec<_> = unseen.collect();
    let private = join(&origin.path, PRIVATE);
    if lower.stamp(&private).doing(looking)?.is_some() {
        unseen.push(private);
    }
    Ok(unseen)
}

/// Returns the names in the real folder that must be free but were created by another program.
fn taken_names(tree: &Tree, parents: &mut Parents<'_>) -> Result<Vec<String>, Failed> {
    let mut taken = Vec::new();
    for id in tree.ids() {
        let Some((directory, name)) = &tree.node(id).link else {
            continue;
        };
        if tree.is_in_place(id) {
            continue;
        }
        let Some(origin) = &tree.node(*directory).origin else {
            continue;
        };
        let path = join(&origin.path, name);
        if tree.by_origin(&path).is_none()
            && parents
                .stamp(&path)
                .doing(|| format!("look at {path}"))?
                .is_some()
        {
            taken.push(tree.checked_path_of(id).ok().flatten().unwrap_or(path));
        }
    }
    Ok(taken)
}
