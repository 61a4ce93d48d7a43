//! Folders of compiled plugins that an operator vouches for, say those that a package installs: the
//! code in them is mapped as it is, and neither read nor hashed before.
//!
//! What makes that safe is the system's own rule of who may write where: such a folder is out of
//! reach for whoever runs this process, or it is not used.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use airlock_model::digest::Digest;
use bytes::Bytes;
use wasmtime::Engine;

use super::entry::{self, Entry, Facts, Key};
#[cfg(target_os = "linux")]
use out_of_reach::Folder;

/// A folder of compiled plugins whose code runs without a look at it, since whoever runs this
/// process can't have written it: it lies on a file system that is mounted read-only, or it and
/// what it holds are another user's, and this one may not write there.
///
/// Whoever may write there is trusted as the program itself is. [`CompiledPlugin::write_to`] adds
/// to one, as a user who may.
#[derive(Debug, Clone)]
pub struct VouchedFolder {
    path: PathBuf,
    #[cfg(target_os = "linux")]
    folder: Arc<Folder>,
}

impl VouchedFolder {
    /// Opens a folder, once it is certain that this process can't write to it. Only on Linux.
    ///
    /// It is out of reach where its file system is mounted read-only, or where it belongs to
    /// another user and permissions keep this one from writing to it. The same holds for each
    /// folder above it, which could be given its name, unless this process is root's: that can
    /// mount what it wants anywhere, so for it only a read-only file system counts. What a file
    /// system says of owners is believed.
    ///
    /// # Errors
    /// [`io::ErrorKind::PermissionDenied`] where this process could write to it, with the folder
    /// and the reason; [`io::ErrorKind::Unsupported`] elsewhere than on Linux; and where it can't
    /// be opened.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        {
            let path = path.as_ref().canonicalize()?;
            let folder = Arc::new(Folder::open(&path)?);
            Ok(Self { path, folder })
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = path;
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// Where it is, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn get(&self, engine: &Engine, key: &Key) -> Option<Entry> {
        #[cfg(target_os = "linux")]
        match self.map(engine, key) {
            Ok(entry) => return Some(entry),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let folder = self.path.display();
                tracing::warn!(%key, "compiled code in {folder} is not used: {error}");
            }
        }
        let _ = (engine, key);
        None
    }

    #[cfg(target_os = "linux")]
    fn map(&self, engine: &Engine, key: &Key) -> io::Result<Entry> {
        use std::os::unix::fs::FileExt;

        use super::code::Code;

        let file = self.folder.open_file(&key.file_name())?;
        let length = file.metadata()?.len();
        let read = entry::read(key, length, |buffer, at| file.read_exact_at(buffer, at));
        let (digest, facts) = read.ok_or(io::ErrorKind::InvalidData)?;
        let component = Code::from_vouched_entry(file).load(engine);
        let component = component.map_err(io::Error::other)?;
        tracing::debug!(%key, "mapped from {}", self.path.display());
        Ok(Entry {
            digest,
            component,
            facts,
        })
    }
}

/// A component that was compiled to be kept in a [`VouchedFolder`]: see
/// [`Plugin::compile`](crate::Plugin::compile).
pub struct CompiledPlugin {
    key: Key,
    digest: Digest,
    code: Bytes,
    facts: Facts,
}

impl CompiledPlugin {
    pub(crate) fn new(key: Key, digest: Digest, code: Bytes, facts: Facts) -> Self {
        Self {
            key,
            digest,
            code,
            facts,
        }
    }

    /// Writes it into `folder`, which is made if it is not there, in the place of what may be there
    /// of the same component for an engine like this one. Others may read it, and not write to it.
    ///
    /// The path of its file.
    ///
    /// # Errors
    /// Where it can't be written.
    pub fn write_to(&self, folder: &Path) -> io::Result<PathBuf> {
        std::fs::create_dir_all(folder)?;
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        let builder = {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o644))
        };
        let mut file = builder.prefix(".").suffix(".part").tempfile_in(folder)?;
        entry::write(&mut file, &self.key, self.digest, &self.code, &self.facts)?;
        // It is mapped, and a file that a crash made shorter would end whoever has mapped it.
        file.as_file().sync_all()?;
        let path = folder.join(self.key.file_name());
        file.persist(&path)?;
        Ok(path)
    }

    /// The SHA-256 of the component's bytes.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// How many bytes its code has.
    pub fn code_bytes(&self) -> usize {
        self.code.len()
    }
}

#[cfg(target_os = "linux")]
mod out_of_reach {
    //! What this process can't write to, nor have written to.

    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::path::Path;

    use rustix::fs::{
        Access, AtFlags, CWD, Mode, OFlags, Stat, StatVfsMountFlags, accessat, fstat, fstatvfs,
        openat,
    };
    use rustix::io::Errno;
    use rustix::process::geteuid;

    /// A folder that is out of reach.
    #[derive(Debug)]
    pub struct Folder(OwnedFd);

    impl Folder {
        /// `path` has no links in it.
        pub fn open(path: &Path) -> io::Result<Self> {
            let folder = opened(path)?;
            check(&folder).map_err(|error| of(path, &error))?;
            if !geteuid().is_root() {
                let mut below = fstat(&folder)?;
                for above in path.ancestors().skip(1) {
                    below = check_above(opened(above)?, &below).map_err(|it| of(above, &it))?;
                }
            }
            Ok(Self(folder))
        }

        /// A file in it, which is out of reach too.
        pub fn open_file(&self, name: &str) -> io::Result<File> {
            let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
            let file = File::from(openat(&self.0, name, flags, Mode::empty())?);
            if !file.metadata()?.is_file() {
                return Err(io::Error::other("it is no file"));
            }
            check_owner(&file)?;
            check_access(&self.0, name)?;
            Ok(file)
        }
    }

    fn opened(folder: &Path) -> io::Result<OwnedFd> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(CWD, folder, flags, Mode::empty())?)
    }

    fn check(folder: impl AsFd) -> io::Result<()> {
        check_owner(&folder)?;
        check_access(&folder, ".")
    }

    /// Whether the folder's entry, which is `below`, can't be replaced.
    fn check_above(folder: impl AsFd, below: &Stat) -> io::Result<Stat> {
        check_owner(&folder)?;
        let stat = fstat(&folder)?;
        // As `/tmp` is: everybody may add to it, and only an entry's owner may take it away.
        let keeps_entries = Mode::from_raw_mode(stat.st_mode).contains(Mode::SVTX);
        if !(keeps_entries && below.st_uid != geteuid().as_raw()) {
            check_access(&folder, ".")?;
        }
        Ok(stat)
    }

    /// Whom it belongs to can give themselves the permission to write.
    fn check_owner(file: impl AsFd) -> io::Result<()> {
        let is_ours = fstat(&file)?.st_uid == geteuid().as_raw();
        let is_read_only = || -> io::Result<bool> {
            let flags = fstatvfs(&file)?.f_flag;
            Ok(flags.contains(StatVfsMountFlags::RDONLY))
        };
        match is_ours && !is_read_only()? {
            true => Err(denied("it belongs to the user whom this program runs as")),
            false => Ok(()),
        }
    }

    /// Asks the system, which knows of lists, groups, capabilities and mounts.
    fn check_access(folder: impl AsFd, name: &str) -> io::Result<()> {
        match accessat(folder, name, Access::WRITE_OK, AtFlags::EACCESS) {
            Ok(()) => Err(denied("this program may write to it")),
            Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn denied(reason: &str) -> io::Error {
        io::Error::new(io::ErrorKind::PermissionDenied, reason)
    }

    fn of(path: &Path, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    }
}
