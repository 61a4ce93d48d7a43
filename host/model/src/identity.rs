//! Identities that distinguish a workspace from another directory at the same path: now, after a
//! restart, and on another machine.

use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::sync::LazyLock;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// The identity of a workspace directory, as far as its file system and machine reveal it.
///
/// It survives restarts of the process and the machine, and a rename of the directory. Properties
/// that the file system doesn't provide are not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WorkspaceIdentity {
    /// The machine that the directory was seen from.
    pub machine: Machine,
    /// The file system's id, if it survives a restart: on ext4, btrfs and ZFS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file_system: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inode: Option<u64>,
    /// The directory's creation time, in nanoseconds since 1970. File systems reuse inode numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    born: Option<i64>,
}

/// A machine, as stores identify it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Machine {
    /// A keyed hash of the machine's own id. The id can't be recovered from it.
    pub id: String,
    /// The host name, for people.
    pub name: String,
}

/// A difference between an action's workspace and the current one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkspaceDifference {
    /// The action was previewed on another machine.
    Machine {
        /// The name of that machine.
        previewed: String,
        /// The name of this machine.
        here: String,
    },
    /// Another file system is at the path.
    FileSystem,
    /// Another directory is at the path.
    Directory,
    /// An older version pushed the action and didn't record the directory.
    Unknown,
}

impl WorkspaceIdentity {
    /// Returns the identity of the directory at `path` on this machine.
    ///
    /// # Errors
    /// Fails if the directory doesn't exist or can't be accessed.
    pub fn at(path: &Path) -> io::Result<Self> {
        Ok(Self::of(
            path,
            &fs::metadata(path)?,
            Machine::this().clone(),
        ))
    }

    /// Returns how the directory at `path` differs from the `previewed` one. If the machine
    /// differs, reports only that. A missing directory counts as no difference.
    pub fn difference_at(path: &Path, previewed: Option<&Self>) -> Option<WorkspaceDifference> {
        let machine = previewed.and_then(|it| Machine::this().difference(&it.machine));
        machine.or_else(|| Self::at(path).ok()?.difference(previewed))
    }

    /// Returns the identity of the directory at `path`, which has this `metadata`, on this
    /// `machine`.
    pub fn of(path: &Path, metadata: &Metadata, machine: Machine) -> Self {
        Self {
            machine,
            file_system: file_system(path),
            inode: inode(metadata),
            born: born(metadata),
        }
    }

    /// Returns how the `previewed` workspace differs from this one, or `None` if all properties
    /// known of both are equal.
    pub fn difference(&self, previewed: Option<&Self>) -> Option<WorkspaceDifference> {
        let Some(previewed) = previewed else {
            return Some(WorkspaceDifference::Unknown);
        };
        if let Some(machine) = self.machine.difference(&previewed.machine) {
            return Some(machine);
        }
        if differ(self.file_system, previewed.file_system) {
            return Some(WorkspaceDifference::FileSystem);
        }
        let other = differ(self.inode, previewed.inode) || differ(self.born, previewed.born);
        other.then_some(WorkspaceDifference::Directory)
    }
}

/// Returns true if both values are known and differ.
fn differ<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one != other)
}

impl fmt::Display for WorkspaceDifference {
    /// Continues the sentence "this action was previewed in /path".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkspaceDifference::Machine { previewed, here } if previewed == here => {
                write!(f, "on another machine that is also called {here}")
            }
            WorkspaceDifference::Machine { previewed, here } => {
                write!(f, "on the machine {previewed}, and this one is {here}")
            }
            WorkspaceDifference::FileSystem => f.write_str("when another file system was there"),
            WorkspaceDifference::Directory => f.write_str("when another directory was there"),
            WorkspaceDifference::Unknown => {
                f.write_str("by an older version, which didn't note which directory that was")
            }
        }
    }
}

impl Machine {
    /// Returns the machine that this process runs on.
    pub fn this() -> &'static Self {
        static THIS: LazyLock<Machine> = LazyLock::new(|| {
            let name = host_name();
            let own = own_id().unwrap_or_else(|| name.clone());
            Machine::new(&own, &name)
        });
        &THIS
    }

    /// Returns a machine, or a group of machines that share workspaces, with a given name.
    pub fn named(name: &str) -> Self {
        Self::new(name, name)
    }

    fn new(own: &str, name: &str) -> Self {
        // machine-id(5) asks for a keyed hash that is specific to the application.
        let keyed = Digest::of(format!("airlock workspace on {own}").as_bytes());
        let mut id = keyed.to_hex();
        id.truncate(32);
        Self {
            id,
            name: name.to_owned(),
        }
    }

    /// Returns the difference if the `previewed` machine is not this one.
    pub fn difference(&self, previewed: &Self) -> Option<WorkspaceDifference> {
        (self.id != previewed.id).then(|| WorkspaceDifference::Machine {
            previewed: previewed.name.clone(),
            here: self.name.clone(),
        })
    }

    /// Returns true if this process runs on the machine.
    pub fn is_this(&self) -> bool {
        self.id == Self::this().id
    }
}

/// Returns the id that systemd and D-Bus assign to a machine when it is installed.
fn own_id() -> Option<String> {
    ["/etc/machine-id", "/var/lib/dbus/machine-id"]
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .map(|id| id.trim().to_owned())
        // A machine's id may be `uninitialized` during its first start.
        .find(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns this machine's host name.
#[cfg(unix)]
pub fn host_name() -> String {
    let system = rustix::system::uname();
    system.nodename().to_string_lossy().into_owned()
}

/// Returns this machine's host name.
#[cfg(not(unix))]
pub fn host_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "host".to_owned())
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> Option<u64> {
    Some(std::os::unix::fs::MetadataExt::ino(metadata))
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> Option<u64> {
    None
}

fn born(metadata: &Metadata) -> Option<i64> {
    let since = metadata.created().ok()?;
    let since = since.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_nanos()).ok()
}

/// Returns the id of a file system that keeps it. Other file systems derive theirs from a device
/// number, which changes with a restart.
#[cfg(target_os = "linux")]
fn file_system(path: &Path) -> Option<u64> {
    use rustix::fs::FsWord;
    const EXT: FsWord = 0xef53;
    const BTRFS: FsWord = 0x9123_683e;
    const ZFS: FsWord = 0x2fc1_2fc1;
    let kind = rustix::fs::statfs(path).ok()?.f_type;
    if ![EXT, BTRFS, ZFS].contains(&kind) {
        return None;
    }
    let id = rustix::fs::statvfs(path).ok()?.f_fsid;
    (id != 0).then_some(id)
}

#[cfg(not(target_os = "linux"))]
fn file_system(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(machine: &str, inode: Option<u64>, born: Option<i64>) -> WorkspaceIdentity {
        WorkspaceIdentity {
            machine: Machine::named(machine),
            file_system: Some(1),
            inode,
            born,
        }
    }

    #[test]
    fn what_is_known_of_both_is_compared() {
        let here = identity("a", Some(1), Some(2));
        let check = |previewed: Option<&WorkspaceIdentity>, expected| {
            assert_eq!(here.difference(previewed), expected, "{previewed:?}");
        };
        check(Some(&here), None);
        check(Some(&identity("a", Some(1), None)), None);
        check(Some(&identity("a", None, Some(2))), None);
        let directory = Some(WorkspaceDifference::Directory);
        check(Some(&identity("a", Some(3), Some(2))), directory.clone());
        // The number was given to another directory.
        check(Some(&identity("a", Some(1), Some(3))), directory);
        let elsewhere = WorkspaceIdentity {
            file_system: Some(2),
            ..here.clone()
        };
        check(Some(&elsewhere), Some(WorkspaceDifference::FileSystem));
        check(None, Some(WorkspaceDifference::Unknown));
        let machine = WorkspaceDifference::Machine {
            previewed: "b".to_owned(),
            here: "a".to_owned(),
        };
        check(Some(&identity("b", Some(1), Some(2))), Some(machine));
    }

    #[test]
    fn a_directory_is_known_again_after_a_rename_and_another_at_its_path_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (path, aside) = (folder.path().join("w"), folder.path().join("aside"));
        fs::create_dir(&path).unwrap();
        let before = WorkspaceIdentity::at(&path).unwrap();
        fs::rename(&path, &aside).unwrap();
        fs::rename(&aside, &path).unwrap();
        let read = serde_json::from_str(&serde_json::to_string(&before).unwrap()).unwrap();
        let after = WorkspaceIdentity::at(&path).unwrap();
        assert_eq!(after.difference(Some(&read)), None);
        fs::remove_dir(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let other = WorkspaceIdentity::at(&path).unwrap();
        assert!(other.difference(Some(&read)).is_some());
    }

    #[test]
    fn the_machines_own_id_stays_on_it() {
        if let Some(own) = own_id() {
            assert!(!Machine::this().id.contains(&own) && !own.contains(&Machine::this().id));
        }
    }
}
