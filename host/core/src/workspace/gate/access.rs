//! The file or directory behind a descriptor, and the operations allowed on it.

use std::fs::File;
use std::sync::Arc;

use airlock_workspace::Metadata;
use cap_fs_ext::FollowSymlinks;
use cap_primitives::fs::Metadata as ScratchMetadata;
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{Descriptor, OpenMode};
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorStat, ErrorCode, MetadataHashValue, PathFlags,
};
use wasmtime_wasi::p2::{DynOutputStream, FsResult};

use super::Fd;
use crate::workspace::named::Question;
use crate::workspace::open::{code, look};
use crate::workspace::quota::Quota;
use crate::workspace::stream::CheckedStream;
use crate::workspace::viewed::{self, InWorkspace, Viewed, WriteStream};
use crate::workspace::{FilesView, Handle, Mount, OpenHandle};

impl FilesView<'_> {
    /// Returns the open file or directory of the workspace, or `None` for the scratch directory.
    pub(super) fn viewed(&self, fd: &Fd) -> FsResult<Option<Viewed>> {
        let handle = self.files.handles.get(&fd.rep());
        let handle = handle.ok_or(ErrorCode::BadDescriptor)?;
        Ok(handle.viewed.clone())
    }

    pub(super) fn mount(&self, fd: &Fd) -> Mount {
        // Unknown descriptors get the stricter rule.
        match self.files.handles.get(&fd.rep()) {
            Some(Handle { viewed: None, .. }) => Mount::Scratch,
            _ => Mount::Workspace,
        }
    }

    /// Refuses a change under `fd` that the phase doesn't allow.
    pub(super) fn may_change(&self, fd: &Fd) -> FsResult<()> {
        match self.mount(fd) {
            Mount::Workspace => Ok(self.files.workspace_writable.pass()?),
            Mount::Scratch => Ok(()),
        }
    }

    /// Returns the quota for changes under `fd`, if there is one.
    pub(super) fn quota(&self, fd: &Fd) -> Option<Quota> {
        match self.mount(fd) {
            Mount::Workspace => None,
            Mount::Scratch => Some(self.files.scratch_quota.clone()),
        }
    }

    pub(super) fn handle(&self, fd: &Fd) -> FsResult<Arc<OpenHandle>> {
        let handle = self.files.handles.get(&fd.rep());
        let handle = handle.ok_or(ErrorCode::BadDescriptor)?;
        Ok(Arc::clone(&handle.open))
    }

    pub(super) fn directory(&self, fd: &Fd) -> FsResult<Arc<File>> {
        match self.inner.table.get(fd)? {
            Descriptor::Dir(directory) => Ok(Arc::clone(&directory.dir)),
            Descriptor::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }

    /// Registers a new descriptor of the scratch directory.
    pub(super) fn register(&mut self, descriptor: Descriptor, open: OpenHandle) -> FsResult<Fd> {
        let fd = self.inner.table.push(descriptor)?;
        self.files.enter(&fd, None, open);
        Ok(fd)
    }

    /// Registers a new descriptor of the workspace.
    pub(super) fn register_viewed(&mut self, viewed: Viewed, open: OpenHandle) -> FsResult<Fd> {
        let placeholder = self.inner.table.push(InWorkspace)?;
        let fd = Resource::new_own(placeholder.rep());
        self.files.enter(&fd, Some(viewed), open);
        Ok(fd)
    }

    pub(super) fn may_write(&self, fd: &Fd) -> FsResult<()> {
        self.may_change(fd)?;
        match self.inner.table.get(fd)? {
            Descriptor::File(file) if !file.open_mode.contains(OpenMode::WRITE) => {
                Err(ErrorCode::BadDescriptor.into())
            }
            _ => Ok(()),
        }
    }

    /// Returns a stream that writes to a file of the workspace, or `None` for the scratch
    /// directory. `position` as for [`check_stream`](Self::check_stream).
    pub(super) fn write_stream(
        &mut self,
        fd: &Fd,
        position: Option<u64>,
    ) -> FsResult<Option<Resource<DynOutputStream>>> {
        let Some(viewed) = self.viewed(fd)? else {
            return Ok(None);
        };
        self.may_change(fd)?;
        let stream: DynOutputStream = Box::new(WriteStream {
            file: Arc::clone(viewed.file()?),
            position,
            gate: self.files.workspace_writable.clone(),
            closed: false,
            _handle: self.handle(fd)?,
        });
        Ok(Some(self.inner.table.push(stream)?))
    }

    /// `position` is the offset at which the stream begins to write; `None` for the end.
    pub(super) fn check_stream(
        &mut self,
        fd: &Fd,
        stream: Resource<DynOutputStream>,
        position: Option<u64>,
    ) -> FsResult<Resource<DynOutputStream>> {
        let handle = self.handle(fd)?;
        let inner = self.inner.table.delete(stream)?;
        let checked: DynOutputStream = Box::new(CheckedStream {
            inner,
            position,
            handle,
        });
        Ok(self.inner.table.push(checked)?)
    }

    /// Returns the entry of the scratch directory whose name is about to be removed.
    pub(super) fn found_in_scratch(
        &self,
        fd: &Fd,
        path: &str,
    ) -> FsResult<Option<(Quota, ScratchMetadata)>> {
        let Some(quota) = self.quota(fd) else {
            return Ok(None);
        };
        let found = look(&*self.directory(fd)?, path, FollowSymlinks::No);
        Ok(found.map(|found| (quota, found)))
    }

    /// Returns the metadata at a path of the workspace.
    pub(super) fn stat_viewed(
        &mut self,
        fd: &Fd,
        viewed: &Viewed,
        flags: PathFlags,
        path: &str,
    ) -> FsResult<DescriptorStat> {
        let question = question(fd, flags, path);
        let files = &mut *self.files;
        let gate = &files.workspace_writable;
        if let Some(known) = files.last_named.metadata(question, gate) {
            return Ok(viewed::stat(&known));
        }
        let found = look_up(viewed, question)?;
        files.last_named.stat(question, &found, gate);
        Ok(viewed::stat(&found))
    }

    /// Returns the metadata hash at a path of the workspace.
    pub(super) fn hash_viewed(
        &mut self,
        fd: &Fd,
        viewed: &Viewed,
        flags: PathFlags,
        path: &str,
    ) -> FsResult<MetadataHashValue> {
        let question = question(fd, flags, path);
        let files = &mut *self.files;
        let gate = &files.workspace_writable;
        if let Some(known) = files.last_named.identity(question, gate) {
            return Ok(viewed::hash(known));
        }
        let found = look_up(viewed, question)?;
        let hash = viewed::hash(found.identity);
        files.last_named.hashed(question, found, gate);
        Ok(hash)
    }
}

fn look_up(viewed: &Viewed, question: Question<'_>) -> FsResult<Metadata> {
    let directory = viewed.directory()?;
    let found = directory.metadata_at(question.path, question.follow);
    Ok(found.map_err(code)?)
}

fn question<'a>(fd: &Fd, flags: PathFlags, path: &'a str) -> Question<'a> {
    Question {
        fd: fd.rep(),
        path,
        follow: flags.contains(PathFlags::SYMLINK_FOLLOW),
    }
}
