//! Stores on PostgreSQL.

use std::sync::Arc;

use airlock_host::DurableStore;

use crate::failure::Failure;

#[cfg(feature = "postgres")]
pub async fn connect(address: &str) -> Result<Arc<dyn DurableStore>, Failure> {
    let store = airlock_store_postgres::PostgresStore::builder(address)
        .connect()
        .await?;
    Ok(Arc::new(store))
}

#[cfg(not(feature = "postgres"))]
pub async fn connect(_address: &str) -> Result<Arc<dyn DurableStore>, Failure> {
    let message = "this airlock was built without stores on PostgreSQL (its feature `postgres`)";
    Err(Failure::usage(message).with_hint("name a file with `--store PATH`"))
}
