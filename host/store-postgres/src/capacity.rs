//! The size limit of the store.

use std::sync::PoisonError;
use std::time::Duration;

use airlock_model::store::{DEFAULT_BYTE_LIMIT, StoreError};
use tokio::time::Instant;

use super::PostgresStoreInner;
use super::connections::Statement;
use super::record::get;
use super::schema::same_schema;

/// The time for which a host relies on its last count, plus its own pushes. Counting with each push
/// would make all pushes wait for each other.
const BELIEVED: Duration = Duration::from_secs(10);

/// The value that means no limit.
const NO_LIMIT: &str = "none";

/// The size of open actions according to the rows of the sessions, which is an upper bound, plus
/// the size of the plugins.
const SUM: &str = concat!(
    "SELECT (
        SELECT coalesce(sum(bytes), 0)::bigint FROM airlock.sessions
    ) + (
        SELECT coalesce(sum(octet_length(bytes)), 0)::bigint FROM airlock.plugins
    ) AS held, (SELECT value FROM airlock.meta WHERE name = 'byte_limit') AS byte_limit WHERE ",
    same_schema!()
);

/// The exact size in bytes.
const COUNT: &str = concat!(
    "SELECT (
        SELECT coalesce(sum(bytes), 0)::bigint FROM airlock.actions WHERE open
    ) + (
        SELECT coalesce(sum(octet_length(bytes)), 0)::bigint FROM airlock.plugins
    ) AS held, (SELECT value FROM airlock.meta WHERE name = 'byte_limit') AS byte_limit WHERE ",
    same_schema!()
);

const LIMIT: &str = "byte_limit";

/// A host's estimate of the store's size.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UsageEstimate {
    limit: Option<u64>,
    held: u64,
    counted: Option<Instant>,
}

impl UsageEstimate {
    /// Returns the free space in bytes.
    fn free_bytes(&self) -> u64 {
        match self.limit {
            Some(limit) => limit.saturating_sub(self.held),
            None => u64::MAX,
        }
    }

    fn fits(&self, pushed: u64) -> bool {
        pushed <= self.free_bytes()
    }
}

impl PostgresStoreInner {
    /// Returns the free space in bytes. Recent pushes of other hosts are not included, so all
    /// hosts together may exceed the limit by a few seconds' worth of pushes.
    ///
    /// # Errors
    /// [`StoreError::StoreFull`] if there is no room for the pushed bytes.
    pub async fn check_store_room(&self, pushed: u64) -> Result<u64, StoreError> {
        let mut usage = self.usage();
        let is_fresh = usage.counted.is_some_and(|at| at.elapsed() < BELIEVED);
        if !is_fresh || !usage.fits(pushed) {
            usage = self.count(SUM).await?;
        }
        if !usage.fits(pushed) {
            usage = self.count(COUNT).await?;
        }
        match usage.limit {
            Some(limit) if !usage.fits(pushed) => Err(StoreError::StoreFull {
                store: self.location.clone(),
                limit,
                held: usage.held,
                pushed,
            }),
            _ => Ok(usage.free_bytes()),
        }
    }

    pub fn note_pushed(&self, pushed: u64) {
        let mut usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        usage.held = usage.held.saturating_add(pushed);
    }

    fn usage(&self) -> UsageEstimate {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn count(&self, sql: &'static str) -> Result<UsageEstimate, StoreError> {
        let read = |row: &_| Ok((get::<i64>(row, "held")?, get(row, "byte_limit")?));
        let counted = self.first(&Statement::new(sql), read).await?;
        let (held, limit): (_, Option<String>) = counted.unwrap_or_default();
        let usage = UsageEstimate {
            limit: self.limit_of(limit.as_deref())?,
            held: held.unsigned_abs(),
            counted: Some(Instant::now()),
        };
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner) = usage;
        Ok(usage)
    }

    pub async fn byte_limit(&self) -> Result<Option<u64>, StoreError> {
        self.limit_of(self.meta(LIMIT).await?.as_deref())
    }

    pub async fn set_byte_limit(&self, limit: Option<u64>) -> Result<(), StoreError> {
        let limit = limit.map_or(NO_LIMIT.to_owned(), |bytes| bytes.to_string());
        self.set_meta(LIMIT, Some(limit)).await?;
        // The estimate is based on the old limit.
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner) = UsageEstimate::default();
        Ok(())
    }

    fn limit_of(&self, value: Option<&str>) -> Result<Option<u64>, StoreError> {
        match value {
            None => Ok(Some(DEFAULT_BYTE_LIMIT)),
            Some(NO_LIMIT) => Ok(None),
            Some(number) => self.number_of("limit", number).map(Some),
        }
    }
}
