//! The changes to a layer that undo one commit.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use rustix::io::Errno;

use super::archive::Archive;
use super::{Conflicts, conflict};
use crate::error::{ConflictKind, Doing, RestoreError};
use crate::facts::{Change, Facts};
use crate::lower::Kind;
use crate::path::{depth, parent_and_name};
use crate::ticket::Restored;
use crate::tree::{At, Body, NodeId, ROOT};
use crate::view::{Inner, State};

/// Returns whether an undo removes the object at the change's path.
fn takes_away(change: &Change) -> bool {
    change.after.is_some() && (change.before.is_none() || is_replaced_link(change))
}

/// Returns whether an undo creates an object at the path before the change.
fn makes_again(change: &Change) -> bool {
    change.before.is_some() && (change.after.is_none() || is_replaced_link(change))
}

/// Returns whether another link takes the place of a link. A link can't be changed.
fn is_replaced_link(change: &Change) -> bool {
    let after = change.after.as_ref();
    !change.is_moved && after.is_some_and(|after| after.kind == Kind::Link)
}

/// The undo of one commit in a layer.
pub(super) struct Undo<'a> {
    pub view: &'a Arc<Inner>,
    pub state: &'a mut State,
    pub archive: &'a Archive<'a>,
    /// The new contents of texts that were edited since, by their current paths.
    pub merged: &'a BTreeMap<&'a str, String>,
    pub conflicts: Conflicts,
    pub restored: Restored,
}

/// A change, its number in the record, and the object that it made.
type Made<'a> = (usize, &'a Change, Option<NodeId>);

impl<'a> Undo<'a> {
    /// Undoes all changes but the skipped ones.
    pub fn run(&mut self, skipped: &Conflicts) -> Result<(), RestoreError> {
        let changes = self.archive.record.changes.iter().enumerate();
        // Each object is found by its current path, before anything moves.
        let mut made: Vec<Made<'a>> = Vec::new();
        for (number, change) in changes.filter(|(number, _)| !skipped.contains_key(number)) {
            let id = match change.after {
                Some(_) => Some(self.own(&change.path)?),
                None => None,
            };
            made.push((number, change, id));
        }
        made.sort_by_key(|(_, change, _)| Reverse(depth(&change.path)));
        for (_, change, id) in &made {
            if let Some(id) = *id
                && (change.is_moved || takes_away(change))
            {
                self.leave(change, id)?;
            }
        }
        made.sort_by_key(|(_, change, _)| depth(change.original_path()));
        for (number, change, id) in &made {
            match *id {
                _ if makes_again(change) => self.make_again(*number, change)?,
                Some(id) if change.is_moved => self.return_to_place(*number, change, id)?,
                _ => {}
            }
        }
        for (_, change, id) in &made {
            if let (Some(before), Some(after), Some(id)) = (&change.before, &change.after, *id) {
                match before.kind {
                    Kind::File => self.rewrite(change, (before, after), id)?,
                    Kind::Directory if before.mode != after.mode => {
                        self.restored.permissions.push(change.path.clone());
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn find(&self, path: &str) -> io::Result<Option<At>> {
        self.state.tree.find(&self.view.lower, path)
    }

    fn own(&mut self, path: &str) -> Result<NodeId, RestoreError> {
        let owned = self.find(path).and_then(|found| match found {
            Some(at) => self.state.own_found(self.view, &at),
            None => Err(Errno::STALE.into()),
        });
        Ok(owned.doing(|| format!("look at {path}"))?)
    }

    /// Removes an object from its place. A directory stays if something else is in it.
    fn leave(&mut self, change: &Change, id: NodeId) -> Result<(), RestoreError> {
        let path = &change.path;
        let removing = || format!("remove {path}");
        let at = At::Node(id);
        let is_directory = self.state.tree.kind(&at) == Kind::Directory;
        if takes_away(change) && is_directory {
            let lower = &self.view.lower;
            if !self.state.is_empty(lower, &at).doing(removing)? {
                self.restored.left.push(path.clone());
                return Ok(());
            }
        }
        self.own_parent_of(id).doing(removing)?;
        let unlinked = self.state.tree.unlink(&self.view.lower, id);
        Ok(unlinked.doing(removing)?)
    }

    fn own_parent_of(&mut self, id: NodeId) -> io::Result<()> {
        let link = self.state.tree.node(id).link.as_ref();
        let parent = link.map_or(ROOT, |(parent, _)| *parent);
        self.state
            .own_directory(self.view, &At::Node(parent))
            .map(drop)
    }

    /// Returns the directory of a path, if nothing is at the path. Otherwise records a conflict of
    /// the change with this number.
    fn free_place(&mut self, number: usize, path: &str) -> Result<Option<NodeId>, RestoreError> {
        let restoring = || format!("restore {path}");
        let (parent, _) = parent_and_name(path);
        let directory = self.find(parent).doing(restoring)?;
        let directory = directory.filter(|at| self.state.tree.kind(at) == Kind::Directory);
        let in_the_way = match directory {
            None => Some((parent, ConflictKind::Changed)),
            Some(_) => {
                let found = self.find(path).doing(restoring)?;
                found.map(|_| (path, ConflictKind::Appeared))
            }
        };
        if let Some((path, what)) = in_the_way {
            self.conflicts.insert(number, conflict(path, what));
            return Ok(None);
        }
        let owned = directory.map(|directory| self.state.own_directory(self.view, &directory));
        Ok(owned.transpose().doing(restoring)?)
    }

    fn return_to_place(
        &mut self,
        number: usize,
        change: &Change,
        id: NodeId,
    ) -> Result<(), RestoreError> {
        let path = change.original_path();
        if let Some(directory) = self.free_place(number, path)? {
            self.state.tree.link(id, directory, parent_and_name(path).1);
        }
        Ok(())
    }

    fn make_again(&mut self, number: usize, change: &Change) -> Result<(), RestoreError> {
        let path = change.original_path();
        let (Some(before), Some(directory)) = (&change.before, self.free_place(number, path)?)
        else {
            return Ok(());
        };
        let body = match before.kind {
            Kind::Directory => Body::Directory(Default::default()),
            Kind::File => Body::File(Some(self.archive.content(self.state, path, before)?)),
            Kind::Link => Body::Link(Some(self.target(path, before)?)),
            Kind::Special => return Err(RestoreError::Incomplete(path.to_owned())),
        };
        let making = || format!("restore {path}");
        let now = self.state.layer().doing(making)?.now();
        let id = self.state.tree.make(body, before.mode, now).doing(making)?;
        if before.kind == Kind::File {
            self.state.tree.node_mut(id).attributes_of = self.archive.slot(path);
        }
        self.state.tree.link(id, directory, parent_and_name(path).1);
        Ok(())
    }

    fn rewrite(
        &mut self,
        change: &Change,
        (before, after): (&Facts, &Facts),
        id: NodeId,
    ) -> Result<(), RestoreError> {
        let path = change.original_path();
        let merged = self.merged.get(&*change.path);
        if before.digest != after.digest {
            let writing = || format!("restore {path}");
            let content = match merged {
                Some(text) => {
                    let layer = self.state.layer().doing(writing)?;
                    layer.spill.of(text.as_bytes()).doing(writing)?
                }
                None => self.archive.content(self.state, path, before)?,
            };
            self.state.check_writable(self.view, id).doing(writing)?;
            self.state.tree.node_mut(id).body = Body::File(Some(content));
        }
        let attributes_of = self.archive.slot(path);
        let node = self.state.tree.node_mut(id);
        if merged.is_none() {
            // The file has the attributes that the commit gave it, so those of the original are
            // right.
            node.mode = before.mode;
            node.attributes_of = attributes_of;
            return Ok(());
        }
        // The contents are partly of others, and the original's set-user-ID and capabilities were
        // not meant for them.
        if before.mode != after.mode {
            node.mode = before.mode & 0o1777;
        }
        self.restored.merged.push(path.to_owned());
        Ok(())
    }

    /// Returns the original target of a link.
    fn target(&self, path: &str, before: &Facts) -> Result<Arc<str>, RestoreError> {
        let target = before.target.as_deref().map(Arc::from);
        target.ok_or_else(|| RestoreError::Incomplete(path.to_owned()))
    }
}
