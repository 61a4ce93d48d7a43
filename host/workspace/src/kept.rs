//! The owner, group, permissions and attributes that a file keeps when another one takes its place:
//! found out before the decision, and done in the commit.

use std::fs::File;
use std::io;

use rustix::buffer::spare_capacity;
use rustix::fs::{fgetxattr, flistxattr};
use rustix::io::Errno;

use crate::change::{OwnerChange, SideEffects};
use crate::credentials::{Credentials, group_name, user_name};
use crate::lower::{Lower, Stamp};
use crate::path::PRIVATE;

/// The attribute in which Linux keeps an access control list (ACL).
pub(crate) const ACL: &str = "system.posix_acl_access";

/// The attribute in which Linux keeps the capabilities of a program.
pub(crate) const CAPABILITIES: &str = "security.capability";

/// The longest list of names, and the longest value, in bytes.
const MAX_ATTRIBUTE: usize = 64 * 1024;

/// What this process can give a file that it makes.
pub(crate) struct Ability {
    credentials: Credentials,
    /// The group of files that are made in the private folder.
    new_group: u32,
}

/// The attributes that a file's replacement keeps.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    /// None if it can't be kept.
    pub owner: Option<u32>,
    pub group: Option<u32>,
    /// The names of attributes.
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

    /// The attributes that the replacement of a file keeps, and the side effects.
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
                    // Its entries are about the group too.
                    ACL => keeps_group,
                    // The system takes it from whatever is written to, too.
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

    /// The side effects of a change in which a tool puts a new file in the place of this one. It
    /// keeps nothing.
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
    /// The permissions of the replacement, where these are wanted: fewer where the owner, the group
    /// or the ACL is lost that they were meant for.
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
            // The members of both groups are strangers to the permissions of before.
            let both = (mode >> 3) & mode & 0o7;
            mode = mode & !0o077 | both << 3 | both;
        }
        mode
    }
}

/// The names of a file's extended attributes, its ACL's too.
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

/// An attribute's value; none if the file doesn't have it.
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
