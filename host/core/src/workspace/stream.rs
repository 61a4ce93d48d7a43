//! Streams of files in the scratch directory. They keep their file counted as open even if the
//! guest has closed it, and count writes.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, InputStream, OutputStream, Pollable, StreamError, StreamResult,
};

use super::OpenHandle;

/// Carried through `wasi:io/error`, so that the guest can query the error code.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refused(pub ErrorCode);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            ErrorCode::ReadOnly => "the workspace is read-only while previewing",
            ErrorCode::Quota => "there is no room left for what is written",
            code => return write!(f, "{code:?}"),
        })
    }
}

impl std::error::Error for Refused {}

pub(super) struct CheckedStream {
    pub inner: DynOutputStream,
    /// Offset of the next write; `None` for the end.
    pub position: Option<u64>,
    pub handle: Arc<OpenHandle>,
}

impl CheckedStream {
    fn pass(&mut self, bytes: usize) -> StreamResult<()> {
        let bytes = bytes as u64;
        let passed = match (self.handle.counted(), &mut self.position) {
            (Some(file), None) if bytes > 0 => file.append(bytes).map(drop),
            (Some(file), Some(position)) if bytes > 0 => {
                *position = position.saturating_add(bytes);
                file.grow(*position).map(drop)
            }
            _ => Ok(()),
        };
        passed.map_err(|code| StreamError::LastOperationFailed(Refused(code).into()))
    }
}

#[async_trait]
impl Pollable for CheckedStream {
    async fn ready(&mut self) {
        self.inner.ready().await;
    }
}

#[async_trait]
impl OutputStream for CheckedStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.pass(bytes.len())?;
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.inner.flush()
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        self.pass(0)?;
        self.inner.check_write()
    }

    async fn blocking_write_and_flush(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.pass(bytes.len())?;
        self.inner.blocking_write_and_flush(bytes).await
    }

    fn write_zeroes(&mut self, count: usize) -> StreamResult<()> {
        self.pass(count)?;
        self.inner.write_zeroes(count)
    }

    async fn write_ready(&mut self) -> StreamResult<usize> {
        self.pass(0)?;
        self.inner.write_ready().await
    }

    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}

pub(super) struct CountedStream {
    pub inner: DynInputStream,
    pub _handle: Arc<OpenHandle>,
}

#[async_trait]
impl Pollable for CountedStream {
    async fn ready(&mut self) {
        self.inner.ready().await;
    }
}

#[async_trait]
impl InputStream for CountedStream {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        self.inner.read(size)
    }

    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        self.inner.blocking_read(size).await
    }

    fn skip(&mut self, count: usize) -> StreamResult<usize> {
        self.inner.skip(count)
    }

    async fn blocking_skip(&mut self, count: usize) -> StreamResult<usize> {
        self.inner.blocking_skip(count).await
    }

    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}
