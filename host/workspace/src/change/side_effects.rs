//! Side effects of a change of a file, since a new file takes its place.

use serde::{Deserialize, Serialize};

/// Side effects of a change of a file's contents or permissions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideEffects {
    /// How many names (hard links) the file has: this one gets a separate file, and the others
    /// keep the contents of before. None for a single name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts_hard_links: Option<u64>,
    /// The user whose file it is, if this process can't keep that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Box<OwnerChange>>,
    /// The file's group, if this process can't keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Box<OwnerChange>>,
    /// The names of extended attributes that are lost, such as `system.posix_acl_access` (an ACL).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_kept: Vec<String>,
}

/// A file's users or groups, by name; by number if they have none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerChange {
    /// The one of before.
    pub from: String,
    /// The new one.
    pub to: String,
}

impl SideEffects {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
