//! Finds the producer that resolves an action: the same bytes that pushed it, with no more grants
//! than at that time.

use airlock_model::error::Error;
use airlock_model::pending::PendingAction;
use airlock_model::policy::Policy;
use airlock_model::store::{BackendErrorKind, StoreError};

use super::Session;
use crate::plugin::Plugin;
use crate::producer::{NativeIdentity, Origin, Producer};

impl Session {
    /// Releases the instance that held a volatile action.
    pub(super) fn release_volatile(&self, action: &PendingAction) {
        if !action.durable
            && let Some(producer) = self.read_bindings(|bindings| bindings.producer(action.plugin))
        {
            producer.release(&action.id);
        }
    }

    /// Returns the producer that resolves the action.
    ///
    /// # Errors
    /// [`Error::InstanceGone`], [`Error::PluginGone`] and [`Error::ProducerGone`] if there is none.
    pub(super) async fn producer_of(&self, action: &PendingAction) -> Result<Producer, Error> {
        let bound = self.read_bindings(|bindings| bindings.producer(action.plugin));
        if !action.durable {
            // Only the producer that pushed it can have its instance.
            return bound.ok_or(Error::InstanceGone);
        }
        let Some(bound) = bound else {
            return match self.narrowed(action, &action.grants) {
                Some(narrowed) => Ok(narrowed),
                // Boxed: this rare path would make the future of every resolution kilobytes larger.
                None => Box::pin(self.producer_from_store(action)).await,
            };
        };
        let grants = bound.policy().narrowed_to(&action.grants);
        if grants == *bound.policy() {
            return Ok(bound);
        }
        match self.narrowed(action, &grants) {
            Some(narrowed) => Ok(narrowed),
            None => self.add_narrowed(&bound.origin(), grants),
        }
    }

    fn narrowed(&self, action: &PendingAction, grants: &Policy) -> Option<Producer> {
        self.read_bindings(|bindings| bindings.narrowed(action.plugin, grants))
    }

    fn add_narrowed(&self, origin: &Origin, grants: Policy) -> Result<Producer, Error> {
        let producer = self.producer(origin, grants)?;
        Ok(self.write_bindings(|bindings| bindings.add_narrowed(producer)))
    }

    pub(super) async fn producer_from_store(
        &self,
        action: &PendingAction,
    ) -> Result<Producer, Error> {
        let kept = self.store()?.plugin(action.plugin).await?;
        let native = match &kept {
            Some(kept) => NativeIdentity::read(&kept.bytes),
            None => NativeIdentity::of(&action.plugin_name, action.plugin),
        };
        if let Some(native) = native {
            return Err(self.without(native));
        }
        let gone = || Error::PluginGone(action.plugin);
        let engine = self.inner.engine.as_ref().ok_or_else(gone)?;
        let kept = kept.ok_or_else(gone)?;
        let plugin = Plugin::from_store(engine, kept)
            .await
            .map_err(|error| Error::host("could not load the plugin that the store kept", error))?;
        if plugin.digest() != action.plugin {
            let problem = format!(
                "is damaged: the plugin that it keeps as {} has the digest {}",
                action.plugin,
                plugin.digest()
            );
            let damaged =
                StoreError::backend(BackendErrorKind::Damaged, "of this session", problem);
            return Err(damaged.into());
        }
        self.add_narrowed(&Origin::Plugin(plugin), action.grants.clone())
    }

    /// Returns the error for a missing native producer, or for one of another version.
    fn without(&self, native: NativeIdentity) -> Error {
        let bound = self.read_bindings(|bindings| bindings.native_version(&native.name));
        Error::ProducerGone {
            name: native.name,
            state_version: native.state_version,
            here: bound,
        }
    }
}
