//! The same public items where the system is no Unix. No folder can be opened there, so a handle of
//! one is a type without values, and its methods can't be called. The items for Unix have the
//! documentation.

#![allow(missing_docs, unused_variables)]

#[path = "change/side_effects.rs"]
mod side_effects;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::error::{CommitError, RecoverError, RestoreError};
use crate::stamp::{Identity, Kind, Stamp};
pub use side_effects::{OwnerChange, SideEffects};

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

#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LayerOptions {
    pub spill: PathBuf,
    pub memory_bytes: u64,
    pub bytes: u64,
    pub entries: usize,
    pub clock: Option<SystemTime>,
    pub compare_time: Option<Duration>,
}

impl LayerOptions {
    pub fn new(spill: impl Into<PathBuf>) -> Self {
        Self {
            spill: spill.into(),
            memory_bytes: 0,
            bytes: 0,
            entries: 0,
            clock: None,
            compare_time: None,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenOptions {
    pub write: bool,
    pub create: bool,
    pub exclusive: bool,
    pub truncate: bool,
    pub directory: bool,
    pub follow: bool,
}

pub enum Opened {
    Directory(Directory),
    File(OpenFile),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub name: String,
    pub kind: Kind,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    pub entries: Vec<Entry>,
    pub left_out: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata {
    pub kind: Kind,
    pub size: u64,
    pub links: u64,
    pub mode: u32,
    pub accessed: SystemTime,
    pub modified: SystemTime,
    pub changed: SystemTime,
    pub identity: [u8; 16],
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub path: String,
    pub from: Option<String>,
    pub is_moved: bool,
    pub before: Option<Facts>,
    pub after: Option<Facts>,
    pub side_effects: SideEffects,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    pub kind: Kind,
    pub size: u64,
    pub mode: u32,
    pub digest: Option<String>,
    pub identity: Option<Box<Identity>>,
    pub target: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadSet {
    pub paths: BTreeMap<Arc<str>, Read>,
    pub is_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    pub found: Option<Stamp>,
    pub contents: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    pub id: String,
    pub note: String,
    pub title: String,
    pub originals: Option<Retention>,
}

#[derive(Debug)]
#[non_exhaustive]
pub struct Committed {
    pub changes: Vec<Change>,
    pub not_cleaned_up: Option<RecoverError>,
    pub kept: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub id: String,
    pub note: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    pub finished: Vec<String>,
    pub dropped: usize,
    pub not_ours: Vec<String>,
    pub kept: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    pub time: Duration,
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Originals {
    pub id: String,
    pub committed: SystemTime,
    pub bytes: u64,
}

#[derive(Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restored {
    pub title: String,
    pub left: Vec<String>,
    pub permissions: Vec<String>,
    pub merged: Vec<String>,
    pub skipped: Vec<String>,
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
