//! The budget use of actions.

use std::time::{Duration, SystemTime};

use airlock_model::pending::ActionId;
use airlock_model::store::{Budget, Budgets, SPENDING_KEPT, Spending, Spent, StoreError};
use async_trait::async_trait;
use rusqlite::{Connection, params};

use super::SqliteStore;
use super::problem::Problem;
use super::rows::millis;

/// An amount to spend, with its account and action.
#[derive(Debug)]
struct Expense {
    account: String,
    action: ActionId,
    spending: Spending,
    budget: Budget,
}

#[async_trait]
impl Budgets for SqliteStore {
    async fn spend(
        &self,
        account: &str,
        action: &ActionId,
        spending: Spending,
        budget: &Budget,
    ) -> Result<Spent, StoreError> {
        let expense = Expense {
            account: account.to_owned(),
            action: action.clone(),
            spending,
            budget: *budget,
        };
        let work = move |connection: &_| spend(connection, &expense, now());
        self.inner.writer.write(work).await
    }

    async fn spent(&self, account: &str, within: Duration) -> Result<Spending, StoreError> {
        let account = account.to_owned();
        self.read(move |connection| spent(connection, &account, within, now()))
            .await
    }
}

/// Returns the milliseconds since 1970. The clock of leases restarts with the machine, but earlier
/// spending still counts.
pub(super) fn now() -> i64 {
    millis(SystemTime::now())
}

/// Records an expense if the budget has room. Call it in a transaction that excludes other
/// writers.
fn spend(connection: &Connection, expense: &Expense, now: i64) -> Result<Spent, Problem> {
    let Expense {
        account,
        action,
        spending,
        budget,
    } = expense;
    forget_old(connection, account, now)?;
    // If the clock was set back, a later expense counts as if it had been recorded just now.
    let update = "UPDATE spendings SET kept_until = ?2 + (kept_until - spent_at), spent_at = ?2
        WHERE account = ?1 AND spent_at > ?2";
    connection
        .prepare_cached(update)?
        .execute(params![account, now])?;
    let already = spent_but_by(connection, account, Some(action), budget.within, now)?;
    if !budget.allows(already, *spending) {
        return Ok(Spent::Exceeded { already });
    }
    let Spending {
        files,
        bytes,
        deletions,
    } = spending.capped();
    let until = now.saturating_add(duration(budget.retention()));
    let insert = "INSERT OR REPLACE INTO spendings
            (account, action, files, bytes, deletions, spent_at, kept_until)
        VALUES (?, ?, ?, ?, ?, ?, ?)";
    connection.prepare_cached(insert)?.execute(params![
        account,
        action.as_str(),
        files,
        bytes,
        deletions,
        now,
        until
    ])?;
    Ok(Spent::Within)
}

fn spent(
    connection: &Connection,
    account: &str,
    within: Duration,
    now: i64,
) -> Result<Spending, Problem> {
    spent_but_by(connection, account, None, within, now)
}

/// Expenses with future times, after the clock was set back, count too.
fn spent_but_by(
    connection: &Connection,
    account: &str,
    but: Option<&ActionId>,
    within: Duration,
    now: i64,
) -> Result<Spending, Problem> {
    // SQLite's own `sum` fails on overflow.
    let select = "SELECT files, bytes, deletions FROM spendings
        WHERE account = ? AND spent_at > ? AND action IS NOT ?";
    let mut statement = connection.prepare_cached(select)?;
    let since = now.saturating_sub(duration(within));
    let but = but.map(ActionId::as_str);
    let mut rows = statement.query(params![account, since, but])?;
    let mut sum = Spending::default();
    while let Some(row) = rows.next()? {
        // Negative values in the file don't create room.
        let number = |index| Ok::<_, Problem>(row.get::<_, i64>(index)?.max(0).unsigned_abs());
        let spending = Spending {
            files: number(0)?,
            bytes: number(1)?,
            deletions: number(2)?,
        };
        sum = sum + spending;
    }
    Ok(sum)
}

/// Deletes expired expenses of an account, which the index finds.
fn forget_old(connection: &Connection, account: &str, now: i64) -> Result<(), Problem> {
    let delete = "DELETE FROM spendings WHERE account = ? AND spent_at <= ? AND kept_until <= ?";
    let day_before = now.saturating_sub(duration(SPENDING_KEPT));
    connection
        .prepare_cached(delete)?
        .execute(params![account, day_before, now])?;
    Ok(())
}

/// Deletes expired expenses of all accounts, including unused ones.
pub(super) fn forget_all_old(connection: &Connection, now: i64) -> Result<(), Problem> {
    connection.execute("DELETE FROM spendings WHERE kept_until <= ?", [now])?;
    Ok(())
}

/// Adds one sentence for each invalid row.
pub(super) fn check(connection: &Connection, problems: &mut Vec<String>) -> Result<(), Problem> {
    let select = "SELECT action FROM spendings
        WHERE min(files, bytes, deletions) < 0 OR kept_until < spent_at LIMIT 100";
    let mut statement = connection.prepare(select)?;
    let actions = statement.query_map([], |row| row.get::<_, String>(0))?;
    for action in actions {
        problems.push(format!(
            "action {} has spent less than nothing of a budget",
            action?
        ));
    }
    Ok(())
}

fn duration(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    const HOUR: i64 = 3_600_000;
    const DAY: i64 = 24 * HOUR;
    /// Some day in 2025.
    const NOW: i64 = 1_760_000_000_000;

    fn store() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        let Ok(()) = schema::migrate(&mut connection) else {
            panic!("an empty file gets its tables");
        };
        connection
    }

    fn files(files: u64) -> Spending {
        Spending {
            files,
            ..Spending::default()
        }
    }

    /// An action spends so many of ten files within an hour.
    fn spend_files(connection: &Connection, action: &str, count: u64, now: i64) -> Spent {
        spend_within(connection, action, count, HOUR, now)
    }

    fn spend_within(
        connection: &Connection,
        action: &str,
        count: u64,
        within: i64,
        now: i64,
    ) -> Spent {
        let expense = Expense {
            account: "one".to_owned(),
            action: ActionId::from(action),
            spending: files(count),
            budget: Budget {
                files: Some(10),
                bytes: None,
                deletions: None,
                within: Duration::from_millis(within.unsigned_abs()),
            },
        };
        spend(connection, &expense, now).unwrap()
    }

    fn count_spendings(connection: &Connection) -> u64 {
        let count = "SELECT count(*) FROM spendings";
        connection.query_row(count, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn what_was_spent_counts_for_its_time_to_the_millisecond() {
        let store = store();
        assert_eq!(spend_files(&store, "a", 6, NOW), Spent::Within);
        let already = files(6);
        let last = spend_files(&store, "b", 5, NOW + HOUR - 1);
        assert_eq!(last, Spent::Exceeded { already });
        assert_eq!(spend_files(&store, "b", 5, NOW + HOUR), Spent::Within);
    }

    #[test]
    fn a_clock_that_was_set_back_makes_a_budget_neither_larger_nor_void() {
        let store = store();
        // It stood in 2055 when this was spent.
        assert_eq!(
            spend_files(&store, "a", 6, NOW + 30 * 365 * DAY),
            Spent::Within
        );
        let already = files(6);
        let within = Duration::from_millis(HOUR.unsigned_abs());
        assert_eq!(spent(&store, "one", within, NOW).unwrap(), already);
        let exceeded = Spent::Exceeded { already };
        assert_eq!(spend_files(&store, "b", 5, NOW), exceeded);
        assert_eq!(spend_files(&store, "b", 5, NOW + HOUR - 1), exceeded);
        assert_eq!(spend_files(&store, "b", 5, NOW + HOUR), Spent::Within);
        // And it isn't kept for thirty years.
        assert_eq!(spend_files(&store, "c", 5, NOW + DAY), Spent::Within);
        assert_eq!(count_spendings(&store), 2);
    }

    #[test]
    fn what_is_older_than_a_day_is_forgotten_and_what_a_budget_counts_for_longer_is_not() {
        let store = store();
        let week = 7 * DAY;
        assert_eq!(spend_within(&store, "week", 6, week, NOW), Spent::Within);
        assert_eq!(spend_files(&store, "hour", 1, NOW + HOUR), Spent::Within);
        assert_eq!(spend_files(&store, "next", 1, NOW + 2 * DAY), Spent::Within);
        assert_eq!(count_spendings(&store), 2);
        let already = files(6);
        let exceeded = spend_within(&store, "late", 5, week, NOW + week - 1);
        assert_eq!(exceeded, Spent::Exceeded { already });
        // Nobody spends any more.
        forget_all_old(&store, NOW + 8 * DAY).unwrap();
        assert_eq!(count_spendings(&store), 0);
    }

    #[test]
    fn no_time_is_too_long_or_too_far_away() {
        let store = store();
        assert_eq!(spend_within(&store, "a", 1, i64::MAX, NOW), Spent::Within);
        let later = NOW + 100_000 * DAY;
        assert_eq!(spend_within(&store, "b", 1, i64::MAX, later), Spent::Within);
        assert_eq!(
            spent(&store, "one", Duration::MAX, later).unwrap(),
            files(2)
        );
        for (action, now) in [("c", i64::MAX), ("d", i64::MIN)] {
            let extreme = spend_within(&store, action, 1, i64::MAX, now);
            assert_eq!(extreme, Spent::Within, "{action}");
        }
    }

    #[test]
    fn a_number_below_zero_makes_no_room_and_is_told() {
        let store = store();
        assert_eq!(spend_files(&store, "a", 6, NOW), Spent::Within);
        store
            .execute("UPDATE spendings SET files = -100", [])
            .unwrap();
        let already = files(0);
        assert_eq!(
            spend_files(&store, "b", 11, NOW),
            Spent::Exceeded { already }
        );
        let mut problems = Vec::new();
        check(&store, &mut problems).unwrap();
        assert_eq!(
            problems,
            ["action a has spent less than nothing of a budget"]
        );
    }

    /// The index, and not the table: an account has a day's rows, and others have theirs.
    #[test]
    fn what_counts_is_found_by_the_index() {
        let store = store();
        let plan = "EXPLAIN QUERY PLAN SELECT files, bytes, deletions FROM spendings
            WHERE account = ? AND spent_at > ? AND action IS NOT ?";
        let mut statement = store.prepare(plan).unwrap();
        let plan: String = statement
            .query_row(["one", "1", "a"], |row| row.get(3))
            .unwrap();
        assert!(
            plan.contains("spendings_of_accounts (account=? AND spent_at>?)"),
            "{plan}"
        );
    }
}
