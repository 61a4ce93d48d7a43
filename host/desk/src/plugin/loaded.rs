//! What was loaded: a plugin, or a native producer.

use airlock_host::native::NativeProducer;
use airlock_host::policy::ProducerWithPolicy;
use airlock_host::tool::{RejectedTool, ToolDefinition};
use airlock_host::{Plugin, Policy, SessionBuilder};

/// A loaded plugin, or a native producer. Cheap to clone.
#[derive(Debug, Clone)]
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

    /// What binds it to a session, under a policy.
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
