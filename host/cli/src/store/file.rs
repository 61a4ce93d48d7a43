//! Stores in files.

use std::path::Path;
use std::sync::Arc;

use airlock_host::DurableStore;

use crate::failure::Failure;

#[cfg(feature = "sqlite")]
mod sqlite {
    use airlock_store_sqlite::SqliteStore;

    use super::*;

    async fn store(path: &Path, make: bool) -> Result<SqliteStore, Failure> {
        Ok(SqliteStore::builder(path).create(make).open().await?)
    }

    pub async fn open(path: &Path, make: bool) -> Result<Arc<dyn DurableStore>, Failure> {
        Ok(Arc::new(store(path, make).await?))
    }

    pub async fn backup(path: &Path, make: bool, to: &Path) -> Result<(), Failure> {
        Ok(store(path, make).await?.backup(to).await?)
    }

    pub async fn restore(backup: &Path, to: &Path) -> Result<(), Failure> {
        Ok(SqliteStore::restore(backup, to).await?)
    }
}

#[cfg(not(feature = "sqlite"))]
mod sqlite {
    use super::*;

    fn left_out<T>() -> Result<T, Failure> {
        let message = "this airlock was built without stores in files (its feature `sqlite`)";
        Err(Failure::usage(message).with_hint("name a server with `--store postgres://…`"))
    }

    pub async fn open(_path: &Path, _make: bool) -> Result<Arc<dyn DurableStore>, Failure> {
        left_out()
    }

    pub async fn backup(_path: &Path, _make: bool, _to: &Path) -> Result<(), Failure> {
        left_out()
    }

    pub async fn restore(_backup: &Path, _to: &Path) -> Result<(), Failure> {
        left_out()
    }
}

pub use sqlite::{backup, open, restore};
