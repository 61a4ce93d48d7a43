//! Looking up objects by name and by path.

use std::io;
use std::sync::Arc;

use super::{At, ROOT, Tree, join};
use crate::lower::{Kind, Lower};

impl Tree {
    /// Looks up a name in a directory.
    pub fn child(&self, lower: &Lower, directory: &At, name: &str) -> io::Result<Option<At>> {
        let path = match directory {
            At::Lower(path, _) => join(path, name),
            At::Node(id) => {
                if let Some(child) = self.children(*id).get(name) {
                    return Ok(child.map(At::Node));
                }
                let node = self.node(*id);
                // A removed directory is empty, whatever the real directory contains by now.
                match (&node.origin, *id == ROOT || node.link.is_some()) {
                    (Some(origin), true) => join(&origin.path, name),
                    _ => return Ok(None),
                }
            }
        };
        let stamp = lower.stamp(&path)?;
        Ok(stamp.map(|stamp| At::Lower(Arc::from(path), stamp)))
    }

    /// Returns the object at a path, without following links.
    pub fn find(&self, lower: &Lower, path: &str) -> io::Result<Option<At>> {
        let mut at = At::Node(ROOT);
        for name in path.split('/').filter(|name| !name.is_empty()) {
            if self.kind(&at) != Kind::Directory {
                return Ok(None);
            }
            match self.child(lower, &at, name)? {
                Some(child) => at = child,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    pub fn kind(&self, at: &At) -> Kind {
        match at {
            At::Lower(_, stamp) => stamp.kind,
            At::Node(id) => self.node(*id).body.kind(),
        }
    }
}
