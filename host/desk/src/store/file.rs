//! Stores in files. These functions fail if the program was built without support for them.

use std::path::Path;
use std::sync::Arc;

use airlock_host::store::DurableStore;

use crate::Error;

#[cfg(feature = "sqlite")]
mod sqlite {
    use airlock_store_sqlite::SqliteStore;

    use super::*;

    async fn store(path: &Path, make: bool) -> Result<SqliteStore, Error> {
        Ok(SqliteStore::builder(path).create(make).open().await?)
    }

    /// Opens a store.
    ///
    /// # Errors
    /// Fails if the file doesn't exist and is not to be created, or if it can't be used.
    pub async fn open(path: &Path, make: bool) -> Result<Arc<dyn DurableStore>, Error> {
        Ok(Arc::new(store(path, make).await?))
    }

    /// Copies a store into a new file.
    ///
    /// # Errors
    /// Fails if either file can't be used.
    pub async fn backup(path: &Path, make: bool, to: &Path) -> Result<(), Error> {
        Ok(store(path, make).await?.backup(to).await?)
    }

    /// Restores a store from a copy.
    ///
    /// # Errors
    /// Fails if either file can't be used.
    pub async fn restore(backup: &Path, to: &Path) -> Result<(), Error> {
        Ok(SqliteStore::restore(backup, to).await?)
    }
}

#[cfg(not(feature = "sqlite"))]
mod sqlite {
    use super::*;

    fn left_out<T>() -> Result<T, Error> {
        Err(Error::LeftOut {
            place: "in files",
            feature: "sqlite",
        })
    }

    /// Refuses to open a store.
    ///
    /// # Errors
    /// Always fails.
    pub async fn open(_path: &Path, _make: bool) -> Result<Arc<dyn DurableStore>, Error> {
        left_out()
    }

    /// Refuses to copy a store.
    ///
    /// # Errors
    /// Always fails.
    pub async fn backup(_path: &Path, _make: bool, _to: &Path) -> Result<(), Error> {
        left_out()
    }

    /// Refuses to restore a store.
    ///
    /// # Errors
    /// Always fails.
    pub async fn restore(_backup: &Path, _to: &Path) -> Result<(), Error> {
        left_out()
    }
}

pub use sqlite::{backup, open, restore};
