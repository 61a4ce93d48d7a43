//! Undoes a commit: makes a layer that shows the folder as it was before.
//!
//! Everything that the commit made must still be as it was left; nothing that another program
//! wrote since is overwritten or removed. The layer is then committed like any other.

use std::cmp::Reverse;
use std::sync::Arc;

use rustix::io::Errno;

use crate::change::{Change, Facts, digest_of_content};
use crate::commit::{Record, recorded};
use crate::content::Content;
use crate::error::{Conflict, ConflictKind, Doing, RestoreError};
use crate::kept::Left;
use crate::lower::{Kind, Stamp};
use crate::path::{depth, parent_and_name};
use crate::tree::{At, Body, NodeId, ROOT};
use crate::view::{Inner, RealFolder, State, View};
use crate::workspace::Workspace;

/// The result of undoing a commit in a layer.
#[derive(Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restored {
    /// The title of the commit.
    pub title: String,
    /// Directories that the commit created and that stay, because something else is in them now.
    pub left: Vec<String>,
    /// Directories that the commit replaced by others with other permissions, which stay.
    pub permissions: Vec<String>,
}

impl View {
    /// Undoes a commit in the open layer, which must be empty. If it fails, the layer may have a
    /// part of the changes: [abandon](Self::abandon) it.
    ///
    /// Contents, permissions, names, symbolic links and directories are restored. Files get their
    /// owner, group and extended attributes back as far as this process may set them; the changes
    /// list the others. Directories get only their permissions back, and hard links stay parted.
    ///
    /// # Errors
    /// [`RestoreError`].
    pub fn restore(&self, workspace: &Workspace, id: &str) -> Result<Restored, RestoreError> {
        workspace.recover()?;
        if !self.inner.state().tree.is_untouched() {
            return Err(RestoreError::NotEmpty);
        }
        let reading = || "read the originals for an undo".to_owned();
        let recorded = recorded(&workspace.inner, id).doing(reading)?;
        let (record, folder) = recorded.ok_or_else(|| RestoreError::NotKept(id.to_owned()))?;
        let seen = seen_as_left(&mut self.real_to_compare(), &record)?;
        let mut undo = Undo {
            view: &self.inner,
            state: &mut self.inner.state(),
            record: &record,
            folder: &folder,
            conflicts: Vec::new(),
            restored: Restored {
                title: record.title.to_string(),
                ..Restored::default()
            },
        };
        undo.run()?;
        let restored = undo.end()?;
        // The layer notes the state of an object when it first touches it. If that is the state
        // that was compared, the commit notices every later change.
        let mut real = self.real();
        let mut changed = Vec::new();
        for (path, stamp) in &seen {
            let now = real.stamp(path).doing(|| format!("look at {path}"))?;
            if !now.is_some_and(|now| stamp.is_unchanged(&now)) {
                changed.push(conflict(path, ConflictKind::Changed));
            }
        }
        if changed.is_empty() {
            Ok(restored)
        } else {
            Err(RestoreError::Changed(changed))
        }
    }
}

fn conflict(path: &str, what: ConflictKind) -> Conflict {
    Conflict {
        path: path.to_owned(),
        what,
    }
}

/// Checks that everything that the commit made is as it was left, and returns the stamps.
fn seen_as_left<'c>(
    real: &mut RealFolder<'_>,
    record: &'c Record<'_>,
) -> Result<Vec<(&'c str, Stamp)>, RestoreError> {
    let mut seen = Vec::new();
    let mut changed = Vec::new();
    for change in record.changes.iter() {
        let Some(after) = &change.after else { continue };
        let path = &*change.path;
        let looking = || format!("look at {path}");
        let left = record.left.get(path);
        match stamp_if_as_left(real, change, (after, left)).doing(looking)? {
            Some(stamp) => seen.push((path, stamp)),
            None => changed.push(conflict(path, ConflictKind::Changed)),
        }
    }
    if changed.is_empty() {
        Ok(seen)
    } else {
        Err(RestoreError::Changed(changed))
    }
}

fn stamp_if_as_left(
    real: &mut RealFolder<'_>,
    change: &Change,
    (after, left): (&Facts, Option<&Left>),
) -> std::io::Result<Option<Stamp>> {
    let Some(stamp) = real.stamp(&change.path)? else {
        return Ok(None);
    };
    if stamp.kind != after.kind {
        return Ok(None);
    }
    // Its inode identifies the contents of a large file that was only moved.
    if let Some(identity) = &after.identity {
        let same = (identity.inode, identity.size, identity.modified, after.mode)
            == (stamp.inode, stamp.size, stamp.modified, stamp.mode);
        return Ok(same.then_some(stamp));
    }
    match after.kind {
        Kind::Directory | Kind::Special => Ok(Some(stamp)),
        Kind::Link => {
            let now = real.facts(&change.path)?;
            Ok(now
                .filter(|(_, now)| now.target == after.target)
                .map(|(stamp, _)| stamp))
        }
        Kind::File => {
            // The permissions that were asked for may differ from those that the file got.
            let has_attributes = match left {
                Some(left) => *left == real.left(&change.path)?,
                None => stamp.mode == after.mode,
            };
            if !has_attributes || stamp.size != after.size {
                return Ok(None);
            }
            let now = real.facts(&change.path)?;
            Ok(now
                .filter(|(_, now)| now.digest == after.digest)
                .map(|(stamp, _)| stamp))
        }
    }
}

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

fn original_path(change: &Change) -> &str {
    change.from.as_deref().unwrap_or(&change.path)
}

/// The undo of one commit in a layer.
struct Undo<'a> {
    view: &'a Arc<Inner>,
    state: &'a mut State,
    record: &'a Record<'static>,
    /// The path of the folder with the originals.
    folder: &'a str,
    conflicts: Vec<Conflict>,
    restored: Restored,
}

impl Undo<'_> {
    fn run(&mut self) -> Result<(), RestoreError> {
        // Each object is found by its current path, before anything moves.
        let mut found: Vec<(&Change, Option<NodeId>)> = Vec::new();
        for change in self.record.changes.iter() {
            let id = match change.after {
                Some(_) => Some(self.own(&change.path)?),
                None => None,
            };
            found.push((change, id));
        }
        found.sort_by_key(|(change, _)| Reverse(depth(&change.path)));
        for (change, id) in &found {
            if let Some(id) = *id
                && (change.is_moved || takes_away(change))
            {
                self.leave(change, id)?;
            }
        }
        found.sort_by_key(|(change, _)| depth(original_path(change)));
        for (change, id) in &found {
            match *id {
                _ if makes_again(change) => self.make_again(change)?,
                Some(id) if change.is_moved => self.return_to_place(change, id)?,
                _ => {}
            }
        }
        for (change, id) in &found {
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

    fn end(self) -> Result<Restored, RestoreError> {
        if self.conflicts.is_empty() {
            Ok(self.restored)
        } else {
            Err(RestoreError::Changed(self.conflicts))
        }
    }

    /// Returns the object at a path, without following links.
    fn find(&self, path: &str) -> std::io::Result<Option<At>> {
        let mut at = At::Node(ROOT);
        for name in path.split('/').filter(|name| !name.is_empty()) {
            if self.state.tree.kind(&at) != Kind::Directory {
                return Ok(None);
            }
            match self.state.tree.child(&self.view.lower, &at, name)? {
                Some(child) => at = child,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
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

    fn own_parent_of(&mut self, id: NodeId) -> std::io::Result<()> {
        let link = self.state.tree.node(id).link.as_ref();
        let parent = link.map_or(ROOT, |(parent, _)| *parent);
        self.state
            .own_directory(self.view, &At::Node(parent))
            .map(drop)
    }

    /// Returns the directory of a path, if nothing is at the path. Otherwise records a conflict.
    fn free_place(&mut self, path: &str) -> Result<Option<NodeId>, RestoreError> {
        let restoring = || format!("restore {path}");
        let (parent, _) = parent_and_name(path);
        let directory = self.find(parent).doing(restoring)?;
        let directory = directory.filter(|at| self.state.tree.kind(at) == Kind::Directory);
        let Some(directory) = directory else {
            self.conflicts.push(conflict(parent, ConflictKind::Changed));
            return Ok(None);
        };
        if self.find(path).doing(restoring)?.is_some() {
            self.conflicts.push(conflict(path, ConflictKind::Appeared));
            return Ok(None);
        }
        let owned = self.state.own_directory(self.view, &directory);
        Ok(Some(owned.doing(restoring)?))
    }

    fn return_to_place(&mut self, change: &Change, id: NodeId) -> Result<(), RestoreError> {
        let path = original_path(change);
        if let Some(directory) = self.free_place(path)? {
            self.state.tree.link(id, directory, parent_and_name(path).1);
        }
        Ok(())
    }

    fn make_again(&mut self, change: &Change) -> Result<(), RestoreError> {
        let path = original_path(change);
        let (Some(before), Some(directory)) = (&change.before, self.free_place(path)?) else {
            return Ok(());
        };
        let body = match before.kind {
            Kind::Directory => Body::Directory(Default::default()),
            Kind::File => Body::File(Some(self.content(path, before)?)),
            Kind::Link => Body::Link(Some(self.target(path, before)?)),
            Kind::Special => return Err(RestoreError::Incomplete(path.to_owned())),
        };
        let making = || format!("restore {path}");
        let now = self.state.layer().doing(making)?.now();
        let id = self.state.tree.make(body, before.mode, now).doing(making)?;
        if before.kind == Kind::File {
            self.state.tree.node_mut(id).attributes_of = self.slot(path);
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
        let path = original_path(change);
        if before.digest != after.digest {
            let content = self.content(path, before)?;
            let writing = || format!("restore {path}");
            self.state.check_writable(self.view, id).doing(writing)?;
            self.state.tree.node_mut(id).body = Body::File(Some(content));
        }
        // The file has the attributes that the commit gave it, so those of the original are right.
        let attributes_of = self.slot(path);
        let node = self.state.tree.node_mut(id);
        node.mode = before.mode;
        node.attributes_of = attributes_of;
        Ok(())
    }

    fn slot(&self, path: &str) -> Option<Arc<str>> {
        let slot = self.record.slots.get(path)?;
        Some(format!("{}/{slot}", self.folder).into())
    }

    /// Returns the original contents of a file.
    fn content(&self, path: &str, before: &Facts) -> Result<Content, RestoreError> {
        let incomplete = || RestoreError::Incomplete(path.to_owned());
        let slot = self.slot(path).ok_or_else(incomplete)?;
        let reading = || format!("read the original of {path}");
        let opened = self.view.lower.open_file(&slot);
        let (file, stamp) = match opened {
            Err(error) if error.raw_os_error() == Some(Errno::NOENT.raw_os_error()) => {
                return Err(incomplete());
            }
            opened => opened.doing(reading)?,
        };
        let is_same_version = match &before.identity {
            Some(identity) => (identity.inode, identity.modified) == (stamp.inode, stamp.modified),
            None => true,
        };
        if stamp.size != before.size || !is_same_version {
            return Err(incomplete());
        }
        let layer = self.state.layer().doing(reading)?;
        let content = layer.spill.copy_of(&file).doing(reading)?;
        match &before.digest {
            Some(digest) => {
                let until = self.state.compare_until();
                let found = digest_of_content(&content, until).doing(reading)?;
                (found == *digest).then_some(content).ok_or_else(incomplete)
            }
            None => Ok(content),
        }
    }

    /// Returns the original target of a link.
    fn target(&self, path: &str, before: &Facts) -> Result<Arc<str>, RestoreError> {
        let target = before.target.as_deref().map(Arc::from);
        target.ok_or_else(|| RestoreError::Incomplete(path.to_owned()))
    }
}
