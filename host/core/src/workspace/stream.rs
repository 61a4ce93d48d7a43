//! Output streams that ask again at every write.
//!
//! A guest may keep a stream open after its apply has ended. Without this wrapper a write to it in a later preview would
//! reach the file.

use std::fmt;

use bytes::Bytes;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::{DynOutputStream, OutputStream, Pollable, StreamError, StreamResult};

use super::{Budget, Gate};

/// What a write to the stream must pass.
pub(super) enum Check {
    Workspace(Gate),
    Scratch(Budget),
}

impl Check {
    fn pass(&self, bytes: usize) -> StreamResult<()> {
        let passed = match self {
            Check::Workspace(gate) => gate.pass(),
            Check::Scratch(budget) => budget.spend(bytes as u64),
        };
        passed.map_err(|code| StreamError::LastOperationFailed(Refused(code).into()))
    }
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
        self.check.pass(bytes.len())?;
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.inner.flush()
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        self.check.pass(0)?;
        self.inner.check_write()
    }

    async fn blocking_write_and_flush(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.check.pass(bytes.len())?;
        self.inner.blocking_write_and_flush(bytes).await
    }

    fn write_zeroes(&mut self, count: usize) -> StreamResult<()> {
        self.check.pass(count)?;
        self.inner.write_zeroes(count)
    }

    async fn write_ready(&mut self) -> StreamResult<usize> {
        self.check.pass(0)?;
        self.inner.write_ready().await
    }

    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}
