//! What was loaded: a plugin, or a native producer.

use airlock_host::native::NativeProducer;
use airlock_host::tool::{RejectedTool, ToolDefinition};
use airlock_host::{Plugin, Policy, SessionBuilder};

/// A loaded plugin, or a native producer.
#[derive(Debug)]
pub enum Loaded {
    /// A component that was compiled and checked.
    Plugin(Plugin),
    /// Code of the host.
    Native(NativeProducer),
}

impl Loaded {
    /// The plugin, where it is one.
    pub fn into_plugin(self) -> Option<Plugin> {
        match self {
            Loaded::Plugin(plugin) => Some(plugin),
            Loaded::Native(_) => None,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Loaded::Plugin(plugin) => plugin.name(),
            Loaded::Native(native) => native.name(),
        }
    }

    /// Its tools that can be used.
    pub fn tools(&self) -> Vec<&ToolDefinition> {
        match self {
            Loaded::Plugin(plugin) => plugin.tools().collect(),
            Loaded::Native(native) => native.tools().collect(),
        }
    }

    /// The tools that can't be used.
    pub fn rejected(&self) -> &[RejectedTool] {
        match self {
            Loaded::Plugin(plugin) => plugin.rejected(),
            Loaded::Native(_) => &[],
        }
    }

    /// Binds it to a session, under a policy.
    pub fn bind_to(&self, session: SessionBuilder, policy: Policy) -> SessionBuilder {
        match self {
            Loaded::Plugin(plugin) => session.bind(plugin.under(policy)),
            Loaded::Native(native) => session.bind(native.under(policy)),
        }
    }
}
