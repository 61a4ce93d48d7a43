//! The steps of a commit: renames of known objects.

use serde::{Deserialize, Serialize};

use crate::lower::{Kind, Stamp};

/// A name in the workspace or in a transaction's folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Name {
    /// A path relative to the workspace.
    Path(String),
    /// A slot in the transaction's folder.
    Slot(String),
}

/// A rename.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Step {
    pub from: Name,
    pub to: Name,
    /// The moved object.
    pub object: Object,
    /// The object that it is exchanged with; `None` if the name is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub displaced: Option<Object>,
    /// True if it is a directory to remove. It must be empty then, because everything seen in it
    /// has left before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub empty: bool,
    /// The state of an object that the commit created. It must be the same at a rollback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<u64>,
}

/// An object in the state in which it must be when it is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Object {
    pub inode: u64,
    /// The size in bytes and the time of the last change; `None` for directories and for objects
    /// that the commit created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<(u64, (i64, u32))>,
}

impl Object {
    pub fn real(stamp: &Stamp) -> Self {
        let has_contents = stamp.kind != Kind::Directory;
        Self {
            inode: stamp.inode,
            contents: has_contents.then_some((stamp.size, stamp.modified)),
        }
    }

    pub fn new_object(inode: u64) -> Self {
        Self {
            inode,
            contents: None,
        }
    }

    /// Returns whether a name refers to this object.
    pub fn is(&self, stamp: &Stamp) -> bool {
        self.inode == stamp.inode
            && self
                .contents
                .is_none_or(|contents| contents == (stamp.size, stamp.modified))
    }
}
