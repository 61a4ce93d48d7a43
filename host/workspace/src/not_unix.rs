//! The handles of a folder where the system is no Unix. None can be opened there, so a handle is a
//! type without values, and its methods can't be called. The items for Unix have the documentation.

#![allow(missing_docs, unused_variables)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::answer::{Listing, Metadata, Opened, ReadSet};
use crate::error::{CommitError, RecoverError, RestoreError};
use crate::facts::{Change, Facts};
use crate::options::{LayerOptions, OpenOptions};
use crate::stamp::Stamp;
use crate::ticket::{Committed, Originals, Outcome, Recovered, Restored, Ticket};

fn unsupported() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "a workspace needs Linux or another Unix",
    )
}

/// Has no values.
#[derive(Debug, Clone)]
enum Never {}

#[derive(Debug, Clone)]
pub struct Workspace(Never);

#[derive(Clone)]
pub struct View(Never);

#[derive(Debug)]
pub struct Layer(Never);

pub struct Directory(Never);

pub struct OpenFile(Never);

#[derive(Clone)]
pub struct Key;

impl Key {
    pub fn new(_: [u8; 32]) -> Self {
        Self
    }
}

impl Workspace {
    pub fn open(path: &Path, key: &Key) -> io::Result<Self> {
        Err(unsupported())
    }

    pub fn of(directory: File, path: PathBuf, key: &Key) -> io::Result<Self> {
        Err(unsupported())
    }

    pub fn check_system() -> io::Result<()> {
        Err(unsupported())
    }

    pub fn locked<T>(&self, run: impl FnOnce() -> T) -> Result<T, RecoverError> {
        match self.0 {}
    }
}

impl View {
    pub fn of(directory: File, reads: usize) -> io::Result<Self> {
        Err(unsupported())
    }

    pub fn real(&self) -> RealFolder<'_> {
        match self.0 {}
    }

    pub fn commit_if<E: From<CommitError>>(
        &self,
        workspace: &Workspace,
        ticket: &Ticket,
        check: impl FnOnce(&[Change]) -> Result<(), E>,
    ) -> Result<Committed, E> {
        match self.0 {}
    }
}

macro_rules! methods {
    ($of:ty: $(fn $name:ident(&self $(, $param:ident: $is:ty)*) -> $returns:ty;)*) => {
        impl $of {
            $(pub fn $name(&self $(, $param: $is)*) -> $returns {
                match self.0 {}
            })*
        }
    };
}

methods! { Workspace:
    fn path(&self) -> &Path;
    fn view(&self, reads: usize) -> io::Result<View>;
    fn check_commits(&self) -> io::Result<()>;
    fn recover(&self) -> Result<Recovered, RecoverError>;
    fn is_committed(&self, id: &str) -> Result<bool, RecoverError>;
    fn last_committed(&self) -> Result<Option<String>, RecoverError>;
    fn outcomes(&self) -> Result<Vec<Outcome>, RecoverError>;
    fn take_outcome(&self, id: &str) -> Result<(), RecoverError>;
    fn originals(&self) -> Result<Vec<Originals>, RecoverError>;
}

methods! { View:
    fn has_layer(&self) -> bool;
    fn root(&self) -> Directory;
    fn root_within(&self, bounds: std::sync::Arc<dyn crate::Bounds>) -> Directory;
    fn begin(&self, options: &LayerOptions) -> io::Result<()>;
    fn begin_above(&self, layer: &Layer, options: &LayerOptions) -> io::Result<()>;
    fn abandon(&self) -> ();
    fn take_layer(&self) -> Option<Layer>;
    fn take_reads(&self) -> ReadSet;
    fn changes(&self) -> io::Result<Vec<Change>>;
    fn commit(&self, to: &Workspace, ticket: &Ticket) -> Result<Committed, CommitError>;
    fn restore(&self, workspace: &Workspace, id: &str, skip_changed: bool) -> Result<Restored, RestoreError>;
    fn keep_part(&self, changes: &[Change], left_out: &BTreeSet<usize>, contents: &BTreeMap<usize, Vec<u8>>) -> io::Result<()>;
}

methods! { Directory:
    fn try_clone(&self) -> io::Result<Self>;
    fn open(&self, path: &str, options: OpenOptions) -> io::Result<Opened>;
    fn metadata_at(&self, path: &str, follow: bool) -> io::Result<Metadata>;
    fn metadata(&self) -> io::Result<Metadata>;
    fn list(&self) -> io::Result<Listing>;
    fn real(&self) -> io::Result<Option<File>>;
    fn read_link(&self, path: &str) -> io::Result<String>;
    fn create_directory(&self, path: &str) -> io::Result<()>;
    fn create_link(&self, target: &str, path: &str) -> io::Result<()>;
    fn remove_directory(&self, path: &str) -> io::Result<()>;
    fn remove_file(&self, path: &str) -> io::Result<()>;
    fn rename(&self, path: &str, to: &Directory, new_path: &str) -> io::Result<()>;
    fn set_times_at(
        &self,
        path: &str,
        follow: bool,
        accessed: Option<SystemTime>,
        modified: Option<SystemTime>
    ) -> io::Result<()>;
    fn set_mode_at(&self, path: &str, mode: u32) -> io::Result<()>;
    fn is_same_object(&self, other: &Self) -> bool;
    fn identity_of(&self, name: &str) -> io::Result<Option<[u8; 16]>>;
}

methods! { OpenFile:
    fn try_clone(&self) -> io::Result<Self>;
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    fn append(&self, bytes: &[u8]) -> io::Result<u64>;
    fn set_len(&self, length: u64) -> io::Result<()>;
    fn metadata(&self) -> io::Result<Metadata>;
    fn set_times(
        &self,
        accessed: Option<SystemTime>,
        modified: Option<SystemTime>
    ) -> io::Result<()>;
    fn is_writable(&self) -> bool;
    fn is_same_object(&self, other: &Self) -> bool;
}

pub struct RealFolder<'a>(&'a View);

impl RealFolder<'_> {
    pub fn within(self, time: Duration) -> Self {
        match self.0.0 {}
    }

    pub fn stamp(&mut self, path: &str) -> io::Result<Option<Stamp>> {
        match self.0.0 {}
    }

    pub fn facts(&mut self, path: &str) -> io::Result<Option<(Stamp, Facts)>> {
        match self.0.0 {}
    }
}

/// Folders that no process locks, and that are not removed if a process is killed.
pub mod held {
    use super::*;

    #[derive(Debug)]
    pub struct HeldFolder(TempDir);

    impl HeldFolder {
        pub fn make(parent: &Path, prefix: &str) -> io::Result<Self> {
            let mut folder = tempfile::Builder::new();
            folder.prefix(prefix).tempdir_in(parent).map(Self)
        }

        pub fn path(&self) -> &Path {
            self.0.path()
        }

        pub fn remove_by(self, remove: impl FnOnce(&Path)) {
            remove(&self.0.keep());
        }

        pub fn metadata(&self) -> io::Result<fs::Metadata> {
            self.path().metadata()
        }
    }

    pub fn sweep(
        parent: &Path,
        prefix: &str,
        ours: &fs::Metadata,
        remove: impl Fn(&Path) -> io::Result<()>,
    ) {
    }
}
