//! The process that compiles one component for a host and exits.

use std::io;

use airlock_worker::{Host, serve_if_asked_for};
use wasmtime::Engine;

use super::protocol::{Answer, COMPILER, CompileRequest};
use crate::runtime::{code_compatibility, code_config};

/// Makes this process a compiler if it was started as one. Otherwise returns immediately.
///
/// A program that names itself in [`EngineBuilder::compiler`](crate::EngineBuilder::compiler) must
/// call this first in its `main`, before it starts a thread or opens a file.
pub fn compiler_main() {
    serve_if_asked_for(&COMPILER, serve);
}

fn serve(mut host: Host) -> io::Result<()> {
    let Some(request) = host.receive()? else {
        return Ok(());
    };
    let request = CompileRequest::from_bytes(&request).ok_or(io::ErrorKind::InvalidData)?;
    host.send(&compile(request).parts())
}

fn compile(request: CompileRequest<'_>) -> Answer {
    let engine = match Engine::new(&code_config()) {
        Ok(engine) => engine,
        Err(error) => return failure(&error),
    };
    if code_compatibility(&engine).to_le_bytes() != request.compatibility {
        return Answer::OtherEngine;
    }
    match engine.precompile_component(request.component) {
        Ok(code) => Answer::Code(code),
        Err(error) => failure(&error),
    }
}

fn failure(error: &wasmtime::Error) -> Answer {
    let out_of_memory = error.chain().any(|cause| {
        let system = cause.downcast_ref::<io::Error>();
        cause.is::<wasmtime::OutOfMemory>()
            || system.is_some_and(|error| error.kind() == io::ErrorKind::OutOfMemory)
    });
    if out_of_memory {
        Answer::OutOfMemory
    } else {
        Answer::Refused(super::causes(error))
    }
}
