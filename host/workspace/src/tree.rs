//! A layer: the changes to the real folder, as a tree of the objects that were touched.
//!
//! A node is an object, not a path. Moving a directory moves a single node, whatever is below it,
//! and open handles keep referring to the same node. Objects that were not touched have no node:
//! the real folder shows through. Every directory from the root to a node with a place in the
//! folder has a node too, so that a walk finds every change.

mod lookup;
mod places;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use rustix::io::Errno;

use crate::content::Content;
use crate::lower::{Kind, Lower, Stamp};
use crate::path::{join, parent_and_name};
use crate::reads::Reads;

pub(crate) type NodeId = usize;

pub(crate) const ROOT: NodeId = 0;

/// Number of bytes of a link's target that count as one additional node, because a target may use
/// more memory than the rest of the node.
const TARGET_BYTES: usize = 256;

/// The nodes of a layer. A clone shares the contents of files until one of the two writes to them.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    nodes: Vec<Option<Node>>,
    free: Vec<NodeId>,
    /// Nodes by the path of the object in the real folder.
    by_origin: HashMap<Arc<str>, NodeId>,
    /// The number of objects created in the layer, including removed ones.
    made: u64,
    /// The number of nodes that the targets of links count for.
    targets: usize,
    limit: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The object in the real folder; `None` if it was created in the layer.
    pub origin: Option<Origin>,
    /// The directory and the name; `None` for removed objects and the root.
    pub link: Option<(NodeId, Arc<str>)>,
    pub body: Body,
    /// The permissions: at most 0o7777.
    pub mode: u32,
    /// A time that was set or came with a write; `None` for the real object's time.
    pub accessed: Option<SystemTime>,
    pub modified: Option<SystemTime>,
    /// The number of open handles that refer to the object by its node.
    pub handles: u32,
    /// The number of an object created in the layer.
    pub serial: u64,
    /// The path in the real folder of the file whose owner, group, permissions and attributes a
    /// commit gives to this file; `None` for those of the real file that it replaces.
    pub attributes_of: Option<Arc<str>>,
    /// True if the system confirmed that this process may change entries of the real directory.
    pub may_change: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub path: Arc<str>,
    /// The state of the object when the layer first touched it.
    pub stamp: Stamp,
}

#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// The differences from the real directory; `None` for a removed name.
    Directory(BTreeMap<Arc<str>, Option<NodeId>>),
    /// The contents; `None` for those of the real file.
    File(Option<Content>),
    /// The target; `None` for that of the real link.
    Link(Option<Arc<str>>),
    Special,
}

/// An object as the layer shows it.
#[derive(Clone, Debug)]
pub(crate) enum At {
    /// An object of the real folder without a node.
    Lower(Arc<str>, Stamp),
    Node(NodeId),
}

impl Node {
    pub fn has_new_contents(&self) -> bool {
        matches!(self.body, Body::File(Some(_)))
    }

    /// Returns whether an object of the real folder keeps its permissions and attributes.
    pub fn keeps_attributes(&self) -> bool {
        let real = self.origin.as_ref().map(|origin| origin.stamp.mode);
        real == Some(self.mode) && self.attributes_of.is_none()
    }

    /// Returns the path in the real folder of the file whose attributes this one gets.
    pub fn attributes_path(&self) -> Option<&Arc<str>> {
        let real = self.origin.as_ref().map(|origin| &origin.path);
        self.attributes_of.as_ref().or(real)
    }

    /// Returns the permissions after a commit. New contents clear set-user-ID and set-group-ID, as
    /// a write does on the system, unless the permissions were set too.
    pub fn committed_mode(&self) -> u32 {
        match (&self.body, &self.origin) {
            (Body::File(Some(_)), Some(origin))
                if self.mode == origin.stamp.mode && self.attributes_of.is_none() =>
            {
                self.mode & !0o6000
            }
            _ => self.mode,
        }
    }
}

impl Body {
    pub fn kind(&self) -> Kind {
        match self {
            Body::Directory(_) => Kind::Directory,
            Body::File(_) => Kind::File,
            Body::Link(_) => Kind::Link,
            Body::Special => Kind::Special,
        }
    }

    /// Returns the number of nodes that a link's target counts for.
    fn target_nodes(&self) -> usize {
        match self {
            Body::Link(Some(target)) => target.len() / TARGET_BYTES,
            _ => 0,
        }
    }

    fn shown_through(kind: Kind) -> Self {
        match kind {
            Kind::Directory => Body::Directory(BTreeMap::new()),
            Kind::File => Body::File(None),
            Kind::Link => Body::Link(None),
            Kind::Special => Body::Special,
        }
    }
}

impl Tree {
    /// Creates a tree with at most `limit` nodes.
    pub fn new(root: Stamp, limit: usize) -> Self {
        let mut tree = Self {
            nodes: Vec::new(),
            free: Vec::new(),
            by_origin: HashMap::new(),
            made: 0,
            targets: 0,
            limit,
        };
        tree.insert_origin(Arc::from(""), root, None);
        tree
    }

    pub fn node(&self, id: NodeId) -> &Node {
        self.nodes[id]
            .as_ref()
            .expect("an id is of a node that is there")
    }

    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        self.nodes[id]
            .as_mut()
            .expect("an id is of a node that is there")
    }

    pub fn children(&self, id: NodeId) -> &BTreeMap<Arc<str>, Option<NodeId>> {
        match &self.node(id).body {
            Body::Directory(children) => children,
            _ => panic!("a node that is no directory was asked for what is in it"),
        }
    }

    pub fn children_mut(&mut self, id: NodeId) -> &mut BTreeMap<Arc<str>, Option<NodeId>> {
        match &mut self.node_mut(id).body {
            Body::Directory(children) => children,
            _ => panic!("a node that is no directory was asked for what is in it"),
        }
    }

    pub fn ids(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.nodes.len()).filter(|id| self.nodes[*id].is_some())
    }

    pub fn by_origin(&self, path: &str) -> Option<NodeId> {
        self.by_origin.get(path).copied()
    }

    /// Returns whether nothing was changed. Nodes with a place in the real folder are never freed,
    /// so the root is the only node exactly if nothing was changed.
    pub fn is_untouched(&self) -> bool {
        self.nodes.len() == 1
    }

    fn add(&mut self, node: Node) -> NodeId {
        match self.free.pop() {
            Some(id) => {
                self.nodes[id] = Some(node);
                id
            }
            None => {
                self.nodes.push(Some(node));
                self.nodes.len() - 1
            }
        }
    }

    fn check_room(&self) -> io::Result<()> {
        if self.nodes.len() - self.free.len() + self.targets < self.limit {
            Ok(())
        } else {
            Err(Errno::DQUOT.into())
        }
    }

    fn insert_origin(
        &mut self,
        path: Arc<str>,
        stamp: Stamp,
        link: Option<(NodeId, Arc<str>)>,
    ) -> NodeId {
        let id = self.add(Node {
            origin: Some(Origin {
                path: Arc::clone(&path),
                stamp,
            }),
            link,
            body: Body::shown_through(stamp.kind),
            mode: stamp.mode,
            accessed: None,
            modified: None,
            handles: 0,
            serial: 0,
            attributes_of: None,
            may_change: false,
        });
        self.by_origin.insert(path, id);
        id
    }

    /// Creates an object that has no place yet.
    pub fn make(&mut self, body: Body, mode: u32, now: SystemTime) -> io::Result<NodeId> {
        self.check_room()?;
        self.made += 1;
        self.targets += body.target_nodes();
        let serial = self.made;
        Ok(self.add(Node {
            origin: None,
            link: None,
            body,
            mode,
            accessed: Some(now),
            modified: Some(now),
            handles: 0,
            serial,
            attributes_of: None,
            may_change: true,
        }))
    }

    /// Returns the node of an object that was just found, and creates it if needed. If the object
    /// was read before, the change is based on that state, and the object must still be in it.
    pub fn own(&mut self, lower: &Lower, reads: &Reads, at: &At) -> io::Result<NodeId> {
        let (path, stamp) = match at {
            At::Node(id) => return Ok(*id),
            At::Lower(path, stamp) => (path, *stamp),
        };
        if let Some(id) = self.by_origin(path) {
            return Ok(id);
        }
        let (parent, name) = parent_and_name(path);
        let directory = match self.by_origin(parent) {
            Some(id) => id,
            None => {
                let stamp = lower.stamp(parent)?.ok_or(Errno::NOENT)?;
                self.own(lower, reads, &At::Lower(Arc::from(parent), stamp))?
            }
        };
        lower.check_mount(path)?;
        let stamp = match reads.first_seen(path) {
            Some(first) if first.kind != stamp.kind => return Err(Errno::STALE.into()),
            first => first.copied().unwrap_or(stamp),
        };
        self.check_room()?;
        let name: Arc<str> = Arc::from(name);
        let link = Some((directory, Arc::clone(&name)));
        let id = self.insert_origin(Arc::clone(path), stamp, link);
        self.children_mut(directory).insert(name, Some(id));
        Ok(id)
    }

    /// Removes an object from its place and leaves the place empty.
    pub fn unlink(&mut self, lower: &Lower, id: NodeId) -> io::Result<()> {
        let Some((directory, name)) = self.node_mut(id).link.take() else {
            return Ok(());
        };
        self.vacate(lower, directory, &name)?;
        self.free_unless_held(id);
        Ok(())
    }

    fn vacate(&mut self, lower: &Lower, directory: NodeId, name: &Arc<str>) -> io::Result<()> {
        let has_one_below = match &self.node(directory).origin {
            Some(origin) => {
                let below = join(&origin.path, name);
                self.by_origin.contains_key(below.as_str()) || lower.stamp(&below)?.is_some()
            }
            None => false,
        };
        if has_one_below {
            self.children_mut(directory).insert(Arc::clone(name), None)
        } else {
            self.children_mut(directory).remove(name)
        };
        Ok(())
    }

    /// Gives an object a place, which must be empty.
    pub fn link(&mut self, id: NodeId, directory: NodeId, name: &str) {
        let name: Arc<str> = Arc::from(name);
        let before = self
            .children_mut(directory)
            .insert(Arc::clone(&name), Some(id));
        debug_assert!(before.flatten().is_none(), "{name} is taken");
        self.node_mut(id).link = Some((directory, name));
    }

    pub fn move_to(
        &mut self,
        lower: &Lower,
        id: NodeId,
        directory: NodeId,
        name: &str,
    ) -> io::Result<()> {
        if let Some((from, old)) = self.node_mut(id).link.take() {
            self.vacate(lower, from, &old)?;
        }
        self.link(id, directory, name);
        Ok(())
    }

    /// Frees a node that has no place and no handle. Nodes of the real folder's objects are kept,
    /// so that their paths stay known.
    pub fn free_unless_held(&mut self, id: NodeId) {
        let node = self.node(id);
        if id != ROOT && node.link.is_none() && node.handles == 0 && node.origin.is_none() {
            self.targets -= node.body.target_nodes();
            self.nodes[id] = None;
            self.free.push(id);
        }
    }
}
