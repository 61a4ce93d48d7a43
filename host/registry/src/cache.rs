//! The folder that components are downloaded into.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::hasher::Hasher;
use crate::{Digest, Error};

/// A folder with downloaded components, and with the parts of those whose download was cut.
///
/// Components are in `components`, named by their digests.
/// A download is in `partial` until it is complete and has the right digest;
/// then it is moved.
/// Several processes can use one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Uses `folder`, which is created by the first download.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Returns the path that the component with this digest has once it is downloaded.
    pub fn path(&self, digest: Digest) -> PathBuf {
        let name = format!("{}.wasm", digest.to_hex());
        self.folder.join("components").join(name)
    }

    /// Returns the number of bytes of the component with this digest, if it is there and whole.
    ///
    /// One that was damaged counts as missing.
    ///
    /// # Errors
    ///
    /// If the file is there, but can't be read.
    pub fn find(&self, digest: Digest) -> Result<Option<u64>, Error> {
        let path = self.path(digest);
        let failed = failed(&path);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let hasher = hash(&mut file).map_err(failed)?;
        let bytes = hasher.bytes();
        Ok((hasher.finish() == digest).then_some(bytes))
    }

    /// Adds a component that didn't need to be downloaded, and returns its path.
    ///
    /// # Errors
    ///
    /// If a file can't be written.
    pub fn add(&self, bytes: &[u8]) -> Result<PathBuf, Error> {
        let mut partial = self.partial(&format!("{}-local", Digest::of(bytes).to_hex()))?;
        partial.clear()?;
        partial.append(bytes)?;
        partial.finish(self)
    }

    /// Removes the component with this digest, if it is there.
    ///
    /// # Errors
    ///
    /// If the file can't be removed.
    pub fn remove(&self, digest: Digest) -> Result<(), Error> {
        let path = self.path(digest);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(&path)(error)),
            _ => Ok(()),
        }
    }

    /// Opens the partial file with this name, for one download at a time.
    pub(crate) fn partial(&self, name: &str) -> Result<Partial, Error> {
        let folder = self.folder.join("partial");
        fs::create_dir_all(&folder).map_err(failed(&folder))?;
        let lock = folder.join(format!("{name}.lock"));
        // It stays: a file that is removed could be locked by two processes, each with its own.
        let held = File::create(&lock).map_err(failed(&lock))?;
        match held.try_lock() {
            Ok(()) => Partial::open(folder.join(name), Some(held)),
            // Another process downloads the same; this one begins again, in another file.
            Err(TryLockError::WouldBlock) => {
                let unique =
                    getrandom::u64().map_err(|error| failed(&folder)(io::Error::other(error)))?;
                Partial::open(folder.join(format!("{name}-{unique:016x}")), None)
            }
            Err(TryLockError::Error(error)) => Err(failed(&lock)(error)),
        }
    }
}

/// The bytes of a download that have come so far.
pub(crate) struct Partial {
    path: PathBuf,
    file: File,
    hasher: Hasher,
    /// Whether some of the bytes are of an earlier process.
    is_old: bool,
    /// Released when the download ends. Without one, the file is removed then.
    lock: Option<File>,
    is_kept: bool,
}

impl Partial {
    fn open(path: PathBuf, lock: Option<File>) -> Result<Self, Error> {
        let options = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let mut file = options.map_err(failed(&path))?;
        let hasher = hash(&mut file).map_err(failed(&path))?;
        Ok(Self {
            is_old: hasher.bytes() > 0,
            path,
            file,
            hasher,
            lock,
            is_kept: true,
        })
    }

    /// The number of bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.hasher.bytes()
    }

    /// Whether some of the bytes are of an earlier process, which may have lost others in a crash.
    pub(crate) fn is_old(&self) -> bool {
        self.is_old
    }

    /// Appends bytes. They go to the system's cache at once, so that nothing is still being
    /// written when the download is cancelled and its lock released.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(failed(&self.path))?;
        self.hasher.update(bytes);
        Ok(())
    }

    /// Begins again, without any bytes.
    pub(crate) fn clear(&mut self) -> Result<(), Error> {
        let cleared = self
            .file
            .set_len(0)
            .and_then(|()| self.file.seek(SeekFrom::Start(0)));
        cleared.map_err(failed(&self.path))?;
        self.hasher = Hasher::default();
        self.is_old = false;
        Ok(())
    }

    /// The note about these bytes, such as the version of a file on a web server.
    pub(crate) fn note(&self) -> Option<String> {
        fs::read_to_string(self.note_path()).ok()
    }

    pub(crate) fn set_note(&self, note: Option<&str>) -> Result<(), Error> {
        let path = self.note_path();
        let set = match note {
            Some(note) => fs::write(&path, note),
            None => match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
        };
        set.map_err(failed(&path))
    }

    fn note_path(&self) -> PathBuf {
        self.path.with_added_extension("version")
    }

    /// Removes the bytes when the download ends: they are wrong.
    pub(crate) fn discard(&mut self) {
        self.is_kept = false;
    }

    /// The digest of the bytes so far.
    pub(crate) fn digest(&self) -> Digest {
        self.hasher.clone().finish()
    }

    /// Makes the bytes the component that `cache` has under their digest.
    pub(crate) fn finish(mut self, cache: &Cache) -> Result<PathBuf, Error> {
        let path = cache.path(self.digest());
        let folder = path.parent().unwrap_or(&cache.folder);
        fs::create_dir_all(folder).map_err(failed(folder))?;
        // Its name must never be there before its bytes.
        self.file.sync_all().map_err(failed(&self.path))?;
        fs::rename(&self.path, &path).map_err(failed(&path))?;
        self.discard();
        Ok(path)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_kept || self.lock.is_none() {
            // What remains is only left over.
            let _ = fs::remove_file(&self.path);
            let _ = fs::remove_file(self.note_path());
        }
    }
}

/// Hashes all of a file, and leaves its cursor at the end.
fn hash(file: &mut File) -> io::Result<Hasher> {
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher),
            read => hasher.update(&buffer[..read]),
        }
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |source| Error::Cache {
        path: path.clone(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partial_file_is_continued_and_moved() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let mut partial = cache.partial("x").unwrap();
        partial.append(b"air").unwrap();
        drop(partial);
        let mut partial = cache.partial("x").unwrap();
        assert_eq!(partial.bytes(), 3);
        partial.append(b"lock").unwrap();
        let path = partial.finish(&cache).unwrap();
        let digest = Digest::of(b"airlock");
        assert_eq!(path, cache.path(digest));
        assert_eq!(fs::read(path).unwrap(), b"airlock");
        assert_eq!(cache.find(digest).unwrap(), Some(7));
        assert_eq!(cache.partial("x").unwrap().bytes(), 0);
    }

    #[test]
    fn two_downloads_of_one_component_have_files_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let mut first = cache.partial("x").unwrap();
        first.append(b"first").unwrap();
        let mut second = cache.partial("x").unwrap();
        assert_eq!(second.bytes(), 0);
        second.append(b"second").unwrap();
        let path = second.path.clone();
        drop(second);
        assert!(!path.exists());
        drop(first);
        assert_eq!(cache.partial("x").unwrap().digest(), Digest::of(b"first"));
    }

    #[test]
    fn a_damaged_component_counts_as_missing() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let digest = Digest::of(b"airlock");
        assert_eq!(cache.find(digest).unwrap(), None);
        fs::create_dir_all(folder.path().join("components")).unwrap();
        fs::write(cache.path(digest), b"airlocks").unwrap();
        assert_eq!(cache.find(digest).unwrap(), None);
    }
}
