//! Stamps of the states of objects in the real folder.

use serde::{Deserialize, Serialize};

/// A kind of object. Links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// A stamp of an object's state in the real folder. Two states have different stamps, as far as
/// the system records the difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The kind of object.
    pub kind: Kind,
    /// The device number of its file system.
    pub device: u64,
    /// The inode number.
    pub inode: u64,
    /// The size in bytes.
    pub size: u64,
    /// The permissions, including the bits above them: at most 0o7777.
    pub mode: u32,
    /// The number of names (hard links).
    pub links: u64,
    /// The user and the group.
    pub owner: (u32, u32),
    /// The time of the last access, in seconds and nanoseconds since 1970. Not compared.
    pub accessed: (i64, u32),
    /// The time when the contents last changed.
    pub modified: (i64, u32),
    /// The time when the contents or the metadata last changed.
    pub changed: (i64, u32),
}

/// Identifies a file and its version, as far as the system records changes. A copy has another
/// identity. A reboot may change the device number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The device number of its file system, as in `stat`.
    pub device: u64,
    /// The inode number.
    pub inode: u64,
    /// The size in bytes.
    pub size: u64,
    /// The time when the contents last changed, in seconds and nanoseconds since 1970.
    pub modified: (i64, u32),
    /// The time when the contents or the metadata last changed.
    pub changed: (i64, u32),
}

impl Stamp {
    /// Returns the identity of the object's current version.
    pub fn identity(&self) -> Identity {
        Identity {
            device: self.device,
            inode: self.inode,
            size: self.size,
            modified: self.modified,
            changed: self.changed,
        }
    }

    /// Returns whether both stamps are of the same object, in any state.
    pub fn is_same_object(&self, other: &Self) -> bool {
        (self.kind, self.device, self.inode) == (other.kind, other.device, other.inode)
    }

    /// Returns whether the object is unchanged, as far as the system records changes. For a
    /// directory, only the object itself counts, not its entries.
    pub fn is_unchanged(&self, now: &Self) -> bool {
        self.is_same_object(now)
            && match self.kind {
                Kind::Directory => true,
                _ => {
                    (
                        self.size,
                        self.mode,
                        self.owner,
                        self.modified,
                        self.changed,
                    ) == (now.size, now.mode, now.owner, now.modified, now.changed)
                }
            }
    }

    /// Hashes everything that [`is_unchanged`](Self::is_unchanged) compares to 64 bits, for a
    /// later comparison. With `contents`, a directory's hash includes the time when a name in it
    /// was last created or removed.
    pub fn fingerprint(&self, contents: bool) -> u64 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[self.kind as u8]);
        hasher.update(&self.device.to_le_bytes());
        hasher.update(&self.inode.to_le_bytes());
        if self.kind != Kind::Directory {
            hasher.update(&self.size.to_le_bytes());
            hasher.update(&self.mode.to_le_bytes());
            hasher.update(&self.owner.0.to_le_bytes());
            hasher.update(&self.owner.1.to_le_bytes());
        }
        if self.kind != Kind::Directory || contents {
            for (seconds, nanoseconds) in [self.modified, self.changed] {
                hasher.update(&seconds.to_le_bytes());
                hasher.update(&nanoseconds.to_le_bytes());
            }
        }
        let mut bytes = [0; 8];
        hasher.finalize_xof().fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// Returns whether the contents are unchanged. A rename only updates `changed`.
    pub(crate) fn has_same_contents(&self, now: &Self) -> bool {
        self.is_same_object(now)
            && (self.kind == Kind::Directory
                || (self.size, self.modified) == (now.size, now.modified))
    }
}
