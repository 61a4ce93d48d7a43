//! The limit on what the store may hold.

use std::sync::PoisonError;
use std::time::Duration;

use airlock_model::store::{BackendErrorKind, DEFAULT_BYTE_LIMIT, StoreError};
use tokio::time::Instant;

use super::PostgresStoreInner;
use super::connections::Statement;
use super::record::get;
use super::schema::same_schema;

/// How long a host relies on its last count, plus what it pushes itself. Counting with each push
/// would make each wait for all others.
const BELIEVED: Duration = Duration::from_secs(10);

/// What stands in place of a number where there is no limit.
const NO_LIMIT: &str = "none";

/// What is open, as the rows of the sessions have it, which is no less than there is; and the
/// plugins.
const SUM: &str = concat!(
    "SELECT (
        SELECT coalesce(sum(bytes), 0)::bigint FROM airlock.sessions
    ) + (
        SELECT coalesce(sum(octet_length(bytes)), 0)::bigint FROM airlock.plugins
    ) AS held, (SELECT value FROM airlock.meta WHERE name = 'byte_limit') AS byte_limit WHERE ",
    same_schema!()
);

/// The same, to the byte.
const COUNT: &str = concat!(
    "SELECT (
        SELECT coalesce(sum(bytes), 0)::bigint FROM airlock.actions WHERE open
    ) + (
        SELECT coalesce(sum(octet_length(bytes)), 0)::bigint FROM airlock.plugins
    ) AS held, (SELECT value FROM airlock.meta WHERE name = 'byte_limit') AS byte_limit WHERE ",
    same_schema!()
);

const LIMIT: &str = concat!(
    "SELECT value AS byte_limit FROM airlock.meta WHERE name = 'byte_limit' AND ",
    same_schema!()
);

const SET_LIMIT: &str = concat!(
    "INSERT INTO airlock.meta (name, value) SELECT 'byte_limit', $1 WHERE ",
    same_schema!(),
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
);

/// A host's estimate of what the store holds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UsageEstimate {
    limit: Option<u64>,
    held: u64,
    counted: Option<Instant>,
}

impl UsageEstimate {
    /// How many bytes fit.
    fn left(&self) -> u64 {
        match self.limit {
            Some(limit) => limit.saturating_sub(self.held),
            None => u64::MAX,
        }
    }

    fn fits(&self, pushed: u64) -> bool {
        pushed <= self.left()
    }
}

impl PostgresStoreInner {
    /// How many bytes there is room for. What other hosts push within seconds is not seen, so
    /// together they may go beyond the limit by that.
    ///
    /// # Errors
    /// [`StoreError::StoreFull`] where there is no room for what is pushed.
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
            _ => Ok(usage.left()),
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
        let rows = self.read(&Statement::new(sql)).await?;
        let mut usage = UsageEstimate {
            counted: Some(Instant::now()),
            ..UsageEstimate::default()
        };
        if let Some(row) = rows.first() {
            let held: i64 = get(row, "held").map_err(|error| self.error(error))?;
            usage.held = held.unsigned_abs();
            let limit: Option<&str> = get(row, "byte_limit").map_err(|error| self.error(error))?;
            usage.limit = self.limit_of(limit)?;
        }
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner) = usage;
        Ok(usage)
    }

    pub async fn byte_limit(&self) -> Result<Option<u64>, StoreError> {
        let rows = self.read(&Statement::new(LIMIT)).await?;
        let limit = rows.first().map(|row| get::<&str>(row, "byte_limit"));
        let limit = limit.transpose().map_err(|error| self.error(error))?;
        self.limit_of(limit)
    }

    pub async fn set_byte_limit(&self, limit: Option<u64>) -> Result<(), StoreError> {
        let limit = limit.map_or(NO_LIMIT.to_owned(), |bytes| bytes.to_string());
        self.read(&Statement::new(SET_LIMIT).bind(limit)).await?;
        // What was counted is no longer compared with the right limit.
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner) = UsageEstimate::default();
        Ok(())
    }

    fn limit_of(&self, value: Option<&str>) -> Result<Option<u64>, StoreError> {
        match value {
            None => Ok(Some(DEFAULT_BYTE_LIMIT)),
            Some(NO_LIMIT) => Ok(None),
            Some(number) => number.parse().map(Some).map_err(|_| {
                StoreError::backend(
                    BackendErrorKind::Damaged,
                    &self.location,
                    format!("can't be read: its limit is {number:?}, not a number; set it again"),
                )
            }),
        }
    }
}
