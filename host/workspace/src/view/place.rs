//! The objects that handles refer to, and how the end of a layer changes them.

use std::io;
use std::sync::Arc;

use super::{Inner, State, View};
use crate::bounded::Paths;
use crate::bounds::{Access, Bounds};
use crate::directory::Directory;
use crate::lower::{Lower, Stamp};
use crate::path::{join, parent_and_name};
use crate::tree::{At, NodeId, ROOT, Tree};

/// The object that a handle refers to.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// An object of the real folder, by its path when the layer began.
    Lower(Arc<str>, Stamp),
    /// An object created in the layer.
    Node(NodeId),
    /// An object that is gone with its layer, or that a commit removed.
    Gone,
}

/// Keeps the object of a handle alive in the view.
pub(crate) struct Held {
    pub view: Arc<Inner>,
    pub number: usize,
    /// `None` if everything can be reached through it.
    pub bounds: Option<Arc<dyn Bounds>>,
}

impl View {
    /// Returns the folder's root directory, through which only paths within bounds
    /// can be reached.
    pub fn root_within(&self, bounds: Arc<dyn Bounds>) -> Directory {
        let mut held = self.inner.hold(&mut self.inner.state(), &At::Node(ROOT));
        held.bounds = Some(bounds);
        Directory::new(held)
    }
}

impl Held {
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.view, &other.view)
    }

    /// Returns another handle to the same object.
    pub fn another(&self) -> io::Result<Self> {
        let mut state = self.view.state();
        let at = state.at(self)?;
        Ok(self.hold(&mut state, &at))
    }

    /// Returns a handle to an object that was found through this one, with the same bounds.
    pub fn hold(&self, state: &mut State, at: &At) -> Self {
        let mut held = self.view.hold(state, at);
        held.bounds = self.bounds.clone();
        held
    }

    /// Refuses an access out of bounds.
    pub fn check(&self, state: &State, access: Access, at: &At) -> io::Result<()> {
        self.check_paths(
            || Paths::of(&state.tree, at),
            |paths, bounds| paths.check_access(bounds, access),
        )
    }

    /// Checks paths that are only worked out if there are bounds.
    pub fn check_paths(
        &self,
        paths: impl FnOnce() -> Paths,
        check: impl FnOnce(&Paths, &dyn Bounds) -> io::Result<()>,
    ) -> io::Result<()> {
        match &self.bounds {
            None => Ok(()),
            Some(bounds) => check(&paths(), &**bounds),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut state = self.view.state();
        let place = state.handles[self.number].take();
        state.free_handles.push(self.number);
        if let Some(Place::Node(id)) = place {
            state.tree.node_mut(id).handles -= 1;
            state.tree.free_unless_held(id);
        }
    }
}

impl Place {
    pub(crate) fn after_abandon(&self, tree: &Tree, _: &Lower) -> Self {
        match self {
            Place::Node(id) if tree.node(*id).origin.is_none() => Place::Gone,
            place => place.clone(),
        }
    }

    /// Returns the object that a handle refers to after the layer is committed.
    pub(crate) fn after_commit(&self, tree: &Tree, lower: &Lower) -> Self {
        let path = match self {
            Place::Gone => None,
            Place::Node(id) => tree.path_of(*id),
            Place::Lower(path, _) => moved_path(tree, path),
        };
        let found = path.and_then(|path| Some((lower.stamp(&path).ok()??, path)));
        match found {
            Some((stamp, path)) => Place::Lower(path.into(), stamp),
            None => Place::Gone,
        }
    }
}

/// Returns the path of an object of the real folder after the layer's moves.
pub(crate) fn moved_path(tree: &Tree, path: &str) -> Option<String> {
    let mut known = path;
    let mut rest = String::new();
    loop {
        if let Some(id) = tree.by_origin(known) {
            let now = tree.path_of(id)?;
            return Some(if rest.is_empty() {
                now
            } else {
                join(&now, &rest)
            });
        }
        let (parent, name) = parent_and_name(known);
        rest = if rest.is_empty() {
            name.to_owned()
        } else {
            join(name, &rest)
        };
        known = parent;
    }
}
