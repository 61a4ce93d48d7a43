//! Which slot an action is resolved in: that of the very bytes that pushed it, with no more than it was granted then.

use std::sync::Arc;

use super::Session;
use super::slot::Slot;
use crate::error::Error;
use crate::pending::PendingAction;
use crate::plugin::Plugin;
use crate::policy::Policy;
use crate::store::{BackendErrorKind, StoreError};

impl Session {
    /// # Errors
    /// [`Error::InstanceGone`] and [`Error::PluginGone`] where there is none to be had.
    pub(super) async fn slot_for(&self, action: &PendingAction) -> Result<Arc<Slot>, Error> {
        let bound = self.read_bindings(|bindings| bindings.slot(action.plugin));
        if !action.durable {
            // Its instance is where it was pushed, if anywhere.
            return bound.ok_or(Error::InstanceGone);
        }
        let Some(bound) = bound else {
            return match self.aside(action, &action.grants) {
                Some(aside) => Ok(aside),
                None => self.slot_from_store(action).await,
            };
        };
        let grants = bound.policy().narrowed_to(&action.grants);
        if grants == *bound.policy() {
            return Ok(bound);
        }
        match self.aside(action, &grants) {
            Some(aside) => Ok(aside),
            None => self.add_aside(bound.plugin(), grants),
        }
    }

    fn aside(&self, action: &PendingAction, grants: &Policy) -> Option<Arc<Slot>> {
        self.read_bindings(|bindings| bindings.aside(action.plugin, grants))
    }

    fn add_aside(&self, plugin: &Plugin, grants: Policy) -> Result<Arc<Slot>, Error> {
        let slot = self.slot(plugin, grants)?;
        Ok(self.write_bindings(|bindings| bindings.add_aside(slot)))
    }

    async fn slot_from_store(&self, action: &PendingAction) -> Result<Arc<Slot>, Error> {
        let gone = || Error::PluginGone(action.plugin);
        let engine = self.inner.engine.as_ref().ok_or_else(gone)?;
        let kept = self
            .store()?
            .plugin(action.plugin)
            .await?
            .ok_or_else(gone)?;
        let plugin = Plugin::from_bytes(engine, kept.name, kept.bytes)
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
        self.add_aside(&plugin, action.grants.clone())
    }
}
