//! A producer and the policy to bind it under.

use airlock_model::digest::Digest;
use airlock_model::policy::Policy;

use crate::plugin::Plugin;
use crate::producer::Origin;
use crate::producer::native::NativeProducer;

/// A plugin or a native producer, and the policy to bind it under.
/// [`Session::bind`](crate::Session::bind) and
/// [`SessionBuilder::bind`](crate::SessionBuilder::bind) take it.
///
/// A reference to a plugin or producer converts to one under the default policy. [`Plugin::under`]
/// and [`NativeProducer::under`] set another policy.
#[derive(Debug, Clone)]
#[must_use]
pub struct ProducerWithPolicy {
    pub(in crate::session) origin: Origin,
    pub(in crate::session) policy: Policy,
}

impl From<&Plugin> for ProducerWithPolicy {
    fn from(plugin: &Plugin) -> Self {
        plugin.under(Policy::default())
    }
}

impl From<&NativeProducer> for ProducerWithPolicy {
    fn from(native: &NativeProducer) -> Self {
        native.under(Policy::default())
    }
}

impl Plugin {
    /// Returns this plugin, to be bound under the given policy.
    pub fn under(&self, policy: Policy) -> ProducerWithPolicy {
        ProducerWithPolicy {
            origin: Origin::Plugin(self.clone()),
            policy,
        }
    }
}

impl NativeProducer {
    /// Returns this producer, to be bound under the given policy.
    pub fn under(&self, policy: Policy) -> ProducerWithPolicy {
        ProducerWithPolicy {
            origin: Origin::Native(self.clone()),
            policy,
        }
    }
}

impl From<&Plugin> for Digest {
    fn from(plugin: &Plugin) -> Self {
        plugin.digest()
    }
}

impl From<&NativeProducer> for Digest {
    fn from(native: &NativeProducer) -> Self {
        native.digest()
    }
}
