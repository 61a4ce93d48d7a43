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
        self.with(|sessions| {
            let open = &mut sessions.get_mut(session)?.open;
            let found = open.iter_mut().find(|open| open.action.id == *action)?;
            found.deny(denial);
            Some(())
        });
        Ok(())
    }

    async fn denials(
        &self,
        session: &SessionId,
        action: &ActionId,
    ) -> Result<Vec<DenialRecord>, StoreError> {
        let denials = self.with(|sessions| {
            let mut open = sessions.get(session)?.open.iter();
            let found = open.find(|open| open.action.id == *action)?;
            Some(found.denials.iter().cloned().collect())
        });
        Ok(denials.unwrap_or_default())
    }
}
