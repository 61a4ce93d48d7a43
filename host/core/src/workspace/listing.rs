//! The entries of a directory, read as the guest asks for them.
//!
//! wasmtime's own implementation reads them all in advance, into memory without a limit, and stops
//! at the first name that is not UTF-8, which hides the names after it.

use std::fs::File;
use std::io;
use std::sync::Arc;

use cap_fs_ext::FileTypeExt;
use cap_primitives::fs::{DirEntry, FileType, ReadDir, read_base_dir};
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorType, DirectoryEntry};

use super::named::Listed;
use super::{OpenHandle, viewed};

/// Number of skipped names before other tasks get their turn.
const YIELD_INTERVAL: usize = 256;

/// Number of descriptors that a listing needs.
pub(super) const DESCRIPTORS: usize = 2;

pub(super) struct Listing {
    entries: Entries,
    /// Names that are not UTF-8, so that WASI can't express them, and that were not counted yet.
    pub left_out: u64,
    /// True if this listing was counted as incomplete.
    pub told: bool,
    /// Set for the workspace; `None` for the scratch directory.
    pub listed: Option<Listed>,
    /// Counts it as open.
    _handle: Arc<OpenHandle>,
}

enum Entries {
    Read(ReadDir),
    /// Sorted by name, so that the order is always the same.
    Sorted(std::vec::IntoIter<airlock_workspace::Entry>),
}

/// The next result of a listing.
pub(super) enum Next {
    Entry(DirectoryEntry),
    /// A pause without an entry, because WASI can't express any of the names so far.
    NothingYet,
    End,
}

impl Listing {
    pub fn of(directory: &File, handle: Arc<OpenHandle>) -> io::Result<Self> {
        Ok(Self {
            entries: Entries::Read(read_base_dir(directory)?),
            left_out: 0,
            told: false,
            listed: None,
            _handle: handle,
        })
    }

    /// Lists a directory of the workspace. It is read entry by entry if there are no changes above
    /// it and no order is needed.
    pub fn of_viewed(listed: Listed, in_order: bool, handle: Arc<OpenHandle>) -> io::Result<Self> {
        let directory = &listed.directory;
        let real = if in_order { None } else { directory.real()? };
        if let Some(real) = real {
            let mut listing = Self::of(&real, handle)?;
            listing.listed = Some(listed);
            return Ok(listing);
        }
        let listing = directory.list()?;
        Ok(Self {
            entries: Entries::Sorted(listing.entries.into_iter()),
            left_out: listing.left_out as u64,
            told: false,
            listed: Some(listed),
            _handle: handle,
        })
    }

    pub fn next(&mut self) -> io::Result<Next> {
        let entries = match &mut self.entries {
            Entries::Read(entries) => entries,
            Entries::Sorted(entries) => {
                return Ok(entries.next().map_or(Next::End, |entry| {
                    let (type_, name) = (viewed::kind(entry.kind), entry.name);
                    Next::Entry(DirectoryEntry { type_, name })
                }));
            }
        };
        for _ in 0..YIELD_INTERVAL {
            let Some(entry) = entries.next().transpose()? else {
                return Ok(Next::End);
            };
            match entry.file_name().into_string() {
                // The host's private directory, which guests don't see.
                Ok(name) if airlock_workspace::is_private(&name) => {}
                Ok(name) => {
                    let type_ = kind(&entry);
                    return Ok(Next::Entry(DirectoryEntry { type_, name }));
                }
                Err(_) => self.left_out += 1,
            }
        }
        Ok(Next::NothingYet)
    }
}

/// Returns the kind of an entry. Looks it up if the file system doesn't return the kind with the
/// name. An entry that has vanished has an unknown kind.
fn kind(entry: &DirEntry) -> DescriptorType {
    let told = entry.file_type().map_or(DescriptorType::Unknown, kind_of);
    match told {
        DescriptorType::Unknown => {
            let metadata = entry.metadata();
            metadata.map_or(told, |metadata| kind_of(metadata.file_type()))
        }
        told => told,
    }
}

fn kind_of(kind: FileType) -> DescriptorType {
    if kind.is_dir() {
        DescriptorType::Directory
    } else if kind.is_symlink() {
        DescriptorType::SymbolicLink
    } else if kind.is_file() {
        DescriptorType::RegularFile
    } else if kind.is_block_device() {
        DescriptorType::BlockDevice
    } else if kind.is_char_device() {
        DescriptorType::CharacterDevice
    } else {
        DescriptorType::Unknown
    }
}
