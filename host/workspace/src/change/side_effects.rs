//! Side effects of replacing a file with a new one.

use serde::{Deserialize, Serialize};

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

/// A file's users or groups, by name; by number if they have none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerChange {
    /// The old user or group.
    pub from: String,
    /// The new user or group.
    pub to: String,
}

impl SideEffects {
    /// Returns whether there are no side effects.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
