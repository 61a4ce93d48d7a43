//! Changes, and the facts about the objects before and after them.

use serde::{Deserialize, Serialize};

use crate::stamp::{Identity, Kind};

/// A change in a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The path, relative to the folder.
    pub path: String,
    /// The previous path, if the object or a directory above it was moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// True if the object itself was moved. A moved directory includes everything in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_moved: bool,
    /// The state before the change; `None` if the object is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Facts>,
    /// The state after the change; `None` if the object is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Facts>,
    /// Side effects on the file.
    #[serde(default, skip_serializing_if = "SideEffects::is_empty")]
    pub side_effects: SideEffects,
}

/// Facts about an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The kind of object.
    pub kind: Kind,
    /// The size in bytes; 0 for a directory.
    pub size: u64,
    /// The permissions: at most 0o7777; 0 for a link, which has none.
    pub mode: u32,
    /// The SHA-256 of a file's contents, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The identity of a file of more than 1 MiB that is only moved or removed. Such a file has no
    /// digest, because its contents were not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Box<Identity>>,
    /// The target of a link; `None` unless it is UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// Side effects of a change of a file's contents or permissions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideEffects {
    /// The number of names (hard links) of the file: this one gets a separate file, and the others
    /// keep the old contents. `None` if it has a single name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts_hard_links: Option<u64>,
    /// The change of the file's user, if this process can't keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Box<OwnerChange>>,
    /// The change of the file's group, if this process can't keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Box<OwnerChange>>,
    /// The names of extended attributes that are lost, such as `system.posix_acl_access` (an ACL).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_kept: Vec<String>,
}

impl SideEffects {
    /// Returns whether there are no side effects.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A file's users or groups, by name; by number if they have none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerChange {
    /// The old user or group.
    pub from: String,
    /// The new user or group.
    pub to: String,
}
