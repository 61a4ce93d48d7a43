//! Stores in files. Each of these fails where the program was built without them.

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

    /// Opens one.
    ///
    /// # Errors
    /// If it isn't there and is not to be made, and if it can't be used.
    pub async fn open(path: &Path, make: bool) -> Result<Arc<dyn DurableStore>, Error> {
        Ok(Arc::new(store(path, make).await?))
    }

    /// Copies one into a file that isn't there.
    ///
    /// # Errors
    /// If either can't be used.
    pub async fn backup(path: &Path, make: bool, to: &Path) -> Result<(), Error> {
        Ok(store(path, make).await?.backup(to).await?)
    }

    /// Makes one of a copy.
    ///
    /// # Errors
    /// If either can't be used.
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

    /// Refuses to.
    ///
    /// # Errors
    /// Always.
    pub async fn open(_path: &Path, _make: bool) -> Result<Arc<dyn DurableStore>, Error> {
        left_out()
    }

    /// Refuses to.
    ///
    /// # Errors
    /// Always.
    pub async fn backup(_path: &Path, _make: bool, _to: &Path) -> Result<(), Error> {
        left_out()
    }

    /// Refuses to.
    ///
    /// # Errors
    /// Always.
    pub async fn restore(_backup: &Path, _to: &Path) -> Result<(), Error> {
        left_out()
    }
}

pub use sqlite::{backup, open, restore};
