//! The machinery that all plugins and sessions of a process share.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use airlock_model::error::Error;
use airlock_model::limits::Limits;
use wasmtime::component::Linker;

use crate::budget::{Budget, half_of_the_process};
use crate::compile::{CompileCache, CompileLimits, Compiler};
use crate::instance::State;
use crate::runtime::{LiveInstances, Runtime, guest_memory, instances_by_memory};
use crate::workspace::ScratchRoots;

/// Compiles plugins and runs their instances. Cheap to clone; clones share everything.
///
/// A process needs one. It holds a pool of instance slots, a thread that lets long computations be
/// interrupted, and a linker with what a guest may import.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<EngineInner>,
}

struct EngineInner {
    runtime: Runtime,
    linker: Linker<State>,
    limits: Arc<Limits>,
    plugin_bytes: usize,
    cache: Option<CompileCache>,
    compiler: Compiler,
    scratch_parent: PathBuf,
    scratch_roots: Arc<ScratchRoots>,
}

impl Engine {
    /// An engine with the default settings and without a compile cache.
    ///
    /// # Errors
    /// See [`EngineBuilder::build`].
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// A builder for an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// The wasmtime engine inside: the one way around this crate's own types.
    ///
    /// What is compiled or instantiated with it shares the pool and the epoch thread, but none of
    /// the limits, gates and checks.
    pub fn wasmtime(&self) -> &wasmtime::Engine {
        self.inner.runtime.wasmtime()
    }

    /// The default limits of sessions.
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// The number of live guest instances.
    pub fn live_instances(&self) -> usize {
        self.live().count()
    }

    pub(crate) fn shared_limits(&self) -> &Arc<Limits> {
        &self.inner.limits
    }

    pub(crate) fn live(&self) -> &LiveInstances {
        self.inner.runtime.live()
    }

    pub(crate) fn linker(&self) -> &Linker<State> {
        &self.inner.linker
    }

    pub(crate) fn plugin_bytes(&self) -> usize {
        self.inner.plugin_bytes
    }

    pub(crate) fn compiler(&self) -> &Compiler {
        &self.inner.compiler
    }

    pub(crate) fn cache(&self) -> Option<&CompileCache> {
        self.inner.cache.as_ref()
    }

    pub(crate) fn scratch_parent(&self) -> &Path {
        &self.inner.scratch_parent
    }

    pub(crate) fn descriptors(&self) -> &Arc<Budget> {
        self.inner.runtime.descriptors()
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.inner.runtime
    }

    pub(crate) fn scratch_roots(&self) -> &Arc<ScratchRoots> {
        &self.inner.scratch_roots
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("live_instances", &self.live_instances())
            .finish_non_exhaustive()
    }
}

/// What fits in a few hundred GiB of addresses.
const FEW_INSTANCES: u32 = 32;

/// Builder for an [`Engine`].
#[derive(Debug, Clone)]
#[must_use]
pub struct EngineBuilder {
    limits: Limits,
    live_instances: Option<u32>,
    kept_loads: usize,
    stack_bytes: usize,
    plugin_bytes: usize,
    cache: Option<CompileCache>,
    compiler: Option<PathBuf>,
    compile_limits: CompileLimits,
    scratch_parent: PathBuf,
    guest_descriptors: Option<usize>,
    guest_memory: Option<usize>,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            kept_loads: 4,
            live_instances: None,
            stack_bytes: 2 << 20,
            plugin_bytes: 128 << 20,
            cache: None,
            compiler: None,
            compile_limits: CompileLimits::default(),
            scratch_parent: std::env::temp_dir(),
            guest_descriptors: None,
            guest_memory: None,
        }
    }
}

impl EngineBuilder {
    /// The limits of sessions that set none of their own, and of loading a plugin.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How many guest instances may be alive at one time. Default: one for each 8 MiB of memory
    /// that the machine has, or that the process may have by its control group, between 64 and
    /// 4,096.
    ///
    /// When there are as many, the idle one whose last call is the longest ago, and which has no
    /// volatile action, is dropped for the next; where there is none, a call waits for its
    /// [`Limits::call_time`]. Each takes address space, of which processes have room for some
    /// thousands.
    pub fn live_instances(mut self, count: u32) -> Self {
        self.live_instances = Some(count.max(1));
        self
    }

    /// How many of the plugins that were loaded last stay in memory though nobody has them, so that
    /// loading one of them again costs a hash of its bytes. Default: 4. One that somebody has costs
    /// no more in any case.
    pub fn kept_loads(mut self, count: usize) -> Self {
        self.kept_loads = count;
        self
    }

    /// Bytes of stack that a guest may use. Default: 2 MiB, which is enough for an interpreter to
    /// meet its own bound first.
    pub fn stack_bytes(mut self, bytes: usize) -> Self {
        self.stack_bytes = bytes;
        self
    }

    /// The largest component that is compiled, in bytes. Default: 128 MiB.
    pub fn plugin_bytes(mut self, bytes: usize) -> Self {
        self.plugin_bytes = bytes;
        self
    }

    /// Keeps compiled plugins here. Default: nothing is written, and each process compiles anew.
    pub fn cache(mut self, cache: CompileCache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Keeps compiled plugins in the current user's own folders, as those of a program of this
    /// name: see [`CompileCache::of_user`]. Where that can't be opened, which costs time and
    /// nothing else, there is a warning in the log.
    pub fn user_cache(mut self, program: &str) -> Self {
        match CompileCache::of_user(program) {
            Ok(cache) => self.cache = Some(cache),
            Err(error) => tracing::warn!("there is no compile cache: {error}"),
        }
        self
    }

    /// Compiles in a process that runs this program, so that no component can take more time and
    /// memory of the host than [`CompileLimits`] say. The program is one of the embedder's own,
    /// built with this version of this library, and calls
    /// [`compiler_main`](crate::compile::compiler_main) first in its `main`: the host's itself, by
    /// [`current_exe`](std::env::current_exe), or another beside it. It gets one argument and no
    /// environment, and what it answers is run as the host's own code is. It is killed where the
    /// load is given up.
    ///
    /// Default: none. Then components compile on threads, [`CompileLimits::at_once`] of them, and a
    /// load fails where that takes longer than [`CompileLimits::time`]. That doesn't end the
    /// thread: it compiles on, takes what memory and processor time it wants, and no other
    /// component is compiled in its place. Three such components can bring down a host. So name a
    /// program wherever components are loaded that are not your own.
    #[cfg(unix)]
    pub fn compiler(mut self, program: impl Into<PathBuf>) -> Self {
        self.compiler = Some(program.into());
        self
    }

    /// How complex a component may be, and what compiling it may cost.
    pub fn compile_limits(mut self, limits: CompileLimits) -> Self {
        self.compile_limits = limits;
        self
    }

    /// The directory in which sessions make their scratch directories. Default: the system's, for
    /// temporary files.
    pub fn scratch_parent(mut self, folder: impl Into<PathBuf>) -> Self {
        self.scratch_parent = folder.into();
        self
    }

    /// How many descriptors of the process all guests together may have open: for files,
    /// directories, listings and streams. Default: half of what the process may have (`ulimit -n`,
    /// as it is when the engine is built), so that the other half is the host's own.
    ///
    /// They are shared out between [tenants](crate::Tenant). What a tenant doesn't get is refused
    /// with WASI's error code `quota`, as above [`Limits::open_files`].
    pub fn guest_descriptors(mut self, count: usize) -> Self {
        self.guest_descriptors = Some(count);
        self
    }

    /// How many bytes of linear memory all guests together may have. Default: three quarters of the
    /// memory that the machine has, or that the process may have by its control group.
    ///
    /// They are shared out between [tenants](crate::Tenant). Idle instances give theirs back when
    /// somebody needs it. If that isn't enough, a new instance waits for its [`Limits::call_time`],
    /// and a running guest can't grow, as above [`Limits::memory`].
    pub fn guest_memory(mut self, bytes: usize) -> Self {
        self.guest_memory = Some(bytes);
        self
    }

    /// Reserves the pool and starts the epoch thread.
    ///
    /// # Errors
    /// [`Error::Host`] where the machine doesn't give the address space or the thread, or where a
    /// setting is out of range.
    pub fn build(self) -> Result<Engine, Error> {
        let descriptors = self.guest_descriptors.unwrap_or_else(half_of_the_process);
        let memory = self.guest_memory.unwrap_or_else(guest_memory);
        let runtime = |instances| {
            Runtime::new(
                &self.limits,
                instances,
                self.stack_bytes,
                descriptors,
                memory,
            )
        };
        let runtime = match self.live_instances {
            Some(instances) => runtime(instances)?,
            None => {
                let instances = instances_by_memory();
                // Where address space is short, as under `ulimit -v`.
                runtime(instances).or_else(|_| runtime(instances.min(FEW_INSTANCES)))?
            }
        };
        let linker = crate::instance::linker(runtime.wasmtime())
            .map_err(|error| Error::host("could not start the WebAssembly engine", error))?;
        Ok(Engine {
            inner: Arc::new(EngineInner {
                runtime,
                linker,
                limits: Arc::new(self.limits),
                plugin_bytes: self.plugin_bytes,
                cache: self.cache,
                compiler: Compiler::new(self.compiler, self.compile_limits, self.kept_loads),
                scratch_parent: self.scratch_parent,
                scratch_roots: Arc::default(),
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::{code_compatibility, code_config};

    #[test]
    fn an_engine_that_only_compiles_makes_code_for_all_others() {
        let compiler = wasmtime::Engine::new(&code_config()).unwrap();
        for stack_bytes in [1 << 20, 2 << 20, 8 << 20] {
            let engine = Engine::builder().stack_bytes(stack_bytes).live_instances(3);
            let engine = engine.build().unwrap();
            assert_eq!(
                code_compatibility(engine.wasmtime()),
                code_compatibility(&compiler)
            );
        }
    }
}
