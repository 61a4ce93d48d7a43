//! `wasi:filesystem`: wasmtime's implementation behind our checks.
//!
//! Reads are passed on as they are. Each function that would change something asks
//! [`FilesView::may_change`] first, whatever the descriptor was opened for and whenever that was.
//! Opening and listing are ours ([`open`](super::open), [`listing`](super::listing)).

mod entries;

use std::fs::File;
use std::sync::Arc;

use cap_fs_ext::FollowSymlinks;
use cap_primitives::fs::Metadata;
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{Descriptor, OpenMode};
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, ErrorCode,
    HostDescriptor as WasiDescriptor, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult, ReaddirIterator};

use super::listing::{self, Listing};
use super::open::{check_path, code, look};
use super::quota::{Named, Quota};
use super::stream::{Check, CheckedStream, CountedStream, Refused};
use super::{FilesView, Handle, Mount, OpenHandle};

type Fd = Resource<Descriptor>;

impl FilesView<'_> {
    fn mount(&self, fd: &Fd) -> Mount {
        // An unknown one gets the stricter rule.
        let handle = self.files.handles.get(&fd.rep());
        handle.map_or(Mount::Workspace, |handle| handle.mount)
    }

    /// Refuses a change under `fd` that the phase doesn't allow.
    fn may_change(&self, fd: &Fd) -> FsResult<()> {
        match self.mount(fd) {
            Mount::Workspace => Ok(self.files.workspace_writable.pass()?),
            Mount::Scratch => Ok(()),
        }
    }

    /// What bounds changes under `fd`, where something does.
    fn quota(&self, fd: &Fd) -> Option<Quota> {
        match self.mount(fd) {
            Mount::Workspace => None,
            Mount::Scratch => Some(self.files.scratch_quota.clone()),
        }
    }

    fn handle(&self, fd: &Fd) -> FsResult<Arc<OpenHandle>> {
        let handle = self.files.handles.get(&fd.rep());
        let handle = handle.ok_or(ErrorCode::BadDescriptor)?;
        Ok(Arc::clone(&handle.open))
    }

    fn directory(&self, fd: &Fd) -> FsResult<Arc<File>> {
        match self.inner.table.get(fd)? {
            Descriptor::Dir(directory) => Ok(Arc::clone(&directory.dir)),
            Descriptor::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }

    /// Enters a new descriptor, which lies under the same directory as the one that it was opened
    /// from.
    fn register(&mut self, descriptor: Descriptor, mount: Mount, open: OpenHandle) -> FsResult<Fd> {
        let fd = self.inner.table.push(descriptor)?;
        let open = Arc::new(open);
        self.files.handles.insert(fd.rep(), Handle { mount, open });
        Ok(fd)
    }

    fn may_write(&self, fd: &Fd) -> FsResult<()> {
        self.may_change(fd)?;
        match self.inner.table.get(fd)? {
            Descriptor::File(file) if !file.open_mode.contains(OpenMode::WRITE) => {
                Err(ErrorCode::BadDescriptor.into())
            }
            _ => Ok(()),
        }
    }

    /// `position`: where the stream begins to write; none for the end.
    fn check_stream(
        &mut self,
        fd: &Fd,
        stream: Resource<DynOutputStream>,
        position: Option<u64>,
    ) -> FsResult<Resource<DynOutputStream>> {
        let check = match self.mount(fd) {
            Mount::Workspace => Check::Workspace(self.files.workspace_writable.clone()),
            Mount::Scratch => Check::Scratch(position),
        };
        let handle = self.handle(fd)?;
        let inner = self.inner.table.delete(stream)?;
        let checked: DynOutputStream = Box::new(CheckedStream {
            inner,
            check,
            handle,
        });
        Ok(self.inner.table.push(checked)?)
    }

    /// What there is under a name of the scratch directory that is about to go.
    fn found_in_scratch(&self, fd: &Fd, path: &str) -> FsResult<Option<(Quota, Metadata)>> {
        let Some(quota) = self.quota(fd) else {
            return Ok(None);
        };
        let found = look(&*self.directory(fd)?, path, FollowSymlinks::No);
        Ok(found.map(|found| (quota, found)))
    }
}

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
        self.may_write(&fd)?;
        let same = Resource::new_borrow(fd.rep());
        let stream = WasiDescriptor::write_via_stream(&mut self.inner, fd, offset)?;
        self.check_stream(&same, stream, Some(offset))
    }

    fn append_via_stream(&mut self, fd: Fd) -> FsResult<Resource<DynOutputStream>> {
        self.may_write(&fd)?;
        let same = Resource::new_borrow(fd.rep());
        let stream = WasiDescriptor::append_via_stream(&mut self.inner, fd)?;
        self.check_stream(&same, stream, None)
    }

    async fn set_size(&mut self, fd: Fd, size: u64) -> FsResult<()> {
        self.may_change(&fd)?;
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
        WasiDescriptor::set_times(&mut self.inner, fd, accessed, modified).await
    }

    async fn write(&mut self, fd: Fd, buffer: Vec<u8>, offset: u64) -> FsResult<u64> {
        self.may_change(&fd)?;
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
        WasiDescriptor::set_times_at(&mut self.inner, fd, path_flags, path, accessed, modified)
            .await
    }

    /// Refused: a second name of a workspace file could stand where other rules hold.
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
        let found = self.found_in_scratch(&fd, &path)?;
        WasiDescriptor::remove_directory_at(&mut self.inner, fd, path).await?;
        if let Some((quota, found)) = found {
            quota.removed(Named::of(&found));
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
        let found = self.found_in_scratch(&fd, &path)?;
        WasiDescriptor::unlink_file_at(&mut self.inner, fd, path).await?;
        if let Some((quota, found)) = found {
            quota.removed(Named::of(&found));
        }
        Ok(())
    }

    // What only reads.

    fn read_via_stream(&mut self, fd: Fd, offset: u64) -> FsResult<Resource<DynInputStream>> {
        let _handle = self.handle(&fd)?;
        let stream = WasiDescriptor::read_via_stream(&mut self.inner, fd, offset)?;
        let inner = self.inner.table.delete(stream)?;
        let counted: DynInputStream = Box::new(CountedStream { inner, _handle });
        Ok(self.inner.table.push(counted)?)
    }

    async fn advise(&mut self, fd: Fd, offset: u64, len: u64, advice: Advice) -> FsResult<()> {
        WasiDescriptor::advise(&mut self.inner, fd, offset, len, advice).await
    }

    async fn sync_data(&mut self, fd: Fd) -> FsResult<()> {
        WasiDescriptor::sync_data(&mut self.inner, fd).await
    }

    async fn sync(&mut self, fd: Fd) -> FsResult<()> {
        WasiDescriptor::sync(&mut self.inner, fd).await
    }

    async fn get_flags(&mut self, fd: Fd) -> FsResult<DescriptorFlags> {
        WasiDescriptor::get_flags(&mut self.inner, fd).await
    }

    async fn get_type(&mut self, fd: Fd) -> FsResult<DescriptorType> {
        WasiDescriptor::get_type(&mut self.inner, fd).await
    }

    async fn read(&mut self, fd: Fd, len: u64, offset: u64) -> FsResult<(Vec<u8>, bool)> {
        WasiDescriptor::read(&mut self.inner, fd, len, offset).await
    }

    async fn read_directory(&mut self, fd: Fd) -> FsResult<Resource<ReaddirIterator>> {
        let directory = self.directory(&fd)?;
        let descriptors = &self.files.roots.descriptors;
        let handle = self.files.count.taking(listing::DESCRIPTORS, descriptors);
        let handle = Arc::new(handle.ok_or(ErrorCode::Quota)?);
        let listing = Listing::of(&directory, handle).map_err(code)?;
        let listing = self.inner.table.push(listing)?;
        Ok(Resource::new_own(listing.rep()))
    }

    async fn stat(&mut self, fd: Fd) -> FsResult<DescriptorStat> {
        WasiDescriptor::stat(&mut self.inner, fd).await
    }

    async fn stat_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
    ) -> FsResult<DescriptorStat> {
        check_path(&path)?;
        WasiDescriptor::stat_at(&mut self.inner, fd, flags, path).await
    }

    async fn readlink_at(&mut self, fd: Fd, path: String) -> FsResult<String> {
        check_path(&path)?;
        WasiDescriptor::readlink_at(&mut self.inner, fd, path).await
    }

    async fn is_same_object(&mut self, one: Fd, other: Fd) -> wasmtime::Result<bool> {
        WasiDescriptor::is_same_object(&mut self.inner, one, other).await
    }

    async fn metadata_hash(&mut self, fd: Fd) -> FsResult<MetadataHashValue> {
        WasiDescriptor::metadata_hash(&mut self.inner, fd).await
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        check_path(&path)?;
        WasiDescriptor::metadata_hash_at(&mut self.inner, fd, flags, path).await
    }

    fn drop(&mut self, fd: Fd) -> wasmtime::Result<()> {
        let index = fd.rep();
        WasiDescriptor::drop(&mut self.inner, fd)?;
        // The index may be given to a descriptor of the workspace next.
        self.files.handles.remove(&index);
        Ok(())
    }
}
