//! The rights of this thread to change owners and attributes of its files.

use std::fs;
use std::path::Path;

use rustix::process::{getegid, geteuid};

use crate::kept::CAPABILITIES;

/// Capability numbers, as in `linux/capability.h`.
const CHOWN: u32 = 0;
const FOWNER: u32 = 3;
const FSETID: u32 = 4;
const SYS_ADMIN: u32 = 21;
const SETFCAP: u32 = 31;

/// A thread's user, groups and capabilities.
#[derive(Debug, Clone, Default)]
pub(crate) struct Credentials {
    user: u32,
    group: u32,
    /// The supplementary groups.
    groups: Vec<u32>,
    /// The effective capabilities, one bit each.
    capabilities: u64,
    /// First numbers and counts of the users and groups in the user namespace.
    users: Vec<(u32, u32)>,
    all_groups: Vec<(u32, u32)>,
}

impl Credentials {
    /// Returns the credentials of this thread. Without `/proc`, it has only its user and its
    /// group.
    pub fn now() -> Self {
        let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        let field = |name: &str| {
            let mut lines = status.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        };
        let numbers = field("Groups").unwrap_or_default().split_whitespace();
        let capabilities = field("CapEff").map(|hex| u64::from_str_radix(hex.trim(), 16));
        Self {
            user: geteuid().as_raw(),
            group: getegid().as_raw(),
            groups: numbers.filter_map(|it| it.parse().ok()).collect(),
            capabilities: capabilities.and_then(Result::ok).unwrap_or(0),
            users: mapped("/proc/thread-self/uid_map"),
            all_groups: mapped("/proc/thread-self/gid_map"),
        }
    }

    pub fn user(&self) -> u32 {
        self.user
    }

    /// Returns the group of new files, unless their directory sets it.
    pub fn group(&self) -> u32 {
        self.group
    }

    pub fn is_in_group(&self, group: u32) -> bool {
        group == self.group || self.groups.contains(&group)
    }

    /// Returns whether a file can be given to a user and its permissions be set afterwards.
    pub fn may_give_to_user(&self, user: u32) -> bool {
        self.may_give_away() && is_mapped(&self.users, user)
    }

    /// Returns whether a file can be given to a group and its permissions be set afterwards.
    pub fn may_give_to_group(&self, group: u32) -> bool {
        self.is_in_group(group) || self.may_give_away() && is_mapped(&self.all_groups, group)
    }

    fn may_give_away(&self) -> bool {
        self.has(CHOWN) && self.has(FOWNER)
    }

    /// Returns whether set-group-ID can be set on a file of this group.
    pub fn may_set_group_id(&self, group: u32) -> bool {
        self.is_in_group(group) || self.has(FSETID)
    }

    /// Returns whether an extended attribute can be set on a file that this thread owns.
    pub fn may_set_attribute(&self, name: &str) -> bool {
        match name {
            CAPABILITIES => self.has(SETFCAP),
            // These are hashes of the previous contents.
            "security.ima" | "security.evm" => false,
            "security.selinux" if Path::new("/sys/fs/selinux/enforce").exists() => true,
            _ if name.starts_with("security.") || name.starts_with("trusted.") => {
                self.has(SYS_ADMIN)
            }
            _ => true,
        }
    }

    fn has(&self, capability: u32) -> bool {
        self.capabilities & (1 << capability) != 0
    }
}

fn mapped(path: &str) -> Vec<(u32, u32)> {
    let map = fs::read_to_string(path).unwrap_or_default();
    let ranges = map.lines().filter_map(|line| {
        let mut numbers = line.split_whitespace().map(str::parse);
        let first = numbers.next()?.ok()?;
        Some((first, numbers.nth(1)?.ok()?))
    });
    ranges.collect()
}

fn is_mapped(ranges: &[(u32, u32)], id: u32) -> bool {
    let mut ranges = ranges.iter();
    ranges.any(|(first, count)| id.checked_sub(*first).is_some_and(|at| at < *count))
}

/// Returns a user's name from `/etc/passwd`, or the number if there is none.
pub(crate) fn user_name(user: u32) -> String {
    name_in("/etc/passwd", user)
}

/// Returns a group's name from `/etc/group`, or the number if there is none.
pub(crate) fn group_name(group: u32) -> String {
    name_in("/etc/group", group)
}

fn name_in(path: &str, id: u32) -> String {
    let id = id.to_string();
    let list = fs::read_to_string(path).unwrap_or_default();
    let name = list.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == id && !name.is_empty()).then(|| name.to_owned())
    });
    name.unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_goes_to_others_only_by_capabilities_and_inside_the_user_namespace() {
        let plain = Credentials {
            user: 1000,
            group: 100,
            groups: vec![27],
            ..Credentials::default()
        };
        assert!(!plain.may_give_to_user(0));
        assert!(plain.may_give_to_group(27) && !plain.may_give_to_group(28));
        assert!(plain.may_set_attribute("user.note"));
        assert!(!plain.may_set_attribute("security.capability"));
        let in_container = Credentials {
            capabilities: u64::MAX,
            users: vec![(0, 65536)],
            ..plain
        };
        assert!(in_container.may_give_to_user(65535) && !in_container.may_give_to_user(65536));
        assert!(in_container.may_set_attribute("trusted.note"));
    }

    #[test]
    fn users_and_groups_have_names_or_numbers() {
        assert_eq!([user_name(0), group_name(0)], ["root", "root"]);
        assert_eq!(user_name(3_999_999_999), "3999999999");
    }
}
