//! Sessions whose store is on a PostgreSQL server: a fleet of hosts that are killed, and what
//! earlier versions left.

mod fleet;
mod versions;

use std::time::{Duration, Instant};

use airlock_store_postgres::PostgresStore;

/// How long a test waits for what must come.
const DEADLINE: Duration = Duration::from_secs(20);

async fn connect_with_lease(url: &str, lease_time: Duration) -> PostgresStore {
    let builder = PostgresStore::builder(url).lease_time(lease_time);
    builder.connect().await.expect("the store connects")
}

/// Asks again and again, for a while.
async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !holds().await {
        assert!(Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
