//! The budget use of actions. One statement records it while holding the account's lock.

use std::time::Duration;

use airlock_model::pending::ActionId;
use airlock_model::store::{Budget, Budgets, Spending, Spent, StoreError};
use async_trait::async_trait;
use sha2::{Digest as _, Sha256};
use sqlx::postgres::PgRow;

use super::connections::Statement;
use super::problem::Failure;
use super::record::{get, micros};
use super::schema::same_schema;
use super::text::escaped;
use super::{PostgresStore, PostgresStoreInner};

/// Safe to repeat after a lost response, because each action counts once.
const SPEND: &str = concat!(
    "SELECT recorded, files, bytes, deletions FROM airlock.spend($1, $2, $3, $4, $5, $6, $7, $8, $9,
        $10 * interval '1 microsecond', $11 * interval '1 microsecond') WHERE ",
    same_schema!()
);

/// Expenses with future times, after the clock was set back, count too.
const SPENT: &str = concat!(
    "SELECT least(coalesce(sum(greatest(files, 0)), 0), 9223372036854775807)::bigint AS files,
        least(coalesce(sum(greatest(bytes, 0)), 0), 9223372036854775807)::bigint AS bytes,
        least(coalesce(sum(greatest(deletions, 0)), 0), 9223372036854775807)::bigint AS deletions
    FROM airlock.spendings
    WHERE account = $1 AND spent_at > clock_timestamp() - $2 * interval '1 microsecond' AND ",
    same_schema!()
);

/// A host that records an expense deletes rows only of the account whose lock it holds. This
/// statement skips the rows of locked accounts.
const FORGET_SPENDINGS: &str = concat!(
    "WITH old AS (
        SELECT account, action FROM airlock.spendings
        WHERE kept_until <= clock_timestamp() AND ",
    same_schema!(),
    " LIMIT $1 FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM airlock.spendings AS s USING old
        WHERE s.account = old.account AND s.action = old.action RETURNING 1
    )
    SELECT count(*) AS gone FROM gone"
);

/// An account that was used since the first look has another turn number, and stays.
const FORGET_ACCOUNTS: &str = concat!(
    "WITH idle AS MATERIALIZED (
        SELECT a.key, a.turns FROM airlock.accounts AS a
        WHERE NOT EXISTS (SELECT FROM airlock.spendings AS s WHERE s.account = a.key) AND ",
    same_schema!(),
    " LIMIT $1
    ), locked AS (
        SELECT a.key FROM airlock.accounts AS a JOIN idle USING (key)
        WHERE a.turns = idle.turns FOR UPDATE OF a SKIP LOCKED
    ), gone AS (
        DELETE FROM airlock.accounts AS a USING locked WHERE a.key = locked.key RETURNING 1
    )
    SELECT count(*) AS gone FROM gone"
);

#[async_trait]
impl Budgets for PostgresStore {
    async fn spend(
        &self,
        account: &str,
        action: &ActionId,
        spending: Spending,
        budget: &Budget,
    ) -> Result<Spent, StoreError> {
        let more = spending.capped();
        let statement = Statement::new(SPEND)
            .bind(account_key(account))
            .bind(escaped(account))
            .bind(escaped(action.as_str()))
            .bind(number(more.files))
            .bind(number(more.bytes))
            .bind(number(more.deletions))
            .bind(limit(budget.files))
            .bind(limit(budget.bytes))
            .bind(limit(budget.deletions))
            .bind(micros(budget.within))
            .bind(micros(budget.retention()));
        let answer = |row: &PgRow| {
            Ok(if get(row, "recorded")? {
                Spent::Within
            } else {
                Spent::Exceeded { already: sum(row)? }
            })
        };
        let answer = self.inner.first(&statement, answer).await?;
        answer.ok_or_else(|| self.inner.error(sqlx::Error::RowNotFound.into()))
    }

    async fn spent(&self, account: &str, within: Duration) -> Result<Spending, StoreError> {
        let statement = Statement::new(SPENT)
            .bind(account_key(account))
            .bind(micros(within));
        let spent = self.inner.first(&statement, sum).await?;
        spent.ok_or_else(|| self.inner.error(sqlx::Error::RowNotFound.into()))
    }
}

impl PostgresStoreInner {
    /// Deletes expired expenses, including those of unused accounts.
    pub async fn forget_spendings(&self) -> Result<(), StoreError> {
        self.in_batches(FORGET_SPENDINGS).await?;
        self.in_batches(FORGET_ACCOUNTS).await
    }
}

fn sum(row: &PgRow) -> Result<Spending, Failure> {
    let number = |column| Ok::<_, Failure>(get::<i64>(row, column)?.max(0).unsigned_abs());
    Ok(Spending {
        files: number("files")?,
        bytes: number("bytes")?,
        deletions: number("deletions")?,
    })
}

fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts a limit. One that no sum can exceed counts as no limit.
fn limit(limit: Option<u64>) -> Option<i64> {
    limit.filter(|it| *it < Spending::MAX).map(number)
}

fn account_key(account: &str) -> [u8; 32] {
    Sha256::digest(account.as_bytes()).into()
}
