//! Loaded plugins and native producers.

use airlock_host::native::NativeProducer;
use airlock_host::policy::ProducerWithPolicy;
use airlock_host::tool::{RejectedTool, ToolDefinition};
use airlock_host::{Plugin, Policy, SessionBuilder};

/// A loaded plugin or native producer. Cheap to clone.
#[derive(Debug, Clone)]
pub enum Loaded {
    /// A component that was compiled and checked.
    Plugin(Plugin),
    /// A native producer, which is code of the host.
    Native(NativeProducer),
}

impl Loaded {
    /// Returns the plugin, if it is one.
    pub fn into_plugin(self) -> Option<Plugin> {
        match self {
            Loaded::Plugin(plugin) => Some(plugin),
            Loaded::Native(_) => None,
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        match self {
            Loaded::Plugin(plugin) => plugin.name(),
            Loaded::Native(native) => native.name(),
        }
    }

    /// Returns the tools that can be used.
    pub fn tools(&self) -> Vec<&ToolDefinition> {
        match self {
            Loaded::Plugin(plugin) => plugin.tools().collect(),
            Loaded::Native(native) => native.tools().collect(),
        }
    }

    /// Returns the tools that can't be used.
    pub fn rejected(&self) -> &[RejectedTool] {
        match self {
            Loaded::Plugin(plugin) => plugin.rejected(),
            Loaded::Native(_) => &[],
        }
    }

    /// Returns the producer under a policy, to be bound to a session.
    pub fn under(&self, policy: Policy) -> ProducerWithPolicy {
        match self {
            Loaded::Plugin(plugin) => plugin.under(policy),
            Loaded::Native(native) => native.under(policy),
        }
    }

    /// Binds it to a session, under a policy.
    pub fn bind_to(&self, session: SessionBuilder, policy: Policy) -> SessionBuilder {
        session.bind(self.under(policy))
    }
}
