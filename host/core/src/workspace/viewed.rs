//! Open files and directories of the workspace, through a view that shows a guest the changes of
//! its own apply.

use std::io;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use airlock_workspace::{Directory, Kind, Metadata, OpenFile, OpenOptions, Opened};
use bytes::Bytes;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, DescriptorStat, DescriptorType, ErrorCode, MetadataHashValue, NewTimestamp,
    OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

use super::open::code;
use super::stream::Refused;
use super::{Gate, OpenHandle};

/// Maximum bytes per read or write, as for wasmtime's own files.
pub(super) const CHUNK_BYTES: usize = 64 * 1024;

/// Placeholder in the resource table for an open file or directory of the workspace. The host's own
/// descriptor types can't be made from it.
pub(super) struct InWorkspace;

/// The open file or directory behind a descriptor.
#[derive(Clone)]
pub(super) enum Viewed {
    File(Arc<ViewedFile>),
    /// A directory, with the flags that it reports.
    Directory(Arc<Directory>, DescriptorFlags),
}

pub(super) struct ViewedFile {
    pub file: OpenFile,
    /// The flags that it was opened with.
    pub flags: DescriptorFlags,
}

impl ViewedFile {
    /// Returns the file if it was opened for writing.
    pub fn to_write(&self) -> Result<&OpenFile, ErrorCode> {
        self.opened_for(DescriptorFlags::WRITE)
    }

    /// Returns the file if it was opened for reading.
    pub fn to_read(&self) -> Result<&OpenFile, ErrorCode> {
        self.opened_for(DescriptorFlags::READ)
    }

    fn opened_for(&self, flag: DescriptorFlags) -> Result<&OpenFile, ErrorCode> {
        if self.flags.contains(flag) {
            Ok(&self.file)
        } else {
            Err(ErrorCode::BadDescriptor)
        }
    }
}

impl Viewed {
    /// Returns the workspace itself. Same flags as in wasmtime: entries below are open for reading,
    /// and the gate decides whether they can be changed.
    pub fn root(directory: Directory) -> Self {
        let flags = DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY;
        Viewed::Directory(Arc::new(directory), flags)
    }

    pub fn file(&self) -> Result<&Arc<ViewedFile>, ErrorCode> {
        match self {
            Viewed::File(file) => Ok(file),
            Viewed::Directory(..) => Err(ErrorCode::BadDescriptor),
        }
    }

    pub fn directory(&self) -> Result<&Arc<Directory>, ErrorCode> {
        match self {
            Viewed::Directory(directory, _) => Ok(directory),
            Viewed::File(_) => Err(ErrorCode::NotDirectory),
        }
    }

    pub fn metadata(&self) -> Result<Metadata, ErrorCode> {
        match self {
            Viewed::File(file) => file.file.metadata(),
            Viewed::Directory(directory, _) => directory.metadata(),
        }
        .map_err(code)
    }

    pub fn kind(&self) -> DescriptorType {
        match self {
            Viewed::File(_) => DescriptorType::RegularFile,
            Viewed::Directory(..) => DescriptorType::Directory,
        }
    }

    pub fn flags(&self) -> DescriptorFlags {
        match self {
            Viewed::File(file) => file.flags,
            Viewed::Directory(_, flags) => *flags,
        }
    }

    pub fn is_same_object(&self, other: &Self) -> bool {
        match (self, other) {
            (Viewed::File(one), Viewed::File(other)) => one.file.is_same_object(&other.file),
            (Viewed::Directory(one, _), Viewed::Directory(other, _)) => one.is_same_object(other),
            _ => false,
        }
    }

    pub fn set_times(
        &self,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> Result<(), ErrorCode> {
        let (accessed, modified) = (time(accessed)?, time(modified)?);
        match self {
            Viewed::File(file) => file.file.set_times(accessed, modified),
            Viewed::Directory(directory, _) => {
                directory.set_times_at(".", false, accessed, modified)
            }
        }
        .map_err(code)
    }
}

/// Implements `open-at` below a directory of the workspace.
pub(super) fn open(
    directory: &Directory,
    path_flags: PathFlags,
    path: &str,
    open: OpenFlags,
    flags: DescriptorFlags,
) -> Result<Viewed, ErrorCode> {
    let unsupported = DescriptorFlags::FILE_INTEGRITY_SYNC
        | DescriptorFlags::DATA_INTEGRITY_SYNC
        | DescriptorFlags::REQUESTED_WRITE_SYNC;
    if flags.intersects(unsupported) {
        return Err(ErrorCode::Unsupported);
    }
    let options = OpenOptions {
        write: flags.contains(DescriptorFlags::WRITE),
        create: open.contains(OpenFlags::CREATE),
        exclusive: open.contains(OpenFlags::EXCLUSIVE),
        truncate: open.contains(OpenFlags::TRUNCATE),
        directory: open.contains(OpenFlags::DIRECTORY),
        follow: path_flags.contains(PathFlags::SYMLINK_FOLLOW),
    };
    Ok(match directory.open(path, options).map_err(code)? {
        Opened::Directory(directory) => {
            Viewed::Directory(Arc::new(directory), DescriptorFlags::READ)
        }
        Opened::File(file) => {
            let mut opened_for = DescriptorFlags::empty();
            if options.write || options.create || options.truncate {
                opened_for |= DescriptorFlags::WRITE;
            }
            // A descriptor without any access can still be queried.
            if flags.contains(DescriptorFlags::READ) || !flags.contains(DescriptorFlags::WRITE) {
                opened_for |= DescriptorFlags::READ;
            }
            Viewed::File(Arc::new(ViewedFile {
                file,
                flags: opened_for,
            }))
        }
    })
}

pub(super) fn kind(kind: Kind) -> DescriptorType {
    match kind {
        Kind::File => DescriptorType::RegularFile,
        Kind::Directory => DescriptorType::Directory,
        Kind::Link => DescriptorType::SymbolicLink,
        Kind::Special => DescriptorType::Unknown,
    }
}

pub(super) fn stat(metadata: &Metadata) -> DescriptorStat {
    DescriptorStat {
        type_: kind(metadata.kind),
        link_count: metadata.links,
        size: metadata.size,
        data_access_timestamp: datetime(metadata.accessed),
        data_modification_timestamp: datetime(metadata.modified),
        status_change_timestamp: datetime(metadata.changed),
    }
}

/// Hashes an identity, as in [`Metadata::identity`].
pub(super) fn hash(identity: [u8; 16]) -> MetadataHashValue {
    let [lower, upper] = [0, 8].map(|at| {
        let bytes = identity[at..at + 8].try_into();
        u64::from_le_bytes(bytes.expect("a slice of eight bytes"))
    });
    MetadataHashValue { lower, upper }
}

/// Returns `None` for times before 1970, which the guest's type can't express.
fn datetime(time: SystemTime) -> Option<Datetime> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    Some(Datetime {
        seconds: since.as_secs(),
        nanoseconds: since.subsec_nanos(),
    })
}

pub(super) fn time(time: NewTimestamp) -> Result<Option<SystemTime>, ErrorCode> {
    Ok(match time {
        NewTimestamp::NoChange => None,
        NewTimestamp::Now => Some(SystemTime::now()),
        NewTimestamp::Timestamp(Datetime {
            seconds,
            nanoseconds,
        }) => {
            let since = std::time::Duration::from_secs(seconds)
                .checked_add(std::time::Duration::from_nanos(nanoseconds.into()));
            let time = since.and_then(|since| UNIX_EPOCH.checked_add(since));
            Some(time.ok_or(ErrorCode::Overflow)?)
        }
    })
}

/// Reads from a file of the workspace.
pub(super) struct ReadStream {
    pub file: Arc<ViewedFile>,
    pub position: u64,
    /// A stream that has reached the end stays there, even if the file grows.
    pub closed: bool,
    /// Counts the file as open.
    pub _handle: Arc<OpenHandle>,
}

#[async_trait]
impl Pollable for ReadStream {
    async fn ready(&mut self) {}
}

#[async_trait]
impl InputStream for ReadStream {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if self.closed {
            return Err(StreamError::Closed);
        }
        if size == 0 {
            return Ok(Bytes::new());
        }
        let mut buffer = vec![0; size.min(CHUNK_BYTES)];
        let read = match self.file.to_read() {
            Ok(file) => file.read_at(&mut buffer, self.position).map_err(failed),
            Err(code) => Err(refused(code)),
        };
        self.closed = !matches!(read, Ok(1..));
        let read = read?;
        if self.closed {
            return Err(StreamError::Closed);
        }
        self.position += read as u64;
        buffer.truncate(read);
        Ok(buffer.into())
    }
}

/// Writes to a file of the workspace, if it is writable at that moment.
pub(super) struct WriteStream {
    pub file: Arc<ViewedFile>,
    /// `None` for the file's end.
    pub position: Option<u64>,
    pub gate: Gate,
    /// True after a failure.
    pub closed: bool,
    pub _handle: Arc<OpenHandle>,
}

impl WriteStream {
    /// Refuses writes that the phase doesn't allow. The stream can continue in another phase.
    fn pass(&self) -> StreamResult<()> {
        self.gate.pass().map_err(refused)?;
        if self.closed {
            Err(StreamError::Closed)
        } else {
            Ok(())
        }
    }

    fn put(&mut self, bytes: &[u8]) -> StreamResult<()> {
        let file = self.file.to_write().map_err(refused)?;
        match &mut self.position {
            Some(position) => {
                file.write_at(bytes, *position).map_err(failed)?;
                *position += bytes.len() as u64;
            }
            None => drop(file.append(bytes).map_err(failed)?),
        }
        Ok(())
    }
}

#[async_trait]
impl Pollable for WriteStream {
    async fn ready(&mut self) {}
}

#[async_trait]
impl OutputStream for WriteStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.pass()?;
        let put = self.put(&bytes);
        self.closed = put.is_err();
        put
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        self.pass()?;
        Ok(CHUNK_BYTES)
    }
}

fn failed(error: io::Error) -> StreamError {
    refused(code(error))
}

fn refused(code: ErrorCode) -> StreamError {
    StreamError::LastOperationFailed(Refused(code).into())
}
