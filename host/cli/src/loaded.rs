//! What has the tools that a command line is about: a plugin, or a part of the host.

#[cfg(feature = "ast-edit")]
use airlock_host::native::NativeProducer;
use airlock_host::{Plugin, RejectedTool, SessionBuilder, ToolDefinition};

pub enum Loaded {
    Plugin(Plugin),
    #[cfg(feature = "ast-edit")]
    Native(NativeProducer),
}

impl Loaded {
    /// The plugin, where it is one.
    pub fn into_plugin(self) -> Option<Plugin> {
        match self {
            Loaded::Plugin(plugin) => Some(plugin),
            #[cfg(feature = "ast-edit")]
            Loaded::Native(_) => None,
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Loaded::Plugin(plugin) => plugin.name(),
            #[cfg(feature = "ast-edit")]
            Loaded::Native(native) => native.name(),
        }
    }

    pub fn tools(&self) -> Vec<&ToolDefinition> {
        match self {
            Loaded::Plugin(plugin) => plugin.tools().collect(),
            #[cfg(feature = "ast-edit")]
            Loaded::Native(native) => native.tools().collect(),
        }
    }

    /// The tools that can't be used.
    pub fn rejected(&self) -> &[RejectedTool] {
        match self {
            Loaded::Plugin(plugin) => plugin.rejected(),
            #[cfg(feature = "ast-edit")]
            Loaded::Native(_) => &[],
        }
    }

    pub fn bind_to(&self, session: SessionBuilder) -> SessionBuilder {
        match self {
            Loaded::Plugin(plugin) => session.plugin(plugin),
            #[cfg(feature = "ast-edit")]
            Loaded::Native(native) => session.producer(native),
        }
    }
}
