//! The records of a store.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::{ActionBasis, PluginBytes, StoreError};
use crate::call_record::CallRecord;
use crate::digest::Digest;
use crate::effects::{EffectsRecord, PackedEffects};
use crate::pending::{ActionId, SessionId};

/// The records of actions, for their reviews and resolutions.
#[async_trait]
pub trait Records: fmt::Debug + Send + Sync + 'static {
    /// Returns the plugin that pushed actions that are still open, if the store keeps plugins.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn plugin(&self, _digest: Digest) -> Result<Option<PluginBytes>, StoreError> {
        Ok(None)
    }

    /// Returns the record of the call that pushed the action. It is kept while the action is open,
    /// and by a durable store for some time after. Listings don't read it.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store or the record can't be read.
    async fn call_record(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<CallRecord>, StoreError>;

    /// Stores the effects that the host saw of an open action, replacing earlier ones. They are
    /// kept as long as the record of its call. Does nothing if the action isn't open.
    ///
    /// # Errors
    /// [`StoreError::SessionFull`] if the session's open actions would exceed `capacity_bytes`, and
    /// [`StoreError::StoreFull`] if the store would be full. The earlier effects stay then.
    async fn keep_effects(
        &self,
        session: &SessionId,
        action: &ActionId,
        effects: &PackedEffects,
        capacity_bytes: u64,
    ) -> Result<(), StoreError>;

    /// Returns the effects that were [stored](Records::keep_effects) with an action.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store or the record can't be read.
    async fn effects(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<EffectsRecord>, StoreError>;

    /// Returns the bases of several actions, in order: of the first at least, and of as many more
    /// as are worth reading together ([`BASES_BYTES`]). Call it again for the rest. A missing
    /// action has an empty basis.
    ///
    /// # Errors
    /// The errors of [`call_record`](Records::call_record) and
    /// [`effects`](Records::effects).
    ///
    /// [`BASES_BYTES`]: super::BASES_BYTES
    async fn bases(
        &self,
        session: &SessionId,
        actions: &[ActionId],
    ) -> Result<Vec<ActionBasis>, StoreError> {
        let Some(first) = actions.first() else {
            return Ok(Vec::new());
        };
        let call = self.call_record(session, first).await?;
        let read = Arc::new(call.map(|call| call.read).unwrap_or_default());
        let effects = self.effects(session, first).await?;
        Ok(vec![ActionBasis::new(read, effects)])
    }

    /// Returns the state that an open action was pushed with; `None` for a volatile one. It neither
    /// needs nor takes a claim.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn guest_state(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Option<Vec<u8>>, StoreError>;
}
