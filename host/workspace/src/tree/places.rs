//! Where the objects of a layer are.

use std::io;

use super::{NodeId, ROOT, Tree};
use crate::path::{check_length, parent_and_name};

impl Tree {
    /// Whether `inner` lies in `outer`, at any depth, or is the same.
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

    /// Whether a directory can have something under a name: by directories that are open, names
    /// could be made that no path reaches, nor a commit.
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

    /// Where an object is in the folder as the layer shows it; none for what was removed. Fails for
    /// what lies too deep, in a directory that was moved.
    pub fn checked_path_of(&self, id: NodeId) -> io::Result<Option<String>> {
        if let Some((directory, name)) = &self.node(id).link {
            self.check_length(*directory, name)?;
        }
        Ok(self.path_of(id))
    }

    /// The same, of what was checked.
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

    /// Whether an object of the real folder has its old name in its old directory, wherever that is
    /// now.
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
