//! What was spent of budgets, by the server's clock.

use std::time::Duration;

use airlock_model::pending::ActionId;
use airlock_model::store::{Budget, Budgets, DurableStore, Spending, Spent};

use crate::{connect, server};

const HOUR: Duration = Duration::from_secs(3600);

fn files(files: u64) -> Spending {
    Spending {
        files,
        ..Spending::default()
    }
}

/// An action spends so many of ten files within an hour.
async fn spend(store: &dyn Budgets, action: &str, count: u64) -> Spent {
    let budget = Budget {
        files: Some(10),
        bytes: None,
        deletions: None,
        within: HOUR,
    };
    let id = ActionId::from(action);
    let spent = store.spend("one", &id, files(count), &budget).await;
    spent.unwrap()
}

/// As if the clock had been changed by that much since.
fn shift(by: &str) -> String {
    format!(
        "UPDATE airlock.spendings SET spent_at = spent_at + interval '{by}', kept_until = kept_until + interval '{by}'"
    )
}

const KEPT_ACTIONS: &str = "SELECT string_agg(action, ' ' ORDER BY action) FROM airlock.spendings";

#[tokio::test]
async fn what_was_spent_counts_for_its_time_and_is_forgotten_after_a_day() {
    let server = server();
    let database = server.database();
    let store = connect(&server.url(&database)).await;
    let exceeded = Spent::Exceeded { already: files(6) };
    assert_eq!(spend(&store, "a", 6).await, Spent::Within);
    server.sql(&database, &shift("-59 minutes"));
    assert_eq!(spend(&store, "b", 5).await, exceeded);
    server.sql(&database, &shift("-1 minute"));
    assert_eq!(spend(&store, "b", 5).await, Spent::Within);
    assert_eq!(store.spent("one", HOUR).await.unwrap(), files(5));
    assert_eq!(store.spent("one", Duration::MAX).await.unwrap(), files(11));
    server.sql(&database, &shift("-23 hours"));
    assert_eq!(spend(&store, "c", 1).await, Spent::Within);
    assert_eq!(server.sql(&database, KEPT_ACTIONS), "b c");
    // Nobody spends any more.
    server.sql(&database, &shift("-2 days"));
    store.prune(HOUR).await.unwrap();
    let left =
        "SELECT (SELECT count(*) FROM airlock.spendings) + (SELECT count(*) FROM airlock.accounts)";
    assert_eq!(server.sql(&database, left), "0");
    assert_eq!(spend(&store, "d", 10).await, Spent::Within);
}

#[tokio::test]
async fn a_clock_that_was_set_back_makes_a_budget_neither_larger_nor_void() {
    let server = server();
    let database = server.database();
    let store = connect(&server.url(&database)).await;
    assert_eq!(spend(&store, "a", 6).await, Spent::Within);
    server.sql(&database, &shift("30 years"));
    let exceeded = Spent::Exceeded { already: files(6) };
    assert_eq!(store.spent("one", HOUR).await.unwrap(), files(6));
    assert_eq!(spend(&store, "b", 5).await, exceeded);
    // From then on it counts for an hour, and is kept for a day.
    server.sql(&database, &shift("-1 hour"));
    assert_eq!(spend(&store, "b", 5).await, Spent::Within);
    server.sql(&database, &shift("-23 hours"));
    assert_eq!(spend(&store, "c", 1).await, Spent::Within);
    assert_eq!(server.sql(&database, KEPT_ACTIONS), "b c");
}

#[tokio::test]
async fn a_number_below_zero_makes_no_room_and_is_told() {
    let server = server();
    let database = server.database();
    let store = connect(&server.url(&database)).await;
    assert_eq!(spend(&store, "a", 6).await, Spent::Within);
    server.sql(&database, "UPDATE airlock.spendings SET files = -100");
    let already = files(0);
    assert_eq!(spend(&store, "b", 11).await, Spent::Exceeded { already });
    assert_eq!(store.spent("one", HOUR).await.unwrap(), already);
    assert_eq!(
        store.check().await.unwrap(),
        ["the action a has spent less than nothing of a budget"]
    );
}
