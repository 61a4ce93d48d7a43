//! The owner, group, permissions and attributes that a replaced file keeps. They are determined
//! before the decision, and applied by the commit.

use std::fs::File;
use std::io;

use rustix::buffer::spare_capacity;
use rustix::fs::{fgetxattr, flistxattr, fstat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::credentials::{Credentials, group_name, user_name};
use crate::facts::{OwnerChange, SideEffects};
use crate::lower::{Lower, Stamp};
use crate::path::PRIVATE;

/// The attribute that holds an access control list (ACL) in Linux.
pub(crate) const ACL: &str = "system.posix_acl_access";

/// The attribute that holds the capabilities of a program in Linux.
pub(crate) const CAPABILITIES: &str = "security.capability";

/// Maximum size of an attribute list and of a value, in bytes.
const MAX_ATTRIBUTE: usize = 64 * 1024;

/// The attributes that this process can set on a file that it creates.
pub(crate) struct Ability {
    credentials: Credentials,
    /// The group of files created in the private folder.
    new_group: u32,
}

/// The attributes that a file's replacement keeps.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    /// The owner; `None` if it can't be kept.
    pub owner: Option<u32>,
    pub group: Option<u32>,
    /// The names of the attributes.
    pub attributes: Vec<String>,
    pub has_acl: bool,
    loses_acl: bool,
    may_set_group_id: bool,
}

impl Ability {
    pub fn of(lower: &Lower) -> io::Result<Self> {
        let credentials = Credentials::now();
        let directory = match lower.stamp(PRIVATE)? {
            Some(private) => Some(private),
            None => lower.stamp("")?,
        };
        let inherits = directory.filter(|it| it.mode & 0o2000 != 0);
        Ok(Self {
            new_group: inherits.map_or(credentials.group(), |it| it.owner.1),
            credentials,
        })
    }

    /// Returns the attributes that a file's replacement keeps, and the side effects.
    pub fn keep(
        &self,
        file: &File,
        stamp: &Stamp,
        has_new_contents: bool,
    ) -> io::Result<(Kept, SideEffects)> {
        let credentials = &self.credentials;
        let (user, group) = stamp.owner;
        let owner = user == credentials.user() || credentials.may_give_to_user(user);
        let keeps_group = group == self.new_group || credentials.may_give_to_group(group);
        let (attributes, not_kept): (Vec<_>, Vec<_>) =
            attributes(file)?
                .into_iter()
                .partition(|name| match &**name {
                    // The entries of an ACL refer to the group too.
                    ACL => keeps_group,
                    // The system removes it from a file on every write too.
                    CAPABILITIES if has_new_contents => false,
                    name => credentials.may_set_attribute(name),
                });
        let side_effects = self.side_effects(stamp, owner, keeps_group, not_kept.clone());
        let is_acl = |name: &String| name == ACL;
        let kept = Kept {
            owner: owner.then_some(user),
            group: keeps_group.then_some(group),
            has_acl: attributes.iter().any(is_acl),
            loses_acl: not_kept.iter().any(is_acl),
            attributes,
            may_set_group_id: credentials.may_set_group_id(group),
        };
        Ok((kept, side_effects))
    }

    /// Returns the side effects of a change in which a tool replaces this file with a new one,
    /// which keeps nothing.
    pub fn replace(&self, file: &File, stamp: &Stamp) -> io::Result<SideEffects> {
        let owner = stamp.owner.0 == self.credentials.user();
        let group = stamp.owner.1 == self.new_group;
        Ok(self.side_effects(stamp, owner, group, attributes(file)?))
    }

    fn side_effects(
        &self,
        stamp: &Stamp,
        keeps_owner: bool,
        keeps_group: bool,
        not_kept: Vec<String>,
    ) -> SideEffects {
        let (user, group) = stamp.owner;
        SideEffects {
            parts_hard_links: (stamp.links > 1).then_some(stamp.links),
            owner: (!keeps_owner).then(|| {
                Box::new(OwnerChange {
                    from: user_name(user),
                    to: user_name(self.credentials.user()),
                })
            }),
            group: (!keeps_group).then(|| {
                Box::new(OwnerChange {
                    from: group_name(group),
                    to: group_name(self.new_group),
                })
            }),
            not_kept,
        }
    }
}

impl Kept {
    /// Returns the permissions of the replacement. They are fewer than `wanted` if the owner,
    /// group or ACL that they were meant for is lost.
    pub fn mode(&self, wanted: u32) -> u32 {
        let mut mode = wanted;
        if self.owner.is_none() {
            mode &= !0o4000;
        }
        if self.group.is_none() || !self.may_set_group_id {
            mode &= !0o2000;
        }
        if self.loses_acl {
            return mode & !0o077;
        }
        if self.group.is_none() {
            // For the old permissions, the members of either group may be outsiders.
            let both = (mode >> 3) & mode & 0o7;
            mode = mode & !0o077 | both << 3 | both;
        }
        mode
    }
}

/// The permissions, owner and attributes with which a commit leaves a file that it made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Left {
    mode: u32,
    owner: (u32, u32),
    /// A hash of the extended attributes.
    attributes: u64,
}

impl Left {
    pub fn of(file: &File) -> io::Result<Self> {
        let stamp = Stamp::of(&fstat(file)?);
        let mut hasher = blake3::Hasher::new();
        for name in attributes(file)? {
            let value = attribute(file, &name)?.unwrap_or_default();
            hasher.update(&(name.len() as u64).to_le_bytes());
            hasher.update(name.as_bytes());
            hasher.update(&(value.len() as u64).to_le_bytes());
            hasher.update(&value);
        }
        let mut attributes = [0; 8];
        hasher.finalize_xof().fill(&mut attributes);
        Ok(Self {
            mode: stamp.mode,
            owner: stamp.owner,
            attributes: u64::from_le_bytes(attributes),
        })
    }
}

/// Returns the names of a file's extended attributes, including its ACL.
fn attributes(file: &File) -> io::Result<Vec<String>> {
    let mut list = Vec::with_capacity(MAX_ATTRIBUTE);
    match flistxattr(file, spare_capacity(&mut list)) {
        Err(Errno::OPNOTSUPP) => return Ok(Vec::new()),
        listed => listed?,
    };
    let names = list
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty());
    let mut names: Vec<String> = names
        .map(|name| String::from_utf8(name.to_vec()).map_err(|_| Errno::ILSEQ.into()))
        .collect::<io::Result<_>>()?;
    names.sort();
    Ok(names)
}

/// Returns an attribute's value; `None` if the file does not have it.
pub(crate) fn attribute(file: &File, name: &str) -> io::Result<Option<Vec<u8>>> {
    let mut value = Vec::with_capacity(MAX_ATTRIBUTE);
    match fgetxattr(file, name, spare_capacity(&mut value)) {
        Ok(_) => Ok(Some(value)),
        Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_fewer_where_their_owner_group_or_acl_is_lost() {
        let all = Kept {
            owner: Some(1),
            group: Some(1),
            attributes: Vec::new(),
            has_acl: true,
            loses_acl: false,
            may_set_group_id: true,
        };
        assert_eq!(all.mode(0o6754), 0o6754);
        let no_owner = Kept {
            owner: None,
            ..all.clone()
        };
        assert_eq!(no_owner.mode(0o6754), 0o2754);
        let no_group = Kept {
            group: None,
            ..all.clone()
        };
        let modes = [0o644, 0o640, 0o664, 0o604, 0o2750].map(|mode| no_group.mode(mode));
        assert_eq!(modes, [0o644, 0o600, 0o644, 0o600, 0o700]);
        let no_acl = Kept {
            loses_acl: true,
            ..all
        };
        assert_eq!(no_acl.mode(0o664), 0o600);
    }
}
