//! The guest's view of files: two directories, and a gate that guards every change to them.
//!
//! `wasi:filesystem` is the only WASI interface that the host replaces. The workspace is shown
//! through a view with a layer for changes ([`viewed`]). The scratch directory uses wasmtime's own
//! functions. Every call checks the phase first ([`gate`]), and so does every write to a stream,
//! because a guest may keep a stream open across phases.

mod basis;
mod bounds;
mod effects;
mod folder;
mod gate;
mod handle;
mod layer;
mod listing;
mod named;
mod open;
mod part;
mod quota;
mod removal;
mod rest;
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

use airlock_model::event::PathRefusal;
use airlock_model::limits::Limits;
use airlock_workspace::{ReadSet, View};
use wasmtime::component::{HasData, Resource};
use wasmtime_wasi::filesystem::{Descriptor, Dir, WasiFilesystemCtxView};
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

use crate::budget::Held;

pub(crate) use basis::{Basis, FilesNow, fingerprints, has_changed, read_files};
pub(crate) use bounds::PathBounds;
pub(crate) use effects::{changes_of, in_order, listed_changes};
pub use folder::{EntryKind, ReadFile, ReadableFolder, Unread, WritableFolder};
pub(crate) use layer::{LayerLimits, LayerStart};
pub use part::needs;
pub(crate) use part::{Part, check as check_selection};
pub(crate) use rest::{Step, rest_of};
pub(crate) use roots::{Roots, WorkspaceFolder};
pub(crate) use scratch::{ScratchFolder, ScratchRoots};

use handle::{OpenCount, OpenHandle};
use listing::Listing;
use named::LastNamed;
use quota::Quota;
use viewed::Viewed;

/// The open files of a wasmtime store's guest.
pub(crate) struct Files {
    roots: Arc<Roots>,
    /// Opened when the guest first asks for them; later requests get the same ones.
    opened: Option<OpenedRoots>,
    workspace_writable: Gate,
    scratch_quota: Quota,
    /// Keyed by the descriptor's index in the resource table.
    handles: HashMap<u32, Handle>,
    count: OpenCount,
    max_open: usize,
    layer: LayerLimits,
    left_out: LeftOut,
    last_named: LastNamed,
    start: LayerStart,
    /// `None` if the policy grants all paths.
    bounds: Option<Arc<PathBounds>>,
}

/// The guest's directories.
struct OpenedRoots {
    workspace: Option<View>,
    scratch: Dir,
    /// Covers only their own descriptors. Handles on them are counted when the guest gets them.
    _held: Held,
}

/// A descriptor that the guest holds.
struct Handle {
    /// `None` in the scratch directory.
    viewed: Option<Viewed>,
    open: Arc<OpenHandle>,
}

/// The numbers of names that directory listings left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Names that are not UTF-8.
    pub names: u64,
    /// Listings with at least one such name.
    pub listings: u64,
}

impl LeftOut {
    /// Adds the names that a listing left out since the previous call.
    fn add(&mut self, listing: &mut Listing) {
        let names = std::mem::take(&mut listing.left_out);
        if names > 0 && !std::mem::replace(&mut listing.told, true) {
            self.listings += 1;
        }
        self.names += names;
    }
}

/// An error for a guest that exceeded the limit on open files in a call that can't return an error.
#[derive(Debug)]
pub(crate) struct TooManyOpen {
    /// Limit of one instance; `None` if the host itself has no more descriptors.
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

/// An error for a workspace that can't be opened. The guest that needs it is not at fault.
#[derive(Debug, thiserror::Error)]
#[error("can't open the workspace {}: {source}", .path.display())]
pub(crate) struct UnusableWorkspace {
    pub path: PathBuf,
    pub source: io::Error,
}

impl Files {
    pub fn new(
        roots: Arc<Roots>,
        limits: &Limits,
        start: LayerStart,
        bounds: Option<Arc<PathBounds>>,
    ) -> Self {
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
            start,
            bounds,
        }
    }

    fn enter(&mut self, fd: &Resource<Descriptor>, viewed: Option<Viewed>, open: OpenHandle) {
        let open = Arc::new(open);
        self.handles.insert(fd.rep(), Handle { viewed, open });
    }

    /// Opens a layer for changes on top of the workspace.
    pub fn begin_changes(&mut self) -> wasmtime::Result<()> {
        let opened = match self.opened.take() {
            Some(opened) => opened,
            None => self.roots.open()?,
        };
        if let Some(view) = &opened.workspace {
            // Drop an earlier layer.
            view.abandon();
            let begun = self.layer.begin(view, &self.roots.spill, &self.start);
            begun.map_err(|source| UnusableWorkspace {
                path: self.roots.workspace_path(),
                source,
            })?;
        }
        self.opened = Some(opened);
        Ok(())
    }

    /// Returns the files read from the workspace since the last call.
    pub fn take_reads(&self) -> Option<(View, ReadSet)> {
        let view = self.opened.as_ref()?.workspace.as_ref()?;
        Some((view.clone(), view.take_reads()))
    }

    /// Returns the changes to the workspace, if a layer is open.
    pub fn changes(&self) -> Option<View> {
        let view = self.opened.as_ref()?.workspace.as_ref()?;
        view.has_layer().then(|| view.clone())
    }

    /// Opens or closes the gate of the workspace, for calls and for streams that are already open.
    pub fn set_workspace_writable(&self, writable: bool) {
        self.workspace_writable
            .0
            .open
            .store(writable, Ordering::SeqCst);
        // Knowledge from before a call does not hold within it.
        self.workspace_writable.note_passed();
    }

    /// Returns how many changes to the workspace were refused since the last call.
    pub fn take_refused_changes(&self) -> u64 {
        self.workspace_writable.0.refused.swap(0, Ordering::Relaxed)
    }

    /// Returns the paths that were refused since the last call.
    pub fn take_refused_paths(&self) -> impl Iterator<Item = PathRefusal> {
        let bounds = self.bounds.iter();
        bounds.flat_map(|bounds| bounds.take_refused())
    }

    /// Returns the numbers of names that listings left out since the last call.
    pub fn take_left_out(&mut self) -> LeftOut {
        std::mem::take(&mut self.left_out)
    }
}

/// The guest directory that a descriptor belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mount {
    Workspace,
    Scratch,
}

/// The gate that allows or refuses changes to the workspace.
#[derive(Debug, Clone, Default)]
struct Gate(Arc<GateState>);

#[derive(Debug, Default)]
struct GateState {
    open: AtomicBool,
    /// The number of times the gate was found closed since the last query.
    refused: AtomicU64,
    /// The number of times the gate was opened, closed, or found open by a call that may have
    /// changed something.
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
        if self.0.open.load(Ordering::SeqCst) {
            self.note_passed();
            Ok(())
        } else {
            self.0.refused.fetch_add(1, Ordering::Relaxed);
            Err(ErrorCode::ReadOnly)
        }
    }
}

/// wasmtime's implementation of `wasi:filesystem` and our wrapper, for the duration of one call.
pub(crate) struct FilesView<'a> {
    pub inner: WasiFilesystemCtxView<'a>,
    pub files: &'a mut Files,
}

/// Names [`FilesView`] to the linker.
pub(crate) struct HasFiles;

impl HasData for HasFiles {
    type Data<'a> = FilesView<'a>;
}
