//! Tracks reads of the real folder: contents of files, listings of directories and lookups of
//! names, including names that do not exist.

use std::collections::HashMap;
use std::sync::Arc;

use crate::answer::{Read, ReadSet};
use crate::lower::Stamp;
use crate::path::{is_private, join};
use crate::tree::{At, Tree};

/// Bytes per tracked path: the paths together may have at most this many times the limit.
const PATH: usize = 256;

/// Records reads, up to a limit.
#[derive(Debug)]
pub(crate) struct Reads {
    paths: HashMap<Arc<str>, Read>,
    is_cut: bool,
    limit: usize,
    /// The total size of all paths, in bytes.
    bytes: usize,
    /// The stamps that were seen first since the layer was opened, with the same limits; `None`
    /// without a layer.
    in_layer: Option<FirstSeen>,
}

#[derive(Debug, Default)]
struct FirstSeen {
    stamps: HashMap<Arc<str>, Stamp>,
    bytes: usize,
}

impl Reads {
    pub fn new(limit: usize) -> Self {
        Self {
            paths: HashMap::new(),
            is_cut: false,
            limit,
            bytes: 0,
            in_layer: None,
        }
    }

    /// Starts tracking for a new layer.
    pub fn begin(&mut self) {
        self.in_layer = Some(FirstSeen::default());
    }

    /// Stops tracking for the layer.
    pub fn end(&mut self) {
        self.in_layer = None;
    }

    /// Returns the stamp that was seen first at a path since the layer was opened. A change at
    /// that path is based on it.
    pub fn first_seen(&self, path: &str) -> Option<&Stamp> {
        self.in_layer.as_ref()?.stamps.get(path)
    }

    pub fn take(&mut self) -> ReadSet {
        self.bytes = 0;
        ReadSet {
            paths: std::mem::take(&mut self.paths).into_iter().collect(),
            is_cut: std::mem::take(&mut self.is_cut),
        }
    }

    pub fn looked_up(&mut self, tree: &Tree, directory: &At, name: &str, found: Option<&At>) {
        let seen = match found {
            Some(At::Lower(path, stamp)) => Some((Arc::clone(path), Some(*stamp))),
            Some(At::Node(id)) => {
                let origin = tree.node(*id).origin.as_ref();
                origin.map(|origin| (Arc::clone(&origin.path), Some(origin.stamp)))
            }
            // The private folder is hidden, whether it exists or not.
            None if is_private(name) => None,
            None => lower_path(tree, directory).map(|path| (Arc::from(join(&path, name)), None)),
        };
        if let Some((path, stamp)) = seen {
            self.note(path, stamp, false);
        }
    }

    /// Records that an object of the real folder was found.
    pub fn note_found(&mut self, at: &At) {
        if let At::Lower(path, stamp) = at {
            self.note(Arc::clone(path), Some(*stamp), false);
        }
    }

    /// Records that nothing exists at a path of the real folder.
    pub fn missing(&mut self, path: Arc<str>) {
        self.note(path, None, false);
    }

    /// Records that a file's contents, or a directory's names, were read.
    pub fn read(&mut self, tree: &Tree, at: &At) {
        let (path, stamp) = match at {
            At::Lower(path, stamp) => (Arc::clone(path), *stamp),
            At::Node(id) => match &tree.node(*id).origin {
                Some(origin) => (Arc::clone(&origin.path), origin.stamp),
                None => return,
            },
        };
        self.note(path, Some(stamp), true);
    }

    fn note(&mut self, path: Arc<str>, found: Option<Stamp>, contents: bool) {
        if self.limit == 0 {
            return;
        }
        if let (Some(seen), Some(stamp)) = (&mut self.in_layer, found) {
            seen.note(&path, stamp, self.limit);
        }
        if let Some(read) = self.paths.get_mut(&path) {
            // Keep the stamp that was seen first: later reads are based on it.
            read.contents |= contents;
            return;
        }
        let bytes = self.bytes + path.len();
        if self.paths.len() < self.limit && bytes / PATH < self.limit {
            self.bytes = bytes;
            self.paths.insert(path, Read { found, contents });
        } else {
            self.is_cut = true;
        }
    }
}

impl FirstSeen {
    fn note(&mut self, path: &Arc<str>, stamp: Stamp, limit: usize) {
        let bytes = self.bytes + path.len();
        let has_room = self.stamps.len() < limit && bytes / PATH < limit;
        if has_room && !self.stamps.contains_key(path) {
            self.bytes = bytes;
            self.stamps.insert(Arc::clone(path), stamp);
        }
    }
}

fn lower_path(tree: &Tree, at: &At) -> Option<Arc<str>> {
    match at {
        At::Lower(path, _) => Some(Arc::clone(path)),
        At::Node(id) => {
            let origin = tree.node(*id).origin.as_ref()?;
            Some(Arc::clone(&origin.path))
        }
    }
}
