//! Names in a view's directories.

use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use super::Directory;
use crate::answer::{Entry, Listing, Metadata};
use crate::bounded::Paths;
use crate::lower::{Kind, Lower};
use crate::metadata::{identity_of, identity_of_real};
use crate::path::{PRIVATE, join};
use crate::tree::{At, Body, NodeId, ROOT};
use crate::view::State;

impl Directory {
    /// Lists the names in the directory.
    ///
    /// # Errors
    /// System errors.
    pub fn list(&self) -> io::Result<Listing> {
        let view = &self.held.view;
        let mut state = view.state();
        let at = state.at(&self.held)?;
        let mut listing = state.list(&view.lower, &at)?;
        if let Some(bounds) = &self.held.bounds {
            let paths = Paths::of(&state.tree, &at);
            // A count of names would tell how many there are out of bounds.
            listing.left_out = 0;
            listing
                .entries
                .retain(|entry| paths.join(&entry.name).is_listed(&**bounds, entry.kind));
        }
        Ok(listing)
    }

    /// Hides the parts of a directory's metadata that depend on entries out of bounds.
    pub(super) fn masked(&self, state: &State, at: &At, found: Metadata) -> Metadata {
        match &self.held.bounds {
            Some(bounds)
                if found.kind == Kind::Directory
                    && !Paths::of(&state.tree, at).is_covered(&**bounds) =>
            {
                found.without_contents()
            }
            _ => found,
        }
    }

    /// Returns the [`Metadata::identity`](crate::Metadata::identity) of a name that a listing of
    /// this directory returned, without looking at the object again; it may be gone by now.
    /// Returns `None` for a name that the layer has removed.
    ///
    /// # Errors
    /// If the directory is gone.
    pub fn identity_of(&self, name: &str) -> io::Result<Option<[u8; 16]>> {
        let state = self.held.view.state();
        let (below, id) = match state.at(&self.held)? {
            At::Lower(path, _) => return Ok(Some(identity_of_real(&join(&path, name)))),
            At::Node(id) => (state.tree.node(id).origin.as_ref(), id),
        };
        Ok(match state.tree.children(id).get(name) {
            Some(child) => child.map(|child| identity_of(&state, &At::Node(child))),
            None => below.map(|origin| identity_of_real(&join(&origin.path, name))),
        })
    }
}

impl State {
    /// Returns whether both are the same object. Two names of one file in the real folder are the
    /// same object, unless a layer has separated them.
    pub(super) fn is_same_object(&self, one: &At, other: &At) -> bool {
        let stamp = |at: &At| match at {
            At::Lower(_, stamp) => Some(*stamp),
            At::Node(id) => match self.tree.node(*id) {
                node if matches!(node.body, Body::File(Some(_))) => None,
                node => node.origin.as_ref().map(|origin| origin.stamp),
            },
        };
        match (one, other) {
            (At::Node(one), At::Node(other)) if one == other => true,
            _ => match (stamp(one), stamp(other)) {
                (Some(one), Some(other)) => one.is_same_object(&other),
                _ => false,
            },
        }
    }

    pub(crate) fn set_times(
        &mut self,
        id: NodeId,
        accessed: Option<SystemTime>,
        modified: Option<SystemTime>,
    ) {
        let node = self.tree.node_mut(id);
        node.accessed = accessed.or(node.accessed);
        node.modified = modified.or(node.modified);
    }

    pub(crate) fn is_empty(&mut self, lower: &Lower, at: &At) -> io::Result<bool> {
        let listing = self.list(lower, at)?;
        Ok(
            listing.entries.is_empty()
                && listing.left_out == 0
                && !self.hides_private(lower, at)?,
        )
    }

    /// Returns whether a directory contains a hidden private folder. Such a directory is another
    /// workspace and must not be removed.
    fn hides_private(&self, lower: &Lower, at: &At) -> io::Result<bool> {
        let path = match at {
            At::Lower(path, _) => path,
            At::Node(id) => match &self.tree.node(*id).origin {
                Some(origin) => &origin.path,
                None => return Ok(false),
            },
        };
        let private = join(path, PRIVATE);
        Ok(lower.stamp(&private)?.is_some())
    }

    pub(super) fn list(&mut self, lower: &Lower, at: &At) -> io::Result<Listing> {
        self.reads.read(&self.tree, at);
        let mut entries = Vec::new();
        let mut left_out = 0;
        let below = match at {
            At::Lower(path, _) => Some(Arc::clone(path)),
            At::Node(id) => {
                let node = self.tree.node(*id);
                let is_there = *id == ROOT || node.link.is_some();
                let origin = node.origin.as_ref().filter(|_| is_there);
                origin.map(|origin| Arc::clone(&origin.path))
            }
        };
        let changed = match at {
            At::Lower(..) => None,
            At::Node(id) => Some(self.tree.children(*id)).filter(|changed| !changed.is_empty()),
        };
        if let Some(path) = below {
            for (name, kind) in lower.list(&path)? {
                match name {
                    Some(name) if changed.is_some_and(|it| it.contains_key(&*name)) => {}
                    Some(name) => entries.push(Entry { name, kind }),
                    None => left_out += 1,
                }
            }
        }
        for (name, child) in changed.into_iter().flatten() {
            if let Some(child) = child {
                entries.push(Entry {
                    name: name.to_string(),
                    kind: self.tree.node(*child).body.kind(),
                });
            }
        }
        entries.sort_unstable();
        // A name that another program renames during the listing may appear twice.
        entries.dedup_by(|one, other| one.name == other.name);
        Ok(Listing { entries, left_out })
    }
}
