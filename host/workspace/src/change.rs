//! What a layer changes, as whoever decides about it reads it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::content::read_full;
use crate::kept::{Ability, Kept};
use crate::lower::{Kind, Lower, Stamp};
use crate::parents::Parents;
use crate::path::parent_and_name;
use crate::tree::{Body, Node, NodeId, Origin, ROOT, Tree};
use crate::view::View;

const READ_AT_ONCE: usize = 256 * 1024;

/// All that a layer changes, in the order of paths.
///
/// It follows from what is different in the end, and not from what was done: a file that was
/// written as it was, or made and removed, is no change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeSet {
    /// The changes.
    pub changes: Vec<Change>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// What was done.
    pub kind: ChangeKind,
    /// Where, below the folder.
    pub path: String,
    /// Where it was before, if it was moved, or a directory above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What was there; none for what is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Facts>,
    /// What is there then; none for what is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Facts>,
    /// What happens to a file beside that.
    #[serde(default, skip_serializing_if = "SideEffects::is_empty")]
    pub side_effects: SideEffects,
}

/// What a change of a file's contents or permissions changes beside them, since a new file takes its
/// place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideEffects {
    /// How many names (hard links) the file has: this one gets a file of its own, and the others
    /// keep the contents of before. None for a single name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts_hard_links: Option<u64>,
    /// The user whose file it is, if this process can't keep that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<OwnerChange>,
    /// The file's group, if this process can't keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<OwnerChange>,
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

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Something new.
    Created,
    /// Other contents; its permissions may differ too.
    Modified,
    /// Gone.
    Deleted,
    /// Another name, of a directory with all that is in it. Contents may differ too.
    Renamed,
    /// Other permissions alone.
    Mode,
    /// A link that is new, or leads elsewhere.
    Link,
}

/// What an object is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// What it is.
    pub kind: Kind,
    /// In bytes; 0 for a directory.
    pub size: u64,
    /// Permissions: 0o7777 at most; 0 for a link, which has none.
    pub mode: u32,
    /// The SHA-256 of a file's contents, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Where a link leads; none where that is no UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

impl ChangeSet {
    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

impl View {
    /// What the open layer changes. Empty where none is open.
    ///
    /// # Errors
    /// Those of the system; `ESTALE` where the real folder has changed below it.
    pub fn changes(&self) -> io::Result<ChangeSet> {
        Ok(compare(&self.inner.state().tree, &self.inner.lower)?.changes)
    }
}

/// What a layer changes.
pub(crate) struct Compared {
    pub changes: ChangeSet,
    /// What the real folder has, and has other contents or permissions in the layer; with what
    /// files keep.
    pub rewritten: HashMap<NodeId, Option<Kept>>,
}

pub(crate) fn compare(tree: &Tree, lower: &Lower) -> io::Result<Compared> {
    let mut parents = lower.parents();
    let moved_directories = moved_directories(tree)?;
    let ability = Ability::of(lower)?;
    let mut rewritten = HashMap::new();
    let (mut found, mut elsewhere) = (Vec::new(), Vec::new());
    for id in tree.ids().filter(|id| *id != ROOT) {
        let node = tree.node(id);
        match (&node.origin, tree.checked_path_of(id)?) {
            (None, None) => {}
            (None, Some(path)) => found.push(created(node, path)?),
            (Some(origin), None) => {
                let gone = Change {
                    kind: ChangeKind::Deleted,
                    path: origin.path.to_string(),
                    from: None,
                    before: Some(real_facts(&mut parents, &origin.path, &origin.stamp)?),
                    after: None,
                    side_effects: SideEffects::default(),
                };
                // What is made at its path doesn't take its place.
                match is_below(&origin.path, &moved_directories) {
                    true => elsewhere.push(gone),
                    false => found.push(gone),
                }
            }
            (Some(origin), Some(path)) => {
                // By way of another directory it can have come back to where it was. Where the
                // directory is another one since, that is told.
                let moved = !tree.is_in_place(id)
                    && (path != *origin.path || is_below(&path, &moved_directories));
                let Some((before, mut after)) = kept(&mut parents, node, origin, moved)? else {
                    continue;
                };
                let is_rewritten = before.digest != after.digest || node.mode != origin.stamp.mode;
                let (mut keeps, mut side_effects) = (None, SideEffects::default());
                if is_rewritten && before.kind == Kind::File {
                    let (real, _) = parents.open_file(&origin.path)?;
                    let (kept, beside) = ability.keep(&real, &origin.stamp)?;
                    after.mode = kept.mode(node.mode);
                    (keeps, side_effects) = (Some(kept), beside);
                }
                let Some(kind) = kind_of(moved, &before, &after) else {
                    continue;
                };
                if is_rewritten {
                    rewritten.insert(id, keeps);
                }
                found.push(Change {
                    kind,
                    from: (moved || path != *origin.path).then(|| origin.path.to_string()),
                    path,
                    before: Some(before),
                    after: Some(after),
                    side_effects,
                });
            }
        }
    }
    let mut changes = joined(found);
    changes.extend(elsewhere);
    changes.sort_by(|one, other| (&one.path, one.kind).cmp(&(&other.path, other.kind)));
    Ok(Compared {
        changes: ChangeSet { changes },
        rewritten,
    })
}

fn created(node: &Node, path: String) -> io::Result<Change> {
    let after = own_facts(node)?;
    let kind = match after.kind {
        Kind::Link => ChangeKind::Link,
        _ => ChangeKind::Created,
    };
    Ok(Change {
        kind,
        path,
        from: None,
        before: None,
        after: Some(after),
        side_effects: SideEffects::default(),
    })
}

/// What was and is there, of what the real folder has and still has a place; none where nothing
/// was done to it.
fn kept(
    parents: &mut Parents<'_>,
    node: &Node,
    origin: &Origin,
    moved: bool,
) -> io::Result<Option<(Facts, Facts)>> {
    match &node.body {
        Body::File(Some(_)) => {
            let before = real_facts(parents, &origin.path, &origin.stamp)?;
            Ok(Some((before, own_facts(node)?)))
        }
        _ if !moved && node.mode == origin.stamp.mode => Ok(None),
        _ => {
            let before = real_facts(parents, &origin.path, &origin.stamp)?;
            let mode = match before.kind {
                Kind::Link => 0,
                _ => node.mode,
            };
            let after = Facts {
                mode,
                ..before.clone()
            };
            Ok(Some((before, after)))
        }
    }
}

fn kind_of(moved: bool, before: &Facts, after: &Facts) -> Option<ChangeKind> {
    match (
        moved,
        before.digest == after.digest,
        before.mode == after.mode,
    ) {
        (true, ..) => Some(ChangeKind::Renamed),
        (false, false, _) => Some(ChangeKind::Modified),
        (false, true, false) => Some(ChangeKind::Mode),
        (false, true, true) => None,
    }
}

/// Where the real folder has the directories that are at other paths in the layer.
fn moved_directories(tree: &Tree) -> io::Result<HashSet<&str>> {
    let mut moved = HashSet::new();
    for id in tree.ids().filter(|id| *id != ROOT) {
        let node = tree.node(id);
        if let (Body::Directory(_), Some(origin)) = (&node.body, &node.origin)
            && tree
                .checked_path_of(id)?
                .is_some_and(|path| path != *origin.path)
        {
            moved.insert(&*origin.path);
        }
    }
    Ok(moved)
}

fn is_below(path: &str, directories: &HashSet<&str>) -> bool {
    let (mut above, _) = parent_and_name(path);
    while !directories.is_empty() && !above.is_empty() {
        if directories.contains(above) {
            return true;
        }
        (above, _) = parent_and_name(above);
    }
    false
}

/// What was removed and made again under the same path is one change, or none.
fn joined(found: Vec<Change>) -> Vec<Change> {
    let mut by_path: BTreeMap<String, Vec<Change>> = BTreeMap::new();
    for change in found {
        by_path.entry(change.path.clone()).or_default().push(change);
    }
    let joined = by_path.into_values().flat_map(|mut changes| {
        let made = |change: &Change| change.before.is_none();
        let gone = |change: &Change| change.after.is_none();
        let (Some(made), Some(gone)) =
            (changes.iter().position(made), changes.iter().position(gone))
        else {
            changes.sort_by_key(|change| change.kind);
            return changes;
        };
        let before = changes[gone].before.clone();
        let after = changes[made].after.clone();
        if before == after {
            changes.clear();
        } else if let (Some(old), Some(new)) = (&before, &after)
            && old.kind == new.kind
        {
            let kind = match new.kind {
                Kind::Link => ChangeKind::Link,
                _ if old.digest == new.digest => ChangeKind::Mode,
                _ => ChangeKind::Modified,
            };
            let path = changes[made].path.clone();
            changes = vec![Change {
                kind,
                path,
                from: None,
                before,
                after,
                side_effects: SideEffects::default(),
            }];
        }
        changes
    });
    joined.collect()
}

/// Of what the layer has made, or has contents of.
fn own_facts(node: &Node) -> io::Result<Facts> {
    let mut facts = Facts {
        kind: node.body.kind(),
        size: 0,
        mode: node.mode,
        digest: None,
        target: None,
    };
    match &node.body {
        Body::File(Some(content)) => {
            facts.size = content.len();
            let read = |buffer: &mut [u8], offset| content.read_at(buffer, offset);
            facts.digest = Some(digest_of(facts.size, read)?);
        }
        Body::Link(Some(target)) => {
            facts.size = target.len() as u64;
            facts.mode = 0;
            facts.target = Some(target.to_string());
        }
        _ => {}
    }
    Ok(facts)
}

pub(crate) fn real_facts(
    parents: &mut Parents<'_>,
    path: &str,
    stamp: &Stamp,
) -> io::Result<Facts> {
    let mut facts = Facts {
        kind: stamp.kind,
        size: stamp.size,
        mode: stamp.mode,
        digest: None,
        target: None,
    };
    match stamp.kind {
        Kind::File => {
            let (file, now) = parents.open_file(path)?;
            if !stamp.has_same_contents(&now) {
                return Err(Errno::STALE.into());
            }
            facts.digest = Some(digest_of_file(&file, now.size)?);
        }
        Kind::Link => {
            facts.mode = 0;
            match parents.read_link(path) {
                Ok(target) => facts.target = Some(target),
                Err(error) if error.raw_os_error() == Some(Errno::ILSEQ.raw_os_error()) => {}
                Err(error) => return Err(error),
            }
        }
        Kind::Directory => facts.size = 0,
        Kind::Special => {}
    }
    Ok(facts)
}

fn digest_of_file(file: &File, size: u64) -> io::Result<String> {
    digest_of(size, |buffer, offset| read_full(file, buffer, offset))
}

/// `size`: as it is expected, in bytes. `read` fills the buffer, or as far as there is anything.
fn digest_of(size: u64, read: impl Fn(&mut [u8], u64) -> io::Result<usize>) -> io::Result<String> {
    let mut hasher = Sha256::new();
    // With room for the byte that isn't there, which says that it ends.
    let length = usize::try_from(size).unwrap_or(READ_AT_ONCE);
    let mut buffer = vec![0; READ_AT_ONCE.min(length.saturating_add(1))];
    let mut offset = 0;
    loop {
        let length = read(&mut buffer, offset)?;
        hasher.update(&buffer[..length]);
        offset += length as u64;
        if length < buffer.len() {
            break;
        }
    }
    use std::fmt::Write;
    let mut hex = String::with_capacity(64);
    for byte in hasher.finalize() {
        let _ = write!(hex, "{byte:02x}");
    }
    Ok(hex)
}
