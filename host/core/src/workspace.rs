//! The guest's view of files: two directories, and a gate in front of whatever would change one of
//! them.
//!
//! `wasi:filesystem` is the only WASI interface that the host replaces. The workspace is shown
//! through a view with a layer for changes ([`viewed`]), and the scratch directory by wasmtime's
//! own functions; before either is a check of the phase that each call makes anew ([`gate`]), and
//! so does each write to a stream that a guest may keep open from one phase into the next.

mod basis;
mod effects;
mod folder;
mod gate;
mod handle;
mod layer;
mod listing;
mod named;
mod open;
mod quota;
mod removal;
mod roots;
mod scratch;
mod stream;
mod viewed;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::SystemTime;

use airlock_model::limits::Limits;
use airlock_workspace::{ReadSet, View};
use wasmtime::component::{HasData, Resource};
use wasmtime_wasi::filesystem::{Descriptor, Dir, WasiFilesystemCtxView};
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

use crate::budget::Held;

pub(crate) use basis::{Basis, FilesNow, fingerprints, has_changed, read_files};
pub(crate) use effects::{changes_of, told};
pub use folder::{EntryKind, ReadFile, ReadableFolder, Unread, WritableFolder};
pub(crate) use layer::LayerLimits;
pub(crate) use roots::{Roots, WorkspaceFolder};
pub(crate) use scratch::{ScratchFolder, ScratchRoots};

use handle::{OpenCount, OpenHandle};
use listing::Listing;
use named::LastNamed;
use quota::Quota;
use viewed::Viewed;

/// What a store remembers of the files that its guest has open.
pub(crate) struct Files {
    roots: Arc<Roots>,
    /// Opened when the guest first asks for them; each time it asks it gets the same.
    opened: Option<OpenedRoots>,
    workspace_writable: Gate,
    scratch_quota: Quota,
    /// By the descriptor's index in the resource table.
    handles: HashMap<u32, Handle>,
    count: OpenCount,
    max_open: usize,
    layer: LayerLimits,
    left_out: LeftOut,
    last_named: LastNamed,
    /// What is written gets this time, until it is committed.
    time: Option<SystemTime>,
}

/// The guest's directories.
struct OpenedRoots {
    workspace: Option<View>,
    scratch: Dir,
    /// Only their descriptors: handles on them are counted as the guest gets them.
    _held: Held,
}

/// A descriptor that the guest has.
struct Handle {
    /// None for what lies in the scratch directory.
    viewed: Option<Viewed>,
    open: Arc<OpenHandle>,
}

/// What directory listings could not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Names that are not UTF-8.
    pub names: u64,
    /// Listings that lack some.
    pub listings: u64,
}

impl LeftOut {
    /// What a listing has come by since this was done last.
    fn add(&mut self, listing: &mut Listing) {
        let names = std::mem::take(&mut listing.left_out);
        if names > 0 && !std::mem::replace(&mut listing.told, true) {
            self.listings += 1;
        }
        self.names += names;
    }
}

/// The guest wants more files open than there may be, where it can't be told so.
#[derive(Debug)]
pub(crate) struct TooManyOpen {
    /// As many as one instance may have; none where it is the host that has no more.
    pub limit: Option<usize>,
}

impl fmt::Display for TooManyOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.limit {
            Some(limit) => write!(
                f,
                "had more than {limit} files and directories open at one time"
            ),
            None => f.write_str(
                "found no descriptor left for its directories: the sessions of this host have reached the limit on open files",
            ),
        }
    }
}

impl std::error::Error for TooManyOpen {}

/// The workspace can't be opened, which is no fault of the guest that needs it.
#[derive(Debug, thiserror::Error)]
#[error("can't open the workspace {}: {source}", .path.display())]
pub(crate) struct UnusableWorkspace {
    pub path: PathBuf,
    pub source: io::Error,
}

impl Files {
    pub fn new(roots: Arc<Roots>, limits: &Limits, time: Option<SystemTime>) -> Self {
        Self {
            scratch_quota: Quota::new(roots.scratch.usage(), limits.scratch_bytes),
            roots,
            opened: None,
            workspace_writable: Gate::default(),
            handles: HashMap::new(),
            count: OpenCount::new(limits.open_files),
            max_open: limits.open_files,
            layer: LayerLimits::of(limits),
            left_out: LeftOut::default(),
            last_named: LastNamed::default(),
            time,
        }
    }

    fn enter(&mut self, fd: &Resource<Descriptor>, viewed: Option<Viewed>, open: OpenHandle) {
        let open = Arc::new(open);
        self.handles.insert(fd.rep(), Handle { viewed, open });
    }

    /// Opens a layer above the workspace, to which changes go.
    pub fn begin_changes(&mut self) -> wasmtime::Result<()> {
        let opened = match self.opened.take() {
            Some(opened) => opened,
            None => self.roots.open()?,
        };
        if let Some(view) = &opened.workspace {
            // Nothing is left of an earlier one.
            view.abandon();
            let options = self.layer.options(&self.roots.spill, self.time);
            let begun = view.begin(&options);
            begun.map_err(|source| UnusableWorkspace {
                path: self.roots.workspace_path(),
                source,
            })?;
        }
        self.opened = Some(opened);
        Ok(())
    }

    /// What was read of the workspace since this was asked last.
    pub fn take_reads(&self) -> Option<(View, ReadSet)> {
        let view = self.opened.as_ref()?.workspace.as_ref()?;
        Some((view.clone(), view.take_reads()))
    }

    /// What was changed of the workspace, where a layer is open.
    pub fn changes(&self) -> Option<View> {
        let view = self.opened.as_ref()?.workspace.as_ref()?;
        view.has_layer().then(|| view.clone())
    }

    /// Opens or closes the gate in front of the workspace, for calls and for streams that are
    /// already open.
    pub fn set_workspace_writable(&self, writable: bool) {
        self.workspace_writable
            .0
            .open
            .store(writable, Ordering::SeqCst);
        // Nothing that was known before a call is known in it.
        self.workspace_writable.note_passed();
    }

    /// How many changes of the workspace were refused since this was last asked.
    pub fn take_refused_changes(&self) -> u64 {
        self.workspace_writable.0.refused.swap(0, Ordering::Relaxed)
    }

    /// What listings left out since this was last asked.
    pub fn take_left_out(&mut self) -> LeftOut {
        std::mem::take(&mut self.left_out)
    }
}

/// Which of the guest's two directories a descriptor lies under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mount {
    Workspace,
    Scratch,
}

/// Whether the workspace may be changed at this moment.
#[derive(Debug, Clone, Default)]
struct Gate(Arc<GateState>);

#[derive(Debug, Default)]
struct GateState {
    open: AtomicBool,
    /// How often it was found closed since somebody asked.
    refused: AtomicU64,
    /// How often it was found open, by who may have changed something then, or was opened or
    /// closed.
    passed: AtomicU64,
}

impl Gate {
    fn is_open(&self) -> bool {
        self.0.open.load(Ordering::SeqCst)
    }

    fn passed(&self) -> u64 {
        self.0.passed.load(Ordering::Relaxed)
    }

    fn note_passed(&self) {
        self.0.passed.fetch_add(1, Ordering::Relaxed);
    }

    fn pass(&self) -> Result<(), ErrorCode> {
        match self.0.open.load(Ordering::SeqCst) {
            true => {
                self.note_passed();
                Ok(())
            }
            false => {
                self.0.refused.fetch_add(1, Ordering::Relaxed);
                Err(ErrorCode::ReadOnly)
            }
        }
    }
}

/// wasmtime's implementation of `wasi:filesystem`, and ours around it, for the duration of one
/// call.
pub(crate) struct FilesView<'a> {
    pub inner: WasiFilesystemCtxView<'a>,
    pub files: &'a mut Files,
}

/// Names [`FilesView`] to the linker.
pub(crate) struct HasFiles;

impl HasData for HasFiles {
    type Data<'a> = FilesView<'a>;
}
