//! The process that compiles one component for a host, and ends.

use std::io::{self, Read};
use std::process;
use std::thread;

use airlock_worker::serve_if_asked_for;
use wasmtime::Engine;

use super::protocol::{ARGUMENT, Answer, Request};
use crate::runtime::{code_compatibility, code_config};

/// Makes this process a compiler, if that is what it was started for, and otherwise returns at
/// once.
///
/// A program that names itself in [`EngineBuilder::compiler`](crate::EngineBuilder::compiler) calls
/// this first in its `main`: before it starts a thread, and before it opens a file.
pub fn compiler_main() {
    serve_if_asked_for(ARGUMENT, serve);
}

fn serve() -> io::Result<()> {
    let mut stdin = io::stdin().lock();
    let request = Request::read(&mut stdin)?;
    request.bounds.apply()?;
    let mut component = Vec::new();
    stdin
        .by_ref()
        .take(request.component)
        .read_to_end(&mut component)?;
    drop(stdin);
    if component.len() as u64 != request.component {
        return Err(io::Error::other("the host stopped asking"));
    }
    end_with_the_host()?;
    compile(&request, &component).write(io::stdout().lock())
}

fn compile(request: &Request, component: &[u8]) -> Answer {
    let engine = match Engine::new(&code_config()) {
        Ok(engine) => engine,
        Err(error) => return failure(&error),
    };
    if code_compatibility(&engine) != request.compatibility {
        return Answer::OtherEngine;
    }
    match engine.precompile_component(component) {
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
    match out_of_memory {
        true => Answer::OutOfMemory,
        false => Answer::Refused(super::causes(error)),
    }
}

/// The host says no more, so what comes next is the end of its end: it has lost interest, or was
/// killed.
fn end_with_the_host() -> io::Result<()> {
    thread::Builder::new()
        .stack_size(64 << 10)
        .spawn(|| {
            let _ = io::stdin().lock().read(&mut [0]);
            process::exit(1);
        })
        .map(drop)
}
