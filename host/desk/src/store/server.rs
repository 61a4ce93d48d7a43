//! Stores on PostgreSQL.

use std::sync::Arc;

use airlock_host::store::DurableStore;

use crate::Error;

#[cfg(feature = "postgres")]
pub async fn connect(address: &str) -> Result<Arc<dyn DurableStore>, Error> {
    let store = airlock_store_postgres::PostgresStore::builder(address)
        .connect()
        .await?;
    Ok(Arc::new(store))
}

#[cfg(not(feature = "postgres"))]
pub async fn connect(_address: &str) -> Result<Arc<dyn DurableStore>, Error> {
    Err(Error::LeftOut {
        place: "on PostgreSQL",
        feature: "postgres",
    })
}
