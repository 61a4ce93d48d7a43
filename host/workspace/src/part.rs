//! Takes a part of the changes in a layer: the others are as if they had not been made.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use rustix::io::Errno;

use crate::facts::Change;
use crate::path::{depth, parent_and_name};
use crate::tree::{At, Body, NodeId, ROOT};
use crate::view::{Inner, State, View};

impl View {
    /// Drops these changes of the open layer, and gives other contents to the files of some that
    /// stay. `changes` are all [changes](Self::changes) of the layer, and `left_out` and `contents`
    /// are about their indices. If it fails, the layer may have dropped some of them:
    /// [abandon](Self::abandon) it.
    ///
    /// Compare the changes of the layer afterwards: this doesn't check that all changes that
    /// [need](crate::Needs) a dropped one are dropped, too.
    ///
    /// # Errors
    /// System errors; `EEXIST` and `ENOENT` if the old place of an object is taken or gone, because
    /// a change stays that needs a dropped one.
    pub fn keep_part(
        &self,
        changes: &[Change],
        left_out: &BTreeSet<usize>,
        contents: &BTreeMap<usize, Vec<u8>>,
    ) -> io::Result<()> {
        let state = &mut *self.inner.state();
        state.layer()?;
        let mut dropped = Vec::new();
        for at in left_out {
            let change = changes.get(*at).ok_or(Errno::INVAL)?;
            dropped.push(Dropped::of(change, &self.inner, state)?);
        }
        for (at, bytes) in contents {
            let change = changes.get(*at).ok_or(Errno::INVAL)?;
            let id = node_at(&self.inner, state, &change.path)?;
            let content = state.layer()?.spill.of(bytes)?;
            match &mut state.tree.node_mut(id).body {
                Body::File(now) => *now = Some(content),
                _ => return Err(Errno::INVAL.into()),
            }
        }
        let lower = &self.inner.lower;
        dropped.sort_by_key(|it| Reverse(depth(&it.change.path)));
        for Dropped {
            change,
            before,
            now,
        } in &dropped
        {
            // An object that took the place of another is not that one.
            if let Some(id) = *now
                && (change.is_moved || now != before)
            {
                state.tree.unlink(lower, id)?;
            }
        }
        dropped.sort_by_key(|it| depth(it.change.original_path()));
        for Dropped { change, before, .. } in &dropped {
            if let Some(id) = *before {
                return_to_place(state, id, change.original_path())?;
            }
        }
        Ok(())
    }
}

/// A change to drop, with its objects.
struct Dropped<'c> {
    change: &'c Change,
    /// The object that the change removed, moved or rewrote.
    before: Option<NodeId>,
    /// The object that is at the path of the change. Often the same.
    now: Option<NodeId>,
}

impl<'c> Dropped<'c> {
    fn of(change: &'c Change, view: &Inner, state: &State) -> io::Result<Self> {
        let before = match &change.before {
            Some(_) => {
                let known = state.tree.by_origin(change.original_path());
                Some(known.ok_or(Errno::NOENT)?)
            }
            None => None,
        };
        let now = match &change.after {
            Some(_) => Some(node_at(view, state, &change.path)?),
            None => None,
        };
        Ok(Self {
            change,
            before,
            now,
        })
    }
}

/// Returns the node at a path. Every change has one.
fn node_at(view: &Inner, state: &State, path: &str) -> io::Result<NodeId> {
    match state.tree.find(&view.lower, path)? {
        Some(At::Node(id)) => Ok(id),
        _ => Err(Errno::NOENT.into()),
    }
}

/// Resets an object of the real folder, in its old place.
fn return_to_place(state: &mut State, id: NodeId, path: &str) -> io::Result<()> {
    let tree = &mut state.tree;
    if tree.node(id).link.is_none() {
        let (parent, name) = parent_and_name(path);
        let parent = tree.by_origin(parent).ok_or(Errno::NOENT)?;
        if parent != ROOT && tree.node(parent).link.is_none() {
            return Err(Errno::NOENT.into());
        }
        if tree.children(parent).get(name).copied().flatten().is_some() {
            return Err(Errno::EXIST.into());
        }
        tree.link(id, parent, name);
    }
    let node = tree.node_mut(id);
    if let Some(origin) = &node.origin {
        node.mode = origin.stamp.mode;
    }
    (node.accessed, node.modified, node.attributes_of) = (None, None, None);
    match &mut node.body {
        Body::File(content) => *content = None,
        Body::Link(target) => *target = None,
        Body::Directory(_) | Body::Special => {}
    }
    Ok(())
}
