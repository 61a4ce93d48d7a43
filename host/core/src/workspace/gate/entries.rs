//! The functions that open, list and rename, which need more than a check.

use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::Descriptor;
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, DirectoryEntry, ErrorCode, HostDescriptor as WasiDescriptor,
    HostDirectoryEntryStream as InnerListing, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{FsResult, ReaddirIterator};

use cap_primitives::fs::Metadata;

use super::Fd;
use crate::workspace::listing::{Listing, Next};
use crate::workspace::open::{Opened, check_kind, check_path, code, follows, look, open_beneath};
use crate::workspace::quota::{Counted, FoundEntry, Quota};
use crate::workspace::viewed::{self, Viewed};
use crate::workspace::{FilesView, TooManyOpen};

impl preopens::Host for FilesView<'_> {
    /// Returns the workspace first, because some languages take the first directory as the current
    /// one. Returns it again as `/`, against which other languages resolve relative paths.
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Fd, String)>> {
        let opened = match self.files.opened.take() {
            Some(opened) => opened,
            None => self.files.roots.open()?,
        };
        let scratch = opened.scratch.clone();
        let bounds = &self.files.bounds;
        let root = opened.workspace.as_ref().map(|view| match bounds {
            Some(bounds) => view.root_within(bounds.clone()),
            None => view.root(),
        });
        let root = root.map(Viewed::root);
        self.files.opened = Some(opened);
        let named = [
            ("/workspace", root.clone().map(Some)),
            ("/scratch", Some(None)),
            ("/", root.map(Some)),
        ];
        let mut directories = Vec::with_capacity(named.len());
        for (name, directory) in named {
            let Some(viewed) = directory else {
                continue;
            };
            // The guest can't get an error from this function.
            let open = self.files.count.another().ok_or(TooManyOpen {
                limit: Some(self.files.max_open),
            })?;
            let fd = match viewed {
                Some(viewed) => self.register_viewed(viewed, open)?,
                None => self.register(Descriptor::Dir(scratch.clone()), open)?,
            };
            directories.push((fd, name.to_owned()));
        }
        Ok(directories)
    }
}

/// Functions that change something.
impl FilesView<'_> {
    pub(super) fn open(
        &mut self,
        fd: &Fd,
        path_flags: PathFlags,
        path: &str,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Fd> {
        check_path(path)?;
        if opens_for_change(open, flags) {
            self.may_change(fd)?;
        }
        let viewed = self.viewed(fd)?;
        let handle = self.files.count.taking(1, &self.files.roots.descriptors);
        let handle = handle.ok_or(ErrorCode::Quota)?;
        if let Some(viewed) = viewed {
            let opened = viewed::open(viewed.directory()?, path_flags, path, open, flags)?;
            return self.register_viewed(opened, handle);
        }
        let directory = self.directory(fd)?;
        // Only a file created by this call is known not to be special.
        let is_new = open.contains(OpenFlags::CREATE | OpenFlags::EXCLUSIVE);
        let found = if is_new {
            None
        } else {
            look(&directory, path, follows(path_flags))
        };
        if let Some(found) = &found {
            check_kind(found)?;
        }
        let quota = self.quota(fd);
        let makes = quota
            .as_ref()
            .filter(|_| open.contains(OpenFlags::CREATE) && found.is_none());
        if let Some(quota) = makes {
            quota.add_entry(0)?;
        }
        let opened = open_beneath(&directory, path, path_flags, open, flags);
        if let (Some(quota), Err(_)) = (makes, &opened) {
            quota.give_back_entry(0);
        }
        let opened = opened?;
        let counted = quota.and_then(|quota| counted(&quota, &opened, found.as_ref(), open));
        self.register(opened.descriptor, handle.counting(counted))
    }

    pub(super) async fn rename(
        &mut self,
        fd: Fd,
        path: String,
        new_fd: Fd,
        new_path: String,
    ) -> FsResult<()> {
        check_path(&path)?;
        check_path(&new_path)?;
        self.may_change(&fd)?;
        self.may_change(&new_fd)?;
        // A moved file would keep the rules of the place that its open descriptors came from.
        if self.mount(&fd) != self.mount(&new_fd) {
            return Err(ErrorCode::CrossDevice.into());
        }
        if let (Some(from), Some(to)) = (self.viewed(&fd)?, self.viewed(&new_fd)?) {
            let (from, to) = (from.directory()?, to.directory()?);
            return Ok(from.rename(&path, to, &new_path).map_err(code)?);
        }
        let moved = self.found_in_scratch(&fd, &path)?;
        let replaced = self.found_in_scratch(&new_fd, &new_path)?;
        WasiDescriptor::rename_at(&mut self.inner, fd, path, new_fd, new_path).await?;
        if let (Some((quota, replaced)), Some((_, moved))) = (replaced, moved) {
            let replaced = FoundEntry::of(&replaced);
            // A rename onto another name of the same file changes nothing.
            if replaced.id != FoundEntry::of(&moved).id {
                quota.removed(replaced);
            }
        }
        Ok(())
    }
}

/// Counts an opened file of the scratch directory, and the bytes that opening truncated. `found` is
/// the entry before.
fn counted(
    quota: &Quota,
    opened: &Opened,
    found: Option<&Metadata>,
    open: OpenFlags,
) -> Option<Counted> {
    if !opened.metadata.is_file() {
        return None;
    }
    let counted = quota.opened(
        FoundEntry::of(&opened.metadata).id,
        found.map_or(0, Metadata::len),
    );
    if open.contains(OpenFlags::TRUNCATE) {
        counted.has(0);
    }
    Some(counted)
}

/// Returns whether opening with these flags could change something.
fn opens_for_change(open: OpenFlags, flags: DescriptorFlags) -> bool {
    open.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE | OpenFlags::EXCLUSIVE)
        || flags.contains(DescriptorFlags::WRITE)
}

/// Converts the type: in the table, the listing is ours, and wasmtime's type only names it.
fn ours(listing: &Resource<ReaddirIterator>) -> Resource<Listing> {
    Resource::new_own(listing.rep())
}

impl InnerListing for FilesView<'_> {
    async fn read_directory_entry(
        &mut self,
        listing: Resource<ReaddirIterator>,
    ) -> FsResult<Option<DirectoryEntry>> {
        loop {
            let listing = self.inner.table.get_mut(&ours(&listing))?;
            let next = listing.next();
            self.files.left_out.add(listing);
            match next.map_err(code)? {
                Next::Entry(entry) => {
                    let of = listing.listed.as_ref();
                    let of = of.filter(|of| of.is_open(&self.files.handles));
                    let gate = &self.files.workspace_writable;
                    self.files.last_named.listed(of, &entry.name, gate);
                    return Ok(Some(entry));
                }
                Next::End => return Ok(None),
                // Lets a deadline end the loop.
                Next::NothingYet => tokio::task::yield_now().await,
            }
        }
    }

    fn drop(&mut self, listing: Resource<ReaddirIterator>) -> wasmtime::Result<()> {
        self.inner.table.delete(ours(&listing))?;
        Ok(())
    }
}
