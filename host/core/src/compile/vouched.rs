//! Folders of compiled plugins that an operator vouches for, say those that a package installs: the
//! code in them is mapped as it is, and neither read nor hashed before.
//!
//! What makes that safe is the system's own rule of who may write where: such a folder is out of
//! reach for whoever runs this process, or it is not used.

use std::io;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::sync::Arc;

use airlock_model::digest::Digest;
use bytes::Bytes;
use wasmtime::Engine;

use super::entry::{self, Entry, Facts, Key};
#[cfg(target_os = "linux")]
use out_of_reach::Folder;

/// A folder of compiled plugins whose code runs without a look at it, since this process's user
/// can't have written it: it and what it holds are another user's, and this one may not write
/// there; or it lies on a file system that is mounted read-only for this process.
///
/// Whoever may write there is trusted as the program itself is, and who names a folder vouches for
/// them. [`CompiledPlugin::write_to`] adds to one, as a user who may.
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
    /// folder above it, since who can write to one of them can put another folder into its place.
    /// For a process of root's only a read-only file system counts, since root can write to any
    /// other. What a file system says of owners is believed.
    ///
    /// # Errors
    /// [`io::ErrorKind::PermissionDenied`] where this process could write to it, with the folder
    /// and the reason; [`io::ErrorKind::Unsupported`] elsewhere than on Linux; and where it can't
    /// be opened. All name the folder.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let found = path.canonicalize().map_err(|error| of(path, &error))?;
        #[cfg(target_os = "linux")]
        {
            let folder = Arc::new(Folder::open(&found)?);
            Ok(Self {
                path: found,
                folder,
            })
        }
        #[cfg(not(target_os = "linux"))]
        Err(of(&found, &io::ErrorKind::Unsupported.into()))
    }

    /// Whether it belongs to whom this file belongs to, say the program: then who could write to
    /// one could write to the other.
    ///
    /// # Errors
    /// Where the file can't be looked at.
    pub fn belongs_to_owner_of(&self, file: impl AsRef<Path>) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::fs::MetadataExt;

            Ok(self.folder.owner == file.as_ref().metadata()?.uid())
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = file;
            Ok(false)
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
        let read_at = |buffer: &mut [u8], at| file.read_exact_at(buffer, at);
        let (digest, facts) = entry::read(key, length, read_at)?;
        let component = Code::from_vouched_entry(file).load(engine);
        let component = component.map_err(|error| io::Error::other(format!("{error:#}")))?;
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
    /// of the same component for an engine like this one. Others may read what it makes, and not
    /// write to it, whatever the umask is.
    ///
    /// The path of its file.
    ///
    /// # Errors
    /// Where it can't be written.
    pub fn write_to(&self, folder: &Path) -> io::Result<PathBuf> {
        make_for_all(folder)?;
        let mut builder = tempfile::Builder::new();
        let mut file = builder.prefix(".").suffix(".part").tempfile_in(folder)?;
        entry::write(&mut file, &self.key, self.digest, &self.code, &self.facts)?;
        let_all_read(file.path(), 0o644)?;
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

/// Makes a folder and those above it that are not there.
fn make_for_all(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    make_for_all(folder.parent().unwrap_or(Path::new("")))?;
    std::fs::create_dir(folder)?;
    let_all_read(folder, 0o755)
}

fn let_all_read(path: &Path, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
    }
    #[cfg(not(unix))]
    {
        let _ = (path, mode);
        Ok(())
    }
}

fn of(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(target_os = "linux")]
mod out_of_reach {
    //! What this process can't write to, nor have written to.

    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::path::Path;

    use airlock_model::regular::check_regular;
    use rustix::fs::{
        Access, AtFlags, CWD, Mode, OFlags, Stat, StatVfsMountFlags, accessat, fstat, fstatvfs,
        openat,
    };
    use rustix::io::Errno;
    use rustix::process::geteuid;

    use super::of;

    /// A folder that is out of reach.
    #[derive(Debug)]
    pub struct Folder {
        folder: OwnedFd,
        /// The user whom it belongs to.
        pub owner: u32,
    }

    impl Folder {
        /// `path` has no links in it.
        pub fn open(path: &Path) -> io::Result<Self> {
            let (folder, stat) = checked(path, OFlags::empty(), |_| true)?;
            let owner = stat.st_uid;
            if !geteuid().is_root() {
                let mut below = stat;
                for above in path.ancestors().skip(1) {
                    // Where only its own name is asked for, it needn't be readable.
                    let must_refuse = |stat: &Stat| !keeps(stat, &below);
                    below = checked(above, OFlags::PATH, must_refuse)?.1;
                }
            }
            Ok(Self { folder, owner })
        }

        /// A file in it, which is out of reach too.
        pub fn open_file(&self, name: &str) -> io::Result<File> {
            let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
            let file = File::from(openat(&self.folder, name, flags, Mode::empty())?);
            check_regular(&file)?;
            check_owner(&file, &fstat(&file)?)?;
            check_access(&self.folder, name)?;
            Ok(file)
        }
    }

    /// A folder that this user can't make writable, and which `must_refuse` to be written to.
    fn checked(
        path: &Path,
        flags: OFlags,
        must_refuse: impl FnOnce(&Stat) -> bool,
    ) -> io::Result<(OwnedFd, Stat)> {
        let check = || -> io::Result<(OwnedFd, Stat)> {
            let flags = flags | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let folder = openat(CWD, path, flags, Mode::empty())?;
            let stat = fstat(&folder)?;
            check_owner(&folder, &stat)?;
            if must_refuse(&stat) {
                check_access(&folder, ".")?;
            }
            Ok((folder, stat))
        };
        check().map_err(|error| of(path, &error))
    }

    /// Whether only its owner can take an entry away from there, which is `below`: in a folder such
    /// as `/tmp`, to which everybody may add.
    fn keeps(folder: &Stat, below: &Stat) -> bool {
        let is_sticky = Mode::from_raw_mode(folder.st_mode).contains(Mode::SVTX);
        is_sticky && below.st_uid != geteuid().as_raw()
    }

    /// Whom it belongs to can give themselves the permission to write, and root has it: unless
    /// nobody has.
    fn check_owner(file: impl AsFd, stat: &Stat) -> io::Result<()> {
        let user = geteuid();
        if stat.st_uid != user.as_raw() && !user.is_root() {
            return Ok(());
        }
        match fstatvfs(file)?.f_flag.contains(StatVfsMountFlags::RDONLY) {
            true => Ok(()),
            false if user.is_root() => Err(denied("this program runs as root")),
            false => Err(denied("it belongs to the user whom this program runs as")),
        }
    }

    /// Asks the system, which knows of lists, groups, capabilities and mounts. Whatever else it
    /// says is no answer.
    fn check_access(folder: impl AsFd, name: &str) -> io::Result<()> {
        match accessat(folder, name, Access::WRITE_OK, AtFlags::EACCESS) {
            Ok(()) => Err(denied("this program may write to it")),
            Err(Errno::ACCESS | Errno::ROFS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn denied(reason: &str) -> io::Error {
        io::Error::new(io::ErrorKind::PermissionDenied, reason)
    }
}
