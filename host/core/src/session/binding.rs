//! What can be bound to a session, and under which policy.

use airlock_model::digest::Digest;
use airlock_model::policy::Policy;

use crate::plugin::Plugin;
use crate::producer::Origin;
use crate::producer::native::NativeProducer;

/// A plugin or a native producer, and the policy under which a session has it: what
/// [`Session::bind`](super::Session::bind) and [`SessionBuilder::bind`](super::SessionBuilder::bind)
/// take.
///
/// A reference to either becomes one under the default policy; [`Plugin::under`] and
/// [`NativeProducer::under`] make one under another.
#[derive(Debug, Clone)]
#[must_use]
pub struct Binding {
    pub(super) origin: Origin,
    pub(super) policy: Policy,
}

impl From<&Plugin> for Binding {
    fn from(plugin: &Plugin) -> Self {
        plugin.under(Policy::default())
    }
}

impl From<&NativeProducer> for Binding {
    fn from(native: &NativeProducer) -> Self {
        native.under(Policy::default())
    }
}

impl Plugin {
    /// This plugin, to be bound under a policy of its own.
    pub fn under(&self, policy: Policy) -> Binding {
        Binding {
            origin: Origin::Plugin(self.clone()),
            policy,
        }
    }
}

impl NativeProducer {
    /// This producer, to be bound under a policy of its own.
    pub fn under(&self, policy: Policy) -> Binding {
        Binding {
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
