//! What is known of an object in the workspace, before or after a change.

use serde::{Deserialize, Serialize};

/// What an object is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Facts {
    /// What it is.
    #[serde(rename = "type")]
    pub object: ObjectKind,
    /// In bytes; 0 for a directory.
    pub size: u64,
    /// The SHA-256 of a file's contents, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Identifies a file of more than 1 MiB that is only renamed, or removed. It has no digest,
    /// since its contents were not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Box<Identity>>,
    /// Permissions, as Unix has them: 0o7777 at most; 0 for a link, which has none.
    pub mode: u32,
    /// Where a link leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// What tells a file from others, and whether it has changed, as far as the system notes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The file system that it lies on, as `stat` has it.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// In bytes.
    pub size: u64,
    /// When its contents were last changed, in seconds and nanoseconds since 1970.
    pub modified: (i64, u32),
    /// When anything of it was last changed.
    pub changed: (i64, u32),
}

/// What there can be in a workspace.
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
    /// Of an object of this kind, with nothing else known.
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
