//! Load errors of plugins.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use airlock_model::error::Error;
use airlock_model::limits::LimitKind;
use airlock_model::tool::RejectedTool;

use crate::world::WORLD_VERSION;

/// An error of loading a plugin. Each displays as one sentence that begins with the plugin.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file can't be read.
    #[error("can't read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// The component is larger than
    /// [`EngineBuilder::plugin_bytes`](crate::EngineBuilder::plugin_bytes).
    #[error("{plugin} is {size} bytes; the limit is {limit}")]
    TooLarge {
        /// The plugin's name.
        plugin: String,
        /// Its size in bytes.
        size: u64,
        /// The largest size that is allowed.
        limit: usize,
    },
    /// The bytes are not a component: other data, a core module, or damaged.
    #[error("{plugin} is not a WebAssembly component: {reason}")]
    NotAComponent {
        /// The file's path, or the plugin's name.
        plugin: String,
        /// The actual kind of the bytes, or the location of the damage.
        reason: String,
    },
    /// The component is more complex than [`CompileLimits`](crate::compile::CompileLimits) allow.
    /// None of it was compiled.
    #[error("{plugin} is too complex to be compiled: {reason}")]
    TooComplex {
        /// The plugin's name.
        plugin: String,
        /// The part that exceeds a limit, and the limit.
        reason: String,
    },
    /// Compiling took longer than [`CompileLimits::time`](crate::compile::CompileLimits::time).
    #[error("{plugin} was not compiled within the limit of {} s", .limit.as_secs_f64())]
    CompileTime {
        /// The plugin's name.
        plugin: String,
        /// The limit.
        limit: Duration,
    },
    /// Compiling needed more than [`CompileLimits::memory`](crate::compile::CompileLimits::memory).
    #[error("{plugin} can't be compiled within the limit of {limit} bytes of memory")]
    CompileMemory {
        /// The plugin's name.
        plugin: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// The compiler process or thread could not be started.
    #[error("{plugin} could not be compiled: can't start {compiler}: {source}")]
    NoCompiler {
        /// The plugin's name.
        plugin: String,
        /// The program that [`EngineBuilder::compiler`](crate::EngineBuilder::compiler) names.
        compiler: String,
        /// The system's error.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// The compiler process ended without an answer.
    #[error("{plugin} could not be compiled: the compiler failed: {reason}")]
    CompilerFailed {
        /// The plugin's name.
        plugin: String,
        /// The end of the process, as far as is known.
        reason: String,
    },
    /// Every compiler thread is busy, and none finished within
    /// [`CompileLimits::time`](crate::compile::CompileLimits::time). This can't happen with a
    /// compiler process.
    #[error(
        "{plugin} could not be compiled: the limit of concurrent compilations ({at_once}) is reached, and none of them finished in time"
    )]
    CompilerBusy {
        /// The plugin's name.
        plugin: String,
        /// The limit of concurrent compilations.
        at_once: usize,
    },
    /// The component doesn't implement the world, or was built for another version of it.
    #[error("{plugin} doesn't fit the world `airlock:tool/custom-tool@{WORLD_VERSION}`: {reason}")]
    World {
        /// The plugin's name.
        plugin: String,
        /// The item that doesn't match, with the version on either side.
        reason: String,
    },
    /// The component could not be asked for its tools.
    #[error("{plugin} could not be asked for its tools: {source}")]
    Definitions {
        /// The plugin's name.
        plugin: String,
        /// The error of the call.
        #[source]
        source: Arc<Error>,
    },
    /// The component has no usable tool.
    #[error("{plugin} has no tool that can be used{}", Reasons(.rejected))]
    NoTools {
        /// The plugin's name.
        plugin: String,
        /// The tools that it defines.
        rejected: Vec<RejectedTool>,
    },
}

impl LoadError {
    /// Returns a short name for programs, in kebab case.
    pub fn kind(&self) -> &'static str {
        match self {
            LoadError::Read { .. } => "plugin-unreadable",
            LoadError::TooLarge { .. } => "plugin-too-large",
            LoadError::NotAComponent { .. } => "not-a-component",
            LoadError::TooComplex { .. } => "too-complex",
            LoadError::CompileTime { .. } => "compile-time",
            LoadError::CompileMemory { .. } => "compile-memory",
            LoadError::NoCompiler { .. } => "no-compiler",
            LoadError::CompilerFailed { .. } => "compiler-failed",
            LoadError::CompilerBusy { .. } => "compiler-busy",
            LoadError::World { .. } => "world-mismatch",
            LoadError::Definitions { .. } => "no-definitions",
            LoadError::NoTools { .. } => "no-tools",
        }
    }

    /// Returns whether a retry on this engine would soon fail the same way, as far as is known, so
    /// that none is needed. Returns false if the machine or its load may have contributed.
    pub(crate) fn is_the_components(&self) -> bool {
        match self {
            LoadError::NotAComponent { .. }
            | LoadError::TooComplex { .. }
            | LoadError::CompileTime { .. }
            | LoadError::CompileMemory { .. }
            | LoadError::World { .. }
            | LoadError::NoTools { .. } => true,
            LoadError::Definitions { source, .. } => match &**source {
                Error::Trap { .. } => true,
                Error::Limit { kind, .. } => {
                    !matches!(kind, LimitKind::CallTime | LimitKind::LiveInstances)
                }
                _ => false,
            },
            LoadError::CompilerFailed { .. }
            | LoadError::Read { .. }
            | LoadError::TooLarge { .. }
            | LoadError::NoCompiler { .. }
            | LoadError::CompilerBusy { .. } => false,
        }
    }

    /// Returns this error for a plugin with the same bytes and this name.
    pub(crate) fn of_plugin(mut self, name: &str) -> Self {
        match &mut self {
            LoadError::Read { .. } => {}
            LoadError::TooLarge { plugin, .. }
            | LoadError::NotAComponent { plugin, .. }
            | LoadError::TooComplex { plugin, .. }
            | LoadError::CompileTime { plugin, .. }
            | LoadError::CompileMemory { plugin, .. }
            | LoadError::NoCompiler { plugin, .. }
            | LoadError::CompilerFailed { plugin, .. }
            | LoadError::CompilerBusy { plugin, .. }
            | LoadError::World { plugin, .. }
            | LoadError::Definitions { plugin, .. }
            | LoadError::NoTools { plugin, .. } => name.clone_into(plugin),
        }
        self
    }
}

struct Reasons<'a>(&'a [RejectedTool]);

impl fmt::Display for Reasons<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, tool) in self.0.iter().take(3).enumerate() {
            let separator = if index == 0 { ": " } else { "; " };
            write!(f, "{separator}{tool}")?;
        }
        match self.0.len().saturating_sub(3) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}
