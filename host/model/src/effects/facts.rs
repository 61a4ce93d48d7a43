//! Facts about an object in the workspace, before or after a change.

use serde::{Deserialize, Serialize};

/// The known facts about an object in the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Facts {
    /// The kind of the object.
    #[serde(rename = "type")]
    pub object: ObjectKind,
    /// The size in bytes; 0 for a directory.
    pub size: u64,
    /// The SHA-256 of a file's contents, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The identity of a file of more than 1 MiB that is only renamed or removed. Such a file has
    /// no digest, because its contents were not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Box<Identity>>,
    /// The Unix permissions, at most 0o7777; 0 for a link, which has none.
    pub mode: u32,
    /// The target of a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// Metadata that distinguishes a file from others and shows whether it has changed, as far as the
/// file system records that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The device number of the file system, as in `stat`.
    pub device: u64,
    /// The inode number.
    pub inode: u64,
    /// The size in bytes.
    pub size: u64,
    /// The time of the last change of the contents, in seconds and nanoseconds since 1970.
    pub modified: (i64, u32),
    /// The time of the last change of the contents or the metadata, in seconds and nanoseconds
    /// since 1970.
    pub changed: (i64, u32),
}

/// The kind of an object in a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ObjectKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a socket or a pipe.
    Special,
}

impl Facts {
    /// Creates facts about an object of this kind, with nothing else known.
    pub fn new(object: ObjectKind) -> Self {
        Self {
            object,
            size: 0,
            digest: None,
            identity: None,
            mode: 0,
            target: None,
        }
    }
}
