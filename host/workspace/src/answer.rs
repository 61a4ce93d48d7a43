//! What a view returns for names and objects.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::stamp::{Kind, Stamp};
use crate::{Directory, OpenFile};

/// An opened file or directory.
pub enum Opened {
    /// A directory.
    Directory(Directory),
    /// A regular file.
    File(OpenFile),
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// The kind of object. Links are not followed.
    pub kind: Kind,
}

/// A list of the names in a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The entries, sorted by the bytes of their names.
    pub entries: Vec<Entry>,
    /// The number of entries left out because their names are not UTF-8.
    pub left_out: usize,
}

/// The metadata of an object in a view.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata {
    /// The kind of object.
    pub kind: Kind,
    /// The size in bytes.
    pub size: u64,
    /// The number of names (hard links).
    pub links: u64,
    /// The permissions: at most 0o7777.
    pub mode: u32,
    /// The time of the last access.
    pub accessed: SystemTime,
    /// The time when the contents last changed.
    pub modified: SystemTime,
    /// The time when the contents or the metadata last changed.
    pub changed: SystemTime,
    /// An identity that is unique within the folder. It is derived from the object's path in the
    /// real folder, or from the number of objects created earlier in the layer. Repeating the same
    /// steps on the same folder gives the same identities.
    pub identity: [u8; 16],
}

/// The reads of the real folder since they were last taken.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadSet {
    /// The reads by path.
    pub paths: BTreeMap<Arc<str>, Read>,
    /// True if the list is incomplete because the limit was reached.
    pub is_cut: bool,
}

/// A read of one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    /// The stamp of the object; `None` if nothing exists at the path.
    pub found: Option<Stamp>,
    /// True if a file's contents, or a directory's names, were read.
    pub contents: bool,
}
