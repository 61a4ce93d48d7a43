//! The entries of a directory, read as the guest asks for them.
//!
//! wasmtime's own reads them all beforehand, into memory that no limit counts, and ends at the
//! first name that is no UTF-8. What comes behind it would be hidden.

use std::fs::File;
use std::io;
use std::sync::Arc;

use cap_primitives::fs::{DirEntry, FileType, FileTypeExt, ReadDir, read_base_dir};
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorType, DirectoryEntry};

use super::named::Listed;
use super::{OpenHandle, viewed};

/// How many names are passed over before others get their turn.
const PATIENCE: usize = 256;

/// How many descriptors one needs.
pub(super) const DESCRIPTORS: usize = 2;

pub(super) struct Listing {
    entries: Entries,
    /// Names that no guest can be told, since WASI's are UTF-8, and that were not counted yet.
    pub left_out: u64,
    /// Whether it counts as one that left some out.
    pub told: bool,
    /// Of the workspace; none for the scratch directory.
    pub listed: Option<Listed>,
    /// Counts it as open.
    _handle: Arc<OpenHandle>,
}

enum Entries {
    Read(ReadDir),
    /// In the order of names, so that it is the same each time.
    Sorted(std::vec::IntoIter<airlock_workspace::Entry>),
}

/// What a listing came by.
pub(super) enum Next {
    Entry(DirectoryEntry),
    /// Only names that can't be told, so far.
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

    /// Of a directory of the workspace. While nothing is changed above it and nobody asks for an
    /// order, it is read entry by entry.
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
        for _ in 0..PATIENCE {
            let Some(entry) = entries.next().transpose()? else {
                return Ok(Next::End);
            };
            match entry.file_name().into_string() {
                // The host's own, which no guest is shown.
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

/// Not all file systems tell it beside the name. What is gone meanwhile is of no kind.
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
