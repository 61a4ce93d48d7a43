//! Limits on the complexity of a component and on the cost of compiling it.

use std::time::Duration;

use airlock_model::limit_setters;

/// Limits on compiling a component. Each default is more than twice what the largest components
/// built with Airlock's SDKs need (those in Python contain all of CPython).
///
/// The counts are read from the component's bytes before compilation, over all modules and
/// components inside it. They only keep excessively complex components from the compiler, whose
/// time and memory can grow with the square of a function's size. The effective bounds are `time`
/// and `memory`, if [`EngineBuilder::compiler`](crate::EngineBuilder::compiler) names a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompileLimits {
    /// The wall-clock time limit for compiling a component. Default: 120 s.
    pub time: Duration,
    /// The memory limit of the process that compiles a component, in bytes. Default: 2 GiB. Without
    /// such a process, memory is not bounded.
    pub memory: u64,
    /// The maximum size of compiled code from that process, in bytes. Default: 256 MiB.
    pub output_bytes: u64,
    /// The maximum number of concurrent compilations; others wait. Default: 4.
    pub at_once: usize,
    /// The maximum size of a function, in bytes. Default: 1,000,000.
    pub function_bytes: u64,
    /// The maximum number of local variables of a function, without its parameters. Default: 1,000.
    pub locals: u64,
    /// The maximum number of functions. Default: 200,000.
    pub functions: u64,
    /// The maximum size of all functions together, in bytes. Default: 64 MiB.
    pub code_bytes: u64,
    /// The maximum nesting depth of components. Default: 16.
    pub depth: u64,
    /// The maximum number of core modules and components. Default: 256.
    pub modules: u64,
    /// The maximum number of core instances and instances of components. Default: 1,000.
    pub instances: u64,
    /// The maximum number of types. Default: 50,000.
    pub types: u64,
    /// The maximum number of imports, aliases and canonical functions, which connect the modules of
    /// a component. Default: 100,000.
    pub imports: u64,
    /// The maximum number of exports. Default: 100,000.
    pub exports: u64,
    /// The maximum number of tables and memories. Default: 256.
    pub tables: u64,
    /// The maximum number of globals and tags. Default: 100,000.
    pub globals: u64,
    /// The maximum number of segments of data and of table elements. Default: 250,000, because a
    /// linker makes one for each run of bytes between zeros; Go's makes up to 100,000.
    pub segments: u64,
}

impl Default for CompileLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(120),
            memory: 2 << 30,
            output_bytes: 256 << 20,
            at_once: 4,
            function_bytes: 1_000_000,
            locals: 1000,
            functions: 200_000,
            code_bytes: 64 << 20,
            depth: 16,
            modules: 256,
            instances: 1000,
            types: 50_000,
            imports: 100_000,
            exports: 100_000,
            tables: 256,
            globals: 100_000,
            segments: 250_000,
        }
    }
}

impl CompileLimits {
    limit_setters! {
        with_time time: Duration;
        with_memory memory: u64;
        with_output_bytes output_bytes: u64;
        with_at_once at_once: usize;
        with_function_bytes function_bytes: u64;
        with_locals locals: u64;
        with_functions functions: u64;
        with_code_bytes code_bytes: u64;
        with_depth depth: u64;
        with_modules modules: u64;
        with_instances instances: u64;
        with_types types: u64;
        with_imports imports: u64;
        with_exports exports: u64;
        with_tables tables: u64;
        with_globals globals: u64;
        with_segments segments: u64;
    }
}

impl CompileLimits {
    /// Returns limits that allow everything, for callers that only count.
    pub(super) fn nothing_is_too_much() -> Self {
        Self {
            time: Duration::MAX,
            memory: u64::MAX,
            output_bytes: u64::MAX,
            at_once: usize::MAX,
            function_bytes: u64::MAX,
            locals: u64::MAX,
            functions: u64::MAX,
            code_bytes: u64::MAX,
            depth: u64::MAX,
            modules: u64::MAX,
            instances: u64::MAX,
            types: u64::MAX,
            imports: u64::MAX,
            exports: u64::MAX,
            tables: u64::MAX,
            globals: u64::MAX,
            segments: u64::MAX,
        }
    }
}
