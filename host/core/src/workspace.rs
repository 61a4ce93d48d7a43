//! The guest's view of files: two directories, and a gate in front of whatever would change one of them.
//!
//! `wasi:filesystem` is the only WASI interface that the host replaces. Its functions are wasmtime's own, behind a
//! check of the phase that each call makes anew ([`gate`]), and so are the streams that a guest may keep
//! open from one phase into the next ([`stream`]).

#[cfg(feature = "ast-edit")]
mod folder;
mod gate;
mod roots;
mod scratch;
mod stream;
#[cfg(feature = "ast-edit")]
mod walk;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use wasmtime::component::HasData;
use wasmtime_wasi::filesystem::WasiFilesystemCtxView;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

#[cfg(feature = "ast-edit")]
pub(crate) use folder::{EntryKind, ReadableFolder, Staged, Stamp, Unread, WritableFolder};
pub(crate) use roots::{Roots, WorkspaceFolder};
pub(crate) use scratch::{ScratchFolder, ScratchHomes};
#[cfg(feature = "ast-edit")]
pub(crate) use walk::{Start, Visited};

/// What a new directory entry costs of the scratch budget, so that empty files aren't free.
const ENTRY_BYTES: u64 = 4096;

/// How many directory listings may be open at one time. Each holds all of its entries in the host's memory.
const MAX_LISTINGS: usize = 32;

/// What a store remembers of the files that its guest has open.
pub(crate) struct Files {
    roots: Arc<Roots>,
    workspace_writable: Gate,
    scratch_budget: Budget,
    /// Descriptors under the scratch directory, by their index in the resource table. All others are the
    /// workspace's: an unknown one gets the stricter rule.
    scratch: HashSet<u32>,
    open: usize,
    max_open: usize,
    listings: usize,
}

impl Files {
    pub fn new(roots: Arc<Roots>, max_open: usize, scratch_bytes: u64) -> Self {
        Self {
            roots,
            workspace_writable: Gate::default(),
            scratch_budget: Budget(Arc::new(AtomicU64::new(scratch_bytes))),
            scratch: HashSet::new(),
            open: 0,
            max_open,
            listings: 0,
        }
    }

    /// Opens or closes the gate in front of the workspace, for calls and for streams that are already open.
    pub fn set_workspace_writable(&self, writable: bool) {
        self.workspace_writable
            .0
            .open
            .store(writable, Ordering::SeqCst);
    }

    /// How many changes of the workspace were refused since this was last asked.
    pub fn take_refused_changes(&self) -> u64 {
        self.workspace_writable.0.refused.swap(0, Ordering::Relaxed)
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
}

impl Gate {
    fn pass(&self) -> Result<(), ErrorCode> {
        match self.0.open.load(Ordering::SeqCst) {
            true => Ok(()),
            false => {
                self.0.refused.fetch_add(1, Ordering::Relaxed);
                Err(ErrorCode::ReadOnly)
            }
        }
    }
}

/// How many bytes may still be written to the scratch directory.
#[derive(Debug, Clone)]
struct Budget(Arc<AtomicU64>);

impl Budget {
    fn spend(&self, bytes: u64) -> Result<(), ErrorCode> {
        self.0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(bytes)
            })
            .map(drop)
            .map_err(|_| ErrorCode::Quota)
    }
}

/// wasmtime's implementation of `wasi:filesystem`, and ours around it, for the duration of one call.
pub(crate) struct FilesView<'a> {
    pub inner: WasiFilesystemCtxView<'a>,
    pub files: &'a mut Files,
}

/// Names [`FilesView`] to the linker.
pub(crate) struct HasFiles;

impl HasData for HasFiles {
    type Data<'a> = FilesView<'a>;
}
