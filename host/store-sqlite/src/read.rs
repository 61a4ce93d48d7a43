//! Chooses the connection for a query.

use std::sync::Arc;

use airlock_model::store::StoreError;
use rusqlite::Connection;

use super::blocking::blocking;
use super::problem::Problem;
use super::{SqliteStore, SqliteStoreInner};

impl SqliteStore {
    /// Runs a short query, on the write connection as long as no other caller uses the store.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.read_then(query, Ok).await
    }

    /// Runs a short query, and converts the result once the connection is free again.
    pub(super) async fn read_then<P, T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<P, Problem> + Send + 'static,
        then: impl FnOnce(P) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.with_inner(|inner| {
            let answer = match inner.writer.read_unless_contended(query) {
                Ok(answer) => answer,
                Err(query) => inner.readers.read(query),
            };
            answer.and_then(then)
        })
        .await
    }

    /// Runs a query that may take long, without blocking commits.
    pub(super) async fn read_apart<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.with_inner(|inner| inner.readers.read(query)).await
    }

    /// Runs disk work, and adds the file's path to its errors.
    pub(super) async fn with_inner<T: Send + 'static>(
        &self,
        work: impl FnOnce(&SqliteStoreInner) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, StoreError> {
        let inner = Arc::clone(&self.inner);
        blocking(move || work(&inner).map_err(|problem| problem.at(&inner.path))).await
    }
}
