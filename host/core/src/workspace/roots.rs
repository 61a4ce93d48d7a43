//! The host's directories behind `/workspace` and `/scratch`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use airlock_model::identity::{Machine, WorkspaceIdentity};
use airlock_model::regular::open_folder;
use airlock_workspace::{Key, View, Workspace};
use wasmtime_wasi::FsPerms;
use wasmtime_wasi::filesystem::{Dir, OpenMode};

use super::basis::PATHS;
use super::{OpenedRoots, ScratchFolder, TooManyOpen, UnusableWorkspace};
use crate::budget::Portion;

/// The host's files that one plugin of one session can see.
pub(crate) struct Roots {
    /// `None` if the session has no workspace, or the policy doesn't let the plugin read it.
    pub workspace: Option<Arc<WorkspaceFolder>>,
    pub scratch: ScratchFolder,
    /// Directory for the contents that an apply writes, until they are committed. Short contents
    /// stay in memory.
    pub spill: PathBuf,
    /// The tenant's portion of open descriptors.
    pub descriptors: Portion,
}

impl Roots {
    pub(super) fn workspace_path(&self) -> PathBuf {
        let workspace = self.workspace.as_ref();
        workspace.map_or_else(PathBuf::new, |workspace| workspace.path.clone())
    }

    pub(super) fn open(&self) -> wasmtime::Result<OpenedRoots> {
        let count = 1 + usize::from(self.workspace.is_some());
        let held = self.descriptors.take(count);
        let held = held.ok_or(TooManyOpen { limit: None })?;
        let workspace = self.workspace.as_ref();
        Ok(OpenedRoots {
            workspace: workspace
                .map(|workspace| open_usable(workspace))
                .transpose()?,
            scratch: self.scratch.open()?,
            _held: held,
        })
    }
}

fn open_usable(workspace: &WorkspaceFolder) -> Result<View, UnusableWorkspace> {
    workspace.noted_view().map_err(|source| UnusableWorkspace {
        path: workspace.path.clone(),
        source,
    })
}

/// A workspace, identified by its path and by the directory that was there when the session was
/// opened.
///
/// It holds no descriptor: ten thousand open sessions must not need ten thousand of them.
#[derive(Debug)]
pub(crate) struct WorkspaceFolder {
    path: PathBuf,
    identity: Identity,
    lasting: Arc<WorkspaceIdentity>,
}

impl WorkspaceFolder {
    /// `path` must be a directory.
    pub fn at(path: &Path, machine: Machine) -> io::Result<Self> {
        let path = fs::canonicalize(path)?;
        let metadata = fs::metadata(&path)?;
        if !metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        let identity = Identity::of(&metadata);
        let lasting = Arc::new(WorkspaceIdentity::of(&path, &metadata, machine));
        Ok(Self {
            path,
            identity,
            lasting,
        })
    }

    /// Returns the absolute path, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the identity that holds across restarts.
    pub fn lasting(&self) -> &Arc<WorkspaceIdentity> {
        &self.lasting
    }

    /// Returns a view that notes each read, so that a commit never overwrites a file that has
    /// changed since it was read.
    pub fn noted_view(&self) -> io::Result<View> {
        View::of(self.open_directory()?, PATHS)
    }

    /// Returns a view for the host itself.
    pub fn view(&self) -> io::Result<View> {
        View::of(self.open_directory()?, 0)
    }

    /// Returns a folder outside of the workspace for contents that don't fit in memory.
    ///
    /// # Errors
    /// If all folders for temporary files are in the workspace.
    pub fn spill(&self) -> io::Result<PathBuf> {
        let temporary = std::env::temp_dir();
        let spill = self.outside([&*temporary, Path::new("/dev/shm")]);
        let inside = "it contains the folder for temporary files; choose a directory further down";
        spill.ok_or_else(|| io::Error::other(inside))
    }

    /// Opens the workspace for commits.
    pub fn open(&self, key: &Key) -> io::Result<Workspace> {
        Workspace::of(self.open_directory()?, self.path.clone(), key)
    }

    /// Returns whether anything was ever committed to it.
    pub fn has_private(&self) -> io::Result<bool> {
        let private = self.path.join(airlock_workspace::PRIVATE);
        match private.symlink_metadata() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the first candidate directory that is outside the workspace.
    pub fn outside<'a>(&self, candidates: impl IntoIterator<Item = &'a Path>) -> Option<PathBuf> {
        let mut candidates = candidates.into_iter();
        let outside = candidates.find(|candidate| {
            let real = candidate.canonicalize();
            !real.as_deref().unwrap_or(candidate).starts_with(&self.path)
        });
        outside.map(Path::to_owned)
    }

    /// Opens the directory, unless it was replaced by another.
    pub fn open_directory(&self) -> io::Result<File> {
        let file = open_folder(&self.path)?;
        // A directory without search permission is of no use to tools.
        fs::metadata(self.path.join("."))?;
        if Identity::of(&file.metadata()?) != self.identity {
            let message =
                "the workspace was replaced by another directory since the session was opened";
            return Err(io::Error::other(message));
        }
        Ok(file)
    }
}

/// Returns a directory with full permissions for wasmtime; our gate checks changes.
pub(super) fn writable(directory: File) -> Dir {
    let open_mode = OpenMode::READ | OpenMode::WRITE;
    Dir::new(directory, FsPerms::ReadWrite, open_mode, true)
}

/// Distinguishes a directory from another one at the same path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    #[cfg(unix)]
    device_and_inode: (u64, u64),
}

impl Identity {
    #[cfg(unix)]
    fn of(metadata: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            device_and_inode: (metadata.dev(), metadata.ino()),
        }
    }

    #[cfg(not(unix))]
    fn of(_: &fs::Metadata) -> Self {
        Self {}
    }
}
