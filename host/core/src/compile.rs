//! Compilation of components: its cost, and its cache.
//!
//! The time and memory of a compiler can grow with the square of its input, and nothing interrupts
//! it. So the host first refuses excessively complex components by their outline. It compiles the
//! rest in a process that can be killed, if the embedder names a program for it. Otherwise it
//! compiles on a thread, and a load stops waiting for it at the time limit.

mod asynchronous;
mod busy;
mod cache;
#[cfg(unix)]
mod child;
#[allow(
    unsafe_code,
    reason = "compiled code runs as it is, whatever it does: who loads it has to know where it is from"
)]
mod code;
mod complexity;
mod entry;
mod failed;
mod frozen;
mod limits;
pub(crate) mod outline;
mod own_sections;
#[cfg(unix)]
mod protocol;
mod remembered;
#[cfg(unix)]
mod serve;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use airlock_model::store::PluginBytes;
use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use wasmtime::component::Component;

use crate::load_error::LoadError;

pub(crate) use busy::unless_busy;
pub use cache::CompileCache;
pub use complexity::Complexity;
pub(crate) use entry::{Facts, Key};
pub use limits::CompileLimits;
#[cfg(unix)]
pub use serve::compiler_main;

use code::Code;
use failed::Failed;
use outline::{Outline, Unreadable};
use remembered::RememberedLoads;

/// The version of wasmtime that this library was built with.
pub const WASMTIME_VERSION: &str = wasmtime_environ::VERSION;

/// The version of Cranelift, wasmtime's compiler, that this library was built with. A build in a
/// git repository may add the repository's commit after `-`.
pub const CRANELIFT_VERSION: &str = cranelift_codegen::VERSION;

/// The compiler of one engine.
pub(crate) struct Compiler {
    program: Option<PathBuf>,
    limits: CompileLimits,
    slots: Arc<Semaphore>,
    pub(crate) failed: Failed,
    pub(crate) loads: RememberedLoads,
}

/// The reason why there is no compiled code.
#[derive(Debug)]
enum Failure {
    /// The bytes are not a component.
    Refused(String),
    Time,
    /// Only a process has a limit.
    #[cfg_attr(not(unix), allow(dead_code))]
    Memory,
    /// The process or the thread could not be started.
    NotStarted(io::Error),
    /// The process ended without an answer.
    Crashed(String),
    /// Every thread is busy with an abandoned compilation.
    Busy,
}

impl Compiler {
    pub fn new(program: Option<PathBuf>, limits: CompileLimits, kept_loads: usize) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(limits.at_once.max(1))),
            program,
            limits,
            failed: Failed::default(),
            loads: RememberedLoads::new(kept_loads),
        }
    }

    /// Reads the outline of the component without compiling it.
    pub(crate) fn read(&self, source: &PluginBytes) -> Result<Outline, LoadError> {
        let plugin = source.name.to_string();
        outline::read(&source.bytes, &self.limits).map_err(|unreadable| match unreadable {
            Unreadable::Malformed(reason) => LoadError::NotAComponent { plugin, reason },
            Unreadable::TooComplex(reason) => LoadError::TooComplex { plugin, reason },
        })
    }

    /// Returns the component, ready to be linked, and its compiled code.
    pub(crate) async fn compile(
        &self,
        engine: &wasmtime::Engine,
        source: &PluginBytes,
    ) -> Result<(Component, Bytes), LoadError> {
        let failed = |failure| self.explain(failure, source);
        let permit = self.permit().await.map_err(failed)?;
        // Another load may have tried the same component in the meantime.
        if let Some(error) = self.failed.get(&source.digest) {
            return Err(error);
        }
        let component = source.bytes.clone();
        let code = match &self.program {
            #[cfg(unix)]
            Some(program) => {
                let job = child::Job {
                    program: program.clone(),
                    component,
                    compatibility: crate::runtime::code_compatibility(engine),
                    limits: self.limits.clone(),
                };
                let work = move |is_given_up: &dyn Fn() -> bool| job.run(is_given_up);
                self.on_a_thread(permit, work).await
            }
            _ => {
                let engine = engine.clone();
                let work = move |_: &dyn Fn() -> bool| {
                    let code = engine.precompile_component(&component);
                    code.map_err(|error| Failure::Refused(causes(&error)))
                };
                self.on_a_thread(permit, work).await
            }
        };
        let code = Bytes::from(code.map_err(failed)?);
        let component = elsewhere({
            let (engine, code) = (engine.clone(), code.clone());
            move || Code::from_compiler(&code).load(&engine)
        });
        let component = component.await;
        // For example, it may have more tables than the engine's pool allows.
        let component = component.map_err(|error| failed(Failure::Refused(causes(&error))))?;
        Ok((component, code))
    }

    /// Waits for the right to compile. A process ends within its time limit, so waiting for one is
    /// bounded; a thread may run longer.
    async fn permit(&self) -> Result<OwnedSemaphorePermit, Failure> {
        let permit = Arc::clone(&self.slots).acquire_owned();
        let permit = match self.program {
            Some(_) => permit.await,
            None => tokio::time::timeout(self.limits.time, permit)
                .await
                .map_err(|_| Failure::Busy)?,
        };
        match permit {
            Ok(permit) => Ok(permit),
            // The semaphore is never closed, and it lives as long as `self`.
            Err(_) => unreachable!("the semaphore was closed"),
        }
    }

    /// Compiles on a thread, which keeps the permit until it ends. The work can query whether the
    /// caller has stopped waiting, because the time is up or because this future was dropped.
    async fn on_a_thread(
        &self,
        permit: OwnedSemaphorePermit,
        work: impl FnOnce(&dyn Fn() -> bool) -> Result<Vec<u8>, Failure> + Send + 'static,
    ) -> Result<Vec<u8>, Failure> {
        let (done, result) = oneshot::channel();
        let started = thread::Builder::new()
            .name("airlock-compile".to_owned())
            .spawn(move || {
                let code = work(&|| done.is_closed());
                drop(permit);
                let _ = done.send(code);
            });
        started.map_err(Failure::NotStarted)?;
        match tokio::time::timeout(self.limits.time, result).await {
            Ok(Ok(code)) => code,
            Ok(Err(_)) => Err(Failure::Crashed("it panicked".to_owned())),
            Err(_) => Err(Failure::Time),
        }
    }

    fn explain(&self, failure: Failure, source: &PluginBytes) -> LoadError {
        let plugin = source.name.to_string();
        match failure {
            Failure::Refused(reason) => LoadError::NotAComponent { plugin, reason },
            Failure::Time => LoadError::CompileTime {
                plugin,
                limit: self.limits.time,
            },
            Failure::Memory => LoadError::CompileMemory {
                plugin,
                limit: self.limits.memory,
            },
            Failure::NotStarted(source) => LoadError::NoCompiler {
                plugin,
                compiler: match &self.program {
                    Some(program) => program.display().to_string(),
                    None => "a thread".to_owned(),
                },
                source: Arc::new(source),
            },
            Failure::Crashed(reason) => LoadError::CompilerFailed { plugin, reason },
            Failure::Busy => LoadError::CompilerBusy {
                plugin,
                at_once: self.limits.at_once.max(1),
            },
        }
    }
}

fn causes(error: &wasmtime::Error) -> String {
    let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    causes.join(": ")
}

/// Runs slow work on a blocking thread, so that it doesn't stall this one.
pub(crate) async fn elsewhere<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}
