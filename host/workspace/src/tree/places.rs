//! Paths of the objects in a layer.

use std::io;

use super::{NodeId, ROOT, Tree};
use crate::path::{check_length, parent_and_name};

impl Tree {
    /// Returns whether `inner` is `outer` or is inside it at any depth.
    pub fn is_within(&self, inner: NodeId, outer: NodeId) -> bool {
        let mut at = inner;
        loop {
            if at == outer {
                return true;
            }
            match &self.node(at).link {
                Some((parent, _)) => at = *parent,
                None => return false,
            }
        }
    }

    /// Checks the length of a name's path in a directory. Through open directories, names could be
    /// created that are too deep for any path, and so for a commit.
    pub fn check_length(&self, directory: NodeId, name: &str) -> io::Result<()> {
        let mut length = name.len();
        let mut at = directory;
        while let Some((parent, name)) = &self.node(at).link {
            length += name.len() + 1;
            check_length(length)?;
            at = *parent;
        }
        check_length(length)
    }

    /// Returns the path of an object as the layer shows it; `None` if the object is removed. Fails
    /// if a moved directory put the object too deep.
    pub fn checked_path_of(&self, id: NodeId) -> io::Result<Option<String>> {
        if let Some((directory, name)) = &self.node(id).link {
            self.check_length(*directory, name)?;
        }
        Ok(self.path_of(id))
    }

    /// Returns the path of an object that was checked before.
    pub fn path_of(&self, id: NodeId) -> Option<String> {
        let mut names = Vec::new();
        let mut at = id;
        while at != ROOT {
            let (parent, name) = self.node(at).link.as_ref()?;
            names.push(&**name);
            at = *parent;
        }
        names.reverse();
        Some(names.join("/"))
    }

    /// Returns whether an object of the real folder has its old name in its old directory,
    /// wherever that directory is now.
    pub fn is_in_place(&self, id: NodeId) -> bool {
        let node = self.node(id);
        match (&node.origin, &node.link) {
            (Some(_), _) if id == ROOT => true,
            (Some(origin), Some((directory, name))) => {
                let (parent, old) = parent_and_name(&origin.path);
                old == &**name && self.by_origin(parent) == Some(*directory)
            }
            _ => false,
        }
    }
}
