//! The inputs of a tool's run, and whether they have changed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use airlock_model::effects::Change;
use airlock_model::reads::{Fingerprints, ReadFile, ReadFiles, StaleFile, Staleness};
use airlock_model::store::ActionBasis;
use airlock_workspace::{Facts, Kind, ReadSet, RealFolder, Stamp, View};

use super::effects::{facts, identity};

/// Maximum number of paths to note per run of a guest.
pub(super) const PATHS: usize = 20_000;

/// Maximum bytes of files whose digests are noted for one call.
const HASHED: u64 = 256 << 20;

/// Maximum bytes of one such file.
const HASHED_OF_ONE: u64 = 64 << 20;

/// The fingerprint of a path without an entry.
const NOTHING: u64 = 1;

/// The fingerprint of an entry that must be treated as changed.
const UNKNOWN: u64 = 0;

/// Returns the files whose contents were read, as they were then.
pub(crate) fn read_files(view: &View, reads: &ReadSet) -> ReadFiles {
    let now = SystemTime::now();
    let mut noted = ReadFiles {
        files: BTreeMap::new(),
        is_cut: reads.is_cut,
    };
    let mut left = HASHED;
    let mut real = view.real();
    for (path, read) in &reads.paths {
        let Some(stamp) = &read.found else { continue };
        if !read.contents || stamp.kind != Kind::File {
            continue;
        }
        let mut file = ReadFile::new(stamp.fingerprint(true), stamp.mode, None);
        if stamp.size <= HASHED_OF_ONE.min(left) {
            left -= stamp.size;
            // A file that has changed since it was read gets no digest, and is therefore stale.
            if let Ok(Some((found, facts))) = real.facts(path)
                && found.is_unchanged(stamp)
            {
                file.digest = facts.digest;
                if !is_settled(stamp, now) {
                    file.fingerprint = UNKNOWN;
                }
            }
        }
        noted.files.insert(path.to_string(), file);
    }
    noted
}

/// Returns fingerprints of everything that was read, or `None` if that was too much.
pub(crate) fn fingerprints(reads: &ReadSet) -> Option<Fingerprints> {
    let now = SystemTime::now();
    let paths = reads.paths.iter().map(|(path, read)| {
        let stamp = read.found.as_ref();
        let times_count = |stamp: &Stamp| stamp.kind != Kind::Directory || read.contents;
        let fingerprint = match stamp {
            None => NOTHING,
            Some(stamp) if times_count(stamp) && !is_settled(stamp, now) => UNKNOWN,
            Some(stamp) => stamp.fingerprint(read.contents),
        };
        // Only its fingerprint shows whether a directory was looked up or listed.
        (path.to_string(), fingerprint)
    });
    (!reads.is_cut).then(|| Fingerprints(paths.collect()))
}

/// Returns whether any of it has changed.
///
/// # Errors
/// Any I/O error.
pub(crate) fn has_changed(view: &View, looked_at: &Fingerprints) -> io::Result<bool> {
    let mut real = view.real();
    for (path, then) in &looked_at.0 {
        let now = match real.stamp(path)? {
            None => *then == NOTHING,
            Some(stamp) => *then == stamp.fingerprint(false) || *then == stamp.fingerprint(true),
        };
        if !now {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The current files of a workspace, for comparisons. Contents of each file are read at most once.
pub(crate) struct FilesNow<'a> {
    real: RefCell<RealFolder<'a>>,
    facts: RefCell<HashMap<String, Now>>,
}

/// The state of a path.
#[derive(Clone)]
enum Now {
    Is(Rc<Facts>),
    Gone,
    /// The entry can't be read, can't be read in time, or is changing.
    Unreadable,
}

impl<'a> FilesNow<'a> {
    /// `time` is the maximum time for reading contents, for all files together.
    pub fn new(view: &'a View, time: Duration) -> Self {
        Self {
            real: RefCell::new(view.real().within(time)),
            facts: RefCell::default(),
        }
    }

    fn stamp(&self, path: &str) -> io::Result<Option<Stamp>> {
        self.real.borrow_mut().stamp(path)
    }

    fn facts(&self, path: &str) -> Now {
        if let Some(known) = self.facts.borrow().get(path) {
            return known.clone();
        }
        let now = match self.real.borrow_mut().facts(path) {
            Ok(Some((_, facts))) => Now::Is(Rc::new(facts)),
            Ok(None) => Now::Gone,
            Err(_) => Now::Unreadable,
        };
        let mut facts = self.facts.borrow_mut();
        facts.insert(path.to_owned(), now.clone());
        now
    }
}

/// The files that an action depends on: inputs of its preview, and files it changes.
pub(crate) struct Basis {
    /// Inputs of the preview, shared by all actions of one call.
    read: Arc<ReadFiles>,
    pub changes: Vec<Change>,
    /// Inputs of the rehearsal, including the files that it changes.
    pub looked_at: Option<Fingerprints>,
    pub left_by_others: BTreeMap<String, Option<String>>,
}

impl From<ActionBasis> for Basis {
    fn from(known: ActionBasis) -> Self {
        let mut basis = Self {
            read: known.read,
            changes: Vec::new(),
            looked_at: None,
            left_by_others: BTreeMap::new(),
        };
        if let Some(record) = known.effects {
            if record.effects.verified {
                basis.changes = record.effects.changes;
            }
            basis.looked_at = record.read;
            basis.left_by_others = record.left_by_others;
        }
        basis
    }
}

impl Basis {
    /// Returns whether no file was read or is changed, as far as is known.
    pub fn is_empty(&self) -> bool {
        self.has_no_files() && self.looked_at.is_none()
    }

    /// Returns whether it has no known files.
    pub fn has_no_files(&self) -> bool {
        self.read.files.is_empty() && self.changes.is_empty()
    }

    /// Returns the files that have changed.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn stale(&self, view: &FilesNow<'_>) -> io::Result<Vec<StaleFile>> {
        let mut stale = BTreeMap::new();
        for (path, file) in &self.read.files {
            if let Some(what) = self.read_since(view, path, file)? {
                stale.insert(path.clone(), what);
            }
        }
        let mut there: BTreeSet<&str> = BTreeSet::new();
        for change in &self.changes {
            let Some(before) = &change.before else {
                continue;
            };
            let path = change.from.as_deref().unwrap_or(&change.path);
            there.insert(path);
            let stamp = view.stamp(path)?;
            let what = match &stamp {
                None => Some(Staleness::Gone),
                Some(stamp) if self.is_known(path, stamp) => None,
                // Its contents were never read.
                Some(stamp) if before.identity.is_some() => {
                    let is_same = before.identity.as_deref() == Some(&identity(&stamp.identity()))
                        && before.mode == stamp.mode;
                    (!is_same).then_some(Staleness::Changed)
                }
                Some(stamp) if stamp.kind == Kind::File && stamp.size != before.size => {
                    Some(Staleness::Changed)
                }
                Some(_) => match view.facts(path) {
                    Now::Is(now) if facts(&now) == *before => None,
                    Now::Is(_) | Now::Unreadable => Some(Staleness::Changed),
                    Now::Gone => Some(Staleness::Gone),
                },
            };
            if let Some(what) = what {
                stale.insert(path.to_owned(), what);
            }
        }
        let left: BTreeSet<&str> = self.changes.iter().filter_map(left_by).collect();
        for change in &self.changes {
            let is_new = change.after.is_some() && !there.contains(&*change.path);
            // Entries of a directory that moves away move with it.
            let takes_its_place = above(&change.path).any(|above| left.contains(above));
            if is_new && !takes_its_place && view.stamp(&change.path)?.is_some() {
                stale.insert(change.path.clone(), Staleness::Appeared);
            }
        }
        let stale = stale.into_iter();
        Ok(stale
            .map(|(path, what)| StaleFile::new(path, what))
            .collect())
    }

    fn is_known(&self, path: &str, stamp: &Stamp) -> bool {
        let then = self.looked_at.as_ref().and_then(|it| it.0.get(path));
        // A directory's fingerprint says less than the review.
        stamp.kind != Kind::Directory && then == Some(&stamp.fingerprint(false))
    }

    fn read_since(
        &self,
        view: &FilesNow<'_>,
        path: &str,
        then: &ReadFile,
    ) -> io::Result<Option<Staleness>> {
        let left = self.left_by_others.get(path);
        let Some(stamp) = view.stamp(path)? else {
            let removed = left.is_some_and(|left| left.is_none());
            return Ok((!removed).then_some(Staleness::Gone));
        };
        if stamp.fingerprint(true) == then.fingerprint {
            return Ok(None);
        }
        // Don't read a file that can't be the same.
        let is_noted = then.digest.is_some() && stamp.size <= HASHED_OF_ONE;
        let is_digested = is_noted || left.is_some_and(Option::is_some);
        let digest = match is_digested.then(|| view.facts(path)) {
            Some(Now::Is(facts)) => facts.digest.clone(),
            Some(Now::Gone | Now::Unreadable) | None => None,
        };
        let is_same = digest.is_some()
            && ((digest == then.digest && stamp.mode == then.mode) || left == Some(&digest));
        Ok((!is_same).then_some(Staleness::Changed))
    }
}

/// Returns the path that a change vacates.
fn left_by(change: &Change) -> Option<&str> {
    match (&change.from, &change.after) {
        (Some(from), _) => Some(from),
        (None, None) => Some(&change.path),
        (None, Some(_)) => None,
    }
}

/// Iterates over the parent directories of a path, except for the workspace itself.
fn above(path: &str) -> impl Iterator<Item = &str> {
    let slashes = path.match_indices('/');
    slashes.map(|(at, _)| &path[..at])
}

/// Returns whether a later change would alter its times, given the resolution of the file system's
/// clock.
fn is_settled(stamp: &Stamp, now: SystemTime) -> bool {
    let (seconds, nanoseconds) = stamp.changed;
    let Ok(seconds) = u64::try_from(seconds) else {
        return true;
    };
    let tick = match nanoseconds {
        // The file system's resolution may be two seconds.
        0 => Duration::from_secs(2),
        _ => Duration::from_millis(20),
    };
    let changed = UNIX_EPOCH + Duration::new(seconds, nanoseconds);
    now.duration_since(changed).is_ok_and(|past| past > tick)
}
