//! A folder as one user sees it: the real folder, plus that user's changes in an open layer.

mod find;
mod layer;
mod place;

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::Errno;

use crate::answer::ReadSet;
use crate::change::{Deadline, real_facts};
use crate::directory::Directory;
use crate::facts::Facts;
use crate::kept::Left;
use crate::lower::{Kind, Lower, Stamp};
use crate::options::LayerOptions;
use crate::parents::Parents;
use crate::reads::Reads;
use crate::tree::{At, Body, NodeId, ROOT, Tree};

pub use layer::Layer;
pub(crate) use layer::OpenLayer;
pub(crate) use place::{Held, Place, moved_path};

/// A folder as one user sees it, for example a guest or a tool.
///
/// It can be read at any time and changed while a layer is open: from [`begin`](Self::begin) until
/// [`commit`](Self::commit) or [`abandon`](Self::abandon). Directories and files opened through it
/// stay open after that, but are no longer writable.
#[derive(Clone)]
pub struct View {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub lower: Arc<Lower>,
    state: Mutex<State>,
    /// True if the layer has any nodes. It is read without the lock, so that reading only the real
    /// folder never waits for it.
    touched: AtomicBool,
    /// Incremented when a layer ends. Files opened for writing before that are no longer writable.
    pub generation: AtomicU64,
}

pub(crate) struct State {
    pub tree: Tree,
    pub reads: Reads,
    pub layer: Option<OpenLayer>,
    pub handles: Vec<Option<Place>>,
    pub free_handles: Vec<usize>,
}

impl View {
    /// Creates a view. `reads` is the maximum number of recorded reads.
    pub(crate) fn new(lower: Arc<Lower>, reads: usize) -> io::Result<Self> {
        let root = lower.stamp("")?.ok_or(Errno::NOENT)?;
        let state = State {
            tree: Tree::new(root, 1),
            reads: Reads::new(reads),
            layer: None,
            handles: Vec::new(),
            free_handles: Vec::new(),
        };
        Ok(Self {
            inner: Arc::new(Inner {
                lower,
                state: Mutex::new(state),
                touched: AtomicBool::new(false),
                generation: AtomicU64::new(0),
            }),
        })
    }

    /// Uses a directory that is already open; its links are never followed outside of it. For
    /// `reads`, see [`Workspace::view`](crate::Workspace::view).
    ///
    /// # Errors
    /// System errors.
    pub fn of(directory: File, reads: usize) -> io::Result<Self> {
        Self::new(Arc::new(Lower::new(directory)?), reads)
    }

    /// Returns whether a layer is open.
    pub fn has_layer(&self) -> bool {
        self.inner.state().layer.is_some()
    }

    /// Returns the folder's root directory.
    pub fn root(&self) -> Directory {
        let held = self.inner.hold(&mut self.inner.state(), &At::Node(ROOT));
        Directory::new(held)
    }

    /// Opens a layer. From now on, the folder can be changed as this view shows it.
    ///
    /// # Errors
    /// If a layer is already open.
    pub fn begin(&self, options: &LayerOptions) -> io::Result<()> {
        self.begin_with(options, None)
    }

    /// Opens a layer on top of the changes of another one. Those changes are part of the commit.
    ///
    /// # Errors
    /// See [`begin`](Self::begin).
    pub fn begin_above(&self, layer: &Layer, options: &LayerOptions) -> io::Result<()> {
        self.begin_with(options, Some(layer))
    }

    fn begin_with(&self, options: &LayerOptions, above: Option<&Layer>) -> io::Result<()> {
        let mut state = self.inner.state();
        if state.layer.is_some() {
            return Err(io::Error::other("a layer is open already"));
        }
        let root = self.inner.lower.stamp("")?.ok_or(Errno::NOENT)?;
        state.tree = match above {
            Some(layer) => layer.tree.clone(),
            None => Tree::new(root, options.entries),
        };
        state.layer = Some(OpenLayer::new(options));
        state.reads.begin();
        self.inner.note_touched(&state);
        Ok(())
    }

    /// Drops the layer with all its changes, if one is open.
    pub fn abandon(&self) {
        drop(self.take_layer());
    }

    /// Ends the layer and removes its changes from the view. Returns `None` if no layer is open.
    pub fn take_layer(&self) -> Option<Layer> {
        let mut state = self.inner.state();
        state.layer.take()?;
        Some(Layer {
            tree: self.inner.end_layer(&mut state, &Place::after_abandon),
        })
    }

    /// Returns the reads of the real folder since the last call.
    pub fn take_reads(&self) -> ReadSet {
        self.inner.state().reads.take()
    }

    /// Returns the real folder, without the changes of an open layer. Looking at it does not count
    /// as a read.
    pub fn real(&self) -> RealFolder<'_> {
        RealFolder {
            parents: self.inner.lower.parents(),
            until: Deadline::NONE,
        }
    }

    /// Returns the real folder, with the deadline of a comparison that begins now.
    pub(crate) fn real_to_compare(&self) -> RealFolder<'_> {
        RealFolder {
            parents: self.inner.lower.parents(),
            until: self.inner.state().compare_until(),
        }
    }
}

/// The real folder below a [`View`], for looking at many paths in a row: it keeps the last path's
/// directory open. Links on the way are not followed.
pub struct RealFolder<'a> {
    parents: Parents<'a>,
    until: Deadline,
}

impl RealFolder<'_> {
    /// Limits the time for reading contents, counted from now.
    pub fn within(mut self, time: Duration) -> Self {
        self.until = Deadline::within(Some(time));
        self
    }

    /// Returns how a commit would have left a file in its current state.
    pub(crate) fn left(&mut self, path: &str) -> io::Result<Left> {
        Left::of(&self.parents.open_file(path)?.0)
    }

    /// Returns the stamp of a path's state; `None` if nothing exists there.
    ///
    /// # Errors
    /// System errors.
    pub fn stamp(&mut self, path: &str) -> io::Result<Option<Stamp>> {
        self.parents.stamp(path)
    }

    /// Returns the stamp and the facts of a path, including a file's digest. Both describe the
    /// same state.
    ///
    /// # Errors
    /// System errors; `ESTALE` if the file changes while it is read;
    /// [`TimedOut`](io::ErrorKind::TimedOut) if the time is up.
    pub fn facts(&mut self, path: &str) -> io::Result<Option<(Stamp, Facts)>> {
        let Some(stamp) = self.parents.stamp(path)? else {
            return Ok(None);
        };
        let facts = real_facts(&mut self.parents, path, &stamp, self.until)?;
        Ok(Some((stamp, facts)))
    }
}

impl Inner {
    pub fn state(&self) -> MutexGuard<'_, State> {
        // A panic can't leave a half-made change that later code could not handle: at worst, the
        // commit reports a conflict.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_touched(&self) -> bool {
        self.touched.load(Ordering::Acquire)
    }

    fn note_touched(&self, state: &State) {
        let touched = !state.tree.is_untouched();
        self.touched.store(touched, Ordering::Release);
    }

    /// Creates a handle.
    pub fn hold(self: &Arc<Self>, state: &mut State, at: &At) -> Held {
        let place = match at {
            At::Lower(path, stamp) => Place::Lower(Arc::clone(path), *stamp),
            At::Node(id) => {
                let node = state.tree.node_mut(*id);
                match &node.origin {
                    Some(origin) => Place::Lower(Arc::clone(&origin.path), origin.stamp),
                    None => {
                        node.handles += 1;
                        Place::Node(*id)
                    }
                }
            }
        };
        let number = match state.free_handles.pop() {
            Some(number) => {
                state.handles[number] = Some(place);
                number
            }
            None => {
                state.handles.push(Some(place));
                state.handles.len() - 1
            }
        };
        Held {
            view: Arc::clone(self),
            number,
            bounds: None,
        }
    }

    /// Ends the layer. Each handle moves to the place that `after` returns for it.
    pub fn end_layer(
        &self,
        state: &mut State,
        after: &dyn Fn(&Place, &Tree, &Lower) -> Place,
    ) -> Tree {
        state.reads.end();
        for place in state.handles.iter_mut().flatten() {
            *place = after(place, &state.tree, &self.lower);
        }
        let root = state.tree.node(ROOT).origin.as_ref();
        let root = root.map(|origin| origin.stamp);
        let empty = Tree::new(root.expect("the root is of the real folder"), 1);
        let mut tree = std::mem::replace(&mut state.tree, empty);
        for id in tree.ids().collect::<Vec<_>>() {
            tree.node_mut(id).handles = 0;
            tree.free_unless_held(id);
        }
        self.note_touched(state);
        self.generation.fetch_add(1, Ordering::AcqRel);
        tree
    }
}

impl State {
    pub fn locate(&self, place: &Place) -> io::Result<At> {
        match place {
            Place::Gone => Err(Errno::NOENT.into()),
            Place::Node(id) => Ok(At::Node(*id)),
            Place::Lower(path, stamp) => Ok(match self.tree.by_origin(path) {
                Some(id) => At::Node(id),
                None => At::Lower(Arc::clone(path), *stamp),
            }),
        }
    }

    pub fn at(&self, held: &Held) -> io::Result<At> {
        let place = self.handles[held.number].as_ref();
        self.locate(place.unwrap_or(&Place::Gone))
    }

    pub fn layer(&self) -> io::Result<&OpenLayer> {
        self.layer.as_ref().ok_or_else(|| Errno::ROFS.into())
    }

    /// Returns the deadline of a comparison that begins now.
    pub fn compare_until(&self) -> Deadline {
        Deadline::within(self.layer.as_ref().and_then(|layer| layer.compare_time))
    }

    /// Returns the node of an object that is about to be changed.
    pub fn own(&mut self, view: &Inner, at: &At) -> io::Result<NodeId> {
        self.layer()?;
        let now = match at {
            At::Lower(path, _) if self.tree.by_origin(path).is_none() => {
                let stamp = view.lower.stamp(path)?.ok_or(Errno::NOENT)?;
                At::Lower(Arc::clone(path), stamp)
            }
            at => at.clone(),
        };
        self.own_found(view, &now)
    }

    /// Returns the node of an object that the current step found, without looking it up again.
    pub fn own_found(&mut self, view: &Inner, at: &At) -> io::Result<NodeId> {
        self.layer()?;
        let id = self.tree.own(&view.lower, &self.reads, at)?;
        view.touched.store(true, Ordering::Release);
        Ok(id)
    }

    /// Returns the node of a directory in which a name is about to be created or removed.
    pub fn own_directory(&mut self, view: &Inner, at: &At) -> io::Result<NodeId> {
        let id = self.own(view, at)?;
        let node = self.tree.node(id);
        if node.body.kind() != Kind::Directory {
            return Err(Errno::NOTDIR.into());
        }
        if id != ROOT && node.link.is_none() {
            return Err(Errno::NOENT.into());
        }
        if !node.may_change {
            if let Some(origin) = &node.origin {
                view.lower.may_write(&origin.path, Kind::Directory)?;
            }
            self.tree.node_mut(id).may_change = true;
        }
        let now = self.layer()?.now();
        self.tree.node_mut(id).modified = Some(now);
        Ok(id)
    }

    /// Checks that a file's contents may be changed.
    pub fn check_writable(&self, view: &Inner, id: NodeId) -> io::Result<()> {
        let node = self.tree.node(id);
        match (&node.body, &node.origin) {
            (Body::File(None), Some(origin)) => view.lower.may_write(&origin.path, Kind::File),
            _ => Ok(()),
        }
    }

    /// Makes sure that a file has its own contents in the layer: a copy of the real file, or
    /// nothing if `empty`.
    pub fn copy_up(&mut self, view: &Inner, id: NodeId, empty: bool) -> io::Result<()> {
        let node = self.tree.node(id);
        let now = self.layer()?.now();
        let content = match (&node.body, &node.origin) {
            (Body::File(Some(_)), _) if !empty => return Ok(()),
            (Body::File(Some(_)), _) => self.layer()?.spill.empty(),
            (Body::File(None), Some(origin)) => {
                self.check_writable(view, id)?;
                let (file, stamp) = view.lower.open_file(&origin.path)?;
                if !stamp.has_same_contents(&origin.stamp) {
                    return Err(Errno::STALE.into());
                }
                if empty {
                    self.layer()?.spill.empty()
                } else {
                    self.reads.read(&self.tree, &At::Node(id));
                    self.layer()?.spill.copy_of(&file)?
                }
            }
            _ => return Err(Errno::INVAL.into()),
        };
        let node = self.tree.node_mut(id);
        node.body = Body::File(Some(content));
        if empty {
            node.modified = Some(now);
        }
        Ok(())
    }
}

/// Opens a file of the real folder again by its path, for reading.
pub(crate) fn open_lower(lower: &Lower, path: &str) -> io::Result<Arc<File>> {
    Ok(Arc::new(lower.open_file(path)?.0))
}
