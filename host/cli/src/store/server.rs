//! Stores on PostgreSQL.
//!
//! `any()` is never true: it goes away from here, and from `tests/cli/weather.rs`, when the library has `PostgresStore`.

use std::sync::Arc;

use airlock_host::DurableStore;

use crate::failure::Failure;

#[cfg(all(feature = "postgres", any()))]
pub async fn connect(address: &str) -> Result<Arc<dyn DurableStore>, Failure> {
    let store = airlock_host::PostgresStore::builder(address)
        .connect()
        .await?;
    Ok(Arc::new(store))
}

#[cfg(not(all(feature = "postgres", any())))]
pub async fn connect(_address: &str) -> Result<Arc<dyn DurableStore>, Failure> {
    let message = "this airlock was built without stores on PostgreSQL (its feature `postgres`)";
    Err(Failure::usage(message).with_hint("name a file with `--store PATH`"))
}
