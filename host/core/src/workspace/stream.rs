//! Streams of files: they keep their file counted as open, and those that write ask again at every
//! write.
//!
//! A guest may keep a stream open after its apply has ended. Without this wrapper a write to it in
//! a later preview would reach the file. And it may close the file: the stream has it open all the
//! same.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, InputStream, OutputStream, Pollable, StreamError, StreamResult,
};

use super::{Gate, OpenHandle};

/// What a write to the stream must pass.
pub(super) enum Check {
    Workspace(Gate),
    /// The quota, by where the next write begins; at the end where that is none.
    Scratch(Option<u64>),
}

/// Travels through `wasi:io/error`, so that the guest can ask which error code it was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refused(pub ErrorCode);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            ErrorCode::ReadOnly => "the workspace is read-only while previewing",
            _ => "the scratch directory is full",
        })
    }
}

impl std::error::Error for Refused {}

pub(super) struct CheckedStream {
    pub inner: DynOutputStream,
    pub check: Check,
    pub handle: Arc<OpenHandle>,
}

impl CheckedStream {
    fn pass(&mut self, bytes: usize) -> StreamResult<()> {
        let passed = match &mut self.check {
            Check::Workspace(gate) => gate.pass(),
            Check::Scratch(_) if bytes == 0 => Ok(()),
            Check::Scratch(position) => {
                let bytes = bytes as u64;
                match (self.handle.counted(), position) {
                    (None, _) => Ok(()),
                    (Some(file), None) => file.append(bytes).map(drop),
                    (Some(file), Some(position)) => {
                        *position = position.saturating_add(bytes);
                        file.grow(*position).map(drop)
                    }
                }
            }
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
