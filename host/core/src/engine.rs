//! The machinery that all plugins and sessions of a process share.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use airlock_model::error::{Error, HostError};
use airlock_model::limits::Limits;
use wasmtime::component::Linker;

use crate::budget::{Budget, half_of_the_process};
use crate::compile::{CompileCache, CompileLimits, Compiler};
use crate::instance::State;
use crate::runtime::{LiveInstances, Runtime, guest_memory, instances_by_memory};
use crate::workspace::ScratchRoots;

/// Compiles plugins and runs their instances. Cloning is cheap; clones share everything.
///
/// A process needs one engine. It holds a pool of instance slots, a thread that interrupts long
/// computations, and a linker with the imports that guests can use.
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
    /// Creates an engine with the default settings: without a compile cache and without a
    /// [compiler program](EngineBuilder::compiler).
    ///
    /// # Errors
    /// See [`EngineBuilder::build`].
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// Returns a builder for an engine.
    ///
    /// Without a [compiler program](EngineBuilder::compiler), components are compiled on threads of
    /// this process. Nothing then bounds the memory that this takes, and after a load has failed at
    /// [`CompileLimits::time`], its thread goes on. For components that are not your own, name a
    /// program, which can be this one:
    ///
    /// ```no_run
    /// use airlock_host::{Engine, compile};
    ///
    /// fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     compile::compiler_main(); // Before everything else.
    ///     let program = std::env::current_exe()?;
    ///     let engine = Engine::builder().compiler(program).build()?;
    ///     # let _ = engine;
    ///     Ok(())
    /// }
    /// ```
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// Returns the underlying wasmtime engine. This is the only escape hatch from this crate's own
    /// types.
    ///
    /// Code that you compile or instantiate with it shares the pool and the epoch thread, but has
    /// none of the limits, gates and checks.
    pub fn wasmtime(&self) -> &wasmtime::Engine {
        self.inner.runtime.wasmtime()
    }

    /// Returns the default limits of sessions.
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// Returns the number of live guest instances.
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

/// Number of instances that fits in a few hundred GiB of address space.
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
    /// Sets the limits for loading plugins, and for sessions that don't set their own.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the maximum number of live guest instances. Default: one per 8 MiB of memory that the
    /// machine has, or that the control group grants the process, between 64 and 4,096.
    ///
    /// At the maximum, a new instance replaces the least recently called idle one that holds no
    /// volatile action. If there is none, the call waits up to its [`Limits::call_time`]. Each
    /// instance takes address space, which is enough for a few thousand of them per process.
    pub fn live_instances(mut self, count: u32) -> Self {
        self.live_instances = Some(count.max(1));
        self
    }

    /// Sets how many of the most recently loaded plugins stay in memory after their last handle is
    /// dropped. Loading one of them again only hashes its bytes. Default: 4. Plugins that are still
    /// in use don't need this.
    pub fn kept_loads(mut self, count: usize) -> Self {
        self.kept_loads = count;
        self
    }

    /// Sets the stack size of guests, in bytes. Default: 2 MiB, which is enough for an interpreter
    /// to reach its own limit first.
    pub fn stack_bytes(mut self, bytes: usize) -> Self {
        self.stack_bytes = bytes;
        self
    }

    /// Sets the maximum size of a component, in bytes. Default: 128 MiB.
    pub fn plugin_bytes(mut self, bytes: usize) -> Self {
        self.plugin_bytes = bytes;
        self
    }

    /// Keeps compiled plugins in this cache. Default: none, so each process compiles them again.
    pub fn cache(mut self, cache: CompileCache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Keeps compiled plugins in the current user's own folders, under this program name: see
    /// [`CompileCache::of_user`]. If the cache can't be opened, this logs a warning, and plugins
    /// are compiled without it.
    pub fn user_cache(mut self, program: &str) -> Self {
        match CompileCache::of_user(program) {
            Ok(cache) => self.cache = Some(cache),
            Err(error) => tracing::warn!("there is no compile cache: {error}"),
        }
        self
    }

    /// Compiles in a separate process that runs this program, so that no component can take more of
    /// the host's time and memory than [`CompileLimits`] allow. The program is one of your own,
    /// built with this version of this library: the host itself, by
    /// [`current_exe`](std::env::current_exe), or another executable next to it. It must call
    /// [`compiler_main`](crate::compile::compiler_main) first in its `main`. It gets one argument
    /// and no environment. Its output is executed with the same trust as the host's own code. It is
    /// killed if the load is abandoned.
    ///
    /// Default: none. Components are then compiled on threads, [`CompileLimits::at_once`] of them,
    /// and a load fails if it takes longer than [`CompileLimits::time`]. The thread keeps running
    /// after that, without a bound on memory or processor time, and keeps its place in the limit.
    /// Three such components can bring down a host. Set a program if you load components that are
    /// not your own.
    #[cfg(unix)]
    pub fn compiler(mut self, program: impl Into<PathBuf>) -> Self {
        self.compiler = Some(program.into());
        self
    }

    /// Sets how complex a component may be, and how much compiling it may cost.
    pub fn compile_limits(mut self, limits: CompileLimits) -> Self {
        self.compile_limits = limits;
        self
    }

    /// Sets the directory in which sessions create their scratch directories. Default: the system's
    /// directory for temporary files.
    pub fn scratch_parent(mut self, folder: impl Into<PathBuf>) -> Self {
        self.scratch_parent = folder.into();
        self
    }

    /// Sets how many file descriptors all guests together may have open: for files, directories,
    /// listings and streams. Default: half of the process's limit (`ulimit -n`, read when the
    /// engine is built). The other half is left to the host.
    ///
    /// [Tenants](crate::Tenant) share the descriptors. Beyond a tenant's share, opening fails with
    /// WASI's error code `quota`, as it does above [`Limits::open_files`].
    pub fn guest_descriptors(mut self, count: usize) -> Self {
        self.guest_descriptors = Some(count);
        self
    }

    /// Sets how many bytes of linear memory all guests together may have. Default: three quarters
    /// of the memory that the machine has, or that the control group grants the process.
    ///
    /// [Tenants](crate::Tenant) share the memory. Idle instances give theirs back on demand. If
    /// that is not enough, a new instance waits up to its [`Limits::call_time`], and a running
    /// guest can't grow, as above [`Limits::memory`].
    pub fn guest_memory(mut self, bytes: usize) -> Self {
        self.guest_memory = Some(bytes);
        self
    }

    /// Reserves the pool and starts the epoch thread. Without a [compiler program](Self::compiler),
    /// the time and memory that compiling takes are not bounded: see [`Engine::builder`].
    ///
    /// # Errors
    /// [`Error::Host`] if the machine can't provide the address space or the thread, or if a
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
                // Address space may be short, as under `ulimit -v`.
                runtime(instances).or_else(|_| runtime(instances.min(FEW_INSTANCES)))?
            }
        };
        let linker = crate::instance::linker(runtime.wasmtime())
            .map_err(|error| HostError::Engine(error.into()))?;
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
