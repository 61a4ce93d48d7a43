//! On which connection a query is answered.

use std::sync::Arc;

use airlock_model::store::StoreError;
use rusqlite::Connection;

use super::blocking::blocking;
use super::problem::Problem;
use super::{SqliteStore, SqliteStoreInner};

impl SqliteStore {
    /// Answers a query that is short: on the connection that writes, as long as nobody else uses
    /// the store.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.read_then(query, Ok).await
    }

    /// The same, and makes something of the answer once the connection is free again.
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

    /// Answers a query that may take long, which no commit waits for.
    pub(super) async fn read_apart<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.with_inner(|inner| inner.readers.read(query)).await
    }

    /// Does what waits for the disk, and names the file in what goes wrong.
    pub(super) async fn with_inner<T: Send + 'static>(
        &self,
        work: impl FnOnce(&SqliteStoreInner) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, StoreError> {
        let inner = Arc::clone(&self.inner);
        blocking(move || work(&inner).map_err(|problem| problem.at(&inner.path))).await
    }
}
