//! Denials in the in-memory store.

use async_trait::async_trait;

use super::MemoryStore;
use crate::denial::{Denial, DenialRecord};
use crate::pending::{ActionId, SessionId};
use crate::store::{Denials, StoreError};

#[async_trait]
impl Denials for MemoryStore {
    async fn record_denial(
        &self,
        session: &SessionId,
        action: &ActionId,
        denial: &Denial,
    ) -> Result<(), StoreError> {
        self.of_open(session, action, |open| {
            open.deny(denial);
            Some(())
        });
        Ok(())
    }

    async fn denials(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Vec<DenialRecord>, StoreError> {
        let denials = self.of_open(session, action, |open| {
            Some(open.denials.iter().cloned().collect())
        });
        Ok(denials.unwrap_or_default())
    }
}
