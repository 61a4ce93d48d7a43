//! `wasi:filesystem`: the workspace through its view, and the scratch directory through wasmtime's
//! own implementation, both behind our checks.
//!
//! Each function that changes something calls [`FilesView::may_change`] first, whatever the
//! descriptor was opened for and whenever that was.

mod access;
mod entries;

use std::sync::Arc;

use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::Descriptor;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, ErrorCode,
    HostDescriptor as WasiDescriptor, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult, ReaddirIterator};

use super::listing::{self, Listing};
use super::named::Listed;
use super::open::{check_path, code};
use super::quota::FoundEntry;
use super::stream::{CountedStream, Refused};
use super::viewed::{self, InWorkspace, ReadStream, Viewed};
use super::{FilesView, Handle};

type Fd = Resource<Descriptor>;

impl types::Host for FilesView<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        types::Host::convert_error_code(&mut self.inner, error)
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        match self.inner.table.get(&error)?.downcast_ref::<Refused>() {
            Some(Refused(code)) => Ok(Some(*code)),
            None => types::Host::filesystem_error_code(&mut self.inner, error),
        }
    }
}

impl WasiDescriptor for FilesView<'_> {
    async fn open_at(
        &mut self,
        fd: Fd,
        path_flags: PathFlags,
        path: String,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Fd> {
        self.open(&fd, path_flags, &path, open, flags)
    }

    fn write_via_stream(&mut self, fd: Fd, offset: u64) -> FsResult<Resource<DynOutputStream>> {
        if let Some(stream) = self.write_stream(&fd, Some(offset))? {
            return Ok(stream);
        }
        self.may_write(&fd)?;
        let same = Resource::new_borrow(fd.rep());
        let stream = WasiDescriptor::write_via_stream(&mut self.inner, fd, offset)?;
        self.check_stream(&same, stream, Some(offset))
    }

    fn append_via_stream(&mut self, fd: Fd) -> FsResult<Resource<DynOutputStream>> {
        if let Some(stream) = self.write_stream(&fd, None)? {
            return Ok(stream);
        }
        self.may_write(&fd)?;
        let same = Resource::new_borrow(fd.rep());
        let stream = WasiDescriptor::append_via_stream(&mut self.inner, fd)?;
        self.check_stream(&same, stream, None)
    }

    async fn set_size(&mut self, fd: Fd, size: u64) -> FsResult<()> {
        self.may_change(&fd)?;
        if let Some(viewed) = self.viewed(&fd)? {
            return Ok(viewed.file()?.file.set_len(size).map_err(code)?);
        }
        let handle = self.handle(&fd)?;
        let Some(counted) = handle.counted() else {
            return WasiDescriptor::set_size(&mut self.inner, fd, size).await;
        };
        let before = counted.grow(size)?;
        let done = WasiDescriptor::set_size(&mut self.inner, fd, size).await;
        counted.has(if done.is_ok() { size } else { before });
        done
    }

    async fn set_times(
        &mut self,
        fd: Fd,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.may_change(&fd)?;
        if let Some(viewed) = self.viewed(&fd)? {
            return Ok(viewed.set_times(accessed, modified)?);
        }
        WasiDescriptor::set_times(&mut self.inner, fd, accessed, modified).await
    }

    async fn write(&mut self, fd: Fd, buffer: Vec<u8>, offset: u64) -> FsResult<u64> {
        self.may_change(&fd)?;
        if let Some(viewed) = self.viewed(&fd)? {
            let file = viewed.file()?.to_write()?;
            file.write_at(&buffer, offset).map_err(code)?;
            return Ok(buffer.len() as u64);
        }
        let handle = self.handle(&fd)?;
        let Some(counted) = handle.counted() else {
            return WasiDescriptor::write(&mut self.inner, fd, buffer, offset).await;
        };
        let before = counted.grow(offset.saturating_add(buffer.len() as u64))?;
        let written = WasiDescriptor::write(&mut self.inner, fd, buffer, offset).await;
        let end = written.as_ref().map_or(0, |written| offset + written);
        counted.has(before.max(end));
        written
    }

    async fn create_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        check_path(&path)?;
        self.may_change(&fd)?;
        if let Some(viewed) = self.viewed(&fd)? {
            let directory = viewed.directory()?;
            return Ok(directory.create_directory(&path).map_err(code)?);
        }
        let quota = self.quota(&fd);
        if let Some(quota) = &quota {
            quota.add_entry(0)?;
        }
        let made = WasiDescriptor::create_directory_at(&mut self.inner, fd, path).await;
        if let (Some(quota), Err(_)) = (quota, &made) {
            quota.give_back_entry(0);
        }
        made
    }

    async fn set_times_at(
        &mut self,
        fd: Fd,
        path_flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        check_path(&path)?;
        self.may_change(&fd)?;
        if let Some(viewed) = self.viewed(&fd)? {
            let directory = viewed.directory()?;
            let (accessed, modified) = (viewed::time(accessed)?, viewed::time(modified)?);
            let follow = path_flags.contains(PathFlags::SYMLINK_FOLLOW);
            let set = directory.set_times_at(&path, follow, accessed, modified);
            return Ok(set.map_err(code)?);
        }
        WasiDescriptor::set_times_at(&mut self.inner, fd, path_flags, path, accessed, modified)
            .await
    }

    /// Refuses hard links, because the second name could be in a place with other rules.
    async fn link_at(
        &mut self,
        fd: Fd,
        _: PathFlags,
        _: String,
        new_fd: Fd,
        _: String,
    ) -> FsResult<()> {
        self.may_change(&fd)?;
        self.may_change(&new_fd)?;
        Err(ErrorCode::Unsupported.into())
    }

    async fn remove_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        check_path(&path)?;
        self.may_change(&fd)?;
        if let Some(viewed) = self.viewed(&fd)? {
            let directory = viewed.directory()?;
            return Ok(directory.remove_directory(&path).map_err(code)?);
        }
        let found = self.found_in_scratch(&fd, &path)?;
        WasiDescriptor::remove_directory_at(&mut self.inner, fd, path).await?;
        if let Some((quota, found)) = found {
            quota.removed(FoundEntry::of(&found));
        }
        Ok(())
    }

    async fn rename_at(
        &mut self,
        fd: Fd,
        path: String,
        new_fd: Fd,
        new_path: String,
    ) -> FsResult<()> {
        self.rename(fd, path, new_fd, new_path).await
    }

    async fn symlink_at(&mut self, fd: Fd, target: String, path: String) -> FsResult<()> {
        check_path(&path)?;
        self.may_change(&fd)?;
        if let Some(viewed) = self.viewed(&fd)? {
            let directory = viewed.directory()?;
            return Ok(directory.create_link(&target, &path).map_err(code)?);
        }
        let quota = self.quota(&fd);
        let bytes = target.len() as u64;
        if let Some(quota) = &quota {
            quota.add_entry(bytes)?;
        }
        let made = WasiDescriptor::symlink_at(&mut self.inner, fd, target, path).await;
        if let (Some(quota), Err(_)) = (quota, &made) {
            quota.give_back_entry(bytes);
        }
        made
    }

    async fn unlink_file_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        check_path(&path)?;
        self.may_change(&fd)?;
        if let Some(viewed) = self.viewed(&fd)? {
            return Ok(viewed.directory()?.remove_file(&path).map_err(code)?);
        }
        let found = self.found_in_scratch(&fd, &path)?;
        WasiDescriptor::unlink_file_at(&mut self.inner, fd, path).await?;
        if let Some((quota, found)) = found {
            quota.removed(FoundEntry::of(&found));
        }
        Ok(())
    }

    // Functions that only read.

    fn read_via_stream(&mut self, fd: Fd, offset: u64) -> FsResult<Resource<DynInputStream>> {
        let _handle = self.handle(&fd)?;
        if let Some(viewed) = self.viewed(&fd)? {
            let Viewed::File(file) = viewed else {
                return Err(ErrorCode::IsDirectory.into());
            };
            let stream: DynInputStream = Box::new(ReadStream {
                file,
                position: offset,
                closed: false,
                _handle,
            });
            return Ok(self.inner.table.push(stream)?);
        }
        let stream = WasiDescriptor::read_via_stream(&mut self.inner, fd, offset)?;
        let inner = self.inner.table.delete(stream)?;
        let counted: DynInputStream = Box::new(CountedStream { inner, _handle });
        Ok(self.inner.table.push(counted)?)
    }

    async fn advise(&mut self, fd: Fd, offset: u64, len: u64, advice: Advice) -> FsResult<()> {
        if let Some(viewed) = self.viewed(&fd)? {
            return Ok(viewed.file().map(drop)?);
        }
        WasiDescriptor::advise(&mut self.inner, fd, offset, len, advice).await
    }

    async fn sync_data(&mut self, fd: Fd) -> FsResult<()> {
        // Written data in the workspace is synced when it is committed; the same goes for `sync`.
        if self.viewed(&fd)?.is_some() {
            return Ok(());
        }
        WasiDescriptor::sync_data(&mut self.inner, fd).await
    }

    async fn sync(&mut self, fd: Fd) -> FsResult<()> {
        if self.viewed(&fd)?.is_some() {
            return Ok(());
        }
        WasiDescriptor::sync(&mut self.inner, fd).await
    }

    async fn get_flags(&mut self, fd: Fd) -> FsResult<DescriptorFlags> {
        if let Some(viewed) = self.viewed(&fd)? {
            return Ok(viewed.flags());
        }
        WasiDescriptor::get_flags(&mut self.inner, fd).await
    }

    async fn get_type(&mut self, fd: Fd) -> FsResult<DescriptorType> {
        if let Some(viewed) = self.viewed(&fd)? {
            return Ok(viewed.kind());
        }
        WasiDescriptor::get_type(&mut self.inner, fd).await
    }

    async fn read(&mut self, fd: Fd, len: u64, offset: u64) -> FsResult<(Vec<u8>, bool)> {
        if let Some(viewed) = self.viewed(&fd)? {
            let length = usize::try_from(len).unwrap_or(usize::MAX);
            let mut buffer = vec![0; length.min(viewed::CHUNK_BYTES)];
            let read = viewed.file()?.to_read()?.read_at(&mut buffer, offset);
            let read = read.map_err(code)?;
            buffer.truncate(read);
            return Ok((buffer, read == 0));
        }
        WasiDescriptor::read(&mut self.inner, fd, len, offset).await
    }

    async fn read_directory(&mut self, fd: Fd) -> FsResult<Resource<ReaddirIterator>> {
        let viewed = self.viewed(&fd)?;
        let descriptors = &self.files.roots.descriptors;
        let handle = self.files.count.taking(listing::DESCRIPTORS, descriptors);
        let handle = Arc::new(handle.ok_or(ErrorCode::Quota)?);
        let listing = match viewed {
            Some(viewed) => {
                let in_order = self.files.workspace_writable.is_open();
                let listed = Listed::new(&fd, viewed.directory()?);
                Listing::of_viewed(listed, in_order, handle)
            }
            None => Listing::of(&*self.directory(&fd)?, handle),
        };
        let listing = listing.map_err(code)?;
        let listing = self.inner.table.push(listing)?;
        Ok(Resource::new_own(listing.rep()))
    }

    async fn stat(&mut self, fd: Fd) -> FsResult<DescriptorStat> {
        if let Some(viewed) = self.viewed(&fd)? {
            return Ok(viewed::stat(&viewed.metadata()?));
        }
        WasiDescriptor::stat(&mut self.inner, fd).await
    }

    async fn stat_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
    ) -> FsResult<DescriptorStat> {
        check_path(&path)?;
        if let Some(viewed) = self.viewed(&fd)? {
            return self.stat_viewed(&fd, &viewed, flags, &path);
        }
        WasiDescriptor::stat_at(&mut self.inner, fd, flags, path).await
    }

    async fn readlink_at(&mut self, fd: Fd, path: String) -> FsResult<String> {
        check_path(&path)?;
        if let Some(viewed) = self.viewed(&fd)? {
            let target = viewed.directory()?.read_link(&path).map_err(code)?;
            // The guest must not see absolute targets.
            return if target.starts_with('/') {
                Err(ErrorCode::NotPermitted.into())
            } else {
                Ok(target)
            };
        }
        WasiDescriptor::readlink_at(&mut self.inner, fd, path).await
    }

    async fn is_same_object(&mut self, one: Fd, other: Fd) -> wasmtime::Result<bool> {
        match (self.viewed(&one), self.viewed(&other)) {
            (Ok(None), Ok(None)) => {}
            (Ok(Some(one)), Ok(Some(other))) => return Ok(one.is_same_object(&other)),
            _ => return Ok(false),
        }
        WasiDescriptor::is_same_object(&mut self.inner, one, other).await
    }

    async fn metadata_hash(&mut self, fd: Fd) -> FsResult<MetadataHashValue> {
        if let Some(viewed) = self.viewed(&fd)? {
            return Ok(viewed::hash(viewed.metadata()?.identity));
        }
        WasiDescriptor::metadata_hash(&mut self.inner, fd).await
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        check_path(&path)?;
        if let Some(viewed) = self.viewed(&fd)? {
            return self.hash_viewed(&fd, &viewed, flags, &path);
        }
        WasiDescriptor::metadata_hash_at(&mut self.inner, fd, flags, path).await
    }

    fn drop(&mut self, fd: Fd) -> wasmtime::Result<()> {
        // The index may be given to another descriptor next.
        self.files.last_named.forget();
        match self.files.handles.remove(&fd.rep()) {
            Some(Handle {
                viewed: Some(_), ..
            }) => {
                let placeholder = Resource::<InWorkspace>::new_own(fd.rep());
                self.inner.table.delete(placeholder)?;
                Ok(())
            }
            _ => WasiDescriptor::drop(&mut self.inner, fd),
        }
    }
}
