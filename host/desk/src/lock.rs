//! `airlock.lock`: the installed plugins of a configuration, pinned.
//!
//! It is in the folder of the configuration file, and the components are in the folder
//! [`COMPONENTS`] there. So a configuration can be copied or backed up as a whole, and removing a
//! plugin can't take it from another configuration.

mod difference;
mod entry;
mod facts;
mod name;

use std::fs::{self, File};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use airlock_host::digest::Digest;
use airlock_host::regular::read_regular_file;
use airlock_registry::Cache;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::configuration::Problem;
use crate::signing::Signing;

pub use difference::{Difference, ToolPart};
pub use entry::Entry;
pub use facts::{Facts, LockedTool};
pub use name::InstalledName;

/// The name of a lock.
pub const NAME: &str = "airlock.lock";

/// The name of the folder with the installed components, next to their lock.
pub const COMPONENTS: &str = "airlock-plugins";

/// The version of the format.
const VERSION: u32 = 1;

/// The maximum size of a lock, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// The first lines of a lock.
const HEADING: &str =
    "# Written by `airlock install` and `airlock update`: installed plugins and their grants.\n\n";

/// The installed plugins of one configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    path: PathBuf,
    entries: Vec<Entry>,
}

/// The locks of an operator's files, highest precedence first, and the requirements on their
/// plugins.
#[derive(Debug, Clone, Default)]
pub struct Locks {
    locks: Vec<Lock>,
    signing: Signing,
}

/// An installed plugin, and the place of its component.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Installed {
    /// The plugin as it is pinned.
    pub entry: Entry,
    /// The component's file.
    pub component: PathBuf,
    /// The lock.
    pub lock: PathBuf,
    signing: Signing,
}

/// The contents of a lock.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    version: u32,
    #[serde(rename = "plugin", default)]
    entries: Vec<Entry>,
}

/// The contents of a lock, to be written.
#[derive(Debug, Serialize)]
struct Written<'a> {
    version: u32,
    #[serde(rename = "plugin")]
    entries: &'a [Entry],
}

impl Lock {
    /// Reads the lock in the folder of a configuration file. Without a file, nothing is installed.
    ///
    /// # Errors
    /// Returns the problem if the lock can't be read.
    pub fn next_to(configuration: &Path) -> Result<Self, Problem> {
        Self::read(configuration.with_file_name(NAME))
    }

    fn read(path: PathBuf) -> Result<Self, Problem> {
        let whole = |message: String| Problem::of_file(&path, message);
        let bytes = match read_regular_file(&path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let entries = Vec::new();
                return Ok(Self { path, entries });
            }
            Err(error) => return Err(whole(format!("it can't be read: {error}"))),
        };
        let text = String::from_utf8(bytes).map_err(|_| whole("it is not UTF-8".to_owned()))?;
        let contents: Contents = toml::from_str(&text)
            .map_err(|error| Problem::at(&path, &text, error.span(), error.message()))?;
        if contents.version != VERSION {
            return Err(whole(format!(
                "its format has the version {}, and this program knows {VERSION}",
                contents.version
            )));
        }
        let entries = contents.entries;
        let mut names: Vec<&str> = entries.iter().map(|it| it.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|it| it[0] == it[1]) {
            Some(twice) => Err(whole(format!("it has {:?} twice", twice[0]))),
            None => Ok(Self { path, entries }),
        }
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the installed plugins, sorted by name.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the installed plugin with this name.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|it| it.name.as_str() == name)
    }

    /// Returns the folder with the components.
    pub fn components(&self) -> Cache {
        Cache::new(self.path.with_file_name(COMPONENTS))
    }

    /// Replaces the entry `before`, which must still be there, with `after`, and removes a
    /// component that isn't used any more. `None` is no entry.
    ///
    /// # Errors
    /// Fails if the entry was changed since it was read, or if the file can't be written.
    pub fn replace(&self, before: Option<&Entry>, after: Option<Entry>) -> Result<(), Error> {
        let (_exclusive, mut now) = self.exclusive()?;
        let named = before.or(after.as_ref()).map(|it| &it.name);
        let there = named.and_then(|it| now.find(it.as_str()));
        if there != before {
            let name = named.map_or_else(String::new, ToString::to_string);
            return Err(Error::LockChanged { name });
        }
        now.entries.retain(|it| Some(&it.name) != named);
        now.entries.extend(after);
        now.entries.sort_by(|one, other| one.name.cmp(&other.name));
        now.write().map_err(|error| self.failed(error))?;
        match before {
            Some(before) => now.remove(before.digest),
            None => Ok(()),
        }
    }

    fn write(&self) -> io::Result<()> {
        // A link stays one: it may lead to a folder under version control.
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let folder = path.parent().unwrap_or(Path::new("."));
        let written = Written {
            version: VERSION,
            entries: &self.entries,
        };
        let text = toml::to_string_pretty(&written).map_err(io::Error::other)?;
        if (HEADING.len() + text.len()) as u64 > MAX_BYTES {
            let problem = format!("it would have more than {MAX_BYTES} bytes");
            return Err(io::Error::other(problem));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".airlock.lock.");
        // It has no secrets, and other users may run the plugins. The umask can narrow this.
        #[cfg(unix)]
        builder.permissions(fs::Permissions::from_mode(0o666));
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(HEADING.as_bytes())?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    }

    /// Removes a component, unless a plugin uses it by now.
    ///
    /// # Errors
    /// Fails if the lock can't be read, or the file can't be removed.
    pub fn forget(&self, digest: Digest) -> Result<(), Error> {
        let (_exclusive, now) = self.exclusive()?;
        now.remove(digest)
    }

    /// Removes a component, unless one of these entries has it.
    fn remove(&self, digest: Digest) -> Result<(), Error> {
        if self.entries.iter().any(|it| it.digest == digest) {
            return Ok(());
        }
        Ok(self.components().remove(digest)?)
    }

    /// Keeps other processes from changing the lock, and reads it again.
    fn exclusive(&self) -> Result<(File, Self), Error> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let failed = |error| self.failed(error);
        fs::create_dir_all(folder).map_err(failed)?;
        // The file itself is replaced, so the folder is locked.
        let exclusive = File::open(folder).map_err(failed)?;
        exclusive.lock().map_err(failed)?;
        let now = Self::read(self.path.clone()).map_err(Error::from)?;
        Ok((exclusive, now))
    }

    fn failed(&self, source: io::Error) -> Error {
        let path = self.path.clone();
        Error::Lock { path, source }
    }
}

impl Installed {
    fn new(lock: &Lock, entry: &Entry, signing: &Signing) -> Self {
        Self {
            entry: entry.clone(),
            component: lock.components().path(entry.digest),
            lock: lock.path.clone(),
            signing: signing.clone(),
        }
    }

    /// Checks that the signers that the lock lists are those that the operator requires.
    ///
    /// # Errors
    /// [`Error::NotSigned`] if they are not.
    pub fn check_signers(&self) -> Result<(), Error> {
        self.signing.check_entry(&self.entry)
    }
}

impl Locks {
    /// Creates the locks in this order.
    pub(crate) fn new(locks: Vec<Lock>, signing: Signing) -> Self {
        Self { locks, signing }
    }

    /// Returns the installed plugin with this name, of the first lock that has one.
    pub fn find(&self, name: &str) -> Option<Installed> {
        let mut locks = self.locks.iter();
        locks.find_map(|it| Some(Installed::new(it, it.find(name)?, &self.signing)))
    }

    /// Returns the names of all installed plugins, for a message.
    pub(crate) fn names(&self) -> String {
        let names: Vec<String> = self
            .all()
            .iter()
            .map(|it| it.entry.name.to_string())
            .collect();
        names.join(", ")
    }

    /// Returns all installed plugins that a name can mean, sorted by lock and name.
    pub fn all(&self) -> Vec<Installed> {
        let all = self.locks.iter().flat_map(|lock| {
            let entries = lock.entries.iter();
            entries.map(|it| Installed::new(lock, it, &self.signing))
        });
        let mut known: Vec<Installed> = Vec::new();
        for one in all {
            if known.iter().all(|it| it.entry.name != one.entry.name) {
                known.push(one);
            }
        }
        known
    }
}
