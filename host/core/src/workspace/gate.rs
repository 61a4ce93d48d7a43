//! `wasi:filesystem`: wasmtime's implementation behind our checks.
//!
//! Reads are passed on as they are. Each function that would change something asks [`FilesView::may_change`] first, whatever the
//! descriptor was opened for and whenever that was.

use std::io;

use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{Descriptor, Dir};
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode,
    HostDescriptor as Inner, HostDirectoryEntryStream as InnerListing, MetadataHashValue,
    NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult, ReaddirIterator};

use super::stream::{Check, CheckedStream, Refused};
use super::{ENTRY_BYTES, FilesView, MAX_LISTINGS, Mount};

type Fd = Resource<Descriptor>;

impl FilesView<'_> {
    fn mount(&self, fd: &Fd) -> Mount {
        match self.files.scratch.contains(&fd.rep()) {
            true => Mount::Scratch,
            false => Mount::Workspace,
        }
    }

    /// Refuses a change under `fd` that the phase or the scratch budget doesn't allow. `bytes`: how much may be added.
    fn may_change(&self, fd: &Fd, bytes: u64) -> FsResult<()> {
        match self.mount(fd) {
            Mount::Workspace => self.files.workspace_writable.pass()?,
            Mount::Scratch => self.files.scratch_budget.spend(bytes)?,
        }
        Ok(())
    }

    /// Enters a new descriptor, which lies under the same directory as the one that it was opened from.
    fn register(&mut self, fd: Fd, mount: Mount) -> Fd {
        self.files.open += 1;
        if mount == Mount::Scratch {
            self.files.scratch.insert(fd.rep());
        }
        fd
    }

    fn check_stream(
        &mut self,
        fd: &Fd,
        stream: Resource<DynOutputStream>,
    ) -> FsResult<Resource<DynOutputStream>> {
        let check = match self.mount(fd) {
            Mount::Workspace => Check::Workspace(self.files.workspace_writable.clone()),
            Mount::Scratch => Check::Scratch(self.files.scratch_budget.clone()),
        };
        let inner = self.inner.table.delete(stream)?;
        let checked: DynOutputStream = Box::new(CheckedStream { inner, check });
        Ok(self.inner.table.push(checked)?)
    }

    /// Opening a pipe or a device could block this thread for good, or reach beyond the workspace.
    async fn refuse_special_file(&mut self, fd: &Fd, flags: PathFlags, path: &str) -> FsResult<()> {
        let fd = Resource::new_borrow(fd.rep());
        match Inner::stat_at(&mut self.inner, fd, flags, path.to_owned()).await {
            Ok(stat) => match stat.type_ {
                DescriptorType::RegularFile
                | DescriptorType::Directory
                | DescriptorType::SymbolicLink => Ok(()),
                _ => Err(ErrorCode::Unsupported.into()),
            },
            // What isn't there, or can't be reached, is for the open itself to say.
            Err(_) => Ok(()),
        }
    }
}

/// Whether opening with these flags could change something.
fn opens_for_change(open: OpenFlags, flags: DescriptorFlags) -> bool {
    open.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE | OpenFlags::EXCLUSIVE)
        || flags.contains(DescriptorFlags::WRITE)
}

impl preopens::Host for FilesView<'_> {
    /// The workspace comes first, since some languages take the first directory as the current one, and again as `/`, against which
    /// others resolve relative paths.
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Fd, String)>> {
        let roots = self.files.roots.clone();
        let mut directories = Vec::with_capacity(3);
        let mut add = |name: &str, mount, dir: io::Result<Dir>| -> wasmtime::Result<()> {
            let fd = self.inner.table.push(Descriptor::Dir(dir?))?;
            directories.push((self.register(fd, mount), name.to_owned()));
            Ok(())
        };
        if let Some(workspace) = &roots.workspace {
            add("/workspace", Mount::Workspace, workspace.open())?;
        }
        add("/scratch", Mount::Scratch, roots.scratch.open())?;
        if let Some(workspace) = &roots.workspace {
            add("/", Mount::Workspace, workspace.open())?;
        }
        Ok(directories)
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

/// What changes something.
impl FilesView<'_> {
    async fn open(
        &mut self,
        fd: Fd,
        path_flags: PathFlags,
        path: String,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Fd> {
        if self.files.open >= self.files.max_open {
            return Err(ErrorCode::Quota.into());
        }
        let mount = self.mount(&fd);
        if opens_for_change(open, flags) {
            let entry = if open.contains(OpenFlags::CREATE) {
                ENTRY_BYTES
            } else {
                0
            };
            self.may_change(&fd, entry)?;
        }
        // Only a file that is made by this very call is known to be no special one.
        let is_new = open.contains(OpenFlags::CREATE | OpenFlags::EXCLUSIVE);
        if mount == Mount::Workspace && !is_new {
            self.refuse_special_file(&fd, path_flags, &path).await?;
        }
        let opened = Inner::open_at(&mut self.inner, fd, path_flags, path, open, flags).await?;
        Ok(self.register(opened, mount))
    }

    async fn rename(&mut self, fd: Fd, path: String, new_fd: Fd, new_path: String) -> FsResult<()> {
        self.may_change(&fd, 0)?;
        self.may_change(&new_fd, 0)?;
        // A file that moved would keep the rules of where its open descriptors came from.
        if self.mount(&fd) != self.mount(&new_fd) {
            return Err(ErrorCode::CrossDevice.into());
        }
        Inner::rename_at(&mut self.inner, fd, path, new_fd, new_path).await
    }
}

impl Inner for FilesView<'_> {
    async fn open_at(
        &mut self,
        fd: Fd,
        path_flags: PathFlags,
        path: String,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Fd> {
        self.open(fd, path_flags, path, open, flags).await
    }

    fn write_via_stream(&mut self, fd: Fd, offset: u64) -> FsResult<Resource<DynOutputStream>> {
        self.may_change(&fd, 0)?;
        let same = Resource::new_borrow(fd.rep());
        let stream = Inner::write_via_stream(&mut self.inner, fd, offset)?;
        self.check_stream(&same, stream)
    }

    fn append_via_stream(&mut self, fd: Fd) -> FsResult<Resource<DynOutputStream>> {
        self.may_change(&fd, 0)?;
        let same = Resource::new_borrow(fd.rep());
        let stream = Inner::append_via_stream(&mut self.inner, fd)?;
        self.check_stream(&same, stream)
    }

    async fn set_size(&mut self, fd: Fd, size: u64) -> FsResult<()> {
        self.may_change(&fd, size)?;
        Inner::set_size(&mut self.inner, fd, size).await
    }

    async fn set_times(
        &mut self,
        fd: Fd,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.may_change(&fd, 0)?;
        Inner::set_times(&mut self.inner, fd, accessed, modified).await
    }

    async fn write(&mut self, fd: Fd, buffer: Vec<u8>, offset: u64) -> FsResult<u64> {
        self.may_change(&fd, buffer.len() as u64)?;
        Inner::write(&mut self.inner, fd, buffer, offset).await
    }

    async fn create_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.may_change(&fd, ENTRY_BYTES)?;
        Inner::create_directory_at(&mut self.inner, fd, path).await
    }

    async fn set_times_at(
        &mut self,
        fd: Fd,
        path_flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.may_change(&fd, 0)?;
        Inner::set_times_at(&mut self.inner, fd, path_flags, path, accessed, modified).await
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
        self.may_change(&fd, 0)?;
        self.may_change(&new_fd, 0)?;
        Err(ErrorCode::Unsupported.into())
    }

    async fn remove_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.may_change(&fd, 0)?;
        Inner::remove_directory_at(&mut self.inner, fd, path).await
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
        self.may_change(&fd, ENTRY_BYTES)?;
        Inner::symlink_at(&mut self.inner, fd, target, path).await
    }

    async fn unlink_file_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.may_change(&fd, 0)?;
        Inner::unlink_file_at(&mut self.inner, fd, path).await
    }

    // What only reads.

    fn read_via_stream(&mut self, fd: Fd, offset: u64) -> FsResult<Resource<DynInputStream>> {
        Inner::read_via_stream(&mut self.inner, fd, offset)
    }

    async fn advise(&mut self, fd: Fd, offset: u64, len: u64, advice: Advice) -> FsResult<()> {
        Inner::advise(&mut self.inner, fd, offset, len, advice).await
    }

    async fn sync_data(&mut self, fd: Fd) -> FsResult<()> {
        Inner::sync_data(&mut self.inner, fd).await
    }

    async fn sync(&mut self, fd: Fd) -> FsResult<()> {
        Inner::sync(&mut self.inner, fd).await
    }

    async fn get_flags(&mut self, fd: Fd) -> FsResult<DescriptorFlags> {
        Inner::get_flags(&mut self.inner, fd).await
    }

    async fn get_type(&mut self, fd: Fd) -> FsResult<DescriptorType> {
        Inner::get_type(&mut self.inner, fd).await
    }

    async fn read(&mut self, fd: Fd, len: u64, offset: u64) -> FsResult<(Vec<u8>, bool)> {
        Inner::read(&mut self.inner, fd, len, offset).await
    }

    async fn read_directory(&mut self, fd: Fd) -> FsResult<Resource<ReaddirIterator>> {
        if self.files.listings >= MAX_LISTINGS {
            return Err(ErrorCode::Quota.into());
        }
        let listing = Inner::read_directory(&mut self.inner, fd).await?;
        self.files.listings += 1;
        Ok(listing)
    }

    async fn stat(&mut self, fd: Fd) -> FsResult<DescriptorStat> {
        Inner::stat(&mut self.inner, fd).await
    }

    async fn stat_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
    ) -> FsResult<DescriptorStat> {
        Inner::stat_at(&mut self.inner, fd, flags, path).await
    }

    async fn readlink_at(&mut self, fd: Fd, path: String) -> FsResult<String> {
        Inner::readlink_at(&mut self.inner, fd, path).await
    }

    async fn is_same_object(&mut self, one: Fd, other: Fd) -> wasmtime::Result<bool> {
        Inner::is_same_object(&mut self.inner, one, other).await
    }

    async fn metadata_hash(&mut self, fd: Fd) -> FsResult<MetadataHashValue> {
        Inner::metadata_hash(&mut self.inner, fd).await
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        Inner::metadata_hash_at(&mut self.inner, fd, flags, path).await
    }

    fn drop(&mut self, fd: Fd) -> wasmtime::Result<()> {
        self.files.open = self.files.open.saturating_sub(1);
        // The index may be given to a descriptor of the workspace next.
        self.files.scratch.remove(&fd.rep());
        Inner::drop(&mut self.inner, fd)
    }
}

impl InnerListing for FilesView<'_> {
    async fn read_directory_entry(
        &mut self,
        listing: Resource<ReaddirIterator>,
    ) -> FsResult<Option<DirectoryEntry>> {
        InnerListing::read_directory_entry(&mut self.inner, listing).await
    }

    fn drop(&mut self, listing: Resource<ReaddirIterator>) -> wasmtime::Result<()> {
        self.files.listings = self.files.listings.saturating_sub(1);
        InnerListing::drop(&mut self.inner, listing)
    }
}
