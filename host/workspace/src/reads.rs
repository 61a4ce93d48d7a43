//! What was read of the real folder: the contents of files, listings of directories, and lookups of
//! names, also of such that are not there.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::lower::Stamp;
use crate::path::{is_private, join};
use crate::tree::{At, Tree};

/// What was read of the real folder since it was last taken.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadSet {
    /// By path.
    pub paths: BTreeMap<Arc<str>, Read>,
    /// Whether more was read than is listed here.
    pub is_cut: bool,
}

/// What was read of one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    /// What was there; none for nothing.
    pub found: Option<Stamp>,
    /// Whether a file's contents were read, or a directory's names.
    pub contents: bool,
}

/// Bytes of paths for each path that may be noted: together no more of them than so many times the
/// limit.
const PATH: usize = 256;

/// Notes what is read, up to a limit.
#[derive(Debug)]
pub(crate) struct Reads {
    paths: HashMap<Arc<str>, Read>,
    is_cut: bool,
    limit: usize,
    /// Of all paths.
    bytes: usize,
    /// What was seen first since a layer was opened; none where none is. With the same limits.
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

    /// A layer is opened.
    pub fn begin(&mut self) {
        self.in_layer = Some(FirstSeen::default());
    }

    /// It has ended.
    pub fn end(&mut self) {
        self.in_layer = None;
    }

    /// What was seen first under a path since the layer was opened: what is changed there was made
    /// from that.
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
            // It is hidden, whether it is there or not.
            None if is_private(name) => None,
            None => lower_path(tree, directory).map(|path| (Arc::from(join(&path, name)), None)),
        };
        if let Some((path, stamp)) = seen {
            self.note(path, stamp, false);
        }
    }

    /// Something of the real folder.
    pub fn found(&mut self, at: &At) {
        if let At::Lower(path, stamp) = at {
            self.note(Arc::clone(path), Some(*stamp), false);
        }
    }

    /// Nothing, at a path of the real folder.
    pub fn missing(&mut self, path: Arc<str>) {
        self.note(path, None, false);
    }

    /// Contents of a file, or the names in a directory.
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
            // What was seen first is what the rest was made from.
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
