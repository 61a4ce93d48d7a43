//! The denials in a store.

use std::fmt;

use async_trait::async_trait;

use super::StoreError;
use crate::denial::{Denial, DenialRecord};
use crate::pending::{ActionId, SessionId};

/// The denials of actions.
#[async_trait]
pub trait Denials: fmt::Debug + Send + Sync + 'static {
    /// Keeps a denial with an open action, together with the latest earlier ones: [`DENIALS_KEPT`]
    /// of an action, as long as its record. Does nothing if the action isn't open. If the future is
    /// dropped before it returned, the denial may have been kept.
    ///
    /// # Errors
    /// [`StoreError::Backend`] where the store can't be written.
    ///
    /// [`DENIALS_KEPT`]: super::DENIALS_KEPT
    async fn record_denial(
        &self,
        session: &SessionId,
        action: &ActionId,
        denial: &Denial,
    ) -> Result<(), StoreError>;

    /// Returns the denials that were [recorded](Denials::record_denial) for an action, oldest
    /// first. The number of the first shows how many earlier ones are gone.
    ///
    /// # Errors
    /// [`StoreError::Backend`] if the store can't be read.
    async fn denials(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Vec<DenialRecord>, StoreError>;
}
